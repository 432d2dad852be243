"""The learning of rows over groups of chosen features where the columns stay in the shards: CoCoA+
with adding (Ma et al. 2015) in the metric of the groups.

In a pass every shard goes from m and its own dual variables b. With rows sqrt(S) x and a mean
m / sqrt(S) its steps are those of one machine: see `cocoa`. Then m += Sigma sum of (b' - b) y x
over all rows of all shards. What belongs to a row stays in its shard, which sends sums alone.
"""

from __future__ import annotations

from dataclasses import field, replace
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from cwtool.algorithms.batch.learner import Bounds, weights
from cwtool.algorithms.batch.rows_by_column import Matrix, gram_of
from cwtool.algorithms.selection.final_weights import Errors
from cwtool.algorithms.selection.groups import Groups
from cwtool.algorithms.selection.subproblem import (
    SAMPLE,
    Solution,
    Subproblem,
    bend_of,
    pulls,
    sample_of,
    sampled,
    sums_over,
)
from cwtool.algorithms.shards import sharded_columns
from cwtool.algorithms.shards.sharded_columns import (
    ShardedColumns,
    across_of,
    by_row,
    compressed,
    placed,
    total,
)
from cwtool.algorithms.shards.steps import Arrays, Shard
from cwtool.data.rows import Floats, Longs
from cwtool.order import seeded
from cwtool.records import dataclass
from cwtool_ext import sbcw


class StayingColumns(ShardedColumns):
    """Columns none of which is gathered."""

    def gram(self, some: Longs) -> Floats:
        """X'HX of the columns with these numbers, H the weights of the rows."""
        common = {"width": np.array([len(some)])}
        parts = self.shards.ask(gram_of_chosen, self.positions(some), common)
        return np.asarray(sum(part["gram"] for part in parts))


@dataclass
class ShardedSubproblem(Subproblem):
    """A Subproblem whose rows stay in the shards. `beta` of its solutions is empty: the shards have
    the dual variables of the last pass, and before the first one those at weights of 0."""

    columns: StayingColumns | None = None
    class_: int = 1
    chosen: Longs = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    s: Floats = field(default_factory=lambda: np.empty(0))  # sum b_i y_i x_i, by position
    # the same of all columns, if they were asked for since the last pass
    every: Floats = field(default_factory=lambda: np.empty(0))
    most: int = 0  # rows of a shard that `errors` takes a sample of; 0: all
    anew: bool = True  # the next pass starts from dual variables of 0
    goes_back: ClassVar[bool] = False

    def _ask(self, step: Any, given: list[Arrays] | None = None, **common: Any) -> list[Arrays]:
        assert self.columns is not None
        shards = self.columns.shards
        own = [{} for _ in shards.slots] if given is None else given
        common["class"] = self.class_
        return shards.ask(step, own, {name: np.atleast_1d(a) for name, a in common.items()})

    def _positions(self) -> list[Arrays]:
        assert self.columns is not None
        return self.columns.positions(self.chosen)

    def widened(self, columns: Any, new: Longs) -> Subproblem:
        return self

    def joined(self, wide: Subproblem, groups: Groups, new: Longs, past: Floats) -> Subproblem:
        s = np.zeros(len(new))
        if not self.anew:
            s = (self.every if len(self.every) else self.products(self.columns, np.empty(0)))[new]
        return replace(
            self, groups=groups, past=np.append(self.past, past), s=np.append(self.s, s),
            chosen=np.append(self.chosen, new),
        )  # fmt: skip

    def beside(self, columns: Any, some: Longs) -> Subproblem:
        ends = columns.shards.ends
        rows, most = np.diff(ends, prepend=0), max(1, SAMPLE // len(ends))
        C = self.C * rows.sum() / max(1, np.minimum(rows, most).sum())
        return replace(self, C=C, chosen=np.append(self.chosen, some), most=most)

    def start(self, before: Solution | None = None) -> Solution:
        if before is None:
            self.anew, self.s = True, np.zeros(len(self.past))
        return Solution(np.zeros(len(self.past)), np.empty(0), self.groups.share)

    def products(self, columns: Any, beta: Floats) -> Floats:
        self.every = columns.added(self._ask(products_of_duals), 1)[0]
        return self.every

    def bend(self, mu: Floats) -> tuple[Floats, Floats]:
        parts = self._ask(bend_of_errors, self._positions(), mu=mu)
        return total(parts, "gram", "pulled")

    def moments(self, columns: Any, mu: Floats, step: Floats) -> tuple[Floats, Floats]:
        parts = self._ask(moments_of_errors, self._positions(), mu=mu, way=step)
        pull, curvature = columns.added(parts, 2)
        return self.C * pull, curvature

    def across(self, columns: Any, chosen: Longs, some: Longs, mu: Floats) -> tuple[Floats, Floats]:
        given, common = columns.pairs(chosen, some)
        return total(self._ask(across_errors, given, mu=mu, **common), "across", "squares")

    def carried(self, beta: Floats) -> Floats:
        return self.groups.solve(self.past + self.s)

    def metric_pass(self, metric: Floats, m: Floats, beta: Floats) -> None:
        owner, first, sigma = self.covariance
        parts = self._ask(
            ascend, self._positions(), m=m, metric=metric, owner=owner, first=first, sigma=sigma,
            seeds=np.array(self.seeds(), dtype=np.int64), anew=int(self.anew),
        )  # fmt: skip
        self.anew, self.every = False, np.empty(0)
        for part in parts:
            self.s += part["moved"]
        m[:] = self.carried(beta)

    def sums(self, mu: Floats, beta: Floats) -> tuple[float, float, float]:
        parts = self._ask(sums_of_rows, self._positions(), mu=mu)
        loss, linear, square = np.sum([part["sums"] for part in parts], axis=0)
        return float(loss), float(linear), float(square)

    def errors(self, mu: Floats) -> Errors:
        parts = self._ask(errors_of_rows, self._positions(), mu=mu, most=self.most)
        return Errors(np.asarray(sum(part["errors"] for part in parts)))


# -- steps of a shard -----------------------------------------------------------------------------


def gram_of_chosen(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """X'HX of the chosen columns."""
    row, position, value = placed(algorithm, shard, given)
    x = compressed(position, row, value, int(given["width"][0]))
    return {"gram": gram_of(x, np.ascontiguousarray(weights(shard.rows)))}


def products_of_duals(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """X'(b y) for each column."""
    v = _duals(algorithm, shard, given) * _signs(shard, given)
    return sharded_columns.products(algorithm, shard, {"v": v})


def moments_of_errors(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """For each column the sums of h_i xi_i y_i x_ij and h_i x_ij^2 over the rows with an error at
    mu, with the errors xi after a step of this way."""
    h, pull = _pulls(by_row(algorithm, shard, given), shard, given, given["way"])
    return sharded_columns.products(algorithm, shard, {"v": pull, "u": h})


def bend_of_errors(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """X'HX of the chosen columns over a sample of the rows with an error, and X'(h xi y)."""
    x = by_row(algorithm, shard, given)
    gram, pulled = bend_of(x, _pulls(x, shard, given), len(given["mu"]), _share(shard))
    return {"gram": gram, "pulled": pulled}


def across_errors(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """The products of the columns `some` with the chosen ones over the same rows."""
    x = by_row(algorithm, shard, given)
    h = sampled(_pulls(x, shard, given)[0], _share(shard))
    return across_of(algorithm, shard, x, h, given)


def ascend(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """A pass over the rows from m and the dual variables; how far it moves s."""
    x, y, rows = by_row(algorithm, shard, given), _signs(shard, given), shard.rows
    groups = given["owner"], given["first"], given["sigma"]
    wide = replace(x, value=sqrt(shard.shards) * x.value)
    n = np.zeros(len(x.value))
    sbcw.norms(wide.csr, *groups, 0, n)
    before = np.zeros(rows.n_rows) if given["anew"][0] else _duals(algorithm, shard, given)
    beta, own = before.copy(), given["m"] / sqrt(shard.shards)
    order = seeded(rows.n_rows, given["seeds"].tolist())
    bounds: Bounds = algorithm.params.bounds(rows)
    sbcw.metric_pass(wide.csr, y, order, *groups, n, given["metric"], *bounds, own, beta)
    shard.kept[_name(given)] = beta
    return {"moved": x.sums((beta - before) * y, len(own))}


def sums_of_rows(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """The sums over the rows of h xi^q, b and b^2/h."""
    q = 1 if algorithm.params.loss == "hinge" else 2
    x, y = by_row(algorithm, shard, given), _signs(shard, given)
    found = sums_over(x, y, q, shard.rows.weight, given["mu"], _duals(algorithm, shard, given))
    return {"sums": np.array(found)}


def errors_of_rows(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """The matrix of the rows with an error at the weights mu."""
    n, most = shard.rows.n_rows, int(given["most"][0])
    rows = sample_of(n, most or n)
    x, y = by_row(algorithm, shard, given).take(rows), _signs(shard, given)[rows]
    weight = None if shard.rows.weight is None else shard.rows.weight[rows]
    return {"errors": Errors.over(x, y, weight, given["mu"]).matrix}


def _pulls(
    x: Matrix, shard: Shard, given: Arrays, step: Floats | None = None
) -> tuple[Floats, Floats]:
    """h and h xi y of the rows with an error at the weights mu, see `pulls`."""
    return pulls(x, _signs(shard, given), shard.rows.weight, given["mu"], step)


def _share(shard: Shard) -> int:
    """The rows of this shard in a sample of all rows."""
    return max(1, SAMPLE // shard.shards)


def _signs(shard: Shard, given: Arrays) -> Floats:
    return shard.rows.signs(int(given["class"][0]))


def _name(given: Arrays) -> str:
    """The name of the dual variables of a class among what a shard keeps."""
    return f"beta {given['class'][0]}"


def _duals(algorithm: Any, shard: Shard, given: Arrays) -> Floats:
    """The dual variables of the last pass, or those that give the first scores."""
    kept = shard.kept.get(_name(given))
    return algorithm.params.C * weights(shard.rows) if kept is None else kept
