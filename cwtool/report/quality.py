"""ROC, precision-recall and reliability of predictions, as one figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cwtool.report.charts import Line, Panel, chart, save


def draw(
    path: Path,
    confusion: tuple[Sequence[float], Sequence[float]],
    bins: Sequence[tuple[float, float]],
) -> None:
    """Write the figure. `confusion` has the true and the false positives at thresholds from the
    highest down, and `bins` the mean probability and the share of positive rows of each bin."""
    tp, fp = (list(column) for column in confusion)
    recall = [t / tp[-1] for t in tp]
    precision = [t / (t + f) for t, f in zip(tp, fp, strict=True)]
    rate = [f / fp[-1] for f in fp]
    panels = [
        Panel("ROC", [Line("model", [0.0, *rate], [0.0, *recall])], "false positives", "recall"),
        Panel("precision and recall", [Line("model", recall, precision)], "recall", "precision"),
        Panel(
            "reliability",
            [Line("model", [p for p, _ in bins], [share for _, share in bins])],
            "probability",
            "positive rows",
        ),
    ]
    save(chart(panels), path)
