"""Products of scaled columns, computed on demand, and the metric over them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np

from cwtool.data.rows import Floats, Ints
from cwtool.order import permutation
from cwtool_ext import monomials as kernel

Key = tuple[int, ...]  # ascending column numbers of a product: (4,) is a column, (2, 2) a square

MOST = 200_000  # candidates; products that come later are left out


class Monomials:
    """The values of keys. A product is divided by its standard deviation and multiplied by the
    geometric mean of the deviations of its columns, so that it is as large as its columns are.
    A product that is constant, or nonzero in few rows of sparse data, is never chosen."""

    def __init__(self, base: Any, deviation: Floats) -> None:
        """The scaled columns, as an array or a CSR matrix, and their standard deviations; 0 marks a
        column that is not used."""
        self.base, self.deviation = base, deviation
        self.sparse = not isinstance(base, np.ndarray)
        self._columns: Any = base.tocsc() if self.sparse else np.asfortranarray(base)
        self._scales: dict[Key, float] = {}

    @property
    def n_rows(self) -> int:
        return int(self.base.shape[0])

    def _single(self, j: int) -> Floats:
        if not self.sparse:
            column: Floats = self._columns[:, j]
            return column
        out, c = np.zeros(self.n_rows), self._columns
        some = slice(c.indptr[j], c.indptr[j + 1])
        out[c.indices[some]] = c.data[some]
        return out

    def _product(self, key: Key) -> Floats:
        out: Floats = self._single(key[0]).copy()
        for j in key[1:]:
            out *= self._single(j)
        return out

    def scale(self, key: Key) -> float:
        """The number that the product is divided by; inf if the product is never chosen."""
        if len(key) == 1:
            return 1.0
        if key not in self._scales:
            product = self._product(key)
            sd = float(product.std())
            rare = np.count_nonzero(product) < max(3, 0.01 * len(product))
            typical = float(np.exp(np.log(self.deviation[list(key)]).mean()))
            dead = sd < 1e-10 or (self.sparse and rare)
            self._scales[key] = np.inf if dead else sd / typical
        return self._scales[key]

    def column(self, key: Key) -> Floats:
        """The values of a key in all rows."""
        product = self._product(key)
        if len(key) > 1:
            product /= self.scale(key)
        return product

    def matrix(self, keys: Sequence[Key]) -> Floats:
        """Phi: a column for each key."""
        if self.sparse:
            return np.ascontiguousarray(np.stack([self.column(key) for key in keys], axis=1))
        phi = np.empty((self.n_rows, len(keys)))
        scale = np.array([self.scale(key) for key in keys])
        kernel.products(self.base, padded(keys, max(map(len, keys))), scale, phi)
        return phi

    def along(self, keys: Sequence[Key], xi: Floats) -> Floats:
        """t = Phi xi"""
        t = np.zeros(self.n_rows)
        for key, x in zip(keys, xi.tolist(), strict=True):
            t += x * self.column(key)
        return t


class Candidates:
    """The keys that may be chosen: single columns, products of two chosen keys up to `order`
    columns, with `squares` the squares of all columns, and from the first step on the `telling`
    products."""

    def __init__(
        self, monomials: Monomials, order: int, squares: bool, telling: Sequence[Key] = ()
    ) -> None:
        self.monomials, self.order = monomials, order
        self.keys: list[Key] = []
        self.chosen: set[Key] = set()
        self._known: set[Key] = set()
        self._chosen: list[list[Key]] = [
            [] for _ in range(order)
        ]  # those of at most 0, 1, .. columns
        self._by_order: dict[int, list[int]] = {}
        live = np.flatnonzero(monomials.deviation > 0).tolist()
        for j in live:
            self._add((j,))
        if squares:
            for j in live:
                self._add((j, j))
        for key in telling:
            self._add(key)
        place = {key: at for at, key in enumerate(self.keys)}
        self.telling = [place[key] for key in telling]  # their places among the keys

    def _add(self, key: Key) -> None:
        if key not in self._known and len(self.keys) < MOST:
            self._known.add(key)
            self._by_order.setdefault(len(key), []).append(len(self.keys))
            self.keys.append(key)

    def expand(self, support: Sequence[Key]) -> None:
        """Add the products of the keys of a step with all keys chosen so far."""
        new = [key for key in support if key not in self.chosen]
        self.chosen.update(new)
        for most, shorter in enumerate(self._chosen):
            shorter += [key for key in new if len(key) <= most]
        for a in support:
            shorter = self._chosen[self.order - len(a)]
            for b in shorter if a in new else new:
                key = tuple(sorted(a + b))
                if len(key) > self.order or key in self._known:
                    continue
                if not self.monomials.sparse or np.isfinite(self.monomials.scale(key)):
                    self._add(key)

    def sample(self, how: str, *seeds: int) -> list[Key]:
        """A sample of about the square root of their number, in their order: equally many of each
        order and of the telling products (strat), drawn without regard to the order (uniform), or
        all of them (none)."""
        n = len(self.keys)
        wanted = min(n, max(10, ceil(sqrt(n))))
        if how == "none":
            return self.keys
        groups = [list(range(n))]
        if how == "strat":
            groups = [self._by_order[order] for order in sorted(self._by_order, reverse=True)]
            groups = [self.telling, *groups] if self.telling else groups
        found: list[int] = []
        for r, group in enumerate(groups):
            take = min(len(group), (wanted - len(found)) // (len(groups) - r))
            some = permutation(len(group), *seeds, r)[:take]
            found += [group[k] for k in some.tolist()]
        return [self.keys[k] for k in sorted(set(found))]


class Term(NamedTuple):
    """The term weight xi xi' of the metric over `keys`, found at this step, counted from 1."""

    step: int
    weight: float
    keys: tuple[Key, ...]
    xi: Floats


class Metric(NamedTuple):
    """W = factor factor' over the products `keys`, each divided by its scale. A row of `keys` has
    the columns of one product, filled up with -1."""

    keys: Ints
    scale: Floats
    factor: Floats

    @property
    def importance(self) -> Floats:
        """The diagonal of W."""
        total: Floats = (self.factor**2).sum(axis=1)
        return total

    def embed(self, columns: Floats, used: Ints) -> Floats:
        """The points z whose squared distances |z - z'|^2 are those of W. `columns` are the values
        of the columns `used`, which ascend."""
        keys = np.where(self.keys < 0, -1, np.searchsorted(used, self.keys)).astype(np.int32)
        z = np.zeros((len(columns), self.factor.shape[1]))
        kernel.transform(np.ascontiguousarray(columns), keys, self.scale, self.factor, z)
        return z

    @property
    def used(self) -> Ints:
        """The columns that it needs, ascending."""
        found = np.unique(self.keys)
        return found[found >= 0].astype(np.int32)


def metric(terms: Sequence[Term], monomials: Monomials, order: int) -> Metric:
    """The sum of the terms, with a factor of no more columns than there are terms or products."""
    support = sorted({key for t in terms for key in t.keys}, key=lambda key: (len(key), key))
    place = {key: s for s, key in enumerate(support)}
    factor = np.zeros((len(support), len(terms)))
    for m, t in enumerate(terms):
        factor[[place[key] for key in t.keys], m] = sqrt(t.weight) * t.xi
    if len(terms) > len(support):
        values, vectors = np.linalg.eigh(factor @ factor.T)
        kept = values > 1e-12 * values[-1]
        factor = np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))
    scale = np.array([monomials.scale(key) for key in support])
    return Metric(padded(support, order), scale, factor)


def padded(keys: Sequence[Key], order: int) -> Ints:
    """The keys as rows of `order` columns, filled up with -1."""
    return np.array([key + (-1,) * (order - len(key)) for key in keys], dtype=np.int32).reshape(
        len(keys), order
    )
