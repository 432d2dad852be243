"""Training in shards: rounds of shards that are learned apart and merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from cwtool.errors import ModelError, UsageError
from cwtool.parallel import EngineOptions, check
from cwtool.records import dataclass
from cwtool.shards.plan import GROWTH, HEAD, TAIL_ROWS

GAP = 0.001

if TYPE_CHECKING:
    from cwtool.messages.console import Console
    from cwtool.model import Model
    from cwtool.train.options import TrainOptions
    from cwtool.train.trainer import Trainer


@dataclass(frozen=True)
class ShardOptions:
    """How the rows of a run are divided among shards. The result depends on all settings except
    the engine and the folder."""

    shards: int
    rounds: int = 0  # of equal length; 0: rounds grow by `growth`
    head: int = HEAD  # bytes that are learned in sequence first
    growth: float = GROWTH
    tail_rows: int = TAIL_ROWS  # of a round, held back to choose the merge by
    gap: float = GAP  # of dcd: the relative duality gap at which it stops
    engine: EngineOptions = field(default_factory=EngineOptions)
    work_dir: str = ""  # folder that all workers see; empty: a temporary one


def new_trainer(
    model: Model,
    options: TrainOptions,
    console: Console,
    watch: Callable[..., Any] | None = None,
    sharding: ShardOptions | None = None,
) -> Trainer:
    """The trainer of a run, with shards if the options have them. Models that cannot be merged, and
    settings that are not possible with shards, are refused before any data is read."""
    from cwtool.train.trainer import Trainer

    if sharding is None:
        return Trainer(model, options, console, watch)
    from cwtool.shards.driver import OneShard

    if sharding.shards == 1:
        return OneShard(model, options, console, watch)
    for name, given in (("holdout", options.holdout), ("trace", options.trace)):
        if given:
            raise UsageError(
                f"`{name}` does not work with `shards` greater than 1",
                "use `validation`, which does" if name == "holdout" else "leave it out",
            )
    kind: Any = _kind(model)
    check(sharding.engine)
    if sharding.engine.scheduler and not sharding.work_dir:
        raise UsageError(
            "`scheduler` needs `work_dir`: a folder that this machine and all workers see",
            "add for example `work_dir=/shared/run`",
        )
    trainer: Trainer = kind(model, options, console, watch, sharding)
    return trainer


def _kind(model: Model) -> type[Trainer]:
    """The trainer that learns this model in shards; an error if there is none."""
    from cwtool.algorithms.merging.base import Refusal
    from cwtool.algorithms.shards.steps import Sharded

    algorithm = model.algorithm
    wrong = ModelError if model.rows else UsageError  # what a saved model has is not asked for here
    if isinstance(algorithm, Sharded):
        from cwtool.shards.batch_driver import BatchTrainer

        if getattr(algorithm.params, "batch_rows", 0):
            raise wrong(
                "`batch_rows` does not work with `shards` greater than 1: all rows of a run are "
                "one batch",
                "leave one of them out",
            )
        return BatchTrainer
    if isinstance(algorithm.merging, Refusal):
        raise wrong(
            f"{algorithm.name} cannot be learned in shards: {algorithm.merging.reason}",
            "leave out `shards`; for example arow, cw, pa1, bcw, dcd, sbcw and l1svm can be",
        )
    from cwtool.shards.driver import ShardTrainer

    return ShardTrainer
