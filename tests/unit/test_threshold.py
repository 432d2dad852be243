"""Thresholds against slow and obvious NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.data.rows import Rows
from cwtool.errors import UsageError
from cwtool.metrics.tally import Tally, bin_edges, no_counts
from cwtool.metrics.threshold import ABOVE_ZERO, OperatingPoint
from cwtool.model import Model
from cwtool.run import Run
from cwtool.validation import evaluate
from cwtool_ext import tally

# powers of two lie exactly between two bins, and negative ones in the bin below
scores = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, -(2.0**-32), 2.0**-32, 1e-300, -1e12, 1e12]),
    st.floats(-4, 4),
)
rows = st.lists(st.tuples(st.integers(0, 1), scores, st.sampled_from([0.25, 1.0, 3.0])), min_size=1)


def counted(drawn: list[tuple[int, float, float]], threshold: float = 0.0) -> Tally:
    y, score, weight = (np.array(column) for column in zip(*drawn, strict=True))
    found = Tally(threshold=threshold)
    found.add(y.astype(np.int32), score.astype(float), weight.astype(float))
    return found


def threshold(setting: str, found: Tally) -> float:
    return OperatingPoint(setting).threshold(found, *found.measured[1].sum(axis=1))


def losses(setting: str, drawn: list[tuple[int, float, float]], edges: np.ndarray) -> np.ndarray:
    """The weight of the errors, -F1, or the sum of both error rates, where scores of at least each
    edge are called 1."""
    y, score, weight = (np.array(column) for column in zip(*drawn, strict=True))
    called = score[None, :] >= edges[:, None]
    tp, fp, fn = (
        (cell * weight).sum(axis=1)
        for cell in (called & (y == 1), called & (y == 0), ~called & (y == 1))
    )
    if setting == "error":
        return fp + fn
    if setting == "f1":
        return -2 * tp / (2 * tp + fp + fn)
    return fn / weight[y == 1].sum() + fp / weight[y == 0].sum()


def test_edges_are_the_least_scores_of_the_bins() -> None:
    """The kernel counts each edge in its bin, and the number below it in the bin below."""
    edges = bin_edges()
    zeros = np.zeros(len(edges), dtype=np.int32)
    found = no_counts()
    tally.add(zeros, edges, found, np.zeros((2, 2), dtype=np.int64))
    assert (found[0] == 1).all()
    found = no_counts()
    below = np.nextafter(edges[1:], -np.inf)
    tally.add(zeros[1:], below, found, np.zeros((2, 2), dtype=np.int64))
    assert (found[0, :-1] == 1).all()
    assert found[0, -1] == 0


@given(rows, st.sampled_from(["error", "f1", "balanced"]))
def test_the_best_edge(drawn: list[tuple[int, float, float]], setting: str) -> None:
    if len({y for y, _, _ in drawn}) < 2:
        return
    edges = bin_edges()
    # scores change the confusion at the edges beside them alone; 0 is looked for among all edges
    near = np.searchsorted(edges, [s for _, s, _ in drawn], side="right") - 1
    tried = np.unique(np.clip(near[:, None] + [0, 1], 0, len(edges) - 1))
    tried = np.unique(np.append(tried, np.searchsorted(edges, 0) - 1))
    found = threshold(setting, counted(drawn))
    least = losses(setting, drawn, edges[tried]).min()
    (loss,) = losses(setting, drawn, np.array([found]))
    assert loss == pytest.approx(least, rel=1e-12, abs=1e-12)
    nearer = edges[np.abs(edges) < abs(found)][::16]
    assert (losses(setting, drawn, nearer) > least).all()


@given(rows, st.integers(0, 2**15), st.booleans())
def test_a_tally_at_another_threshold(
    drawn: list[tuple[int, float, float]], k: int, weighted: bool
) -> None:
    drawn = drawn if weighted else [(y, s, 1.0) for y, s, _ in drawn]
    edge = float(bin_edges()[k])
    found, want = counted(drawn).at(edge), counted(drawn, edge)
    assert found.summary() == want.summary()


@pytest.mark.parametrize(
    ("setting", "kept"), [("", ""), ("f1", "f1"), ("balanced", "balanced"), ("-.5", "-0.5")]
)
def test_settings(setting: str, kept: str) -> None:
    assert OperatingPoint(setting).setting == kept
    assert bool(OperatingPoint(setting)) == bool(kept)


@pytest.mark.parametrize("setting", ["best", "nan", "inf", "F1", "0,1"])
def test_settings_that_cannot_be(setting: str) -> None:
    with pytest.raises(UsageError, match=r"must be error, f1, balanced, fpr=RATE"):
        OperatingPoint(setting)


def test_a_number_is_itself() -> None:
    assert threshold("-0.3", counted([(1, 1.0, 1.0)])) == -0.3


@pytest.mark.parametrize("setting", ["", "f1", "balanced"])
def test_ties_are_of_the_more_frequent_class(setting: str) -> None:
    """Without a threshold, and where there is only one class to find one from."""
    one = [(0, -1.0, 1.0), (0, 1.0, 1.0)]
    assert threshold(setting, counted(one)) == ABOVE_ZERO > 0
    assert threshold(setting, counted([(1, s, w) for _, s, w in one])) == 0
    assert threshold("", counted([*one, (1, 1.0, 1.0)])) == ABOVE_ZERO
    assert threshold("", counted([*one, (1, 1.0, 1.0), (1, 1.0, 1.0)])) == 0
    assert threshold("", counted([*one, (1, 1.0, 3.0)])) == 0  # rows count by their weights
    assert not np.array([0.0, -0.0]).max() >= ABOVE_ZERO


def test_ties_of_batches_are_of_the_class_that_is_more_frequent_among_them() -> None:
    """With one feature, which 60 rows of a class have, and 40 of the other class have not: rows
    without it are of the other class, although it is the rarer one."""
    for rare, least in ((1, 0.0), (0, ABOVE_ZERO)):
        y = np.array([1 - rare] * 60 + [rare] * 40, dtype=np.int32)
        indptr = np.append(np.arange(61), np.full(40, 60)).astype(np.int64)
        rows = Rows(indptr, np.zeros(60, dtype=np.int32), np.ones(60), y)
        for name in ("sbcw", "l1svm"):
            model = Model.new(name, {"features": 1})
            model.learn(rows, Run(calibrate=False))
            assert model.threshold == least
            assert evaluate(model, rows)["error"] == 0
        online = Model.new("arow", {})
        online.learn(rows, Run())
        assert online.threshold != least  # the more frequent class of all rows


def test_few_ties_of_batches_do_not_decide() -> None:
    """Up to a twentieth of the rows: then the more frequent class of all rows does."""
    model = Model.new("dcd", {})
    model.progress = counted([(0, -1.0, 1.0)] * 60 + [(1, 1.0, 1.0)] * 40)
    for tied, least in ((5, ABOVE_ZERO), (6, 0.0)):
        others = [(0, -1.0, 1.0)] * (100 - tied)
        model.of_batches = counted([(1, 0.0, 1.0)] * tied + others)
        assert model.threshold == least


def test_ties_count_by_their_weights() -> None:
    assert counted([(0, 0.0, 1.0), (1, 0.0, 1.0), (1, 0.5, 1.0)]).ties.tolist() == [1, 1]
    assert counted([(0, 0.0, 1.0), (1, -0.0, 3.0), (1, 0.5, 1.0)]).ties.tolist() == [1, 3]


def test_shifts_of_several_classes() -> None:
    counts = np.array([8, 1, 0])
    z = np.array([[1.0, 0.2, -0.5], [1.0, 0.9, 0.9], [5.0, 0.0, 0.0]])
    found = OperatingPoint("balanced").shifts(counts, 2.0, np.zeros(len(counts)))
    want = np.argmax(2 * z - np.log((counts + 1) / 12), axis=1).tolist()
    assert np.argmax(z - found, axis=1).tolist() == want == [0, 2, 0]
    b = np.array([0.0, 1.0, -1.0])
    found = OperatingPoint("error").shifts(counts, 2.0, b)
    assert np.argmax(z - found, axis=1).tolist() == np.argmax(2 * z + b, axis=1).tolist()
    assert np.argmax(z - found, axis=1).tolist() != np.argmax(z, axis=1).tolist()
    for point in ("f1", "0.5"):
        with pytest.raises(UsageError, match="is for two classes, and there are more"):
            OperatingPoint(point).check_several()


def planted(seed: int, n: int) -> Rows:
    """Rows of two features; a fifth of them are of class 1."""
    random = np.random.default_rng(seed)
    y = (random.random(n) < 0.2).astype(int)
    x = random.normal(size=(n, 2)) + y[:, None] - 0.3
    return Rows.from_lists([list(enumerate(row)) for row in x.tolist()], y.tolist())


@pytest.mark.parametrize("name", ["dcd", "bcw", "knn"])
def test_a_first_batch_counts_only_until_there_is_another(name: str) -> None:
    """An empty model has no scores that a threshold could be found from."""
    model = Model.new(name, {}, threshold="f1")
    first, second = planted(1, 90), planted(2, 60)
    learned = model.learn(first, Run())
    want = Tally()
    want.add(first.y, learned.fitted)
    assert not learned.score.any()
    assert model.threshold == threshold("f1", want)
    assert model.copy().threshold == model.threshold
    model = model.copy()
    want = Tally()
    want.add(second.y, model.learn(second, Run()).score)
    third = planted(3, 60)
    want.add(third.y, model.copy().learn(third, Run()).score)
    model.learn(third, Run())
    assert model.threshold == threshold("f1", want)
    assert model.judged.rows == 120


def test_a_threshold_does_not_change_learning() -> None:
    rows = planted(1, 200)
    plain, other = (Model.new("arow", {}, threshold=t) for t in ("", "balanced"))
    for model in (plain, other):
        model.learn(rows, Run())
    assert (plain.weights().weight == other.weights().weight).all()
    assert plain.progress.summary() == other.progress.summary()
    assert plain.threshold == ABOVE_ZERO
    assert other.threshold not in (0, ABOVE_ZERO)
