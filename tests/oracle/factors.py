"""The factored kernel on dense matrices: its state made, run, and written out in full."""

import copy

import numpy as np
import oracles

from cwtool_ext import factored

SPECTRAL, EM = 0, 1


class Factors:
    """A state over d features; learn as often as you like."""

    def __init__(self, d, m, b, fit=SPECTRAL, iterations=0, smin=1e-10, scale=1.0):
        self.table, self.room = np.zeros((d, 1)), (m + b + 1) * d + 1
        self.rows = np.zeros((2 * d + 1, m + 3))
        self.links, self.entries = np.zeros((self.room, 2), np.int32), np.zeros(self.room)
        self.U, self.e = np.zeros((m + b, m + b)), np.zeros(m + b)
        self.counts = np.zeros(4, np.int64)
        self.fit, self.iterations, self.smin, self.scale = fit, iterations, smin, scale

    @classmethod
    def of(cls, D, W, m, fit=SPECTRAL, iterations=0):
        """The state D + WW' with mean 0, all of W in the buffer."""
        d, k = W.shape
        made = cls(d, m, k - m, fit, iterations)
        made.table[:, 0] = np.arange(1, d + 1)
        made.rows[1 : d + 1, 2] = D - 1
        n = 0
        for j, c in zip(*np.nonzero(W), strict=True):
            n += 1
            made.links[n] = made.rows[j + 1, 1], c
            made.entries[n] = W[j, c]
            made.rows[j + 1, 1] = n
        made.U[:] = np.linalg.cholesky(np.eye(k) + W.T @ (W / D[:, None])).T
        made.counts[:] = k, 0, d, n
        return made

    @property
    def state(self):
        return self.rows, self.links, self.entries, self.U, self.e, self.counts

    def learn(self, X, y, rule, order=None):
        """(score, variance) of every row before its update."""
        score, variance = np.full(len(y), 7.0), np.full(len(y), 7.0)
        order = np.arange(len(y)) if order is None else order
        head = (*oracles.csr(X), y, order, self.table)
        how = (rule, self.fit, self.iterations, self.smin, self.scale)
        self.updates = factored.learn(*head, *self.state, *how, score, variance)
        return score, variance

    def scores(self, X):
        score, variance = np.zeros(len(X)), np.zeros(len(X))
        how = (self.smin, self.scale, score, variance)
        factored.scores(*oracles.csr(X), self.table, *self.state, *how)
        return score, variance

    def fitted(self):
        """A copy, compressed."""
        other = copy.deepcopy(self)
        factored.fit_again(*other.state, self.fit, self.iterations)
        return other

    def dense(self):
        """(D, W, mean), written out."""
        k, in_r, _, _ = self.counts
        own = self.rows[self.table[:, 0].astype(int)]
        W = np.zeros((len(own), k))
        W[:, :in_r] = own[:, 3 : 3 + in_r]
        for j, entry in enumerate(own[:, 1].astype(int)):
            while entry:
                entry, c, value = *self.links[entry], self.entries[entry]
                W[j, c] += value
        D = 1 + own[:, 2]
        c = np.linalg.solve(self.U[:k, :k], self.e[:k])
        return D, W, own[:, 0] + W @ c / D
