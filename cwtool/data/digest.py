"""A fingerprint of a file as it is stored, to know tomorrow that it was learned today."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from cwtool.data.sources import STDIN, Handle
from cwtool_ext import digest as kernel

CELL: int = kernel.CELL
PIECE = 16 * CELL


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


def file_digest(path: str) -> str | None:
    """Of a whole file; nothing for what can be read only once."""
    if path == STDIN or (Path(path).exists() and not Path(path).is_file()):
        return None
    handle = Handle(path)
    digest = Digest()
    cells = bytearray()
    while data := handle.read(PIECE):
        digest.update(data)
        cells += digest.take()
    return hexdigest(bytes(cells + digest.take(end=True)))
