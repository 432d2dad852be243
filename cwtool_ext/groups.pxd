"""Groups of chosen features, as the kernels over them see them.

Chosen features have positions, the groups one behind the other: group k begins at position
first[k] and ends before first[k + 1]; owner[j] is the group of position j. Sigma[j] is the row of
position j in the covariance of its own group, in the order of the group's positions.
"""

from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row


cdef inline int check_groups(
    const int32_t[::1] owner, const int64_t[::1] first, const double[:, ::1] Sigma
) except -1:
    """Refuse groups that do not follow one another, or one that is wider than Sigma."""
    cdef Py_ssize_t j, K = first.shape[0] - 1
    if K < 0 or first[0] != 0 or first[K] != owner.shape[0]:
        raise ValueError("first must run from 0 to the number of positions")
    if Sigma.shape[0] != owner.shape[0]:
        raise ValueError(f"Sigma has {Sigma.shape[0]} rows for {owner.shape[0]} positions")
    for j in range(K):
        if not 0 <= first[j + 1] - first[j] <= Sigma.shape[1]:
            raise ValueError(f"a group does not have 0..{Sigma.shape[1]} features")
    for j in range(owner.shape[0]):
        if not 0 <= owner[j] < K or not first[owner[j]] <= j < first[owner[j] + 1]:
            raise ValueError(f"position {j} is not in its group")
    return 0


cdef inline Py_ssize_t run_end(Row row, Py_ssize_t k, const int32_t* owner) noexcept nogil:
    """The number of the first entry behind those of the group of entry k."""
    cdef int32_t group = owner[row.index[k]]
    while k < row.nnz and owner[row.index[k]] == group:
        k += 1
    return k


cdef inline void move(
    Row row, double d, const int32_t* owner, const int64_t* first, const double* Sigma,
    Py_ssize_t room, double* m,
) noexcept nogil:
    """m += d Sigma x; the rows of Sigma are `room` long."""
    cdef Py_ssize_t k, j, start, width
    cdef double x, a, b
    cdef double* to
    cdef const double* column
    for k in range(row.nnz):
        start = first[owner[row.index[k]]]
        width = first[owner[row.index[k]] + 1] - start
        x = d * row.value[k]
        to = m + start
        column = Sigma + row.index[k] * room
        for j in range(0, width - 1, 2):  # both are read before either is written: two at once
            a = to[j] + x * column[j]
            b = to[j + 1] + x * column[j + 1]
            to[j] = a
            to[j + 1] = b
        if width & 1:
            to[width - 1] += x * column[width - 1]
