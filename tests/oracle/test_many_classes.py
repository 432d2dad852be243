"""More classes than fit one line of memory, classes that come late, and learning beside reading."""

from collections.abc import Iterator

import numpy as np
import pytest

from cwtool.algorithms.multiclass.base import variance_of_best
from cwtool.data.labels import Labels
from cwtool.data.rows import Origin, Rows
from cwtool.errors import DataError
from cwtool.model import Model
from cwtool.model.overlap import learned
from cwtool.run import Run
from cwtool_ext import tally

ORIGIN = Origin("d.svm", 0, 1, np.arange(1))


def some_rows(classes: int, n: int = 300, *, seed: int = 0) -> Rows:
    """Rows of which class k comes first in row 7 k, with features on both sides of the ids that are
    their own slots."""
    random = np.random.default_rng(seed)
    ids = np.sort(random.choice(40, size=(n, 6)), axis=1).cumsum(axis=1) + np.arange(6)
    ids += random.choice([0, 1 << 23], size=(n, 1))
    y = np.minimum(random.integers(0, classes, n), np.arange(n) // 7)
    y[np.arange(classes) * 7] = np.arange(classes)
    values = random.normal(size=6 * n)
    indptr = np.arange(0, 6 * n + 1, 6)
    return Rows(indptr, ids.ravel().astype(np.int32), values, y.astype(np.int32))


def new(algorithm: str, mode: str = "rival", **given: object) -> Model:
    model = Model.new(algorithm, given, labels=Labels(multiclass=mode, several=[]))
    model.settle()
    return model


def portions(model: Model, rows: Rows, size: int) -> Iterator[tuple[Rows, Origin]]:
    """The rows in pieces, with the labels of all classes that have come."""
    for start in range(0, rows.n_rows, size):
        piece = rows.slice(start, min(start + size, rows.n_rows))
        several = model.labels.several
        assert several is not None
        several += [float(k) for k in range(len(several), int(piece.y.max()) + 1)]
        yield piece, ORIGIN


def taught(model: Model, rows: Rows, size: int, jobs: int = 1) -> Model:
    for _ in learned(model, portions(model, rows, size), Run(jobs=jobs)):
        pass
    return model


@pytest.mark.parametrize("classes", [1, 4, 5, 8, 9, 10, 12, 13, 16, 17, 20, 21, 33])
@pytest.mark.parametrize("algorithm", ["arow", "pa1"])
def test_scores_are_sums_over_the_entries_in_their_order(algorithm: str, classes: int) -> None:
    rows = some_rows(classes)
    model = taught(new(algorithm, prior=1.0), rows, rows.n_rows)
    ids, weight, _, _ = model.weights()
    score = model.scores(rows).score
    assert score.shape == (rows.n_rows, classes)
    for i in range(0, rows.n_rows, 10):
        at, total = slice(6 * i, 6 * i + 6), np.zeros(classes)
        for j, x in zip(np.searchsorted(ids, rows.indices[at]), rows.values[at], strict=True):
            total = total + weight[j] * x
        assert score[i].tolist() == total.tolist()


@pytest.mark.parametrize("mode", ["rival", "ovr"])
@pytest.mark.parametrize("algorithm", ["arow", "pa1"])
def test_classes_that_come_one_by_one_change_no_bit(algorithm: str, mode: str) -> None:
    rows = some_rows(21)
    at_once = taught(new(algorithm, mode), rows, rows.n_rows)
    assert at_once.state.places % 4 == 0
    assert taught(new(algorithm, mode), rows, 7).to_bytes() == at_once.to_bytes()


@pytest.mark.parametrize(
    ("algorithm", "mode", "given"),
    [
        ("arow", "rival", {}),
        ("scw1", "rival", {"projection": "l2"}),
        ("pa1", "rival", {"average": True}),
        ("arow", "ovr", {}),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_no_bit(
    algorithm: str, mode: str, given: dict[str, object], weighted: bool
) -> None:
    rows = some_rows(11, 2500)
    if weighted:
        random = np.random.default_rng(3)
        weight = random.choice([0.0, 0.5, 1.0, 3.0], size=rows.n_rows)
        weight[np.arange(11) * 7] = 1.0
        rows = Rows(rows.indptr, rows.indices, rows.values, rows.y, weight)
    one, two = (taught(new(algorithm, mode, **given), rows, 40, jobs) for jobs in (1, 2))
    assert one.to_bytes() == two.to_bytes()


def test_a_failure_while_reading_comes_after_the_rows_before_it() -> None:
    rows = some_rows(5)
    model, seen = new("arow"), []

    def broken() -> Iterator[tuple[Rows, Origin]]:
        for k, portion in enumerate(portions(model, rows, 50)):
            if k == 3:
                raise DataError("a bad line")
            yield portion

    with pytest.raises(DataError, match="bad line"):
        for some, _, _ in learned(model, broken(), Run(jobs=2)):
            seen.append(some.n_rows)
    assert seen == [50, 50, 50]
    assert model.rows == 150


def test_the_variance_of_a_row_is_the_mean_of_its_two_best_classes() -> None:
    """Against sorting: of equal scores the first class, and none that is not finite."""
    random = np.random.default_rng(0)
    score = random.integers(0, 4, size=(500, 5)).astype(float)
    variance = random.random((500, 5))
    for special in (-np.inf, np.inf, np.nan):
        score[random.random(score.shape) < 0.15] = special
    score[:20] = -np.inf
    best = np.argsort(-score, axis=1, kind="stable")[:, :2]
    there = np.isfinite(np.take_along_axis(score, best, axis=1))
    total = np.where(there, np.take_along_axis(variance, best, axis=1), 0.0).sum(axis=1)
    wanted = total / np.maximum(1, there.sum(axis=1))
    assert variance_of_best(score, variance).tolist() == wanted.tolist()
    alone = np.where(np.isfinite(score[:, :1]), variance[:, :1], 0.0).ravel()
    assert (
        variance_of_best(*(a[:, :1].copy() for a in (score, variance))).tolist() == alone.tolist()
    )
    assert variance_of_best(np.empty((3, 0)), np.empty((3, 0))).tolist() == [0.0] * 3
    with pytest.raises(ValueError, match="variance"):
        tally.mean_of_best(score, variance[:, :4].copy(), np.empty(500))
    with pytest.raises(ValueError, match="row"):
        tally.mean_of_best(score, variance, np.empty(499))
