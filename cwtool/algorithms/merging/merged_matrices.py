"""The merge of full covariances, with P = Sigma^-1, S parts and k = S^(e - 1):

mu = (P_0 + k sum dP)^-1 (P_0 mu_0 + k sum (P_i mu_i - P_0 mu_0)),  dP_i = P_i - P_0
Sigma = (P_0 + sum dP / S)^-1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from cwtool.algorithms.merging.base import NAT, Merger, Merging, Part, Rule, power
from cwtool.data.rows import Floats, Ints
from cwtool.errors import ModelError
from cwtool.run import Run
from cwtool.state import State


class FullMerger(Merger):
    """All states are over the features of all of them, in the order of the base and then of the
    parts; a feature that a state has not met has its prior there."""

    def __init__(self, algorithm: Any, base: Part, parts: Sequence[Part]) -> None:
        super().__init__(algorithm, base, parts)
        every = np.concatenate([_ids(part) for part in (base, *parts)])
        self.ids: Ints = every[np.sort(np.unique(every, return_index=True)[1])]
        self.place = {int(id_): k for k, id_ in enumerate(self.ids)}
        self._sums: tuple[Floats, ...] | None = None
        self._sigma: Floats | None = None

    def put(self, state: State, rule: Rule, run: Run, only: Ints | None = None) -> None:
        state.slots_of(self.ids)
        n = len(self.ids)
        if n == 0:
            return
        if self._sums is None:
            self._sums = self._added()
        P0, N0, dP, dN = self._sums
        count = float(len(self.parts))
        k = float(power(np.array(count), rule.exponent))
        state.column("mean")[:n] = cho_solve(_factor(P0 + k * dP), N0 + k * dN)
        if self._sigma is None:
            self._sigma = _inverse(P0 + dP / count)
        state.squares["sigma"] = self._sigma.copy()

    def _added(self) -> tuple[Floats, ...]:
        """P_0, P_0 mu_0, sum dP, sum (P_i mu_i - P_0 mu_0)"""
        P0, N0 = self._natural(self.base)
        dP, dN = np.zeros_like(P0), np.zeros_like(N0)
        for part in self.parts:
            P, N = self._natural(part)
            dP += P - P0
            dN += N - N0
        return P0, N0, dP, dN

    def _natural(self, part: Part) -> tuple[Floats, Floats]:
        """P and P mu over all features, in the units of the merge: mu *= k, P - I by / k^2."""
        known, n, k = _ids(part), len(self.ids), part.unit
        P, mean = np.eye(n), np.zeros(n)
        at = np.array([self.place[int(id_)] for id_ in known], dtype=np.int64)
        sigma = part.state.squares.get("sigma")
        have = min(len(known), 0 if sigma is None else len(sigma))
        mean[at] = k * part.state.column("mean")[: len(known)]
        if sigma is not None:
            own = _inverse(sigma[:have, :have])
            P[np.ix_(at[:have], at[:have])] = (own - np.eye(have)) / k**2 + np.eye(have)
        return P, P @ mean


def _ids(part: Part) -> Ints:
    """The features by slot."""
    return part.state.index.saving_order()[0]


def _factor(matrix: Floats) -> Any:
    try:
        return cho_factor(matrix)
    except np.linalg.LinAlgError:
        raise ModelError(
            "a covariance of the models cannot be inverted, because it is singular",
            "merge models with `covariance=diag`",
        ) from None


def _inverse(matrix: Floats) -> Floats:
    """The inverse of a symmetric positive definite matrix, made symmetric."""
    found = cho_solve(_factor(matrix), np.eye(len(matrix)))
    symmetric: Floats = (found + found.T) / 2
    return symmetric


FULL = Merging(FullMerger, tuple(NAT.values()), NAT["0"], NAT["0"])
