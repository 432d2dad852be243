"""Rows that are packed are the same bits when they are unpacked, here and by a slow reader."""

from struct import pack as bytes_of
from typing import Any

import numpy as np
import pytest
import slow_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from cwtool.data.buffers import Buffers, Pool, Raw
from cwtool.data.parse import Reading
from cwtool.data.rowpack import MOST_COMMENTS, pack, unpack
from cwtool_ext import packed

LAST_ID = 2**31 - 2
finite = st.floats(allow_nan=False, allow_infinity=False)
values = (
    st.just(1.0)
    | st.sampled_from([0.5, -0.0, 0.0, 5e-324, 1e308, 0.1, 2.0**-149, 3.0])
    | st.floats(width=32, allow_nan=False, allow_infinity=False)
    | finite
)
ids = st.sets(
    st.integers(0, 40) | st.integers(0, 70_000) | st.integers(0, LAST_ID) | st.just(LAST_ID),
    max_size=14,
)
row = st.tuples(
    st.integers(0, 1) | st.integers(0, 70_000),  # lines without rows before it
    st.sampled_from([-1.0, 1.0, -0.0, 3.25]) | finite,
    st.just(1.0) | st.floats(0, allow_infinity=False),
    ids.flatmap(lambda found: st.tuples(*(st.tuples(st.just(j), values) for j in sorted(found)))),
    st.just("") | st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])),
)
many = settings(max_examples=6 * settings.default.max_examples)

Row = tuple[int, float, float, tuple[tuple[int, float], ...], str]


def raw_of(rows: list[Row]) -> Raw:
    """The rows in buffers."""
    nnz = sum(len(entries) for _, _, _, entries, _ in rows)
    b = Buffers(max(len(rows), 1), nnz + 1)
    line, at = -1, 0
    b.indptr[0] = 0
    for i, (before, label, weight, entries, _) in enumerate(rows):
        line += 1 + before
        b.lines[i], b.labels[i], b.weights[i] = line, label, weight
        for j, x in entries:
            b.indices[at], b.values[at] = j, x
            at += 1
        b.indptr[i + 1] = at
    weighted = any(weight != 1 for _, _, weight, _, _ in rows)
    return Raw(b, len(rows), nnz, line + 1, 3, weighted, [comment for *_, comment in rows])


def arrays(raw: Raw) -> dict[str, Any]:
    b, n = raw.buffers, raw.n_rows
    return {
        "indptr": b.indptr[: n + 1].tolist(),
        "indices": b.indices[: raw.nnz].tolist(),
        "values": b.values[: raw.nnz].tobytes(),
        "labels": b.labels[:n].tobytes(),
        "weights": b.weights[:n].tobytes() if raw.weighted else b"",
        "lines": b.lines[:n].tolist(),
        "comments": raw.comments,
        "counts": (raw.n_lines, raw.n_qids),
    }


def padded(data: bytes) -> Any:
    return np.frombuffer(data + bytes(packed.PADDING), dtype=np.uint8)


@many
@given(st.lists(row, max_size=12))
def test_unpacked_rows_are_those_that_were_packed(rows: list[Row]) -> None:
    raw = raw_of(rows)
    data = pack(raw)
    found = unpack(padded(data), len(data), Pool(), room=Reading().room, comments=MOST_COMMENTS)
    assert arrays(found) == arrays(raw)
    told = slow_rows.rows(data)
    assert (told["lines"], told["qids"]) == (raw.n_lines, 3)
    line = -1
    for (before, *given_), (at, label, weight, entries, comment) in zip(
        rows, told["rows"], strict=True
    ):
        line += 1 + before
        assert at == line
        expected = [given_[0], given_[1], *(x for _, x in given_[2])]
        read = [label, weight, *(x for _, x in entries)]
        assert bytes_of(f"<{len(read)}d", *read) == bytes_of(f"<{len(read)}d", *expected)
        assert [j for j, _ in entries] == [j for j, _ in given_[2]]
        assert comment == given_[3]


def flat(x: Any) -> Raw:
    """Rows of one entry each with these values."""
    n = len(x)
    b = Buffers(n, n)
    b.values[:], b.labels[:], b.indices[:] = x, 1.0, 7
    b.lines[:], b.indptr[:] = np.arange(n), np.arange(n + 1)
    return Raw(b, n, n, n, 0, False, [])


def value_bytes(x: Any) -> float:
    """Bytes that each of these values takes."""
    ones = pack(flat(np.ones(len(x))))
    data = pack(flat(x))
    found = unpack(padded(data), len(data), Pool(), room=Reading().room, comments=0)
    assert found.buffers.values[: len(x)].tobytes() == x.tobytes()
    return (len(data) - len(ones)) / len(x)


def test_values_take_the_smallest_exact_form() -> None:
    rng = np.random.default_rng(0)
    n = 70_000
    some = np.where(rng.random(n) < 0.1, 0.3, 1.0)
    assert value_bytes(some) < 0.3  # where they are, and one byte of a table
    assert value_bytes(rng.integers(0, 200, n) / 7) < 1.1
    assert value_bytes(rng.integers(0, 5000, n) / 7) < 2.7
    assert value_bytes(rng.random(n).astype(np.float32).astype(np.float64)) < 4.01
    assert value_bytes(rng.random(n)) < 8.01
    assert value_bytes(np.full(n, 0.3)) == 0  # all alike: none
    assert len(pack(flat(np.ones(n)))) < 3.51 * n  # ids with codes: 2, entries: 1.25, lines: 0.25


def test_ids_that_do_not_ascend_are_refused() -> None:
    """Their gaps are sums modulo 2^32, which would lead back to an id that is possible."""
    good = raw_of(
        [(0, 1.0, 1.0, tuple((j, 1.0) for j in range(5, 5 + n)), "") for n in range(1, 9)]
    )
    for at in range(1, good.nnz):
        if good.buffers.indices[at] == 5:  # the first of a row
            continue
        kept, good.buffers.indices[at] = int(good.buffers.indices[at]), 2
        data = pack(good)
        with pytest.raises(ValueError, match="the rows of a frame are wrong"):
            unpack(padded(data), len(data), Pool(), room=Reading().room, comments=0)
        good.buffers.indices[at] = kept


@pytest.mark.parametrize("n", [1, 3, 4, 9, 40])
@pytest.mark.parametrize("share", [0.0, 0.7])
@pytest.mark.parametrize("worst", [0.1, float("inf"), float("nan")])
def test_values_that_are_not_finite_are_refused(n: int, share: float, worst: float) -> None:
    rng = np.random.default_rng(n)
    x = np.where(rng.random(n) < share, 1.0, rng.random(n))
    for at in range(n):
        given_ = x.copy()
        given_[at] = worst
        for one in (given_, given_.astype(np.float32).astype(np.float64)):
            data = pack(flat(one))
            if np.isfinite(worst):
                found = unpack(padded(data), len(data), Pool(), room=Reading().room, comments=0)
                assert found.buffers.values[:n].tobytes() == one.tobytes()
                continue
            with pytest.raises(ValueError, match="the rows of a frame are wrong"):
                unpack(padded(data), len(data), Pool(), room=Reading().room, comments=0)
