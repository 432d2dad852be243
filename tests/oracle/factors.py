"""The factored learner on dense matrices: its state made, run, and written out in full."""

import copy

import learners
import numpy as np

from cwtool_ext.factored import Factored

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
        """The state D + WW' with mean 0, all of W in the buffer, and one more feature, which was
        never seen."""
        d, k = W.shape
        made = cls(d + 1, m, k - m, fit, iterations)
        made.table[:d, 0] = np.arange(1, d + 1)
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

    def learner(self, rule):
        how = (rule, self.fit, self.iterations, self.smin)
        return Factored(self.table, *self.state, *how)

    def learn(self, X, y, rule, order=None):
        """(score, variance) of every row before its update."""
        made = self.learner(rule)
        rows = learners.csr(X, self.scale)
        score, variance, self.updates = learners.learn(made, rows, y, order=order)
        made.keep()
        return score, variance

    def scores(self, X, rule):
        return learners.scores(self.learner(rule), learners.csr(X, self.scale))

    @property
    def full(self):
        """Whether the next update makes a fit."""
        return self.counts[0] == len(self.U)

    def fitted(self, rule):
        """A copy after a fit. A row that has the last feature alone asks for a column, which no
        other feature gets: all that the fit did is in the columns before, and in the others."""
        assert self.full
        assert self.table[-1, 0] == 0, "the last feature was never seen"
        other, m = copy.deepcopy(self), self.rows.shape[1] - 3
        other.learn(np.eye(len(self.table))[-1:], np.ones(1), rule)
        assert other.counts[:2].tolist() == [m + 1, m]
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

    def fit_of(self, rule):
        """(D, R, mean) after a fit, of all features but the last."""
        D, W, mean = self.fitted(rule).dense()
        assert not W[:-1, -1].any()
        return D[:-1], W[:-1, :-1], mean[:-1]
