"""Groups of chosen features, each with its covariance.

Group k has P_k = D_k + c G_k with G_k = X_k'H X_k over rows of the weights H, and Sigma_k = P_k^-1
(Tan et al. 2016, where D = I).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cwtool.algorithms.batch.metric import cholesky
from cwtool.data.rows import Floats, Ints, Longs
from cwtool.records import dataclass
from cwtool_ext import fortran


@dataclass
class Groups:
    """The groups, one behind the other: each chosen feature has a position, and row j of `gram`
    and `sigma` is that of position j within its own group, padded with zeros to `width`."""

    c: float  # of groups that are added or grow
    width: int  # features of the largest group
    sizes: list[int]
    gram: Floats
    sigma: Floats
    share: Floats  # d_k, the weight of each group; they sum to 1
    prior: Floats  # the diagonal of D, by position

    @classmethod
    def empty(cls, c: float, width: int) -> Groups:
        """No groups yet."""
        gram, sigma = np.zeros((2, 0, width))
        return cls(c, width, [], gram, sigma, np.empty(0), np.empty(0))

    @property
    def first(self) -> Longs:
        """The position at which each group begins, and the end of the last one."""
        return np.cumsum([0, *self.sizes], dtype=np.int64)

    @property
    def owner(self) -> Ints:
        """The group of each position."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.sizes)

    def parts(self) -> Iterator[tuple[int, slice]]:
        """Each group and its positions."""
        ends = self.first.tolist()
        yield from ((k, slice(ends[k], ends[k + 1])) for k in range(len(self.sizes)))

    def add(self, gram: Floats, prior: Floats | None = None) -> None:
        """Add a group; it takes an equal share from the others. Without a prior, D is I."""
        n = len(gram)
        self.sizes.append(n)
        self.prior = np.append(self.prior, np.ones(n) if prior is None else prior)
        padding = np.zeros((n, self.width))
        self.gram, self.sigma = (np.vstack([a, padding]) for a in (self.gram, self.sigma))
        self.grow(len(self.sizes) - 1, gram)
        self.share = self.sharing(self.share).share

    def sharing(self, share: Floats) -> Groups:
        """The same groups with other shares, as a further class has them; new groups get an equal
        part."""
        while len(share) < len(self.sizes):
            each = 1 / (len(share) + 1)
            share = np.append(share * (1 - each), each)
        return replace(self, share=share)

    def grow(self, k: int, gram: Floats) -> None:
        """G_k += gram"""
        start, n = int(self.first[k]), self.sizes[k]
        total = self.gram[start : start + n, :n]
        total += gram
        precision = np.diag(self.prior[start : start + n]) + self.c * total
        inverse = fortran.cho_solve(cholesky(precision), np.eye(n))
        self.sigma[start : start + n, :n] = (inverse + inverse.T) / 2

    def solve(self, s: Floats) -> Floats:
        """m = Sigma s, for a number s at each position."""
        return np.asarray((self.sigma * self._beside(s)).sum(axis=1))

    def squares(self, m: Floats) -> Floats:
        """a_k^2 = m_k' P_k m_k"""
        if not self.sizes:
            return np.empty(0)
        each = m * (self.prior * m + self.c * (self.gram * self._beside(m)).sum(axis=1))
        total: Floats = np.maximum(np.add.reduceat(each, self.first[:-1]), 0)  # rounding
        return total

    def penalty(self, metric: Floats) -> Floats:
        """The matrix with P_k / metric_k on its diagonal, for a number of each group."""
        whole = np.diag(self.prior)
        for k, at in self.parts():
            whole[at, at] += self.c * self.gram[at, : self.sizes[k]]
            whole[at, at] /= metric[k]
        return whole

    def diagonal(self) -> Floats:
        """The diagonal of Sigma: a variance for each position."""
        return self._of_itself(self.sigma)

    def own_squares(self) -> Floats:
        """x_j'Hx_j for each position j."""
        return self._of_itself(self.gram)

    def _of_itself(self, matrices: Floats) -> Floats:
        """The diagonals of the matrices of all groups."""
        within = np.arange(len(self.owner)) - self.first[self.owner]
        return np.asarray(matrices[np.arange(len(within)), within])

    def known(self, places: Longs) -> Floats:
        """What the groups know of X'HX of the features at these positions: G_ij where i and j are
        in the same group, else 0. A position of -1 stands for a feature that is in no group."""
        gram = np.zeros((len(places), len(places)))
        known = np.flatnonzero(places >= 0)
        owner = self.owner[places[known]]
        i, j = np.nonzero(owner[:, None] == owner[None, :])
        within = places[known] - self.first[owner]
        gram[known[i], known[j]] = self.gram[places[known[i]], within[j]]
        return gram

    def _beside(self, values: Floats) -> Floats:
        """For each position the values of its whole group; what lies beyond meets zeros."""
        at = self.first[self.owner][:, None] + np.arange(self.width)
        return np.asarray(np.append(values, np.zeros(self.width))[at])
