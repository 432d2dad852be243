"""The rows of a run that are kept for further passes."""

from __future__ import annotations

from cwtool.messages.console import Progress
from cwtool.metrics.tally import AnyTally
from cwtool.model import Model
from cwtool.model.crossfit import count_of_fold_models
from cwtool.model.fold_models import FoldModels, fold_models_of
from cwtool.run import Run
from cwtool.train.room import Room


class KeptRows:
    """The rows that a model has learned in its first pass."""

    def __init__(self, model: Model, room: Room) -> None:
        self.room, self.spool = room, room.spool(model.algorithm.bytes_again)
        # the model before the first pass, of which fold models are copies
        self.before = model.copy(model.packed(counted=model.several is None))

    def fold_models(self, model: Model, run: Run) -> FoldModels:
        """The models beside the model that the probabilities after several passes are fitted to."""
        self.before.labels = model.labels
        if self.before.several is not None and model.labels.several is not None:
            self.before.state.admit(model.labels.several)  # classes may have come since
        rows = self.spool
        self.room.check(count_of_fold_models(rows.n_rows))
        return fold_models_of(self.before, rows.all(), rows.counted, rows.n_rows, run)

    def relearn(self, model: Model, pass_: int, run: Run, progress: Progress) -> AnyTally:
        """Learn the rows once more, in random order; the metrics of the predictions before it."""
        tally = model.new_tally()
        for rows, order, counted in self.spool.shuffled(run.seed, pass_):
            score = model.relearn(rows, order, run).score
            tally.add(rows.y, score, counted)
            progress.update(lambda: {"pass": pass_})
        return tally
