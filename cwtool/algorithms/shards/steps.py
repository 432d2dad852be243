"""Batches that are divided among shards: the steps that an algorithm asks the shards to take.

The rows of the batch stay in the shards. A step is a function of a shard and some arrays; it is
asked of all shards at once, and its results are added up in the order of the shards. Each shard has
columns of its own: the features of its rows, in the order in which it has met them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cwtool.algorithms.batch.learner import learnable
from cwtool.data.rows import Floats, Ints, Rows, SlotRows
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import FeatureIndex, State
from cwtool_ext import dual

Arrays = dict[str, NDArray[Any]]
T = TypeVar("T")
R = TypeVar("R")


@dataclass
class Shard:
    """A shard while it takes a step: its rows by its own columns, with the weights that they are
    learned with, and what its earlier steps have `kept` for it."""

    given: SlotRows
    columns: int
    shards: int  # of the run
    kept: Arrays = field(default_factory=dict)

    @cached_property
    def rows(self) -> SlotRows:
        """The rows that are learned."""
        return learnable(self.given)

    def sums(self, v: Floats, rows: SlotRows | None = None) -> Floats:
        """X'v: a number for each column from one for each row; X are the rows that are learned, or
        others of the same columns."""
        found = np.zeros((self.columns, 1))
        dual.add_rows((rows or self.rows).csr, v, found, 0)
        return found[:, 0]


def columns_of(rows: Rows) -> tuple[Ints, Ints]:
    """The ids of the columns of a shard with these rows, and the column of each entry."""
    index = FeatureIndex(0)
    columns = index.observe(rows.indices)
    return index.keys[: index.n_keys], columns


# (algorithm, shard, arrays given) -> arrays
Step = Callable[[Any, Shard, Arrays], Arrays]


class Shards(Protocol):
    """The shards of a batch, as the algorithm sees them."""

    slots: list[Ints]  # of each shard: the slots of its columns
    rows: SlotRows  # the rows of all shards that are learned, in their order, without entries
    ends: list[int]  # where the rows of each shard end among them
    head: SlotRows  # the first rows, with entries
    rounds: int  # that were asked for; 0: as many as are usual
    gap: float  # a relative duality gap that is small enough

    def ask(
        self,
        step: Step,
        given: Sequence[Arrays],
        common: Arrays | None = None,
        *,
        alone: bool = False,
    ) -> list[Arrays]:
        """Let each shard run this step with its own arrays and with those common to all shards.
        Returns the results in the order of the shards. What is not asked for one class of several
        is asked `alone`."""

    def together(self, function: Callable[[T], R], items: Iterable[T], size: int) -> list[R]:
        """list(map(function, items)), of which each asks questions: see `questions`. Of these and
        their answers each has about `size` numbers."""


def gathered(shards: Shards) -> SlotRows:
    """All rows of the shards with their entries, copied to this process."""
    parts = shards.ask(stored, [{} for _ in shards.slots])
    columns = [slots[part["columns"]] for part, slots in zip(parts, shards.slots, strict=True)]
    return replace(
        shards.rows,
        indptr=np.append(0, np.cumsum(np.concatenate([part["lengths"] for part in parts]))),
        indices=np.concatenate(columns),
        values=np.concatenate([part["values"] for part in parts]),
        scale=shards.head.scale,
    )


def stored(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """The rows that are learned: their lengths, columns and values."""
    rows = shard.rows
    return {"lengths": np.diff(rows.indptr), "columns": rows.indices, "values": rows.values}


@runtime_checkable
class Sharded(Protocol):
    """An algorithm that can learn a batch whose rows are divided among shards."""

    def learn_shards(
        self, states: Sequence[State], classes: Sequence[int], shards: Shards, run: Run
    ) -> None:
        """Learn all rows of the shards at once; states and classes are as in `learn_batch`."""
