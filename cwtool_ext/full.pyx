"""Second-order rules with a full covariance over features 0..n-1: a column mu, and Sigma.

m = y mu.x, v = x'Sigma x, (alpha, kappa) = rule(m, v, h), g = Sigma x:
    mu += alpha y g        Sigma -= beta g g', beta = kappa/(1 + kappa v)   (Sigma^-1 += kappa x x')
Guards: v >= floor ||x||^2 and kappa <= 1/(floor ||x||^2) - 1/v, so the new variance 1/(1/v + kappa)
stays above floor ||x||^2. NAROW scores mu.x / max(1, b v); `shrink` is its b, 0 for the others.
"""

import numpy as np

from libc.math cimport fmax, fmin, sqrt

from cwtool_ext.csr cimport Row
from cwtool_ext.rules cimport Rule, fires
from cwtool_ext.visit cimport Learner


cdef inline void moments(
    Row row, const double[:, ::1] table, const double[:, ::1] sigma,
    double* m, double* v, double* xx,
) noexcept nogil:
    # m = mu.x, v = x'Sigma x = sum_a x_a (Sigma_aa x_a + 2 sum_{b<a} Sigma_ab x_b), xx = x.x
    cdef double x, below
    cdef Py_ssize_t a, b
    m[0] = v[0] = xx[0] = 0.0
    for a in range(row.nnz):
        x = row.scale * row.value[a]
        below = 0.0
        for b in range(a):
            below += sigma[row.index[a], row.index[b]] * (row.scale * row.value[b])
        m[0] += table[row.index[a], 0] * x
        v[0] += x * (sigma[row.index[a], row.index[a]] * x + 2.0 * below)
        xx[0] += x * x


cdef inline void move(
    Row row, double[:, ::1] table, double[:, ::1] sigma, Py_ssize_t n,
    double* g, double alpha, double beta,
) noexcept nogil:
    # h = sqrt(beta) g: h_i h_j = h_j h_i to the last bit, Sigma stays exactly symmetric
    cdef double x
    cdef Py_ssize_t a, i, j
    for j in range(n):
        g[j] = 0.0
    for a in range(row.nnz):
        x = row.scale * row.value[a]
        for j in range(n):
            g[j] += x * sigma[row.index[a], j]
    for j in range(n):
        table[j, 0] += alpha * g[j]
        g[j] *= sqrt(beta)
    for i in range(n):
        if g[i] != 0.0:
            x = g[i]
            for j in range(n):
                sigma[i, j] -= x * g[j]


cdef class Full(Learner):
    """The table has the column (mu); Sigma is n x n, or larger."""

    cdef double[:, ::1] table, sigma
    cdef Rule rule
    cdef double shrink, floor
    cdef double[::1] g
    cdef double m, v, xx  # of the row looked at

    def __init__(self, double[:, ::1] table, double[:, ::1] sigma, Py_ssize_t n,
                 Rule rule not None, double shrink, double floor):
        check(table, sigma, n)
        if not 0.0 < floor < 1.0:
            raise ValueError(f"floor must lie between 0 and 1, not {floor}")
        self.table, self.sigma, self.features, self.rule = table, sigma, n, rule
        self.shrink, self.floor, self.g = shrink, floor, np.empty(n + 1)

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        moments(row, self.table, self.sigma, &self.m, &self.v, &self.xx)
        variance[0] = self.v = fmax(self.v, self.floor * self.xx)
        score[0] = self.m / fmax(1.0, self.shrink * self.v)

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef double alpha, kappa
        if not fires(self.rule.form, self.rule.theta, y * self.m, self.v, h, &alpha, &kappa):
            return False
        kappa = fmax(0.0, fmin(kappa, 1.0 / (self.floor * self.xx) - 1.0 / self.v))
        move(row, self.table, self.sigma, self.features, &self.g[0], alpha * y,
             1.0 / (1.0 / kappa + self.v))
        return True


cdef class FullSop(Learner):
    """Second-order perceptron (Cesa-Bianchi et al., 2005), Sigma = A^-1, mu = A^-1 sum y x.

    score = x'(A + xx')^-1 sum y x = mu.x/(1 + v); on a mistake A += h xx', sum += h y x: this moves
    mu by Sherman-Morrison as AROW with r = 1/h does: alpha = (1 - m)/(1/h + v), kappa = h.
    """

    cdef double[:, ::1] table, sigma
    cdef double[::1] g
    cdef double m, v, xx, score  # of the row looked at

    def __init__(self, double[:, ::1] table, double[:, ::1] sigma, Py_ssize_t n):
        check(table, sigma, n)
        self.table, self.sigma, self.features = table, sigma, n
        self.g = np.empty(n + 1)

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        moments(row, self.table, self.sigma, &self.m, &self.v, &self.xx)
        score[0] = self.score = self.m / (1.0 + self.v)
        variance[0] = 0.0

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef double r = 1.0 / h
        # a row longer than 1e100 is skipped: no state can overflow
        if (self.score >= 0.0) == (y > 0.0) or not (self.v > 0.0 and self.xx <= 1e200):
            return False
        move(row, self.table, self.sigma, self.features, &self.g[0],
             (y - self.m) / (r + self.v), 1.0 / (r + self.v))
        return True


cdef int check(
    const double[:, ::1] table, const double[:, ::1] sigma, Py_ssize_t n
) except -1:
    if table.shape[1] != 1:
        raise ValueError(f"a full-covariance table has 1 column (mu), not {table.shape[1]}")
    if not 0 <= n <= min(table.shape[0], sigma.shape[0], sigma.shape[1]):
        raise ValueError(f"table and sigma must hold n = {n} features")
    return 0
