"""How a run of training reads, repeats and judges the rows."""

from __future__ import annotations

from dataclasses import field

from cwtool.data.pipeline import ReadOptions
from cwtool.errors import UsageError
from cwtool.model import Model
from cwtool.parallel import EngineOptions
from cwtool.records import dataclass
from cwtool.train.gate import Gate


@dataclass(frozen=True)
class TrainOptions:
    """How this run trains."""

    passes: int = 1
    seed: int = 0
    holdout: float = 0.0
    validation: tuple[str, ...] = ()
    patience: int = 0
    require: tuple[Gate, ...] = ()
    again: bool = False  # whether rows that were learned before are meant to be learned again
    trace: int = 0  # rows between two points of the curve of error and weights; 0: none
    max_memory: int = 0  # bytes that an algorithm may use; 0 allows most of what is free
    engine: EngineOptions | None = None  # for parts of an algorithm that can run elsewhere
    read: ReadOptions = field(default_factory=ReadOptions)

    @property
    def memory_of_a_model(self) -> int:
        """Bytes of `max_memory` that a model may use. Rows that are kept have the others, and with
        several passes there are also its shadows, the model before the run, and the one of the
        best pass. Each counts with a copy that is saved, of which there is one."""
        left = self.max_memory - self.memory_of_rows
        if self.passes == 1 or not self.max_memory:
            return left
        from cwtool.model.crossfit import FOLDS

        return max(1, 2 * left // (FOLDS + 4))

    @property
    def memory_of_rows(self) -> int:
        """Bytes of `max_memory` for rows that are kept."""
        if self.passes > 1:
            return self.max_memory // 2
        return self.max_memory // 4 if self.holdout else 0


def check_passes(model: Model, passes: int) -> None:
    """Refuse several passes, before any work, for batch learners."""
    if passes > 1 and model.batch is not None:
        raise UsageError(
            f"`passes` is for online learners; {model.algorithm.name} goes over each "
            "batch as often as it needs"
        )
