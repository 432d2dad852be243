"""Sources -> chunks of whole lines -> parsed in threads -> blocks, in the order of the input.

Memory is a few chunks and blocks, whatever the size of the input.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cwtool import memory
from cwtool.ahead import AHEAD, ahead
from cwtool.data.buffers import Pool
from cwtool.data.chunks import Chunk, Endless, chunks_of
from cwtool.data.cutting import Cutting
from cwtool.data.digest import hexdigest
from cwtool.data.growing import Joining
from cwtool.data.known import RowSample
from cwtool.data.labels import Labels, drained
from cwtool.data.line_parts import doubtful_item, first_item, has_labels, seems_unlabelled
from cwtool.data.parse import Block, Parsed, Reading, parse
from cwtool.data.reports import FileReport, ReadReport, count
from cwtool.data.rowpack import most_comments
from cwtool.data.rows import Origin, Rows
from cwtool.data.sources import display
from cwtool.data.spans import Span
from cwtool.errors import DataError, UsageError
from cwtool.records import dataclass

if TYPE_CHECKING:
    from cwtool.data.keeping import Keeper, Store

R = TypeVar("R")

# Arrays of a block stay below 4 MiB: larger ones get huge pages, which cost more than parsing.
BLOCK_BYTES = 3 << 19
# Blocks of files of rows that may wait: these are made as fast as memory is written, and more would
# not stay in the caches of the processor. With 6 as for text, reading took a quarter longer.
ROWS_AHEAD = 1
# Buffers of files of rows are kept for the next read of such a file, up to these bytes: pages of
# fresh memory took a third of the CPU time of reading one in two threads.
ROWS_POOL, MOST_KEPT = Pool(), 16 << 20


@dataclass(frozen=True)
class ReadOptions:
    """How this run reads."""

    reading: Reading = field(default_factory=Reading)
    max_bad_lines: int = 0
    block_bytes: int = BLOCK_BYTES
    jobs: int = 1
    sampled: bool = False  # whether `FileReport.sample` is filled
    comments: bool = False  # whether blocks have the comments behind their rows
    prompt: bool = False  # whether the lines of pipes come as soon as they were read
    follow: bool = False  # whether files are read on at their ends
    labelled: bool | None = True  # None: told by the first row of each source
    labels: tuple[float, ...] = ()  # that may have a weight, if it is to be told
    max_memory: int = 0  # bytes that rows may take where all are kept; 0: no limit
    store: Store | None = None  # that has parsed rows of files, or takes them
    strict: bool = False  # whether no block takes more memory than `block_bytes` of usual text

    @property
    def cutting(self) -> Cutting:
        """How sources are cut into blocks."""
        return Cutting(self.block_bytes, self.reading.added, self.strict)


def read_blocks(
    paths: Iterable[str | Span],
    options: ReadOptions | None = None,
    report: ReadReport | None = None,
) -> Iterator[Block]:
    """The rows of the sources, block by block, in order. Bad data raises DataError with its place,
    unless no more than `max_bad_lines` lines are bad. The memory of a block is used again as soon
    as nothing refers to its arrays."""
    for block, _ in read_worked(paths, lambda _: True, options, report):
        yield block
        del block


def read_worked(
    paths: Iterable[str | Span],
    work: Callable[[Block], R],
    options: ReadOptions | None = None,
    report: ReadReport | None = None,
) -> Iterator[tuple[Block, R]]:
    """As `read_blocks`, with the result of work(block) for each block, which is not None. The work
    runs in the thread that parses the block, before the position of the block in its source is
    known."""
    report = ReadReport() if report is None else report
    sources = [p if isinstance(p, Span) else os.fspath(p) for p in paths]
    try:
        yield from _read_worked(sources, work, options or ReadOptions(), report)
    except Endless as failure:
        raise report.endless(failure, sources) from None


def _read_worked(
    paths: Sequence[str | Span],
    work: Callable[[Block], R],
    options: ReadOptions,
    report: ReadReport,
) -> Iterator[tuple[Block, R]]:
    report.size = size_of(paths)
    jobs = 1 if len(paths) == 1 and 0 < report.size <= options.block_bytes else options.jobs
    chunks = chain.from_iterable(_chunks(path, options) for path in paths)
    sources = iter(paths)
    current: FileReport | None = None
    keeper: Keeper | None = None

    def parsed_and_worked(chunk: Chunk) -> tuple[Parsed, R | None]:
        found = parse(chunk, options.reading, pool, comments=comments)
        return found, work(found.block) if found.block.n_rows else None

    first = list(islice(chunks, 1))
    rows_file = any(chunk.frame is not None for chunk in first)
    pool = ROWS_POOL if rows_file else Pool()
    waiting = ROWS_AHEAD if rows_file else AHEAD
    comments = most_comments(options.max_memory, jobs + waiting) if options.comments else 0
    endless = options.follow or report.size == 0
    try:
        for parsed, result in ahead(
            parsed_and_worked, chain(drained(first), chunks), jobs, waiting, endless=endless
        ):
            if current is None:
                current = FileReport.of(next(sources))
                if parsed.chunk.sample is not None:
                    current.sample = parsed.chunk.sample
                if parsed.chunk.frame is None and parsed.chunk.labelled:
                    head = parsed.chunk.head()
                    current.doubtful = doubtful_item(head)
                    current.unlabelled = options.sampled and seems_unlabelled(head)
                report.files.append(current)
            block = _placed(parsed.block, len(report.files) - 1, current)
            count(parsed, current, report, options.max_bad_lines)
            keeper = parsed.chunk.keeper
            if keeper is not None:
                keeper.add(parsed.packed)
            if parsed.chunk.last:
                _finish(current, parsed.chunk)
                current = keeper = None
            del parsed  # the block is the only one to look at its arrays
            if result is not None:
                yield block, result
            del block, result
    finally:
        if keeper is not None:
            keeper.abandon()
        if rows_file:
            pool.trim(MOST_KEPT)


def _finish(read: FileReport, chunk: Chunk) -> None:
    """Close the report of a source at its last chunk."""
    read.digest = hexdigest(bytes(read.cells))
    read.stored = hexdigest(bytes(read.stored_cells)) if read.stored_cells else ""
    if chunk.frame is not None and chunk.closing is not None:
        counts = chunk.closing.rows, chunk.closing.lines, chunk.closing.qids
        if counts != (read.rows, read.lines, read.qids):
            from cwtool.data.rowfile import damaged

            raise damaged(chunk.frame.file, "frames are missing")
    if chunk.keeper is not None:
        chunk.keeper.finish(
            bytes(read.cells), bytes(read.stored_cells), read.rows, read.lines, read.qids,
            whole=read.bad_lines == 0,
        )  # fmt: skip


def _chunks(path: str | Span, options: ReadOptions) -> Iterator[Chunk]:
    """The chunks of a source, with the sample of its rows, and marked if these have no labels."""
    labelled, keeper, longest = options.labelled is not False, None, options.cutting.longest
    sample = RowSample() if options.sampled else None
    entry = found = None
    if options.store is not None and isinstance(path, str) and labelled and not options.follow:
        entry = options.store.entry(path, options.reading.zero_based)
    if entry is not None:
        found = entry.chunks(options.labelled, options.labels)
    kept = found is not None
    for chunk in found or chunks_of(
        path, options.cutting, prompt=options.prompt, follow=options.follow
    ):
        if chunk.first and not kept:
            item = first_item(chunk.head()) if chunk.frame is None else b""
            if options.labelled is None:
                labelled = has_labels(item, options.labels)
            if entry is not None and labelled:
                keeper = entry.keeper(item)
        chunk.labelled, chunk.sample, chunk.keeper = labelled, sample, keeper
        chunk.longest = longest
        yield chunk
        del chunk  # its text is not kept while more is read


def _placed(block: Block, file: int, read: FileReport) -> Block:
    """The block with its place among all lines of all files."""
    origin = Origin(read.name, file, read.lines + 1, block.origin.lines, read.span)
    return Block(
        block.indptr, block.indices, block.values, block.labels, origin, block.weight,
        block.comments,
    )  # fmt: skip


def read_all(paths: Iterable[str], labels: Labels, options: ReadOptions) -> list[Rows]:
    """All rows in memory, those of each file as one."""
    files: dict[int, Joining] = {}
    for rows, origin in _kept(paths, labels, options):
        files.setdefault(origin.file, Joining()).add(rows)
    return [rows.rows() for rows in files.values()]


def read_joined(paths: Iterable[str], labels: Labels, options: ReadOptions) -> Rows:
    """All rows in memory, those of all files as one."""
    found = Joining()
    for rows, _ in _kept(paths, labels, options):
        found.add(rows)
    return found.rows()


def _kept(
    paths: Iterable[str], labels: Labels, options: ReadOptions
) -> Iterator[tuple[Rows, Origin]]:
    """The rows of these files in memory; an error if they need more than the memory that is
    allowed."""
    limited, held = options.max_memory or memory.BOUNDS.limit, 0
    for rows, origin in labels.rows_of(_present(paths, options)):
        held += rows.nbytes
        if limited and held > memory.of_process(options.max_memory):
            raise UsageError(
                f"{origin.source}: all rows are kept in memory; the first of them need "
                f"{memory.words(held)}, and "
                f"{memory.may_be_used(memory.of_process(options.max_memory))}",
                "give fewer rows, or raise `max_memory`",
            )
        yield rows, origin
        del rows, origin


def _present(paths: Iterable[str], options: ReadOptions) -> Iterator[Block]:
    """The blocks of these files; an error if there is none."""
    paths = [os.fspath(p) for p in paths]
    empty = True
    for block in read_blocks(paths, options):
        empty = False
        yield block
        del block
    if empty:
        raise DataError(f"{', '.join(map(display, paths))}: no rows")


def size_of(paths: Sequence[str | Span]) -> int:
    """The total size of the files in bytes; 0 if it is not known."""
    try:
        sizes = [
            p.stop - p.start
            if isinstance(p, Span) and p.stop is not None
            else Path(p.path if isinstance(p, Span) else p).stat().st_size
            for p in paths
        ]
    except OSError:
        return 0
    return sum(sizes) if all(sizes) else 0
