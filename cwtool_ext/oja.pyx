"""Stochastic ascent of xi'A xi = E s (xi'delta)^2 over pairs of rows, with truncation by bursts.

xi += step * s (xi'delta) delta; after a burst |xi_j| falls by g0 k_j, k_j the pairs telling of j,
and xi to length 1 (Oja's rule in Algorithm 3.4 of Ma 2017, as chapter 4 puts it to sDist).
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from cwtool_ext.csr cimport Row, Rows, read, row_at


cdef inline double product(Row x, const uint8_t* active, const double* xi) noexcept nogil:
    cdef Py_ssize_t s
    cdef double total = 0
    for s in range(x.nnz):
        if active[x.index[s]]:
            total += xi[x.index[s]] * x.value[s]
    return total


cdef inline Py_ssize_t inform(Row x, const uint8_t* active, const double* xi, int64_t pair,
                              int64_t* last, int32_t* count, double* before, int32_t* touched,
                              Py_ssize_t n) noexcept nogil:
    """Count the features of a row of this pair, each once a pair. Returns how many are touched."""
    cdef Py_ssize_t s
    cdef int32_t j
    for s in range(x.nnz):
        j = x.index[s]
        if active[j] and last[j] != pair:
            last[j] = pair
            if count[j] == 0:
                before[j] = xi[j]
                touched[n] = j
                n += 1
            count[j] += 1
    return n


cdef inline void move(Row x, const uint8_t* active, double c, double* xi) noexcept nogil:
    cdef Py_ssize_t s
    for s in range(x.nnz):
        if active[x.index[s]]:
            xi[x.index[s]] += c * x.value[s]


def bursts(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
           const int64_t[::1] first, const int64_t[::1] second, const double[::1] sign,
           Py_ssize_t size, const uint8_t[::1] active, double step, double gravity,
           double[::1] xi, double[::1] updated, double[::1] kept, int32_t[::1] touched,
           int32_t[::1] count, int64_t[::1] last, double[:, ::1] vectors, double[::1] moves):
    """Pairs in bursts of `size`:  xi += step s (xi'delta) delta on the active features; then, where
    k of the pairs had the feature, xi shrinks by gravity k towards 0, and becomes of length 1; if
    nothing is left it is as at the start. Counts for each feature the bursts that had it and those
    that left it. `count` is zero and `last` is -1 at first; `vectors` are two of room.
    Returns how many of `moves` = |change of xi_j| / k of each burst were written."""
    cdef Py_ssize_t p = xi.shape[0], t, b = 0, end, n, j, out = 0, pairs = first.shape[0]
    cdef Rows phi = read(indptr, indices, values, p)
    cdef Row x, z
    cdef double c, length
    cdef double* before
    cdef double* origin
    if (second.shape[0] != pairs or sign.shape[0] != pairs or active.shape[0] != p or size < 1
            or min(updated.shape[0], kept.shape[0], touched.shape[0], count.shape[0]) < p
            or last.shape[0] < p or vectors.shape[0] < 2 or vectors.shape[1] < p
            or moves.shape[0] < p * ((pairs + size - 1) // size)):
        raise ValueError("the shapes do not fit")
    for t in range(pairs):
        if not (0 <= first[t] < phi.count and 0 <= second[t] < phi.count):
            raise ValueError(f"a pair leaves the {phi.count} rows")
    if p == 0:
        return 0
    before, origin = &vectors[0, 0], &vectors[1, 0]
    with nogil:
        memcpy(origin, &xi[0], p * sizeof(double))
        while b < pairs:
            end = min(b + size, pairs)
            n = 0
            for t in range(b, end):
                x, z = row_at(phi, first[t]), row_at(phi, second[t])
                c = product(x, &active[0], &xi[0]) - product(z, &active[0], &xi[0])
                n = inform(x, &active[0], &xi[0], t, &last[0], &count[0], before, &touched[0], n)
                n = inform(z, &active[0], &xi[0], t, &last[0], &count[0], before, &touched[0], n)
                c *= step * sign[t]
                move(x, &active[0], c, &xi[0])
                move(z, &active[0], -c, &xi[0])
            for t in range(n):
                j = touched[t]
                moves[out] = fabs(xi[j] - before[j]) / count[j]
                out += 1
                c = gravity * count[j]
                if fabs(xi[j]) <= c:
                    xi[j] = 0
                else:
                    xi[j] -= c if xi[j] > 0 else -c
                    kept[j] += 1
                updated[j] += 1
                count[j] = 0
            length = 0
            for j in range(p):
                length += xi[j] * xi[j]
            if length == 0:
                memcpy(&xi[0], origin, p * sizeof(double))
            else:
                length = sqrt(length)
                for j in range(p):
                    xi[j] /= length
            b = end
    return out
