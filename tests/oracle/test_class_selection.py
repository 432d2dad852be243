"""Features chosen for several classes together, against slow versions."""

from typing import Any

import numpy as np
import pytest
from few_weights import random_data
from slow_batch import Slow
from taught import slot_rows

from cwtool.algorithms.multiclass.one_vs_rest import OneVsRest, States
from cwtool.algorithms.sbcw import SBCW, SbcwParams
from cwtool.data.rows import SlotRows
from cwtool.params import build
from cwtool.registry import algorithm
from cwtool.run import Run


def four_classes(seed: int, n: int = 60, d: int = 12) -> tuple[np.ndarray, np.ndarray]:
    x, side = random_data(seed, n, d)
    return x, 2 * (side > 0) + (x @ np.random.default_rng(seed + 1).normal(size=d) > 0)


def learned(name: str, x: np.ndarray, y: np.ndarray, **params: Any) -> States:
    """The states of the ghost and of four classes after one batch, with rows as they are."""
    kind = algorithm(name)
    several = OneVsRest(kind(build(kind.Params, {"prior": 1.0, **params})))
    state = several.new_state()
    state.admit([0.0, 1.0, 2.0, 3.0])
    state.slots_of(np.arange(x.shape[1], dtype=np.int32))
    rows = slot_rows(x, y, state)
    rows = SlotRows(rows.indptr, rows.indices, rows.values, y.astype(np.int32), None, rows.scale)
    state.reserve()
    several.learn(state, rows, rows.order, Run())
    return state


def slow_groups(x, signs, *, C, c, p, r, passes, combine):
    """Each step: the r columns with the largest sum (or maximum) over the classes of
    s_j^2 / (1 + c |x_j|^2) become one group of all classes; each solves its own problem."""
    beta, share = [np.ones(len(x))] * len(signs), [np.empty(0)] * len(signs)
    groups, free, mu = [], x.any(axis=0), [None] * len(signs)
    while (left := min(r, p - sum(map(len, groups)))) > 0:
        s = np.array([x.T @ (b * y) for b, y in zip(beta, signs, strict=True)])
        value = combine(s**2 / (1 + c * (x**2).sum(axis=0)), axis=0) * free
        groups.append(np.sort(np.argsort(-value, kind="stable")[:left]))
        free[groups[-1]] = False
        K = len(groups)
        for k, y in enumerate(signs):
            slow = Slow(x, y, groups, C, c, 2, 0.0)
            start = beta[k] if K > 1 else np.zeros(len(x))
            own = np.append(share[k] * (1 - 1 / K), 1 / K)
            _, w, beta[k], share[k] = slow.mm(start, own, passes)
            mu[k] = slow.mu(w, x.shape[1])
    return groups, mu


@pytest.mark.parametrize(("group", "combine"), [("sum", np.sum), ("max", np.max)])
def test_shared_groups(group, combine) -> None:
    x, y = four_classes(3)
    signs = [np.where(y == k, 1.0, -1.0) for k in range(4)]
    given = {"features": 8, "group_size": 3, "group_passes": 3, "C": 2.0, "shuffle": False}
    state = learned("sbcw", x, y, score="diag", tol=0, group=group, final_C="same", **given)
    groups, mu = slow_groups(x, signs, C=2.0, c=0.02, p=8, r=3, passes=3, combine=combine)
    sbcw = SBCW(build(SbcwParams, given))
    for k in range(4):
        part = state.parts[k]
        chosen = sbcw.selection(part)
        for number, members in enumerate(groups, 1):
            assert sorted(chosen.slots[chosen.group == number].tolist()) == members.tolist()
        np.testing.assert_allclose(part.table[:12, 0], mu[k], atol=1e-9)
        assert part.arrays["gram"] is state.ghost.arrays["gram"]


def test_the_group_score_matters() -> None:
    """A feature that one class needs badly, and one that all need a little."""
    rng = np.random.default_rng(5)
    y = np.arange(200) % 4
    x = rng.normal(0, 0.1, (200, 6))
    x[:, 2] += np.where(y == 1, 0.8, -0.8 / 3)
    x[:, 4] += np.array([-0.6, 0.6, -0.6, 0.6])[y]
    for group, first in (("sum", 4), ("max", 2)):
        state = learned("fgm", x, y, features=1, group=group)
        assert np.flatnonzero(state.ghost.table[:6, 2]).tolist() == [first]


@pytest.mark.parametrize("name", ["l1svm", "spar-dca"])
def test_one_C_for_all_classes(name: str) -> None:
    """Every class is optimal over the features of all classes, for the same C."""
    x, y = four_classes(7, n=150)
    state = learned(name, x, y, features=6, tol=1e-9, max_batch_passes=5000)
    C = state.ghost.numbers["C"]
    union = np.flatnonzero(state.ghost.table[:12, 1])
    assert len(union) == 6
    used = np.zeros(12, dtype=bool)
    for k in range(4):
        signs = np.where(y == k, 1.0, -1.0)
        w = state.parts[k].table[:12, 0]
        used |= w != 0
        assert state.parts[k].numbers["C"] == C
        slope = C * (x * signs[:, None]).T @ np.minimum(signs * (x @ w) - 1, 0)
        slope += (0.1 if name == "spar-dca" else 0.0) * w
        at_zero = w[union] == 0
        tolerance = 1e-4
        assert (np.abs(slope[union][at_zero]) <= 1 + tolerance).all()
        np.testing.assert_allclose(slope[union][~at_zero], -np.sign(w[union][~at_zero]), atol=1e-3)
    assert np.flatnonzero(used).tolist() == union.tolist()
