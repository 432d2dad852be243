"""Sparse rows, checked once when they are made; after that plain pointers."""

from libc.stdint cimport int32_t, int64_t


cdef extern from *:
    """
    #define cwtool_prefetch(address) __builtin_prefetch((address), 1, 3)
    /* GCC takes a function that only prefetches for one without effect, and removes its calls;
       with this empty statement in it they stay */
    #define cwtool_effect() __asm__ volatile ("")
    """
    void prefetch "cwtool_prefetch"(const void* address) noexcept nogil
    void effect "cwtool_effect"() noexcept nogil


cdef struct Row:
    Py_ssize_t nnz
    const int32_t* index
    const double* value
    double scale  # every value counts as this times what is stored


cdef class Csr:
    cdef readonly Py_ssize_t count  # of rows
    cdef readonly Py_ssize_t longest  # nonzeros of the longest row
    cdef readonly double scale
    cdef const int64_t* start
    cdef const int32_t* index
    cdef const double* value
    cdef const int64_t[::1] _indptr
    cdef const int32_t[::1] _indices
    cdef const double[::1] _values
    cdef Py_ssize_t width  # all indices lie below

    cdef int fit(self, Py_ssize_t features) except -1


cdef inline Row row_at(Csr rows, Py_ssize_t i) noexcept nogil:
    cdef Py_ssize_t start = rows.start[i]
    return Row(rows.start[i + 1] - start, rows.index + start, rows.value + start, rows.scale)


cdef inline void fetch(Row row) noexcept nogil:
    """Ask for the first 128 entries of a row that is needed soon; the processor reads further
    entries ahead by itself."""
    cdef Py_ssize_t k
    for k in range(0, min(row.nnz, 128), 16):
        prefetch(row.index + k)
    for k in range(0, min(row.nnz, 128), 8):
        prefetch(row.value + k)
    effect()


cdef inline void fetch_columns(Row row) noexcept nogil:
    """Ask for the first 32 columns of a row that is needed soon, whose values are not."""
    prefetch(row.index)
    prefetch(row.index + 16)
    effect()


cdef inline int one_a_row(str name, Py_ssize_t length, Csr rows) except -1:
    if length != rows.count:
        raise ValueError(f"{name} has {length} entries for {rows.count} rows")
    return 0


cdef int check_order(const int64_t[::1] order, Csr rows) except -1
