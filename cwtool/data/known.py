"""How rows that were learned before are known, in bounded memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cwtool.data.chunk_text import load
from cwtool.data.chunks import chunks_of
from cwtool.data.cutting import Cutting
from cwtool.data.digest import hexdigest
from cwtool.data.sources import read_once
from cwtool.errors import Damage
from cwtool.order import distinct

Hashes = NDArray[np.uint64]

MOST = 1 << 14  # hashes that are kept: 128 KiB
STEP = 1 << 18  # bytes that a file is read in


def _none() -> Hashes:
    return np.empty(0, dtype=np.uint64)


class RowSample:
    """A sample of distinct rows by their hashes h: those with h < 2^(64 - level). The level is the
    least one that leaves at most MOST hashes, so the sample depends on the rows alone and not on
    their order. Of two samples, the rows below the lower bound can be compared: they are a random
    share of all rows, the same one in both."""

    def __init__(self, hashes: Hashes | None = None, level: int = 0) -> None:
        self._hashes = _none() if hashes is None else hashes  # ascending
        self._level = level
        self._waiting: list[Hashes] = []
        self._n_waiting = 0

    @classmethod
    def checked(cls, hashes: Hashes, level: int) -> RowSample:
        """The sample of a file; Damage if it cannot be one."""
        ascends = bool((hashes[1:] > hashes[:-1]).all())
        if len(hashes) > MOST or level < 0 or not ascends or not _below(hashes, level).all():
            raise Damage("the array known is no sample of rows")
        return cls(hashes, level)

    def add(self, hashes: Hashes) -> None:
        """Add the hashes of more rows to the sample."""
        fresh = hashes[_below(hashes, self._level)]
        if len(fresh) == 0:
            return
        self._waiting.append(fresh)
        self._n_waiting += len(fresh)
        if self._n_waiting > MOST:
            self._settle()

    def _settle(self) -> None:
        if not self._waiting:
            return
        self._hashes = distinct(np.concatenate([self._hashes, *self._waiting]))
        self._waiting, self._n_waiting = [], 0
        while len(self._hashes) > MOST:
            self._level += 1
            self._hashes = self._hashes[_below(self._hashes, self._level)]

    @property
    def hashes(self) -> Hashes:
        self._settle()
        return self._hashes

    @property
    def level(self) -> int:
        self._settle()
        return self._level

    @property
    def reached(self) -> int:
        """The current level of the sample: hashes above it need not be added. Any thread may call
        this."""
        return self._level

    def __len__(self) -> int:
        return len(self.hashes)

    def __iadd__(self, other: RowSample) -> RowSample:
        self._level = max(self.level, other.level)
        self._hashes = self.hashes[_below(self.hashes, self._level)]
        self.add(other.hashes)
        return self

    @property
    def distinct(self) -> float:
        """The number of different rows, about."""
        return float(len(self)) * 2.0**self.level

    def share_in(self, other: RowSample) -> float:
        """The share of the distinct rows of this sample that are in the other sample: exact as long
        as both have all rows, otherwise an estimate."""
        mine, others = self.hashes, other.hashes
        mine = mine[_below(mine, max(self.level, other.level))]
        return float(np.isin(mine, others).mean()) if len(mine) else 0.0


def _below(hashes: Hashes, level: int) -> NDArray[np.bool_]:
    if level == 0:
        return np.ones(len(hashes), dtype=np.bool_)
    found: NDArray[np.bool_] = hashes >> np.uint64(64 - level) == 0
    return found


def file_digests(path: str) -> tuple[str, ...]:
    """The digest of the text of a file and, if it is compressed, that of the file as it is stored,
    by which models of cwtool 0.1 know it; none of what can be read only once."""
    if read_once(path):
        return ()
    cells, stored = bytearray(), bytearray()
    for chunk in chunks_of(path, Cutting(STEP)):
        if chunk.frame is not None:
            from cwtool.data.rowfile import last_of

            last = last_of(path)
            cells, stored = bytearray(last.cells), bytearray(last.stored)
            break
        cells += load(chunk).cells
        stored += chunk.stored
    return tuple(hexdigest(bytes(found)) for found in (cells, stored) if found or found is cells)
