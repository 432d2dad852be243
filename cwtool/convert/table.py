"""The columns of a table, and how a line of cells becomes a row."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from cwtool.convert.classes import MOST, Kind
from cwtool.convert.row import Bad, Input, Row
from cwtool.convert.url_features import url_entries
from cwtool.data.names import cleaned
from cwtool.data.sources import display
from cwtool.errors import DataError
from cwtool_ext.cells import named_entries

LABELS = ("label", "target", "y", "class")  # names of a column of labels, in any case
MISSING = frozenset(["", "na", "n/a", "nan", "null", "none", "?"])


class Columns:
    """Which columns of a table are what. Features have the name of their column, and cells that
    are no numbers make features of their own: column=cell."""

    def __init__(
        self, names: Sequence[str], of: Input, path: str, *, only_url: bool = False
    ) -> None:
        self.names = [cleaned(name) for name in names]
        self.path, self.of = path, of
        self.missing = MISSING | {text.lower() for text in of.missing}
        self.url = self._number(of.url, "url")
        self.weight = self._number(of.weight, "weight")
        self.comment = self._number(of.comment, "id")
        self.label = self._label_column() if of.labelled else None
        dropped = {self._number(name, "drop") for name in of.drop}
        text = {self._number(name, "categorical") for name in of.categorical}
        others = {self.url, self.weight, self.comment, self.label, *dropped}
        self.kind = Kind(of.classes)
        self.good: set[str] = set()  # labels that were checked
        self.features = [
            (j, name, j in text)
            for j, name in enumerate(self.names)
            if j not in others and not only_url
        ]
        for _, name, _ in self.features:
            if name.lower() == "id":
                self.of.tell(
                    f"{display(self.path)}: the column {name} is a feature of its rows; "
                    f"`id={name}` makes it their id, and `drop={name}` leaves it out"
                )
            elif name.lower() == "url":
                self.of.tell(
                    f"{display(self.path)}: every URL of the column {name} is one feature; "
                    f"`url={name}` makes features of its parts instead"
                )

    def _number(self, name: str | None, setting: str) -> int | None:
        if name is None:
            return None
        if name in self.names:
            return self.names.index(name)
        shown = ", ".join(self.names[:12]) + (", ..." if len(self.names) > 12 else "")
        raise DataError(
            f"{display(self.path)}: there is no column {name}",
            f"give `{setting}` one of its {len(self.names)} columns: {shown}",
        )

    def _label_column(self) -> int:
        if self.of.label is not None:
            return self._number(self.of.label, "label") or 0
        taken = {self.url, self.weight, self.comment}
        free = [j for j in range(len(self.names)) if j not in taken]
        small = [name.lower() for name in self.names]
        found = next((small.index(name) for name in LABELS if name in small), None)
        if found is None:
            if not free:
                raise DataError(
                    f"{display(self.path)}: there is no column left for labels",
                    "use `no_label` if rows have no labels",
                )
            found = free[0]
        column = self.names[found]
        self.of.tell(
            f"{display(self.path)}: labels are in {column}; `label` chooses another column"
        )
        return found

    def row(self, cells: list[str]) -> Row:
        """The row of cells of text."""
        if len(cells) != len(self.names):
            raise Bad(
                min(len(cells), len(self.names)) + 1,
                f"{len(cells)} cells in a table of {len(self.names)} columns",
                "give every line the same number of cells, and quote cells that hold a delimiter",
            )
        entries, infinite = named_entries(cells, self.features, self.missing)
        if infinite >= 0:
            raise Bad(
                infinite + 1,
                f"value {cells[infinite].strip()} of column {self.names[infinite]} is not finite",
                "leave the cell empty if its value is not known",
            )
        if self.url is not None:
            entries += url_entries(cells[self.url].strip(), self.of.ngrams)
        return self.complete(cells, entries)

    def complete(self, cells: Sequence[str], entries: list[tuple[str, float]]) -> Row:
        """The row with its label, weight and id."""
        label = "" if self.label is None else cells[self.label].strip()
        if self.label is not None and label not in self.good:
            self._check_label(label, self.label)
        comment = "" if self.comment is None else cleaned(cells[self.comment])
        return Row(label, entries, self._weight_of(cells), comment)

    def _check_label(self, label: str, column: int) -> None:
        if label.lower() in self.missing:
            raise Bad(
                column + 1,
                f"no label in column {self.names[column]}",
                "fill it in; `label` names the column of labels, and `no_label` says there is none",
            )
        self.kind.check(label, column + 1)
        if len(self.good) < MOST:
            self.good.add(label)

    def _weight_of(self, cells: Sequence[str]) -> float:
        if self.weight is None:
            return 1.0
        return row_weight(cells[self.weight].strip(), self.weight + 1)


def row_weight(text: str, column: int) -> float:
    """The weight of a row that stands in this column."""
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not isfinite(weight) or weight < 0:
        raise Bad(
            column,
            f"row weight {text or '(empty)'} is not a number of 0 or more",
            "row weights are finite numbers, 0 or greater",
        )
    return weight
