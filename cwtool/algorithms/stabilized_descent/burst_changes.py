"""What the bursts of a stage of stabilized truncated gradient descent emitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.data.growing import spacious
from cwtool.data.rows import Floats, Ints


class Emitted(NamedTuple):
    """What bursts emitted, one entry for each feature that a burst informed: in how many paths it
    did so, and for each of these the change of the weight relative to q, and whether the weight was
    nonzero after the burst."""

    slots: Ints
    paths: NDArray[np.uint8]
    values: Floats
    kept: NDArray[np.uint8]

    def part(self, features: slice, values: slice) -> Emitted:
        slots, paths, value, kept = self
        return Emitted(slots[features], paths[features], value[values], kept[values])


def _longer(array: NDArray[Any], used: NDArray[Any], size: int) -> NDArray[Any]:
    """The array, or a longer one with what is used of it."""
    if size <= len(array):
        return array
    longer = spacious(size, array.dtype)
    longer[: len(used)] = used
    return longer


NOTHING = Emitted(*(np.empty(0, dtype) for dtype in ("i4", "u1", "f8", "u1")))


class Pool:
    """Parts that were added, and one that grows in memory that later stages use again: fresh memory
    would cost as much as learning."""

    def __init__(self, parts: list[Emitted]) -> None:
        self._parts, self._memory = parts, NOTHING
        self._features = self._values = 0  # in use

    @property
    def parts(self) -> list[Emitted]:
        grown = self._memory.part(slice(self._features), slice(self._values))
        return [*self._parts, grown] if self._features else self._parts

    def add(self, part: Emitted) -> None:
        if len(part.slots):
            self._parts.append(part)

    def room(self, features: int, paths: int) -> Emitted:
        """Memory for this number of features, each informed in all paths; see `used`."""
        values = self._values + features * paths
        features += self._features
        used = self._memory.part(slice(self._features), slice(self._values))
        arrays: zip[tuple[Any, Any, int]] = zip(
            self._memory, used, (features, features, values, values), strict=True
        )
        self._memory = Emitted(*(_longer(array, start, size) for array, start, size in arrays))
        return self._memory.part(slice(self._features, features), slice(self._values, values))

    def used(self, features: int, values: int) -> None:
        """Record how many entries of the memory from `room` were filled."""
        self._features += features
        self._values += values

    def renumber(self, new: Callable[[Ints], Ints]) -> None:
        """Replace the numbers of the features."""
        self._parts = [part._replace(slots=new(part.slots)) for part in self.parts]
        self._features = self._values = 0

    def clear(self) -> None:
        self._parts = []
        self._features = self._values = 0
