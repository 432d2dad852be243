"""Ids to slots and back, for any ids in any order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.data.labels import Labels
from cwtool.data.rows import BIAS, Ints, Rows
from cwtool.model import Model
from cwtool.run import Run
from cwtool.state.index import DIRECT, FeatureIndex, direct_for
from cwtool_ext import slots

small = st.integers(0, 300)
any_id = st.one_of(
    small,
    st.integers(DIRECT - 3, DIRECT + 3),
    st.integers(DIRECT, BIAS),
    st.sampled_from([0, BIAS, BIAS - 1, 2_000_000_000]),
)
directs = st.sampled_from([0, 64, DIRECT])


def ints(ids: list[int]) -> Ints:
    return np.array(ids, dtype=np.int32)


def observe(index: FeatureIndex, ids: list[int]) -> list[int]:
    """Show the ids, which stay as they are; their slots."""
    given = ints(ids)
    found = index.observe(given).tolist()
    assert given.tolist() == ids
    return [int(k) for k in found]


@given(parts=st.lists(st.lists(any_id, max_size=40), max_size=6), direct=directs)
def test_round_trip(parts: list[list[int]], direct: int) -> None:
    index = FeatureIndex(direct)
    slot_of: dict[int, int] = {}
    for ids in parts:
        before = index.count
        for j, slot in zip(ids, observe(index, ids), strict=True):
            assert slot_of.setdefault(j, slot) == slot, "an id keeps its slot"
        assert index.count == len(slot_of) >= before
    assert len(set(slot_of.values())) == len(slot_of), "no two ids share one"
    assert all(0 <= k < index.n_slots <= index.room for k in slot_of.values())
    ids, places = index.ids_and_slots()
    assert ids.tolist() == sorted(slot_of)
    assert places.tolist() == [slot_of[j] for j in sorted(slot_of)]
    assert index.ids_of(places).tolist() == sorted(slot_of)
    assert index.known(ids).tolist() == places.tolist()
    if direct == 0:
        assert sorted(slot_of.values()) == list(range(len(slot_of))), "without gaps"
    saved, places = index.saving_order()
    assert index.ids_of(places).tolist() == saved.tolist()
    assert direct > 0 or places.tolist() == list(range(index.count))


@given(ids=st.lists(st.integers(0, DIRECT - 1), max_size=40))
def test_ids_that_are_their_own_slots_are_not_copied(ids: list[int]) -> None:
    index, given = FeatureIndex(), ints(ids)
    assert index.observe(given) is given
    assert index.known(given) is given
    assert given.tolist() == ids
    assert index.count == len(set(ids))


@given(before=st.lists(small, max_size=5), ids=st.lists(any_id, min_size=1, max_size=40))
def test_what_is_observed_is_never_changed(before: list[int], ids: list[int]) -> None:
    index, given = FeatureIndex(), ints(ids)
    observe(index, before)
    given.flags.writeable = False
    found = index.observe(given)
    if max(ids) < DIRECT:
        assert found is given
    else:
        assert not np.shares_memory(found, given)
        assert found.tolist() == [j if j < DIRECT else k for j, k in zip(ids, found, strict=True)]


@pytest.mark.parametrize("direct", [0, 64, DIRECT])
def test_growth(direct: int) -> None:
    """Many hashed ids in many steps: slots stay, and there is little room to spare."""
    index = FeatureIndex(direct)
    random = np.random.default_rng(0)
    ids = random.choice(np.arange(direct, BIAS, 7919), 30_000, replace=False).tolist()
    found: list[int] = []
    for start in range(0, len(ids), 997):
        found += observe(index, ids[start : start + 997])
    assert index.count == len(ids) == len(set(found))
    assert observe(index, ids) == found
    assert index.room < direct + 1.3 * len(ids) + 16


def test_nothing_is_observed() -> None:
    index = FeatureIndex()
    assert observe(index, []) == []
    assert index.count == 0
    assert index.ids_and_slots()[0].tolist() == []


@pytest.mark.parametrize("direct", [0, DIRECT])
def test_a_negative_id_is_refused(direct: int) -> None:
    with pytest.raises(ValueError, match="not negative"):
        FeatureIndex(direct).observe(ints([3, -1]))


row = st.lists(st.tuples(any_id, st.floats(-9, 9)), max_size=12, unique_by=lambda e: e[0])


@given(known=st.lists(any_id, max_size=30), rows=st.lists(row, max_size=6), scale=st.floats(0.1, 4))
def test_lookup_drops_what_was_never_seen(
    known: list[int], rows: list[list[tuple[int, float]]], scale: float
) -> None:
    index = FeatureIndex()
    slot_of = dict(zip(known, observe(index, known), strict=True))
    given = Rows.from_lists(rows, [1] * len(rows))
    for array in (given.indptr, given.indices, given.values, given.y):
        array.flags.writeable = False  # looking changes neither the rows nor the index
    found, unknown, dropped = index.lookup(given, scale)
    left = [[(slot_of[j], x) for j, x in r if j in slot_of] for r in rows]
    assert np.diff(found.indptr).tolist() == [len(r) for r in left]
    assert found.indices.tolist() == [k for r in left for k, _ in r]
    assert found.values.tolist() == [x for r in left for _, x in r]
    assert found.scale == scale
    assert found.y is given.y
    lost = [[x for j, x in r if j not in slot_of] for r in rows]
    assert dropped == sum(map(len, lost))
    assert unknown == pytest.approx([sum(x * x for x in r) * scale**2 for r in lost])
    assert index.count == len(slot_of)


@given(st.sets(st.integers(0, 639), max_size=80))
def test_members_are_the_ids_whose_bits_are_set(ids: set[int]) -> None:
    bits = np.zeros(640, dtype=np.uint8)
    bits[list(ids)] = 1
    seen = np.packbits(bits, bitorder="little").view(np.uint64)
    found = np.empty(len(ids), dtype=np.int32)
    slots.members(seen, found)
    assert found.tolist() == sorted(ids)


@pytest.mark.parametrize("room", [1, 3])
def test_members_need_just_their_room(room: int) -> None:
    with pytest.raises(ValueError, match="room"):
        slots.members(np.array([5], dtype=np.uint64), np.empty(room, dtype=np.int32))


@pytest.mark.parametrize(
    ("ids", "row_bytes", "direct"),
    [
        (range(0), 8, DIRECT),
        (range(0, DIRECT, 999), 16, DIRECT),  # 64 MB in all
        (range(0, DIRECT, 999), 128, DIRECT // 8),
        (range(0, DIRECT, 2), 1 << 20, DIRECT),  # half of the rows are used
        ([0, *range(1 << 22, 1 << 23, 999)], 1 << 20, DIRECT),  # the others are hashed anyway
        (range(63, 1 << 20, 999), 1 << 30, 64),
    ],
)
def test_ids_far_apart_do_not_make_large_tables(ids: range, row_bytes: int, direct: int) -> None:
    assert direct_for(ints(list(ids)), row_bytes) == direct


def test_copies_of_models_take_less_memory_for_ids_far_apart() -> None:
    rows = Rows.from_lists([[(1000 * k, 1.0) for k in range(4000)]], [1])
    model = Model.new("arow", {}, labels=Labels(-1.0, 1.0))
    model.learn(rows, Run())
    copied = model.copy()
    assert (model.index.direct, copied.index.direct) == (DIRECT, DIRECT // 8)
    assert copied.to_bytes() == model.to_bytes()
