"""Class weights: what the weight of a row is multiplied by when the row is learned."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from cwtool.data.labels import Labels, written
from cwtool.data.rows import Floats, Ints, Rows
from cwtool.errors import UsageError

BALANCED = "balanced"


class ClassWeight:
    """The weight of each class: given by its label, or balanced, which makes rows of rare classes
    weigh more by the number of rows that were learned so far. It depends on the rows alone: not on
    blocks, files, or where a run stopped and went on."""

    def __init__(self, setting: str = "") -> None:
        self.given = {} if setting in ("", BALANCED) else _parsed(setting)
        pairs = [f"{written(label)}={weight!r}" for label, weight in sorted(self.given.items())]
        self.setting = setting if setting in ("", BALANCED) else ",".join(pairs)
        self.counts: list[int] = []  # learned rows of each class, where weights are balanced

    def __bool__(self) -> bool:
        return self.setting != ""

    def learning(self, rows: Rows, labels: Labels, *, at_once: bool = False) -> Floats | None:
        """The weights to learn these new rows with: row weight times class weight; None where all
        are 1. With `at_once`, all rows of a class have the weight after the last of them."""
        if not self:
            return rows.weight
        weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight.copy()
        learned = weight > 0
        y = rows.y[learned]
        if self.setting == BALANCED:
            weight[learned] *= self._balanced(y, at_once)
        else:
            weight[learned] *= self._given(labels)[y]
        return weight

    def relearning(self, rows: Rows, labels: Labels) -> Floats | None:
        """The weights to learn rows with that were learned before, all of them counted."""
        if not self:
            return rows.weight
        by_class = self._given(labels)
        if self.setting == BALANCED:
            n = np.array(self.counts, dtype=float)
            known = max(np.count_nonzero(n), 1)
            by_class = np.minimum((n.sum() + known) / (known * (n + 1)), n + 1)
        weight: Floats = by_class[rows.y] * (1.0 if rows.weight is None else rows.weight)
        return weight

    def _given(self, labels: Labels) -> Floats:
        """The weight of each class; labels that no class can have any more are refused."""
        known = [label for label in labels.values if label is not None]
        strange = [label for label in self.given if label not in known]
        if labels.several is None and labels.complete and strange:
            raise UsageError(
                f"`class_weight` has the label {written(strange[0])}; the labels of the data are "
                f"{labels.name(0)} and {labels.name(1)}",
                "write the labels as they stand in the data",
            )
        return np.array([1.0 if v is None else self.given.get(v, 1.0) for v in labels.values])

    def unmet(self, labels: Labels) -> list[str]:
        """The labels that were given a weight and that no row has had."""
        return [written(label) for label in self.given if label not in labels.values]

    def _balanced(self, y: Ints, at_once: bool) -> Floats:
        """min((N + K) / (K (n + 1)), n + 1), of N rows so far with this one, n of its class, and K
        classes so far. The second bound keeps the first rows of a late class from a weight that
        would freeze their features."""
        if len(y) == 0:
            return np.empty(0)
        n_classes = max(len(self.counts), int(y.max()) + 1)
        before = np.zeros(n_classes, dtype=np.int64)
        before[: len(self.counts)] = self.counts
        after = before + np.bincount(y, minlength=n_classes)
        self.counts = after.tolist()
        if at_once:
            n, total = after[y], np.full(len(y), after.sum())
            known = np.full(len(y), np.count_nonzero(after))
        else:
            row = np.arange(len(y))
            counts = np.array([before[c] + np.cumsum(y == c) for c in range(n_classes)])
            n, total = counts[y, row], before.sum() + row + 1
            known = np.count_nonzero(counts, axis=0)
        found: Floats = np.minimum((total + known) / (known * (n + 1)), n + 1.0)
        return found

    def packed(self) -> dict[str, Any]:
        """What the header of a model file holds."""
        return {"setting": self.setting, "counts": self.counts}

    @classmethod
    def unpacked(cls, header: dict[str, Any]) -> ClassWeight:
        """The class weights of a file; older files have none."""
        found = cls(header.get("setting", ""))
        found.counts = list(header.get("counts", []))
        return found


def _parsed(setting: str) -> dict[float, float]:
    """Label -> weight from LABEL=WEIGHT,LABEL=WEIGHT."""
    given: dict[float, float] = {}
    for item in setting.split(","):
        label, equals, weight = item.partition("=")
        try:
            pair = float(label), float(weight)
        except ValueError:
            equals = ""
        if not equals:
            raise UsageError(
                f"`class_weight` is {setting!r}; {item!r} is not LABEL=WEIGHT",
                "write `class_weight=balanced`, or for example `class_weight=-1=1,+1=10`",
            )
        if not (isfinite(pair[0]) and isfinite(pair[1]) and pair[1] > 0):
            raise UsageError(
                f"`class_weight` is {setting!r}; the weight of a class is a number greater than 0"
            )
        if pair[0] in given:
            raise UsageError(f"`class_weight` is {setting!r}; it has the label {label} twice")
        given[pair[0]] = pair[1]
    return given
