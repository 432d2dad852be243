"""Rows that are not learned but predicted after each pass, and the best pass by their error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.reports import ReadReport
from cwtool.data.rows import Rows
from cwtool.data.sources import display
from cwtool.errors import DataError
from cwtool.messages.console import Console
from cwtool.metrics.tally import AnyTally
from cwtool.model import AnyReliability, Model
from cwtool.order import chosen
from cwtool.records import dataclass
from cwtool.run import Run

if TYPE_CHECKING:
    from cwtool.data.spool import Spool


class HeldOut:
    """A share of the training rows, drawn by row number, and the rows of validation files."""

    def __init__(
        self,
        share: float,
        paths: tuple[str, ...],
        read: ReadOptions,
        console: Console,
        spool: Spool | None = None,
    ) -> None:
        """`spool` is where the share is kept, if there is one."""
        self.share, self.paths, self.read, self.console = share, paths, read, console
        self.spool = spool
        self.readings = 0  # of the validation files

    def __bool__(self) -> bool:
        return self.spool is not None or bool(self.paths)

    @property
    def n_rows(self) -> int:
        """Training rows held out so far."""
        return self.spool.n_rows if self.spool is not None else 0

    def split(self, rows: Rows, first: int, seed: int) -> Rows:
        """Hold out some of these rows, numbered from `first` on; returns the others."""
        if self.spool is None:
            return rows
        aside = chosen(first, rows.n_rows, self.share, seed)
        self.spool.add(rows.take(np.flatnonzero(aside)))
        return rows.take(np.flatnonzero(~aside))

    def _reading(self) -> ReadOptions:
        """How the validation files are read: from the second time on with a cache, since there may
        be a time for each pass."""
        self.readings += 1
        if self.readings == 2 and self.read.store is None:
            from cwtool.data.cache import Cache
            from cwtool.scratch import Scratch

            self.folder = Scratch()
            self.read = replace(self.read, store=Cache(self.folder.name))
        return self.read

    def _rows(self, model: Model) -> Iterator[Rows]:
        if self.paths:
            report = ReadReport()
            blocks = read_blocks(self.paths, self._reading(), report)
            yield from (model.labels.encode(block, learning=False) for block in blocks)
            for file in report.files:
                if file.bad_lines:
                    self.console.warn(f"{file.name}: {file.skipped}; {file.first_bad}")
        if self.spool is not None:
            yield from self.spool.all()

    def tally(self, model: Model, run: Run, reliability: AnyReliability | None = None) -> AnyTally:
        """The metrics of the model on all rows held out. Those of its probabilities are added to
        `reliability`, if it is given."""
        tally = model.new_tally(finished=True)
        if reliability is not None or model.operating_point:
            model.calibrate()
        for rows in self._rows(model):
            score, variance, _ = model.scores(rows, run)
            tally.add(rows.y, model.calling(score, variance), rows.weight)
            if reliability is not None:
                reliability.add(rows.y, model.probability(score, variance), rows.weight)
        if tally.rows == 0 and self.paths:
            names = ", ".join(map(display, self.paths))
            raise DataError(f"{names}: no rows to validate on")
        if tally.rows == 0:
            raise DataError("no rows were held out to validate on", "raise `holdout`")
        return tally


@dataclass
class Best:
    """The best pass so far, by the error on the rows held out."""

    pass_: int = 0
    error: float = inf
    summary: dict[str, Any] = field(default_factory=dict)
    model: Model | None = None  # None: the model as it is now

    def judge(self, pass_: int, summary: dict[str, Any], model: Model, *, last: bool) -> None:
        """Remember the model of this pass if it is the best; a copy unless it is the last pass."""
        error = summary["error"]
        if error is not None and error < self.error:
            self.pass_, self.error, self.summary = pass_, error, summary
            self.model = None if last else model.copy()
