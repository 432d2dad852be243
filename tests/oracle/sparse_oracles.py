"""Slow, dense, obvious versions of the sparse online learners."""

from pathlib import Path

import numpy as np

VECTORS = Path(__file__).parent / "vectors" / "sparse-online"


def slope(loss, y, f):
    """Of max(0, 1 - y f), or of log(1 + exp(-y f)), in f."""
    if loss == "hinge":
        return -y if y * f < 1 - 1e-9 else 0.0
    return -y * np.exp(-np.logaddexp(0, y * f))


def shrink(w, a):
    return np.sign(w) * np.maximum(np.abs(w) - a, 0)


def truncated(X, y, order, loss, eta0, power, gravity=0.0, every=1, theta=np.inf, by_rate=True):
    """(score, w) of descent whose weights within theta all shrink after every so many rounds."""
    w, score = np.zeros(X.shape[1]), np.zeros(len(y))
    for t, i in enumerate(order, 1):
        eta = eta0 / t**power
        score[i] = w @ X[i]
        w = w - eta * slope(loss, y[i], score[i]) * X[i]
        if t % every == 0:
            a = every * gravity * (eta if by_rate else 1.0)
            w = np.where(np.abs(w) <= theta, shrink(w, a), w)
    return score, w


def dual_averaging(X, y, order, loss, lam, gamma, rho):
    """(score, w): w = -(sqrt t / gamma) T(mean gradient, lam + gamma rho / sqrt t)."""
    G, w, score = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.zeros(len(y))
    for t, i in enumerate(order, 1):
        score[i] = w @ X[i]
        G = G + slope(loss, y[i], score[i]) * X[i]
        w = -np.sqrt(t) / gamma * shrink(G / t, lam + gamma * rho / np.sqrt(t))
    return score, w


def confident(X, y, order, r, projection="kl", end=None, every_round=False):
    """(score, variance, mu, S) of AROW on a diagonal, where end(mu, S, new S, beta, x, step) says
    what becomes of mu in a round; step is 0 in a round without an error."""
    mu, S = np.zeros(X.shape[1]), np.ones(X.shape[1])
    score, variance = np.zeros(len(y)), np.zeros(len(y))
    for i in order:
        x = X[i]
        score[i], variance[i] = mu @ x, S @ x**2
        if variance[i] == 0:
            continue
        beta, loss = 1 / (variance[i] + r), max(0.0, 1 - y[i] * score[i])
        new = S
        if loss > 0:
            new = S / (1 + S * x**2 / r) if projection == "kl" else S - beta * (S * x) ** 2
        if loss > 0 or every_round:
            mu = end(mu, S, new, beta, x, beta * loss * y[i])
        S = new
    return score, variance, mu, S


def smooth_tg(lam):
    return lambda mu, S, new, beta, x, step: shrink(mu + step * S * x, lam / 2 * beta * S)


class SmoothDa:
    """mu = -S_t T(G, C): the minimiser of G.mu + C |mu|_1 + mu' S_t^-1 mu / 2."""

    def __init__(self, lam, proximal):
        self.lam, self.proximal, self.G, self.C = lam, proximal, 0.0, 0.0

    def __call__(self, mu, S, new, beta, x, step):
        self.C += self.lam / 2 * beta
        self.G = self.G - step * x
        if self.proximal:
            self.G = self.G - (1 / new - 1 / S) * mu
        return -new * shrink(self.G, self.C)


WORTH = {
    "mahalanobis": lambda mu, S: abs(mu) / np.sqrt(S),
    "certain": lambda mu, S: 1 / S,
    "weight": lambda mu, S: abs(mu),
    "printed": lambda mu, S: S * abs(mu),
}


class Best:
    """Only the B best keep a weight; they are chosen among those inside and the row's own."""

    def __init__(self, budget, ranking):
        self.budget, self.worth, self.inside = budget, WORTH[ranking], set()

    def __call__(self, mu, S, new, beta, x, step):
        mu = mu + step * S * x
        value = self.worth(mu, new)
        rivals = self.inside | set(np.flatnonzero(x).tolist())
        self.inside = set(sorted(rivals, key=lambda j: (-value[j], j))[: self.budget])
        return np.where(np.isin(np.arange(len(mu)), list(self.inside)), mu, 0.0)


def stsgd(X, y, paths, stages, loss, eta, beta_of, bursts, size_of, pi0, least=0, norm=True,
          of_weight=False, by_gradient=False, bias=0.0, weight=None, share=None):  # fmt: skip
    """Algorithm 3.4, dense. paths[m] is the endless order of path m; every feature of X counts.
    With `share`, path m learns its t-th visit if share[m, t], and passes over the row otherwise.
    Returns W, the intercepts, Omega, and (g0, burst, features left) of every stage."""
    n, p = X.shape
    h = np.ones(n) if weight is None else weight
    W, b, omega, pos = np.zeros((len(paths), p)), np.zeros(len(paths)), np.ones(p, bool), 0
    seen, kept, pool, history = np.zeros(p), np.zeros(p), np.empty(0), []
    for _ in range(stages):
        d = omega.mean()
        rank = int(beta_of(d) * len(pool))
        g0 = np.sort(pool)[rank - 1] if rank else 0.0
        size, Q, emitted = size_of(d), (X[:, omega] ** 2).sum() / n, []
        for m, rows in enumerate(paths):
            for tau in range(bursts):
                k, start = np.zeros(p), W[m].copy()
                for t in range(pos + tau * size, pos + (tau + 1) * size):
                    i = rows[t]
                    if share is not None and not share[m, t]:
                        continue
                    x = np.where(omega, X[i], 0.0)
                    c = slope(loss, y[i], W[m] @ x + b[m])
                    if c == 0 and by_gradient:
                        continue
                    k += (h[i] * x) ** 2 if norm else x != 0
                    W[m] -= eta * h[i] * c * x
                    W[m][np.abs(W[m]) <= 1e-12 * eta] = 0
                    b[m] -= bias * eta * Q * h[i] * c
                j = k > 0
                q = np.sqrt(k[j]) if norm else k[j]
                moved = np.abs(W[m][j] - (0 if of_weight else start[j])) / q
                small = np.abs(W[m][j]) <= g0 * q * (1 + 1e-9)
                W[m][j] = np.where(small, 0.0, shrink(W[m][j], g0 * q))
                seen += j
                kept += j & (W[m] != 0)
                emitted += zip(np.flatnonzero(j), moved, strict=True)
        pos += bursts * size
        judged = omega & (seen >= max(least, 1))
        leaving = judged & (kept < pi0 * seen)
        seen[judged] = kept[judged] = 0
        if leaving.sum() < omega.sum():
            omega = omega & ~leaving
        W[:, ~omega] = 0
        pool = np.array([v for j, v in emitted if omega[j]])
        history.append((g0, size, omega.sum()))
    return W, b, omega, history
