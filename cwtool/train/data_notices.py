"""Notices about the rows that were read for training."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data.known import RowSample
from cwtool.data.reports import FileReport
from cwtool.messages.console import Console
from cwtool.model import Model

KNOWN = 0.5  # a share of rows learned before above this is worth a warning
HEAVY = 1000.0  # a row weight above this is worth a note


class Turns:
    """How often a row is of another class than the row before it."""

    FEWEST = 100  # rows that tell
    SHARE = 0.05  # of the turns that mixed rows would make

    def __init__(self) -> None:
        self.turns = 0
        self._last: int | None = None
        self._counts: Counter[int] = Counter()

    def add(self, y: NDArray[Any]) -> None:
        if len(y) == 0:
            return
        self.turns += int(np.count_nonzero(y[1:] != y[:-1])) + (self._last not in (None, y[0]))
        self._last = int(y[-1])
        lowest = int(y.min())  # rows of weight 0 may have no class: -1
        self._counts.update(dict(enumerate(np.bincount(y - lowest).tolist(), lowest)))

    @property
    def sorted(self) -> bool:
        """turns < SHARE n (1 - sum_k p_k^2), with the shares p of the classes of n rows"""
        n = sum(self._counts.values())
        mixed = n - sum(k * k for k in self._counts.values()) / max(n, 1)
        return n >= self.FEWEST and self.turns < self.SHARE * mixed


def tell_of_file(f: FileReport, known: RowSample, again: bool, console: Console) -> None:
    """Report bad lines, rows that were learned before (unless `again`), labels that seem to be
    features, and ignored items of a file."""
    if f.bad_lines:
        console.warn(f"{f.name}: {f.skipped}; {f.first_bad}")
    share = f.sample.share_in(known)
    if share > KNOWN and not again:
        console.warn(
            f"{f.name}: about {100 * share:.0f} % of its rows were learned before; "
            "metrics on these rows are too optimistic"
        )
    if f.unlabelled:
        console.warn(
            f"{f.name}: the first item of its rows seems to be a feature and not a label; items "
            "such as 7:1 before the features are read as the label 7 with the weight 1. If rows "
            "have no labels, put one before each"
        )
    if f.qids:
        console.note(f"{f.name}: qid: is ignored")


def tell_of_rows(model: Model, turns: Turns, heaviest: float, console: Console) -> None:
    """Warn of rows that are sorted by class, of a very large row weight, and of class weights for
    labels that no row has."""
    if turns.sorted:
        console.warn(
            "the rows are sorted by class, so that the progressive error is too low; "
            "shuffle them, for example with shuf"
        )
    if heaviest > HEAVY:
        console.note(
            f"the largest weight of a row is {heaviest:,.6g}; one row with a weight above "
            f"{HEAVY:,.0f} can make the weights of its features nearly constant afterwards"
        )
    if unmet := model.class_weight.unmet(model.labels):
        console.warn(f"no row has the label {unmet[0]}, which `class_weight` names")
