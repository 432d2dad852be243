"""Proximal dual coordinate ascent for  min |w|_1 + e/2 |w|^2 + C/q sum_i h_i max(0, 1 - w.z_i)^q.

    dual  sum b - (q-1)/(2C) sum b^2/h - sum_j max(0, |v_j| - 1)^2 / (2e),   v = sum b_i z_i,
    w_j = sign(v_j) max(0, |v_j| - 1) / e,   0 <= b_i <= U_i,   z_i = y_i x_i
(Shalev-Shwartz and Zhang 2012. Their step takes |z_i|^2 / e for the curvature, as if every feature
of the row had a weight; here each step goes to the zero of the slope.)
"""

from libc.math cimport copysign, fabs, fmax, fmin
from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Csr, Row, check_order, one_a_row, row_at
from cwtool_ext.inverted cimport check_matrix

cdef int TRIES = 30  # Newton steps or bisections for one row, at most
cdef double NEAR = 1e-12  # a slope this small counts as zero; margins are about 1


cdef inline double soft(double v) noexcept nogil:
    """sign(v) max(0, |v| - 1)"""
    return copysign(fmax(fabs(v) - 1, 0), v)


cdef inline (double, double) slope(Row z, double d, const double* v, const double* free, double e,
                                   double start, double D) noexcept nogil:
    """The slope of the dual after a step d of this row, start - D d - w.z, and the rate at which
    it falls with d."""
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
    """The step d in low .. high at which the slope, which falls with d, is zero, or the end nearer
    to it. One of the ends is 0, where the slope is g and falls at the rate h. Newton's method,
    which is exact once no more weights become or cease to be zero, with bisection where a Newton
    step leaves the interval."""
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


def ascent(
    Csr rows not None, const int64_t[::1] order, const double[::1] free, double e,
    const double[:] D, const double[:] U, double[::1] v, double[::1] b,
) -> None:
    """Visit the rows z_i once, in this order; v and b follow. free_j is 0 for a feature that must
    not have a weight, else 1."""
    cdef Row z
    cdef Py_ssize_t i, k, s
    cdef double g, h, d, most, ridge, upper
    check_matrix(rows, v.shape[0])
    check_order(order, rows)
    one_a_row("b", b.shape[0], rows)
    one_a_row("D", D.shape[0], rows)
    one_a_row("U", U.shape[0], rows)
    if free.shape[0] != v.shape[0]:
        raise ValueError(f"free has {free.shape[0]} entries for {v.shape[0]} features")
    if v.shape[0] == 0:
        return
    with nogil:
        for s in range(order.shape[0]):
            i = order[s]
            z = row_at(rows, i)
            ridge = D[i]
            upper = U[i]
            g, h = slope(z, 0, &v[0], &free[0], e, 1 - ridge * b[i], ridge)
            if g > 0:
                most = fmin(upper - b[i], g / ridge) if ridge > 0 else upper - b[i]
                d = root(z, &v[0], &free[0], e, 1 - ridge * b[i], ridge, g, h, 0, most) \
                    if most > 0 else 0
            else:
                d = root(z, &v[0], &free[0], e, 1 - ridge * b[i], ridge, g, h, -b[i], 0) \
                    if b[i] > 0 else 0
            if d == 0:
                continue
            b[i] = fmin(upper, fmax(0, b[i] + d))
            for k in range(z.nnz):
                v[z.index[k]] += d * z.value[k]
