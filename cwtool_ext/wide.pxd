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
    cdef Py_ssize_t fetched  # numbers of a table row that are asked for early: all, or the weights
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


cdef class WideFirstOrder(Wide):
    cdef bint averages
    cdef double xx  # of the row looked at

    # w_k += alpha x, in the round of class k that comes next
    cdef void move(self, Row row, Py_ssize_t k, double alpha) noexcept nogil
