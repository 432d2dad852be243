"""Estimate of the bytes that a model takes in memory, made from the size, the header and the
feature ids of its file before the rest of the file is read."""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from cwtool import memory
from cwtool.algorithms.merging.merged_columns import RANGE, union
from cwtool.data.growing import HUGE_PAGE
from cwtool.data.rows import Ints
from cwtool.errors import Damage, ModelError
from cwtool.model import file
from cwtool.state.checking import ascending
from cwtool.state.index import direct_for
from cwtool.state.state import FEW, ID

PLACES = 4  # of a column of several classes there is a multiple
HASHED = 24  # bytes of a feature that is not its own slot: its key and its buckets, at most
TABLES = 3  # of a state, at most
COPIES = 12  # of the columns of a range of features, while they are merged
CHECKED = 10  # bytes of a feature while a file is checked: its slot, twice, and whether it is good


class MemoryEstimate:
    """A model file of which nothing is verified yet."""

    def __init__(self, path: Path) -> None:
        self.size = path.stat().st_size
        self.ids: Ints = np.empty(0, dtype=np.int32)
        self.others = 0  # bytes of all that has no value for each feature
        places: Counter[str] = Counter()  # of each column
        parts: Counter[str] = Counter()  # one against the rest: columns of each
        for one in file.array_places(path):
            if one.name == "ids" and one.at + one.n_bytes <= self.size:
                self.ids = np.fromfile(path, "<i4", one.n_bytes // ID, offset=one.at)
                if self.ids.min(initial=0) < 0:
                    raise Damage("an id of its features is negative")
            elif "feature." not in one.name:
                self.others += one.n_bytes
            elif not one.name.endswith(".at"):
                places[one.name.rstrip("0123456789.")] += 1
                parts[one.name.partition("feature.")[0]] += 1
        self.tables = sum(min(n, TABLES) for n in parts.values())  # at most
        self.classes = max(1, len(parts) - 1, *places.values())  # that have a column, at most
        self.row = 8 * sum(n if n == 1 else -(-n // PLACES) * PLACES for n in places.values())

    def bytes_with(self, ids: Ints) -> int:
        """Bytes of the model in memory, if it had these features."""
        direct = direct_for(ids, max(1, self.row)) if ascending(ids) else 0
        own = int(np.searchsorted(ids, direct)) if direct else 0
        hashed = len(ids) - own
        reach = hashed + (int(ids[own - 1]) + 1 if own else 0)
        page = HUGE_PAGE if len(ids) > FEW else mmap.PAGESIZE
        tables = min(reach * self.row, len(ids) * max(page, self.row))
        rest = self.tables * HUGE_PAGE if direct and len(ids) > FEW else 0  # of the last pages
        return tables + rest + HASHED * hashed + self.others

    @cached_property
    def kept(self) -> int:
        """Bytes of the model in memory."""
        return self.bytes_with(self.ids)

    @property
    def shown(self) -> int:
        """Bytes of the weights and variances of a feature, at most."""
        return min(self.row, 16 * self.classes)

    @property
    def read(self) -> int:
        """Bytes that are used besides while the file is read."""
        return self.size + CHECKED * len(self.ids)


def estimates(paths: Sequence[Path]) -> list[MemoryEstimate]:
    """The estimates of the files, but for those that cannot be loaded, which says why."""
    found = []
    for path in paths:
        try:
            found += [MemoryEstimate(path)] if path.is_file() else []
        except (Damage, ModelError, OSError):
            continue
    return found


def no_work(model: MemoryEstimate) -> int:
    return 0


def check_load(
    path: Path, max_memory: int, work: Callable[[MemoryEstimate], int] = no_work
) -> None:
    """Refuse a model that would take more than may be used while it is loaded, or afterwards with
    the bytes of the `work` that is done with it; `max_memory` 0: no limit."""
    if not max_memory and not memory.BOUNDS.limit:
        return
    for one in estimates([path]):
        memory.check(
            f"{path} with its {len(one.ids):,} features",
            one.kept + max(one.read, work(one)),
            max_memory,
            "use a model with fewer features, such as one trained with `hash_bits`",
        )


def check_merge(models: Sequence[Path], base: Path | None, max_memory: int, jobs: int = 1) -> None:
    """The same of models to be merged in `jobs` threads. All of them are in memory while the last
    file is read and while the merge, which has the features of all, is made; when it is saved, they
    are gone."""
    found = estimates([*models, *([base] if base is not None else [])]) if max_memory else []
    if not found:
        return
    kept, ids = sum(one.kept for one in found), union([one.ids for one in found])
    merged = max(one.bytes_with(ids) for one in found)
    row, features = max(one.row for one in found), sum(len(one.ids) for one in found)
    work = ID * (features + 2 * len(ids)) + jobs * COPIES * row * min(RANGE, len(ids))
    saved = (row + ID) * len(ids)
    memory.check(
        f"a merge of {len(models)} models with {len(ids):,} features in all",
        max(kept + max(one.read for one in found), kept + merged + work, merged + saved),
        max_memory,
        "merge two models at a time, or models trained with `hash_bits`",
    )
