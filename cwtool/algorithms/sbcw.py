"""Sparse batch confidence-weighted learning (Tan et al. 2016, Algorithms 2 and 3), and FGM.

s = X'(b y);  the r features that would gain most and are not chosen yet become a block with
P = I + c X_B'X_B, c = C/kappa;  all blocks are learned together, from the b before; and so on
until there are p features. As printed (c = C, hinge) all b stay at C, so that the choice is the
filter |x_j.y| and a single block gets all the weight: hence kappa = 100 and the squared hinge.

The gain is that of a Newton step of the feature alone, s_j^2 / 2(K P_jj + C sum x_ij^2 over rows
with an error). Cross-validated on the training rows of five sets of text it has 13.7 % errors,
s_j^2 / P_jj 14.2; on six other sets 8.3 and 8.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from cwtool import memory
from cwtool.algorithms.base import Chosen, Scores
from cwtool.algorithms.groups import Groups, Rows, Solution
from cwtool.algorithms.inverted import Columns
from cwtool.algorithms.slotted import SlotParams, Slotted, rows_of
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.errors import UsageError
from cwtool.order import permutation
from cwtool.params import param
from cwtool.state import State
from cwtool_ext import sbcw as kernel

MEAN, DUAL, PLACE = 0, 1, 2  # columns: mu, s of slots before, 1 + position among the chosen


@dataclass(frozen=True)
class FgmParams(SlotParams):
    features: int = param(100, "p, how many features to choose", low=1)
    block: int = param(0, "r, features chosen at a time; 0: p / iterations, rounded up", low=0)
    iterations: int = param(15, "how many times features are chosen", low=1)
    C: float = param(100.0, "price of a margin error, relative to rows of length 1", above=0)
    loss: str = param(
        "squared-hinge", "hinge: C xi;  squared-hinge: C/2 xi^2", choices=("hinge", "squared-hinge")
    )
    sigma: float = param(0.0, "weight of the squared norm beside that of the sum of norms", low=0)
    solver: str = param(
        "mm",
        "mm: a metric for each block, improved after each sweep; exact: the best step of each "
        "row, needs sigma above 0; printed: one sweep from zero for each block",
        choices=("mm", "exact", "printed"),
    )
    sweeps: int = param(2, "visits to the rows after each block", low=1)
    final_sweeps: int = param(20, "most visits at the end", low=0)
    tol: float = param(1e-3, "no more visits when the relative duality gap is below", low=0)
    change: float = param(
        0.0, "no more blocks when the objective changes relatively less; wants many sweeps", low=0
    )
    shuffle: bool = param(True, "visit the rows in a random order")
    carry: str = param(
        "keep",
        "what a slot starts from: keep the blocks and dual variables, or restart with nothing "
        "but the precision of features that come again",
        choices=("keep", "restart"),
    )

    @property
    def width(self) -> int:
        """r"""
        return min(self.features, self.block or -(-self.features // self.iterations))


@dataclass(frozen=True)
class SbcwParams(FgmParams):
    final_sweeps: int = param(0, "most visits at the end (on text they did not pay)", low=0)
    kappa: float = param(
        100.0, "C over the weight of X'X in the precision; 1 = as printed", above=0
    )
    score: str = param(
        "gain",
        "what a feature is chosen by: gain: s_j^2 / (K (1 + c |x_j|^2) + C |x_j|^2 of rows with an "
        "error), the gain of a Newton step with K blocks (hinge: as diag); "
        "diag: s_j^2 / (1 + c |x_j|^2);  plain: s_j^2, as printed",
        choices=("gain", "diag", "plain"),
    )


class FGM(Slotted):
    name = "fgm"
    summary = "feature generating machine: sparse SVM by blocks of features"
    Params = FgmParams
    columns = ("mean", "dual", "place")

    def __init__(self, params: Any) -> None:
        super().__init__(params)
        if params.solver == "exact" and params.sigma == 0 and params.width < params.features:
            raise UsageError("--solver exact needs --sigma above 0", "use --solver mm")

    @property
    def c(self) -> float:
        return 0.0

    def score(self, past: Floats, v: Floats, columns: Columns, K: int) -> Floats:
        """s_j^2 with s = past + X'v; v are the signed dual variables, K counts the new block."""
        squares: Floats = (past + columns.x.products(v)) ** 2
        return squares

    def new_state(self) -> State:
        state = super().new_state()
        self._keep(state, Groups(self.c, self.params.width), [], [])
        return state

    def _keep(self, state: State, groups: Groups, score: Any, theta: Any) -> None:
        state.arrays |= {
            "sizes": np.array(groups.sizes, dtype=np.int64),
            "gram": groups.gram,
            "sigma": groups.sigma,
            "share": groups.share,
            "score": np.array(score, dtype=np.float64),
            "theta": np.array(theta, dtype=np.float64),
        }

    def groups(self, state: State) -> Groups:
        a = state.arrays
        kept = (a[name].copy() for name in ("gram", "sigma", "share"))
        return Groups(self.c, self.params.width, a["sizes"].tolist(), *kept)

    def chosen(self, state: State) -> Ints:
        """The slots of the chosen features, by position."""
        slots = state.features.ids_and_slots()[1]
        place = state.features.table[slots, PLACE]
        chosen: Ints = slots[place > 0]
        return chosen[np.argsort(place[place > 0])]

    def learn_slot(self, block: Block, state: State, v: Floats) -> None:
        p, table = self.params, state.features.table
        self._check_memory(block)
        before, groups = self.chosen(state), self.groups(state)
        columns = Columns(block, state, before)
        chosen = columns.others
        if p.carry == "restart":
            old, groups = groups, Groups(self.c, p.width)
            chosen = chosen[:0]
        keep = p.carry == "keep"
        past = table[columns.slots, DUAL]
        learned = int(state.numbers.get("learned", 0))
        fresh = 1 + learned / block.n_rows if keep else 1.0  # weight of X'X of a new feature
        visits = count(1)
        score: list[float] = state.arrays["score"].tolist() if keep else []
        theta: list[float] = []
        found = Solution(np.empty(0), np.ones(block.n_rows), groups.share)  # for the first scores

        for k, at in groups.parts():
            groups.grow(k, columns.gram(chosen[at]))
        rows = Rows.empty(
            block.y, groups, p.C, 1 if p.loss == "hinge" else 2, p.sigma,
            lambda: self._order(block, learned, next(visits)),
        )  # fmt: skip
        if groups.sizes:
            rows = rows.widened(columns.x, chosen, past[chosen])
            found = self._solve(rows, None, p.sweeps)
        while len(chosen) < p.features:
            values = self.score(past, found.beta * block.y, columns, len(groups.sizes) + 1)
            values[chosen] = 0
            new = largest(values, min(p.width, p.features - len(chosen)))
            if not len(new):
                break
            gram = fresh * columns.gram(new)
            if not keep:
                gram += remembered(old, table[columns.slots[new], PLACE].astype(np.int64) - 1)
            groups.add(gram)
            rows = rows.widened(columns.x, new, past[new])
            chosen = np.append(chosen, new)
            score += values[new].tolist()
            found = self._solve(rows, found if theta else None, p.sweeps)
            theta.append(found.primal)
            if len(theta) > 1 and abs(theta[-2] - theta[-1]) < p.change * abs(theta[-1]):
                break
        if p.final_sweeps and groups.sizes and p.solver != "printed" and not found.near(p.tol):
            found = self._solve(rows, found, p.final_sweeps, again=True)
        slots = columns.slots[chosen]
        table[before, MEAN] = table[before, PLACE] = 0
        table[slots, PLACE] = np.arange(1, len(slots) + 1)
        if groups.sizes:
            table[slots, MEAN] = found.mu
            if keep:
                table[columns.slots, DUAL] += columns.x.products(found.beta * block.y)
        self._keep(state, groups, score, theta)
        state.numbers["learned"] = learned + block.n_rows
        self.notes.append(
            f"{block.n_rows:,} rows: {len(slots):,} features in {len(groups.sizes)} blocks, "
            f"{next(visits) - 1} sweeps, relative gap {_gap(found):.2g}"
        )

    def _solve(
        self, rows: Rows, before: Solution | None, passes: int, *, again: bool = False
    ) -> Solution:
        """From the dual variables before; `again` on the same blocks, where the best so far
        stays the best."""
        p = self.params
        start = rows.start()
        if p.solver == "printed":
            ridge = 0.0 if p.loss == "hinge" else 0.5 / p.C
            return rows.conjugate(start, 1, 0.0, exact=False, ridge=ridge)
        if before is not None:
            start.beta = before.beta
            if again:
                start = before
        if p.solver == "exact":
            return rows.conjugate(start, passes, p.tol, exact=True, ridge=rows.ridge)
        found = rows.metric(start, passes, p.tol)
        rows.groups.share = found.share
        return found

    def _order(self, block: Block, *seeds: int) -> Longs:
        return permutation(block.n_rows, self.seed, *seeds) if self.params.shuffle else block.order

    def _check_memory(self, block: Block) -> None:
        p = self.params
        needed = 4 * 8 * p.features * p.width + 3 * 16 * block.nnz + 64 * block.n_rows
        free = self.max_memory or 0.9 * memory.available()
        if needed > free:
            raise UsageError(
                f"{self.name} needs {memory.words(needed)} for a slot of {block.n_rows:,} rows and "
                f"{p.features:,} features, and {memory.words(free)} may be used",
                "make the slots smaller with --slot-rows, or the blocks with --block",
            )

    def scores(self, block: Block, state: State, unknown: Floats) -> Scores:
        out = super().scores(block, state, unknown)
        groups = self.groups(state)
        kernel.variances(
            *rows_of(block), state.features.table, PLACE, groups.owner, groups.first, groups.sigma,
            out.variance,
        )  # fmt: skip
        return out

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats | None]:
        groups = self.groups(state)
        within = np.arange(len(groups.owner)) - groups.first[groups.owner]
        diagonal = np.append(0.0, groups.sigma[np.arange(len(within)), within])
        places = state.features.table[slots, PLACE].astype(np.int64)
        return state.features.table[slots, MEAN], diagonal[places]

    def selection(self, state: State) -> Chosen:
        return Chosen(self.chosen(state), state.arrays["score"], self.groups(state).owner + 1)

    def details(self, state: State) -> dict[str, Any]:
        return {
            "chosen": len(state.arrays["score"]),
            "blocks": state.arrays["sizes"].tolist(),
            "theta": state.arrays["theta"].tolist(),
        }


class SBCW(FGM):
    name = "sbcw"
    summary = "sparse batch confidence-weighted: blocks of features with their covariance"
    Params = SbcwParams

    @property
    def c(self) -> float:
        return float(self.params.C / self.params.kappa)

    def score(self, past: Floats, v: Floats, columns: Columns, K: int) -> Floats:
        """What a block of one feature gains: by a Newton step from 0 in the problem as it is, where
        a new block has the share 1/K; by its own norm (eq. 12); or with Sigma = I (eq. 14)."""
        p = self.params
        if p.score == "plain":
            return super().score(past, v, columns, K)
        precision = 1 + self.c * columns.squares
        if p.score == "diag" or p.loss == "hinge":  # the hinge has no curvature
            return super().score(past, v, columns, K) / precision
        s, curvature = columns.x.moments(v, v != 0)
        gain: Floats = (past + s) ** 2 / ((p.sigma + K) * precision + p.C * curvature)
        return gain


def largest(values: Floats, n: int) -> Longs:
    """The places of the n largest positive values, ascending; of equal ones the first."""
    n = min(n, int(np.count_nonzero(values > 0)))
    if n == 0:
        return np.empty(0, dtype=np.int64)
    least = np.partition(values, len(values) - n)[len(values) - n]
    above = np.flatnonzero(values > least)
    ties = np.flatnonzero(values == least)[: n - len(above)]
    return np.sort(np.append(above, ties))


def remembered(old: Groups, places: Longs) -> Floats:
    """What old blocks know of these positions (-1: nothing): G_ij where i and j were together."""
    gram = np.zeros((len(places), len(places)))
    known = np.flatnonzero(places >= 0)
    owner = old.owner[places[known]]
    i, j = np.nonzero(owner[:, None] == owner[None, :])
    within = places[known] - old.first[owner]
    gram[known[i], known[j]] = old.gram[places[known[i]], within[j]]
    return gram


def _gap(found: Solution) -> float:
    return (found.primal - found.dual) / abs(found.primal) if found.primal else 0.0


ALGORITHMS = {"sbcw": SBCW, "fgm": FGM}
