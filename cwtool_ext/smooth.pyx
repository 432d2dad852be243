"""AROW with a diagonal covariance and L1 (Wu 2013, eq. 6-9), s_j = 1/(1 + p_j).

m = mu.x, v = sum s_j x_j^2, beta = 1/(v + r), l = 1 - y m. Iff l > 0:
    primal, columns (mu, p, u):  mu_j <- T(mu_j + beta l y s_j x_j, (beta/2) lam s_j)
    dual, columns (theta, p):    theta_j += beta l y x_j,  mu_j = s_j T(theta_j, C)
then 1/s_j += x_j^2/r (KL), or s_j -= beta s_j^2 x_j^2 (L2). A row of weight h has r/h for r.
T(a, b) = sign(a) max(|a| - b, 0). C = (lam/2) sum of beta over these rounds, or over all rounds;
a primal weight that was not touched owes s_j (C - u_j): exact, since s_j has not changed since.
Proximal dual averaging is centred at each mu_t: theta_j also gets (p_j gained) mu_j.
"""

import numpy as np

from libc.math cimport fabs, sqrt

from cwtool_ext.csr cimport Row, prefetch
from cwtool_ext.projection cimport KL, ceiling_of, kl, l2
from cwtool_ext.visit cimport Learner


cdef inline double shrunk(double a, double by) noexcept nogil:
    if fabs(a) <= by:
        return 0.0
    return a - by if a > 0.0 else a + by


cdef inline double mean(const double* row, bint primal, double C) noexcept nogil:
    # mu_j now
    if primal:
        return shrunk(row[0], (C - row[2]) / (1.0 + row[1]))
    return shrunk(row[0], C) / (1.0 + row[1])


cdef class Smooth(Learner):
    """The table has the columns (mu, p, u) or (theta, p)."""

    cdef double[:, ::1] table
    cdef double r, lam, ceiling
    cdef int projection
    cdef bint every_round, proximal
    cdef readonly double shrinking  # C
    cdef double[::1] mu, g  # of the row looked at: its means, Sigma x
    cdef double score, v

    def __init__(self, double[:, ::1] table, double r, double lam, int projection, double floor,
                 bint every_round, bint proximal, double shrinking):
        if table.shape[1] not in (2, 3):
            raise ValueError(f"a smooth table has 2 or 3 columns, not {table.shape[1]}")
        if not (r > 0 and lam >= 0):
            raise ValueError("r must be positive, lam not negative")
        self.ceiling = ceiling_of(projection, floor)
        self.table, self.features, self.projection = table, table.shape[0], projection
        self.r, self.lam, self.every_round, self.proximal = r, lam, every_round, proximal
        self.shrinking = shrinking

    cdef int prepare(self, Py_ssize_t longest) except -1:
        self.mu, self.g = np.empty(longest + 1), np.empty(longest + 1)
        return 0

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        # mu and g = Sigma x of the row's features, score = mu.x, variance = x.g
        cdef Py_ssize_t width = self.table.shape[1]
        cdef double m = 0.0, v = 0.0, x, C = self.shrinking
        cdef const double* table = &self.table[0, 0]
        cdef const double* j
        cdef Py_ssize_t k
        for k in range(row.nnz):
            if k < after.nnz:
                prefetch(table + width * after.index[k])
            j = table + width * row.index[k]
            x = row.scale * row.value[k]
            self.mu[k] = mean(j, width == 3, C)
            self.g[k] = x / (1.0 + j[1])
            m += self.mu[k] * x
            v += self.g[k] * x
        score[0] = self.score = m
        variance[0] = self.v = v

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef double r = self.r / h, beta = 1.0 / (self.v + r)
        cdef double alpha = beta * (1.0 - y * self.score), tax = self.lam / 2.0 * beta
        # a step longer than 1e100, or not a number, is left out: no overflow
        if not (0.0 < self.v <= 1e200 and fabs(alpha) * sqrt(self.v) <= 1e100):
            return False
        if alpha > 0.0:
            self.move(row, alpha * y, beta, 1.0 / r, tax)
        if alpha > 0.0 or self.every_round:
            self.shrinking += tax
        return alpha > 0.0

    cdef void move(
        self, Row row, double alpha, double beta, double kappa, double tax
    ) noexcept nogil:
        cdef double p, x
        cdef double* at
        cdef Py_ssize_t k
        for k in range(row.nnz):
            at = &self.table[row.index[k], 0]
            x = row.scale * row.value[k]
            if self.projection == KL:
                p = kl(at[1], kappa, x, self.ceiling)
            else:
                p = l2(at[1], beta, self.g[k], x, self.ceiling)
            if self.table.shape[1] == 3:
                at[0] = shrunk(self.mu[k] + alpha * self.g[k], tax / (1.0 + at[1]))
                at[2] = self.shrinking + tax
            else:
                at[0] += alpha * x
                if self.proximal:
                    at[0] += (p - at[1]) * self.mu[k]
            at[1] = p

    def means(self, const double[:, ::1] rows, double[::1] out) -> None:
        """mu_j of every row of a table like the learner's."""
        cdef Py_ssize_t j
        if rows.shape[1] != self.table.shape[1] or rows.shape[0] != out.shape[0]:
            raise ValueError("one place a table row is needed")
        for j in range(out.shape[0]):
            out[j] = mean(&rows[j, 0], rows.shape[1] == 3, self.shrinking)
