"""The labels of a file as y in {-1, +1}, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from cwtool.data.block import Block, Floats
from cwtool.errors import DataError

PEEK_ROWS = 1000  # the positive class is settled by so many rows, whatever the block size


def written(label: float) -> str:
    """A label as people write it: 1, -1, 0.5; +1 where its partner is -1."""
    return str(int(label)) if label == int(label) else repr(label)


@dataclass
class Labels:
    """The two classes; None as long as one has not been seen."""

    negative: float | None = None
    positive: float | None = None

    @property
    def complete(self) -> bool:
        return self.negative is not None and self.positive is not None

    def name(self, y: float) -> str:
        label = self.positive if y > 0 else self.negative
        if label is None:
            return "?"
        return "+1" if label == 1 and self.negative == -1 else written(label)

    def encode(self, block: Block) -> None:
        """Set block.y; a label of a third class is an error with its place."""
        positive, negative = block.labels == self.positive, block.labels == self.negative
        strange = ~(positive | negative)
        if strange.any():
            self._meet(block, strange)
            positive, negative = block.labels == self.positive, block.labels == self.negative
            strange = ~(positive | negative)
            if strange.any():
                row = int(np.flatnonzero(strange)[0])
                raise DataError(
                    f"{block.place(row)}: label {written(float(block.labels[row]))} is a third "
                    f"class; so far there are {self.name(-1)} and {self.name(1)}",
                    f"make it {self.name(-1)} or {self.name(1)}, or remove such rows",
                )
        block.y = np.where(positive, 1.0, -1.0)

    def _meet(self, block: Block, strange: np.ndarray) -> None:
        """Give a place that is still free to the first label that has none."""
        if self.complete or not strange.any():
            return
        label = float(block.labels[np.flatnonzero(strange)[0]])
        if self.positive is None and self.negative is None:
            self.positive, self.negative = (label, None) if label > 0 else (None, label)
            self._meet(block, strange & (block.labels != label))
        elif self.positive is None:
            self.positive = label
        else:
            self.negative = label

    def settle(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Pass the blocks on with y set. The larger of the two labels among the first rows is
        the positive class; if those rows have one label only, it is positive iff it is > 0."""
        source = iter(blocks)
        first: list[Block] = []
        if not self.complete:
            seen: list[float] = []
            rows = 0
            for block in source:
                first.append(block)
                head: Floats = block.labels[: PEEK_ROWS - rows]
                seen += [x for x in dict.fromkeys(head.tolist()) if x not in seen]
                rows += len(head)
                if rows >= PEEK_ROWS or len(seen) >= 2:
                    break
            known = [x for x in (self.negative, self.positive) if x is not None]
            if not known and len(seen) >= 2:
                self.negative, self.positive = sorted(seen[:2])
        for block in chain(first, source):
            self.encode(block)
            yield block
