"""What the state of fgm and sbcw keeps of a batch, and what that means for the next one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cwtool.algorithms.selection.group_selection import GroupSelection, Side
from cwtool.algorithms.selection.groups import Groups
from cwtool.algorithms.shards.sharded_columns import AnyColumns
from cwtool.data.rows import Floats
from cwtool.state import State

MEAN, DUAL, PLACE = 0, 1, 2  # columns of the table


class Past(NamedTuple):
    """What earlier batches stored that the next batch needs: row counts, precisions and groups."""

    learned: int  # rows before this batch
    keep: bool  # whether the groups before are taken over
    weight: float  # of the rows of this batch
    # a kept group has X'HX of all batches; a new one multiplies that of this batch by `scale`
    scale: float
    prior: Floats | None  # precision of each column before any rows; None: 1
    priors: bool  # whether the state stores them
    groups: Groups  # of the batches before, which grow with the weight c of this batch

    def precision(self, columns: AnyColumns, place: Floats) -> Floats:
        """The precision that each column would have as a group of its own. The place is 1 + the
        position of a column that an earlier batch has chosen, 0 for others."""
        own = np.ones(len(place)) if self.prior is None else self.prior
        if not self.groups.c:
            return own
        known = np.zeros(len(place))
        if not self.keep:
            chosen = place > 0
            known[chosen] = self.groups.own_squares()[place[chosen].astype(np.int64) - 1]
        found: Floats = own + self.groups.c * (self.scale * columns.squares + known)
        return found


def store(state: State, choice: GroupSelection, side: Side, past: Past) -> None:
    """Put the groups, their weights and their objectives into the state; also the dual variables,
    if the next batch goes on from them."""
    columns, groups, table = choice.columns, choice.groups, state.table
    slots = columns.slots[choice.chosen]
    table[columns.slots[columns.others], MEAN] = table[columns.slots[columns.others], PLACE] = 0
    table[slots, PLACE] = np.arange(1, len(slots) + 1)
    if groups.sizes:
        table[slots, MEAN] = side.found.mu
        if past.keep:
            table[columns.slots, DUAL] += side.products(columns)
    state.arrays |= {
        "sizes": np.array(groups.sizes, dtype=np.int64),
        "gram": groups.gram,
        "sigma": groups.sigma,
        "share": side.groups.share,
        "score": np.array(choice.score, dtype=np.float64),
        "theta": np.array(side.theta, dtype=np.float64),
        "prior": groups.prior if past.priors else np.empty(0),
    }
