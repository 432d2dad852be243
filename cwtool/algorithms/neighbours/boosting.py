"""Boosting of a sparse metric W = sum w xi xi' over products of columns (Ma 2017, Algorithm 2.2).

Each row i has k neighbours j of its own class and k of the opposite class, and
    margin_i = (mean of |z_i - z_j|^2 over opposite j) - (mean over same j)
    loss     = sum exp(-margin_i), or sum log(1 + exp(-margin_i))
A step finds the sparse xi that raises the margins of rows with small margins most, and the w that
lowers the loss most. Every `update_every` steps the neighbours are searched anew in the metric so
far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from cwtool.algorithms.neighbours.eigenvector import sparse_eigenvector
from cwtool.algorithms.neighbours.monomials import Candidates, Key, Monomials, Term, metric
from cwtool.algorithms.neighbours.screening import telling_pairs
from cwtool.algorithms.neighbours.search import nearest
from cwtool.data.rows import Floats, Longs
from cwtool.order import permutation
from cwtool.run import Progress, no_progress
from cwtool_ext import sdist as kernel

MOST = 1e3  # largest weight of a step
LEAST = -3.0  # margin; smaller ones count as this one when the last step to keep is chosen
BAG = 0  # second seeds, which make bags and samples of features independent of each other
FEATURES = 1


class Hood(NamedTuple):
    """The neighbourhood of each row: its k nearest of the same and of the opposite class, and its
    margin."""

    same: Longs
    opposite: Longs
    margin: Floats

    def learner(self, t: Floats) -> Floats:
        """g: what a term xi xi' with t = Phi xi adds to the margin of each row."""
        g = np.empty(len(t))
        kernel.base_learner(t, self.same, self.opposite, g)
        return g


def hood(points: Any, kind: NDArray[Any], k: int, jobs: int) -> Hood:
    """The neighbourhoods of these points, whose classes are `kind`; each class must have more than
    k of them. Of several classes, all others are the opposite one."""
    near = nearest(points, points, kind, k, loo=True, jobs=jobs).rest(kind)
    same, opposite = near.who[:, 0], near.who[:, 1]
    apart = near.distance.mean(axis=2)
    return Hood(
        np.ascontiguousarray(same), np.ascontiguousarray(opposite), apart[:, 1] - apart[:, 0]
    )


def residuals(f: Floats, loss: str) -> Floats:
    """-dloss/df, up to a common factor that keeps the exponential loss finite."""
    u: Floats = np.exp(f.min() - f if loss == "exp" else -np.logaddexp(0, f))
    return u


def total_loss(f: Floats, loss: str) -> float:
    """The loss of the margins f."""
    if loss == "exp":
        return float(np.exp(np.minimum(-f, 700)).sum())
    return float(np.logaddexp(0, -f).sum())


class Path(NamedTuple):
    """The terms of the accepted steps, and for each step, accepted or not, the loss and the
    complexity C = sum_j sqrt(W_jj) after it."""

    terms: list[Term]
    loss: list[float]
    complexity: list[float]


Seeds = tuple[int, ...]
# candidates, neighbourhoods, bag, weights of its rows, step -> keys, xi over these keys, xi'A xi
Finder = Callable[[Candidates, Hood, Longs, Floats, int], tuple[Sequence[Key], Floats, float]]


class Boost:
    """The boosting of one metric on these rows."""

    def __init__(
        self, monomials: Monomials, kind: NDArray[Any], params: Any, seeds: Seeds, jobs: int
    ) -> None:
        """`kind`: the class number of each row."""
        self.monomials, self.kind, self.params = monomials, kind, params
        self.seeds, self.jobs = seeds, jobs
        smallest = np.bincount(kind, minlength=2).min()
        self.k = min(params.k, int(smallest) - 1)
        self.live = max(1, int(np.count_nonzero(monomials.deviation > 0)))

    def again(self, number: int) -> Boost:
        """Another boosting on the same rows with a different random seed; number 0 is this one."""
        if not number:
            return self
        other = copy(self)  # with the first neighbourhoods and pairs, if they are known
        other.seeds = (*self.seeds, number)
        return other

    def having(self, params: Any) -> Boost:
        """A copy that boosts the same rows with these parameters. Their k, the number of nearest
        rows of each class, must be that of this one, because the nearest rows are shared."""
        other = copy(self)
        other.params = params
        return other

    @cached_property
    def first(self) -> Hood:
        """The neighbourhoods in the scaled columns, from which all runs start."""
        return hood(self.monomials.base, self.kind, self.k, self.jobs)

    @cached_property
    def telling(self) -> list[tuple[int, int]]:
        """The pairs of columns that may be chosen from the first step on."""
        return telling_pairs(self.monomials.base, self.kind)

    def points(self, terms: Sequence[Term]) -> Any:
        """The rows as points in the metric of these terms plus w0 times the identity; in the scaled
        columns where there are no terms."""
        base, share = self.monomials.base, self.params.w0 / self.live
        if not terms:
            return base
        found = metric(terms, self.monomials, self.params.order)
        z = self.monomials.matrix([tuple(key[key >= 0].tolist()) for key in found.keys])
        return beside(base, share, z @ found.factor)

    def run(self, steps: int, find: Finder, progress: Progress = no_progress) -> Path:
        """Make this number of steps. Without two rows of each class, or without columns that are
        not constant, the path is empty."""
        p, path = self.params, Path([], [], [])
        if self.k < 1:
            return path
        around = self.first
        f = p.w0 / self.live * around.margin
        early = p.init_squares and not self.monomials.sparse and p.order > 1
        candidates = Candidates(self.monomials, p.order, early, self.telling if early else [])
        diagonal: dict[Key, float] = {}
        if not candidates.keys:
            return path
        for step in range(1, steps + 1):
            if p.update_every and step > 1 and (step - 1) % p.update_every == 0 and path.terms:
                around = hood(self.points(path.terms), self.kind, self.k, self.jobs)
                f = around.margin
            found = self._step(candidates, around, f, step, find)
            if found is not None:
                w, keys, xi, g = found
                f = f + w * g
                path.terms.append(Term(step, w, keys, xi))
                for key, x in zip(keys, xi.tolist(), strict=True):
                    diagonal[key] = diagonal.get(key, 0.0) + w * x * x
                candidates.expand(keys)
            path.loss.append(total_loss(f, p.loss))
            path.complexity.append(float(np.sqrt(list(diagonal.values())).sum()))
            progress(f"{step:,} of {steps:,} steps", step / steps)
        return path

    def _step(
        self, candidates: Candidates, around: Hood, f: Floats, step: int, find: Finder
    ) -> tuple[float, tuple[Key, ...], Floats, Floats] | None:
        """Weight, keys, xi and g of the step, or None if it is rejected."""
        p, n = self.params, len(f)
        size = min(n, max(4, ceil(p.bag * n)))
        mixed = permutation(n, *self.seeds, BAG, step) if size < n else np.arange(n)
        bag, rest = np.sort(mixed[:size]), np.sort(mixed[size:])
        u = residuals(f[bag], p.loss)
        keys, xi, value = find(candidates, around, bag, u / u.sum(), step)
        if not value > 0:
            return None
        kept = np.flatnonzero(xi)
        support, xi = tuple(keys[j] for j in kept.tolist()), xi[kept]
        g = around.learner(self.monomials.along(support, xi))
        if p.weight_on == "oob" and len(rest):
            gain = residuals(f[rest], p.loss) * g[rest]
            if not gain.sum() > p.z_accept * np.sqrt(gain @ gain):
                return None
            bag = rest
        w = kernel.line_search(f[bag], g[bag], p.loss == "logistic", MOST)
        return (p.shrink * w, support, xi, g) if w > 0 else None

    def truncated_power(
        self, candidates: Candidates, around: Hood, bag: Longs, u: Floats, step: int
    ) -> tuple[Sequence[Key], Floats, float]:
        """The direction of a step among a sample of the candidates: a Finder."""
        p = self.params
        keys = candidates.sample(p.sample, *self.seeds, FEATURES, step)
        phi = self.monomials.matrix(keys)
        pulled = np.zeros(phi.shape)
        kernel.laplacian(phi, around.same, around.opposite, bag, u, pulled)
        A = phi.T @ pulled
        share = p.direction_share
        kappa = ceil(share * len(keys)) if share else p.direction_columns
        return keys, *sparse_eigenvector((A + A.T) / 2, kappa)

    def stopped(self, path: Path, steps: int, lambda_c: float) -> list[Term]:
        """The terms up to the step that minimizes loss + lambda_c C among the first `steps`."""
        loss = np.array(path.loss[:steps])
        terms = [t for t in path.terms if t.step <= steps]
        if self.params.stop == "last" or not terms:
            return terms
        if self.params.stop == "common":
            loss = self.common_loss(terms, len(loss))
        best = 1 + int(np.argmin(loss + lambda_c * np.array(path.complexity[:steps])))
        return [t for t in terms if t.step <= best]

    def common_loss(self, terms: Sequence[Term], steps: int) -> Floats:
        """The loss after each step, measured on the neighbours of the final metric: losses that
        are measured on different neighbours cannot be compared. The exponential loss of a single
        row with a very small margin would be larger than that of all others, and would decide
        which step is the last, so that margins are at least LEAST."""
        p = self.params
        around = hood(self.points(terms), self.kind, self.k, self.jobs)
        f = np.zeros(self.monomials.n_rows)
        if p.w0:
            f = around.margin - sum(
                t.weight * around.learner(self.monomials.along(t.keys, t.xi)) for t in terms
            )
        loss, by_step = np.empty(steps), {t.step: t for t in terms}
        for step in range(1, steps + 1):
            t = by_step.get(step)
            if t is not None:
                f = f + t.weight * around.learner(self.monomials.along(t.keys, t.xi))
            loss[step - 1] = total_loss(np.maximum(f, LEAST) if p.loss == "exp" else f, p.loss)
        return loss


def beside(base: Any, share: float, z: Floats) -> Any:
    """Points whose squared distances are share |base_i - base_j|^2 + |z_i - z_j|^2."""
    if not share:
        return z
    if isinstance(base, np.ndarray):
        return np.hstack([np.sqrt(share) * base, z])
    return csr_array(hstack([np.sqrt(share) * base, csr_array(z)], format="csr"))
