"""Labels as LIBSVM files have them: numbers. Classes with names get numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isinf

from cwtool.convert.naming import Naming
from cwtool.convert.row import Bad
from cwtool.data.names import cleaned
from cwtool.errors import DataError, UsageError

PLAIN = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
MOST = 1000  # numbers that are remembered, which saves time
LISTED = 10  # labels whose numbers are told
NO_LABEL = "0"  # what rows without a label are written with


def number_text(text: str) -> str | None:
    """A finite number as the LIBSVM reader takes it; None if the text is none."""
    if PLAIN.fullmatch(text):
        return text if len(text) < 300 else None
    if not NUMBER.fullmatch(text) or isinf(float(text)):
        return None
    return repr(float(text))


def parse_labels(text: str) -> dict[str, str]:
    """The numbers of labels from a text such as spam=1,ham=-1."""
    found = {}
    for item in filter(None, text.split(",")):
        name, equals, number = item.rpartition("=")
        written = number_text(number.strip())
        if not equals or written is None:
            raise UsageError(
                f"`labels`: {item} is not NAME=NUMBER", "write them as in spam=1,ham=-1"
            )
        found[name.strip()] = written
    return found


class Kind:
    """Makes sure that the labels of a file are numbers, or that they are names."""

    def __init__(self, known: frozenset[str]) -> None:
        self.known = known
        self.numbers: bool | None = None  # what the first label was

    def check(self, label: str, column: int) -> None:
        if label in self.known:
            return
        number = number_text(label) is not None
        if self.numbers is None:
            self.numbers = number
        if number != self.numbers:
            others = "numbers" if self.numbers else "names"
            raise Bad(
                column,
                f"label {label[:40] or '(empty)'} in a file whose labels are {others}",
                "labels are all numbers or all names; `labels` gives names their numbers",
            )


class Classes:
    """The number of each label, as text."""

    def __init__(self, given: dict[str, str], naming: Naming, tell: Callable[[str], None]) -> None:
        self.known = {"": NO_LABEL, **naming.names.labels, **given}
        self.taken = {float(number) for number in self.known.values()} - {float(NO_LABEL)}
        self.naming, self.tell = naming, tell
        self.new: dict[str, str] = {}  # names that got a number in this run
        for name, number in given.items():
            self._keep(name, number)

    def _keep(self, name: str, number: str) -> None:
        """The names file has the number that was given, so that the next file gets it as well."""
        kept = self.naming.names.labels.get(name)
        if kept is None:
            self.naming.label(number, cleaned(name))
        elif float(kept) != float(number):
            raise UsageError(
                f"`labels`: {name} is {number}, but {self.naming.path} has the number {kept}",
                "files with the same names file have the same numbers of labels",
            )

    def number(self, label: str) -> str:
        return self.known.get(label) or self._new(label)

    def _new(self, label: str) -> str:
        number = number_text(label)
        if number is None:
            free = next(n for n in range(1, len(self.taken) + 2) if n not in self.taken)
            number = str(free)
            self.taken.add(free)
            self.naming.label(number, cleaned(label))
            self.new[label] = self.known[label] = number
        elif float(number) in self.taken:
            name = next(name for name, n in self.known.items() if float(n) == float(number))
            raise DataError(
                f"label {label} is also the number of the label {name}",
                "convert the files apart, or give names their numbers with `labels`",
            )
        elif len(self.known) < MOST:
            self.known[label] = number
        return number

    def tell_new(self, n_rows: int) -> None:
        """Tell the numbers of new names, and warn if rows hardly ever have the same label."""
        if not self.new:
            return
        shown = [f"{cleaned(name)} as {n}" for name, n in list(self.new.items())[:LISTED]]
        if len(self.new) > LISTED:
            shown.append(f"... ({len(self.new):,} labels)")
        elif len(self.taken) == 2:
            high = max(self.taken)
            name = next(name for name, n in self.known.items() if name and float(n) == high)
            shown[-1] += f"; {cleaned(name)} is the positive class"
        kept = "; `names` keeps these numbers for the next file, and `labels` sets them"
        self.tell(
            f"labels are written as numbers: {', '.join(shown)}{'' if self.naming.path else kept}"
        )
        if len(self.new) > max(LISTED, n_rows / 2):
            self.tell(
                f"warning: {n_rows:,} rows have {len(self.new):,} different labels; `label` "
                "chooses the column of labels"
            )
