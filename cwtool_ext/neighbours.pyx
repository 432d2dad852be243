"""The k nearest points of each of two classes, exactly, from distances that are nearly right.

BLAS gives |x - z|^2 as |x|^2 - 2 x.z + |z|^2 up to an error e_ij <= c (|x_i|^2 + |z_j|^2). Points
that this leaves no chance are skipped; of the others the distance is summed again from differences,
in the order of the columns: the same bits for dense and sparse rows, in blocks of any size.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, read, row_at

cdef int MOST = 1024  # neighbours


cdef inline double apart(const double* x, const double* z, Py_ssize_t p) noexcept nogil:
    cdef Py_ssize_t j
    cdef double d, total = 0
    for j in range(p):
        d = x[j] - z[j]
        total += d * d
    return total


cdef inline double apart_sparse(Row x, Row z) noexcept nogil:
    """Of rows whose indices ascend."""
    cdef Py_ssize_t a = 0, b = 0
    cdef double d, total = 0
    while a < x.nnz or b < z.nnz:
        if b == z.nnz or (a < x.nnz and x.index[a] < z.index[b]):
            d = x.value[a]
            a += 1
        elif a == x.nnz or z.index[b] < x.index[a]:
            d = z.value[b]
            b += 1
        else:
            d = x.value[a] - z.value[b]
            a += 1
            b += 1
        total += d * d
    return total


cdef inline void insert(double d, int64_t j, double* distance, int64_t* index,
                        Py_ssize_t k) noexcept nogil:
    """Into an ascending list; behind what is equal."""
    cdef Py_ssize_t s = k - 1
    if not d < distance[s]:
        return
    while s > 0 and d < distance[s - 1]:
        distance[s] = distance[s - 1]
        index[s] = index[s - 1]
        s -= 1
    distance[s] = d
    index[s] = j


def nearest(const double[:, ::1] cross, const double[::1] x_square, const double[::1] z_square,
            double c, const int8_t[::1] kind, const int64_t[::1] own,
            const double[:, ::1] x, const double[:, ::1] z,
            const int64_t[::1] x_indptr, const int32_t[::1] x_indices, const double[::1] x_values,
            const int64_t[::1] z_indptr, const int32_t[::1] z_indices, const double[::1] z_values,
            int64_t[:, :, ::1] index, double[:, :, ::1] distance):
    """cross_ij = x_i.z_j; kind_j is 0 or 1; point own_i is no neighbour of x_i (-1: all may be).
    The rows are x and z if these have columns, else they are sparse. Fills index and distance
    [row, kind, place], nearest first and of equal ones the first; -1 and inf where there is none.
    """
    cdef Py_ssize_t m = cross.shape[0], n = cross.shape[1], k = index.shape[2], i, j, s
    cdef Py_ssize_t p = x.shape[1]
    cdef bint dense = p > 0
    cdef Rows xs = read(x_indptr, x_indices, x_values, 2**31 - 1)
    cdef Rows zs = read(z_indptr, z_indices, z_values, 2**31 - 1)
    cdef double bound[2][1024]  # the k smallest upper bounds of each kind
    cdef int64_t unused[1024]
    cdef double slack, d
    if not 1 <= k <= MOST:
        raise ValueError(f"k is {k}; it must be from 1 to {MOST}")
    if (x_square.shape[0] != m or z_square.shape[0] != n or kind.shape[0] != n
            or own.shape[0] != m or index.shape[0] != m or distance.shape[0] != m
            or index.shape[1] != 2 or distance.shape[1] != 2 or distance.shape[2] != k):
        raise ValueError("the shapes do not fit")
    if dense and (z.shape[1] != p or x.shape[0] != m or z.shape[0] != n):
        raise ValueError("the dense rows do not fit")
    if not dense and (xs.count != m or zs.count != n):
        raise ValueError("the sparse rows do not fit")
    with nogil:
        for i in range(m):
            for s in range(k):
                bound[0][s] = bound[1][s] = INFINITY
                distance[i, 0, s] = distance[i, 1, s] = INFINITY
                index[i, 0, s] = index[i, 1, s] = -1
            for j in range(n):
                if j != own[i]:
                    slack = c * (x_square[i] + z_square[j])
                    insert(x_square[i] + z_square[j] - 2 * cross[i, j] + slack, j,
                           bound[kind[j] & 1], unused, k)
            for j in range(n):
                if j != own[i]:
                    slack = c * (x_square[i] + z_square[j])
                    d = x_square[i] + z_square[j] - 2 * cross[i, j] - slack
                    if d <= bound[kind[j] & 1][k - 1]:
                        if dense:
                            d = apart(&x[i, 0], &z[j, 0], p)
                        else:
                            d = apart_sparse(row_at(xs, i), row_at(zs, j))
                        insert(d, j, &distance[i, kind[j] & 1, 0], &index[i, kind[j] & 1, 0], k)
