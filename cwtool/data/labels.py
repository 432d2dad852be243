"""The labels of a file as class numbers, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data.parse import Block
from cwtool.data.rows import Origin, Rows
from cwtool.errors import DataError

PEEK_ROWS = 1000  # rows that decide which label is positive, whatever the size of blocks


def written(label: float) -> str:
    """A label as people write it: 1, -1, 0.5."""
    return str(int(label)) if label == int(label) else repr(label)


@dataclass
class Labels:
    """The labels of the two classes; None as long as one has not been seen."""

    negative: float | None = None
    positive: float | None = None

    @property
    def values(self) -> tuple[float | None, float | None]:
        """The label of class 0 and that of class 1."""
        return self.negative, self.positive

    @property
    def complete(self) -> bool:
        return None not in self.values

    def name(self, class_: int) -> str:
        """The label of a class as text; +1 where the other one is -1, ? where none was seen."""
        label = self.values[class_]
        if label is None:
            return "?"
        return "+1" if label == 1 and self.negative == -1 else written(label)

    def encode(self, block: Block) -> Rows:
        """The rows with class numbers; a label of a third class is an error with its place."""
        y, strange = self._numbers(block.labels)
        if strange.any():
            self._meet(block.labels[strange])
            y, strange = self._numbers(block.labels)
        if strange.any():
            row = int(np.flatnonzero(strange)[0])
            raise DataError(
                f"{block.origin.place(row)}: label {written(float(block.labels[row]))} is a third "
                f"class; so far there are {self.name(0)} and {self.name(1)}",
                f"make it {self.name(0)} or {self.name(1)}, or remove such rows",
            )
        return Rows(block.indptr, block.indices, block.values, y, block.weight)

    def _numbers(self, labels: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Class numbers, and which labels belong to no class."""
        positive = labels == self.positive
        return positive.astype(np.int32), ~(positive | (labels == self.negative))

    def _meet(self, strange: NDArray[Any]) -> None:
        """Give the classes that are still free to the first of these labels."""
        for label in dict.fromkeys(strange.tolist()):
            if self.complete:
                return
            free_positive = self.positive is None and (self.negative is not None or label > 0)
            if free_positive:
                self.positive = label
            else:
                self.negative = label

    def rows_of(self, blocks: Iterable[Block]) -> Iterator[tuple[Rows, Origin]]:
        """The rows of the blocks with class numbers. The larger of the two labels among the first
        rows is the positive class; if those rows have one label only, it is positive iff it is
        greater than 0."""
        source = iter(blocks)
        first = [] if self.complete else self._peek(source)
        # no block is referred to from here once it was passed on: its memory may be used again
        yield from map(self._encoded, chain(_drained(first), source))

    def _encoded(self, block: Block) -> tuple[Rows, Origin]:
        return self.encode(block), block.origin

    def _peek(self, source: Iterator[Block]) -> list[Block]:
        """Draw blocks until the classes are known or PEEK_ROWS rows have been seen."""
        drawn: list[Block] = []
        seen: dict[float, None] = {}
        rows = 0
        for block in source:
            drawn.append(block)
            head = block.labels[: PEEK_ROWS - rows]
            seen |= dict.fromkeys(head.tolist())
            rows += len(head)
            if rows >= PEEK_ROWS or len(seen) >= 2:
                break
        if self.values == (None, None) and len(seen) >= 2:
            self.negative, self.positive = sorted(list(seen)[:2])
        return drawn


def _drained(blocks: list[Block]) -> Iterator[Block]:
    """The blocks from the first to the last; each is removed from the list."""
    while blocks:
        yield blocks.pop(0)
