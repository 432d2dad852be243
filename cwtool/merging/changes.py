"""A model without what it shares with its base: the form in which a part of a merge travels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cwtool.algorithms.merging.base import Merging, Part
from cwtool.algorithms.merging.merged_classes import new_state
from cwtool.algorithms.merging.merged_columns import RANGE, ColumnsMerger, Flags, places_of
from cwtool.algorithms.multiclass.one_vs_rest import States
from cwtool.data.rows import Ints
from cwtool.model import Model


def changes(model: Model, base: Model) -> Model:
    """The model without the features whose columns are those of the base in bits. Merging it gives
    what merging the whole model gives, and a file of it is loaded into little memory; it is of no
    other use. Learners that keep more than columns stay as they are."""
    merging, state = model.algorithm.merging, model.state
    columns = isinstance(merging, Merging) and issubclass(merging.kind, ColumnsMerger)
    if not columns or isinstance(state, States):
        return model
    ids, slots = state.index.ids_and_slots()
    known = base.index.ids_and_slots()
    starts = range(0, len(ids), RANGE)
    kept = [_differs(model, base, ids[k : k + RANGE], slots[k : k + RANGE], known) for k in starts]
    there = np.concatenate([np.empty(0, dtype=bool), *kept])
    light = new_state(model.learner, model.labels.several, small=True)
    to = light.slots_of(ids[there])
    for mine, theirs in zip(light.tables, state.tables, strict=True):
        mine[to] = theirs[slots[there]]
    light.numbers |= state.numbers
    light.arrays |= state.arrays
    return replace(model, state=light, index=light.index)


def _differs(model: Model, base: Model, ids: Ints, slots: Ints, known: tuple[Ints, Ints]) -> Flags:
    """Which of these features are new, or have columns other than in the base."""
    low, high = np.searchsorted(known[0], ids[0]), np.searchsorted(known[0], ids[-1], side="right")
    at = places_of(ids, known[0][low:high])
    there = at >= 0
    wide, narrow = (tuple(range(m.state.places)) for m in (model, base))
    now = Part(model.state, places=wide).columns(slots)
    before = np.zeros_like(now)
    old = known[1][low:high][at[there]]
    before[there, :, : len(narrow)] = Part(base.state, places=narrow).columns(old)
    found: Flags = ~there | (now.view(np.int64) != before.view(np.int64)).any(axis=(1, 2))
    return found
