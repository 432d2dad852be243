"""Batch learners and feature selection of several classes, beside the tables of the
specification."""

import json

import numpy as np
import pytest
from test_several_classes_real import sets_of

from cwtool.cli import run
from cwtool.data.labels import Labels
from cwtool.metrics.confusion import predicted
from cwtool.model import Model
from cwtool.run import Run


def error(name, params, train, test, labels, seed):
    """Test error in percent after one batch of the rows in a random order."""
    model = Model.new(name, params, labels=Labels(multiclass="ovr", several=list(labels)))
    model.learn(train.take(np.random.default_rng(seed).permutation(train.n_rows)), Run())
    return 100 * np.mean(predicted(labels, model.scores(test).score) != test.y)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "want"), [("letter", 36.0), ("satellite", 19.0)])
def test_bcw(shared_data, name, want):
    """With the divisor 100, C = 10; measured 36.4 and 18.9. By the curvature of the loss it is
    better: 30.6 and 17.2."""
    train, test, labels = sets_of(shared_data / name, name)
    given = {"C": 10.0, "precision_divisor": 100.0}
    fixed, curved = (
        np.mean([error("bcw", params, train, test, labels, seed) for seed in range(3)])
        for params in (given, {"C": 10.0})
    )
    assert abs(fixed - want) < 1
    assert curved < want - 1


@pytest.mark.slow
def test_votes(shared_data):
    """Nearest neighbours are far better than linear models here: measured 9.2."""
    train, test, labels = sets_of(shared_data / "satellite", "satellite")
    assert error("knn", {}, train, test, labels, 0) < 10


# test error in percent of the weights of 50, 100, 200 and 500 features
CHOSEN = {"sbcw": (6.5, 4.1, 3.2, 3.0), "fgm": (6.6, 5.8, 3.8, 3.2), "l1svm": (19.8, 8.4, 4.8, 3.2)}


@pytest.mark.slow
@pytest.mark.parametrize("algo", CHOSEN)
def test_features_of_all_topics(shared_data, algo, capsys):
    """Measured: sbcw 6.7, 4.2, 3.3, 3.1; fgm 5.3, 3.9, 3.3, 2.8; l1svm 14.2, 7.6, 4.8, 3.2."""
    folder = shared_data / "reuters_multi"
    files = [str(folder / "train.svm.gz"), "--test", str(folder / "test.svm")]
    assert (
        run(["select-features", *files, "-a", algo, "--features", "50,100,200,500", "--json"]) == 0
    )
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(f["selected"]) for f in found] == [50, 100, 200, 500]
    for result, want in zip(found, CHOSEN[algo], strict=True):
        assert 100 * result["test_error"] < want + 0.4
        assert len(result["weight"][0]) == 10
