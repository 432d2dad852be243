"""A slow and obvious parser of LIBSVM text, which the fast one is compared with."""

import math
import re

import numpy as np

from cwtool_ext import libsvm

Row = tuple[float, list[tuple[int, float]], float, int]
Fault = tuple[int, int, int]

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NAMED = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
BLANK = b" \t\r\v\f"


def oracle_item(item: bytes, base: int, previous: int) -> tuple[int, int] | tuple[int, float]:
    """(fault, column in the item) or (-1, value)."""
    if re.search(rb"[\x00-\x1f\x7f]", item):
        return libsvm.BINARY, 0
    index, colon, value = item.partition(b":")
    if not colon:
        return libsvm.MISSING_COLON, 0
    if not re.fullmatch(rb"-?[0-9]+", index):
        return libsvm.BAD_INDEX, 0
    i, at = int(index), len(index) + 1
    for wrong, code in [
        (index.startswith(b"-"), libsvm.NEGATIVE_INDEX),
        (i < base, libsvm.ZERO_INDEX),
        (i - base > 2**31 - 2, libsvm.LARGE_INDEX),
        (i == previous, libsvm.DUPLICATE),
        (i < previous, libsvm.DESCENDING),
    ]:
        if wrong:
            return code, 0
    if NAMED.fullmatch(value):
        return libsvm.INFINITE_VALUE, at
    if not NUMBER.fullmatch(value):
        return libsvm.BAD_VALUE, at
    if math.isinf(float(value)):
        return libsvm.OVERFLOW, at
    return -1, float(value)


def oracle_line(line: bytes, base: int) -> tuple[str, object]:
    items = [
        (m.start(), m.group())
        for m in re.finditer(rb"[^ \t\r\v\f]+", line.split(b"#", 1)[0])
    ]  # fmt: skip
    if not items:
        return "none", None
    (at, label), pairs = items[0], items[1:]
    if re.search(rb"[\x00-\x1f\x7f]", label):
        return "fault", (at, libsvm.BINARY)
    label, colon, weight = label.partition(b":")
    number = NUMBER.fullmatch(label)
    if NAMED.fullmatch(label) or (number and math.isinf(float(label))):
        return "fault", (at, libsvm.INFINITE_LABEL)
    if not number:
        return "fault", (at, libsvm.BAD_LABEL)
    if colon:
        at += len(label) + 1
        if NAMED.fullmatch(weight):
            return "fault", (at, libsvm.INFINITE_WEIGHT)
        if not NUMBER.fullmatch(weight):
            return "fault", (at, libsvm.BAD_WEIGHT)
        if math.isinf(float(weight)):
            return "fault", (at, libsvm.INFINITE_WEIGHT)
        if float(weight) < 0:
            return "fault", (at, libsvm.NEGATIVE_WEIGHT)
    qid = bool(pairs and re.fullmatch(rb"qid:[0-9]+", pairs[0][1]))
    row, previous = [], base - 1
    for at, item in pairs[qid:]:
        code, value = oracle_item(item, base, previous)
        if code >= 0:
            return "fault", (at + int(value), code)
        previous = int(item.split(b":")[0])
        if value != 0.0:
            row.append((previous - base, float(value)))
    return "row", (float(label), row, float(weight or 1), qid)


def oracle(text: bytes, base: int) -> tuple[list[Row], list[Fault]]:
    rows, faults, start = [], [], 0
    for number, line in enumerate(text.split(b"\n")):
        kind, what = oracle_line(line, base)
        if kind == "row":
            rows.append((number, *what))
        elif kind == "fault":
            faults.append((number, start + what[0], what[1]))
        start += len(line) + 1
    return rows, faults


def parse(text: bytes, base: int, pad: bytes = b"7") -> tuple[list[Row], list[Fault]]:
    rows, nnz = libsvm.capacity(len(text))
    labels, lines, indptr = np.empty(rows), np.empty(rows, np.int32), np.empty(rows + 1, np.int64)
    weights = np.empty(rows)
    indices, values = np.empty(nnz, np.int32), np.empty(nnz)
    faults, report = np.empty((len(text), 3), np.int64), np.empty(7, np.int64)
    padded = text + (b"" if text.endswith(b"\n") else b"\n") + pad * libsvm.PADDING
    arrays = (labels, weights, indptr, indices, values, lines, faults, report)
    libsvm.parse(padded, 0, len(text), base, *arrays)
    n, m, n_lines, greatest, qids, bad, weighted = report.tolist()
    if weighted == 0:
        weights[:n] = 1
    assert weighted == np.count_nonzero(weights[:n] != 1)
    assert n_lines == text.count(b"\n") + (not text.endswith(b"\n") and text != b"")
    assert greatest == max(indices[:m].tolist(), default=-1)
    found = []
    for r in range(n):
        a, b = indptr[r], indptr[r + 1]
        row = list(zip(indices[a:b].tolist(), values[a:b].tolist(), strict=True))
        found.append((int(lines[r]), float(labels[r]), row, float(weights[r])))
    return (found, qids), [tuple(f) for f in faults[:bad].tolist()]


def check(text: bytes, base: int) -> None:
    rows, faults = oracle(text, base)
    (found, qids), found_faults = parse(text, base)
    assert found_faults == faults
    assert repr(found) == repr([r[:4] for r in rows])  # repr tells -0.0 from 0.0
    assert qids == sum(r[4] for r in rows)
