"""X'HX over columns that many rows have (tiles.pyx)."""

from libc.stdint cimport int32_t

from cwtool_ext.csr cimport Row


cdef struct Entry:
    int32_t place  # of its column among the heavy ones
    int32_t row  # where the row begins in a tile
    double x
    double hx  # x times the weight of the row


cdef class HeavyColumns:
    cdef Py_ssize_t d  # heavy columns
    cdef const int32_t[::1] columns
    cdef int32_t[::1] place  # of a column among the heavy ones; -1: it is none
    cdef double[:, :, ::1] slabs  # slab, line, column
    cdef double[::1] tile
    cdef double[:, ::1] _entries
    cdef Entry* entries  # of the latest rows
    cdef int32_t[:, ::1] first  # of each part of the rows, where the entries of each column begin
    cdef int32_t[::1] row  # of the entries by column, with their hx and x
    cdef double[::1] hx, x
    cdef Py_ssize_t n_rows, n_entries, n_sorted

    cdef Py_ssize_t take(self, Row row, double h, int32_t* index, double* z) noexcept nogil
    cdef void sort(self) noexcept nogil
    cdef void multiply(self) noexcept nogil
    cdef void hand_over(self, double[:, ::1] G) noexcept nogil
