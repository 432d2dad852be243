"""What a run of training counts: predictions of rows before they were learned."""

from __future__ import annotations

from typing import Any

from cwtool.data.rows import Floats, Rows
from cwtool.metrics.tally import AnyTally, Tally
from cwtool.model import Model


class Counts:
    """The metrics of a run, with nothing counted yet, for two classes or several."""

    def __init__(self, model: Model) -> None:
        self.new = new = model.new_tally
        self.total = new()  # of the files that are finished
        self.file = new()  # of the file that is being read
        self.since = new()  # since the last point of the curve
        self.untrained = new()  # of rows that there was no model to predict with
        self.fitted = new()  # of the same rows once they were learned

    def add(self, rows: Rows, score: Floats, *, curve: bool) -> None:
        """Count the predictions of rows before they were learned, also for the `curve`."""
        self.file.add(rows.y, score, rows.weight)
        if curve:
            self.since.add(rows.y, score, rows.weight)

    def add_batch(self, rows: Rows, score: Floats, fitted: Floats | None) -> AnyTally:
        """The same for a batch; a first one has scores that were `fitted` to it. Returns the
        metrics of the batch."""
        batch = self.new()
        batch.add(rows.y, score, rows.weight)
        self.file += batch
        self.since += batch
        if fitted is not None:
            self.untrained += batch
            self.fitted.add(rows.y, fitted, rows.weight)
        return batch

    def end_file(self) -> dict[str, Any]:
        """The metrics of the file that was being read, which is finished."""
        first = self.fitted.rows and not self.total.rows
        found = {**self.file.summary(), **({"fitted": self.fitted.summary()} if first else {})}
        self.total += self.file
        self.file = self.new()
        return found

    def so_far(self) -> dict[str, Any]:
        """The rows until now, and the metrics of those that there was a model to predict with."""
        met = self.total + self.file
        predicted = met - self.untrained
        found: dict[str, Any] = {"rows": met.rows}
        if predicted.rows:
            found["error"] = predicted.error
        if predicted.rows and isinstance(predicted, Tally):
            found["auc"] = predicted.auc
        return found

    @property
    def predicted(self) -> AnyTally | None:
        """The predictions before learning, without the rows of a first batch, which there was no
        model to predict; None if there are no others."""
        found = self.total - self.untrained
        return found if found.rows else None

    def judged(self, model: Model) -> AnyTally:
        """The predictions before learning, by the threshold of this model if it has one. Rows that
        there was no model to predict count as they are once learned, if there are no others."""
        found = self.predicted or self.fitted
        if model.operating_point and isinstance(found, Tally):
            return found.at(model.threshold)
        return found

    def for_history(self) -> dict[str, Any]:
        """The metrics that the history of a model keeps."""
        fitted = {"fitted": _kept(self.fitted)} if self.fitted.rows else {}
        return {**_kept(self.predicted or self.total), **fitted, "rows": self.total.rows}


def _kept(tally: AnyTally) -> dict[str, Any]:
    summary = tally.summary()
    names = ["rows", "weight", "error", "auc", "precision", "recall", "f1"]
    names += ["macro_f1", "weighted_f1", "balanced_error"]  # of several classes
    return {name: summary[name] for name in names if name in summary}
