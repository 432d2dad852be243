"""Portions of rows that a model learns one after the other, with reading and counting beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cwtool.ahead import beside
from cwtool.algorithms.base import Scores
from cwtool.data.rows import Origin, Rows, SlotRows
from cwtool.model.model import Model
from cwtool.model.results import Learned
from cwtool.run import Run


def learned(
    model: Model, portions: Iterable[tuple[Rows, Origin]], run: Run
) -> Iterator[tuple[Rows, Origin, Learned]]:
    """Let the model learn each portion, as `Model.learn` does. With several threads, and a learner
    that does not use the feature index, rows are learned in a thread of their own, while the ids of
    the next portion are looked up here and the scores of the last one are counted."""
    if run.jobs == 1 or model.several is None or not model.several.leaves_index:
        for rows, origin in portions:
            yield rows, origin, model.learn(rows, run)
        return

    from threading import Lock

    index_in_use = Lock()

    def met() -> Iterator[tuple[Rows, Origin, SlotRows, int]]:
        for rows, origin in portions:
            with index_in_use:
                by_slot = model.met(rows)
            yield rows, origin, by_slot, len(model.labels.values)

    def visit(item: tuple[Rows, Origin, SlotRows, int]) -> Scores:
        with index_in_use:
            model.make_room(run, item[3])
        return model.visit(item[2], run)

    for (rows, origin, by_slot, _), scores in beside(visit, met()):
        yield rows, origin, model.count(rows, by_slot, scores, run)
