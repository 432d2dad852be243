"""A kernel machine of few variables: random Fourier features whose variables are chosen by Markov
chains, sampled by reversible jumps (Ma 2017, section 4.2; the model is in rff_model.pxd).

Several sampler chains run from different seeds until they agree. Where they do not, a chain that
has not found the variables has a lower likelihood, so only the better half of the chains is kept;
this is a rule of thumb and not part of a posterior average. The samples of these chains are the
model, and its probability is the mean of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cwtool.algorithms.base import each_choice
from cwtool.algorithms.batch.remembered_rows import NUMBERS, ROWS
from cwtool.algorithms.fourier_features.chains import Chain, drawn, run_all, run_apart
from cwtool.algorithms.fourier_features.fourier import Prior, Samples, telling
from cwtool.algorithms.fourier_features.rff_params import RffParams
from cwtool.algorithms.knn import Extent, Neighbours
from cwtool.algorithms.neighbours.column_scale import deviations
from cwtool.algorithms.neighbours.search import Near
from cwtool.data.rows import Floats, Ints
from cwtool.errors import Damage, UsageError
from cwtool.run import Run
from cwtool.state import Array, Layout, State
from cwtool.state.layout import columns
from cwtool.threads import together
from cwtool_ext import rff_scores

SAMPLES = 100  # of each chain
KERNEL_SAMPLES = 20  # of all chains, because the kernel of n samples costs n times that of one
MOST_ENTRIES = 5_000_000  # of the dense copy of all rows
AT_ONCE = 1024  # rows that are predicted together
DENSE = 40  # bytes of a value of their dense copy, while it is made
FARTHEST = 1e8  # largest distance from the mean, in standard deviations, of a row to be predicted
DRAWN = (
    Array("drawn.samples", "<i4", (1,), sizes=("samples+1",), starts="waves"),
    Array("drawn.chains", "<i4", (1,), sizes=("waves+1",), starts="atoms"),
    Array("drawn.z", "<i4", sizes=("atoms",), low=0, below="columns"),
    Array("drawn.omega", sizes=("atoms",)),
    *(Array(f"drawn.{name}", sizes=("waves",)) for name in ("phase", "beta")),
    *(Array(f"drawn.{name}", sizes=("samples",)) for name in ("intercept", "loglik")),
    Array("loglik"),  # the mean log-likelihood of each chain
)


class RffMarkov(Neighbours):
    name = "rff-markov"
    unmergeable = "its kernel is fitted to all rows at once"
    summary = "random Fourier features of few variables, by reversible jumps"
    Params = RffParams
    variants = each_choice(RffParams, "discriminant", iterations=600, chains=2, d_max=9, k=25)
    layout = Layout(
        tables=(columns("importance", "mean", "sd"),),
        numbers=NUMBERS,
        arrays=(*ROWS, *DRAWN),
        compact=True,
    )

    def bytes_needed(self, rows: csr_array, run: Run) -> float:
        p = self.params
        n, width = rows.shape
        if n * width > MOST_ENTRIES:
            raise UsageError(
                f"{self.name} reads a dense copy of all rows {p.lengths_for(n, n)[0]:,} times; it "
                f"may have {MOST_ENTRIES:,} entries, and {n:,} rows of {width:,} features have "
                "more",
                "use sdist, give it fewer rows, or give it fewer features, which select-features "
                "writes with `project`",
            )
        needed = 64.0 * rows.nnz + 8.0 * n * (3 * width + p.chains * (p.d_max + 4))
        if p.discriminant == "nn":
            needed += super().bytes_needed(rows, run)
            needed += 16 * (n + AT_ONCE) * KERNEL_SAMPLES * p.d_max
        return float(needed)

    def bytes_to_score(self, states: Sequence[State], jobs: int) -> int:
        if self.params.discriminant == "nn":
            return super().bytes_to_score(states, jobs)
        used = (len(np.unique(self.samples(state).z)) for state in states)
        return jobs * DENSE * AT_ONCE * max(used, default=0)

    def extent(self, state: State) -> Extent:
        samples = self.samples(state).thinned(KERNEL_SAMPLES)
        width = 2 * len(samples.phase) + len(np.unique(samples.z))
        return super().extent(state)._replace(width=width)

    def untrained(self, state: State) -> bool:
        return len(state.arrays["loglik"]) == 0  # the ghost of several classes is never fitted

    def check(self, state: State) -> None:
        super().check(state)
        samples = self.samples(state)
        if (len(samples.intercept) > 0) != (len(state.arrays["loglik"]) > 0):
            raise Damage("the array array.loglik does not fit the samples")
        if not (np.diff(samples.chains) > 0).all():
            raise Damage("the array array.drawn.chains has a feature of no columns")
        if not (state.column("sd")[samples.z] > 0).all():
            raise Damage("the array array.drawn.z has a column that does not vary")

    def fit(self, state: State, rows: csr_array, kind: Ints, run: Run) -> None:
        p, y = self.params, np.where(kind > 0, 1.0, -1.0)
        mean, sd = deviations(rows)
        state.column("mean")[: len(sd)], state.column("sd")[: len(sd)] = mean, sd
        live = np.flatnonzero(sd)
        prior = Prior(p.d_max if len(live) else 0, p.t_max, p.gamma, p.conc, p.alpha0)
        x = np.ascontiguousarray(standardised(rows, live, state).T) if len(live) else y[None]
        tried = telling(x, y, p.t_max)
        chains = [Chain(x, y, prior, run.seed, number, telling=tried) for number in range(p.chains)]
        lengths = p.lengths_for(len(y), int(min((y > 0).sum(), (y < 0).sum())))
        if run.engine is None:
            run_all(chains, lengths, SAMPLES, run.jobs, run.progress)
        else:
            run_apart(chains, lengths, SAMPLES, run.engine)
        samples, loglik = drawn(chains)
        samples = samples._replace(z=live[samples.z].astype(np.int32))
        state.arrays |= {f"drawn.{name}": a for name, a in samples._asdict().items()}
        state.arrays["loglik"] = loglik
        state.column("importance")[:] = 0
        state.column("importance")[: len(sd)] = samples.inclusion(len(sd))
        run.note(
            f"{len(y):,} rows: {samples.features:.1f} Fourier features after "
            f"{chains[0].done:,} iterations; "
            f"log-likelihood of the chains: {' '.join(f'{v:.1f}' for v in loglik)}"
        )

    def samples(self, state: State) -> Samples:
        """The samples that are the model."""
        return Samples(*(state.arrays[f"drawn.{name}"] for name in Samples._fields))

    def predict(self, state: State, rows: csr_array, run: Run, *, loo: bool = False) -> Floats:
        samples, n = self.samples(state), rows.shape[0]
        parts = [slice(start, start + AT_ONCE) for start in range(0, n, AT_ONCE)]
        if self.params.discriminant == "nn" and len(samples.thinned(KERNEL_SAMPLES).phase):
            return super().predict(state, rows, run, loo=loo)
        used, atoms = samples.compact()
        y = state.arrays["y"] if loo else np.zeros(n)
        out = np.empty(n)

        def some(at: slice) -> None:
            x = standardised(rows[at], used, state)
            rff_scores.scores(
                x, y[at], samples.samples, *atoms, samples.beta, samples.intercept, out[at]
            )

        together(some, parts, run.jobs)
        return out

    def points(self, state: State, rows: csr_array) -> Floats:
        """Points whose inner products are the kernel, so that |x - x'|^2 = 2 - 2 K(x, x')."""
        samples = self.samples(state).thinned(KERNEL_SAMPLES)
        used, atoms = samples.compact()
        out = np.empty((rows.shape[0], 2 * len(samples.phase)))
        rff_scores.waves(standardised(rows, used, state), *atoms, samples.kernel_weights(), out)
        return out

    def score(self, near: Near) -> Floats:
        """The mean K of the k most similar rows of the positive class minus that of the negative
        class (4.4)."""
        negative, positive = (np.minimum(mean, 4) for mean in near.means.T)
        score: Floats = (negative - positive) / 2
        return score

    def importance(self, state: State, slots: Ints) -> Floats:
        """The share of the samples that use the features at these slots."""
        return state.column("importance")[slots]

    def interactions(self, state: State) -> list[tuple[Ints, float]]:
        """The sets of variables of Fourier features, each with the share of the samples that have
        a feature of just this set."""
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
    """These columns as a dense array, with mean 0 and standard deviation 1 in the learned rows."""
    mean, sd = state.column("mean")[columns], state.column("sd")[columns]
    dense: Floats = (rows[:, columns].toarray() - mean) / sd
    return np.clip(dense, -FARTHEST, FARTHEST)


ALGORITHMS = {"rff-markov": RffMarkov}
