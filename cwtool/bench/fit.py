"""Training on rows in memory, and cross-validation on them."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np

from cwtool.data import Block, Reading
from cwtool.data.block import Floats, Longs
from cwtool.data.timeslots import time_slots
from cwtool.errors import DataError
from cwtool.metrics import Tally
from cwtool.model import Model
from cwtool.order import permutation


def fit(
    algo: str,
    params: dict[str, Any],
    rows: Block,
    order: Longs,
    *,
    seed: int = 0,
    passes: int = 1,
    max_memory: int = 0,
) -> tuple[Model, float]:
    """A model of these rows, first visited in this order, later in random ones; CPU seconds of
    learning. Learners of time slots visit them as often as they need, whatever `passes` says."""
    model = Model.new(algo, params, Reading())
    model.algorithm.seed, model.algorithm.max_memory = seed, max_memory
    block = rows.take(order)
    started = process_time()
    slot_rows = model.algorithm.slot_rows
    for portion in [block] if slot_rows is None else time_slots([block], slot_rows, max_memory):
        learn(model, portion)
    for pass_ in range(2, passes + 1 if slot_rows is None else 2):
        block.scale = model.scale.value
        model.algorithm.relearn(block, model.state, permutation(block.n_rows, seed, pass_))
    return model, process_time() - started


def learn(model: Model, block: Block) -> None:
    """One visit; the ids of the block become slots."""
    model.state.features.observe(block)
    for part in model.scale.split(block):
        model.algorithm.learn(part, model.state, part.order)


def evaluate(model: Model, rows: Block) -> dict[str, Any]:
    """All metrics of a model on rows, which stay as they are."""
    tally = Tally()
    tally.add(rows.y, model.scores(rows.take(rows.order))[0].score)
    return tally.summary()


def folds(y: Floats, n: int, seed: int = 0) -> Iterator[tuple[Longs, Longs]]:
    """Rows to learn and rows to check, n times; each row is checked once, each class spread
    evenly, rows in their order. Depends on y and the seed alone."""
    rarer = int(min((y > 0).sum(), (y <= 0).sum()))
    if rarer < n:
        raise DataError(f"{n} folds need {n} rows of each class; one class has {rarer}")
    mixed = permutation(len(y), seed)
    spread = mixed[np.argsort(y[mixed] > 0, kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[spread] = np.arange(len(y)) % n
    for k in range(n):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def cross_validate(
    algo: str,
    params: dict[str, Any],
    rows: Block,
    n: int,
    *,
    seed: int = 0,
    shuffled: bool = True,
    **how: int,
) -> dict[str, list[Any]]:
    """For each fold, what a model of the others, learned in this way, gets on it."""
    found = []
    for learned, checked in folds(rows.y, n, seed):
        order = learned[permutation(len(learned), seed, 0)] if shuffled else learned
        model, _ = fit(algo, params, rows, order, seed=seed, **how)
        found.append(evaluate(model, rows.take(checked)))
    return {name: [one[name] for one in found] for name in ("error", "auc", "f1")}
