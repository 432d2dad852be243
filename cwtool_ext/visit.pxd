"""The contract of a row-by-row learner: what it sees in a row, and how it learns the row."""

from cwtool_ext.csr cimport Csr, Row


cdef class Learner:
    cdef readonly Py_ssize_t features  # indices of rows must lie below
    cdef readonly Py_ssize_t classes  # scores of a row, one a class; 0: one score for two classes

    # room to work in for rows of up to `longest` entries; called once before rows are visited
    cdef int prepare(self, Py_ssize_t longest) except -1

    # the score (or that of each class) and the variance of a row; `after` is the row that comes
    # next, to be fetched early
    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil

    # learn the row that was looked at last, of weight h > 0; y is its sign, or the number of its
    # class where a row has several scores; true if anything moved
    cdef bint learn(self, Row row, double y, double h) noexcept nogil
