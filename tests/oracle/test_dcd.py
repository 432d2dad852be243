"""Passes of dual coordinate descent with shrinking against plain loops, and the optimum of dcd."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cwtool.algorithms import dcd
from cwtool.algorithms.batch import Bounds
from cwtool.algorithms.newton import Newton
from cwtool.data.rows import Rows, SlotRows
from cwtool.model import Model
from cwtool.run import Run
from cwtool_ext import dual

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


def slow_pass(x, y, order, D, U, above, below, mu, a, idle):  # type: ignore[no-untyped-def]
    """The same pass over dense rows."""
    seen = []
    for i in order:
        g = y[i] * (mu @ x[i]) - 1 + D[i] * a[i]
        if (a[i] == 0 and g > above) or (a[i] == U[i] and g < below):
            idle[i] = 1
            continue
        seen.append(min(g, 0) if a[i] == 0 else max(g, 0) if a[i] == U[i] else g)
        if abs(seen[-1]) > 1e-12:
            new = min(U[i], max(0, a[i] - g / (x[i] @ x[i] + D[i])))
            mu += (new - a[i]) * y[i] * x[i]
            a[i] = new
    return max(seen), min(seen)


@pytest.mark.parametrize("loss", LOSSES)
def test_shrinking_passes(loss: str) -> None:
    x, y = dense(1)
    stored = rows_of(x / 2, y)
    rows = SlotRows(stored.indptr, stored.indices, stored.values, stored.y, None, 2.0)
    v, bounds = (x * x).sum(axis=1), Bounds.of(C, loss, N)
    mine = [np.zeros(P), np.zeros(N), np.zeros(N, dtype=np.uint8)]
    slow = [np.zeros(P), np.zeros(N), np.zeros(N, dtype=np.uint8)]
    above, below = math.inf, -math.inf
    for pass_ in range(6):
        order = np.random.default_rng(pass_).permutation(N)
        most, least = dual.shrinking_pass(rows.csr, y, order, v, *bounds, above, below, *mine)
        assert slow_pass(x, y, order, *bounds, above, below, *slow) == pytest.approx((most, least))
        for one, other in zip(mine, slow, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
        above, below = most / 2, least / 2
    assert 0 < mine[2].sum() < N  # some rows have become idle


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
    w = learned(x, y, weight, C=20.0, tol=1e-9)
    assert 0 < len(steps) < 30
    monkeypatch.setattr(dcd, "passes_for", lambda *_: math.inf)
    other = learned(x, y, weight, C=20.0, tol=1e-9, max_batch_passes=100000)
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
