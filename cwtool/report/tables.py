"""Tables that put measured numbers beside those of a paper."""

from __future__ import annotations

from collections.abc import Iterator

from cwtool.records import dataclass
from cwtool.report.page import DIFFERENCE, PAPER, Grid

CSV_HEADS = ("table", "data", "method", "metric", "mean", "sd", "repeats", "paper", "difference")
MORE_IS_BETTER = {"auc", "f1", "kappa", "accuracy"}


def number(value: float | None, digits: int) -> str:
    """A number with the given number of decimals; empty for None."""
    return "" if value is None else f"{value:.{digits}f}"


def signed(value: float, digits: int) -> str:
    """A number with its sign, also if it is positive."""
    return f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


@dataclass(frozen=True)
class Entry:
    """One cell of a table, in the unit in which it is shown."""

    ours: float | None = None  # mean over the repeats
    sd: float | None = None
    repeats: int = 0
    paper: float | None = None

    @property
    def known(self) -> bool:
        return self.ours is not None or self.paper is not None

    @property
    def difference(self) -> float | None:
        if self.ours is None or self.paper is None:
            return None
        return self.ours - self.paper

    def words(self, digits: int, best: float | None) -> str:
        """Mean and standard deviation; bold if the mean is the best one."""
        if self.ours is None:
            return "–"
        text = number(self.ours, digits)
        text = f"**{text}**" if self.ours == best else text
        return text + (f" ± {number(self.sd, digits)}" if self.sd is not None else "")


@dataclass(frozen=True)
class Column:
    """A data set or a method as a column: whether any of its entries was measured here, and
    whether any was printed in the paper."""

    key: str
    head: str
    measured: bool
    printed: bool

    @property
    def heads(self) -> list[str]:
        if self.measured:
            return [self.head, PAPER, DIFFERENCE] if self.printed else [self.head]
        return [f"{self.head}, paper"] if self.printed else []

    def texts(self, entry: Entry, digits: int, best: float | None) -> list[str]:
        """The texts of the cells under `heads`."""
        gap = entry.difference
        shown = [
            (entry.words(digits, best), self.measured),
            (number(entry.paper, digits), self.printed),
            ("" if gap is None else signed(gap, digits), self.measured and self.printed),
        ]
        return [text for text, wanted in shown if wanted]


@dataclass(frozen=True)
class Comparison:
    """One metric of several methods on several data sets."""

    title: str
    metric: str
    digits: int
    entries: dict[tuple[str, str], Entry]  # by data set and method
    labels: dict[str, str]  # of the methods, in the order in which they are shown

    def grid(self) -> Grid | None:
        """The table as it is shown, or None if nothing was measured. Methods without any number
        are left out. Whichever there are more of, data sets or methods, goes down."""
        if not any(entry.ours is not None for entry in self.entries.values()):
            return None
        data = {row: row for row, _ in self.entries}
        told = {method for (_, method), entry in self.entries.items() if entry.known}
        methods = {m: label for m, label in self.labels.items() if m in told}
        if len(data) >= len(methods):
            return self._grid("data", data, methods, self.entries)
        turned = {(method, row): entry for (row, method), entry in self.entries.items()}
        return self._grid("method", methods, data, turned)

    def _grid(
        self,
        corner: str,
        lines: dict[str, str],
        across: dict[str, str],
        entries: dict[tuple[str, str], Entry],
    ) -> Grid:
        """Lines and columns by key, with their heads; the entries are by line and column."""
        columns = [self._column(key, head, lines, entries) for key, head in across.items()]
        heads = [corner, *(head for column in columns for head in column.heads)]
        rows = []
        for key, label in lines.items():
            texts = [label]
            for column in columns:
                data = key if corner == "data" else column.key
                texts += column.texts(entries[key, column.key], self.digits, self._best(data))
            rows.append(texts)
        return Grid(heads, rows)

    @staticmethod
    def _column(
        key: str, head: str, lines: dict[str, str], entries: dict[tuple[str, str], Entry]
    ) -> Column:
        own = [entries[line, key] for line in lines]
        measured = any(entry.ours is not None for entry in own)
        return Column(key, head, measured, any(entry.paper is not None for entry in own))

    def _best(self, data: str) -> float | None:
        """The best mean on a data set where several methods were measured."""
        values = [e.ours for (d, _), e in self.entries.items() if d == data and e.ours is not None]
        if len(values) < 2:
            return None
        return max(values) if self.metric in MORE_IS_BETTER else min(values)

    def csv_rows(self) -> Iterator[list[str]]:
        """Every entry under CSV_HEADS."""
        for (data, method), e in self.entries.items():
            values = [e.ours, e.sd, e.repeats, e.paper, e.difference]
            shown = ["" if v is None else f"{v:.6g}" for v in values]
            yield [self.title, data, method, self.metric, *shown]
