"""Regularized dual averaging with L1 (Xiao 2010, Algorithm 2): the column (G) of a feature.

G += h loss'(f) x, and after t rounds
    w_j = -(sqrt t / gamma) T(G_j / t, lam + gamma rho / sqrt t),
    T(g, a) = sign(g) max(|g| - a, 0):
so w_j is read from G_j when it is needed and no feature waits for anything.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Row, prefetch
from cwtool_ext.loss cimport HINGE, LOGISTIC, finite_step, slope
from cwtool_ext.visit cimport Learner


cdef struct Reading:
    # w = -factor * sign(G) max(|G| - bar, 0)
    double factor
    double bar


cdef inline Reading after_rounds(double t, double lam, double gamma, double rho) noexcept nogil:
    if t == 0.0:
        return Reading(0.0, 0.0)
    return Reading(1.0 / (gamma * sqrt(t)), t * lam + gamma * rho * sqrt(t))


cdef inline double weight(double G, Reading by) noexcept nogil:
    cdef double above = fabs(G) - by.bar
    if above <= 0.0:
        return 0.0
    return -by.factor * above if G > 0.0 else by.factor * above


cdef class Averaging(Learner):
    """The table has the column (G)."""

    cdef double[:, ::1] table
    cdef int loss
    cdef double lam, gamma, rho
    cdef readonly int64_t rounds
    cdef double f, xx  # of the row looked at

    def __init__(self, double[:, ::1] table, int loss, double lam, double gamma, double rho,
                 int64_t rounds):
        if table.shape[1] != 1:
            raise ValueError(f"a dual table has 1 column (G), not {table.shape[1]}")
        if loss not in (HINGE, LOGISTIC):
            raise ValueError("loss is 0 (hinge) or 1 (logistic)")
        if not gamma > 0:
            raise ValueError("gamma must be positive")
        self.table, self.features, self.loss = table, table.shape[0], loss
        self.lam, self.gamma, self.rho, self.rounds = lam, gamma, rho, rounds

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        cdef Reading by = after_rounds(self.rounds, self.lam, self.gamma, self.rho)
        cdef const double* table = &self.table[0, 0]
        cdef double f = 0.0, xx = 0.0, x
        cdef Py_ssize_t k
        for k in range(row.nnz):
            if k < after.nnz:
                prefetch(table + after.index[k])
            x = row.scale * row.value[k]
            f += weight(table[row.index[k]], by) * x
            xx += x * x
        self.f, self.xx = f, xx
        score[0], variance[0] = f, 0.0

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef double c = h * slope(self.loss, y, self.f)
        cdef Py_ssize_t k
        self.rounds += 1
        if not finite_step(c, self.xx):
            return False
        for k in range(row.nnz):
            self.table[row.index[k], 0] += c * (row.scale * row.value[k])
        return True

    def weights(self, const double[:, ::1] rows, double[::1] out) -> None:
        """w_j of every row of a table like the learner's."""
        cdef Reading by = after_rounds(self.rounds, self.lam, self.gamma, self.rho)
        cdef Py_ssize_t j
        if rows.shape[1] != 1 or rows.shape[0] != out.shape[0]:
            raise ValueError("one place a table row (G) is needed")
        for j in range(out.shape[0]):
            out[j] = weight(rows[j, 0], by)
