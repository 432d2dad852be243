"""Alternatives to CW-fact that its authors tried and gave up (Ma et al. 2010, Figures 3(b) and
3(c)): CW with other approximations of Sigma. Dense and slow, for the suite cwfact-synthetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cwtool.algorithms.covariance.factored import ROUNDING
from cwtool.algorithms.cw import Eta
from cwtool.data.rows import Floats, Rows
from cwtool_ext import rules


class Design(Protocol):
    """An approximation of Sigma over d features, at first the identity."""

    def times(self, x: Floats) -> Floats:
        """Sigma x."""

    def update(self, x: Floats, kappa: float) -> None:
        """Sigma^-1 += kappa x x', or an approximation of it."""


class BufferAlone:
    """Sigma^-1 = I + B B', of which only the latest `buffer` updates are kept."""

    def __init__(self, d: int, buffer: int) -> None:
        self.buffer = buffer
        self.B = np.zeros((d, 0))

    def times(self, x: Floats) -> Floats:
        # (I + B B')^-1 = I - B (I + B'B)^-1 B'
        inner = np.eye(self.B.shape[1]) + self.B.T @ self.B
        found: Floats = x - self.B @ np.linalg.solve(inner, self.B.T @ x)
        return found

    def update(self, x: Floats, kappa: float) -> None:
        self.B = np.column_stack([self.B, np.sqrt(kappa) * x])[:, -self.buffer :]


class FactoredSigma:
    """Sigma = D + R R' - B B': factors of Sigma itself, from which updates are subtracted. When the
    buffer B is full, D and R are fitted to the whole by eqs. (8)-(11). The fit starts from random
    factors because R = 0 is a fixed point."""

    def __init__(self, d: int, rank: int, iterations: int = 10) -> None:
        self.rank, self.iterations = rank, iterations
        self.D, self.R, self.B = np.ones(d), np.zeros((d, rank)), np.zeros((d, 0))
        self.rng = np.random.default_rng(0)

    def times(self, x: Floats) -> Floats:
        found: Floats = (self.D * x.T).T + self.R @ (self.R.T @ x) - self.B @ (self.B.T @ x)
        return found

    def update(self, x: Floats, kappa: float) -> None:
        # Sigma -= beta (Sigma x)(Sigma x)'
        g = self.times(x)
        beta = 1 / (1 / kappa + max(float(x @ g), 0.0))
        self.B = np.column_stack([self.B, np.sqrt(beta) * g])
        if self.B.shape[1] == self.rank:
            self.fit()

    def fit(self) -> None:
        diagonal = self.D + (self.R**2).sum(axis=1) - (self.B**2).sum(axis=1)  # of P
        half = diagonal / 2
        R = np.sqrt(half / self.rank)[:, None] * self.rng.standard_normal(self.R.shape)
        D = half
        for _ in range(self.iterations):
            scaled = R / D[:, None]
            phi = np.linalg.inv(np.eye(self.rank) + R.T @ scaled)
            upsilon = scaled @ phi  # transposed
            product = self.times(upsilon)  # P Upsilon'
            R = product @ np.linalg.inv(phi + upsilon.T @ product)
            D = np.maximum(diagonal - (R * product).sum(axis=1), 1e-12 * diagonal)
        self.D, self.R, self.B = D, R, self.B[:, :0]


DESIGNS: dict[str, Callable[..., Design]] = {
    "cw-buffer-alone": BufferAlone,
    "cw-factored-sigma": FactoredSigma,
}


def progressive(
    rows: Rows, made: Callable[[int], Design]
) -> tuple[Floats, dict[str, NDArray[Any]]]:
    """The scores of all rows, each before it is learned, and the arrays at the end."""
    dense = csr_array((rows.values, rows.indices, rows.indptr)).toarray()
    rule = rules.cw(Eta().phi, Eta().eta)
    design = made(dense.shape[1])
    mu, score = np.zeros(dense.shape[1]), np.zeros(len(dense))
    for i, (x, y) in enumerate(zip(dense, rows.signs().tolist(), strict=True)):
        g = design.times(x)
        least = ROUNDING * float(x @ x)
        v = max(float(x @ g), least)
        score[i] = mu @ x
        alpha, kappa = rules.coefficients(rule, y * score[i], v)
        if alpha > 0:
            mu += alpha * y * g
            kappa = min(kappa, 1 / least - 1 / v)
            if kappa > 0:
                design.update(x, kappa)
    arrays = {k: v for k, v in vars(design).items() if isinstance(v, np.ndarray)}
    return score, {"mu": mu, **arrays}
