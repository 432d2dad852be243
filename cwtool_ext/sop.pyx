"""Second-order perceptron, diagonal (Cesa-Bianchi, Conconi, Gentile, SIAM J. Comput. 2005).

Columns (v, p) of a feature, A_j = 1 + p_j:  score = x'(A + xx')^-1 v -> sum v_j x_j/(A_j + x_j^2).
On a mistake, sign(score) != y with sign(0) = +1:  v += h y x, A_j += h x_j^2.
"""

from cwtool_ext.csr cimport Row, prefetch
from cwtool_ext.visit cimport Learner


cdef class Sop(Learner):
    """The table has the two columns (v, p)."""

    cdef double[:, ::1] table
    cdef double score, xx  # of the row looked at

    def __init__(self, double[:, ::1] table):
        if table.shape[1] != 2:
            raise ValueError(f"a SOP table has 2 columns (v, p), not {table.shape[1]}")
        self.table, self.features = table, table.shape[0]

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        cdef double f = 0.0, square = 0.0, x
        cdef const double* table = &self.table[0, 0]
        cdef const double* j
        cdef Py_ssize_t k
        for k in range(row.nnz):
            if k < after.nnz:
                prefetch(table + 2 * <Py_ssize_t> after.index[k])
            j = table + 2 * <Py_ssize_t> row.index[k]
            x = row.scale * row.value[k]
            f += j[0] * x / (1.0 + j[1] + x * x)
            square += x * x
        self.score, self.xx = f, square
        score[0], variance[0] = f, 0.0

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef double x
        cdef Py_ssize_t k
        # a row longer than 1e100 is skipped: neither v nor A can overflow
        if (self.score >= 0.0) == (y > 0.0) or not 0.0 < self.xx <= 1e200:
            return False
        for k in range(row.nnz):
            x = row.scale * row.value[k]
            self.table[row.index[k], 0] += h * y * x
            self.table[row.index[k], 1] += h * (x * x)
        return True
