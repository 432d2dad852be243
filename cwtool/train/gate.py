"""Quality gates: auc>=0.97, error<0.05, macro_f1>0.8."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from typing import Any

from cwtool.errors import UsageError
from cwtool.records import dataclass

COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
METRICS = (
    "error", "auc", "precision", "recall", "f1", "macro_f1", "weighted_f1", "balanced_error",
    "log_loss", "ece", "rows", "features",
)  # fmt: skip
OF_PROBABILITIES = ("log_loss", "ece")  # measured on rows that are held out


@dataclass(frozen=True)
class Gate:
    metric: str
    relation: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> Gate:
        found = re.fullmatch(rf"\s*([\w-]+)\s*(>=|<=|>|<)\s*({NUMBER})\s*", text)
        metric = found[1].lower().replace("-", "_") if found else ""
        if not found or metric not in METRICS:
            raise UsageError(
                f"`require` is {text!r}, which is not a condition",
                f"write for example auc>=0.97; the metrics are {', '.join(METRICS)}",
            )
        return cls(metric, found[2], float(found[3]))

    def passes(self, measured: Mapping[str, Any]) -> bool:
        value = measured.get(self.metric)
        return value is not None and bool(COMPARE[self.relation](value, self.bound))

    def failed(self, measured: Mapping[str, Any], when: str = "") -> str:
        """The condition that is not met, and the metric or, without it, those that there are."""
        value, required = measured.get(self.metric), f"{self} is required {when}".rstrip()
        if value is not None:
            return f"{required}, but {self.metric} is {value:.6g}"
        known = ", ".join(name for name in METRICS if measured.get(name) is not None)
        return f"{required}, but {self.metric} is not measured; measured are {known}"

    def __str__(self) -> str:
        return f"{self.metric} {self.relation} {self.bound:g}"
