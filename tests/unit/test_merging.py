"""Several states become one, by what is declared of each part."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.errors import UsageError
from cwtool.state import Array, Column, FeatureIndex, Layout, Merge, Number, State
from cwtool.state.merging import merge, refusals

LAYOUT = Layout(
    (
        (Column("mean", Merge.MEAN, by="precision"), Column("precision", Merge.SUM)),
        (Column("plain", Merge.MEAN),),
    ),
    numbers=(Number("rounds", merge=Merge.SUM), Number("version", 3, Merge.EQUAL)),
)
DIRECT = 64


def state_of(features: dict[int, tuple[float, float, float]], layout: Layout = LAYOUT) -> State:
    """A state with (mean, precision, plain) of these ids."""
    state = State(layout, FeatureIndex(DIRECT))
    slots = state.slots_of(np.array(list(features), dtype=np.int32))
    for k, name in enumerate(("mean", "precision", "plain")):
        state.column(name)[slots] = [row[k] for row in features.values()]
    state.numbers["rounds"] = len(features)
    return state


def merged(parts: list[State], layout: Layout = LAYOUT) -> State:
    into = State(layout, FeatureIndex(DIRECT))
    merge(into, parts)
    return into


def content(state: State) -> dict[int, tuple[float, ...]]:
    ids, slots = state.index.ids_and_slots()
    values = zip(*(state.column(c.name)[slots].tolist() for c in LAYOUT.columns), strict=True)
    return dict(zip(ids.tolist(), values, strict=True))


ids = st.one_of(st.integers(0, 99), st.integers(0, 2**31 - 1))  # some are hashed
numbers = st.floats(-1e3, 1e3)
models = st.dictionaries(ids, st.tuples(numbers, st.floats(0, 1e6), numbers), max_size=12)


@given(features=models)
def test_one_part_is_copied_bit_for_bit(features: dict[int, Any]) -> None:
    part = state_of({**features, 7: (-0.0, 0.0, -0.0)})
    part.numbers["rounds"], part.numbers["version"] = 12345, 4
    found = merged([part])
    assert {k: v.tobytes() for k, v in found.pack().items()} == {
        k: v.tobytes() for k, v in part.pack().items()
    }
    assert found.numbers == part.numbers
    found.table[:] = 1
    found.numbers["rounds"] = 0
    assert part.numbers["rounds"] == 12345
    assert part.index.count == found.index.count


@given(parts=st.lists(models, min_size=2, max_size=4))
def test_sums_and_means_in_the_order_of_the_parts(parts: list[dict[int, Any]]) -> None:
    """Only the parts that know a feature take part in its mean."""
    found = merged([state_of(features) for features in parts])
    want = {}
    for j in sorted({j for features in parts for j in features}):
        rows = [features[j] for features in parts if j in features]
        top = below = precision = plain = 0.0
        for mean, p, w in rows:
            top += (1 + p) * mean
            below += 1 + p
            precision += p
            plain += w
        want[j] = (top / below, precision, plain / len(rows))
    assert content(found) == want
    assert found.numbers == {"rounds": sum(map(len, parts)), "version": 3}


@given(parts=st.lists(models, min_size=2, max_size=3))
def test_merging_leaves_the_parts_alone(parts: list[dict[int, Any]]) -> None:
    states = [state_of(features) for features in parts]
    before = [{k: v.tobytes() for k, v in s.pack().items()} for s in states]
    merged(states).table[:] = 9
    assert [{k: v.tobytes() for k, v in s.pack().items()} for s in states] == before


def test_what_must_be_equal_is_named_when_it_is_not() -> None:
    one, other = state_of({}), state_of({})
    other.numbers["version"] = 4
    with pytest.raises(UsageError, match="models with different version cannot be merged"):
        merged([one, other])


def test_what_has_no_way_to_be_merged_is_named() -> None:
    layout = Layout(
        ((Column("mean", Merge.SUM), Column("debt")),),
        numbers=(Number("owed"), Number("rounds", merge=Merge.SUM)),
        arrays=(Array("chosen"), Array("hits", merge=Merge.SUM)),
        squares=("sigma",),
        lists=(("rows", 3),),
    )
    assert refusals(layout) == ["debt", "owed", "chosen", "sigma", "rows"]
    assert refusals(LAYOUT) == []
    for count in (1, 2):
        with pytest.raises(UsageError, match="debt, owed, chosen, sigma, rows cannot be merged"):
            merged([State(layout, FeatureIndex(DIRECT)) for _ in range(count)], layout)


def test_numbers_and_arrays_by_their_declaration() -> None:
    layout = Layout(
        ((Column("w", Merge.SUM),),),
        numbers=(Number("level", 0.0, Merge.MEAN),),
        arrays=(
            Array("sums", shape=(2,), merge=Merge.SUM),
            Array("means", shape=(2,), merge=Merge.MEAN),
            Array("same", "<i4", (2,), Merge.EQUAL),
        ),
    )
    states = []
    for k in (1, 2, 6):
        state = State(layout, FeatureIndex(DIRECT))
        state.numbers["level"] = float(k)
        state.arrays["sums"][:] = state.arrays["means"][:] = [k, 10 * k]
        state.arrays["same"][:] = [4, 5]
        states.append(state)
    found = merged(states, layout)
    assert found.numbers == {"level": 3.0}
    assert found.arrays["sums"].tolist() == [9, 90]
    assert found.arrays["means"].tolist() == [3, 30]
    assert found.arrays["same"].tolist() == [4, 5]
    assert not np.shares_memory(found.arrays["same"], states[0].arrays["same"])
    assert states[0].arrays["sums"].tolist() == [1, 10]
    states[2].arrays["same"][1] = 6
    with pytest.raises(UsageError, match="different same"):
        merged(states, layout)
