"""Where parsed rows are kept on the way from text, and found again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from cwtool.data.chunks import Chunk


class Keeper(Protocol):
    """Takes the rows of a source while it is read."""

    def add(self, frame: bytes) -> None:
        """The rows of a chunk, in the order of the source."""

    def finish(
        self, cells: bytes, stored: bytes, rows: int, lines: int, qids: int, *, whole: bool
    ) -> None:
        """The source has ended: the cells of its digests, and what was counted. It is `whole` if no
        bad line was skipped."""

    def abandon(self) -> None:
        """The source is not read to its end."""


class Entry(Protocol):
    """The stored rows of one source."""

    def chunks(self, labelled: bool | None, labels: tuple[float, ...]) -> Iterator[Chunk] | None:
        """The rows that are kept; None if there are none. They have labels; `labelled` and `labels`
        say what is known of that, as in `ReadOptions`."""

    def keeper(self, first: bytes) -> Keeper | None:
        """What takes the rows of the source, whose first item is given; None if nothing does."""


class Store(Protocol):
    """A place where the parsed rows of several sources are stored, such as a cache folder."""

    def entry(self, path: str, zero_based: bool) -> Entry | None:
        """Those of a source; None if it cannot be kept."""
