"""Portions of rows that a model learns one after the other, with reading and counting beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cwtool.ahead import beside
from cwtool.algorithms.base import Scores
from cwtool.data.rows import Origin, Rows, SlotRows
from cwtool.model.model import Model
from cwtool.model.results import Learned
from cwtool.run import Run


class Met(NamedTuple):
    """Rows whose features and labels the model has met."""

    rows: Rows
    origin: Origin
    by_slot: SlotRows
    parts: list[SlotRows]  # the same, each part with its scale
    classes: int  # that the model has met


def learned(
    model: Model, portions: Iterable[tuple[Rows, Origin]], run: Run
) -> Iterator[tuple[Rows, Origin, Learned]]:
    """Let the model learn each portion, as `Model.learn` does. With several threads, and a learner
    that does not use the feature index, rows are learned in a thread of their own, while the ids of
    the next portions are looked up here and the scores of the last one are counted."""
    if run.jobs == 1 or model.several is None or not model.several.leaves_index:
        for rows, origin in portions:
            yield rows, origin, model.learn(rows, run)
        return

    from threading import Lock

    index_in_use = Lock()

    def met() -> Iterator[Met]:
        for rows, origin in portions:
            with index_in_use:
                by_slot = model.met(rows)
            parts = list(model.scale.observe(by_slot))
            for part in parts:
                _ = part.csr  # checked in this thread, so that the learner need not wait
            yield Met(rows, origin, by_slot, parts, len(model.labels.values))

    def visit(item: Met) -> Scores:
        with index_in_use:
            model.make_room(run, item.classes)
        return model.visit(item.parts, run)

    for item, scores in beside(visit, met()):
        yield item.rows, item.origin, model.count(item.rows, item.by_slot, scores, run)
