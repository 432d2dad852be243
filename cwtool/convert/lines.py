"""The lines of text of a source, whatever it is compressed with."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

from cwtool.convert.row import Row
from cwtool.data.chunk_text import load
from cwtool.data.chunks import chunks_of
from cwtool.data.cutting import Cutting
from cwtool.data.parse import BOM
from cwtool.data.sources import display
from cwtool.errors import DataError

BATCH = 200  # rows that are written together; of more, the garbage collector takes its time


class Lines:
    """The lines of a source with their ends. Bytes that are no UTF-8 are written as in \\xff."""

    def __init__(self, path: str, cutting: Cutting) -> None:
        self.path = path
        self.number = 0  # of the line that was given last, counted from 1
        self.at_hand = 0  # lines that can be given without waiting for a pipe
        self._lines = self._read(cutting)

    def __iter__(self) -> Iterator[str]:
        return self._lines

    def _read(self, cutting: Cutting) -> Iterator[str]:
        for chunk in chunks_of(self.path, cutting, prompt=True):
            text, start, stop, _ = load(chunk)
            data = text[start:stop].tobytes()
            if chunk.first:
                if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
                    raise DataError(
                        f"{display(self.path)}: the text is UTF-16", "convert it to UTF-8: iconv"
                    )
                data = data.removeprefix(BOM)
            found = list(io.StringIO(data.decode("utf-8", "backslashreplace"), newline="\n"))
            self.at_hand = len(found)
            for line in found:
                self.number += 1
                self.at_hand -= 1
                yield line


def batches(rows: Iterable[Row | None], lines: Lines) -> Iterator[list[Row]]:
    """Rows in lists that end where waiting for the next line might begin; None is no row."""
    batch: list[Row] = []
    for row in rows:
        if row is not None:
            batch.append(row)
        if len(batch) >= BATCH or (lines.at_hand == 0 and batch):
            yield batch
            batch = []
    if batch:
        yield batch
