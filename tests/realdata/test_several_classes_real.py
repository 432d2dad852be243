"""Test errors of several classes on real data beside the measured tables of the specification."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions, read_all
from cwtool.data.rows import Rows, joined
from cwtool.metrics.confusion import predicted
from cwtool.model import Model
from cwtool.run import Run

# test error in percent after one pass, mean of 5 orders: one against the rest, top rival
TABLE = {
    "letter": {"arow": (37.5, 29.1), "scw1": (38.0, 27.3), "pa1": (29.7, 25.4)},
    "satellite": {"arow": (20.3, 16.0), "scw1": (16.7, 15.4), "pa1": (17.7, 15.9)},
    "reuters_multi": {"arow": (2.56, 2.95), "scw1": (2.56, 2.72), "pa1": (2.62, 2.62)},
}
PARAMS = {"pa1": {"average": True}}


def sets_of(folder, name):
    """Training and test rows, and the labels. Columns of dense data are scaled to [-1, 1] by the
    training rows, with a constant column."""
    labels = Labels(multiclass="rival")
    train, test = (
        joined(read_all([str(next(folder.glob(f"{part}.svm*")))], labels, ReadOptions()))
        for part in ("train", "test")
    )
    if name != "reuters_multi":
        width = 1 + max(train.indices.max(), test.indices.max())
        x = dense(train, width)
        low, high = x.min(axis=0), x.max(axis=0)
        train, test = (scaled(rows, width, low, high) for rows in (train, test))
    return train, test, labels.several


def dense(rows, width):
    return csr_matrix((rows.values, rows.indices, rows.indptr), (rows.n_rows, width)).toarray()


def scaled(rows, width, low, high):
    x = 2 * (dense(rows, width) - low) / (high - low) - 1
    return Rows.from_csr(csr_matrix(np.hstack([x, np.ones((rows.n_rows, 1))])), rows.y)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_errors_are_those_of_the_tables(shared_data, name):
    train, test, labels = sets_of(shared_data / name, name)
    for rule, wanted in TABLE[name].items():
        for multiclass, want in zip(("ovr", "rival"), wanted, strict=True):
            errors = []
            for seed in range(5):
                known = Labels(multiclass=multiclass, several=list(labels))
                model = Model.new(rule, PARAMS.get(rule, {}), labels=known)
                order = np.random.default_rng(seed).permutation(train.n_rows)
                model.learn(train.take(order), Run())
                called = predicted(labels, model.scores(test).score)
                errors.append(100 * float(np.mean(called != test.y)))
            allowed = max(0.3, float(np.std(errors)))
            assert abs(np.mean(errors) - want) <= allowed, (rule, multiclass, errors)
