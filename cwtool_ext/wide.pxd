"""What learners of several classes share: table rows with a place a class in every column."""

from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Row
from cwtool_ext.rules cimport Rule
from cwtool_ext.visit cimport Learner


cdef class Wide(Learner):
    cdef double[:, ::1] _rows
    cdef double* table
    cdef Py_ssize_t width, places  # numbers of a table row, and of a column in it
    cdef Py_ssize_t ghosts  # places before that of class 0
    cdef Py_ssize_t used  # ghosts + classes
    cdef Rule rule
    cdef const double[::1] labels
    cdef int64_t[::1] rounds  # by place: rows since the first of the class, 0: it has none
    cdef double[::1] _room
    cdef double* m  # by place: the score by the weights that are updated; then room for as many
    cdef Py_ssize_t first, second  # the places of the two classes of the highest m; -1: none

    cdef int lay_out(
        self, double[:, ::1] table, Py_ssize_t columns, Rule rule, const double[::1] labels,
        int64_t[::1] rounds,
    ) except -1

    # whether place k comes before the other by its score, or if these are equal by its label
    cdef bint above(self, Py_ssize_t k, Py_ssize_t other) noexcept nogil

    # find the two classes of the highest scores; of equal ones, the smaller label comes first
    cdef void rank(self) noexcept nogil

    # count a row of the class at place c
    cdef void count(self, Py_ssize_t c) noexcept nogil

    # ask for the weights of the row that comes next
    cdef void fetch(self, Row after) noexcept nogil


cdef class WideFirstOrder(Wide):
    cdef bint averages
    cdef double xx  # of the row looked at

    # w_k += alpha x, in the round of class k that comes next
    cdef void move(self, Row row, Py_ssize_t k, double alpha) noexcept nogil


cdef inline void products(
    Row row, const double* column, Py_ssize_t width, Py_ssize_t n, double* sums
) noexcept nogil:
    """sums_k = column_k.x for k < n. Sums of eight places stay in registers while the row is
    read; each sum runs over the entries in their order."""
    cdef Py_ssize_t k, i
    cdef const double* j
    cdef double x, a, b, c, d, e, f, g, h
    for k in range(0, n - 4, 8):
        a = b = c = d = e = f = g = h = 0.0
        for i in range(row.nnz):
            j = column + k + width * row.index[i]
            x = row.scale * row.value[i]
            a += j[0] * x
            b += j[1] * x
            c += j[2] * x
            d += j[3] * x
            e += j[4] * x
            f += j[5] * x
            g += j[6] * x
            h += j[7] * x
        sums[k], sums[k + 1], sums[k + 2], sums[k + 3] = a, b, c, d
        sums[k + 4], sums[k + 5], sums[k + 6], sums[k + 7] = e, f, g, h
    if 0 < n - n // 8 * 8 <= 4:
        k = n // 8 * 8
        a = b = c = d = 0.0
        for i in range(row.nnz):
            j = column + k + width * row.index[i]
            x = row.scale * row.value[i]
            a += j[0] * x
            b += j[1] * x
            c += j[2] * x
            d += j[3] * x
        sums[k], sums[k + 1], sums[k + 2], sums[k + 3] = a, b, c, d
