"""Stochastic ascent of xi'A xi = E s (xi'delta)^2 over pairs of rows, truncated after each burst.

A pair of rows with the difference delta and the sign s moves xi by step * s (xi'delta) delta. After
a burst of pairs |xi_j| falls by g0 k_j, where k_j is the number of pairs with feature j, and xi is
divided by its length (Oja's rule in Algorithm 3.4 of Ma 2017, as chapter 4 applies it to sDist).
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

from cwtool_ext.csr cimport Csr, Row, row_at


cdef struct Walk:
    Py_ssize_t p
    const uint8_t* active  # features that may move
    double* xi
    double* before  # xi_j when the burst first met feature j
    int32_t* touched  # the features met by the burst
    int32_t* count  # k_j
    int64_t* last  # the last pair that met feature j


cdef inline double look(Row x, Walk* w, int64_t pair, Py_ssize_t* n) noexcept nogil:
    """x'xi over the active features of a row, which are counted, each once for a pair; n features
    have been touched."""
    cdef Py_ssize_t s
    cdef int32_t j
    cdef double total = 0
    for s in range(x.nnz):
        j = x.index[s]
        if w.active[j]:
            total += w.xi[j] * x.value[s]
            if w.last[j] != pair:
                w.last[j] = pair
                if w.count[j] == 0:
                    w.before[j] = w.xi[j]
                    w.touched[n[0]] = j
                    n[0] += 1
                w.count[j] += 1
    return total


cdef inline void move(Row x, Walk* w, double c) noexcept nogil:
    """xi += c x on the active features."""
    cdef Py_ssize_t s
    for s in range(x.nnz):
        if w.active[x.index[s]]:
            w.xi[x.index[s]] += c * x.value[s]


cdef inline void shrink(
    Walk* w, Py_ssize_t n, double gravity, double* updated, double* kept, double* moves,
) noexcept nogil:
    """Soft threshold of the n touched features by gravity k_j; moves = |change of xi_j| / k_j."""
    cdef Py_ssize_t t, j
    cdef double c
    for t in range(n):
        j = w.touched[t]
        moves[t] = fabs(w.xi[j] - w.before[j]) / w.count[j]
        c = gravity * w.count[j]
        if fabs(w.xi[j]) <= c:
            w.xi[j] = 0
        else:
            w.xi[j] -= c if w.xi[j] > 0 else -c
            kept[j] += 1
        updated[j] += 1
        w.count[j] = 0


cdef inline void normalize(double* xi, const double* instead, Py_ssize_t p) noexcept nogil:
    """xi / |xi|, or a copy of `instead` where xi is 0."""
    cdef Py_ssize_t j
    cdef double length = 0
    for j in range(p):
        length += xi[j] * xi[j]
    if length == 0:
        memcpy(xi, instead, p * sizeof(double))
        return
    length = sqrt(length)
    for j in range(p):
        xi[j] /= length


def bursts(
    Csr phi not None, const int64_t[::1] first, const int64_t[::1] second, const double[::1] sign,
    Py_ssize_t size, const uint8_t[::1] active, double step, double gravity, double[::1] xi,
    double[::1] updated, double[::1] kept, int32_t[::1] touched, int32_t[::1] count,
    int64_t[::1] last, double[:, ::1] vectors, double[::1] moves,
) -> int:
    """Walk over the pairs (first, second, sign) in bursts of `size`. Each pair adds step s
    (xi'delta) delta to the active features of xi; each burst ends with the soft threshold gravity
    k_j and division by the length. Where nothing is left, xi is what it was at the start.

    updated[j] counts the bursts that had feature j, kept[j] those that did not truncate it.
    `count` must be 0 and `last` -1 at first; `vectors` is room for two vectors. `moves` receives
    |change of xi_j| / k_j for each touched feature of each burst; returns how many these are."""
    cdef Py_ssize_t p = xi.shape[0], t, b = 0, end, n, out = 0, pairs = first.shape[0]
    cdef Row x, z
    cdef double c
    cdef double* origin
    cdef Walk w
    phi.fit(p)
    if (second.shape[0] != pairs or sign.shape[0] != pairs or active.shape[0] != p or size < 1
            or min(updated.shape[0], kept.shape[0], touched.shape[0], count.shape[0]) < p
            or last.shape[0] < p or vectors.shape[0] < 2 or vectors.shape[1] < p
            or moves.shape[0] < p * ((pairs + size - 1) // size) or phi.scale != 1):
        raise ValueError("the arrays of bursts do not fit the rows, or the rows are scaled")
    for t in range(pairs):
        if not (0 <= first[t] < phi.count and 0 <= second[t] < phi.count):
            raise ValueError(f"pair {t} names a row that is not among the {phi.count} rows")
    if p == 0:
        return 0
    origin = &vectors[1, 0]
    w = Walk(p, &active[0], &xi[0], &vectors[0, 0], &touched[0], &count[0], &last[0])
    with nogil:
        memcpy(origin, w.xi, p * sizeof(double))
        while b < pairs:
            end = min(b + size, pairs)
            n = 0
            for t in range(b, end):
                x, z = row_at(phi, first[t]), row_at(phi, second[t])
                c = look(x, &w, t, &n)
                c = (c - look(z, &w, t, &n)) * (step * sign[t])
                move(x, &w, c)
                move(z, &w, -c)
            if n:
                shrink(&w, n, gravity, &updated[0], &kept[0], &moves[out])
            out += n
            normalize(w.xi, origin, p)
            b = end
    return out
