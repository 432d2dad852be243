"""Doubles as text, against Python's repr."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.data.rows import Floats
from cwtool_ext.shortest import lines

POWERS = np.ldexp(1.0, np.arange(-1074, 1024))
TENS = np.array([float(f"{d}e{e}") for e in range(-324, 308) for d in (1, 2, 5, 17, 99)])
EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e15, 1e16, 1e22, 1e23, 0.0001, 0.00001, 2.0**53 + 2]
KINDS = {
    "edges": np.array(EDGES),
    "powers of 2": POWERS,
    "above powers of 2": np.nextafter(POWERS, np.inf),
    "below powers of 2": -np.nextafter(POWERS, 0),
    "tens": TENS,
    "above tens": np.nextafter(TENS, np.inf),
    "any bits": np.random.default_rng(0).integers(0, 2**64, 20_000, dtype=np.uint64).view(float),
    "subnormal": np.random.default_rng(1).integers(0, 2**52, 5_000, dtype=np.uint64).view(float),
    "six places": np.random.default_rng(2).integers(-(10**9), 10**9, 20_000) / 1e6,
    "weights": np.random.default_rng(3).standard_normal(20_000),
}


def texts(values: Floats) -> list[str]:
    no_ids = np.empty((len(values), 0), dtype=np.int64)
    return lines(no_ids, values[:, None], b"", b"", b"", b"\n").split("\n")[:-1]


@pytest.mark.parametrize("kind", KINDS)
def test_is_what_repr_gives(kind: str) -> None:
    assert texts(KINDS[kind]) == [repr(x) for x in KINDS[kind].tolist()]


@given(st.lists(st.floats(), max_size=20))
def test_is_what_repr_gives_of_any(some: list[float]) -> None:
    assert texts(np.array(some)) == [repr(x) for x in some]


@given(
    st.lists(st.lists(st.integers(0, 2**63 - 1), min_size=2, max_size=2), max_size=5),
    st.integers(0, 3),
)
def test_lines_have_whole_numbers_and_values(whole: list[list[int]], width: int) -> None:
    values = np.arange(len(whole) * width).reshape(len(whole), width) / 3
    keys = np.array(whole, dtype=np.int64).reshape(-1, 2)
    expected = "".join(
        f"({i}, {j}: [{', '.join(map(repr, line))}])\n"
        for (i, j), line in zip(whole, values.tolist(), strict=True)
    )
    assert lines(keys, values, b"(", b": [", b", ", b"])\n") == expected


def test_refuses_what_it_cannot_write() -> None:
    one = np.ones((1, 1))
    with pytest.raises(ValueError, match="negative"):
        lines(np.array([[-1]]), one, b"", b"", b"", b"")
    with pytest.raises(ValueError, match="numbers of rows"):
        lines(np.array([[1], [2]]), one, b"", b"", b"", b"")
