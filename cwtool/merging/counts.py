"""What a model keeps beside the state of its algorithm, from several models: counts of scores, the
calibration of probabilities, and what is known of the rows. Counts are whole numbers, so that their
sums do not depend on the order of the models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cwtool.data.known import RowSample
from cwtool.data.rows import Ints, Rows
from cwtool.metrics.calibration import Calibration, fadings
from cwtool.metrics.confusion import Confusion
from cwtool.metrics.softmax import Ring, room
from cwtool.metrics.tally import Counts, Tally
from cwtool.model import Model
from cwtool.model.sample import Sample


def put(model: Model, models: Sequence[Model], base: Model | None) -> None:
    """Put what was counted by the base, and by the models since then, into a new model."""
    olds = [base] if base is not None else []
    model.known = RowSample()
    for one in (*olds, *models):
        model.known += one.known
    model.class_weight.counts = _class_counts(model, models, base)
    if model.several is None:
        model.progress = _sum(Tally(), [m.progress for m in models], base and base.progress)
        model.of_batches = _judged(
            [m.of_batches for m in models], None if base is None else base.of_batches
        )
        model.calibration = calibration([m.calibration for m in models], base and base.calibration)
    else:
        model.progress = _confusion(model, models, base)
        model.calibration = _ring(model, models, base)
    model.sample = _sample(model, models, base)


def _sum(start: Any, parts: Sequence[Any], base: Any) -> Any:
    """All that the base has counted, and each part since then."""
    total = start if base is None else start + base
    for part in parts:
        total = total + (part if base is None else part - base)
    return total


def _judged(parts: Sequence[Tally], base: Tally | None) -> Tally:
    """The scores that thresholds are found from. Those of a base that had predicted no batch are
    left out as soon as a part has predicted one, which then has only its own."""
    if base is None or all(((part - base).scores >= 0).all() for part in parts):
        total: Tally = _sum(Tally(), parts, base)
        return total
    own: Tally = _sum(Tally(), [p for p in parts if ((p - base).scores < 0).any()], None)
    return own


def _class_counts(model: Model, models: Sequence[Model], base: Model | None) -> list[int]:
    """The rows of each class that were learned, for balanced class weights."""
    values = list(model.labels.values)
    total = np.zeros(len(values), dtype=np.int64)
    for one, sign in _signed(models, base):
        for k, count in enumerate(one.class_weight.counts):
            label = one.labels.values[k]
            total[k if one.several is None else values.index(label)] += sign * count
    return total.tolist() if any(one.class_weight.counts for one in models) else []


def _signed(models: Sequence[Model], base: Model | None) -> list[tuple[Model, int]]:
    """The models, and the base as often as makes the sum of all count it once."""
    return [(m, 1) for m in models] + ([(base, 1 - len(models))] if base is not None else [])


# -- two classes ----------------------------------------------------------------------------------


def calibration(parts: Sequence[Any], base: Any) -> Calibration:
    """rows += those of the parts. The counts of the base, faded by all these rows, and what each
    part has counted since the base."""
    start = Calibration() if base is None else base
    rows = start.rows + sum(part.rows - start.rows for part in parts)

    def merged(counts: Callable[[Calibration], Counts]) -> Counts:
        total = counts(start) >> fadings(start.rows, rows)
        for part in parts:
            old = counts(start) >> fadings(start.rows, part.rows)
            total = total + np.maximum(counts(part) - old, 0)  # rounding may be by one 2^-20th
        return total

    found = Calibration(merged(lambda one: one.counts), rows)
    if any(one.plain is not None for one in (start, *parts)):
        found.plain = merged(lambda one: one.counts if one.plain is None else one.plain)
    return found


def _sample(model: Model, models: Sequence[Model], base: Model | None) -> Sample:
    """The rows of the base and then of each model that are of ranks below all bounds: a sample of
    all rows, with classes in the order of the merge."""
    merged = Sample()
    before = Sample() if base is None else base.sample
    rows, rank = before.kept() if base is None else _kept(base, model)
    parts = [_kept(one, model) for one in models]
    merged.bound = min([before.bound, *(one.sample.bound for one in models)])
    merged.seen = before.seen
    merged.extend(rows, rank)
    for one, (some, ranks) in zip(models, parts, strict=True):
        old = min(int(np.count_nonzero(rank < one.sample.bound)), some.n_rows)  # of the base
        merged.extend(some.slice(old, some.n_rows), ranks[old:])
        merged.seen += max(one.sample.seen - before.seen, 0)
    return merged


def _kept(one: Model, merged: Model) -> tuple[Rows, Ints]:
    """The rows of the sample of a model, with the class numbers of the merge, and their ranks."""
    rows, rank = one.sample.kept()
    if one.several is not None:
        to = np.array(_numbers(one, merged.labels.several or []), dtype=np.int32)
        rows = replace(rows, y=to[rows.y])
    return rows, rank


# -- several classes ------------------------------------------------------------------------------


def _numbers(one: Model, labels: list[float]) -> list[int]:
    """The number in the merge of each class of a model."""
    return [labels.index(label) for label in one.labels.several or []]


def _confusion(model: Model, models: Sequence[Model], base: Model | None) -> Confusion:
    """The sum of the matrices, with classes in the order of the merge."""
    labels = model.labels.several
    assert labels is not None

    def moved(one: Model) -> Confusion:
        assert isinstance(one.progress, Confusion)
        return one.progress.moved(labels)

    total: Confusion = _sum(Confusion(labels), [moved(m) for m in models], base and moved(base))
    return total


def _ring(model: Model, models: Sequence[Model], base: Model | None) -> Ring:
    """The latest scores of the base and then of each model, all models with an equal share."""
    labels = model.labels.several
    assert labels is not None
    merged, before = Ring(), 0
    share = max(room(len(labels)) // len(models), 1)
    for one in [base, *models] if base is not None else models:
        ring = one.calibration
        assert isinstance(ring, Ring)
        new = ring.rows - (0 if one is base else before)
        kept = min(new, len(ring.z), len(ring.z) if one is base else share)
        latest = slice(len(ring.z) - kept, None)
        to = _numbers(one, labels)
        z = np.full((kept, len(labels)), -np.inf)
        z[:, to[: ring.z.shape[1]]] = ring.z[latest]
        merged.extend(z, np.array(to, dtype=np.int32)[ring.y[latest]], ring.weight[latest])
        merged.rows += new - kept
        before = ring.rows if one is base else before
    return merged
