"""A machine of random Fourier features, and the chain of reversible jumps that samples it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cwtool.data.block import Floats, Ints
from cwtool_ext import rff

SPAN = 5000  # iterations with random numbers drawn at once; f is summed anew after them
COLD = 0.3  # the power of the likelihood at the beginning


class Prior(NamedTuple):
    """How features are born; see cwtool_ext/rff.pyx."""

    d_max: int = 40
    t_max: int = 3
    gamma: float = 2.0
    conc: float = 1.0
    alpha0: float = 0.5


class Chain:
    """One chain over the features of x (by column) that tell the signs y."""

    def __init__(self, x: Floats, y: Floats, prior: Prior, *seeds: int) -> None:
        self.x, self.y, self.prior = x, y, prior
        self.random = np.random.default_rng(seeds)
        rows = prior.d_max + 2  # 0 is the constant, the last is for proposals
        self.length: Ints = np.zeros(rows, dtype=np.int32)
        self.z: Ints = np.zeros((rows, prior.t_max), dtype=np.int32)
        self.omega = np.zeros((rows, prior.t_max))
        self.phase, self.beta = np.zeros(rows), np.zeros(rows)
        self.d, self.log_s, self.loglik = 0, 0.0, 0.0
        self.done = 0
        self._phi = np.empty((rows + 2, max(1, len(y))))
        self._to: Ints = np.empty(self.z.size, dtype=np.int32)

    def run(self, heat: Floats) -> None:
        """An iteration for each heat, the power of the likelihood."""
        for start in range(0, len(heat), SPAN):
            some = heat[start : start + SPAN]
            uniforms = self.random.random((len(some), 5 + self.prior.t_max))
            normals = self.random.standard_normal((len(some), 1 + self.prior.t_max))
            self.step(uniforms, normals, some)

    def step(self, uniforms: Floats, normals: Floats, heat: Floats) -> None:
        """An iteration for each row of random numbers."""
        self.d, self.log_s, self.loglik = rff.sample(
            self.x, self.y, self.length, self.z, self.omega, self.phase, self.beta, self.d,
            self.log_s, self._phi, self._to, uniforms, normals, heat, self.done,
            self.prior.gamma, self.prior.conc, self.prior.alpha0,
        )  # fmt: skip
        self.done += len(heat)
