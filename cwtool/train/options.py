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
        """Bytes of `max_memory` that a model may use with the copy of it that is saved, if rows
        that are kept take none."""
        return 2 * self.max_memory // models_of(self.passes)


def models_of(passes: int, fold_models: int = 1) -> int:
    """How many models there are at a time: one, and the copy that is saved; with several passes
    also fold models, the model before the run, and that of the best pass."""
    return 2 if passes == 1 else 4 + fold_models


def check_passes(model: Model, passes: int) -> None:
    """Refuse several passes, before any work, for batch learners."""
    if passes > 1 and model.batch is not None:
        raise UsageError(
            f"`passes` is for online learners; {model.algorithm.name} goes over each "
            "batch as often as it needs"
        )
