"""Feature generating machine: a sparse SVM over groups of features that are chosen one group after
the other (Tan et al. 2016, Algorithm 2 with Sigma = I).

s = X'(b y);  the r features with the largest s_j^2 that are not chosen yet become a group;  all
groups are learned together, from the dual variables b before;  and so on until p are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from cwtool import memory
from cwtool.algorithms.base import Chosen, Coefficients, Scores, Variants
from cwtool.algorithms.batch.learner import BATCHES, LinearBatchLearner, weights
from cwtool.algorithms.batch.rows_by_column import Columns
from cwtool.algorithms.selection.column_prior import LEAST
from cwtool.algorithms.selection.fgm_params import FgmParams
from cwtool.algorithms.selection.group_selection import GroupSelection, NewProblem, Side
from cwtool.algorithms.selection.groups import Groups
from cwtool.algorithms.selection.stored_batch import DUAL, MEAN, PLACE, Past, store
from cwtool.algorithms.selection.subproblem import Subproblem
from cwtool.algorithms.shards.sharded_columns import AnyColumns, ShardedColumns, TooManyEntries
from cwtool.algorithms.shards.sharded_subproblem import ShardedSubproblem, StayingColumns
from cwtool.algorithms.shards.steps import Shards
from cwtool.data.rows import Floats, Ints, Longs, Rows, SlotRows
from cwtool.errors import Damage, UsageError
from cwtool.run import Run
from cwtool.state import Array, Column, Layout, Number, State
from cwtool_ext import sbcw as kernel


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
    shared = ("sizes", "gram", "sigma", "score", "prior")

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        if params.solver == "exact" and params.sigma == 0 and params.width < params.features:
            raise UsageError("`solver=exact` needs `sigma` above 0", "use `solver=mm`")

    @property
    def layout(self) -> Layout:
        width = self.params.width
        return Layout(
            # mu; s = sum of b_i y_i x_i of all batches; 1 + position among the chosen, 0 for others
            tables=((Column("mean"), Column("dual"), Column("place", whole=True)),),
            # rows learned so far, and by how much the sum of their weights is more than that
            numbers=(BATCHES, Number("learned"), Number("surplus", 0.0)),
            arrays=(
                # see Groups
                Array("sizes", "<i8", sizes=("groups",), low=1, below=width + 1),
                Array("gram", shape=(0, width), sizes=("chosen", width)),
                Array("sigma", shape=(0, width), sizes=("chosen", width)),
                Array("share", sizes=("groups",), low=0),
                Array("score", sizes=("chosen",)),  # of each chosen feature, by position
                Array("theta"),  # objective after each group of the last batch
                # D of each chosen feature, by position; none of them: D = I
                Array("prior", sizes=("chosen?",), low=LEAST, later=True),
            ),
        )

    def precision_weight(self, columns: AnyColumns, prior: Floats | None, share: float) -> float:
        """The weight c of X'HX in the precision of a group. `prior` is the precision of each
        column before any rows, None for 1. A sum over the columns of this batch, times `share`, is
        the mean over all features of all rows so far."""
        return 0.0

    def own_precision(self, columns: AnyColumns, again: bool) -> Floats | None:
        """The precision of each column before any rows; None for 1. `again`: earlier batches have
        had one for their columns."""
        return None

    def score(self, side: Side, columns: AnyColumns, K: int, precision: Floats) -> Floats:
        """s_j^2 of each column, with s of all batches. K is the number of groups with the new one,
        and the precision is that of each column as a group of its own."""
        squares: Floats = (side.past + side.products(columns)) ** 2
        return squares

    def settle(self, states: Sequence[State], choice: GroupSelection, precision: Floats) -> None:
        """Learn final weights of the features that were selected, before they are stored. The
        precision is that of each column as a group of its own."""

    def check(self, state: State) -> None:
        chosen = len(state.arrays["score"])
        place = state.table[state.index.ids_and_slots()[1], PLACE]
        if int(state.arrays["sizes"].sum()) != chosen:
            raise Damage("the array array.sizes does not fit the number of chosen features")
        if not np.array_equal(np.sort(place[place > 0]), np.arange(1, chosen + 1)):
            raise Damage("the array feature.place does not number the chosen features")

    def groups(self, state: State, c: float = 0.0) -> Groups:
        """A copy of the groups in the state, which grow with the weight c of X'HX."""
        a = state.arrays
        gram, sigma, share = (a[name].copy() for name in ("gram", "sigma", "share"))
        prior = a["prior"].copy() if len(a["prior"]) else np.ones(len(a["score"]))
        return Groups(c, self.params.width, a["sizes"].tolist(), gram, sigma, share, prior)

    def chosen(self, state: State) -> Ints:
        """The slots of the chosen features, by position."""
        slots = state.index.ids_and_slots()[1]
        place = state.table[slots, PLACE]
        chosen: Ints = slots[place > 0]
        return chosen[np.argsort(place[place > 0])]

    def learn_batch(
        self, states: Sequence[State], classes: Sequence[int], rows: SlotRows, run: Run
    ) -> None:
        columns = Columns(rows, states[0].index, self.chosen(states[0]))
        self._learn_columns(states, classes, rows, columns, run)

    def learn_shards(
        self, states: Sequence[State], classes: Sequence[int], shards: Shards, run: Run
    ) -> None:
        given = shards, states[0].index, self.chosen(states[0]), run
        try:
            self._learn_columns(states, classes, shards.rows, ShardedColumns(*given), run)
            return
        except TooManyEntries as failure:
            if self.params.solver != "mm":
                raise
            run.warn(
                f"{failure}; they stay in the shards, and their weights are near to those of one "
                "machine, but not equal"
            )
        self._learn_columns(states, classes, shards.rows, StayingColumns(*given), run)

    def _learn_columns(
        self,
        states: Sequence[State],
        classes: Sequence[int],
        rows: SlotRows,
        columns: AnyColumns,
        run: Run,
    ) -> None:
        """All states have the same features in the same groups; each learns its own weights."""
        self._check_memory(rows, states[0].index.count, len(states), run)
        p, first = self.params, states[0]
        past = self._past(first, rows, columns)
        groups = past.groups if past.keep else Groups.empty(past.groups.c, p.width)
        seeds = (run.seed, past.learned) if p.shuffle else ()
        sides = []
        for state, class_ in zip(states, classes, strict=True):
            own = groups.sharing(state.arrays["share"].copy()) if past.keep else groups
            dual = state.table[columns.slots, DUAL]
            new_problem: NewProblem = Subproblem.empty
            if isinstance(columns, StayingColumns):
                new_problem = partial(ShardedSubproblem.empty, columns=columns, class_=class_)
            sides.append(Side(p, rows.signs(class_), dual, own, seeds, rows.weight, new_problem))
        choice = GroupSelection(p, columns, sides, groups, run.jobs)

        def gram(new: Longs) -> Floats:
            found: Floats = past.scale * columns.gram(new)
            if not past.keep:
                places = first.table[columns.slots[new], PLACE].astype(np.int64)
                found += past.groups.known(places - 1)
            return found

        if past.keep:
            choice.keep(columns.others, first.arrays["score"].tolist())
        precision = past.precision(columns, first.table[columns.slots, PLACE])
        choice.choose(partial(self.score, precision=precision), gram, past.prior)
        choice.refine()
        self.settle(states, choice, precision)
        each = zip(states, sides, strict=True)
        columns.together(lambda one: store(one[0], choice, one[1], past), each, 1)
        for state in states:
            state.numbers["learned"] = past.learned + rows.n_rows
            state.numbers["surplus"] += past.weight - rows.n_rows
            state.refer(first, self.shared)
        self._tell(choice, rows, run)

    def _past(self, first: State, rows: SlotRows, columns: AnyColumns) -> Past:
        """Read from the state what earlier batches stored that a batch of these rows needs."""
        learned, keep = int(first.numbers["learned"]), self.params.carry == "keep"
        weight, priors = float(weights(rows).sum()), keep and len(first.arrays["prior"]) > 0
        scale = 1 + (learned + first.numbers["surplus"]) / weight if keep else 1.0
        prior = None
        if priors or not (keep and len(first.arrays["sizes"])):  # else D = I so far
            prior = self.own_precision(columns, again=priors)
        c = self.precision_weight(columns, prior, scale / max(1, first.index.count))
        priors = priors or prior is not None
        return Past(learned, keep, weight, scale, prior, priors, self.groups(first, c))

    @staticmethod
    def _tell(choice: GroupSelection, rows: SlotRows, run: Run) -> None:
        """Warn if the final passes ended early; note the features, passes and gap of the batch."""
        if not choice.refined:
            run.warn(
                "`final_passes` ended before the relative duality gap was as small as `tol`; allow "
                "more of them, or a greater `tol`"
            )
        run.note(
            f"{rows.n_rows:,} rows: {len(choice.chosen):,} features in "
            f"{len(choice.groups.sizes)} groups, {max(side.passes for side in choice.sides)} "
            f"passes, relative gap {max(side.found.gap for side in choice.choosing):.2g}"
        )

    def bytes_beside(self, state: State, features: int, rows: Rows | None) -> int:
        beside = super().bytes_beside(state, features, rows)
        classes = max(1, len(state.labels))
        return beside if rows is None else beside + self._work(rows, features, classes)

    def _work(self, rows: Rows, known: int, classes: int) -> int:
        """Bytes of the columns of the rows, of the groups that are chosen, and of what each class
        has for each row and column."""
        features: int = min(self.params.features, known)
        groups = 4 * 8 * features * int(self.params.width)
        return groups + 3 * 16 * rows.nnz + classes * (64 * rows.n_rows + 64 * known)

    def _check_memory(self, rows: SlotRows, known: int, classes: int, run: Run) -> None:
        features, needed = min(self.params.features, known), self._work(rows, known, classes)
        free = memory.allowed(run.max_memory)
        if needed > free:
            raise UsageError(
                f"{self.name} needs {memory.words(needed)} for a batch of {rows.n_rows:,} rows and "
                f"{features:,} features, and {memory.may_be_used(free)}",
                "use smaller batches with `batch_rows`, or select fewer `features`",
            )

    def scores(self, state: State, rows: SlotRows, unknown: Floats, run: Run) -> Scores:
        out = super().scores(state, rows, unknown, run)
        if self.untrained(state):
            return out
        groups = self.groups(state)
        kernel.variances(
            rows.csr, state.table, PLACE, groups.owner, groups.first, groups.sigma, out.variance
        )
        return out

    def coefficients(self, state: State, slots: Ints) -> Coefficients:
        variance = np.append(0.0, self.groups(state).diagonal())
        places = state.table[slots, PLACE].astype(np.int64)
        return Coefficients(state.table[slots, MEAN], variance[places])

    def score_classes(
        self, states: Sequence[State], rows: SlotRows, unknown: Floats, run: Run
    ) -> list[Scores]:
        """The variance of a row is that of its groups, and the same for all classes."""
        if not states:
            return []
        first, *others = states
        found = self.scores(first, rows, unknown, run)
        means = [super(FGM, self).scores(state, rows, unknown, run).score for state in others]
        return [found, *(found._replace(score=mean) for mean in means)]

    def class_selection(self, states: Sequence[State]) -> Chosen:
        return self.selection(states[0])

    def selection(self, state: State) -> Chosen:
        return Chosen(self.chosen(state), state.arrays["score"], self.groups(state).owner + 1)

    def details(self, state: State) -> dict[str, Any]:
        return super().details(state) | {
            "chosen": len(state.arrays["score"]),
            "groups": state.arrays["sizes"].tolist(),
            "theta": state.arrays["theta"].tolist(),
        }


ALGORITHMS = {"fgm": FGM}
