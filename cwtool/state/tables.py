"""Tables of doubles that start as zero and grow without a copy where the system allows it."""

from __future__ import annotations

import numpy as np

from cwtool.data.growing import take_huge_pages, zero_pages
from cwtool.data.rows import Floats, Ints


class Table:
    """A row for each feature; `width` numbers per row, all zero at first."""

    def __init__(self, n_rows: int, width: int) -> None:
        self.width = width
        self.count = 0  # rows in use, where the table itself is the list of them
        self._pages = zero_pages(n_rows * width * 8)
        self._huge = False
        self.rows = self._view(n_rows)

    def use_huge_pages(self) -> None:
        """Take memory in pages of 2 MB instead of 4 kB, if possible: faster where many rows are
        used, and much more memory where there are few of them far apart."""
        if not self._huge:
            self._huge = True
            take_huge_pages(self._pages)

    def _view(self, n_rows: int) -> Floats:
        return np.frombuffer(self._pages, count=n_rows * self.width).reshape(n_rows, self.width)

    def grow(self, n_rows: int) -> None:
        """Make room for this number of rows; the new ones are zero."""
        self.rows = np.empty((0, 0))  # pages that are looked at do not move
        size = n_rows * self.width * 8
        try:
            self._pages.resize(size)
        except (SystemError, OSError, ValueError, BufferError):
            # the system cannot remap, or a view of the pages still exists: copy
            kept, self._pages, huge = self._pages, zero_pages(size), self._huge
            self._huge = False
            if huge:
                self.use_huge_pages()
            self._pages[: len(kept)] = kept[:]
        self.rows = self._view(n_rows)

    def reserve(self, n_rows: int) -> None:
        """Make room for at least this number of rows, and for a quarter more than there was."""
        if n_rows > len(self.rows):
            self.use_huge_pages()  # rows that are reserved are used side by side
            self.grow(max(n_rows, len(self.rows) + len(self.rows) // 4))

    def fill(self, rows: Floats) -> None:
        """Take over these rows as all that is in use."""
        self.reserve(len(rows))
        self.rows[: len(rows)] = rows
        self.count = len(rows)

    def reshape(self, n_rows: int, width: int) -> None:
        """Become another table of zeros in the same memory, which is all zero."""
        self.width, self.count = width, 0
        self.rows = np.empty((0, 0))
        if n_rows * width * 8 > len(self._pages):
            self.grow(n_rows)
        self.rows = self._view(n_rows)

    def widen(
        self, n_columns: int, before: int, after: int, used: Ints, spare: Table | None = None
    ) -> None:
        """Give each of the `n_columns` columns `after` places side by side instead of `before`:
        [a_0 a_1 | b_0 b_1] becomes [a_0 a_1 0 0 | b_0 b_1 0 0]. Only the rows `used` are copied,
        so that the pages of all others take no memory. They are copied to the memory of a `spare`
        table, if there is one, which is all zero."""
        old = self.rows
        wide = spare or Table(0, 0)
        wide.reshape(len(old), n_columns * after)
        if self._huge:
            wide.use_huge_pages()
        for c in range(n_columns):
            wide.rows[used, c * after : c * after + before] = old[
                used, c * before : (c + 1) * before
            ]
        self.width, self._pages, self.rows = wide.width, wide._pages, wide.rows
