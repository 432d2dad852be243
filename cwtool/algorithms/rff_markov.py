"""A kernel machine of few variables: random Fourier features whose variables are visited by Markov
chains, sampled by reversible jumps (Ma 2017, section 4.2; the model is in cwtool_ext/rff.pyx).

Several chains run from different seeds. A chain that has not found the variables has a lower
likelihood, so the better half of them is kept: a rule of thumb, which an average over a posterior
does not know. Their samples are the model, its probability is the mean over them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cwtool.algorithms.fourier import Chain, Prior, Samples, run_all
from cwtool.algorithms.knn import Neighbours, deviations
from cwtool.algorithms.neighbours import Near
from cwtool.algorithms.remembered import RememberedParams
from cwtool.data.block import Floats, Ints
from cwtool.errors import UsageError
from cwtool.parallel import together
from cwtool.params import param
from cwtool.state import State
from cwtool_ext import rff

SAMPLES = 100  # of each chain
KERNEL_SAMPLES = 20  # of all, since the kernel of n of them costs n times that of one
MOST_ENTRIES = 5_000_000
AT_ONCE = 1024  # rows that are predicted together
FARTHEST = 1e8  # standard deviations of a row to be predicted
IMPORTANCE, MEAN, SD = range(3)


@dataclass(frozen=True)
class RffParams(RememberedParams):
    iterations: int = param(
        300_000,
        "of each chain; half of them to find the variables, 100 samples from the rest",
        low=1,
    )
    chains: int = param(4, "the better half by likelihood is kept", low=1)
    d_max: int = param(40, "most Fourier features at a time", low=1, high=1000)
    t_max: int = param(3, "most variables of a feature", low=1, high=20)
    alpha0: float = param(0.5, "prior probability that a chain of variables ends", above=0, high=1)
    gamma: float = param(2.0, "weight of a uniform first variable against those in use", above=0)
    conc: float = param(1.0, "weight of a uniform next variable against those in use", above=0)
    discriminant: str = param(
        "linear",
        "linear: the mean probability;  nn: the --k most similar rows of either class by the "
        "learned kernel",
        choices=("linear", "nn"),
    )
    k: int = param(3, "rows of either class that discriminant nn looks at", low=1, high=1024)

    @property
    def kept(self) -> int:
        return -(-self.chains // 2)


class RffMarkov(Neighbours):
    name = "rff-markov"
    summary = "random Fourier features of few variables, by reversible jumps"
    Params = RffParams
    columns = ("importance", "mean", "sd")
    measure = "importance"

    def bytes_needed(self, rows: csr_array) -> float:
        p = self.params
        n, width = rows.shape
        if n * width > MOST_ENTRIES:
            raise UsageError(
                f"{self.name} visits a dense copy of all rows {p.iterations:,} times: "
                f"{MOST_ENTRIES:,} entries are the most, and {n:,} rows of {width:,} features "
                "have more",
                "use sdist; or give it fewer rows, or fewer features by select-features --project",
            )
        needed = 64.0 * rows.nnz + 8.0 * n * (3 * width + p.chains * (p.d_max + 4))
        if p.discriminant == "nn":
            needed += super().bytes_needed(rows) + 16 * (n + AT_ONCE) * KERNEL_SAMPLES * p.d_max
        return float(needed)

    def fit(self, rows: csr_array, y: Floats, state: State) -> None:
        p, table = self.params, state.features.table
        mean, sd = deviations(rows)
        table[: len(sd), MEAN], table[: len(sd), SD] = mean, sd
        live = np.flatnonzero(sd)
        prior = Prior(p.d_max if len(live) else 0, p.t_max, p.gamma, p.conc, p.alpha0)
        x = np.ascontiguousarray(standardised(rows, live, state).T) if len(live) else y[None]
        chains = [Chain(x, y, prior, self.seed, number) for number in range(p.chains)]
        found = run_all(chains, p.iterations, SAMPLES, self.jobs, self.tell)
        loglik = np.array([samples.loglik.mean() for samples in found])
        best = np.sort(np.argsort(-loglik, kind="stable")[: p.kept])
        samples = Samples.joined([found[k] for k in best.tolist()])
        samples = samples._replace(z=live[samples.z].astype(np.int32))
        state.arrays |= {f"drawn.{name}": a for name, a in samples._asdict().items()}
        state.arrays["loglik"] = loglik
        table[:, IMPORTANCE] = 0
        table[: len(sd), IMPORTANCE] = samples.inclusion(len(sd))
        self.notes.append(
            f"{len(y):,} rows: {samples.features:.1f} Fourier features; "
            f"log-likelihood of the chains: {' '.join(f'{v:.1f}' for v in loglik)}"
        )

    def samples(self, state: State) -> Samples:
        return Samples(*(state.arrays[f"drawn.{name}"] for name in Samples._fields))

    def predict(self, rows: csr_array, state: State, *, loo: bool = False) -> Floats:
        samples, n = self.samples(state), rows.shape[0]
        parts = [slice(start, start + AT_ONCE) for start in range(0, n, AT_ONCE)]
        if self.params.discriminant == "nn" and len(samples.thinned(KERNEL_SAMPLES).phase):
            if loo:
                return super().predict(rows, state, loo=True)
            return np.concatenate([super(RffMarkov, self).predict(rows[a], state) for a in parts])
        used, atoms = samples.compact()
        y = state.arrays["y"] if loo else np.zeros(n)
        out = np.empty(n)

        def some(at: slice) -> None:
            x = standardised(rows[at], used, state)
            rff.scores(x, y[at], samples.samples, *atoms, samples.beta, samples.intercept, out[at])

        together(some, parts, self.jobs)
        return out

    def points(self, rows: csr_array, state: State) -> Floats:
        """Whose products are the kernel, so that |x - x'|^2 = 2 - 2 K(x, x')."""
        samples = self.samples(state).thinned(KERNEL_SAMPLES)
        used, atoms = samples.compact()
        out = np.empty((rows.shape[0], 2 * len(samples.phase)))
        rff.waves(standardised(rows, used, state), *atoms, samples.kernel_weights(), out)
        return out

    def score(self, near: Near) -> Floats:
        """The mean K of the k most similar of one class, minus that of the other (4.4)."""
        negative, positive = (np.minimum(mean, 4) for mean in near.means)
        score: Floats = (negative - positive) / 2
        return score

    def interactions(self, state: State) -> list[tuple[Ints, float]]:
        """The variables that features have together, with the share of the samples."""
        if self.untrained(state):
            return []
        return [
            (np.array(columns, dtype=np.int32), share)
            for columns, share in self.samples(state).sets().items()
        ]

    def details(self, state: State) -> dict[str, Any]:
        found = super().details(state)
        if not self.untrained(state):
            samples = self.samples(state)
            found |= {
                "samples": len(samples.intercept),
                "fourier_features": samples.features,
                "loglik_of_chains": state.arrays["loglik"].tolist(),
            }
        return found


def standardised(rows: csr_array, columns: NDArray[Any], state: State) -> Floats:
    """These columns, dense."""
    mean, sd = state.features.table[columns, MEAN], state.features.table[columns, SD]
    dense: Floats = (rows[:, columns].toarray() - mean) / sd
    return np.clip(dense, -FARTHEST, FARTHEST)


ALGORITHMS = {"rff-markov": RffMarkov}
