"""First-order rules: w += alpha y x, alpha = rule(m = y w.x, ||x||^2, h).

The columns of a feature are (w), or (w, acc) to average: an update in round t, counted from 0, also
adds t alpha y x to acc; then the mean of w_1..w_T is w - acc/T. Updates always use w itself.
"""

from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Row, prefetch
from cwtool_ext.rules cimport Rule, fires
from cwtool_ext.visit cimport Learner


cdef class FirstOrder(Learner):
    """The table has the column (w), or the columns (w, acc)."""

    cdef double[:, ::1] table
    cdef Rule rule
    cdef readonly int64_t rounds
    cdef double wx, xx  # of the row looked at

    def __init__(self, double[:, ::1] table, Rule rule not None, int64_t rounds):
        if table.shape[1] not in (1, 2):
            raise ValueError(f"a first-order table has columns (w) or (w, acc), not "
                             f"{table.shape[1]}")
        self.table, self.rule, self.rounds = table, rule, rounds
        self.features = table.shape[0]

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        # w.x, acc.x and x.x; fetching the row after doubles the speed
        cdef Py_ssize_t width = self.table.shape[1]
        cdef const double* table = &self.table[0, 0]
        cdef const double* j
        cdef double w = 0.0, acc = 0.0, square = 0.0, x
        cdef Py_ssize_t k
        for k in range(row.nnz):
            if k < after.nnz:
                prefetch(table + width * after.index[k])
            j = table + width * row.index[k]
            x = row.scale * row.value[k]
            w += j[0] * x
            square += x * x
            if width == 2:
                acc += j[1] * x
        self.wx, self.xx = w, square
        variance[0] = 0.0
        if width == 1:
            score[0] = w
        else:  # (w - acc/t).x; before the first round the mean is 0
            score[0] = w - acc / self.rounds if self.rounds > 0 else 0.0

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef double alpha, kappa, t = self.rounds
        cdef Py_ssize_t k
        self.rounds += 1
        if not fires(self.rule.form, self.rule.theta, y * self.wx, self.xx, h, &alpha, &kappa):
            return False
        alpha = alpha * y * row.scale
        for k in range(row.nnz):
            self.table[row.index[k], 0] += alpha * row.value[k]
        if self.table.shape[1] == 2:
            for k in range(row.nnz):
                self.table[row.index[k], 1] += t * (alpha * row.value[k])
        return True
