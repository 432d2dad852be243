"""Sigma^-1 = D + R R' + B B': a diagonal, a few dense directions, and the latest updates.

CW-fact (Ma, Crammer, Kulesza, Saul, Dredze, Pereira 2010), for every rule that gives kappa x x'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cwtool.algorithms.base import Scores
from cwtool.algorithms.covariance import (
    Covariance,
    CovarianceParams,
    Diagonal,
    Full,
    PriorParams,
    SecondOrder,
)
from cwtool.data.block import Block, Floats, Ints, Longs
from cwtool.errors import UsageError
from cwtool.params import AUTO, param
from cwtool.state import State, Table
from cwtool_ext import factored
from cwtool_ext.rules import Rule

FITS = {"spectral": 0, "em": 1}
SURE = 1e-10  # x'Sigma x is a difference: smaller shares of the prior are rounding errors


@dataclass(frozen=True)
class FactorParams(PriorParams):
    rank: int = param(
        8,
        "factored: dense columns R of Sigma^-1 = D + R R' + B B'; memory is 8 bytes a feature and "
        "8 * (rank + 3) more for each that took part in an update",
        low=1,
        high=256,
    )
    buffer: int = param(
        64,
        "factored: updates kept exactly, as sparse columns B, until they are fitted into D and R; "
        "larger is more exact, smaller may be faster",
        low=1,
        high=1024,
    )
    fit: str = param(
        "spectral",
        "factored: how D and R are fitted: spectral in one pass, em by the paper's iterations",
        choices=tuple(FITS),
    )
    em_iterations: int | str = param(
        AUTO,
        "factored: iterations of EM; auto = 10 with em, none after spectral",
        kind=int,
        low=0,
        high=1000,
        auto=True,
    )
    floor: float = param(
        1e-12,
        "no variance falls below this share of the prior (factored: nor below 1e-10 of it)",
        above=0,
        high=1,
        kind=float,
    )


@dataclass(frozen=True)
class FactorableParams(FactorParams, CovarianceParams):
    covariance: str = param(
        "diag",
        "what is kept of Sigma: its diagonal, all of it, or of its inverse a diagonal and a part "
        "of low rank",
        choices=("diag", "full", "factored"),
    )


class Factored(Covariance):
    columns = ("row",)

    def __init__(self, params: Any, rule: Rule) -> None:
        super().__init__(params, rule)
        auto = 10 if params.fit == "em" else 0
        self.iterations = auto if params.em_iterations == AUTO else params.em_iterations
        if params.fit == "em" and self.iterations == 0:
            raise UsageError("--fit em needs --em-iterations of at least 1")
        self.floor = max(params.floor, SURE)

    def prepare(self, state: State) -> State:
        k = self.params.rank + self.params.buffer
        rows = Table(1, self.params.rank + 3)
        rows.count = 1  # number 0 is none
        state.tables["rows"] = rows
        state.arrays["links"] = np.zeros((1, 2), dtype=np.int32)
        state.arrays["entries"] = np.zeros(1)
        state.arrays["factor"] = np.zeros((k, k))
        state.arrays["shift"] = np.zeros(k)
        state.arrays["counts"] = np.zeros(4, dtype=np.int64)
        return state

    def learn(self, block: Block, state: State, order: Longs, out: Scores) -> None:
        arrays, rows = state.arrays, state.tables["rows"]
        longest = int(np.diff(block.indptr).max(initial=0))
        rows.reserve(1 + state.features.count + longest)
        used, k = len(arrays["entries"]), len(arrays["shift"])
        more = min(int(block.indptr[-1]), (k + 1) * longest) + longest
        links, entries = np.empty((used + more, 2), dtype=np.int32), np.empty(used + more)
        links[:used], entries[:used] = arrays["links"], arrays["entries"]
        factored.learn(
            block.indptr, block.indices, block.values, block.y, order, state.features.table,
            rows.rows, links, entries, arrays["factor"], arrays["shift"], arrays["counts"],
            self.rule, FITS[self.params.fit], self.iterations, self.floor, block.scale,
            out.score, out.variance,
        )  # fmt: skip
        *_, n_rows, n_entries = arrays["counts"].tolist()
        rows.count = 1 + n_rows
        arrays["links"], arrays["entries"] = links[: 1 + n_entries], entries[: 1 + n_entries]

    def scores(self, block: Block, state: State, out: Scores) -> None:
        arrays = state.arrays
        factored.scores(
            block.indptr, block.indices, block.values, state.features.table,
            state.tables["rows"].rows, arrays["links"], arrays["entries"], arrays["factor"],
            arrays["shift"], arrays["counts"], self.floor, block.scale, out.score, out.variance,
        )  # fmt: skip

    def weights(self, state: State, slots: Ints) -> tuple[Floats, Floats]:
        """Scores and variances of the unit vectors."""
        out = Scores(np.zeros(len(slots)), np.ones(len(slots)))
        known = np.flatnonzero(state.features.table[slots, 0])
        n = len(known)
        units = Block(
            np.arange(n + 1), slots[known], np.ones(n), np.ones(n), np.zeros(n, dtype=np.int32)
        )
        found = Scores.zeros(n)
        self.scores(units, state, found)
        out.score[known], out.variance[known] = found
        return out

    def details(self, state: State) -> dict[str, Any]:
        """Eigenvalues of D^-1/2 (R R' + B B') D^-1/2: how much surer than D alone, by direction."""
        columns, _, rows, _ = state.arrays["counts"].tolist()
        factor = state.arrays["factor"][:columns, :columns]  # U'U = I + W'D^-1 W
        spectrum = np.linalg.svd(factor, compute_uv=False) ** 2 - 1
        return {"updated_features": rows, "spectrum": spectrum.tolist()}


class Factorable(SecondOrder):
    """A rule that may also go with a factored covariance."""

    kinds = {"diag": Diagonal, "full": Full, "factored": Factored}  # noqa: RUF012
