"""Boosting of a sparse metric (Ma 2017, Algorithm 2.2).

W = sum w xi xi' over products of columns. With k neighbours of either class of each row,
    margin_i = mean |z_i - z_j|^2 over opposite j - mean over same j,   loss = sum exp(-margin_i)
a step finds the sparse xi that raises the margins of badly placed rows most, and the w that lowers
the loss most. Neighbours are found anew, in the metric so far, every so many steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from cwtool.algorithms.base import Tell, silent
from cwtool.algorithms.eigen import sparse_eigenvector
from cwtool.algorithms.monomials import Candidates, Key, Monomials, Term, metric
from cwtool.algorithms.neighbours import nearest
from cwtool.data.block import Floats, Longs
from cwtool.order import permutation
from cwtool_ext import sdist as kernel

MOST = 1e3  # weight of a step
BAG = 0  # beside the seed: of bags, and of features
FEATURES = 1


class Hood(NamedTuple):
    """The k nearest of the same and of the opposite class of each row, and the margins."""

    same: Longs
    opposite: Longs
    margin: Floats

    def learner(self, t: Floats) -> Floats:
        """g"""
        g = np.empty(len(t))
        kernel.base_learner(t, self.same, self.opposite, g)
        return g


def hood(points: Any, positive: NDArray[np.bool_], k: int, jobs: int) -> Hood:
    near = nearest(points, points, positive, k, loo=True, jobs=jobs)
    rows, kind = np.arange(len(positive)), positive.astype(np.int64)
    apart = near.distance.mean(axis=2)
    return Hood(
        np.ascontiguousarray(near.who[rows, kind]),
        np.ascontiguousarray(near.who[rows, 1 - kind]),
        apart[rows, 1 - kind] - apart[rows, kind],
    )


def residuals(f: Floats, loss: str) -> Floats:
    """-dloss/df, up to a factor that keeps it finite."""
    u: Floats = np.exp(f.min() - f if loss == "exp" else -np.logaddexp(0, f))
    return u


def total_loss(f: Floats, loss: str) -> float:
    if loss == "exp":
        return float(np.exp(np.minimum(-f, 700)).sum())
    return float(np.logaddexp(0, -f).sum())


class Path(NamedTuple):
    """What each step led to: the loss, and C = sum_j sqrt(W_jj); the steps that were accepted."""

    terms: list[Term]
    loss: list[float]
    complexity: list[float]


Finder = Callable[[Candidates, Hood, Longs, Floats, int], tuple[Sequence[Key], Floats, float]]


class Boost:
    """One run over these rows."""

    def __init__(
        self, monomials: Monomials, positive: NDArray[np.bool_], params: Any, seed: int, jobs: int
    ) -> None:
        self.monomials, self.positive, self.params = monomials, positive, params
        self.seed, self.jobs = seed, jobs
        smallest = min(np.count_nonzero(positive), np.count_nonzero(~positive))
        self.k = min(params.k, int(smallest) - 1)
        self.live = max(1, int(np.count_nonzero(monomials.deviation > 0)))

    def points(self, terms: Sequence[Term]) -> Any:
        """The rows in the metric of these terms (and the identity, if asked for or alone)."""
        base, share = self.monomials.base, self.params.w0 / self.live
        if not terms:
            return base
        found = metric(terms, self.monomials, self.params.order)
        columns = base[:, found.used]
        z = found.embed(columns.toarray() if self.monomials.sparse else columns, found.used)
        return beside(base, share, z)

    def run(self, steps: int, find: Finder, tell: Tell = silent) -> Path:
        p, path = self.params, Path([], [], [])
        if self.k < 1:
            return path
        around = hood(self.monomials.base, self.positive, self.k, self.jobs)
        f = p.w0 / self.live * around.margin
        candidates = Candidates(
            self.monomials, p.order, p.init_squares and not self.monomials.sparse
        )
        diagonal: dict[Key, float] = {}
        if not candidates.keys:
            return path
        for step in range(1, steps + 1):
            if p.update_every and step > 1 and (step - 1) % p.update_every == 0 and path.terms:
                around = hood(self.points(path.terms), self.positive, self.k, self.jobs)
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
            tell(f"{step:,} of {steps:,} steps", step / steps)
        return path

    def _step(
        self, candidates: Candidates, around: Hood, f: Floats, step: int, find: Finder
    ) -> tuple[float, tuple[Key, ...], Floats, Floats] | None:
        """Weight, keys, xi and g of a step that is worth taking."""
        p, n = self.params, len(f)
        size = min(n, max(4, ceil(p.bag * n)))
        mixed = permutation(n, self.seed, BAG, step) if size < n else np.arange(n)
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
        """The step among a sample of the candidates."""
        p = self.params
        keys = candidates.sample(p.sample, self.seed, FEATURES, step)
        phi = self.monomials.matrix(keys)
        pulled = np.zeros(phi.shape)
        kernel.laplacian(phi, around.same, around.opposite, bag, u, pulled)
        A = phi.T @ pulled
        kappa = ceil(p.rho * len(keys)) if p.rho else p.kappa
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
        """The loss after each step on the neighbours of the last, for losses on neighbours that
        change cannot be compared."""
        p = self.params
        around = hood(self.points(terms), self.positive, self.k, self.jobs)
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
            loss[step - 1] = total_loss(f, p.loss)
        return loss


def beside(base: Any, share: float, z: Floats) -> Any:
    """Points of the metric share I + z'z."""
    if not share:
        return z
    if isinstance(base, np.ndarray):
        return np.hstack([np.sqrt(share) * base, z])
    return csr_array(hstack([np.sqrt(share) * base, csr_array(z)], format="csr"))
