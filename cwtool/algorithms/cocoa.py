"""Dual coordinate ascent on shards: CoCoA+ with adding (Ma et al. 2015).

Each round every shard goes from mu and its own dual variables a:
    own = mu;  H passes over its rows:
        b = clip(a_i - (y_i own.x_i - 1 + D a_i) / (S x_i'Sigma x_i + D), 0, U)
        own += S (b - a_i) y_i Sigma x_i;  a_i = b
and then mu += Sigma sum of (b - a) y x over all rows of all shards. With rows sqrt(S) x and a mean
own / sqrt(S) these are the steps of one machine, so that its kernels are used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any

import numpy as np

from cwtool.algorithms.ascent import Start
from cwtool.algorithms.batch import Bounds, squared_norms
from cwtool.algorithms.dealt import Arrays, Shard, Shards
from cwtool.algorithms.metric import Metric, add_gram, cheapest
from cwtool.data.rows import Floats, Ints, SlotRows
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


def gaps(w0: Floats, u: Floats, parts: Sequence[Arrays], q: int) -> Floats:
    """The relative duality gap of w = w0 + u for each class, from sums over the shards:
    primal  1/2 |u|^2 + C/q sum h xi^q;   dual  sum a - 1/2 sum D a^2 - 1/2 |u|^2 - w0.u"""
    loss, linear, square = np.sum([part["objective"] for part in parts], axis=0)
    norm = (u * u).sum(axis=1) / 2
    primal = norm + loss / q
    lower = linear - square / 2 - norm - (w0 * u).sum(axis=1)
    found: Floats = (primal - lower) / np.maximum(primal, 1e-300)
    return found


def add_grams(gram: Floats, shards: Shards) -> None:
    """gram += X'HX of all shards, on and below the diagonal."""
    add_parts(gram, shards.ask(gram_of, [{} for _ in shards.slots]), shards.slots)


def add_parts(gram: Floats, parts: Sequence[Arrays], slots_of: Sequence[Ints]) -> None:
    """gram += the packed matrices of all shards over their columns, which have these slots."""
    for part, slots in zip(parts, slots_of, strict=True):
        end = 0
        for k, slot in enumerate(slots):
            start, end, below = end, end + k + 1, slots[: k + 1]
            at = np.maximum(slot, below), np.minimum(slot, below)
            gram[at] += part["gram"][start:end]


def rounds_in_metric(
    inverse: Metric, starts: Floats, classes: Sequence[int], passes: int, shards: Shards
) -> tuple[Floats, Floats]:
    """mu and b = sum of a y x of each class after the rounds, mu = start + P^-1 b."""
    total, mu, b = Totals.zero(shards, len(starts)), starts.copy(), np.zeros_like(starts)
    own = [{"slots": slots} for slots in shards.slots]
    for _ in range(shards.rounds or (ROUNDS if len(own) < MANY else MORE_ROUNDS)):
        common = {
            "classes": np.array(classes), "passes": np.array([passes]), "factor": inverse.factor,
            "mu": mu,
        }  # fmt: skip
        total.add(shards.ask(descend_in_metric, own, common))
        b[:, total.slots] = total.u
        mu = starts + np.array([inverse.solve(one) for one in b])
    return mu, b


# -- steps of a shard -----------------------------------------------------------------------------


def descend(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """A step with Sigma = I from the means of the columns of the shard. Also returns the parts of
    the objectives before it."""
    rows = _stretched(shard)
    v = squared_norms(rows)
    bounds: Bounds = algorithm.params.bounds(rows)

    def ascend(y: Floats, mu: Floats, a: Floats) -> None:
        own = mu[:, None] / sqrt(shard.shards)
        for _ in range(int(given["passes"][0])):
            dual.shrinking_pass(rows.csr, y, rows.order, v, *bounds, inf, -inf, own, a)

    objective = _objective(algorithm, shard, given)
    return _moved(shard, given, ascend) | {"objective": objective}


def descend_in_metric(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """A step with Sigma = P^-1 from the means of all slots, with the factor of P."""
    factor, slots, passes = given["factor"], given["slots"], int(given["passes"][0])
    rows = _stretched(shard)
    by_slot, bounds = replace(rows, indices=slots[rows.indices]), algorithm.params.bounds(rows)
    inverse = cheapest(rows, len(factor), passes, False).of(factor, 1)

    def ascend(y: Floats, mu: Floats, a: Floats) -> None:
        start = Start(y, mu / sqrt(shard.shards), a)
        a[:] = inverse.ascend(by_slot, [start], bounds, passes)[0].a

    return _moved(shard, given, ascend)


def gram_of(algorithm: Any, shard: Shard, given: Arrays) -> Arrays:
    """X'HX over the columns of a shard, on and below the diagonal."""
    gram = np.zeros((shard.columns, shard.columns))
    add_gram(shard.rows, gram, shard.columns, 1)
    return {"gram": packed(gram)}


def packed(gram: Floats) -> Floats:
    """The values on and below the diagonal, line by line."""
    return np.concatenate([np.empty(0), *(line[: k + 1] for k, line in enumerate(gram))])


def _stretched(shard: Shard) -> SlotRows:
    """The rows times sqrt(S)."""
    return replace(shard.rows, scale=shard.rows.scale * sqrt(shard.shards))


def _duals(shard: Shard, given: Arrays) -> Floats:
    """The dual variables of the shard, a line for each class."""
    found = shard.kept.get("a")
    return np.zeros((len(given["classes"]), shard.rows.n_rows)) if found is None else found


def _moved(shard: Shard, given: Arrays, ascend: Ascend) -> Arrays:
    """Move the dual variables of each class; how far that moves u."""
    before = _duals(shard, given)
    a, found = before.copy(), np.zeros((len(before), shard.columns))
    for k, class_ in enumerate(given["classes"].tolist()):
        y = shard.rows.signs(class_)
        ascend(y, given["mu"][k], a[k])
        found[k] = shard.sums((a[k] - before[k]) * y)
    shard.kept["a"] = a
    return {"moved": found}


def _objective(algorithm: Any, shard: Shard, given: Arrays) -> Floats:
    """The sums of C h xi^q, a and D a^2 over the rows, for each class."""
    rows, p = shard.rows, algorithm.params
    ridge, upper = p.bounds(rows)
    cost, q = (upper, 1) if p.loss == "hinge" else (1 / ridge, 2)
    sums = []
    for mu, class_, a in zip(
        given["mu"], given["classes"].tolist(), _duals(shard, given), strict=True
    ):
        margin = np.empty(rows.n_rows)
        dual.margins(rows.csr, np.ascontiguousarray(mu[:, None]), 0, margin)
        loss = cost * np.maximum(0, 1 - rows.signs(class_) * margin) ** q
        sums.append([loss.sum(), a.sum(), (ridge * a**2).sum()])
    found: Floats = np.array(sums).T
    return found
