"""A slow and obvious reader of files of rows, written from their description alone."""

import zlib
from itertools import accumulate
from struct import unpack_from
from typing import Any

LENGTHS = (0, 1, 2, 4)


def numbers(data: bytes, at: int, n: int) -> tuple[list[int], int]:
    """n whole numbers, and the place behind them."""
    codes = [data[at + k // 4] >> 2 * (k % 4) & 3 for k in range(n)]
    at += -(-n // 4)
    found = []
    for code in codes:
        found.append(int.from_bytes(data[at : at + LENGTHS[code]], "little"))
        at += LENGTHS[code]
    return found, at


def doubles(data: bytes, at: int, n: int) -> tuple[list[float], int]:
    """n doubles, and the place behind them."""
    form, base, m = unpack_from("<BdI", data, at)
    at += 13
    if form == 0:
        items, at = list(unpack_from(f"<{m}d", data, at)), at + 8 * m
    elif form == 1:
        items, at = list(unpack_from(f"<{m}f", data, at)), at + 4 * m
    else:
        (size,) = unpack_from("<I", data, at)
        table = unpack_from(f"<{size}d", data, at + 4)
        at += 4 + 8 * size
        width = 1 if size <= 256 else 2
        items = [table[k] for k in unpack_from(f"<{m}{'BH'[width - 1]}", data, at)]
        at += width * m
    if m == n:
        return items, at
    gaps, at = numbers(data, at, m)
    found = [base] * n
    for place, item in zip(accumulate(gaps, lambda a, b: a + 1 + b), items, strict=True):
        found[place] = item
    return found, at


def rows(data: bytes) -> dict[str, Any]:
    """The rows of a frame."""
    n_rows, nnz, n_lines, n_qids, parts = unpack_from("<IIIIB", data, 0)
    found: dict[str, Any] = {"lines": n_lines, "qids": n_qids, "rows": []}
    if n_rows == 0:
        return found
    sizes, at = numbers(data, 17, n_rows)
    before, at = numbers(data, at, n_rows)
    labels, at = doubles(data, at, n_rows)
    weights, at = doubles(data, at, n_rows) if parts & 1 else ([1.0] * n_rows, at)
    codes = [data[at + k] for k in range(sum(-(-size // 4) for size in sizes))]
    at += len(codes)
    ids = []
    for size in sizes:
        id_, mine = -1, codes[: -(-size // 4)]
        codes = codes[len(mine) :]
        for k in range(size):
            length = LENGTHS[mine[k // 4] >> 2 * (k % 4) & 3]
            id_ += 1 + int.from_bytes(data[at : at + length], "little")
            at += length
            ids.append(id_)
    values, at = doubles(data, at, nnz)
    comments = zlib.decompress(data[at:]).decode().split("\n") if parts & 2 else [""] * n_rows
    line, start = -1, 0
    for k, size in enumerate(sizes):
        line += 1 + before[k]
        entries = list(zip(ids, values, strict=True))[start : start + size]
        found["rows"].append((line, labels[k], weights[k], entries, comments[k]))
        start += size
    return found


def frames(data: bytes) -> list[tuple[bytes, bytes]]:
    """The kinds and the contents of the frames of a file."""
    assert data[:8] == b"\x89cwrows\n"
    assert unpack_from("<I", data, 8) == (1,)
    at, found = 12, []
    while at < len(data):
        kind, size, _ = unpack_from("<4sQ8s", data, at)
        found.append((kind, data[at + 20 : at + 20 + size]))
        at += 20 + size
    return found


def last(data: bytes) -> dict[str, Any]:
    """What the last frame says."""
    end = len(data) - 60
    cells, stored, first, rows, lines, qids, *source = unpack_from("<IIIQQQQqQ", data, end)
    assert cells + stored + first == end
    return {
        "rows": rows, "lines": lines, "qids": qids, "source": source,
        "cells": data[:cells], "stored": data[cells : cells + stored],
        "first": data[cells + stored : end],
    }  # fmt: skip
