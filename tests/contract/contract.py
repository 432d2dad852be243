"""What the contract tests share: variants of all algorithms, planted rows, and learning them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Any, TypeVar

import numpy as np
import pytest

from cwtool import registry
from cwtool.algorithms.base import Algorithm, Batch
from cwtool.data.rows import Origin, Rows
from cwtool.data.spool import Spool
from cwtool.model import Model, packing
from cwtool.run import Run

BORDER = 1 << 22  # ids below are their own slot, ids above are hashed
LAST = 2**31 - 2  # the largest id of a file

R = TypeVar("R", bound=Rows)


@dataclass(frozen=True)
class Variant:
    """An algorithm with some parameters."""

    algo: str
    label: str
    given: dict[str, Any] = field(hash=False)

    def new(self, **more: Any) -> Model:
        """An untrained model."""
        return Model.new(self.algo, {**self.given, **more})

    @cached_property
    def algorithm(self) -> Algorithm:
        return self.new().algorithm

    def __str__(self) -> str:
        return f"{self.algo} {self.label}".strip()


VARIANTS = [
    Variant(algo, label, given)
    for algo in registry.names()
    for label, given in registry.algorithm(algo).variants.items()
]
BATCH = {v for v in VARIANTS if isinstance(v.algorithm, Batch)}
ONLINE = [v for v in VARIANTS if v not in BATCH]  # they learn single rows

FIRST = list({v.algo: v for v in reversed(VARIANTS)}.values())[::-1]  # one of each algorithm


def each(variants: Iterable[Variant]) -> Any:
    """A test for each of these variants; `make test` runs that of the first of each algorithm, and
    `make test-slow` those of all others."""
    rest = [pytest.mark.slow]
    return pytest.mark.parametrize(
        "variant", [pytest.param(v, id=str(v), marks=[] if v in FIRST else rest) for v in variants]
    )


every = each(VARIANTS)
online = each(ONLINE)


def few(variant: Variant, n_rows: int) -> int:
    """Fewer rows for batch learners: they are slower, and know of no 1,000th row."""
    return -(-n_rows // 6) if variant in BATCH else n_rows


def those(protocol: Any) -> Any:
    """All variants that have a capability."""
    return each(v for v in VARIANTS if isinstance(v.algorithm, protocol))


def frozen(rows: R) -> R:
    """The same rows with arrays that are read-only, so that writing to them is an error."""
    for part in fields(rows):
        array = getattr(rows, part.name)
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return rows


@cache
def planted(
    seed: int, n_rows: int, first: int = 0, width: int = 30, entries: int = 8, noise: float = 0.1
) -> Rows:
    """Rows over the ids first .. first + width - 1, labelled by a plane that depends on the ids
    alone. `noise` is a share of the spread of the distances to the plane. The first two rows have
    one class each."""
    draw = np.random.default_rng(seed)
    lengths = draw.integers(1, min(entries, width) + 1, n_rows)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    places = np.argsort(draw.random((n_rows, width)), axis=1)
    picked = [np.sort(row[:k]) for row, k in zip(places, lengths.tolist(), strict=True)]
    ids = np.concatenate(picked) + first
    values = np.round(draw.uniform(-2, 2, len(ids)), 3)
    values[values == 0] = 1
    plane = (ids * 2654435761 >> 8) % 201 - 100
    score = np.add.reduceat(values * plane, indptr[:-1])
    score += draw.normal(0, noise * score.std(), n_rows)
    y = (score > 0).astype(np.int32)
    y[:2] = [0, 1][:n_rows]
    return frozen(Rows(indptr.astype(np.int64), ids.astype(np.int32), values, y))


@cache
def easy(seed: int, n_rows: int) -> Rows:
    """Rows with 3 of 10 features that only their class has, class 0 the ids 0 .. 9 and class 1 the
    ids 10 .. 19, and 3 of the ids 20 .. 29, which say nothing."""
    draw = np.random.default_rng(seed)
    y = np.arange(n_rows, dtype=np.int32) % 2
    own, other = (np.argsort(draw.random((n_rows, 10)))[:, :3] for _ in range(2))
    ids = np.hstack([np.sort(own) + 10 * y[:, None], np.sort(other) + 20])
    values = np.hstack([draw.uniform(0.5, 1.5, own.shape), draw.uniform(-1, 1, other.shape)])
    indptr = np.arange(0, ids.size + 1, 6, dtype=np.int64)
    return frozen(Rows(indptr, ids.astype(np.int32).ravel(), values.ravel(), y))


def with_constant(rows: Rows, id_: int) -> Rows:
    """The same rows with a last feature that is always 1."""
    ends = rows.indptr[1:]
    return frozen(
        replace(
            rows,
            indptr=rows.indptr + np.arange(rows.n_rows + 1),
            indices=np.insert(rows.indices, ends, id_),
            values=np.insert(rows.values, ends, 1.0),
        )
    )


def written(text: str) -> Rows:
    """A few rows from text like "+ 1:2 3:0.5\n- 2:1", with 0-based ids."""
    lines = [line.split() for line in text.splitlines()]
    pairs = [[(int(j), float(x)) for j, x in (c.split(":") for c in row)] for _, *row in lines]
    return frozen(Rows.from_lists(pairs, [int(label == "+") for label, *_ in lines]))


def shifted(rows: Rows, by: int) -> Rows:
    """The same rows with other ids."""
    return frozen(replace(rows, indices=(rows.indices.astype(np.int64) + by).astype(np.int32)))


def blocks(files: tuple[Rows, ...], size: int) -> Iterator[tuple[Rows, Origin]]:
    """The files in blocks of this number of rows; 0 makes each file one block."""
    for number, rows in enumerate(files):
        for start in range(0, rows.n_rows, size or max(1, rows.n_rows)):
            stop = min(rows.n_rows, start + (size or rows.n_rows))
            lines = np.arange(stop - start, dtype=np.int32)
            yield frozen(rows.slice(start, stop)), Origin(str(number), number, start, lines)


def learned(model: Model, *files: Rows, run: Run | None = None, block: int = 0) -> Model:
    """The model after learning these files, in blocks of `block` rows."""
    run = run or Run()
    for rows, _ in model.portions(blocks(files, block), run):
        model.learn(frozen(rows), run)
    return model


def revisited(model: Model, rows: Rows, run: Run, passes: int = 2) -> Model:
    """The model after this number of further passes over rows that it has learned."""
    kept = Spool()
    kept.add(rows)
    for pass_ in range(2, passes + 2):
        for part, order, _ in kept.shuffled(run.seed, pass_):
            order.flags.writeable = False
            model.relearn(frozen(part), order, run)
    return model


def essence(model: Model) -> tuple[str, dict[str, tuple[str, tuple[int, ...], bytes]]]:
    """All that a model file would hold, for comparison by ==."""
    header, arrays = packing.pack(model)
    return json.dumps(header), {k: (a.dtype.str, a.shape, a.tobytes()) for k, a in arrays.items()}


def scores(model: Model, *parts: Rows) -> bytes:
    """The scores and variances of all rows, to the bit."""
    found = [model.scores(rows) for rows in parts]
    return b"".join(np.concatenate(a).tobytes() for a in zip(*(f[:2] for f in found), strict=True))


def finite(model: Model) -> bool:
    """Whether the model, and what it shows, has neither nan nor inf."""
    _, arrays = packing.pack(model)
    weights = model.weights()
    shown = [weights.weight, np.array([weights.intercept])]
    if weights.variance is not None:
        shown.append(weights.variance)
    return all(np.isfinite(a).all() for a in [*arrays.values(), *shown])
