"""Sparse rows, checked once; after that plain pointers."""

cimport cython
from libc.stdint cimport int32_t, int64_t


cdef extern from *:
    """
    #define cwtool_prefetch(address) __builtin_prefetch((address), 1, 3)
    """
    void prefetch "cwtool_prefetch"(const void* address) noexcept nogil


cdef struct Rows:
    Py_ssize_t count
    const int64_t* start
    const int32_t* index
    const double* value


cdef struct Row:
    Py_ssize_t nnz
    const int32_t* index
    const double* value


cdef inline Row row_at(Rows rows, Py_ssize_t i) noexcept nogil:
    cdef Py_ssize_t start = rows.start[i]
    return Row(rows.start[i + 1] - start, rows.index + start, rows.value + start)


@cython.boundscheck(False)
cdef inline Rows read(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    Py_ssize_t features,
) except *:
    """The rows of a CSR matrix whose indices all lie below `features`."""
    cdef Rows rows
    cdef Py_ssize_t i
    cdef int32_t low = 0, high = -1
    cdef bint rising = True
    rows.count = indptr.shape[0] - 1
    if rows.count < 0 or indptr[0] != 0 or indptr[rows.count] != indices.shape[0]:
        raise ValueError("indptr must run from 0 to the number of indices")
    if indices.shape[0] != values.shape[0]:
        raise ValueError(f"{indices.shape[0]} indices do not match {values.shape[0]} values")
    with nogil:
        for i in range(rows.count):
            rising &= indptr[i] <= indptr[i + 1]
        for i in range(indices.shape[0]):
            low = min(low, indices[i])
            high = max(high, indices[i])
    if not rising:
        raise ValueError("indptr must not decrease")
    if low < 0 or high >= features:
        raise ValueError(f"feature {low if low < 0 else high} is outside 0..{features - 1}")
    rows.start, rows.index, rows.value = &indptr[0], &indices[0], &values[0]
    return rows


cdef inline int one_a_row(str name, const double[::1] array, Rows rows) except -1:
    if array.shape[0] != rows.count:
        raise ValueError(f"{name} has {array.shape[0]} entries for {rows.count} rows")
    return 0


@cython.boundscheck(False)
cdef inline Py_ssize_t longest(const int64_t[::1] order, Rows rows) except -1:
    """The most nonzeros in a visited row; an order that leaves the rows is refused."""
    cdef Py_ssize_t i, most = 0
    for i in order:
        if not 0 <= i < rows.count:
            raise ValueError(f"order names row {i} of {rows.count}")
        most = max(most, rows.start[i + 1] - rows.start[i])
    return most
