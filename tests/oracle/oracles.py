"""Slow, dense, obvious versions of the CW family, written from the textbook forms."""

import numpy as np
from learners import stored
from scipy.optimize import brentq

csr = stored
SMALL = 1000  # as in cwtool_ext/compress.pxd


def top(slope, high):
    """Where a concave function is greatest between 0 and high, by its slope."""
    if slope(0.0) <= 0:
        return 0.0
    return high if slope(high) >= 0 else brentq(slope, 0, high, xtol=1e-15, rtol=1e-15)


def sqrt_u(alpha, v, phi):
    return (-alpha * v * phi + np.sqrt((alpha * v * phi) ** 2 + 4 * v)) / 2


def cw(m, v, phi, C=np.inf):
    psi, zeta = 1 + phi**2 / 2, 1 + phi**2
    alpha = (-m * psi + np.sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta)
    alpha = min(C, max(0.0, alpha))
    return alpha, alpha * phi / sqrt_u(alpha, v, phi)


def scw2(m, v, phi, C):
    n = v + 1 / (2 * C)
    a, b, c = n * (n + v * phi**2), m * (2 * n + v * phi**2), m**2 - phi**2 * v
    alpha = max(0.0, (-b + np.sqrt(b * b - 4 * a * c)) / (2 * a)) if m < phi * np.sqrt(v) else 0.0
    return alpha, alpha * phi / sqrt_u(alpha, v, phi)


def cw_var(m, v, phi):
    b = 1 + 2 * phi * m
    alpha = max(0.0, (-b + np.sqrt(b * b - 8 * phi * (m - phi * v))) / (4 * phi * v))
    return alpha, 2 * alpha * phi


def narow(m, v, b):
    if m / max(1, b * v) >= 1:
        return 0.0, 0.0
    kappa = (b * v - 1) / v
    return ((1 - kappa * m) / (b * v), kappa) if b * v > 1 else (1.0, 0.0)


RULES = {
    "perceptron": lambda m, v: (float(m <= 0), 0.0),
    "pa": lambda m, v: (max(0.0, 1 - m) / v, 0.0),
    "pa1": lambda m, v, C: (min(C, max(0.0, 1 - m) / v), 0.0),
    "pa2": lambda m, v, C: (max(0.0, 1 - m) / (v + 1 / (2 * C)), 0.0),
    "cw": cw,
    "cw_var": cw_var,
    "scw1": cw,
    "scw2": scw2,
    "arow": lambda m, v, r: ((1 - m) / (v + r), 1 / r) if m < 1 else (0.0, 0.0),
    "narow": narow,
    "nherd": lambda m, v, C: ((1 - m) / (v + 1 / C), C * C * v + 2 * C) if m < 1 else (0.0, 0.0),
}


def first_order(X, y, order, rule, averaged):
    """(score, w): each score by the mean of all the earlier vectors, if averaged."""
    w, history, score = np.zeros(X.shape[1]), [], np.zeros(len(y))
    for i in order:
        x = X[i]
        used = (np.mean(history, axis=0) if history else 0 * w) if averaged else w
        score[i] = used @ x
        if x @ x > 0:
            w = w + rule(y[i] * (w @ x), x @ x)[0] * y[i] * x
        history.append(w)
    return score, np.mean(history, axis=0) if averaged else w


def project(sigma, x, kappa, covariance, smin):
    """Sigma after Sigma^-1 += kappa x x', kept full or brought back to a diagonal."""
    g = sigma @ x
    new = sigma - np.outer(g, g) * kappa / (1 + kappa * (x @ g))
    if covariance == "full":
        return new
    if covariance == "kl":
        new = np.diag(1 / (1 / np.diag(sigma) + kappa * x**2))
    return np.diag(np.maximum(np.diag(new), smin))


def second_order(X, y, order, rule, covariance, smin=1e-12, shrink=0.0):
    """(score, variance, mu, Sigma)."""
    mu, sigma = np.zeros(X.shape[1]), np.eye(X.shape[1])
    score, variance = np.zeros(len(y)), np.zeros(len(y))
    for i in order:
        x, floor = X[i], smin * (X[i] @ X[i]) if covariance == "full" else 0.0
        variance[i] = v = max(x @ sigma @ x, floor)
        score[i] = mu @ x / max(1, shrink * v)
        if v > 0:
            alpha, kappa = rule(y[i] * (mu @ x), v)
            if floor > 0:
                kappa = max(0.0, min(kappa, 1 / floor - 1 / v))
            mu = mu + alpha * y[i] * sigma @ x
            sigma = project(sigma, x, kappa, covariance, smin)
    return score, variance, mu, sigma


def narow_diagonal(X, y, order, b, covariance, smin=1e-12):
    """(score, variance, theta, Sigma): theta += y x on a margin error, mu = Sigma theta."""
    theta, sigma = np.zeros(X.shape[1]), np.eye(X.shape[1])
    score, variance = np.zeros(len(y)), np.zeros(len(y))
    for i in order:
        x = X[i]
        variance[i] = v = x @ sigma @ x
        score[i] = theta @ sigma @ x / max(1, b * v)
        if v > 0 and y[i] * score[i] < 1:
            theta = theta + y[i] * x
            sigma = project(sigma, x, max(0.0, (b * v - 1) / v), covariance, smin)
    return score, variance, theta, sigma


def sop(X, y, order, diagonal):
    """(score, v, A): score = x'(A + xx')^-1 v, both sums over the mistakes."""
    total, A, score = np.zeros(X.shape[1]), np.eye(X.shape[1]), np.zeros(len(y))
    for i in order:
        x = X[i]
        seen = np.diag(x * x) if diagonal else np.outer(x, x)
        score[i] = x @ np.linalg.solve(A + seen, total)
        if x @ x > 0 and (score[i] >= 0) != (y[i] > 0):
            total, A = total + y[i] * x, A + seen
    return score, total, A


def em(P, D, R):
    """One iteration of eqs. (8)-(11) of Ma et al. 2010."""
    phi = np.linalg.inv(np.eye(R.shape[1]) + R.T @ np.diag(1 / D) @ R)
    upsilon = phi @ R.T @ np.diag(1 / D)
    R = P @ upsilon.T @ np.linalg.inv(phi + upsilon @ P @ upsilon.T)
    return np.maximum(np.diag(P - R @ upsilon @ P), 1e-12 * np.diag(P)), R


def spectral(P, D, m):
    """The best R for this D, then the D that keeps the diagonal of P."""
    half = np.sqrt(D)
    values, vectors = np.linalg.eigh((P - np.diag(D)) / np.outer(half, half))
    R = half[:, None] * vectors[:, -m:] * np.sqrt(np.maximum(values[-m:], 0))
    return np.diag(P) - (R**2).sum(axis=1), R


def compressed(D, W, m, fit, iterations):
    """(D, R) for P = D + WW'."""
    P = np.diag(D) + W @ W.T
    D, R = spectral(P, D, m) if fit == "spectral" else (D, W[:, :m])
    for _ in range(iterations):
        D, R = em(P, D, R)
    if not iterations:  # small loadings go to the diagonal
        small = SMALL * (R**2).sum(axis=1) <= np.diag(P)
        D, R = np.where(small, np.diag(P), D), np.where(small[:, None], 0, R)
    return D, R


def factored(X, y, order, rule, m, b, fit="spectral", iterations=0, smin=1e-10):
    """(score, variance, mu, D, W): Sigma^-1 = D + WW', the last b columns the latest updates."""
    d = X.shape[1]
    mu, D, W = np.zeros(d), np.ones(d), np.zeros((d, 0))
    score, variance = np.zeros(len(y)), np.zeros(len(y))
    for i in order:
        x, sigma = X[i], np.linalg.inv(np.diag(D) + W @ W.T)
        score[i] = mu @ x
        variance[i] = v = max(x @ sigma @ x, smin * (x @ (x / D)))
        if v == 0:
            continue
        alpha, kappa = rule(y[i] * (mu @ x), v)
        kappa = max(0.0, min(kappa, 1 / (smin * (x @ x)) - 1 / v))
        mu = mu + alpha * y[i] * sigma @ x
        if kappa > 0:
            if W.shape[1] == m + b:
                D, W = compressed(D, W, m, fit, iterations)
            W = np.column_stack([W, np.sqrt(kappa) * x])
    return score, variance, mu, D, W
