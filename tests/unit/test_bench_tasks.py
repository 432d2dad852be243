"""Tasks and generators: what they measure is there in the data that was made."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cwtool import registry
from cwtool.bench import suite
from cwtool.bench.cells import Cell, perform
from cwtool.bench.curves import visiting_order
from cwtool.bench.designs import DESIGNS
from cwtool.bench.generators import copied_bits, covtype_like, hidden, of_arrays, words
from cwtool.bench.learned import class_balance
from cwtool.bench.sources import Source
from cwtool.data.writer import write_rows

BITS = Source(make="copied-bits", args={"rows": 300, "copies": 5}, fresh=True)
WORDS = Source(make="words", args={"rows": 300, "features": 500, "relevant": 20})


def done(task: str, source: Source, algo: str, **more: Any) -> dict[str, Any]:
    outcome = perform(Cell(task, source, algo, **more))
    assert not outcome.failure, outcome.failure
    return outcome.result


def test_copies_of_ten_bits() -> None:
    rows, _ = copied_bits(0, rows=400, copies=30)
    x = rows.values.reshape(400, 30, 10)
    bits = np.sign(x.sum(axis=1))
    assert 0.04 < (bits[:, None] != x).mean() < 0.06
    w = np.linalg.lstsq(bits, rows.signs(), rcond=None)[0]
    assert (np.sign(bits @ w) == rows.signs()).mean() > 0.9


def test_bags_of_words() -> None:
    train, test = words(0, rows=400, features=1000)
    assert test is not None
    assert (train.n_rows, test.n_rows) == (400, 200)
    assert 0.3 < (train.y > 0).mean() < 0.7
    for rows in (train, test):
        assert rows.indices.max() < 1000
        assert rows.values.min() == 1
        number = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
        assert (np.diff(number * 1000 + rows.indices) > 0).all()  # ids ascend in every row
    counts = np.bincount(train.indices, minlength=1000)
    assert counts[:10].sum() > 10 * counts[-10:].sum()


def test_rows_like_covtype() -> None:
    train, test = covtype_like(0, rows=2000)
    assert test is not None
    assert (train.n_rows, test.n_rows, train.nnz) == (2000, 400, 24000)
    assert train.indices.max() < 54


def test_hidden_shapes_are_not_linear() -> None:
    train, test = hidden(0, "ring", rows=300, columns=4, test=500)
    assert test is not None
    assert (train.n_rows, test.n_rows, train.nnz) == (300, 500, 1200)
    source = Source(make="hidden", args={"shape": "ring", "rows": 300, "columns": 2})
    assert done("test", source, "knn")["error"] < 0.25
    assert done("test", source, "dcd")["error"] > 0.4


def test_online_counts_mistakes() -> None:
    found = done("online", BITS, "cw")
    curve = found["curve"]
    assert curve["rows"][-1] == found["rows"] == 300
    assert curve["mistakes"][-1] == found["mistakes"]
    assert found["error"] == found["mistakes"] / 300
    assert (np.diff(curve["mistakes"]) >= 0).all()
    assert curve["error"][-1] < curve["error"][0]
    other = done("online", BITS, "cw", seed=1)
    assert other["mistakes"] != found["mistakes"]  # rows of its own


def test_a_feed_is_halved_in_its_order() -> None:
    rows = WORDS.training()
    half = visiting_order(rows, 0, timed=True)
    assert 100 < len(half) < 200
    assert (np.diff(half) > 0).all()
    assert sorted(visiting_order(rows, 0, timed=False).tolist()) == list(range(300))
    assert done("online", WORDS, "arow", options={"timed": True})["rows"] < 450


@pytest.mark.parametrize("algo", ["sbcw", "l1svm", "sofs", "arow"])
def test_selection(algo: str) -> None:
    for size in (5, 20):
        found = done("select", WORDS, algo, params={"features": size})
        assert found["features"] == len(found["support"]) == size
        assert 0 < found["refit_error"] < 0.5


def test_support_and_sparsity() -> None:
    found = done("test", WORDS, "rda", params={"lam": 0.01}, options={"support": True})
    assert len(found["support"]) == found["nonzero"] < found["features"] == 500
    assert found["share"] == pytest.approx(1 - found["sparsity"])


def test_the_path_ends_where_training_ends() -> None:
    path = done("trace", WORDS, "sgd", options={"points": 6})
    at_once = done("test", WORDS, "sgd")
    assert path["curve"]["rows"] == [50, 100, 150, 200, 250, 300]
    assert path["error"] == at_once["error"]
    assert path["share"] == at_once["share"]
    longer = done("trace", WORDS, "stsgd", options={"points": 3, "passes": 4})
    assert longer["curve"]["rows"][-1] == 1200


def test_density_levels() -> None:
    curve = done("density", WORDS, "sgd")["curve"]
    assert curve["density"] == sorted(curve["density"])
    assert sum(curve["features"]) == len(np.unique(WORDS.training().indices))
    assert all(0 <= share <= 1 for share in curve["share"])


def test_effective_dimension() -> None:
    """Ten directions matter of 50: the full covariance finds out, the diagonal does not."""
    full = done("effective-dimension", BITS, "cw", params={"prior": 1.0, "covariance": "full"})
    diag = done("effective-dimension", BITS, "cw", params={"prior": 1.0})
    assert full["dimension"] < 25 < diag["dimension"] <= 50
    assert full["curve"]["rows"] == diag["curve"]["rows"]


def test_other_designs_of_cw_fact() -> None:
    """All that the suite names can be run, and learns something."""
    found = suite.load("cwfact-synthetic", quick=True)
    methods = [m for m in found.methods.values() if m.algo not in registry.names()]
    assert {m.algo for m in methods} == set(DESIGNS)
    for method in methods:
        result = done("online", BITS, method.algo, params=method.params)
        assert result["mistakes"] == result["curve"]["mistakes"][-1] < 60
        columns = method.params.get("buffer", 0) + method.params.get("rank", 0)
        assert result["kilobytes"] >= 50 * 8 * (1 + columns) / 1e3


def test_a_learner_that_is_nowhere() -> None:
    assert "there is no algorithm" in perform(Cell("online", BITS, "cw-buffer-alon")).failure


def test_surfaces() -> None:
    """The last step has the shape of the class probability, up to its sign."""
    args = {"shape": "ring", "rows": 300, "columns": 5}
    source = Source(make="hidden", args=args, fresh=True)
    found = done("surface", source, "sdist", params={"sample": "none"}, options={"grid": 9})
    titles = [one["title"] for one in found["maps"]]
    assert titles[0] == "P(y = +1)"
    assert titles[1] == "step 1"
    assert titles[-1] == f"step {found['steps']}"
    grids = [np.array(one["grid"]) for one in found["maps"]]
    assert {grid.shape for grid in grids} == {(9, 9)}
    first, *_, last = grids
    assert first[4, 4] < 0.1 < 0.9 < first[0, 0]  # inside the ring, and outside
    assert abs(np.corrcoef(first.ravel(), last.ravel())[0, 1]) > 0.7


def test_the_first_row_of_a_map_is_on_top() -> None:
    args = {"shape": "xor", "rows": 200, "columns": 3}
    found = done("surface", Source(make="hidden", args=args), "sdist", options={"grid": 3})
    left, _, right = found["maps"][0]["grid"][0]  # x_2 = 2.5
    assert found["maps"][0]["extent"] == [-2.5, 2.5, -2.5, 2.5]
    assert left < 0.01 < 0.99 < right


def test_images(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 150)
    images = rng.random((150, 15)) + (np.arange(15) == 6) * y[:, None]  # the last pixel is empty
    write_rows(tmp_path / "digits.svm", of_arrays(images, y))
    found = done("images", Source(train=(str(tmp_path / "digits.svm"),)), "sdist")
    balance = found["curve"]["balance"]
    assert min(balance) < -0.9 < 0.9 < max(balance)
    (picture,) = found["maps"]
    assert np.shape(picture["grid"]) == (4, 4)
    assert max(picture["marks"], key=lambda mark: mark[2]) == [2, 1, 1]  # pixel 6 of 4 x 4
    assert picture["grid"][1][2] > 0.5  # an image of the positive class
    assert picture["grid"][3][3] == 0
    assert picture["title"] == f"{found['nonzero']} of 15 pixels"


def test_balance_leaves_out_empty_bins() -> None:
    component = np.array([0.0, 0.0, 0.0, 1.0])
    middle, balance = class_balance(component, np.array([True, True, False, False]))
    np.testing.assert_allclose(middle, [0.02, 0.98])
    np.testing.assert_allclose(balance, [1 / 3, -1])
