"""Sparse rows, checked once; after that plain pointers."""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint32_t


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


cdef inline Rows read(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    Py_ssize_t features,
) except *:
    """The rows of a CSR matrix whose indices all lie below `features`."""
    cdef Rows rows
    cdef Py_ssize_t i
    cdef uint32_t index, last = <uint32_t> min(features - 1, INT32_MAX), outside = 0
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
            index = <uint32_t> indices[i]
            outside |= index | (last - index)  # top bit: index < 0 or index > last
    if not rising:
        raise ValueError("indptr must not decrease")
    if outside >> 31:
        raise ValueError(f"a feature index lies outside 0..{features - 1}")
    rows.start = &indptr[0]
    rows.index = &indices[0] if indices.shape[0] else NULL
    rows.value = &values[0] if indices.shape[0] else NULL
    return rows


cdef inline int one_a_row(str name, const double[::1] array, Rows rows) except -1:
    if array.shape[0] != rows.count:
        raise ValueError(f"{name} has {array.shape[0]} entries for {rows.count} rows")
    return 0


cdef inline Py_ssize_t longest(const int64_t[::1] order, Rows rows) except -1:
    """The most nonzeros in a visited row; an order that leaves the rows is refused."""
    return look_up(order, rows).most


cdef inline Py_ssize_t entries(const int64_t[::1] order, Rows rows) except -1:
    """The nonzeros of all visits; an order that leaves the rows is refused."""
    return look_up(order, rows).total


cdef struct Visits:
    Py_ssize_t most
    Py_ssize_t total


cdef inline Visits look_up(const int64_t[::1] order, Rows rows) except *:
    cdef Py_ssize_t i, k, nnz, wrong = -1
    cdef Visits visits = Visits(0, 0)
    with nogil:
        for k in range(order.shape[0]):
            i = order[k]
            if not 0 <= i < rows.count:
                wrong = k
                break
            nnz = rows.start[i + 1] - rows.start[i]
            visits.most = max(visits.most, nnz)
            visits.total += nnz
    if wrong >= 0:
        raise ValueError(f"order names row {order[wrong]} of {rows.count}")
    return visits
