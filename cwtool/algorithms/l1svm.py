"""Sparse linear classifiers by the l1 norm:  min ||w||_1 + C sum h_i l(y_i w.x_i), h the
weights of the rows (Yuan et al. 2010).

With a number of features given, C is found by selection/l1_path.py. Every batch is learned anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from cwtool.algorithms.base import Chosen, Variants, each_choice
from cwtool.algorithms.batch.learner import BATCHES, EARLY, BatchParams, LinearBatchLearner
from cwtool.algorithms.batch.rows_by_column import Columns
from cwtool.algorithms.selection.l1_descent import Descent
from cwtool.algorithms.selection.l1_path import Fit, Fits, Solver, Together, path
from cwtool.algorithms.shards.sharded_columns import AnyColumns, ShardedColumns
from cwtool.algorithms.shards.steps import Shards
from cwtool.data.rows import Ints, Rows, SlotRows
from cwtool.params import param
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import Column, Layout, Number, State
from cwtool.threads import together

MEAN, ENTRY = 0, 1  # columns of the table
NONE: Ints = np.empty(0, dtype=np.int32)
NO_ROW = -2  # stands for all classes without a row in a batch


@dataclass(frozen=True)
class SparseParams(BatchParams):
    """What l1svm and spar-dca share."""

    features: int = param(
        100,
        "Number of features to select; C is raised until so many features have a weight. 0 solves "
        "for the given `C` and takes all features with a weight.",
        low=0,
    )
    C: float = param(
        1e4,
        "Weight C of the training loss against the l1 norm, for rows of length 1; if `features` "
        "is not 0, the largest C that is tried.",
        above=0,
        high=1e12,  # the path to it has steps of a constant factor
        unasked=1e4,
    )
    batch_rows: int = param(
        0,
        "Number of rows that are learned together as one batch; 0 makes each file one batch. Each "
        "batch is learned anew and replaces what earlier batches, or a resumed model, had learned.",
        low=0,
        formerly=("slot_rows",),
        unasked_below=50,
    )


@dataclass(frozen=True)
class L1Params(SparseParams):
    loss: str = param(
        "squared-hinge",
        "Loss of a row with margin m: squared-hinge is C/2 max(0, 1 - m)^2, where LIBLINEAR has C "
        "instead of C/2; logistic is C log(1 + exp(-m)).",
        choices=("squared-hinge", "logistic"),
    )
    tol: float = param(
        1e-4,
        "Stop when the violation of the optimality conditions is at most this, relative to the "
        "violation at w = 0 or to 1, whichever is larger. Smaller values are more exact and "
        "slower.",
        low=1e-12,  # less is not reached by numbers of 53 bits
        unasked_below=1e-5,
    )
    max_batch_passes: int = param(
        1000,
        "Largest number of passes over the features for one C, if `tol` is not reached before.",
        low=1,
        formerly=("max_epochs",),
        unasked=2000,
    )


class SparseLearner(LinearBatchLearner):
    """What l1svm and spar-dca share."""

    takes_weights = True
    layout = Layout(
        # w, and the step of the path at which the feature came in; 0 without a weight
        tables=((Column("mean"), Column("entry")),),
        numbers=(BATCHES, Number("C", 0.0)),  # the C of the last batch
    )
    Fit: ClassVar[type[Fit]]
    # bytes for each entry, feature and row of a batch, in a class: what `Fit` has and works with
    entry_bytes, feature_bytes, row_bytes = 12, 112, 96

    def bytes_beside(self, state: State, features: int, rows: Rows | None) -> int:
        if rows is None:
            return 0
        one = self.entry_bytes * rows.nnz + self.feature_bytes * features
        one += self.row_bytes * rows.n_rows
        return super().bytes_beside(state, features, rows) + max(1, len(state.labels)) * one

    def learn_batch(
        self, states: Sequence[State], classes: Sequence[int], rows: SlotRows, run: Run
    ) -> None:
        assert rows.csr  # made here, before several threads ask for it
        self._learn_columns(
            states, classes, rows, lambda: Columns(rows, states[0].index, NONE),
            partial(together, jobs=run.jobs), run,
        )  # fmt: skip

    def _learn_columns(
        self,
        states: Sequence[State],
        classes: Sequence[int],
        rows: SlotRows,
        columns_of: Callable[[], AnyColumns],
        together: Together,
        run: Run,
    ) -> None:
        """Of several classes, the state of no class stores the features of all of them. Each class
        has columns of its own, because its signs go into them; all classes without a row have the
        same signs, and so one fit."""
        p, first = self.params, states[0]
        seed, met = run.seed + int(first.numbers["batches"]), set(rows.y.tolist())
        keys = [class_ if class_ in met else NO_ROW for class_ in classes[1:] or classes]

        def new_fit(class_: int) -> tuple[Ints, Fit]:
            columns = columns_of()
            return columns.slots, self.Fit(columns, rows.signs(class_), p, seed)

        different = list(dict.fromkeys(keys))
        known = dict(zip(different, together(new_fit, different), strict=True))
        slots, fits = known[keys[0]][0], [known[key][1] for key in keys]
        fit: Solver = fits[0] if len(states) == 1 else Fits(fits, together)
        C, entry = p.C, np.zeros(len(fit.everything))
        if p.features == 0:
            fit.solve(C, fit.everything)
            entry[fit.chosen] = 1
        elif fit.steepest > 0:
            C, entry = path(fit, p.features, p.C)
        seen = first.index.ids_and_slots()[1]
        for state in states:
            state.table[seen] = 0
            state.numbers["C"] = C
        first.table[slots, ENTRY] = entry
        for state, own in zip(states[1:] or states, fits, strict=True):
            state.table[slots, MEAN] = own.w
            state.table[slots, ENTRY] = np.where(own.w != 0, entry, 0)
        if fit.early:
            run.warn(EARLY)
        run.note(
            f"{rows.n_rows:,} rows: {len(fit.chosen):,} features at C = {C:.4g}, "
            f"{fit.passes} passes"
        )

    def selection(self, state: State) -> Chosen:
        return self.class_selection([state])

    def class_selection(self, states: Sequence[State]) -> Chosen:
        table, seen = states[0].table, states[0].index.ids_and_slots()[1]
        slots = seen[table[seen, ENTRY] > 0]
        weight = np.sum([np.abs(state.table[slots, MEAN]) for state in states], axis=0)
        return Chosen(slots, weight, table[slots, ENTRY].astype(np.int32))


class L1SVM(SparseLearner):
    name = "l1svm"
    summary = "sparse SVM or logistic regression by the l1 norm"
    Params: ClassVar[type] = L1Params
    Fit = Descent
    variants: ClassVar[Variants] = {
        **each_choice(L1Params, "loss", C=10.0),
        "few": {"features": 24},
        "given C": {"features": 0, "C": 1.0},
    }

    def learn_shards(
        self, states: Sequence[State], classes: Sequence[int], shards: Shards, run: Run
    ) -> None:
        columns = ShardedColumns(shards, states[0].index, NONE, run)
        together = partial(columns.together, jobs=1)
        self._learn_columns(states, classes, shards.rows, lambda: columns, together, run)


ALGORITHMS = {"l1svm": L1SVM}
