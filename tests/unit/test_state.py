"""Ids to slots and back, for any ids in any order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwtool.data.block import BIAS, Block
from cwtool.state import DIRECT, Features, State, Table
from cwtool_ext import slots

COLUMNS = ("mean", "precision")
small = st.integers(0, 300)
any_id = st.one_of(
    small,
    st.integers(DIRECT - 3, DIRECT + 3),
    st.integers(DIRECT, BIAS),
    st.sampled_from([0, BIAS, BIAS - 1, 2_000_000_000]),
)


def observe(features: Features, ids: list[int]) -> list[int]:
    """Show the ids as one row; their slots."""
    block = Block.from_rows([[(j, 1.0) for j in ids]], [1.0])
    features.observe(block)
    return [int(k) for k in block.indices]


@given(
    parts=st.lists(st.lists(any_id, max_size=40), max_size=6), direct=st.sampled_from([0, DIRECT])
)
@settings(max_examples=60, deadline=None)
def test_round_trip(parts: list[list[int]], direct: int) -> None:
    features = Features(COLUMNS, direct)
    slot_of: dict[int, int] = {}
    for ids in parts:
        before = features.count
        for j, slot in zip(ids, observe(features, ids), strict=True):
            assert slot_of.setdefault(j, slot) == slot, "an id keeps its slot"
        assert features.count == len(slot_of) >= before
    assert len(set(slot_of.values())) == len(slot_of), "no two ids share one"
    assert all(0 <= k < len(features.table) for k in slot_of.values())
    ids, slots = features.ids_and_slots()
    assert ids.tolist() == sorted(slot_of)
    assert slots.tolist() == [slot_of[j] for j in sorted(slot_of)]
    if direct == 0:
        assert sorted(slot_of.values()) == list(range(len(slot_of))), "without gaps"


@given(ids=st.lists(any_id, unique=True, max_size=60), direct=st.sampled_from([0, DIRECT]))
@settings(max_examples=40, deadline=None)
def test_restored(ids: list[int], direct: int) -> None:
    """Saved and loaded: every id has its columns again."""
    features = Features(COLUMNS, direct)
    places = observe(features, ids)
    features.table[places] = [[j + 0.5, -j] for j in ids] or np.empty((0, 2))
    saved, slots = features.ids_and_slots()
    other = Features(COLUMNS, direct)
    other.restore(saved, {name: features.table[slots, k] for k, name in enumerate(COLUMNS)})
    again, slots = other.ids_and_slots()
    assert again.tolist() == sorted(ids)
    assert other.table[slots].tolist() == [[j + 0.5, -j] for j in sorted(ids)]
    assert other.count == len(ids)


@pytest.mark.parametrize("direct", [0, 64, DIRECT])
def test_growth(direct: int) -> None:
    """Many hashed ids in many steps: slots stay, the table grows, and what is new is zero."""
    features = Features(COLUMNS, direct)
    random = np.random.default_rng(0)
    ids = random.choice(np.arange(direct, BIAS, 7919), 30_000, replace=False).tolist()
    slots: list[int] = []
    for start in range(0, len(ids), 997):
        part = ids[start : start + 997]
        new = observe(features, part)
        assert (features.table[new] == 0).all()
        features.table[new] = [[j, -j] for j in part]
        slots += new
    assert features.count == len(ids) == len(set(slots))
    assert observe(features, ids) == slots
    assert features.table[slots].tolist() == [[j, -j] for j in ids]
    assert features.table.nbytes < (direct + 2 * len(ids)) * 16 + 4096


def test_a_block_of_nothing() -> None:
    features = Features(COLUMNS)
    assert features.observe(Block.from_rows([], [])) == 0
    assert features.observe(Block.from_rows([[], []], [1.0, -1.0])) == 0
    assert features.ids_and_slots()[0].tolist() == []


def test_observe_counts_what_is_new() -> None:
    features = Features(COLUMNS)
    rows = [[(1, 1.0), (5, 1.0)], [(5, 1.0), (DIRECT + 5, 1.0)]]
    assert features.observe(Block.from_rows(rows, [1.0, -1.0])) == 3
    assert features.observe(Block.from_rows(rows, [1.0, -1.0])) == 0
    assert features.count == 3


row = st.lists(st.tuples(any_id, st.floats(-9, 9)), max_size=12, unique_by=lambda e: e[0])


@given(known=st.lists(any_id, max_size=30), rows=st.lists(row, max_size=6), scale=st.floats(0.1, 4))
@settings(max_examples=60, deadline=None)
def test_lookup_drops_what_was_never_seen(
    known: list[int], rows: list[list[tuple[int, float]]], scale: float
) -> None:
    features = Features(COLUMNS)
    slot_of = dict(zip(known, observe(features, known), strict=True))
    block = Block.from_rows(rows, [1.0] * len(rows), scale=scale)
    unknown, dropped = features.lookup(block)
    left = [[(slot_of[j], x) for j, x in r if j in slot_of] for r in rows]
    assert np.diff(block.indptr).tolist() == [len(r) for r in left]
    assert block.indices.tolist() == [k for r in left for k, _ in r]
    assert block.values.tolist() == [x for r in left for _, x in r]
    lost = [[x for j, x in r if j not in slot_of] for r in rows]
    assert dropped == sum(map(len, lost))
    assert unknown == pytest.approx([sum(x * x for x in r) * scale**2 for r in lost])
    assert features.count == len(slot_of), "looking changes nothing"


def test_groups_of_columns_grow_and_come_back_together() -> None:
    features = Features(("a",), 64, ("b", "c"), ("d",))
    ids = np.arange(0, 400, 2, dtype=np.int32)
    slots = features.slots_of(ids)
    np.testing.assert_array_equal(features.ids_of(slots), ids)
    assert [t.shape[1] for t in features.tables] == [1, 2, 1]
    assert len({len(t) for t in features.tables}) == 1
    values = {name: np.random.default_rng(k).random(200) for k, name in enumerate("abcd")}
    again = Features(("a",), 64, ("b", "c"), ("d",))
    again.restore(ids[::-1].copy(), {name: v[::-1] for name, v in values.items()})
    slots = again.slots_of(ids)
    for name, v in values.items():
        np.testing.assert_array_equal(again.column(name)[slots], v)
    with pytest.raises(KeyError):
        again.column("e")


def test_columns_that_are_mostly_zero_are_packed_as_the_rest() -> None:
    def state() -> State:
        return State(Features(("full", "rare", "none")))

    before, ids = state(), np.arange(7, 107, dtype=np.int32)
    slots = before.features.slots_of(ids)
    before.features.column("full")[slots] = np.arange(1, 101)
    before.features.column("rare")[slots[[3, 50]]] = [2.5, -0.0]
    packed = before.pack()
    assert "feature.full.at" not in packed
    assert packed["feature.rare.at"].tolist() == [3, 50]
    assert packed["feature.rare"].tolist() == [2.5, 0.0]
    assert len(packed["feature.none"]) == 0
    after = state()
    after.unpack(packed)
    for name in ("full", "rare", "none"):
        mine, other = (s.features.column(name)[slots] for s in (before, after))
        assert mine.tobytes() == other.tobytes(), "to the sign of a zero"


@given(st.sets(st.integers(0, 639), max_size=80), st.integers(1, 3))
def test_members_and_their_values(ids: set[int], width: int) -> None:
    bits = np.zeros(640, dtype=np.uint8)
    bits[list(ids)] = 1
    seen = np.packbits(bits, bitorder="little").view(np.uint64)
    found = np.empty(len(ids), dtype=np.int32)
    slots.members(seen, found)
    assert found.tolist() == sorted(ids)
    table = np.arange(640.0 * width).reshape(640, width)
    table[::2, -1] = -0.0  # not zero by its bits
    table[::3, -1] = 0.0
    out = np.empty(len(ids))
    count = slots.gather(table[:, -1], found, out)
    assert out.tolist() == table[found, -1].tolist()
    assert count == sum(j % 3 != 0 for j in ids)


@pytest.mark.parametrize("room", [1, 3])
def test_members_need_just_their_room(room: int) -> None:
    with pytest.raises(ValueError, match="room"):
        slots.members(np.array([5], dtype=np.uint64), np.empty(room, dtype=np.int32))


@pytest.mark.parametrize("place", [-1, 4])
def test_places_outside_the_column_are_refused(place: int) -> None:
    with pytest.raises(ValueError, match="place"):
        slots.gather(np.zeros(4), np.array([place], dtype=np.int32), np.empty(1))


def test_a_table_grows_while_someone_looks_at_it() -> None:
    table = Table(4, 2)
    table.rows[:] = 7
    view = table.rows
    table.grow(100_000)
    assert table.rows.shape == (100_000, 2)
    assert (table.rows[:4] == 7).all()
    assert not table.rows[4:].any()
    assert (view == 7).all()
