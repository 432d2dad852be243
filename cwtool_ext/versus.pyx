"""Several classes side by side, each learned against the rest by the rule for two classes.

Place 0 belongs to no class (the ghost): every row is negative to it. When the first row of a class
comes, the place of this class becomes a copy of place 0. For all places k, with s = +1 for that of
the class c of a row and -1 for all others, and a row x of weight h:
    (alpha, kappa) = rule(s mu_k.x, x'Sigma_k x, h):  mu_k += s alpha Sigma_k x,
    Sigma_k^-1 += kappa x x'
Each place goes through the same operations in the same order as a learner of two classes, so that
its numbers are the same to the bit.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row
from cwtool_ext.products cimport products
from cwtool_ext.projection cimport KL, ceiling_of, kl, l2
from cwtool_ext.rules cimport Rule, fires
from cwtool_ext.wide cimport Wide, WideFirstOrder


cdef int check_seen(const int32_t[::1] seen, Wide learner) except -1:
    cdef Py_ssize_t i
    for i in range(seen.shape[0]):
        if not 0 <= seen[i] < learner.features:
            raise ValueError(f"slot {seen[i]} is not one of {learner.features}")
    return 0


cdef void bear(
    Wide learner, Py_ssize_t c, const int32_t[::1] seen, Py_ssize_t columns
) noexcept nogil:
    """The first columns of place c become those of place 0, for all features seen; others are zero,
    so that averages run since the first row of a class."""
    cdef Py_ssize_t i, k
    cdef double* column
    for i in range(seen.shape[0]):
        for k in range(columns):
            column = learner.table + learner.width * seen[i] + learner.places * k
            column[c] = column[0]
    learner.m[c] = learner.m[0]


cdef class DiagonalVersusRest(Wide):
    """Second-order rules with a diagonal covariance: columns (mu, p), s = 1/(1 + p)."""

    cdef int projection
    cdef double ceiling
    cdef const int32_t[::1] seen
    cdef double* v  # by place: x'Sigma_k x, or a negative number where it was not computed

    def __init__(self, double[:, ::1] table, const double[::1] labels, int64_t[::1] rounds,
                 const int32_t[::1] seen, Rule rule not None, int projection, double floor):
        self.ceiling = ceiling_of(projection, floor)
        self.projection, self.ghosts = projection, 1
        self.lay_out(table, 2, rule, labels, rounds)
        check_seen(seen, self)
        self.seen = seen
        self.v = self.m + self.places

    cdef void confidence(self, Row row, Py_ssize_t k) noexcept nogil:
        cdef const double* p = self.table + self.places + k
        cdef double v = 0.0, x
        cdef Py_ssize_t i
        for i in range(row.nnz):
            x = row.scale * row.value[i]
            v += x / (1.0 + p[self.width * row.index[i]]) * x
        self.v[k] = v

    cdef void confidences(self, Row row) noexcept nogil:
        """The same for all places."""
        cdef const double* p
        cdef double* v = self.v
        cdef double x, a, b
        cdef Py_ssize_t i, k, n = (self.used + 1) // 2 * 2
        for k in range(n):
            v[k] = 0.0
        for i in range(row.nnz):
            x = row.scale * row.value[i]
            p = self.table + self.width * row.index[i] + self.places
            for k in range(0, n, 2):
                a, b = x / (1.0 + p[k]) * x, x / (1.0 + p[k + 1]) * x
                v[k] += a
                v[k + 1] += b

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        # scores of all classes; the variance is the mean one of the two with the highest scores
        cdef Py_ssize_t k
        cdef double* m = self.m
        for k in range(self.places):
            self.v[k] = -1.0
        products(row, after, self.table, self.width, self.fetched, self.used, m)
        for k in range(self.classes):
            score[k] = m[k + 1] if self.rounds[k + 1] > 0 else -INFINITY
        self.rank()
        variance[0] = 0.0
        if self.rule.limit == INFINITY:
            self.confidences(row)
        elif self.first >= 0:
            self.confidence(row, self.first)
            if self.second >= 0:
                self.confidence(row, self.second)
        if self.second >= 0:
            variance[0] = (self.v[self.first] + self.v[self.second]) / 2.0
        elif self.first >= 0:
            variance[0] = self.v[self.first]

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef Py_ssize_t k, c = <Py_ssize_t> y + 1
        cdef double alpha, kappa, s
        cdef bint moved = False
        if self.rounds[c] == 0:
            bear(self, c, self.seen, 2)
            self.v[c] = self.v[0]
        for k in range(self.used):
            if k > 0 and self.rounds[k] == 0 and k != c:
                continue
            s = 1.0 if k == c else -1.0
            if s * self.m[k] >= self.rule.limit:
                continue
            if self.v[k] < 0.0:
                self.confidence(row, k)
            if fires(self.rule.form, self.rule.theta, s * self.m[k], self.v[k], h, &alpha, &kappa):
                self.move(row, k, alpha * s, kappa)
                moved = True
        self.count(c)
        return moved

    cdef void move(self, Row row, Py_ssize_t k, double alpha, double kappa) noexcept nogil:
        cdef double* mu = self.table + k
        cdef double* p = self.table + self.places + k
        cdef double x, g, beta = 1.0 / (1.0 / kappa + self.v[k])
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


cdef class FirstOrderVersusRest(WideFirstOrder):
    """First-order rules."""

    cdef const int32_t[::1] seen

    def __init__(self, double[:, ::1] table, const double[::1] labels, int64_t[::1] rounds,
                 const int32_t[::1] seen, Rule rule not None, bint average):
        self.averages, self.ghosts = average, 1
        self.lay_out(table, 1 + average, rule, labels, rounds)
        check_seen(seen, self)
        self.seen = seen

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef Py_ssize_t k, c = <Py_ssize_t> y + 1
        cdef double alpha, kappa, s
        cdef bint moved = False
        if self.rounds[c] == 0:
            bear(self, c, self.seen, 1)
        for k in range(self.used):
            if k > 0 and self.rounds[k] == 0 and k != c:
                continue
            s = 1.0 if k == c else -1.0
            if fires(self.rule.form, self.rule.theta, s * self.m[k], self.xx, h, &alpha, &kappa):
                self.move(row, k, alpha * s * row.scale)
                moved = True
        self.count(c)
        return moved
