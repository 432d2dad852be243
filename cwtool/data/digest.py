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
    """Cells of a stream, as its bytes come by."""

    def __init__(self) -> None:
        self.length = 0
        self._pending = bytearray()

    def update(self, data: bytes) -> None:
        self.length += len(data)
        self._pending += data

    def take(self, *, end: bool = False) -> bytes:
        """The cells that are complete; at the end, the last one as it is."""
        cut = len(self._pending) if end else len(self._pending) // CELL * CELL
        cells = self.of(bytes(self._pending[:cut]), 0, cut)
        del self._pending[:cut]
        return cells

    @staticmethod
    def of(data: Any, start: int, stop: int) -> bytes:
        out = np.empty(2 * -(-(stop - start) // CELL), dtype=np.uint64)
        kernel.cells(data, start, stop, out)
        return out.tobytes()
