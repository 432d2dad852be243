"""The kernels of stabilized truncated descent refuse arrays that do not fit together, and score
rows in two ways that are the same."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from cwtool.algorithms.stabilized_descent.stsgd_state import DAMP
from cwtool.data.rows import SlotRows
from cwtool_ext import all_paths, columns, path_weights, paths, prepared, stability
from cwtool_ext.csr import Csr

SHARED, PATH = np.zeros((3, 8)), np.zeros((3, 2))
ORDER = np.array([0, 1], dtype=np.int64)


def rows(scale=1.0, last=2):
    """Two rows with the features 0 and 1, and 1 and `last`."""
    indices = np.array([0, 1, 1, last], dtype=np.int32)
    return Csr(np.array([0, 2, 4], dtype=np.int64), indices, np.ones(4), scale)


def room(n, *kinds):
    return [np.zeros(n, dtype=kind) for kind in kinds]


def walk(**changed):
    touched, began, slot, value = room(3, "i4", "f8", "i4", "f8")
    given = {
        "rows": rows(), "rates": np.ones((2, 2)), "y": np.ones(2), "weight": np.ones(2),
        "order": ORDER,
        "learned": np.ones(2, dtype=np.uint8), "table": PATH.copy(),
        "how": paths.Walk(0, 0.0, 2), "into": 0, "intercept": np.zeros(1),
        "touched_slot": touched, "touched_began": began, "n_touched": 0, "pool_slot": slot,
        "pool_value": value, "pool_kept": np.zeros(3, dtype=np.uint8), "score": np.zeros(2),
    }  # fmt: skip
    return paths.walk(*(given | changed).values())


def all_paths_walk(**changed):
    """The same rows for two paths, of which one learns the second row."""
    touched, slot = room(3, "i4", "i4")
    given = {
        "rows": rows(), "rates": np.ones((2, 2)), "y": np.ones(2), "weight": np.ones(2),
        "learned": np.array([[1, 1], [1, 0]], dtype=np.uint8), "weights": np.zeros((3, 2)),
        "counts": np.zeros((3, 2)), "how": paths.Walk(0, 0.0, 2), "into": 0,
        "intercept": np.zeros(2), "places": np.zeros(3, dtype=np.int32), "touched_slot": touched,
        "touched_began": np.zeros((3, 2)), "touched_counts": np.zeros((3, 2)), "n_touched": 0,
        "pool_slot": slot, "pool_paths": np.zeros(3, dtype=np.uint8), "pool_value": np.zeros(6),
        "pool_kept": np.zeros(6, dtype=np.uint8), "score": np.zeros(2),
    }  # fmt: skip
    return all_paths.walk(*(given | changed).values())


def test_a_burst_that_ends_emits_all_it_touched():
    assert walk() == (0, 3)
    assert walk(how=paths.Walk(0, 0.0, 3)) == (3, 0)
    assert all_paths_walk() == (0, 3, 5)
    assert all_paths_walk(how=paths.Walk(0, 0.0, 3)) == (3, 0, 0)


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": rows(scale=0.5)},
        {"rows": rows(last=3)},
        {"rates": np.ones((1, 2))},
        {"rates": np.ones((2, 1))},
        {"y": np.ones(3)},
        {"weight": np.ones(3)},
        {"order": np.array([0, 2])},
        {"learned": np.ones(1, dtype=np.uint8)},
        {"table": np.zeros((3, 3))},
        {"intercept": np.zeros(2)},
        {"touched_slot": np.zeros(2, dtype=np.int32)},
        {"touched_began": np.zeros(2)},
        {"touched_slot": np.full(3, 3, dtype=np.int32), "n_touched": 1},
        {"n_touched": 4},
        {"n_touched": -1},
        {"pool_slot": np.zeros(2, dtype=np.int32)},
        {"pool_value": np.zeros(2)},
        {"pool_kept": np.zeros(2, dtype=np.uint8)},
        {"score": np.zeros(1)},
    ],
    ids=lambda changed: "-".join(changed),
)
def test_a_walk_needs_arrays_that_fit(changed):
    with pytest.raises(ValueError, match=r"\w"):
        walk(**changed)


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": rows(scale=0.5)},
        {"rows": rows(last=3)},
        {"rates": np.ones((1, 2))},
        {"rates": np.ones((2, 1))},
        {"y": np.ones(3)},
        {"weight": np.ones(3)},
        {"learned": np.ones((1, 2), dtype=np.uint8)},
        {"learned": np.ones((2, 1), dtype=np.uint8)},
        {"weights": np.zeros((3, 3))},
        {"counts": np.zeros((3, 3))},
        {"counts": np.zeros((2, 2))},
        {"places": np.zeros(2, dtype=np.int32)},
        {"intercept": np.zeros(1)},
        {"intercept": np.zeros(65), "weights": np.zeros((3, 65)), "counts": np.zeros((3, 65))},
        {"touched_slot": np.zeros(2, dtype=np.int32)},
        {"touched_began": np.zeros((2, 2))},
        {"touched_began": np.zeros((3, 3))},
        {"touched_counts": np.zeros((2, 2))},
        {"touched_counts": np.zeros((3, 3))},
        {"touched_slot": np.full(3, 3, dtype=np.int32), "n_touched": 1},
        {"n_touched": 4},
        {"n_touched": -1},
        {"pool_slot": np.zeros(2, dtype=np.int32)},
        {"pool_paths": np.zeros(2, dtype=np.uint8)},
        {"pool_value": np.zeros(5)},
        {"pool_kept": np.zeros(5, dtype=np.uint8)},
        {"score": np.zeros(1)},
    ],
    ids=lambda changed: "-".join(changed),
)
def test_all_paths_need_arrays_that_fit(changed):
    with pytest.raises(ValueError, match=r"\w"):
        all_paths_walk(**changed)


@pytest.mark.parametrize("given", [(2, 0.0, 1), (0, 0.0, 0)])
def test_a_walk_needs_a_loss_and_a_burst(given):
    with pytest.raises(ValueError, match=r"loss|burst"):
        paths.Walk(*given)


SLOTS, WRONG = np.arange(3, dtype=np.int32), np.array([3], dtype=np.int32)
NARROW = np.zeros((3, 6))
FEW = np.zeros(2, dtype=np.int32)
ONE, THREE = np.ones(1, dtype=np.uint8), np.ones(3, dtype=np.uint8)
KNOWN = np.zeros(3, dtype=np.uint8)


def meet(**changed):
    given = {
        "rows": rows(), "order": ORDER, "weight": np.ones(2), "longest": 1e4,
        "shared": SHARED.copy(), "starts": np.zeros(3, dtype=np.int64),
        "slots": np.zeros(4, dtype=np.int32), "z": np.zeros(4), "sums": np.zeros((3, 2)),
        "known": KNOWN.copy(),
    }  # fmt: skip
    return prepared.meet(*(given | changed).values())


def spreads(**changed):
    given = {
        "n": 2.0, "shared": SHARED, "slots": SLOTS, "known": KNOWN, "balanced": False,
        "met": SLOTS.copy(), "var": np.zeros(3), "nnz": np.zeros(3),
    }  # fmt: skip
    return columns.spreads(*(given | changed).values())


def test_rows_that_are_met_are_counted():
    shared, known = SHARED.copy(), KNOWN.copy()
    assert meet(shared=shared, weight=np.array([1.0, 0.0]), known=known) == (4, 2)
    np.testing.assert_array_equal(shared[:, 4], [1, 1, 0])
    np.testing.assert_array_equal(known, [1, 1, 0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: meet(slots=np.zeros(3, dtype=np.int32)),
        lambda: meet(z=np.zeros(3)),
        lambda: meet(sums=np.zeros((3, 3))),
        lambda: meet(sums=np.zeros((2, 2))),
        lambda: meet(weight=np.ones(1)),
        lambda: meet(starts=np.zeros(2, dtype=np.int64)),
        lambda: meet(rows=rows(last=3)),
        lambda: meet(order=np.array([0, 2])),
        lambda: meet(shared=NARROW),
        lambda: meet(known=KNOWN[:2]),
        lambda: prepared.find(WRONG, SHARED, *room(3, "i4", "i4")),
        lambda: prepared.find(SLOTS, SHARED, *room(2, "i4"), *room(3, "i4")),
        lambda: prepared.compact(rows(), FEW, np.ones(2), *room(3, "i8"), *room(4, "i4", "f8")),
        lambda: prepared.compact(rows(), SLOTS, np.ones(1), *room(3, "i8"), *room(4, "i4", "f8")),
        lambda: prepared.compact(rows(), SLOTS, np.ones(2), *room(3, "i8"), *room(3, "i4", "f8")),
        lambda: stability.tally(WRONG, ONE, ONE, SHARED.copy()),
        lambda: stability.tally(SLOTS[:1], ONE, ONE[:0], SHARED.copy()),
        lambda: stability.tally(SLOTS, ONE, ONE, SHARED.copy()),
        lambda: stability.judge(SLOTS, THREE, np.zeros(3), SHARED.copy(), 0.5, 1.0, FEW),
        lambda: stability.judge(SLOTS, THREE, np.zeros(2), SHARED.copy(), 0.5, 1.0, SLOTS.copy()),
        lambda: stability.judge(SLOTS, ONE, np.zeros(3), SHARED.copy(), 0.5, 1.0, SLOTS.copy()),
        lambda: path_weights.add_scores(rows(), SHARED, PATH, PATH, 0.0, True, np.zeros(3)),
        lambda: path_weights.add_scores(rows(last=3), SHARED, PATH, PATH, 0.0, True, np.zeros(2)),
        lambda: path_weights.add_scores(rows(), SHARED, PATH, PATH[:2], 0.0, True, np.zeros(2)),
        lambda: path_weights.add_weights(WRONG, SHARED, PATH, PATH, 0.0, True, np.zeros(1)),
        lambda: path_weights.add_weights(SLOTS, SHARED, PATH, PATH, 0.0, True, np.zeros(2)),
        lambda: spreads(nnz=np.zeros(2)),
        lambda: spreads(shared=NARROW),
        lambda: spreads(met=FEW.copy()),
        lambda: spreads(known=KNOWN[:2]),
        lambda: columns.damp(SHARED.copy(), WRONG, 1.0, False, np.zeros(1)),
        lambda: columns.squares_left(SHARED, WRONG),
        lambda: columns.follow(PATH.copy(), WRONG, np.ones(1)),
        lambda: columns.follow(PATH.copy(), SLOTS, np.ones(2)),
        lambda: path_weights.add_weights(SLOTS, SHARED, PATH, NARROW, 0.0, True, np.zeros(3)),
        lambda: stability.clear(WRONG, np.zeros((3, 4))),
        lambda: columns.median(np.empty(0), np.empty(0)),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit_are_refused(call):
    with pytest.raises(ValueError, match=r"\w"):
        call()


@pytest.mark.parametrize("paths", [1, 4, 8, 11])
@pytest.mark.parametrize("by_norm", [True, False])
def test_scores_are_those_of_the_weights_however_many_rows_there_are(paths, by_norm):
    """Weights are computed once a feature for many rows, and once an entry for few: the same bits,
    which are those of w.x for w pulled by the gravity of the burst under way."""
    random, n = np.random.default_rng(paths), 30
    x = random.normal(size=(40, n)) * (random.random((40, n)) < 0.5)
    many = SlotRows.from_csr(csr_array(x), np.zeros(40))
    shared = np.zeros((n + 5, 8))
    shared[:, DAMP] = random.random(n + 5)
    weights = random.normal(size=(n + 5, paths))
    counts = random.random((n + 5, paths)) * (random.random((n + 5, paths)) < 0.5)
    together, alone = np.zeros(40), np.zeros(40)
    path_weights.add_scores(many.csr, shared, weights, counts, 0.3, by_norm, together)
    for i in range(40):
        one = many.slice(i, i + 1)
        path_weights.add_scores(one.csr, shared, weights, counts, 0.3, by_norm, alone[i : i + 1])
    assert (together == alone).all()
    w, k = weights[:n], counts[:n]
    bar = 0.3 * (np.sqrt(k) if by_norm else k)
    pulled = np.sign(w) * np.maximum(np.abs(w) - bar, 0) / (1 + shared[:n, DAMP, None])
    np.testing.assert_allclose(together, (x @ pulled).sum(axis=1), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("length", [3, 40, 1001])
def test_a_row_of_just_the_greatest_length_is_usual(length):
    """The sum of squares is that of one value after the other, to the last bit."""
    values = np.random.default_rng(length).normal(size=length)
    norm = 0.0
    for value in values.tolist():
        norm += value * value
    row = Csr(np.array([0, length]), np.arange(length, dtype=np.int32), values)
    for longest, met in ((norm, length), (np.nextafter(norm, 0), 0), (2 * norm, length), (0.1, 0)):
        shared, known = np.zeros((length, 8)), np.zeros(length, dtype=np.uint8)
        given = np.zeros(1, dtype=np.int64), np.ones(1), longest, shared
        out = room(length, "i4", "f8")
        assert prepared.meet(
            row, *given, np.zeros(2, dtype=np.int64), *out, np.zeros((2, 2)), known
        ) == (length, met)
        assert known.sum() == met


@pytest.mark.parametrize("most", [1, 8, 20])
@pytest.mark.parametrize("least", [1, 6])
def test_features_are_judged_by_the_bursts_that_kept_them(most, least):
    random, n, P = np.random.default_rng(most), 60, 25
    slots = random.integers(P, size=n).astype(np.int32)
    informed = random.integers(1, most + 1, size=n).astype(np.uint8)
    kept = random.integers(2, size=int(informed.sum())).astype(np.uint8)
    values, owner = random.random(len(kept)), np.repeat(slots, informed)
    shared, left = np.zeros((P, 8)), np.zeros(n, dtype=np.int32)
    stability.tally(slots, informed, kept, shared)
    bursts, survived = np.bincount(owner, minlength=P), np.bincount(owner, kept, minlength=P)
    np.testing.assert_array_equal(shared[:, 2:4], np.stack([bursts, survived], axis=1))
    judged = (bursts > 0) & (bursts >= least)
    gone = judged & (survived < 0.5 * bursts)
    rest = values[~gone[owner]]
    leaving, staying = stability.judge(slots, informed, values, shared, 0.5, least, left)
    assert sorted(left[:leaving]) == np.flatnonzero(gone).tolist()
    np.testing.assert_array_equal(values[:staying], rest)
    np.testing.assert_array_equal(shared[:, 1], gone)
    np.testing.assert_array_equal(shared[:, 2], np.where(judged, 0, bursts))


def test_only_features_that_are_known_have_a_spread():
    shared, known = np.zeros((3, 8)), np.array([1, 0, 1], dtype=np.uint8)
    shared[:, 4:7] = [[1, 2, 0], [1, 2, 0], [0, 0, 0]]
    met = SLOTS.copy()
    assert spreads(shared=shared, known=known, met=met) == 1
    assert met[0] == 0
