"""Training in shards: rounds of shards that are learned apart and merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cwtool.errors import UsageError
from cwtool.parallel import EngineOptions, check
from cwtool.shards.plan import GROWTH, HEAD, TAIL_ROWS

if TYPE_CHECKING:
    from cwtool.console import Console
    from cwtool.model import Model
    from cwtool.trainer import Trainer, TrainOptions


@dataclass(frozen=True)
class ShardOptions:
    """How a run is dealt out. All but the engine and the folder are part of the result."""

    shards: int
    rounds: int = 0  # of equal length; 0: rounds grow by `growth`
    head: int = HEAD  # bytes that are learned in sequence first
    growth: float = GROWTH
    tail_rows: int = TAIL_ROWS  # of a round, held back to choose the merge by
    engine: EngineOptions = field(default_factory=EngineOptions)
    work_dir: str = ""  # folder that all workers see; empty: a temporary one


def new_trainer(
    model: Model,
    options: TrainOptions,
    console: Console,
    watch: Callable[..., Any] | None = None,
    sharding: ShardOptions | None = None,
) -> Trainer:
    """A run of training, in shards if these are asked for. Models that cannot be merged, and
    settings that do not go with shards, are refused before anything is read."""
    from cwtool.trainer import Trainer

    if sharding is None:
        return Trainer(model, options, console, watch)
    from cwtool.merging.fitting import merging_of
    from cwtool.shards.driver import OneShard, ShardTrainer

    if sharding.shards == 1:
        return OneShard(model, options, console, watch)
    for name, given in (("holdout", options.holdout), ("trace", options.trace)):
        if given:
            raise UsageError(
                f"`{name}` does not work with `shards` greater than 1",
                "use `validation`, which does" if name == "holdout" else "leave it out",
            )
    merging_of(model)
    check(sharding.engine)
    if sharding.engine.scheduler and not sharding.work_dir:
        raise UsageError(
            "`scheduler` needs `work_dir`: a folder that this machine and all workers see",
            "add for example `work_dir=/shared/run`",
        )
    return ShardTrainer(model, options, console, watch, sharding)
