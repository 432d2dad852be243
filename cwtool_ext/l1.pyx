"""Primal coordinate descent with shrinking for  min ||w||_1 + C sum_i l(y_i w.x_i).

    squared hinge  l(m) = max(0, 1 - m)^2 / 2      logistic  l(m) = log(1 + exp(-m))
    step of feature j:  g = C sum l'(m_i) z_ij,  h = C sum l''(m_i) z_ij^2,  z_ij = y_i x_ij,
        d = argmin g d + h d^2/2 + |w_j + d|, halved until the objective falls enough
(Yuan et al. 2010, eq. 19-24, and Algorithm 3 for the shrinking.) The columns of z come as rows.
"""

from libc.math cimport copysign, exp, expm1, fabs, fmax, log1p
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, prefetch, read, row_at

cdef enum:
    AHEAD = 12  # columns in a random order are fetched so many visits before they are needed

cdef double ENOUGH = 0.01  # of the decrease that the model of the step promises
cdef int HALVINGS = 20


cdef inline double positive(double x) noexcept nogil:
    """1 or 0, without a branch, which nobody could foretell: the loops below take a seventh of
    the time."""
    return 0.5 + copysign(0.5, x)


cdef inline double bend(double m, double c, bint logistic) noexcept nogil:
    """l(m + c) - l(m) - l'(m) c, without cancellation for small c."""
    cdef double p, before, after, xi, side
    if logistic:
        p = 1 / (1 + exp(m))
        return log1p(p * expm1(-c)) + p * c
    xi = 1 - m
    before, after = positive(xi), positive(xi - c)
    # c^2/2 where xi stays positive, (xi - c)^2/2 where it becomes so, xi (c - xi/2) where it ends
    side = before * c + (1 - before) * (xi - c)
    return after * (0.5 * side * side) + before * (1 - after) * (xi * (c - 0.5 * xi))


cdef inline (double, double) slopes(Row z, const double* m, bint logistic) noexcept nogil:
    """sum l'(m_i) z_i and sum l''(m_i) z_i^2"""
    cdef double g = 0, h = 0, v, xi, p
    cdef Py_ssize_t k
    if logistic:
        for k in range(z.nnz):
            v = z.value[k]
            p = 1 / (1 + exp(m[z.index[k]]))
            g -= p * v
            h += p * (1 - p) * v * v
    else:
        for k in range(z.nnz):
            xi = 1 - m[z.index[k]]
            v = z.value[k]
            p = positive(xi) * v
            g -= xi * p
            h += p * v
    return g, h


cdef inline void move(Row z, double d, double* m) noexcept nogil:
    """m += d z"""
    cdef Py_ssize_t k
    for k in range(z.nnz):
        m[z.index[k]] += d * z.value[k]


cdef inline double moved(Row z, double d, double* m, bint logistic) noexcept nogil:
    """The same; by how much the loss, over C, bends away from its tangent."""
    cdef Py_ssize_t k
    cdef double c, total = 0
    for k in range(z.nnz):
        c = d * z.value[k]
        total += bend(m[z.index[k]], c, logistic)
        m[z.index[k]] += c
    return total


cdef inline void fetch(Row z) noexcept nogil:
    """The beginning of a column; the machine goes on by itself."""
    cdef Py_ssize_t k
    for k in range(0, min(z.nnz, 32), 16):
        prefetch(z.index + k)
    for k in range(0, min(z.nnz, 32), 8):
        prefetch(z.value + k)


cdef inline double step(double g, double h, double w) noexcept nogil:
    """argmin over d of g d + h d^2/2 + |w + d|"""
    if g + 1 <= h * w:
        return -(g + 1) / h
    if g - 1 >= h * w:
        return -(g - 1) / h
    return -w


def descent(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
            const double[::1] square, int64_t[::1] active, bint logistic,
            double C, double slack, double[::1] w, double[::1] m):
    """One visit to the active features in their order; m_i = y_i w.x_i follows. A zero weight
    with |g| < 1 - slack is no longer active; the others move up. square_j = |x_j|^2.
    Returns (features still active, greatest violation, sum of violations) of optimality."""
    cdef Rows columns = read(indptr, indices, values, m.shape[0])
    cdef Row z
    cdef Py_ssize_t j, s, left = 0, n = active.shape[0], _half
    cdef double g, h, d, bound, fall, violation, most = 0, total = 0
    cdef double* margin
    if min(square.shape[0], w.shape[0]) < columns.count:
        raise ValueError("the shapes do not fit")
    for s in range(n):
        if not 0 <= active[s] < columns.count:
            raise ValueError("an active feature is not there")
    if m.shape[0] == 0:
        return 0, 0.0, 0.0
    margin = &m[0]
    with nogil:
        for s in range(n):
            j = active[s]
            z = row_at(columns, j)
            if s + 2 * AHEAD < n:
                prefetch(columns.start + active[s + 2 * AHEAD])
                prefetch(&w[active[s + AHEAD]])
                fetch(row_at(columns, active[s + AHEAD]))
            g, h = slopes(z, margin, logistic)
            g *= C
            h = fmax(C * h, 1e-12)
            if w[j] == 0:
                violation = fmax(fabs(g) - 1, 0)
                if fabs(g) < 1 - slack:
                    continue
            else:
                violation = fabs(g + (1 if w[j] > 0 else -1))
            most = fmax(most, violation)
            total += violation
            active[left] = j
            left += 1
            d = step(g, h, w[j])
            if fabs(d) < 1e-15 * fmax(1, fabs(w[j])):
                continue
            bound = C * square[j] * (0.25 if logistic else 1)  # h is nowhere more
            for _half in range(HALVINGS):
                if w[j] * (w[j] + d) >= 0:  # g d + |w + d| - |w|
                    fall = (g + (1 if w[j] + d > 0 or w[j] > 0 else -1)) * d
                else:
                    fall = g * d + fabs(w[j] + d) - fabs(w[j])
                if 0.5 * bound * d * d <= -(1 - ENOUGH) * fall:
                    move(z, d, margin)
                elif C * moved(z, d, margin, logistic) > -(1 - ENOUGH) * fall:
                    move(z, -d, margin)
                    d *= 0.5
                    continue
                w[j] += d
                break
    return left, most, total
