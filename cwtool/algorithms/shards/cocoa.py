"""Dual coordinate ascent on shards: CoCoA+ with adding (Ma et al. 2015).

Each round every shard goes from mu and its own dual variables a:
    own = mu;  H passes over its rows:
        b = clip(a_i - (y_i own.x_i - 1 + D a_i) / (S x_i'Sigma x_i + D), 0, U)
        own += S (b - a_i) y_i Sigma x_i;  a_i = b
and then mu += Sigma sum of (b - a) y x over all rows of all shards. With rows sqrt(S) x and a mean
own / sqrt(S) these are the steps of one machine, so that its kernels are used. With Sigma = I a
round goes on in the direction of the last one: see `Momentum`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, sqrt
from typing import Any

import numpy as np

from cwtool.algorithms.batch.dual_ascent import Start
from cwtool.algorithms.batch.gram import add_gram
from cwtool.algorithms.batch.learner import Bounds, squared_norms
from cwtool.algorithms.batch.metric import Covariance, Metric, Whitened, cheapest_visit
from cwtool.algorithms.shards.steps import Arrays, Shard, Shards
from cwtool.data.rows import Floats, Ints, SlotRows
from cwtool.records import dataclass
from cwtool_ext import dual

ROUNDS, MORE_ROUNDS = 3, 5  # in a metric; more of them from
MANY = 64  # shards on

Ascend = Callable[[Floats, Floats, Floats], None]  # (signs, mean, dual variables), which it moves


@dataclass(frozen=True)
class Totals:
    """The batch as the driver sees it: u = sum of a y x over all rows, a line for each class."""

    slots: Ints  # of the features of the batch
    places: Sequence[Ints]  # of the columns of each shard among them
    u: Floats

    @classmethod
    def zero(cls, shards: Shards, classes: int) -> Totals:
        """All dual variables at 0."""
        slots = np.unique(np.concatenate(shards.slots))
        places = [np.searchsorted(slots, own).astype(np.int32) for own in shards.slots]
        return cls(slots, places, np.zeros((classes, len(slots))))

    def add(self, parts: Sequence[Arrays]) -> None:
        """u += what the shards have moved it by, in their order."""
        for part, at in zip(parts, self.places, strict=True):
            self.u[:, at] += part["moved"]


def primal(u: Floats, parts: Sequence[Arrays], q: int) -> Floats:
    """1/2 |u|^2 + C/q sum h xi^q of w = w0 + u for each class, before the step of these parts."""
    loss = np.sum([part["loss"] for part in parts], axis=0)
    found: Floats = (u * u).sum(axis=1) / 2 + loss / q
    return found


def lower(w0: Floats, u: Floats, parts: Sequence[Arrays]) -> Floats:
    """sum a - 1/2 sum D a^2 - 1/2 |u|^2 - w0.u for each class, after the step of these parts: no
    primal objective is below it."""
    linear, square = np.sum([part["dual"] for part in parts], axis=0)
    found: Floats = linear - square / 2 - (u * u).sum(axis=1) / 2 - (w0 * u).sum(axis=1)
    return found


class Momentum:
    """Where a round starts: beyond the dual variables a in which the last one ended, in the
    direction in which they went (Nesterov 1983), within their bounds:
        t' = (1 + sqrt(1 + 4 t^2)) / 2;   clip(a + (t - 1) / t' (a - a before), 0, U)
    t is 1 at first, and again for a class whose dual objective has fallen (O'Donoghue and Candes
    2015)."""

    def __init__(self, classes: int) -> None:
        self.t, self.dual = np.ones(classes), np.zeros(classes)

    @property
    def next(self) -> Floats:
        """The next momentum number t' = (1 + sqrt(1 + 4 t^2)) / 2 of each class."""
        found: Floats = (1 + np.sqrt(1 + 4 * self.t**2)) / 2
        return found

    @property
    def length(self) -> Floats:
        """The momentum (t - 1) / t' of each class."""
        found: Floats = (self.t - 1) / self.next
        return found

    def heed(self, dual: Floats) -> None:
        """Go on with these dual objectives; where one has fallen, the momentum begins anew."""
        self.t = np.where(dual < self.dual, 1.0, self.next)
        self.dual = dual


def add_grams(gram: Floats, shards: Shards) -> None:
    """gram += X'HX of all shards, on and below the diagonal."""
    add_parts(gram, shards.ask(gram_of, [{} for _ in shards.slots]), shards.slots)


def add_parts(gram: Floats, parts: Sequence[Arrays], slots_of: Sequence[Ints]) -> None:
    """gram += the packed matrices of all shards over their columns, which have these slots."""
    for part, slots in zip(parts, slots_of, strict=True):
        one, other = np.repeat(slots, part["filled"]), slots[part["column"]]
        gram[np.maximum(one, other), np.minimum(one, other)] += part["value"]


def rounds_in_metric(
    inverse: Metric, starts: Floats, classes: Sequence[int], passes: int, shards: Shards
) -> tuple[Floats, Floats]:
    """mu and b = sum of a y x of each class after the rounds, mu = start + P^-1 b."""
    total, mu, b = Totals.zero(shards, len(starts)), starts.copy(), np.zeros_like(starts)
    own = [{"slots": slots} for slots in shards.slots]
    form = cheapest_visit(shards.head, inverse.n, passes)
    prepared = form.of(inverse.factor, 1).prepared  # once for all shards and rounds
    for _ in range(shards.rounds or (ROUNDS if len(own) < MANY else MORE_ROUNDS)):
        common = {
            "classes": np.array(classes), "passes": np.array([passes]), "mu": mu,
            form.name: prepared,
        }  # fmt: skip
        total.add(shards.ask(descend_in_metric, own, common))
        b[:, total.slots] = total.u
        mu = starts + np.array([inverse.solve(one) for one in b])
    return mu, b


# -- steps of a shard -----------------------------------------------------------------------------


def descend(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """A step with Sigma = I from the means of the columns of the shard, and on by the `momentum` of
    each class. Also returns the loss before the step, and the sums of the dual after it."""
    rows = _stretched(shard)
    v = squared_norms(rows)
    bounds: Bounds = algorithm.params.bounds(rows)

    def ascend(y: Floats, mu: Floats, a: Floats) -> None:
        own = mu / sqrt(shard.shards)
        for _ in range(int(given["passes"][0])):
            dual.plain_pass(rows.csr, y, v, *bounds, own, a)

    loss = _loss(algorithm, shard, given)
    found = _moved(shard, given, ascend, given.get("momentum"), bounds.upper)
    a = shard.kept["a"]
    sums = np.array([a.sum(axis=1), (bounds.ridge * a**2).sum(axis=1)])
    return found | {"loss": loss, "dual": sums}


def descend_in_metric(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """A step with Sigma = P^-1 from the means of all slots, with the factor of P or Sigma."""
    slots, passes = given["slots"], int(given["passes"][0])
    rows = _stretched(shard)
    by_slot, bounds = replace(rows, indices=slots[rows.indices]), algorithm.params.bounds(rows)
    inverse = next(f.having(given[f.name]) for f in (Whitened, Covariance) if f.name in given)

    def ascend(y: Floats, mu: Floats, a: Floats) -> None:
        start = Start(y, mu / sqrt(shard.shards), a)
        a[:] = inverse.ascend(by_slot, [start], bounds, passes)[0].a

    return _moved(shard, given, ascend)


def gram_of(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """X'HX over the columns of a shard, packed."""
    gram = np.zeros((shard.columns, shard.columns))
    add_gram(shard.rows, gram, shard.columns, 1)
    return packed(gram)


def packed(gram: Floats) -> Arrays:
    """The lines of a matrix on and below the diagonal: how many numbers other than 0 each has,
    their columns and values."""
    line, column = np.nonzero(np.tril(gram))
    return {
        "filled": np.bincount(line, minlength=len(gram)),
        "column": column.astype(np.int32),
        "value": gram[line, column],
    }


def _stretched(shard: Shard) -> SlotRows:
    """The rows times sqrt(S)."""
    return replace(shard.rows, scale=shard.rows.scale * sqrt(shard.shards))


def _duals(shard: Shard, given: Arrays) -> Floats:
    """The dual variables of the shard, a line for each class."""
    found = shard.kept.get("a")
    return np.zeros((len(given["classes"]), shard.rows.n_rows)) if found is None else found


def _moved(
    shard: Shard,
    given: Arrays,
    ascend: Ascend,
    momentum: Floats | None = None,
    upper: Floats | float = inf,
) -> Arrays:
    """Move the dual variables of each class; how far that moves u."""
    before = _duals(shard, given)
    a, found = before.copy(), np.zeros((len(before), shard.columns))
    signs = [shard.rows.signs(class_) for class_ in given["classes"].tolist()]
    for k, y in enumerate(signs):
        ascend(y, given["mu"][k], a[k])
    if momentum is not None:
        last = shard.kept.get("ended", np.zeros_like(a))
        shard.kept["ended"] = a
        a = np.clip(a + momentum[:, None] * (a - last), 0.0, upper)
    for k, y in enumerate(signs):
        found[k] = shard.sums((a[k] - before[k]) * y)
    shard.kept["a"] = a
    return {"moved": found}


def _loss(algorithm: Any, shard: Shard, given: Arrays) -> Floats:
    """The sum of C h xi^q over the rows, for each class."""
    rows, p = shard.rows, algorithm.params
    ridge, upper = p.bounds(rows)
    cost, q = (upper, 1) if p.loss == "hinge" else (1 / ridge, 2)
    sums = []
    for mu, class_ in zip(given["mu"], given["classes"].tolist(), strict=True):
        margin = np.empty(rows.n_rows)
        dual.margins(rows.csr, np.ascontiguousarray(mu[:, None]), 0, margin)
        sums.append((cost * np.maximum(0, 1 - rows.signs(class_) * margin) ** q).sum())
    return np.array(sums)
