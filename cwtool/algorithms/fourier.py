"""Random Fourier features of few variables: their samples, and the reversible-jump chains that draw
them. The model is in cwtool_ext/rff_model.pxd."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.algorithms.screening import telling_pairs
from cwtool.data.rows import Floats, Ints
from cwtool.errors import DataError
from cwtool.parallel import EngineOptions, opened, together
from cwtool.run import Progress, no_progress
from cwtool_ext import rff

SPAN = 5000  # largest number of iterations in one call; each call sums f anew
MOST_WORK = 25_000_000  # iterations times rows in one call, so that a run can be interrupted soon
NO_PAIRS = np.empty((0, 2), dtype=np.int32)
WARM = 0.3  # the power of the likelihood at the beginning


def telling(x: Floats, y: Floats, t_max: int) -> Ints:
    """The pairs of columns whose products tell the signs y apart (screening.py), in both orders.
    x has a row for each column of the data."""
    found = telling_pairs(x.T, (y > 0).astype(np.int32))
    pairs = [pair for a, b in found for pair in ((a, b), (b, a)) if t_max > 1 or a == b]
    return np.array(list(dict.fromkeys(pairs)), dtype=np.int32).reshape(-1, 2)


class Prior(NamedTuple):
    """The constants of the prior; see cwtool_ext/rff_model.pxd."""

    d_max: int = 40
    t_max: int = 3
    gamma: float = 2.0
    conc: float = 1.0
    alpha0: float = 0.5


class Samples(NamedTuple):
    """Samples of the model. Sample k has the intercept, the log-likelihood, and the features
    samples[k] .. samples[k + 1] - 1; feature q has the phase, the weight beta, and the atoms
    chains[q] .. chains[q + 1] - 1; an atom has its column z and its omega."""

    samples: Ints
    chains: Ints
    z: Ints
    omega: Floats
    phase: Floats
    beta: Floats
    intercept: Floats
    loglik: Floats

    @classmethod
    def joined(cls, parts: list[Samples]) -> Samples:
        """All samples of the parts, one after the other."""

        def starts(name: str) -> Ints:
            counts = [np.diff(getattr(part, name)) for part in parts]
            return np.append(0, np.cumsum(np.concatenate(counts))).astype(np.int32)

        rest = (np.concatenate([getattr(part, name) for part in parts]) for name in cls._fields[2:])
        return cls(starts("samples"), starts("chains"), *rest)

    def thinned(self, n: int) -> Samples:
        """At most n of the samples, at even distances."""
        last = len(self.intercept) - 1
        kept = np.unique(np.linspace(0, last, min(n, last + 1)).astype(np.int64))
        return self.joined([self.one(k) for k in kept.tolist()])

    def one(self, k: int) -> Samples:
        """Sample k only, as a part for `joined`."""
        first, end = self.samples[k : k + 2].tolist()
        atoms = slice(self.chains[first], self.chains[end])
        return Samples(
            self.samples[k : k + 2],
            self.chains[first : end + 1],
            self.z[atoms],
            self.omega[atoms],
            self.phase[first:end],
            self.beta[first:end],
            self.intercept[k : k + 1],
            self.loglik[k : k + 1],
        )

    @property
    def features(self) -> float:
        """The mean number of Fourier features of a sample."""
        return len(self.phase) / len(self.intercept)

    @property
    def owner(self) -> NDArray[np.int64]:
        """The number of the sample of each feature."""
        return np.repeat(np.arange(len(self.intercept)), np.diff(self.samples))

    def compact(self) -> tuple[Ints, tuple[Ints, Ints, Floats, Floats]]:
        """The columns in use, ascending, and chains, z, omega and phase of the features, where z
        is the place of a column among those in use."""
        used, z = np.unique(self.z, return_inverse=True)
        return used, (self.chains, z.astype(np.int32), self.omega, self.phase)

    def kernel_weights(self) -> Floats:
        """The weight of each feature in the kernel: |beta| / (sum of |beta| in its sample), divided
        by the number of samples that have features."""
        beta = np.abs(self.beta)
        total = np.bincount(self.owner, beta)
        weights: Floats = beta / total[self.owner] / np.count_nonzero(total)
        return weights

    def inclusion(self, n_columns: int) -> Floats:
        """For each column the share of the samples that use it."""
        where = np.stack([self.z, np.repeat(self.owner, np.diff(self.chains))])
        columns = np.unique(where, axis=1)[0]
        share: Floats = np.bincount(columns, minlength=n_columns) / len(self.intercept)
        return share

    def sets(self) -> dict[tuple[int, ...], float]:
        """The sets of columns of features, and for each the share of the samples that have a
        feature with just this set."""
        found: dict[tuple[int, ...], set[int]] = {}
        ends = zip(self.chains.tolist(), self.chains[1:].tolist(), strict=False)
        z = self.z.tolist()
        for k, (start, end) in zip(self.owner.tolist(), ends, strict=True):
            found.setdefault(tuple(sorted(set(z[start:end]))), set()).add(k)
        return {columns: len(where) / len(self.intercept) for columns, where in found.items()}


class Chain:
    """One sampler chain for the signs y of rows; x has a row for each column of the data. Births
    try the `telling` pairs of columns beside those that the prior draws; this changes how soon
    they are found, and not the distribution that is sampled."""

    def __init__(
        self, x: Floats, y: Floats, prior: Prior, *seeds: int, telling: Ints = NO_PAIRS
    ) -> None:
        self.x, self.y, self.prior, self.telling = x, y, prior, telling
        self.random = np.random.default_rng(seeds)
        rows = prior.d_max + 2  # 0 is the constant, the last is for proposals
        self.length: Ints = np.zeros(rows, dtype=np.int32)
        self.z: Ints = np.zeros((rows, prior.t_max), dtype=np.int32)
        self.omega = np.zeros((rows, prior.t_max))
        self.phase, self.beta = np.zeros(rows), np.zeros(rows)
        self.d, self.log_s, self.loglik = 0, 0.0, 0.0
        self.done = 0
        self.kept: list[Samples] = []
        self._phi = np.empty((rows + 2, max(1, len(y))))
        self._to: Ints = np.empty(self.z.size, dtype=np.int32)

    def run(self, heat: Floats) -> None:
        """Make an iteration for each entry of heat, the power of the likelihood."""
        uniforms = self.random.random((len(heat), 5 + self.prior.t_max))
        normals = self.random.standard_normal((len(heat), 1 + self.prior.t_max))
        self.step(uniforms, normals, heat)

    def step(self, uniforms: Floats, normals: Floats, heat: Floats) -> None:
        """Make an iteration for each row of random numbers."""
        self.d, self.log_s, self.loglik = rff.sample(
            self.x, self.y, self.length, self.z, self.omega, self.phase, self.beta, self.d,
            self.log_s, self._phi, self._to, uniforms, normals, heat, self.done,
            self.prior.gamma, self.prior.conc, self.prior.alpha0, self.telling,
        )  # fmt: skip
        self.done += len(heat)

    def keep(self) -> None:
        """Keep the current features as a sample."""
        now = slice(1, self.d + 1)
        there = np.arange(self.prior.t_max) < self.length[now, None]
        sample = Samples(
            np.array([0, self.d], dtype=np.int32),
            np.append(0, np.cumsum(self.length[now])).astype(np.int32),
            self.z[now][there],
            self.omega[now][there],
            self.phase[now].copy(),
            self.beta[now].copy(),
            self.beta[:1].copy(),
            np.array([self.loglik]),
        )
        self.kept.append(sample)


def spans(iterations: int, n: int, rows: int) -> Iterator[tuple[Floats, bool]]:
    """The heats of the iterations of each call, and whether a sample is kept after it. In the first
    eighth of the iterations the heat rises from WARM to 1; n samples are kept, at even distances in
    the second half."""
    most = max(1, min(SPAN, MOST_WORK // max(1, rows)))
    burn_in = iterations // 2
    heat = np.minimum(1, WARM + (1 - WARM) * np.arange(burn_in) / max(1, burn_in // 4))
    for start in range(0, burn_in, most):
        yield heat[start : start + most], False
    left = iterations - burn_in
    for step in np.diff(np.linspace(0, left, 1 + min(n, left)).astype(np.int64)).tolist():
        for start in range(0, step, most):
            yield np.ones(min(most, step - start)), start + most >= step


def run_all(
    chains: list[Chain], iterations: int, n: int, jobs: int, progress: Progress = no_progress
) -> list[Samples]:
    """n samples of each chain. All chains make the iterations of one call before any makes the
    next, so that an interrupted run ends soon."""
    for heat, kept in spans(iterations, n, len(chains[0].y)):
        together(partial(Chain.run, heat=heat), chains, jobs)
        done = chains[0].done
        progress(f"{done:,} of {iterations:,} iterations", done / iterations)
        if kept:
            for chain in chains:
                chain.keep()
    return [Samples.joined(chain.kept) for chain in chains]


def run_apart(
    chains: list[Chain], iterations: int, n: int, options: EngineOptions
) -> list[Samples]:
    """The same on an engine: each chain with its rows goes to a process."""
    found: dict[int, Samples | None] = {}
    with opened(options) as engine:
        work = partial(_whole, iterations=iterations, n=n)
        for number, samples in engine.each(work, chains, lambda chain: None):
            found[number] = samples
    kept = [found[k] for k in range(len(chains))]
    if any(samples is None for samples in kept):
        raise DataError("a chain ended its process each time it was tried", "give it more memory")
    return [samples for samples in kept if samples is not None]


def _whole(chain: Chain, iterations: int, n: int) -> Samples | None:
    (found,) = run_all([chain], iterations, n, 1)
    return found
