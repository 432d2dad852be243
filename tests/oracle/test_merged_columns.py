"""The merge of columns against loops over features, parts and classes; ranges change no bit."""

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest

from cwtool.algorithms.merging import merged_columns
from cwtool.algorithms.merging.base import INC, NAT, SUM, Rule
from cwtool.algorithms.merging.merged_classes import new_state
from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.merging import _merger, merge
from cwtool.merging.changes import changes
from cwtool.model import Model
from cwtool.run import Run

Columns = tuple[float, ...]
POWERS: dict[float, Callable[[int], float]] = {
    0.0: lambda c: 1 / c,
    0.25: lambda c: 1 / (sqrt(c) * sqrt(sqrt(c))),
    0.5: lambda c: 1 / sqrt(c),
    0.75: lambda c: 1 / sqrt(sqrt(c)),
    1.0: lambda c: 1.0,
}


def slow(base: Columns, parts: list[Columns], rule: Rule) -> Columns:
    """One feature of one class."""
    moved = [part for part in parts if part != base]
    if len(moved) < 2:
        return moved[0] if moved else base
    c = len(moved)
    if len(base) == 1:
        total = 0.0
        for (w,) in moved:
            total += w - base[0]
        return (base[0] + POWERS[rule.exponent](c) * total,)
    mu0, p0 = base
    D = A = B = N = 0.0
    for mu, p in moved:
        D += p - p0
        A += mu - mu0
        B += (p - p0) * (mu - mu0)
        N += (1 + p) * mu - (1 + p0) * mu0
    if rule == INC:
        mean = mu0 + (B / D if D else A / c)
    else:
        k = POWERS[rule.exponent](c)
        mean = ((1 + p0) * mu0 + k * N) / (1 + p0 + k * D)
    return mean, p0 + D / c


def features(model: Model, places: int) -> dict[int, list[Columns]]:
    """The columns of each feature at each place."""
    ids, slots = model.index.ids_and_slots()
    names = [column.name for column in model.state.layout.columns]
    table = [[model.state.column(n, k)[slots] for n in names] for k in range(places)]
    return {
        int(j): [tuple(float(a[i]) for a in columns) for columns in table]
        for i, j in enumerate(ids)
    }


def random_models(seed: int, algo: str, classes: int, n_parts: int = 3) -> list[Model]:
    """A base and parts, of which each moves some features in some of their classes."""
    random = np.random.default_rng(seed)
    labels = Labels(-1.0, 1.0)
    if classes > 2:
        labels = Labels(multiclass="rival", several=[float(k) for k in range(classes)])
    base = Model.new(algo, {"prior": 1.0} if algo != "pa1" else {}, labels=labels)
    base.settle()
    places = classes if classes > 2 else 1
    if classes > 2:
        base.state.arrays["rounds"] = np.full(classes, 5)
    _move(base, random, places, 0)
    parts = [base.copy() for _ in range(n_parts)]
    for part in parts:
        _move(part, random, places, 5_000_000)
    return [base, *parts]


def _move(model: Model, random: np.random.Generator, places: int, beyond: int) -> None:
    ids = np.unique(np.append(random.integers(0, 60, 25), beyond + random.integers(0, 9, 3)))
    slots = model.state.slots_of(ids.astype(np.int32))
    for column in model.state.layout.columns:
        for k in range(places):
            some = slots[random.random(len(slots)) < 0.6]
            values = model.state.column(column.name, k)
            change = random.normal(size=len(some))
            values[some] += np.abs(change) if column.name == "precision" else change


@pytest.mark.parametrize("algo", ["arow", "pa1"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("seed", range(2))
def test_merges_agree_with_loops_to_the_bit(
    algo: str, classes: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, *parts = random_models(seed, algo, classes)
    places = classes if classes > 2 else 1
    zero = [(0.0,) * len(base.state.layout.columns)] * places
    before, own = features(base, places), [features(p, places) for p in parts]
    ids = sorted({j for one in (before, *own) for j in one})
    for rule in (INC, *NAT.values()) if algo == "arow" else SUM.values():
        want = {}
        for j in ids:
            start = before.get(j, zero)
            want[j] = [
                slow(start[k], [one.get(j, start)[k] for one in own], rule) for k in range(places)
            ]
        for size in (1, 7, 1 << 17):
            monkeypatch.setattr(merged_columns, "RANGE", size)
            state = new_state(base.learner, base.labels.several)
            _merger(base, parts, base).put(state, rule, Run(jobs=1 + size % 3))
            assert features(replace(base, state=state, index=state.index), places) == want


@pytest.mark.parametrize("classes", [2, 4])
def test_a_model_without_what_its_base_has(classes: int) -> None:
    base, *parts = random_models(1, "arow", classes)
    light = [changes(part, base) for part in parts]
    assert all(a.index.count < b.index.count for a, b in zip(light, parts, strict=True))
    assert merge(light, base).model.to_bytes() == merge(parts, base).model.to_bytes()
    saved = [Model.from_bytes(one.to_bytes()) for one in light]
    assert [one.index.direct for one in saved] == [0, 0, 0]
    assert merge(saved, base).model.to_bytes() == merge(parts, base).model.to_bytes()


def scaled(seed: int, factor: float, **params: Any) -> Model:
    """A model of rows that are longer by this factor."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(1200, 20))
    y = (x[:, :10].sum(axis=1) > 0).astype(np.int32)
    model = Model.new("arow", params)
    model.labels.negative, model.labels.positive = -1.0, 1.0
    indptr = np.arange(0, x.size + 1, 20)
    ids = np.tile(np.arange(20, dtype=np.int32), len(x))
    model.learn(Rows(indptr, ids, factor * x.ravel(), y), Run())
    return model


def test_other_row_scales_are_brought_to_that_of_the_first() -> None:
    """Models whose rows are scaled differently are, in the units of the first, as if learned with
    its scale: mean *= k, p /= k^2."""
    first, second = scaled(1, 1.0), scaled(2, 1.5)
    k = second.scale.value / first.scale.value
    assert 0.6 < k < 0.7
    by_hand = second.copy()
    by_hand.state.column("mean")[:] *= k
    by_hand.state.column("precision")[:] *= 1 / k**2
    by_hand.scale.seen[:] = first.scale.seen
    found, want = merge([first, second]).model, merge([first, by_hand]).model
    np.testing.assert_allclose(found.state.table[:20], want.state.table[:20], rtol=1e-14)
    assert found.scale.value == first.scale.value


def test_precision_is_forgotten_by_the_rows_of_all_parts() -> None:
    """With a half-life, what no part moved fades by the rows of all parts, and what one part has
    gained is added to what is left of the base."""
    base = scaled(1, 1.0, half_life=800, prior=1.0)
    n = 400

    def continued(feature: int) -> Model:
        part = base.copy()
        ids = np.full(n, feature, dtype=np.int32)
        y = np.zeros(n, dtype=np.int32)
        part.learn(Rows(np.arange(n + 1), ids, np.ones(n), y), Run())
        return part

    one, two = continued(3), continued(4)
    found = merge([one, two], base).model.state
    before, half = base.state.column("precision"), 0.5
    assert found.numbers["visits"] == 1200 + 2 * n
    np.testing.assert_allclose(found.column("precision")[5], half * before[5], rtol=1e-12)
    gained = one.state.column("precision")[3] - sqrt(half) * before[3]
    assert gained > 0
    np.testing.assert_allclose(found.column("precision")[3], half * before[3] + gained, rtol=1e-12)
    assert found.column("mean")[3] == one.state.column("mean")[3]


@pytest.mark.parametrize("largest", [20, 2**31 - 1])
def test_the_union_of_ids(largest: int) -> None:
    rng = np.random.default_rng(largest)
    parts = [rng.integers(1, largest, size=n, dtype=np.int32) for n in (30, 0, 5)]
    found = merged_columns.union(parts)
    assert found.tolist() == np.unique(np.concatenate(parts)).tolist()
    assert found.dtype == np.int32
    assert merged_columns.union([parts[1]]).tolist() == []
