"""Sigma^-1 = D + R R' + B B': a diagonal, a few dense directions, and the latest updates.

CW-fact (Ma, Crammer, Kulesza, Saul, Dredze, Pereira 2010), for every rule that gives kappa x x'.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.base import Scores, Variants
from cwtool.algorithms.covariance.diagonal import (
    Covariance,
    CovarianceParams,
    Diagonal,
    PriorParams,
)
from cwtool.algorithms.covariance.full import Full
from cwtool.algorithms.merging.base import NAT, Merging, Refusal
from cwtool.algorithms.online.second_order import SecondOrder
from cwtool.data.rows import Floats, Ints, SlotRows
from cwtool.errors import Damage, UsageError
from cwtool.params import AUTO, param
from cwtool.records import dataclass
from cwtool.run import Run
from cwtool.state import Array, Column, Layout, State
from cwtool_ext import factored, visit
from cwtool_ext.rules import Rule
from cwtool_ext.visit import Learner

FITS = {"spectral": 0, "em": 1}
# a buffer so small that it is fitted often
SMALL: Variants = {
    "factored": {"rank": 3, "buffer": 5},
    "em": {"rank": 3, "buffer": 5, "fit": "em", "em_iterations": 2},
}
CHAIN, PRECISION = 1, 2  # columns of the list of rows: see cwtool_ext/factor.pxd
ROUNDING = 1e-10  # x'Sigma x is a difference: smaller shares of the prior are rounding errors


@dataclass(frozen=True)
class FactorParams(PriorParams):
    rank: int = param(
        8,
        "Number of columns of the dense factor R of the factored covariance Sigma^-1 = D + R R' + "
        "B B'. A feature takes 8 bytes, and 8 * (rank + 3) more after its first update. Raise it "
        "for strongly correlated features.",
        low=1,
        high=256,
    )
    buffer: int = param(
        64,
        "Number of updates that the factored covariance keeps exactly, as the sparse columns B, "
        "before they are fitted into D and R. Larger values are more exact; smaller ones may be "
        "faster.",
        low=1,
        high=1024,
    )
    fit: str = param(
        "spectral",
        "How the factored covariance fits D and R: spectral takes one step by eigenvectors; em "
        "takes the paper's iterations and is 2 to 70 times slower, most with many features.",
        choices=tuple(FITS),
    )
    em_iterations: int | str = param(
        AUTO,
        "Number of EM iterations of a fit of the factored covariance. auto is 10 with `fit=em` "
        "and 0 with `fit=spectral`.",
        kind=int,
        low=0,
        high=1000,
        auto=True,
    )
    variance_floor: float = param(
        1e-12,
        "Smallest variance of a weight, as a share of the prior; a factored covariance uses at "
        "least 1e-10. It only prevents numerical underflow; there is rarely a reason to change it.",
        above=0,
        high=0.999999,
        kind=float,
        formerly=("floor",),
    )


@dataclass(frozen=True)
class FactorableParams(FactorParams, CovarianceParams):
    covariance: str = param(
        "diag",
        "Form of the covariance of the weights: diag has one variance per feature; full is the "
        "whole matrix, which takes 8 bytes per pair of features and suits up to some thousand "
        "features; factored has a diagonal and a low-rank part of the inverse covariance.",
        choices=("diag", "full", "factored"),
    )


class Factored(Covariance):
    """The table has the number of each feature that took part in an update; the list `rows` has
    mean, chain, precision and loadings of each number. Number 0 stands for none."""

    def __init__(self, params: Any, rule: Rule) -> None:
        super().__init__(params, rule)
        auto = 10 if params.fit == "em" else 0
        self.iterations = auto if params.em_iterations == AUTO else params.em_iterations
        if params.fit == "em" and self.iterations == 0:
            raise UsageError("`fit=em` needs `em_iterations` of at least 1")
        self.floor = max(params.variance_floor, ROUNDING)

    @property
    def layout(self) -> Layout:  # type: ignore[override]
        k = self.params.rank + self.params.buffer
        return Layout(
            ((Column("row", whole=True),),),
            arrays=(
                Array("links", "<i4", (1, 2), sizes=("entries", 2), low=0, below=1 << 31),
                Array("entries", shape=(1,), sizes=("entries",)),
                Array("factor", shape=(k, k)),
                Array("shift", shape=(k,)),
                # columns, dense columns, rows, entries
                Array("counts", "<i8", (4,), low=0, below=1 << 31),
            ),
            lists=(("rows", self.params.rank + 3),),
        )

    def prepare(self, state: State) -> None:
        state.lists["rows"].count = 1

    def reserve(self, state: State, rows: SlotRows, run: Run) -> None:
        arrays, longest = state.arrays, rows.csr.longest
        state.lists["rows"].reserve(1 + state.index.count + longest)
        used, k = len(arrays["entries"]), len(arrays["shift"])
        more = min(rows.nnz, (k + 1) * longest) + longest
        links, entries = np.empty((used + more, 2), dtype=np.int32), np.empty(used + more)
        links[:used], entries[:used] = arrays["links"], arrays["entries"]
        arrays["links"], arrays["entries"] = links, entries

    def learner(self, state: State) -> Learner:
        arrays = state.arrays
        return factored.Factored(
            state.table, state.lists["rows"].rows, arrays["links"], arrays["entries"],
            arrays["factor"], arrays["shift"], arrays["counts"], self.rule,
            FITS[self.params.fit], self.iterations, self.floor,
        )  # fmt: skip

    def keep(self, state: State, learner: Any) -> None:
        learner.keep()
        arrays = state.arrays
        *_, n_rows, n_entries = arrays["counts"].tolist()
        state.lists["rows"].count = 1 + n_rows
        arrays["links"] = arrays["links"][: 1 + n_entries]
        arrays["entries"] = arrays["entries"][: 1 + n_entries]

    def moments(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        """Scores and variances of the unit vectors."""
        mean, variance = np.zeros(len(slots)), np.ones(len(slots))
        known = np.flatnonzero(state.table[slots, 0])
        n = len(known)
        units = SlotRows(np.arange(n + 1), slots[known], np.ones(n), np.zeros(n, dtype=np.int32))
        found = Scores.zeros(n)
        visit.scores(units.csr, self.learner(state), *found)
        mean[known], variance[known] = found
        return mean, variance

    def merging(self, additive: bool) -> Merging | Refusal:
        from cwtool.algorithms.merging.merged_factors import FACTORED  # only merges need it

        return FACTORED._replace(without_base=NAT["1"]) if additive else FACTORED

    def check(self, state: State) -> None:
        check_factor(state, self.params.rank)

    def details(self, state: State) -> dict[str, Any]:
        """Eigenvalues of D^-1/2 (R R' + B B') D^-1/2: the precision gained over D, by direction."""
        columns, _, rows, _ = state.arrays["counts"].tolist()
        factor = state.arrays["factor"][:columns, :columns]  # U'U = I + W'D^-1 W
        with np.errstate(over="ignore"):
            spectrum = np.nan_to_num(np.linalg.svd(factor, compute_uv=False) ** 2 - 1)
        return {"updated_features": rows, "spectrum": spectrum.tolist()}


def check_factor(state: State, rank: int) -> None:
    """The numbers of rows, of columns and of entries must be there; the entries of a feature are a
    chain with descending numbers and columns, so that it ends."""
    columns, dense, n_rows, n_entries = state.arrays["counts"].tolist()
    links, rows = state.arrays["links"], state.lists["rows"]
    _, slots = state.index.ids_and_slots()
    numbers = state.table[slots, 0]
    chains = rows.rows[: rows.count, CHAIN]
    following, column = links[1:, 0], links[1:, 1]
    sizes = 1 + n_rows == rows.count and 1 + n_entries == len(links)
    used = dense in (0, rank) and dense <= columns <= len(state.arrays["shift"])
    if not (sizes and used):
        raise Damage("the array array.counts does not fit the others")
    if not np.array_equal(np.sort(numbers[numbers > 0]), np.arange(1, n_rows + 1)):
        raise Damage("the rows that features have do not fit the array array.counts")
    whole = (chains >= 0).all() and (chains <= n_entries).all() and (chains % 1 == 0).all()
    ends = (following < np.arange(1, len(links))).all() and (links[0] == 0).all()
    within = (column >= dense).all() and (column < columns).all()
    descends = (column > links[following, 1])[following > 0].all()
    if not (whole and ends and within and descends and chains[0] == 0):
        raise Damage("the array array.links has chains of entries that cannot be")
    if not (np.diag(state.arrays["factor"])[:columns] > 0).all():
        raise Damage("the array array.factor has a value that cannot be")
    if not (rows.rows[: rows.count, PRECISION] > -1).all() or rows.rows[0].any():
        raise Damage("the array table.rows has a value that cannot be")


class Factorable(SecondOrder):
    """A rule that may also go with a factored covariance."""

    kinds = {"diag": Diagonal, "full": Full, "factored": Factored}  # noqa: RUF012
    variants: ClassVar[Variants] = {
        **SecondOrder.variants,
        **{name: {"covariance": "factored", **small} for name, small in SMALL.items()},
    }
