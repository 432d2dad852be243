"""Columns in units of their standard deviation, in place."""

from libc.math cimport fmax, fmin
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

cdef double LARGEST = 1e300  # of a result: quotients of extreme values stay finite


cdef double unit(double x, double mean, double scale) noexcept nogil:
    """(x - mean) / scale"""
    return fmin(fmax((x - mean) / scale, -LARGEST), LARGEST)


cdef int64_t place(const int32_t[::1] ids, int64_t first, int32_t wanted) noexcept nogil:
    """The first place from `first` on whose id is not below the wanted one."""
    cdef int64_t last = ids.shape[0], middle
    while first < last:
        middle = (first + last) // 2
        if ids[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first


def standardize(int64_t[::1] indptr, int32_t[::1] indices, double[::1] values,
                const int32_t[::1] ids, const double[::1] mean, const double[::1] scale) -> int:
    """x_j becomes (x_j - mean_j) / scale_j for the columns of these ascending ids, and a row
    without an entry of a column whose mean is not 0 gets one. Returns the new number of entries,
    for which the arrays must have room."""
    cdef int64_t n = indptr.shape[0] - 1, count = ids.shape[0], i, k, p, total
    cdef int64_t* starts = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    if starts == NULL:
        raise MemoryError("no memory for the starts of the rows")
    try:
        if mean.shape[0] != count or scale.shape[0] != count:
            raise ValueError("every column needs a mean and a scale")
        with nogil:
            starts[0] = total = 0
            for i in range(n):
                total += indptr[i + 1] - indptr[i]
                for p in range(count):
                    total += mean[p] != 0
                p = 0
                for k in range(indptr[i], indptr[i + 1]):
                    p = place(ids, p, indices[k])
                    if p < count and ids[p] == indices[k]:
                        values[k] = unit(values[k], mean[p], scale[p])
                        total -= mean[p] != 0
                starts[i + 1] = total
        if indices.shape[0] < total or values.shape[0] < total:
            raise ValueError("the arrays have no room for the entries of all columns")
        with nogil:
            for i in range(n - 1, -1, -1):  # from the last row, so that nothing is overwritten
                fill(&indices[0], &values[0], indptr[i], indptr[i + 1], starts[i + 1],
                     ids, mean, scale)
                indptr[i + 1] = starts[i + 1]
        return total
    finally:
        free(starts)


cdef void fill(int32_t* indices, double* values, int64_t start, int64_t stop, int64_t end,
               const int32_t[::1] ids, const double[::1] mean,
               const double[::1] scale) noexcept nogil:
    """Move the entries start .. stop - 1 of a row so that they end before `end`, among entries for
    the columns of means other than 0 that the row does not have."""
    cdef int64_t k = stop - 1, p = ids.shape[0] - 1
    while k >= start or p >= 0:
        if p >= 0 and (mean[p] == 0 or (k >= start and ids[p] == indices[k])):
            p -= 1
            continue
        end -= 1
        if k >= start and (p < 0 or indices[k] > ids[p]):
            indices[end] = indices[k]
            values[end] = values[k]
            k -= 1
        else:
            indices[end] = ids[p]
            values[end] = unit(0, mean[p], scale[p])
            p -= 1
