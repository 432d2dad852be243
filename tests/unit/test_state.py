"""The declared parts of a state: made, grown, widened, packed and taken over again."""

import mmap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.data.rows import BIAS
from cwtool.state import Array, FeatureIndex, Layout, Number, State
from cwtool.state.index import DIRECT
from cwtool.state.layout import columns
from cwtool.state.tables import Table

TWO = Layout((columns("mean", "precision"),))
ids_of_any_size = st.lists(
    st.one_of(st.integers(0, 300), st.integers(DIRECT - 3, BIAS)), unique=True, max_size=60
)


def ints(ids: list[int]) -> np.ndarray:
    return np.array(ids, dtype=np.int32)


def test_a_new_state_has_all_that_is_declared() -> None:
    layout = Layout(
        (columns("a"), columns("b", "c")),
        numbers=(Number("rounds"), Number("owed", 0.5)),
        arrays=(Array("y"), Array("links", "<i4", (1, 2))),
        lists=(("rows", 3),),
    )
    state = State(layout)
    assert state.numbers == {"rounds": 0, "owed": 0.5}
    assert state.arrays["y"].shape == (0,)
    assert state.arrays["links"].tolist() == [[0, 0]]
    assert state.arrays["links"].dtype == np.int32
    assert (state.lists["rows"].width, state.lists["rows"].count) == (3, 0)
    assert (state.squares, state.scratch) == ({}, {})
    assert [t.shape[1] for t in state.tables] == [1, 2]
    assert state.table is state.tables[0]
    assert state.places == 1
    assert State(Layout((columns("a"),), compact=True)).index.direct == 0


@given(ids=ids_of_any_size, direct=st.sampled_from([0, 64, DIRECT]))
def test_packed_and_taken_over(ids: list[int], direct: int) -> None:
    """Saved and loaded: every id has its columns again."""
    state = State(TWO, FeatureIndex(direct))
    places = state.slots_of(ints(ids))
    state.table[places] = [[j + 0.5, -j] for j in ids] or np.empty((0, 2))
    other = State(TWO, FeatureIndex(direct))
    other.unpack(state.pack())
    again, places = other.index.ids_and_slots()
    assert again.tolist() == sorted(ids)
    assert other.table[places].tolist() == [[j + 0.5, -j] for j in sorted(ids)]
    assert other.index.count == len(ids)


@pytest.mark.parametrize("direct", [0, 64, DIRECT])
def test_tables_follow_the_index(direct: int) -> None:
    """Many hashed ids in many steps: what is known stays, and what is new is zero."""
    state = State(TWO, FeatureIndex(direct))
    random = np.random.default_rng(0)
    ids = random.choice(np.arange(direct, BIAS, 7919), 30_000, replace=False).tolist()
    places: list[int] = []
    for start in range(0, len(ids), 997):
        part = ids[start : start + 997]
        new = state.slots_of(ints(part))
        assert (state.table[new] == 0).all()
        state.table[new] = [[j, -j] for j in part]
        places += new.tolist()
    assert state.table[places].tolist() == [[j, -j] for j in ids]
    assert state.table.nbytes < (direct + 2 * len(ids)) * 16 + 4096


def test_tables_of_several_columns_grow_and_come_back_together() -> None:
    layout = Layout((columns("a"), columns("b", "c"), columns("d")))
    state, ids = State(layout, FeatureIndex(64)), np.arange(0, 400, 2, dtype=np.int32)
    places = state.slots_of(ids)
    np.testing.assert_array_equal(state.index.ids_of(places), ids)
    assert len({len(t) for t in state.tables}) == 1
    for k, name in enumerate("abcd"):
        state.column(name)[places] = np.random.default_rng(k).random(200)
    again = State(layout, FeatureIndex(64))
    again.slots_of(ids[::-1].copy())  # other slots
    again.unpack(state.pack())
    for name in "abcd":
        mine, other = (s.column(name)[s.slots_of(ids)] for s in (state, again))
        np.testing.assert_array_equal(mine, other)
    with pytest.raises(KeyError):
        again.column("e")


def test_what_does_not_follow_the_features_comes_back() -> None:
    layout = Layout(
        (columns("a"),), arrays=(Array("y"),), squares=("gram",), lists=(("rows", 2),), compact=True
    )
    state = State(layout)
    places = state.slots_of(ints([7, 3, 9]))
    state.arrays["y"] = np.arange(5.0)
    state.squares["gram"] = np.arange(16.0).reshape(4, 4)  # with room for another feature
    state.lists["rows"].fill(np.arange(6.0).reshape(3, 2))
    packed = state.pack()
    assert packed["ids"].tolist() == [7, 3, 9], "in the order of the slots"
    other = State(layout)
    other.unpack(packed)
    assert other.slots_of(ints([7, 3, 9])).tolist() == places.tolist()
    assert other.arrays["y"].tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(other.squares["gram"], state.squares["gram"][:3, :3])
    rows = other.lists["rows"]
    assert rows.rows[: rows.count].tolist() == [[0, 1], [2, 3], [4, 5]]
    state.arrays["y"][:] = 9
    state.squares["gram"][:] = 9
    assert other.arrays["y"][4] == 4
    assert other.squares["gram"][0, 1] == 1


def test_columns_that_are_mostly_zero_are_packed_as_the_rest() -> None:
    layout = Layout((columns("full", "rare", "none"),))
    before, ids = State(layout), np.arange(7, 107, dtype=np.int32)
    places = before.slots_of(ids)
    before.column("full")[places] = np.arange(1, 101)
    before.column("rare")[places[[3, 50]]] = [2.5, -0.0]
    packed = before.pack()
    assert "feature.full.at" not in packed
    assert packed["feature.rare.at"].tolist() == [3, 50]
    assert packed["feature.rare"].tolist() == [2.5, 0.0]
    assert len(packed["feature.none"]) == 0
    after = State(layout)
    after.unpack(packed)
    for name in ("full", "rare", "none"):
        mine, other = (s.column(name)[places] for s in (before, after))
        assert mine.tobytes() == other.tobytes(), "to the sign of a zero"


# one place for each class


def test_a_column_gets_a_place_for_each_class() -> None:
    """[a_0 a_1 0 0 | b_0 b_1 0 0]"""
    state = State(TWO, FeatureIndex(64))
    places = state.slots_of(ints([1, 5, 1000]))
    state.table[places] = [[1, 2], [3, 4], [5, 6]]
    state.widen(2)
    assert state.places == 2
    assert state.table[places].tolist() == [[1, 0, 2, 0], [3, 0, 4, 0], [5, 0, 6, 0]]
    state.column("mean", 1)[places] = [10, 30, 50]
    state.column("precision", 1)[places] = [20, 40, 60]
    state.widen(4)
    assert state.table[places].tolist() == [
        [1, 10, 0, 0, 2, 20, 0, 0],
        [3, 30, 0, 0, 4, 40, 0, 0],
        [5, 50, 0, 0, 6, 60, 0, 0],
    ]
    for class_, want in enumerate([[1, 3, 5], [10, 30, 50], [0, 0, 0], [0, 0, 0]]):
        assert state.column("mean", class_)[places].tolist() == want


@given(seed=st.integers(0, 99), widths=st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_widening_leaves_every_column_as_it_was(seed: int, widths: list[int]) -> None:
    names = [[f"{t}{k}" for k in range(width)] for t, width in enumerate(widths)]
    state = State(Layout(tuple(columns(*group) for group in names)), FeatureIndex(64))
    state.slots_of(np.arange(64, dtype=np.int32))  # a row of the table is used once it is seen
    random, known = np.random.default_rng(seed), {}
    classes = 1
    while True:
        for name in (name for group in names for name in group):
            for class_ in range(classes):
                column = state.column(name, class_)
                if (name, class_) not in known:
                    assert not column.any(), "a new place is zero"
                    column[:64] = random.normal(size=64)
                    known[name, class_] = column.copy()
                assert column.tobytes() == known[name, class_].tobytes()
        if classes == 8:
            break
        classes *= 2
        state.widen(classes)
    assert [t.shape[1] for t in state.tables] == [8 * width for width in widths]


def test_a_wide_table_grows() -> None:
    state = State(TWO, FeatureIndex(64))
    state.widen(4)
    state.column("precision", 3)[:64] = np.arange(64)
    places = state.slots_of(np.arange(1000, 3000, dtype=np.int32))
    assert state.table.shape == (state.index.room, 8)
    assert state.column("precision", 3)[:64].tolist() == list(range(64))
    assert not state.table[places].any()
    state.column("mean", 3)[places] = 1
    assert not state.column("precision", 0).any()


@given(
    ids=st.lists(st.integers(0, 400), max_size=30),
    direct=st.sampled_from([0, 64, 128]),
    before=st.sampled_from([2, 4, 8]),
    after=st.sampled_from([2, 4, 8]),
)
def test_the_memory_of_a_spare_state_is_zero(
    ids: list[int], direct: int, before: int, after: int
) -> None:
    old = State(TWO, FeatureIndex(direct))
    old.widen(before)
    slots = old.slots_of(ints(ids))  # before the table is looked at, which may move
    old.table[slots] = 7.0
    new = State(TWO, FeatureIndex(128))
    places = new.slots_of(ints([3, 500]))
    new.table[places] = [[1, 2], [3, 4]]
    new.widen(after, old)
    assert new.table.shape == (new.index.room, 2 * after)
    assert new.column("precision")[places].tolist() == [2, 4]
    new.table[places] = 0
    assert not new.table.any()


def test_a_spare_state_gives_up_its_memory() -> None:
    old, new = State(TWO, FeatureIndex(64)), State(TWO, FeatureIndex(64))
    old.widen(4)
    memory = old.table
    new.widen(2, old)
    assert old.tables == []
    new.table[:] = 1.0
    assert memory.any()


def test_a_table_grows_while_someone_looks_at_it() -> None:
    table = Table(4, 2)
    table.rows[:] = 7
    view = table.rows
    table.grow(100_000)
    assert table.rows.shape == (100_000, 2)
    assert (table.rows[:4] == 7).all()
    assert not table.rows[4:].any()
    assert (view == 7).all()


def test_a_table_reserves_a_quarter_more() -> None:
    table = Table(100, 1)
    table.reserve(100)
    assert len(table.rows) == 100
    table.reserve(101)
    assert len(table.rows) == 125
    table.fill(np.ones((300, 1)))
    assert (len(table.rows), table.count) == (300, 300)


def test_few_features_far_apart_take_no_huge_pages() -> None:
    """Twelve features over the whole table, in tables of several classes: some pages of 4 kB."""
    state = State(Layout((columns("a", "b"),)))
    state.widen(64)  # a row of 1 kB, a table of 4 GB
    before = resident()
    ids = np.linspace(0, (1 << 22) - 1, 12).astype(np.int32)
    state.table[state.slots_of(ids)] = 1.0
    assert resident() - before < 12 << 20


def resident() -> int:
    """The memory that this process has in use."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("there is no /proc here")
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
