"""Random Fourier features of few variables: their prior and their samples. The model is in
cwtool_ext/rff_model.pxd."""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cwtool.algorithms.neighbours.screening import telling_pairs, telling_triples
from cwtool.data.rows import Floats, Ints


def telling(x: Floats, y: Floats, t_max: int) -> Ints:
    """The chains of columns whose products tell the signs y apart (neighbours/screening.py), in all
    orders and filled up with -1: pairs or, if no pair does, triples. x has a row for each column of
    the data."""
    kind = (y > 0).astype(np.int32)
    found: list[tuple[int, ...]] = [*telling_pairs(x.T, kind)]
    if not found and t_max > 2:
        found = [*telling_triples(x.T, kind)]
    width = min(t_max, 3 if found and len(found[0]) == 3 else 2)
    chains = [tuple(dict.fromkeys(order)) for one in found for order in permutations(one)]
    some = [chain for chain in dict.fromkeys(chains) if len(chain) <= width]
    filled = [chain + (-1,) * (width - len(chain)) for chain in some]
    return np.array(filled, dtype=np.int32).reshape(-1, width)


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
        """The Fourier features of sample k only, in the form that `joined` takes."""
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
