"""A fingerprint of bytes as they come by, to know tomorrow what was learned today."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from cwtool_ext import digest as kernel

CELL: int = kernel.CELL


def hexdigest(cells: bytes) -> str:
    return sha256(cells).hexdigest()[:32]


class Digest:
    """The digest of a stream, computed from its bytes as they are read, in cells of fixed size."""

    def __init__(self) -> None:
        self.length = 0
        self._cells: list[bytes] = []
        self._rest = b""  # bytes behind the last complete cell

    def update(self, data: bytes) -> None:
        self.length += len(data)
        data = self._rest + data if self._rest else data
        cut = len(data) // CELL * CELL
        self._rest = data[cut:]
        if cut:
            self._cells.append(self.of(data, 0, cut))

    def take(self, *, end: bool = False) -> bytes:
        """The cells that are complete; at the end, the last one as it is."""
        if end:
            self._cells.append(self.of(self._rest, 0, len(self._rest)))
            self._rest = b""
        found, self._cells = self._cells, []
        return b"".join(found)

    @staticmethod
    def of(data: Any, start: int, stop: int) -> bytes:
        out = np.empty(2 * -(-(stop - start) // CELL), dtype=np.uint64)
        kernel.cells(data, start, stop, out)
        return out.tobytes()
