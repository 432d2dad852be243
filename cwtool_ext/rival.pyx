"""Several classes, learned by a step between the class of the row and its top rival.

(Crammer, Dredze, Kulesza 2009, one constraint; Crammer et al. 2006 for the first-order rules.)
A row x of the class c, with r the class of the highest score among all others:
    m = mu_c.x - mu_r.x,  v = x'Sigma_c x + x'Sigma_r x (first order: 2 ||x||^2),
    (alpha, kappa) = rule(m, v, h):
    mu_c += alpha Sigma_c x,  mu_r -= alpha Sigma_r x,  Sigma_c^-1, Sigma_r^-1 += kappa x x'
which is the rule for two classes on the row that has x at the features of c and -x at those of r.
Ties go to the class of the smallest label.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Row
from cwtool_ext.products cimport products
from cwtool_ext.projection cimport KL, ceiling_of, kl, l2
from cwtool_ext.rules cimport Rule, fires
from cwtool_ext.wide cimport Wide, WideFirstOrder


cdef Py_ssize_t rival_of(Wide learner, Py_ssize_t c) noexcept nogil:
    """The class of the highest score other than c; -1 if there is none. A new class scores 0."""
    if learner.rounds[c] == 0:
        learner.m[c] = 0.0
    return learner.second if c == learner.first else learner.first


cdef class DiagonalRival(Wide):
    """Second-order rules with a diagonal covariance: columns (mu, p), s = 1/(1 + p)."""

    cdef int projection
    cdef double ceiling
    cdef double[:, ::1] steps
    cdef (double*)[3] g  # Sigma_k x of the first, the second and a third class
    cdef double[3] v  # x'Sigma_k x of the same

    def __init__(self, double[:, ::1] table, const double[::1] labels, int64_t[::1] rounds,
                 Rule rule not None, int projection, double floor):
        self.ceiling = ceiling_of(projection, floor)
        self.projection = projection
        self.lay_out(table, 2, rule, labels, rounds)

    cdef int prepare(self, Py_ssize_t longest) except -1:
        self.steps = np.empty((3, longest + 1))
        for k in range(3):
            self.g[k] = &self.steps[k, 0]
        return 0

    cdef double confidence(self, Row row, Py_ssize_t k, double* g) noexcept nogil:
        """g = Sigma_k x; returns x.g, the variance of the score of class k."""
        cdef const double* p = self.table + self.places + k
        cdef double v = 0.0, x, gi
        cdef Py_ssize_t i
        for i in range(row.nnz):
            x = row.scale * row.value[i]
            g[i] = gi = x / (1.0 + p[self.width * row.index[i]])
            v += gi * x
        return v

    cdef void confidences(self, Row row) noexcept nogil:
        """The same of the first and the second class, in one loop."""
        cdef const double* p = self.table + self.places + self.first
        cdef Py_ssize_t i, other = self.second - self.first
        cdef double v = 0.0, w = 0.0, x, a, b
        cdef double* g = self.g[0]
        cdef double* f = self.g[1]
        cdef const double* j
        for i in range(row.nnz):
            x = row.scale * row.value[i]
            j = p + self.width * row.index[i]
            a, b = x / (1.0 + j[0]), x / (1.0 + j[other])
            g[i], f[i] = a, b
            v += a * x
            w += b * x
        self.v[0], self.v[1] = v, w

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        # scores of all classes; the variance is the mean one of the two with the highest scores
        cdef Py_ssize_t k
        cdef double* m = self.m
        products(row, after, self.table, self.width, self.fetched, self.classes, m)
        for k in range(self.classes):
            score[k] = m[k] if self.rounds[k] > 0 else -INFINITY
        self.rank()
        variance[0] = 0.0
        if self.second >= 0:
            self.confidences(row)
            variance[0] = (self.v[0] + self.v[1]) / 2.0
        elif self.first >= 0:
            variance[0] = self.v[0] = self.confidence(row, self.first, self.g[0])

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef Py_ssize_t c = <Py_ssize_t> y, r = rival_of(self, c)
        cdef bint moved = r >= 0 and self.step(row, c, r, h)
        self.count(c)
        return moved

    cdef bint step(self, Row row, Py_ssize_t c, Py_ssize_t r, double h) noexcept nogil:
        cdef Py_ssize_t of_c = 2, of_r = 0
        cdef double alpha, kappa, v
        if c == self.first:
            of_c, of_r = 0, 1
        elif c == self.second:
            of_c = 1
        else:
            self.v[2] = self.confidence(row, c, self.g[2])
        v = self.v[of_c] + self.v[of_r]
        if not fires(self.rule.form, self.rule.theta, self.m[c] - self.m[r], v, h, &alpha, &kappa):
            return False
        self.move(row, c, r, alpha, kappa, v, self.g[of_c], self.g[of_r])
        return True

    cdef void move(
        self, Row row, Py_ssize_t c, Py_ssize_t r, double alpha, double kappa, double v,
        const double* g, const double* f,
    ) noexcept nogil:
        """The step of the classes c and r, with g = Sigma_c x and f = Sigma_r x."""
        cdef double x, beta = 1.0 / (1.0 / kappa + v)
        cdef double* mu
        cdef double* p
        cdef Py_ssize_t i
        for i in range(row.nnz):
            mu = self.table + self.width * row.index[i]
            p = mu + self.places
            x = row.scale * row.value[i]
            mu[c] += alpha * g[i]
            mu[r] -= alpha * f[i]
            if self.projection == KL:
                p[c] = kl(p[c], kappa, x, self.ceiling)
                p[r] = kl(p[r], kappa, x, self.ceiling)
            else:
                p[c] = l2(p[c], beta, g[i], x, self.ceiling)
                p[r] = l2(p[r], beta, f[i], x, self.ceiling)


cdef class FirstOrderRival(WideFirstOrder):
    """First-order rules."""

    def __init__(self, double[:, ::1] table, const double[::1] labels, int64_t[::1] rounds,
                 Rule rule not None, bint average):
        self.averages = average
        self.lay_out(table, 1 + average, rule, labels, rounds)

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef Py_ssize_t c = <Py_ssize_t> y, r = rival_of(self, c)
        cdef double alpha = 0.0, kappa
        if r >= 0 and fires(
            self.rule.form, self.rule.theta, self.m[c] - self.m[r], 2.0 * self.xx, h, &alpha, &kappa
        ):
            self.move(row, c, alpha * row.scale)
            self.move(row, r, -alpha * row.scale)
        self.count(c)
        return alpha != 0.0
