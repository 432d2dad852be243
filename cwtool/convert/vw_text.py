"""Vowpal Wabbit text.

    line = [label [weight [base]]] ['tag]|[namespace[:scale]] {feature[:value]} |...

A feature of a namespace gets the name namespace^feature, as in VW's own audits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite

from cwtool.convert.classes import Classes, Kind, number_text
from cwtool.convert.csv_text import summed
from cwtool.convert.lines import Lines, batches
from cwtool.convert.output import Text
from cwtool.convert.row import Bad, Input, Row
from cwtool.convert.table import row_weight
from cwtool.data.writer import short

UNFIT = re.compile(r"[\s|:]")  # what a name of VW cannot have


def read(lines: Lines, of: Input) -> Iterator[list[Row]]:
    """The rows of VW text."""
    yield from batches(_rows(lines, of), lines)


def _rows(lines: Lines, of: Input) -> Iterator[Row | None]:
    kind = Kind(of.classes)
    for line in lines:
        try:
            row = parsed(line.rstrip("\r\n")) if line.strip() else None
            if row is not None and row.label:
                kind.check(row.label, 1)
                row = row._replace(label=of.label_of(row.label))
            yield row
        except Bad as fault:
            of.bad(lines.path, lines.number, fault)
            yield None


def parsed(line: str) -> Row:
    """The row of a line."""
    head, bar, body = line.partition("|")
    if not bar:
        raise Bad(
            1,
            "no | in the line",
            "VW text has a label, a bar and features; `from` names another format",
        )
    label, weight, tag = _head(head)
    entries: list[tuple[str, float]] = []
    place = len(head) + 1
    for part in body.split("|"):
        words = list(re.finditer(r"\S+", part))
        prefix, scale = "", 1.0
        if words and not part[0].isspace():
            space, scale = _pair(words.pop(0), place)
            prefix = f"{space}^"
        for word in words:
            name, value = _pair(word, place)
            entries.append((prefix + name, scale * value))
        place += len(part) + 1
    return Row(label, entries, weight, tag)


def _head(head: str) -> tuple[str, float, str]:
    """Label, weight and tag."""
    words, tag = head.split(), ""
    touching = bool(words) and not head[-1].isspace()
    if touching and len(words) == 1 and number_text(words[0]):
        touching = False  # VW takes `1|` as a tag, where a label was meant
    if words and (words[-1][0] == "'" or touching):
        tag = words.pop().removeprefix("'")
    if len(words) > 3 or (words and ":" in words[0]):
        raise Bad(
            1,
            f"label {head.strip()[:40]} is not one label with a weight",
            "labels with costs or actions cannot be converted; write `label weight 'tag|`",
        )
    label = words[0] if words else ""
    weight = row_weight(words[1], head.find(words[1], len(label)) + 1) if len(words) > 1 else 1.0
    return label, weight, tag


def _pair(word: re.Match[str], place: int) -> tuple[str, float]:
    """A name and its value, 1 if it has none."""
    name, colon, text = word[0].partition(":")
    try:
        value = float(text) if colon else 1.0
    except ValueError:
        value = float("nan")
    if not isfinite(value) or not name:
        raise Bad(
            place + word.start() + 1,
            f"{word[0][:40]} is not name:value"
            if not name
            else f"value {text[:40] or '(empty)'} of feature {name[:40]} is not a number",
            "features are written name or name:value, separated by blanks",
        )
    return name, value


def fitting(name: str) -> str:
    """A name without blanks, | and :, which are written as in %20."""
    if not UNFIT.search(name):
        return name
    return UNFIT.sub(lambda found: "".join(f"%{b:02X}" for b in found[0].encode()), name)


class Writer:
    """Lines of VW text, with labels as numbers."""

    def __init__(self, out: Text, classes: Classes) -> None:
        self.out, self.classes = out, classes

    def write(self, rows: list[Row]) -> None:
        self.out.writelines(map(self._line, rows))

    def close(self) -> None:
        """Do nothing: all rows are already written."""

    def _line(self, row: Row) -> str:
        spaces: dict[str, list[str]] = {"": []}
        for name, x in summed(row.entries).items():
            if x:
                space, _, rest = name.rpartition("^")
                word = fitting(rest) if x == 1 else f"{fitting(rest)}:{short(x)}"
                spaces.setdefault(fitting(space), []).append(word)
        words = [] if row.label == "" else [self.classes.number(row.label)]
        if row.weight != 1:
            words.append(short(row.weight))
        if row.comment:
            words.append("'" + fitting(row.comment))
        parts = [f"|{space} {' '.join(found)}" for space, found in spaces.items() if found]
        between = " " if words and not row.comment else ""  # a tag touches the bar
        return " ".join(words) + between + (" ".join(parts) or "|") + "\n"
