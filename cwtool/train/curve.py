"""The curve of a run: error and number of weights after every so many rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cwtool.data.rows import Rows
from cwtool.messages.console import Console
from cwtool.metrics.tally import AnyTally
from cwtool.model import Model
from cwtool.run import Run
from cwtool.train.heldout import HeldOut


class Curve:
    """Sends an event `trace` with the error and the number of nonzero weights after every `step`
    rows, and after each pass. With a step of 0 it sends none."""

    def __init__(self, step: int, console: Console) -> None:
        self.step, self.console = step, console

    def __bool__(self) -> bool:
        return self.step > 0

    def pieces(self, rows: Rows, met: int) -> Iterator[tuple[Rows, bool]]:
        """The rows cut where the curve has points, `met` rows having come before them; with each
        piece whether a point follows it."""
        done = 0
        while done < rows.n_rows:
            stop = min(rows.n_rows, done + self.step - (met + done) % self.step)
            yield rows.slice(done, stop), (met + stop) % self.step == 0
            done = stop

    def point(
        self, pass_: int, met: int, tally: AnyTally, model: Model, heldout: HeldOut, run: Run
    ) -> None:
        """Report the error since the last point, of rows before they were learned, the error on
        held-out rows, and the number of nonzero weights."""
        point: dict[str, Any] = {"pass": pass_, "rows": met, "error": tally.error}
        if heldout:
            point["validation_error"] = heldout.tally(model, run).error
        point["nonzero_weights"] = nonzero_weights(model)
        self.console.event("trace", point)


def nonzero_weights(model: Model) -> int:
    """The number of weights that are not zero; of several classes that of all of them."""
    return int(np.count_nonzero(model.weights().weight))
