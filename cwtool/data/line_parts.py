"""Lines without labels, and the comments behind lines. Only what is predicted is read so, and not
by default: it is done in Python."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from cwtool.data.chunks import SENTINEL, Bytes
from cwtool.data.rows import Ints

NO_LABEL = b"0 "
DIGITS = 19  # of an id, at most; Python does not convert thousands of them
MANY = 10  # different labels of a few rows that have weights
ROW = rb"(?m)^(?=[ \t\r\v\f]*[^\s#])"  # where a line with a row begins


def with_labels(text: Bytes, start: int, stop: int) -> tuple[Bytes, int, int]:
    """The lines with a label in front of each row."""
    found = re.sub(ROW, NO_LABEL, text[start:stop].tobytes())
    return np.concatenate([np.frombuffer(found, dtype=np.uint8), SENTINEL]), 0, len(found)


def first_item(head: bytes) -> bytes:
    """The first item of the first row; empty if there is no row."""
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        if items := line.split(b"#")[0].split():
            return items[0]
    return b""


def has_labels(item: bytes, labels: Sequence[float]) -> bool:
    """Whether rows begin with labels, judged by the first item of the first row: they do not if the
    item has a colon, unless the number before the colon is one of these labels and the number after
    it is a row weight."""
    name, colon, _ = item.partition(b":")
    try:
        return not colon or float(name) in labels
    except ValueError:
        return True


def seems_unlabelled(head: bytes) -> bool:
    """Whether the first item of every row in these first bytes of a file, read as label:weight,
    seems to be a feature: it has a whole number that is less than the id of the next item, and
    there are more than MANY of these numbers. Labels with weights are few different numbers."""
    rows = (line.split(b"#")[0].split(None, 2) for line in head.split(b"\n")[:-1])
    ids = [[item.partition(b":") for item in items[:2]] for items in rows if items]
    if not all(len(one) == 2 and _ascend(one[0][0], one[1][0]) and one[0][1] for one in ids):
        return False
    return len({one[0][0] for one in ids}) > MANY


def doubtful_item(head: bytes) -> str:
    """The first item of the first row in these first bytes of a file, if it could be a feature as
    well as a label with a weight: 1:0.5 before 2:1. Otherwise empty."""
    item = first_item(head)
    if b":" not in item:
        return ""
    following = head.partition(item)[2].split(None, 1)[:1]
    ids = [one.partition(b":")[0] for one in (item, *following)]
    return item.decode() if len(ids) == 2 and _ascend(*ids) else ""


def _ascend(a: bytes, b: bytes) -> bool:
    return a.isdigit() and b.isdigit() and max(len(a), len(b)) <= DIGITS and int(a) < int(b)


def comments_of(text: Bytes, start: int, stop: int, lines: Ints) -> list[str]:
    """The comments after # on these lines, counted from 0."""
    lines_of_text = text[start:stop].tobytes()
    if b"#" not in lines_of_text:
        return [""] * len(lines)
    written = lines_of_text.split(b"\n")
    return [
        written[k].partition(b"#")[2].strip().decode("utf-8", "backslashreplace")
        for k in lines.tolist()
    ]
