"""Dual coordinate descent against plain loops, and the optimum of dcd."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cwtool.algorithms import dcd
from cwtool.algorithms.batch.learner import Bounds
from cwtool.algorithms.batch.newton import Newton
from cwtool.data.rows import Rows, SlotRows
from cwtool.model import Model
from cwtool.run import Run
from cwtool_ext.dual_descent import DualDescent

N, P, C = 90, 23, 0.7
LOSSES = ["hinge", "squared-hinge"]


def dense(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, P)) * (rng.random((N, P)) < 0.4)
    y = np.where(x @ rng.normal(size=P) + rng.normal(size=N) > 0, 1.0, -1.0)
    return x, y


def rows_of(x: np.ndarray, y: np.ndarray) -> Rows:
    listed = [[(int(j), float(row[j])) for j in np.flatnonzero(row)] for row in x]
    return Rows.from_lists(listed, [int(one > 0) for one in y])


class SlowDescent:
    """The same visits over dense rows."""

    def __init__(self, x, y, D, U, seeds):  # type: ignore[no-untyped-def]
        self.z, self.D, self.U = y[:, None] * x, D, U
        self.w, self.a, self.gaps = np.zeros(x.shape[1]), np.zeros(len(x)), np.zeros(len(x))
        self.rest, self.rested = np.zeros((2, len(x)), dtype=int)
        self.mean, self.far, self.random = 0.0, math.inf, 0
        self.visits = self.naps = 0
        for seed in seeds:
            self.random = self.number() ^ seed

    def number(self) -> int:
        """SplitMix64"""
        self.random = (self.random + 0x9E3779B97F4A7C15) % 2**64
        z = self.random
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def order(self) -> list[int]:
        awake = np.flatnonzero(self.rest == 0).tolist()
        self.rest = np.maximum(0, self.rest - 1)
        groups = [awake[k : k + 4] for k in range(0, len(awake), 4)]
        for i in range(len(groups) - 1, 0, -1):
            j = (self.number() >> 32) * (i + 1) >> 32
            groups[i], groups[j] = groups[j], groups[i]
        return [i for group in groups for i in group]

    def pass_(self) -> None:
        total, order = 0.0, self.order()
        for i in order:
            m, a, D, U = self.z[i] @ self.w, self.a[i], self.D[i], self.U[i]
            self.gaps[i] = self.gap_of(m, a, D, U)
            g = m - 1 + D * a
            projected = min(g, 0) if a == 0 else max(g, 0) if a == U else g
            if projected == 0 and abs(g) > self.far:
                self.rest[i] = 32
                self.naps += 1
            else:
                self.rested[i] = min(3, self.rested[i] + 1) if abs(projected) <= self.mean else 0
                self.rest[i] = self.rested[i]
            if projected != 0:
                self.a[i] = min(U, max(0, a - g / (self.z[i] @ self.z[i] + D)))
                self.w += (self.a[i] - a) * self.z[i]
            total += abs(projected)
        self.visits += len(order)
        self.mean = total / (len(order) + 1)
        self.far = 2 * self.mean

    def gap_of(self, m, a, D, U):  # type: ignore[no-untyped-def]
        """Of the objective and the dual, the terms of one row."""
        if D == 0:
            return U * max(0, 1 - m) - a + a * m
        xi = max(0, 1 - m)
        loss = xi**2 / (2 * D) if xi <= D * U else U * xi - D * U**2 / 2
        return loss - a + a * m + D * a * a / 2

    def dual(self) -> float:
        return float(self.a.sum() - self.w @ self.w / 2 - (self.D * self.a**2).sum() / 2)


@pytest.mark.parametrize("values", ["many", "one"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", [*LOSSES, "rounded"])
def test_visits_of_descent(loss: str, weighted: bool, values: str) -> None:
    x, y = dense(1)
    if values == "one":
        x = np.where(x == 0, 0.0, 1.7)
        y = np.where(x @ np.random.default_rng(6).normal(size=P) > 0, 1.0, -1.0)
    stored = rows_of(x / 2, y)
    rows = SlotRows(stored.indptr, stored.indices, stored.values, stored.y, None, 2.0)
    weight = np.random.default_rng(5).random(N) + 0.1 if weighted else None
    bounds, w, seeds = Bounds.of(C, loss, N, weight), np.zeros(P), np.array([3, 1], np.uint64)
    cost = bounds.upper if loss == "hinge" else 1 / bounds.ridge
    if loss == "rounded":
        bounds = Bounds(bounds.ridge, cost)
    mine = DualDescent(rows.csr, y, (x * x).sum(axis=1), *bounds, w, seeds)
    slow = SlowDescent(x, y, *bounds, seeds.tolist())
    for _ in range(12):
        slow.pass_()
        assert not mine.run(1e-30, slow.visits)
        assert mine.visits == slow.visits
        np.testing.assert_allclose(w, slow.w, rtol=0, atol=1e-12)
        assert mine.dual == pytest.approx(slow.dual(), rel=1e-12)
        assert mine.gap == pytest.approx(slow.gaps.sum(), rel=1e-9)
    assert slow.visits < 12 * N  # some rows have rested
    assert slow.naps > 0
    assert mine.run(1e-6, 1e6)
    xi = np.maximum(0, 1 - slow.z @ w)
    rounded = np.where(xi > 1, xi - 0.5, xi**2 / 2)
    losses = {"hinge": xi, "squared-hinge": xi**2 / 2, "rounded": rounded}
    objective = w @ w / 2 + cost @ losses[loss]
    assert objective - mine.dual == pytest.approx(mine.gap, rel=1e-6, abs=1e-12)
    assert mine.gap <= 1e-6 * mine.dual


def learned(x: np.ndarray, y: np.ndarray, weight: np.ndarray | None, **params: Any) -> np.ndarray:
    """The weights of dcd after all rows, and then after the first half of them again."""
    model = Model.new("dcd", {"loss": "squared-hinge", "prior": 1.0, **params})
    rows = replace(rows_of(x, y), weight=weight)
    for part in (rows, rows.slice(0, len(y) // 2)):
        model.learn(part, Run(calibrate=False))
    w, found = np.zeros(x.shape[1]), model.weights()
    w[found.ids] = found.weight
    return w


@pytest.mark.parametrize("weight", [None, np.random.default_rng(4).random(N) + 0.1])
def test_newton_steps_end_where_descent_does(
    weight: np.ndarray | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the second batch goes on from the weights of the first."""
    x, y = dense(3)
    x = x[:, :9]  # few enough features
    steps, plain = [], Newton.ridge_step
    monkeypatch.setattr(Newton, "ridge_step", lambda *args: steps.append(1) or plain(*args))
    w = learned(x, y, weight, C=20.0, tol=1e-12)
    assert 0 < len(steps) < 30
    monkeypatch.setattr(dcd, "passes_for", lambda *_: math.inf)
    other = learned(x, y, weight, C=20.0, tol=1e-12, max_batch_passes=100000)
    np.testing.assert_allclose(w, other, atol=1e-7)


def test_steps_that_fail_leave_the_descent_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = dense(3)
    x = x[:, :9]
    monkeypatch.setattr(Newton, "ridge_step", lambda *_: None)
    w = learned(x, y, None, C=2.0)
    monkeypatch.setattr(dcd, "passes_for", lambda *_: math.inf)
    assert w.tolist() == learned(x, y, None, C=2.0).tolist()


@pytest.mark.parametrize("loss", LOSSES)
def test_optimum(loss: str) -> None:
    """The duality gap at the weights of dcd is small, also where labels are sorted."""
    x, y = dense(2)
    order = np.argsort(y, kind="stable")
    x, y = x[order], y[order]
    model = Model.new("dcd", {"C": C, "loss": loss, "prior": 1.0, "tol": 1e-6})
    model.learn(rows_of(x, y), Run(calibrate=False))
    found, w = model.weights(), np.zeros(P)
    w[found.ids] = found.weight
    xi = np.maximum(0, 1 - y * (x @ w))
    q = 1 if loss == "hinge" else 2
    primal = w @ w / 2 + C / q * (xi**q).sum()
    # the best of many steps of projected gradient ascent of the dual
    z, a = x * y[:, None], np.zeros(N)
    ridge, upper = (0.0, C) if q == 1 else (1 / C, math.inf)
    step = 1 / (np.linalg.norm(z, 2) ** 2 + ridge)
    for _ in range(20000):
        a = np.clip(a + step * (1 - z @ (z.T @ a) - ridge * a), 0, upper)
    bound = a.sum() - (z.T @ a) @ (z.T @ a) / 2 - ridge * (a @ a) / 2
    assert bound - 1e-9 <= primal <= bound * (1 + 1e-5)
