"""The row-by-row learners of the CW family on dense rows."""

import numpy as np

from cwtool_ext import rules, visit
from cwtool_ext.csr import Csr
from cwtool_ext.diagonal import Diagonal
from cwtool_ext.first_order import FirstOrder
from cwtool_ext.full import Full, FullSop
from cwtool_ext.narow import Narow
from cwtool_ext.sop import Sop

ETA, PHI = 0.9, 1.2815515655446004  # Pr(Z <= PHI) = ETA
SMIN = 1e-12
FIRST_ORDER = ("mean", "averaged")
SECOND_ORDER = ("kl", "l2", "full")
ALONE = ("narow_kl", "narow_l2", "narow_full", "sop", "sop_full")  # need no rule


def stored(X):
    """(indptr, indices, values) of the nonzeros of a dense matrix."""
    indptr = np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))]).astype(np.int64)
    return indptr, np.nonzero(X)[1].astype(np.int32), X[X != 0]


def csr(X, scale=1.0):
    """The nonzeros of a dense matrix as kernels take them."""
    return Csr(*stored(X), scale)


def classes(y):
    """Class numbers of signs."""
    return (np.asarray(y) > 0).astype(np.int32)


def fresh(kind, features):
    """An empty table for a kind of learner, and Sigma = I."""
    columns = 1 if kind == "mean" or kind.endswith("full") else 2
    return np.zeros((features, columns)), np.eye(features)


def learner(kind, rule, table, sigma, n=None, rounds=0, b=1.0, smin=SMIN):
    """A learner of this kind on a table and Sigma, of which the first n features are used."""
    n = len(table) if n is None else n
    projection = int(kind.endswith("l2"))
    if kind in FIRST_ORDER:
        return FirstOrder(table, rule, rounds)
    if kind in ("kl", "l2"):
        return Diagonal(table, rule, projection, smin)
    if kind in ("narow_kl", "narow_l2"):
        return Narow(table, b, projection, smin)
    if kind == "full":
        return Full(table, sigma, n, rule, 0.0, smin)
    if kind == "narow_full":
        return Full(table, sigma, n, rules.narow(b), b, smin)
    return FullSop(table, sigma, n) if kind == "sop_full" else Sop(table)


def learn(made, rows, y, weight=None, order=None, out=None):
    """(score, variance, number of rows that moved the learner) of one pass over rows of signs y.
    Without `out` as the place for scores and variances, those of rows not visited are 7."""
    score, variance = np.full((2, len(y)), 7.0) if out is None else out
    order = np.arange(len(y)) if order is None else order
    moved = visit.learn(rows, classes(y), weight, order, made, score, variance)
    return score, variance, moved


def scores(made, rows):
    """(score, variance) of the rows."""
    out = np.full((2, rows.count), 7.0)
    visit.scores(rows, made, *out)
    return out
