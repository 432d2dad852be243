"""The kernels behind conversions: entries to text, and cells to entries."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool_ext.cells import named_entries
from cwtool_ext.text import csr_features, named_features

VALUES = st.floats(allow_nan=False, allow_infinity=False)


def pairs(text: str) -> list[tuple[int, float]]:
    items = [item.split(":") for item in text.split()]
    return [(int(j), float(x)) for j, x in items]


@given(st.lists(VALUES | st.integers(-(10**9), 10**9).map(lambda n: n / 10**4), max_size=30))
def test_values_are_read_as_they_were(values: list[float]) -> None:
    expected = [(j + 1, x) for j, x in enumerate(values) if x]
    names = {f"n{j}": j + 1 for j in range(len(values))}
    text = named_features(list(zip(names, values, strict=True)), names, None)
    assert pairs(text) == expected
    ids = np.arange(len(values), dtype=np.int32)
    ends = np.array([0, len(values)], dtype=np.int64)
    assert csr_features(ends, ids, np.array(values, dtype=np.float64), 1) == [text]


@pytest.mark.parametrize(
    ("x", "text"),
    [(1.0, "1"), (-2.5, "-2.5"), (0.001, "0.001"), (1e-7, "1e-07"), (2.0**53, "9007199254740992"),
     (1e300, "1e+300"), (0.1 + 0.2, "0.30000000000000004"), (5e-324, "5e-324"), (10.05, "10.05")],
)  # fmt: skip
def test_values_are_short(x: float, text: str) -> None:
    assert named_features([("a", x)], {"a": 7}, None) == f"7:{text}"


def test_entries_are_sorted_and_added_up() -> None:
    ids = {"a": 5, "b": 2, "c": 5, "d": 9, "e": 9}
    entries = [("a", 1.0), ("b", 2.0), ("c", 0.5), ("d", 1.0), ("e", -1.0), ("b", 0.0)]
    assert named_features(entries, ids, None) == "2:2 5:1.5"
    assert named_features([("x", 1.0)], {}, {"x": 3}.get) == "3:1"
    with pytest.raises(TypeError):
        named_features([("x", "1")], {"x": 1}, None)


def test_rows_outside_their_arrays_are_refused() -> None:
    values = np.ones(2)
    for ends in [0, 3], [0, 2, 1], [-1, 1]:
        with pytest.raises(ValueError, match="indptr"):
            csr_features(np.array(ends, dtype=np.int64), np.zeros(2, dtype=np.int32), values, 1)


def slow_entry(cell: str) -> tuple[str, float] | None:
    """What a cell of the column a means."""
    try:
        x = float(cell)
    except ValueError:
        x = None
    if cell.strip().lower() in ("", "na") or (x is not None and math.isnan(x)):
        return None
    return (f"a={cell.strip()}", 1.0) if x is None or "_" in cell else ("a", x)


@given(
    st.text(alphabet="0123456789+-.eE_ naif", max_size=6) | st.text(max_size=4) | VALUES.map(repr)
)
def test_cells(cell: str) -> None:
    expected = slow_entry(cell)
    entries, infinite = named_entries([cell], [(0, "a", False)], frozenset(["", "na", "nan"]))
    if expected is not None and math.isinf(expected[1]):
        assert infinite == 0
    elif not any(c.isdecimal() and not c.isascii() for c in cell):
        found = struct.pack("d", entries[0][1]) if entries else b""
        assert (entries[0][0] if entries else None) == (expected[0] if expected else None)
        assert found == (struct.pack("d", expected[1]) if expected else b"")
