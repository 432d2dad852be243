"""The features that are chosen in subsamples of the rows, which tell how stable a choice is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from cwtool import memory
from cwtool.ahead import ahead
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions, read_all
from cwtool.data.rows import Ints, Rows, joined
from cwtool.data.sources import absolute, read_once
from cwtool.errors import CwtoolError, DataError, UsageError
from cwtool.order import chosen
from cwtool.parallel import opened
from cwtool.records import dataclass
from cwtool.run import no_note
from cwtool.select.choosing import SelectOptions, selections

Chosen = list[Ints]  # for each size the features, ascending


def subsampled(
    paths: Sequence[str],
    files: Sequence[Rows],
    labels: Labels,
    options: SelectOptions,
    class_: int | None = None,
) -> list[Chosen]:
    """For each subsample of the rows: the features chosen for each size. `files` are the rows of
    the paths, of one class against the rest if it is given. On an engine, each process reads the
    files for itself; otherwise threads share the rows."""
    numbers = range(1, options.stability + 1)
    if options.engine.name in ("", "local") and not options.engine.scheduler:
        sharing = replace(options, max_memory=options.max_memory // max(1, options.read.jobs))
        return list(ahead(lambda n: drawn(files, labels, sharing, n), numbers, options.read.jobs))
    if any(map(read_once, paths)):
        raise UsageError("`stability` on an engine reads files more than once, and not streams")
    places = tuple(map(absolute, paths))
    alone = replace(options, warn=no_note, read=replace(options.read, jobs=1))
    items = [Subsample(places, alone, number, class_) for number in numbers]
    found: dict[int, Chosen] = {}
    with opened(options.engine) as engine:
        for number, result in engine.each(_chosen, items, _killed):
            if isinstance(result, CwtoolError):
                raise result
            found[number] = result
    return [found[k] for k in range(len(items))]


def drawn(files: Sequence[Rows], labels: Labels, options: SelectOptions, number: int) -> Chosen:
    """The features selected on one subsample. Rows are drawn by their number in their file."""
    size = int(options.share * sum(rows.nbytes for rows in files))
    left = memory.beside(size, options.max_memory)
    once = replace(options, seed=options.seed + number, max_memory=left)
    taken = [chosen(0, rows.n_rows, options.share, once.seed) for rows in files]
    some = [rows.take(np.flatnonzero(t)) for rows, t in zip(files, taken, strict=True)]
    return [np.sort(found.ids) for found in selections(joined(some), labels, once)]


def against_rest(files: Sequence[Rows], labels: Labels, class_: int) -> tuple[list[Rows], Labels]:
    """The rows and labels of one of several classes against the rest."""
    assert labels.several is not None
    two = Labels.against_rest(labels.several[class_])
    two.negative, two.rest = next(v for v in labels.several if v != two.positive), 2
    return [rows.against(class_) for rows in files], two


@dataclass(frozen=True)
class Subsample:
    """One subsample, with all that a process needs to choose from it."""

    paths: tuple[str, ...]
    options: SelectOptions
    number: int
    class_: int | None


def _chosen(item: Subsample) -> Chosen | CwtoolError:
    try:
        given = item.options.labels
        of_rest = given.positive if given.rest else None
        files, labels = _rows(item.paths, item.options.read, given.multiclass, of_rest)
        if item.class_ is not None:
            files, labels = against_rest(files, labels, item.class_)
        limit = memory.beside_workers(item.options.max_memory)
        left = memory.beside(sum(rows.nbytes for rows in files), limit)
        return drawn(files, labels, replace(item.options, max_memory=left), item.number)
    except CwtoolError as failure:
        return failure


def _killed(item: Subsample) -> Chosen | CwtoolError:
    return DataError(
        f"subsample {item.number} ended its process each time it was tried",
        "memory may be too small: each process holds all rows",
    )


@lru_cache(maxsize=1)
def _rows(
    paths: tuple[str, ...], read: ReadOptions, multiclass: str, positive: float | None
) -> tuple[list[Rows], Labels]:
    """The rows of these files and their labels; each process reads them once."""
    labels = Labels(multiclass=multiclass)
    if positive is not None:
        labels = Labels.against_rest(positive)
    return read_all(paths, labels, read), labels
