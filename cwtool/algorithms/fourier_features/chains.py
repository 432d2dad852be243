"""Reversible-jump chains that sample random Fourier features of few variables, and how long they
run. The model is in cwtool_ext/rff_model.pxd."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from cwtool.algorithms.fourier_features.fourier import Prior, Samples
from cwtool.data.rows import Floats, Ints
from cwtool.errors import DataError
from cwtool.parallel import EngineOptions, opened
from cwtool.run import Progress, no_progress
from cwtool.threads import together
from cwtool_ext import rff

SPAN = 5000  # largest number of iterations in one call; each call sums f anew
MOST_WORK = 25_000_000  # iterations times rows in one call, so that a run can be interrupted soon
NO_CHAINS = np.empty((0, 1), dtype=np.int32)
WARM = 0.3  # the power of the likelihood at the beginning
CLOSE = 0.05  # largest part of the variance of probabilities that is between chains which agree
ENOUGH = 50_000  # iterations after which chains that have found nothing end
LITTLE = 10.0  # log-likelihood above that of a constant probability, of chains that found nothing


class Chain:
    """One sampler chain for the signs y of rows; x has a row for each column of the data. Births
    try the `telling` chains of columns beside those that the prior draws; this changes how soon
    they are found, and not the distribution that is sampled."""

    def __init__(
        self, x: Floats, y: Floats, prior: Prior, *seeds: int, telling: Ints = NO_CHAINS
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
        # the probability of +1 of each row, summed over each half of the samples that are kept
        self.halves, self.counts = np.zeros((2, len(y))), np.zeros((2, 1))
        self._phi = np.empty((rows + 3, 4 + len(y) // 4 * 4))
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

    def keep(self, samples: int) -> None:
        """Keep the current features as one of so many samples."""
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
        half = int(2 * len(self.kept) >= samples)
        self.kept.append(sample)
        f = self.beta[: self.d + 1] @ self._phi[: self.d + 1, : len(self.y)]
        self.halves[half] += 1 / (1 + np.exp(np.minimum(-f, 700)))
        self.counts[half] += 1

    def forget(self) -> None:
        """Keep no sample."""
        self.kept = []
        self.halves[:] = self.counts[:] = 0


def agree(chains: list[Chain]) -> bool:
    """Whether the chains sample the same: the variance of the probability of a row between the
    halves of all chains is, in the mean of the rows, at most CLOSE times the variance of the mean
    probabilities of the rows. So chains that found nothing do not agree."""
    half = np.concatenate([chain.halves / np.maximum(1, chain.counts) for chain in chains])
    between = half.var(axis=0, ddof=1).mean()
    return len(chains) > 1 and bool(between <= CLOSE * half.mean(axis=0).var())


def fruitless(chains: list[Chain]) -> bool:
    """Whether ENOUGH iterations have found nothing: no chain has a mean log-likelihood of LITTLE
    more than the frequencies of the signs have."""
    y = chains[0].y
    share = np.array([(y > 0).mean(), (y < 0).mean()])
    constant = len(y) * (share * np.log(np.maximum(share, 1e-300))).sum()
    best = max(np.mean([sample.loglik[0] for sample in chain.kept]) for chain in chains)
    return chains[0].done >= ENOUGH and bool(best < constant + LITTLE)


def drawn(chains: list[Chain]) -> tuple[Samples, Floats]:
    """The samples that are the model, and the mean log-likelihood of each chain. The better half of
    the chains is taken or, if they agree, as many samples of all."""
    found = [Samples.joined(chain.kept) for chain in chains]
    loglik = np.array([samples.loglik.mean() for samples in found])
    half = -(-len(chains) // 2)
    if agree(chains):
        return Samples.joined(found).thinned(half * len(chains[0].kept)), loglik
    best = np.sort(np.argsort(-loglik, kind="stable")[:half])
    return Samples.joined([found[k] for k in best.tolist()]), loglik


def spans(iterations: int, n: int, rows: int, done: int = 0) -> Iterator[tuple[Floats, bool]]:
    """For each call of the kernel the inverse temperatures (heat) of its iterations, which are the
    factor of the log-likelihood in the acceptance rule, and whether a sample is kept after it. In
    the first eighth of the iterations they rise from WARM to 1; n samples are kept, at even
    distances in the second half. `done` iterations were made before, none or the first half."""
    most = max(1, min(SPAN, MOST_WORK // max(1, rows)))
    burn_in = iterations // 2
    heat = np.minimum(1, WARM + (1 - WARM) * np.arange(burn_in) / max(1, burn_in // 4))
    for start in range(done, burn_in, most):
        yield heat[start : start + most], False
    left = iterations - burn_in
    for step in np.diff(np.linspace(0, left, 1 + min(n, left)).astype(np.int64)).tolist():
        for start in range(0, step, most):
            yield np.ones(min(most, step - start)), start + most >= step


def run_stage(chains: list[Chain], iterations: int, n: int, jobs: int, progress: Progress) -> None:
    """Run the chains up to this number of iterations, and keep n samples of the second half. All
    chains make the iterations of one call before any makes the next, so that an interrupted run
    ends soon."""
    for chain in chains:
        chain.forget()
    for heat, kept in spans(iterations, n, len(chains[0].y), chains[0].done):
        together(partial(Chain.run, heat=heat), chains, jobs)
        done = chains[0].done
        progress(f"{done:,} of {iterations:,} iterations", done / iterations)
        if kept:
            for chain in chains:
                chain.keep(min(n, iterations - iterations // 2))


def run_all(
    chains: list[Chain], lengths: list[int], n: int, jobs: int, progress: Progress = no_progress
) -> None:
    """Run the chains up to the first of these numbers of iterations at which they agree or are
    fruitless, or the last, and keep n samples of each. Each number is twice the one before."""
    for iterations in lengths:
        run_stage(chains, iterations, n, jobs, progress)
        if agree(chains) or fruitless(chains):
            return


def run_apart(chains: list[Chain], lengths: list[int], n: int, options: EngineOptions) -> None:
    """The same on an engine: each chain with its rows goes to a process."""
    with opened(options) as engine:
        for iterations in lengths:
            work = partial(_apart, iterations=iterations, n=n)
            for number, found in engine.each(work, chains, lambda chain: None):
                if found is None:
                    raise DataError(
                        "a chain ended its process each time it was tried", "give it more memory"
                    )
                vars(chains[number]).update(found)
            if agree(chains) or fruitless(chains):
                return


def _apart(chain: Chain, iterations: int, n: int) -> dict[str, Any] | None:
    """What has become of the chain; its rows, and the room to work in, stay where they are."""
    run_stage([chain], iterations, n, 1, no_progress)
    staying = ("x", "y", "prior", "telling", "_phi", "_to")
    return {name: value for name, value in vars(chain).items() if name not in staying}
