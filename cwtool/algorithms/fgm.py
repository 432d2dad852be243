"""Feature generating machine: a sparse SVM over groups of features that are chosen one group after
the other (Tan et al. 2016, Algorithm 2 with Sigma = I).

s = X'(b y);  the r features with the largest s_j^2 that are not chosen yet become a group;  all
groups are learned together, from the dual variables b before;  and so on until p are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cwtool import memory
from cwtool.algorithms.base import Chosen, Coefficients, Scores, Variants
from cwtool.algorithms.batch import BATCHES, BatchParams, LinearBatchLearner, weights
from cwtool.algorithms.groups import Groups
from cwtool.algorithms.growth import Growth, row_order
from cwtool.algorithms.inverted import Columns
from cwtool.data.rows import Floats, Ints, Longs, SlotRows
from cwtool.errors import UsageError
from cwtool.params import param
from cwtool.run import Run
from cwtool.state import Array, Column, Layout, Number, State
from cwtool_ext import sbcw as kernel

MEAN, DUAL, PLACE = 0, 1, 2  # columns of the table


@dataclass(frozen=True)
class FgmParams(BatchParams):
    features: int = param(100, "Number p of features to choose.", low=1)
    group_size: int = param(
        0,
        "Number r of features that are chosen together as a group; 0 takes `features` / "
        "`iterations`, rounded up.",
        low=0,
        formerly=("block",),
    )
    iterations: int = param(
        15, "Number of groups to choose; applies only if `group_size` is 0.", low=1
    )
    C: float = param(
        100.0,
        "Weight C of the training loss against the regularizer, for rows of length 1. Larger "
        "values fit the training rows more closely.",
        above=0,
    )
    loss: str = param(
        "squared-hinge",
        "Loss of a margin error xi: hinge is C xi, squared-hinge is C/2 xi^2.",
        choices=("hinge", "squared-hinge"),
    )
    sigma: float = param(
        0.0,
        "Weight sigma of the sum of squared group norms, which is added to the squared sum of "
        "group norms. It makes the dual smooth, and spreads the weight over more groups.",
        low=0,
    )
    solver: str = param(
        "mm",
        "Method for learning the groups: mm gives each group a metric that is improved after each "
        "pass; exact makes the best possible step for each row and needs `sigma` above 0; printed "
        "makes one pass from zero after each new group, as in the paper.",
        choices=("mm", "exact", "printed"),
    )
    group_passes: int = param(
        2, "Number of passes over the rows after each new group.", low=1, formerly=("sweeps",)
    )
    final_passes: int = param(
        20,
        "Largest number of further passes over the rows when all groups are chosen.",
        low=0,
        formerly=("final_sweeps",),
    )
    tol: float = param(
        1e-3, "Make no more passes when the relative duality gap is at most this.", low=0
    )
    change: float = param(
        0.0,
        "Choose no more groups when a new group changes the objective relatively less than this; "
        "0 always chooses all. Use it with many `group_passes`, so that the objective is exact.",
        low=0,
    )
    shuffle: bool = param(True, "Visit the rows in a new random order in each pass.")
    carry: str = param(
        "keep",
        "What a batch starts from: keep takes over the groups and dual variables of earlier "
        "batches; restart chooses all features again, and takes over only the precision of those "
        "that are chosen again.",
        choices=("keep", "restart"),
    )

    @property
    def width(self) -> int:
        """r, the number of features of a group."""
        return min(self.features, self.group_size or -(-self.features // self.iterations))


class FGM(LinearBatchLearner):
    name = "fgm"
    summary = "feature generating machine: sparse SVM over groups of features"
    Params = FgmParams
    variants: ClassVar[Variants] = {
        **LinearBatchLearner.variants,
        "exact": {"solver": "exact", "sigma": 0.1, "group_size": 5},
        "printed": {"solver": "printed", "features": 28, "group_size": 14, "sigma": 1.0},
        "restart": {"carry": "restart", "batch_rows": 200},
    }
    takes_weights = True

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        if params.solver == "exact" and params.sigma == 0 and params.width < params.features:
            raise UsageError("`solver=exact` needs `sigma` above 0", "use `solver=mm`")

    @property
    def layout(self) -> Layout:
        width = self.params.width
        return Layout(
            # mu; s = sum of b_i y_i x_i of all batches; 1 + position among the chosen, 0 for others
            tables=((Column("mean"), Column("dual"), Column("place")),),
            # rows learned so far, and by how much the sum of their weights is more than that
            numbers=(BATCHES, Number("learned"), Number("surplus", 0.0)),
            arrays=(
                Array("sizes", "<i8"),  # see Groups
                Array("gram", shape=(0, width)),
                Array("sigma", shape=(0, width)),
                Array("share"),
                Array("score"),  # of each chosen feature, by position
                Array("theta"),  # objective after each group of the last batch
            ),
        )

    @property
    def c(self) -> float:
        """The weight of X'HX in the precision of a group."""
        return 0.0

    def score(self, past: Floats, v: Floats, columns: Columns, K: int) -> Floats:
        """s_j^2 of each column, s = past + X'v. v are the dual variables times the signs of the
        rows, K is the number of groups with the new one."""
        squares: Floats = (past + columns.x.products(v)) ** 2
        return squares

    def groups(self, state: State) -> Groups:
        """A copy of the groups in the state."""
        a = state.arrays
        kept = (a[name].copy() for name in ("gram", "sigma", "share"))
        return Groups(self.c, self.params.width, a["sizes"].tolist(), *kept)

    def chosen(self, state: State) -> Ints:
        """The slots of the chosen features, by position."""
        slots = state.index.ids_and_slots()[1]
        place = state.table[slots, PLACE]
        chosen: Ints = slots[place > 0]
        return chosen[np.argsort(place[place > 0])]

    def learn_batch(
        self, states: Sequence[State], classes: Sequence[int], rows: SlotRows, v: Floats, run: Run
    ) -> None:
        for state, class_ in zip(states, classes, strict=True):
            self._learn_class(state, rows.against(class_), run)

    def _learn_class(self, state: State, rows: SlotRows, run: Run) -> None:
        self._check_memory(rows, run)
        p, table, before = self.params, state.table, self.chosen(state)
        columns, old = Columns(rows, state.index, before), self.groups(state)
        learned, keep = int(state.numbers["learned"]), p.carry == "keep"
        growth = Growth(
            p, columns, rows.signs(), table[columns.slots, DUAL],
            old if keep else Groups.empty(self.c, p.width),
            row_order(rows, run.seed, learned, shuffle=p.shuffle),
        )  # fmt: skip
        # a kept group has X'HX of all batches; a new one scales up that of this batch to all rows
        total = float(weights(rows).sum())
        scale = 1 + (learned + state.numbers["surplus"]) / total if keep else 1.0

        def gram(new: Longs) -> Floats:
            found: Floats = scale * columns.gram(new)
            if not keep:
                found += old.known(table[columns.slots[new], PLACE].astype(np.int64) - 1)
            return found

        if keep:
            growth.keep(columns.others, state.arrays["score"].tolist())
        growth.choose(self.score, gram)
        growth.refine()
        slots = columns.slots[growth.chosen]
        table[before, MEAN] = table[before, PLACE] = 0
        table[slots, PLACE] = np.arange(1, len(slots) + 1)
        if growth.groups.sizes:
            table[slots, MEAN] = growth.found.mu
            if keep:
                table[columns.slots, DUAL] += columns.x.products(growth.found.beta * rows.signs())
        _store(state, growth)
        state.numbers["learned"] = learned + rows.n_rows
        state.numbers["surplus"] += total - rows.n_rows
        run.note(
            f"{rows.n_rows:,} rows: {len(slots):,} features in {len(growth.groups.sizes)} groups, "
            f"{growth.passes} passes, relative gap {growth.found.gap:.2g}"
        )

    def _check_memory(self, rows: SlotRows, run: Run) -> None:
        p = self.params
        needed = 4 * 8 * p.features * p.width + 3 * 16 * rows.nnz + 64 * rows.n_rows
        free = memory.allowed(run.max_memory)
        if needed > free:
            raise UsageError(
                f"{self.name} needs {memory.words(needed)} for a batch of {rows.n_rows:,} rows and "
                f"{p.features:,} features, and {memory.words(free)} may be used",
                "use smaller batches with `batch_rows`, or smaller groups with `group_size`",
            )

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        out = super().scores(state, rows, unknown, run)
        groups = self.groups(state)
        kernel.variances(
            rows.csr, state.table, PLACE, groups.owner, groups.first, groups.sigma, out.variance
        )
        return out

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        variance = np.append(0.0, self.groups(state).diagonal())
        places = state.table[slots, PLACE].astype(np.int64)
        return Coefficients(state.table[slots, MEAN], variance[places])

    def selection(self, state: State) -> Chosen:
        return Chosen(self.chosen(state), state.arrays["score"], self.groups(state).owner + 1)

    def details(self, state: State) -> dict[str, Any]:
        return super().details(state) | {
            "chosen": len(state.arrays["score"]),
            "groups": state.arrays["sizes"].tolist(),
            "theta": state.arrays["theta"].tolist(),
        }


def _store(state: State, growth: Growth) -> None:
    """Put the groups, their scores and their objectives into the state."""
    groups = growth.groups
    state.arrays |= {
        "sizes": np.array(groups.sizes, dtype=np.int64),
        "gram": groups.gram,
        "sigma": groups.sigma,
        "share": groups.share,
        "score": np.array(growth.score, dtype=np.float64),
        "theta": np.array(growth.theta, dtype=np.float64),
    }
