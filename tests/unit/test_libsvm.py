from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from cwtool.data.faults import SENTENCES, describe
from cwtool_ext import libsvm

PADDING = bytes(libsvm.PADDING)  # its content is free, and NULs would show


def parse(data: bytes, base: int = 1, room: int = 8, start: int = 0) -> SimpleNamespace:
    """Parse data[start:] into fresh arrays of exactly the promised capacity."""
    rows, nnz = libsvm.capacity(len(data) - start)
    labels, weights, lines = np.empty(rows), np.empty(rows), np.empty(rows, np.int32)
    indptr, indices, values = np.empty(rows + 1, np.int64), np.empty(nnz, np.int32), np.empty(nnz)
    faults, report = np.empty((room, 3), np.int64), np.empty(7, np.int64)
    text = data + (b"" if data.endswith(b"\n") else b"\n") + PADDING
    libsvm.parse(
        text, start, len(data), base, labels, weights, indptr, indices, values, lines, faults,
        report,
    )  # fmt: skip
    n, m, n_lines, greatest, qids, bad, weighted = report.tolist()
    cells = list(zip(indices[:m].tolist(), values[:m].tolist(), strict=True))
    return SimpleNamespace(
        labels=labels[:n].tolist(),
        weights=weights[:n].tolist() if weighted else None,
        rows=[cells[a:b] for a, b in pairwise(indptr[: n + 1])],
        lines=lines[:n].tolist(),
        faults=[tuple(f) for f in faults[: min(bad, room)].tolist()],
        n_lines=n_lines,
        greatest=greatest,
        qids=qids,
        bad=bad,
    )


def test_two_plain_lines() -> None:
    got = parse(b"+1 1:1 3:0.5\n-1 2:2.25 10:-7\n")
    assert got.labels == [1.0, -1.0]
    assert got.rows == [[(0, 1.0), (2, 0.5)], [(1, 2.25), (9, -7.0)]]
    assert (got.lines, got.n_lines, got.greatest, got.qids, got.bad) == ([0, 1], 2, 9, 0, 0)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("+1", 1), ("-1", -1), ("1", 1), ("0", 0), ("2", 2), ("1.0", 1), ("1e0", 1), (".5", 0.5),
        ("1.", 1), ("-2.5E-1", -0.25), ("+1e+2", 100), ("1234567890123", 1234567890123),
    ],
)  # fmt: skip
def test_labels(text: str, label: float) -> None:
    for line in (f"{text} 1:2\n", f"{text}\n", f"{text}", f"  {text}\t# spam\n", f"{text}#x"):
        got = parse(line.encode())
        assert got.labels == [label]
        assert got.bad == 0


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("1 1:2", [(0, 2)]),
        ("1\t1:2\t2:3", [(0, 2), (1, 3)]),
        ("  1   1:2  \t 2:3  ", [(0, 2), (1, 3)]),
        ("1 1:2 2:3\r", [(0, 2), (1, 3)]),
        ("1 1:2\v2:3\f", [(0, 2), (1, 3)]),
        ("1 1:2 # 2:x", [(0, 2)]),
        ("1 1:2#2:3", [(0, 2)]),
        ("1 1:2.5#", [(0, 2.5)]),
        ("1", []),
        ("1 ", []),
        ("1 0001:2 00000000000000000002:3", [(0, 2), (1, 3)]),
        ("1 1:+2 2:-3 3:.5 4:5. 5:1e2", [(0, 2), (1, -3), (2, 0.5), (3, 5), (4, 100)]),
        ("1 6:1E-2 7:1E+2", [(5, 0.01), (6, 100)]),
        ("1 1:0 2:-0 3:0e5 4:1e-400 5:0.0 6:7", [(5, 7)]),
        ("1 1:0 2:0", []),
        ("1 99999999:1 100000000:2 1234567890:3", [(99999998, 1), (99999999, 2), (1234567889, 3)]),
        ("1 2147483647:1", [(2147483646, 1)]),
        ("1 12345678:9.5 123456789:1234567.8765", [(12345677, 9.5), (123456788, 1234567.8765)]),
        ("1 1:1e308 2:1.7976931348623157e308", [(0, 1e308), (1, 1.7976931348623157e308)]),
    ],
)  # fmt: skip
def test_rows(line: str, row: list[tuple[int, float]]) -> None:
    for text in (line, line + "\n", f"{line}\n\n", f"-1 5:5\n{line}"):
        got = parse(text.encode())
        assert got.faults == []
        assert got.rows[-1] == row


def test_zero_based() -> None:
    got = parse(b"1 0:3 1:4 2147483646:5\n", base=0)
    assert got.rows == [[(0, 3.0), (1, 4.0), (2147483646, 5.0)]]
    assert got.greatest == 2147483646


def test_blank_and_comment_lines_count_but_give_no_row() -> None:
    got = parse(b"\n# hello \x00 \xff\n1 1:1\n \t\r\n   # again\n2 2:2")
    assert (got.labels, got.lines, got.n_lines, got.bad) == ([1, 2], [2, 5], 6, 0)


def test_qid_is_ignored_and_counted() -> None:
    got = parse(b"1 qid:3 1:1\n2  qid:12345678901  2:2\n3 qid:7\n4 4:4\n5 qid:1#x\n")
    assert got.rows == [[(0, 1.0)], [(1, 2.0)], [], [(3, 4.0)], []]
    assert (got.qids, got.bad) == (4, 0)


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("1:2", 2), ("+1:0.5", 0.5), ("-1:0", 0), ("1:1e3", 1000), ("2.5:+7.", 7), ("1:1", 1),
        ("1:1.0", 1), ("1", 1), ("0:.25", 0.25),
    ],
)  # fmt: skip
def test_weights(text: str, weight: float) -> None:
    """A weight stands behind the label; all weights of 1 are the same as no weights."""
    label = float(text.split(":")[0])
    for line in (f"{text} 1:2\n", f" {text}\tqid:4 1:2", f"{text} 1:2 # 3"):
        got = parse(line.encode())
        assert (got.labels, got.rows, got.bad) == ([label], [[(0, 2.0)]], 0)
        assert got.weights == (None if weight == 1 else [weight])
        got = parse(f"3 3:3\n{line}\n4:1 4:4\n5 5:5\n".encode())
        assert got.weights == (None if weight == 1 else [1, weight, 1, 1])
        assert got.labels == [3, label, 4, 5]


def test_the_weight_of_a_bad_line_does_not_count() -> None:
    got = parse(b"1 1:1\n1:5 1:x\n2 2:2\n")
    assert (got.labels, got.weights, got.bad) == ([1, 2], None, 1)
    got = parse(b"1:3 1:1\n1:5 1:x\n2 2:2\n")
    assert (got.labels, got.weights, got.bad) == ([1, 2], [3, 1], 1)


def test_nothing() -> None:
    for text in (b"", b"\n", b"\n\n", b"# only"):
        got = parse(text)
        assert (got.labels, got.rows, got.greatest, got.bad) == ([], [], -1, 0)


def test_greatest_index_is_that_of_the_stored_entries() -> None:
    assert parse(b"1 3:1 9:0\n1 20:1 19:1\n").greatest == 2
    assert parse(b"1 9:0\n").greatest == -1


FAULTS = [
    ("spam 1:1", 0, libsvm.BAD_LABEL, "label spam is not a number"),
    ("  x:1", 2, libsvm.BAD_LABEL, "label x:1 is not a number"),
    (":1 1:1", 0, libsvm.BAD_LABEL, "label :1 is not a number"),
    ("+ 1:1", 0, libsvm.BAD_LABEL, "label + is not a number"),
    ("1e 1:1", 0, libsvm.BAD_LABEL, "label 1e is not a number"),
    ("0x1 1:1", 0, libsvm.BAD_LABEL, "label 0x1 is not a number"),
    (". 1:1", 0, libsvm.BAD_LABEL, "label . is not a number"),
    ("nan 1:1", 0, libsvm.INFINITE_LABEL, "label nan is not finite"),
    ("-Inf 1:1", 0, libsvm.INFINITE_LABEL, "label -Inf is not finite"),
    (" +infinity", 1, libsvm.INFINITE_LABEL, "label +infinity is not finite"),
    ("1e400 1:1", 0, libsvm.INFINITE_LABEL, "label 1e400 is not finite"),
    ("inf:2 1:1", 0, libsvm.INFINITE_LABEL, "label inf:2 is not finite"),
    ("1e400:2 1:1", 0, libsvm.INFINITE_LABEL, "label 1e400:2 is not finite"),
    ("infinite 1:1", 0, libsvm.BAD_LABEL, "label infinite is not a number"),
    ("1 2 4:1", 2, libsvm.MISSING_COLON, "2 has no colon"),
    ("1 1:1 2", 6, libsvm.MISSING_COLON, "2 has no colon"),
    ("1 1:1 spam#x", 6, libsvm.MISSING_COLON, "spam has no colon"),
    ("1 1 :1", 2, libsvm.MISSING_COLON, "1 has no colon"),
    ("1 x2:1", 2, libsvm.BAD_INDEX, "feature index x2 is not a whole number"),
    ("1 1:1  :1", 7, libsvm.BAD_INDEX, "feature index (empty) is not a whole number"),
    ("1 +2:1", 2, libsvm.BAD_INDEX, "feature index +2 is not a whole number"),
    ("1 1.0:1", 2, libsvm.BAD_INDEX, "feature index 1.0 is not a whole number"),
    ("1 1_0:1", 2, libsvm.BAD_INDEX, "feature index 1_0 is not a whole number"),
    ("1 -:1", 2, libsvm.BAD_INDEX, "feature index - is not a whole number"),
    ("1 1:1 qid:3", 6, libsvm.BAD_INDEX, "feature index qid is not a whole number"),
    ("1 qid:1 qid:3", 8, libsvm.BAD_INDEX, "feature index qid is not a whole number"),
    ("1 qid: 1:1", 2, libsvm.BAD_INDEX, "feature index qid is not a whole number"),
    ("1 qid:x 1:1", 2, libsvm.BAD_INDEX, "feature index qid is not a whole number"),
    ("1 0:1", 2, libsvm.ZERO_INDEX, "feature index 0 in a file whose indices start at 1"),
    ("1 5:1 0:1", 6, libsvm.ZERO_INDEX, "feature index 0 in a file whose indices start at 1"),
    ("1 -3:1", 2, libsvm.NEGATIVE_INDEX, "feature index -3 is negative"),
    ("1 2147483648:1", 2, libsvm.LARGE_INDEX, "feature index 2147483648 is too large"),
    ("1 4294967297:1", 2, libsvm.LARGE_INDEX, "feature index 4294967297 is too large"),
    ("1 21474836470:1", 2, libsvm.LARGE_INDEX, "feature index 21474836470 is too large"),
    ("1 18446744073709551617:1", 2, libsvm.LARGE_INDEX,
     "feature index 18446744073709551617 is too large"),
    ("1 23:1 17:1", 7, libsvm.DESCENDING, "feature index 17 after 23; indices must increase"),
    ("1 23:0 17:1", 7, libsvm.DESCENDING, "feature index 17 after 23; indices must increase"),
    ("1 23:1 17:abc", 7, libsvm.DESCENDING, "feature index 17 after 23; indices must increase"),
    ("1 23:1  23:1", 8, libsvm.DUPLICATE, "feature index 23 twice in one line"),
    ("1 23:0 023:1", 7, libsvm.DUPLICATE, "feature index 023 twice in one line"),
    ("1 2:abc 4:1", 4, libsvm.BAD_VALUE, "value abc of feature 2 is not a number"),
    ("1 2: 4:1", 4, libsvm.BAD_VALUE, "value (empty) of feature 2 is not a number"),
    ("1 2:", 4, libsvm.BAD_VALUE, "value (empty) of feature 2 is not a number"),
    ("1 2:#1", 4, libsvm.BAD_VALUE, "value (empty) of feature 2 is not a number"),
    ("1 2:0x10", 4, libsvm.BAD_VALUE, "value 0x10 of feature 2 is not a number"),
    ("1 2:1_0", 4, libsvm.BAD_VALUE, "value 1_0 of feature 2 is not a number"),
    ("1 2:1:3", 4, libsvm.BAD_VALUE, "value 1:3 of feature 2 is not a number"),
    ("1 2:1e", 4, libsvm.BAD_VALUE, "value 1e of feature 2 is not a number"),
    ("1 2:1e+", 4, libsvm.BAD_VALUE, "value 1e+ of feature 2 is not a number"),
    ("1 2:- 3:1", 4, libsvm.BAD_VALUE, "value - of feature 2 is not a number"),
    ("1 2:x 3:1", 4, libsvm.BAD_VALUE, "value x of feature 2 is not a number"),
    ("1 2:.", 4, libsvm.BAD_VALUE, "value . of feature 2 is not a number"),
    ("1 2:--1", 4, libsvm.BAD_VALUE, "value --1 of feature 2 is not a number"),
    ("1 2:1.2.3", 4, libsvm.BAD_VALUE, "value 1.2.3 of feature 2 is not a number"),
    ("1 2:1,5", 4, libsvm.BAD_VALUE, "value 1,5 of feature 2 is not a number"),
    ("1 2:é", 4, libsvm.BAD_VALUE, "value é of feature 2 is not a number"),
    ("1 2:NaN", 4, libsvm.INFINITE_VALUE, "value NaN of feature 2 is not finite"),
    ("1 2:-inf 3:1", 4, libsvm.INFINITE_VALUE, "value -inf of feature 2 is not finite"),
    ("1 2:Infinity#", 4, libsvm.INFINITE_VALUE, "value Infinity of feature 2 is not finite"),
    ("1 2:1e400", 4, libsvm.OVERFLOW, "value 1e400 of feature 2 is too large for a double"),
    ("1 2:-1.8e308", 4, libsvm.OVERFLOW, "value -1.8e308 of feature 2 is too large for a double"),
    ("1\0 2:1", 0, libsvm.BINARY, r"control bytes in 1\x00; this is not text"),
    ("1 2:\0", 2, libsvm.BINARY, r"control bytes in 2:\x00; this is not text"),
    ("1 2:1\0 3:1", 2, libsvm.BINARY, r"control bytes in 2:1\x00; this is not text"),
    ("1 2:1 \0", 6, libsvm.BINARY, r"control bytes in \x00; this is not text"),
    ("\x1f\x8b\x08 2:1", 0, libsvm.BINARY, r"control bytes in \x1f\x8b\x08; this is not text"),
    ("1 \x7f:1", 2, libsvm.BINARY, r"control bytes in \x7f:1; this is not text"),
    ("1:\0 1:1", 0, libsvm.BINARY, r"control bytes in 1:\x00; this is not text"),
    ("1:x 1:1", 2, libsvm.BAD_WEIGHT, "row weight x is not a number"),
    ("1: 1:1", 2, libsvm.BAD_WEIGHT, "row weight (empty) is not a number"),
    ("+1:", 3, libsvm.BAD_WEIGHT, "row weight (empty) is not a number"),
    ("1:2:3 1:1", 2, libsvm.BAD_WEIGHT, "row weight 2:3 is not a number"),
    (" 1:nan 1:1", 3, libsvm.INFINITE_WEIGHT, "row weight nan is not finite"),
    ("1:-inf 1:1", 2, libsvm.INFINITE_WEIGHT, "row weight -inf is not finite"),
    ("1:1e400 1:1", 2, libsvm.INFINITE_WEIGHT, "row weight 1e400 is not finite"),
    ("-1:-2.5 1:1", 3, libsvm.NEGATIVE_WEIGHT, "row weight -2.5 is negative"),
    ("1:-1e-300#", 2, libsvm.NEGATIVE_WEIGHT, "row weight -1e-300 is negative"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "column", "code", "sentence"), FAULTS)
def test_faults(line: str, column: int, code: int, sentence: str) -> None:
    """Each fault is found, its row rolled back, and the lines around it kept."""
    bad = line.encode("utf-8" if "é" in line else "latin-1")
    before, after = b"7 7:7\n", b"8 8:8 9:9\n"
    got = parse(before + bad + b"\n" + after)
    assert got.faults == [(1, len(before) + column, code)]
    assert got.rows == [[(6, 7.0)], [(7, 8.0), (8, 9.0)]]
    assert (got.labels, got.lines, got.n_lines, got.greatest) == ([7, 8], [0, 2], 3, 8)
    assert parse(before + bad).faults == got.faults
    if "\x8b" not in line:
        assert describe(code, bad, column)[0] == sentence


def test_every_fault_has_a_sentence_and_a_case() -> None:
    codes = {v for k, v in vars(libsvm).items() if k.isupper() and k != "PADDING"}
    assert codes == set(SENTENCES) == {code for _, _, code, _ in FAULTS}
    assert len(codes) == 16


def test_a_long_item_is_cut_in_the_sentence() -> None:
    sentence, hint = describe(libsvm.BAD_VALUE, b"1 2:" + b"z" * 100, 4)
    assert sentence == f"value {'z' * 40}... of feature 2 is not a number"
    assert "decimal" in hint


def test_zero_based_limits() -> None:
    assert parse(b"1 :1", base=0).faults == [(0, 2, libsvm.BAD_INDEX)]
    assert parse(b"1 2147483647:1", base=0).faults == [(0, 2, libsvm.LARGE_INDEX)]
    assert parse(b"1 0:1 0:1", base=0).faults == [(0, 6, libsvm.DUPLICATE)]
    assert parse(b"1 -1:1", base=0).faults == [(0, 2, libsvm.NEGATIVE_INDEX)]


@pytest.mark.parametrize("room", [0, 1, 2, 5])
def test_faults_beyond_their_room_are_counted(room: int) -> None:
    got = parse(b"1 1:1\nx\n1 1:x 2:2\n2 2:2\n1 qid:5 0:1\n", room=room)
    found = [(1, 6, libsvm.BAD_LABEL), (2, 12, libsvm.BAD_VALUE), (4, 32, libsvm.ZERO_INDEX)]
    assert got.faults == found[:room]
    assert (got.bad, got.labels, got.qids) == (3, [1, 2], 0)


def test_a_range_in_the_middle_of_a_text() -> None:
    got = parse(b"1 1:1\n2 2:2\n3 x\n4 4:4\n", start=6)
    assert (got.labels, got.lines, got.faults) == ([2, 4], [0, 2], [(1, 14, libsvm.MISSING_COLON)])


@pytest.mark.parametrize("item", [b" 1:1", b"1\n", b"1 1:1\n", b"1 1:1 2:2 3:3 4:4\n", b"x\n"])
def test_capacity_is_enough_for_the_densest_text(item: bytes) -> None:
    for n in range(1, 40):
        parse(b"1" * item.startswith(b" ") + item * n)
        parse((b"1" * item.startswith(b" ") + item * n).rstrip(b"\n"))


def test_refuses_what_would_run_out_of_bounds() -> None:
    good = {
        "text": b"1 1:1\n" + PADDING, "start": 0, "stop": 6, "base": 1,
        "labels": np.empty(3), "weights": np.empty(3), "indptr": np.empty(4, np.int64),
        "indices": np.empty(2, np.int32), "values": np.empty(2), "lines": np.empty(3, np.int32),
        "faults": np.empty((1, 3), np.int64), "report": np.empty(7, np.int64),
    }  # fmt: skip
    libsvm.parse(**good)
    for change, words in [
        ({"stop": 7}, "padding"),
        ({"start": -1}, "padding"),
        ({"start": 5, "stop": 4}, "padding"),
        ({"text": b"1 1:1\n" + PADDING[1:]}, "padding"),
        ({"stop": 4}, "newline"),
        ({"base": 2}, "base is 0 or 1"),
        ({"labels": np.empty(0)}, "lack room"),
        ({"weights": np.empty(0)}, "lack room"),
        ({"indptr": np.empty(1, np.int64)}, "lack room"),
        ({"lines": np.empty(0, np.int32)}, "lack room"),
        ({"indices": np.empty(1, np.int32)}, "room for 2 entries"),
        ({"values": np.empty(1)}, "room for 2 entries"),
        ({"faults": np.empty((1, 2), np.int64)}, "3 columns"),
        ({"report": np.empty(6, np.int64)}, "7 entries"),
    ]:
        with pytest.raises(ValueError, match=words):
            libsvm.parse(**(good | change))


def test_more_rows_than_room_are_refused() -> None:
    text = b"1 1:1\n-1\n\n1\n"
    lines = libsvm.count_lines(text, 0, len(text))
    assert lines == 4
    for room in (3, 2):
        arrays = (np.empty(room), np.empty(room), np.empty(room + 1, np.int64))
        arrays += (np.empty(4, np.int32), np.empty(4))
        rest = (np.empty(room, np.int32), np.empty((1, 3), np.int64), np.empty(7, np.int64))
        if room == 3:
            libsvm.parse(text + PADDING, 0, len(text), 1, *arrays, *rest)
            continue
        with pytest.raises(ValueError, match="room for 2 rows only"):
            libsvm.parse(text + PADDING, 0, len(text), 1, *arrays, *rest)


@pytest.mark.parametrize(
    ("text", "lines"), [(b"", 0), (b"\n", 1), (b"1", 1), (b"1\n", 1), (b"1\n\n", 2), (b"1\n2", 2)]
)
def test_count_lines(text: bytes, lines: int) -> None:
    assert libsvm.count_lines(text, 0, len(text)) == lines
