"""Second-order rules with a diagonal covariance: columns (mu, p) of a feature, s_j = 1/(1 + p_j).

m = y sum mu_j x_j, v = sum s_j x_j^2, (alpha, kappa) = rule(m, v, h), beta = kappa/(1 + kappa v):
    mu_j += alpha y s_j x_j                                     (with the old s_j)
    KL: 1/s_j += kappa x_j^2      L2: s_j -= beta s_j^2 x_j^2   (then s_j >= floor)
"""

import numpy as np

from cwtool_ext.csr cimport Row, prefetch
from cwtool_ext.projection cimport KL, ceiling_of, kl, l2
from cwtool_ext.rules cimport Rule, fires
from cwtool_ext.visit cimport Learner


cdef class Diagonal(Learner):
    """The table has the two columns (mu, p)."""

    cdef double[:, ::1] rows
    cdef double* table
    cdef Rule rule
    cdef int projection
    cdef double ceiling
    cdef double[::1] room  # g = Sigma x of the row looked at
    cdef double* g
    cdef double score, v

    def __init__(
        self, double[:, ::1] table, Rule rule not None, int projection, double floor,
    ):
        if table.shape[1] != 2:
            raise ValueError(f"a diagonal table has 2 columns (mu, p), not {table.shape[1]}")
        self.ceiling = ceiling_of(projection, floor)
        self.rows, self.table, self.features = table, &table[0, 0], table.shape[0]
        self.rule, self.projection = rule, projection

    cdef int prepare(self, Py_ssize_t longest) except -1:
        self.room = np.empty(longest + 1)
        self.g = &self.room[0]
        return 0

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        # score = mu.x, g = Sigma x, variance = x.g; fetching the row after doubles the speed
        cdef double m = 0.0, v = 0.0, x, gk
        cdef const double* table = self.table
        cdef double* g = self.g
        cdef const double* j  # (mu, p) of the feature
        cdef Py_ssize_t k
        for k in range(row.nnz):
            if k < after.nnz:
                prefetch(table + 2 * <Py_ssize_t> after.index[k])
            j = table + 2 * <Py_ssize_t> row.index[k]
            x = row.scale * row.value[k]
            g[k] = gk = x / (1.0 + j[1])
            m += j[0] * x
            v += gk * x
        score[0] = self.score = m
        variance[0] = self.v = v

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef double alpha, kappa, beta, ceiling = self.ceiling
        cdef double* table = self.table
        cdef const double* g = self.g
        cdef double* j
        cdef Py_ssize_t k
        if not fires(self.rule.form, self.rule.theta, y * self.score, self.v, h, &alpha, &kappa):
            return False
        alpha *= y
        if self.projection == KL:
            for k in range(row.nnz):
                j = table + 2 * <Py_ssize_t> row.index[k]
                j[0] += alpha * g[k]
                j[1] = kl(j[1], kappa, row.scale * row.value[k], ceiling)
        else:
            beta = 1.0 / (1.0 / kappa + self.v)
            for k in range(row.nnz):
                j = table + 2 * <Py_ssize_t> row.index[k]
                j[0] += alpha * g[k]
                j[1] = l2(j[1], beta, g[k], row.scale * row.value[k], ceiling)
        return True
