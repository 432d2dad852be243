"""Proximal dual coordinate ascent for  min |w|_1 + e/2 |w|^2 + C/q sum_i max(0, 1 - w.z_i)^q.

    dual  sum b - (q-1)/(2C) sum b^2 - sum_j max(0, |v_j| - 1)^2 / (2e),   v = sum b_i z_i,
    w_j = sign(v_j) max(0, |v_j| - 1) / e,   0 <= b_i <= U,   z_i = y_i x_i
(Shalev-Shwartz and Zhang 2012; their step takes |z_i|^2 / e for the curvature, which counts every
feature of the row as if it had a weight. Here the slope is followed to its zero.)
"""

from libc.math cimport copysign, fabs, fmax, fmin
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, read, row_at

cdef int TRIES = 30
cdef double NEAR = 1e-12  # to a slope of zero; margins are about 1


cdef inline double soft(double v) noexcept nogil:
    return copysign(fmax(fabs(v) - 1, 0), v)


cdef inline (double, double) slope(Row z, double d, const double* v, const double* free, double e,
                                   double start, double D) noexcept nogil:
    """Of the dual after a step d, where it is `start` - D d - w.z, and how fast it falls."""
    cdef double w, x, g = start - D * d, h = D
    cdef Py_ssize_t k
    for k in range(z.nnz):
        x = z.value[k]
        w = free[z.index[k]] * soft(v[z.index[k]] + d * x)
        g -= x * w / e
        h += x * x / e if w != 0 else 0
    return g, h


cdef double root(Row z, const double* v, const double* free, double e, double start, double D,
                 double g, double h, double low, double high) noexcept nogil:
    """Where the slope, which falls with d, is zero, or the nearer end; 0 is one of the ends, and
    there it is g and falls with h. By Newton's steps, which end where the slope is straight, or by
    halves where they lead outside."""
    cdef double d = 0, far = low if high == 0 else high
    cdef int _try
    for _try in range(TRIES):
        d = d + g / h if h > 0 else far
        if d <= low or d >= high:
            if low == far or high == far:
                g, _ = slope(z, far, v, free, e, start, D)
                if (far > 0) == (g >= 0):
                    return far
            d = 0.5 * (low + high)
        g, h = slope(z, d, v, free, e, start, D)
        if fabs(g) <= NEAR or high - low <= 1e-15 * fmax(fabs(low), fabs(high)):
            break
        if g > 0:
            low = d
        else:
            high = d
    return d


def ascent(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
           const int64_t[::1] order, const double[::1] free, double e, double D, double U,
           double[::1] v, double[::1] b):
    """One visit to each row; free_j is 0 for features that must not have a weight, else 1."""
    cdef Rows rows = read(indptr, indices, values, v.shape[0])
    cdef Row z
    cdef Py_ssize_t i, k, s
    cdef double g, h, d, most
    longest(order, rows)
    one_a_row("b", b, rows)
    if free.shape[0] != v.shape[0]:
        raise ValueError("the shapes do not fit")
    if v.shape[0] == 0:
        return
    with nogil:
        for s in range(order.shape[0]):
            i = order[s]
            z = row_at(rows, i)
            g, h = slope(z, 0, &v[0], &free[0], e, 1 - D * b[i], D)
            if g > 0:
                most = fmin(U - b[i], g / D) if D > 0 else U - b[i]
                d = root(z, &v[0], &free[0], e, 1 - D * b[i], D, g, h, 0, most) \
                    if most > 0 else 0
            else:
                d = root(z, &v[0], &free[0], e, 1 - D * b[i], D, g, h, -b[i], 0) \
                    if b[i] > 0 else 0
            if d == 0:
                continue
            b[i] = fmin(U, fmax(0, b[i] + d))
            for k in range(z.nnz):
                v[z.index[k]] += d * z.value[k]
