"""Slow, dense, obvious versions of the sparse online learners."""

import numpy as np


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
