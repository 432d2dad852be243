"""Several classes, learned by a step between the class of the row and its top rival.

(Crammer, Dredze, Kulesza 2009, one constraint; Crammer et al. 2006 for the first-order rules.)
A row x of the class c, with r the class of the highest score among all others:
    m = mu_c.x - mu_r.x,  v = x'Sigma_c x + x'Sigma_r x (first order: 2 ||x||^2),
    (alpha, kappa) = rule(m, v, h):
    mu_c += alpha Sigma_c x,  mu_r -= alpha Sigma_r x,  Sigma_c^-1, Sigma_r^-1 += kappa x x'
which is the rule for two classes on the row that has x at the features of c and -x at those of r.
A table row has the columns of all classes side by side: [mu_0 .. mu_{C-1} | p_0 .. p_{C-1}].
Scores of classes without a row so far are -infinity. Ties go to the class of the smallest label.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Row, prefetch
from cwtool_ext.projection cimport KL, ceiling_of, kl, l2
from cwtool_ext.rules cimport Rule, fires
from cwtool_ext.visit cimport Learner


cdef class Rivals(Learner):
    """What both orders share: `rounds` has for each class the rows since its first, that one
    counted, and 0 for a class without a row."""

    cdef double[:, ::1] rows
    cdef double* table
    cdef Py_ssize_t width, places  # numbers of a table row, and of a column in it
    cdef Rule rule
    cdef const double[::1] labels
    cdef int64_t[::1] rounds
    cdef double[::1] wide  # the score of each class by the weights that are updated
    cdef double* m

    cdef void _set(self, double[:, ::1] table, Py_ssize_t columns, Rule rule,
                   const double[::1] labels, int64_t[::1] rounds):
        self.rows, self.table, self.features = table, &table[0, 0], table.shape[0]
        self.width, self.places = table.shape[1], table.shape[1] // columns
        self.rule, self.labels, self.rounds = rule, labels, rounds
        self.classes = labels.shape[0]
        self.wide = np.empty(self.classes + 1)
        self.m = &self.wide[0]

    cdef Py_ssize_t top(self, const double* score, Py_ssize_t but) noexcept nogil:
        """The class of the highest score, other than `but`; -1 if there is none."""
        cdef Py_ssize_t k, best = -1
        for k in range(self.classes):
            if k == but or self.rounds[k] == 0:
                continue
            if best < 0 or score[k] > score[best] or (
                score[k] == score[best] and self.labels[k] < self.labels[best]
            ):
                best = k
        return best

    cdef Py_ssize_t meet(self, Py_ssize_t c) noexcept nogil:
        """Count a row of the class c, and return its rival: a new class has the score 0."""
        cdef Py_ssize_t k, rival = self.top(self.m, c)
        if self.rounds[c] == 0:
            self.m[c] = 0.0
        for k in range(self.classes):
            if self.rounds[k] > 0 or k == c:
                self.rounds[k] += 1
        return rival


cdef int check(const double[:, ::1] table, Py_ssize_t columns, const double[::1] labels,
               const int64_t[::1] rounds) except -1:
    if table.shape[1] % columns or table.shape[1] // columns < labels.shape[0]:
        raise ValueError(f"a table row of {table.shape[1]} numbers is too short for {columns} "
                         f"columns of {labels.shape[0]} classes")
    if rounds.shape[0] != labels.shape[0]:
        raise ValueError("one number of rounds a class is needed")
    return 0


cdef class DiagonalRival(Rivals):
    """Second-order rules with a diagonal covariance: columns (mu, p), s = 1/(1 + p)."""

    cdef int projection
    cdef double ceiling

    def __init__(self, double[:, ::1] table, const double[::1] labels, int64_t[::1] rounds,
                 Rule rule not None, int projection, double floor):
        check(table, 2, labels, rounds)
        self.ceiling = ceiling_of(projection, floor)
        self.projection = projection
        self._set(table, 2, rule, labels, rounds)

    cdef double variance_of(self, Row row, Py_ssize_t k) noexcept nogil:
        cdef const double* p = self.table + self.places + k
        cdef double v = 0.0, x
        cdef Py_ssize_t i
        for i in range(row.nnz):
            x = row.scale * row.value[i]
            v += x / (1.0 + p[self.width * row.index[i]]) * x
        return v

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        # scores of all classes; the variance is the mean one of the two with the highest scores
        cdef Py_ssize_t i, k, n = self.classes, first, second
        cdef const double* j
        cdef double* m = self.m
        cdef double x
        for k in range(n):
            m[k] = 0.0
        for i in range(row.nnz):
            if i < after.nnz:
                for k in range(0, n, 8):
                    prefetch(self.table + self.width * after.index[i] + k)
            j = self.table + self.width * row.index[i]
            x = row.scale * row.value[i]
            for k in range(n):
                m[k] += j[k] * x
        for k in range(n):
            score[k] = m[k] if self.rounds[k] > 0 else -INFINITY
        first = self.top(m, -1)
        second = self.top(m, first) if first >= 0 else -1
        variance[0] = self.variance_of(row, first) if first >= 0 else 0.0
        if second >= 0:
            variance[0] = (variance[0] + self.variance_of(row, second)) / 2.0

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef Py_ssize_t c = <Py_ssize_t> y, r = self.meet(c)
        cdef double alpha, kappa, v
        if r < 0:
            return False
        v = self.variance_of(row, c) + self.variance_of(row, r)
        if not fires(self.rule.form, self.rule.theta, self.m[c] - self.m[r], v, h, &alpha, &kappa):
            return False
        self.move(row, c, alpha, kappa, v)
        self.move(row, r, -alpha, kappa, v)
        return True

    cdef void move(
        self, Row row, Py_ssize_t k, double alpha, double kappa, double v
    ) noexcept nogil:
        cdef double* mu = self.table + k
        cdef double* p = self.table + self.places + k
        cdef double x, g, beta = 1.0 / (1.0 / kappa + v)
        cdef Py_ssize_t i, j
        for i in range(row.nnz):
            j = self.width * row.index[i]
            x = row.scale * row.value[i]
            g = x / (1.0 + p[j])
            mu[j] += alpha * g
            if self.projection == KL:
                p[j] = kl(p[j], kappa, x, self.ceiling)
            else:
                p[j] = l2(p[j], beta, g, x, self.ceiling)


cdef class FirstOrderRival(Rivals):
    """First-order rules: columns (w), or (w, acc) to average since the first row of the class:
    an update in round t of the class, counted from 0, also adds t times itself to acc; the mean
    after T rounds is w - acc / T. Updates always use w itself."""

    cdef bint averages
    cdef double xx

    def __init__(self, double[:, ::1] table, const double[::1] labels, int64_t[::1] rounds,
                 Rule rule not None, bint average):
        check(table, 1 + average, labels, rounds)
        self.averages = average
        self._set(table, 1 + average, rule, labels, rounds)

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        cdef Py_ssize_t i, k, n = self.classes
        cdef const double* j
        cdef double* m = self.m
        cdef double x, square = 0.0
        for k in range(n):
            m[k] = score[k] = 0.0
        for i in range(row.nnz):
            if i < after.nnz:
                for k in range(0, n, 8):
                    prefetch(self.table + self.width * after.index[i] + k)
            j = self.table + self.width * row.index[i]
            x = row.scale * row.value[i]
            square += x * x
            for k in range(n):
                m[k] += j[k] * x
            if self.averages:
                for k in range(n):
                    score[k] += j[self.places + k] * x
        for k in range(n):
            if self.rounds[k] == 0:
                score[k] = -INFINITY
            else:
                score[k] = m[k] - score[k] / self.rounds[k] if self.averages else m[k]
        self.xx = square
        variance[0] = 0.0

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef Py_ssize_t c = <Py_ssize_t> y, r = self.meet(c)
        cdef double alpha, kappa
        if r < 0:
            return False
        if not fires(self.rule.form, self.rule.theta, self.m[c] - self.m[r], 2.0 * self.xx, h,
                     &alpha, &kappa):
            return False
        self.move(row, c, alpha * row.scale)
        self.move(row, r, -alpha * row.scale)
        return True

    cdef void move(self, Row row, Py_ssize_t k, double alpha) noexcept nogil:
        cdef double* w = self.table + k
        cdef double* acc = self.table + self.places + k
        cdef double t = self.rounds[k] - 1  # this row is counted already
        cdef Py_ssize_t i, j
        for i in range(row.nnz):
            j = self.width * row.index[i]
            w[j] += alpha * row.value[i]
            if self.averages:
                acc[j] += t * (alpha * row.value[i])
