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
        self._waiting: list[bytes] = []

    def update(self, data: bytes) -> None:
        self.length += len(data)
        self._waiting.append(data)

    def take(self, *, end: bool = False) -> bytes:
        """The cells that are complete; at the end, the last one as it is."""
        data = b"".join(self._waiting)
        cut = len(data) if end else len(data) // CELL * CELL
        self._waiting = [data[cut:]]
        return self.of(data, 0, cut)

    @staticmethod
    def of(data: Any, start: int, stop: int) -> bytes:
        out = np.empty(2 * -(-(stop - start) // CELL), dtype=np.uint64)
        kernel.cells(data, start, stop, out)
        return out.tobytes()
