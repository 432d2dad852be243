"""Diagonal NAROW (Orabona, Crammer, NIPS 2010) in natural form: columns (theta, p) of a feature.

s_j = 1/(1 + p_j), mu_j = s_j theta_j, v = sum s_j x_j^2, score f = mu.x / max(1, b v).
Iff y f < 1:  theta += h y x  and, if b v > 1, with kappa = b - 1/v and beta = kappa/(1 + kappa v):
    KL: 1/s_j += kappa x_j^2        L2: s_j -= beta s_j^2 x_j^2     (then s_j >= floor)
"""

import numpy as np

from libc.math cimport fmax

from cwtool_ext.csr cimport Row, prefetch
from cwtool_ext.projection cimport KL, ceiling_of, kl, l2
from cwtool_ext.visit cimport Learner


cdef class Narow(Learner):
    """The table has the two columns (theta, p)."""

    cdef double[:, ::1] table
    cdef double b, ceiling
    cdef int projection
    cdef double[::1] g  # Sigma x of the row looked at
    cdef double score, v

    def __init__(self, double[:, ::1] table, double b, int projection, double floor):
        if table.shape[1] != 2:
            raise ValueError(f"a NAROW table has 2 columns (theta, p), not {table.shape[1]}")
        if not b > 0.0:
            raise ValueError(f"b must be positive, not {b}")
        self.ceiling = ceiling_of(projection, floor)
        self.table, self.b, self.projection = table, b, projection
        self.features = table.shape[0]

    cdef int prepare(self, Py_ssize_t longest) except -1:
        self.g = np.empty(longest + 1)
        return 0

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        # g = Sigma x, variance = x.g, score = theta.g / max(1, b variance)
        cdef double m = 0.0, v = 0.0, x, gk
        cdef const double* table = &self.table[0, 0]
        cdef double* g = &self.g[0]
        cdef const double* j
        cdef Py_ssize_t k
        for k in range(row.nnz):
            if k < after.nnz:
                prefetch(table + 2 * <Py_ssize_t> after.index[k])
            j = table + 2 * <Py_ssize_t> row.index[k]
            x = row.scale * row.value[k]
            g[k] = gk = x / (1.0 + j[1])
            m += j[0] * gk
            v += gk * x
        score[0] = self.score = m / fmax(1.0, self.b * v)
        variance[0] = self.v = v

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef double x, kappa, beta, v = self.v
        cdef Py_ssize_t j, k
        # |x_j| <= sqrt(v/floor): a row longer than 1e100 is skipped, theta cannot overflow
        if not (y * self.score < 1.0 and 0.0 < v <= 1e200):
            return False
        kappa = fmax(0.0, self.b - 1.0 / v)
        beta = 1.0 / (1.0 / kappa + v)
        for k in range(row.nnz):
            j = row.index[k]
            x = row.scale * row.value[k]
            self.table[j, 0] += h * y * x
            if self.projection == KL:
                self.table[j, 1] = kl(self.table[j, 1], kappa, x, self.ceiling)
            else:
                self.table[j, 1] = l2(self.table[j, 1], beta, self.g[k], x, self.ceiling)
        return True
