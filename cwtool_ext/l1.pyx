"""Primal coordinate descent with shrinking for  min ||w||_1 + C sum_i u_i l(y_i w.x_i).

    squared hinge  l(m) = max(0, 1 - m)^2 / 2      logistic  l(m) = log(1 + exp(-m))
    step of feature j:  g = C sum u_i l'(m_i) z_ij,  h = C sum u_i l''(m_i) z_ij^2,
        z_ij = y_i x_ij;  d = argmin g d + h d^2/2 + |w_j + d|, halved until the objective falls
        enough
(Yuan et al. 2010, eq. 19-24, and Algorithm 3 for the shrinking.) z is stored by column. u are the
weights of the rows, NULL if all of them are 1.
"""

from libc.math cimport copysign, exp, expm1, fabs, fmax, log1p
from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Csr, Row, check_order, fetch, one_a_row, prefetch, row_at
from cwtool_ext.inverted cimport check_matrix

cdef enum:
    AHEAD = 12  # columns in a random order are fetched this number of steps before they are needed

cdef double ENOUGH = 0.01  # share of the decrease predicted by the quadratic model to be reached
cdef int HALVINGS = 20  # of a step, at most


cdef inline double positive(double x) noexcept nogil:
    """1 for x >= 0, else 0. There is no branch in it, because its outcome could not be predicted:
    with one, the loops below take seven times as long."""
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


cdef inline (double, double) weighted_slopes(Row z, const double* m, const double* u,
                                             bint logistic) noexcept nogil:
    """sum u_i l'(m_i) z_i and sum u_i l''(m_i) z_i^2"""
    cdef double g = 0, h = 0, v, xi, p
    cdef Py_ssize_t k
    for k in range(z.nnz):
        v = z.value[k]
        if logistic:
            p = 1 / (1 + exp(m[z.index[k]]))
            g -= u[z.index[k]] * p * v
            h += u[z.index[k]] * p * (1 - p) * v * v
        else:
            xi = 1 - m[z.index[k]]
            p = u[z.index[k]] * positive(xi) * v
            g -= xi * p
            h += p * v
    return g, h


cdef inline void move(Row z, double d, double* m) noexcept nogil:
    """m += d z"""
    cdef Py_ssize_t k
    for k in range(z.nnz):
        m[z.index[k]] += d * z.value[k]


cdef inline double moved(Row z, double d, double* m, const double* u,
                         bint logistic) noexcept nogil:
    """m += d z; returns by how much the sum of losses departs from its tangent."""
    cdef Py_ssize_t k
    cdef double c, total = 0
    if u == NULL:
        for k in range(z.nnz):
            c = d * z.value[k]
            total += bend(m[z.index[k]], c, logistic)
            m[z.index[k]] += c
    else:
        for k in range(z.nnz):
            c = d * z.value[k]
            total += u[z.index[k]] * bend(m[z.index[k]], c, logistic)
            m[z.index[k]] += c
    return total


cdef inline double step(double g, double h, double w) noexcept nogil:
    """argmin over d of g d + h d^2/2 + |w + d|"""
    if g + 1 <= h * w:
        return -(g + 1) / h
    if g - 1 >= h * w:
        return -(g - 1) / h
    return -w


cdef inline double taken(
    Row z, double g, double d, double w, double bound, double C, bint logistic,
    const double* u, double* m,
) noexcept nogil:
    """Halve d until the objective falls enough, and move the margins by it. Returns the d that was
    taken, 0 if none was. `bound` is an upper bound of h for all w; where it already proves the
    fall, the loss is not evaluated."""
    cdef double fall
    cdef int _half
    for _half in range(HALVINGS):
        if w * (w + d) >= 0:  # g d + |w + d| - |w|
            fall = (g + (1 if w + d > 0 or w > 0 else -1)) * d
        else:
            fall = g * d + fabs(w + d) - fabs(w)
        if 0.5 * bound * d * d <= -(1 - ENOUGH) * fall:
            move(z, d, m)
            return d
        if not C * moved(z, d, m, u, logistic) > -(1 - ENOUGH) * fall:
            return d
        move(z, -d, m)
        d *= 0.5
    return 0


def violations(
    double C, const double[::1] g, const double[::1] w, const int64_t[::1] some, double[::1] out
) -> float:
    """out_k = the violation of optimality of feature j = some_k, where C g is the gradient of the
    sum of losses: max(|C g_j| - 1, 0) if w_j = 0, else |C g_j + sign w_j|. Returns their sum."""
    cdef Py_ssize_t k, j
    cdef double total = 0
    if g.shape[0] != w.shape[0] or out.shape[0] != some.shape[0]:
        raise ValueError("there must be a gradient for each weight, and a place for each violation")
    for k in range(some.shape[0]):
        if not 0 <= some[k] < w.shape[0]:
            raise ValueError(f"feature {some[k]} lies outside 0..{w.shape[0] - 1}")
    with nogil:
        for k in range(some.shape[0]):
            j = some[k]
            if w[j] == 0:
                out[k] = fmax(fabs(C * g[j]) - 1, 0)
            else:
                out[k] = fabs(C * g[j] + copysign(1, w[j]))
            total += out[k]
    return total


def descent(
    Csr columns not None, const double[::1] square, int64_t[::1] active, bint logistic, double C,
    double slack, double[::1] w, double[::1] m, const double[::1] weight=None,
) -> tuple[int, float, float]:
    """Visit the active features once, in their order; m_i = y_i w.x_i follows. A zero weight
    with |g| < 1 - slack is no longer active; the others move up. square_j = sum u_i x_ij^2, u the
    weights (None: all 1).
    Returns (features still active, greatest violation, sum of violations) of optimality."""
    cdef Row z
    cdef Py_ssize_t j, s, left = 0, n = active.shape[0]
    cdef double g, h, d, bound, violation, most = 0, total = 0
    cdef double* margin
    cdef const double* u = NULL
    check_matrix(columns, m.shape[0])
    check_order(active, columns)
    one_a_row("square", square.shape[0], columns)
    one_a_row("w", w.shape[0], columns)
    if m.shape[0] == 0:
        return 0, 0.0, 0.0
    margin = &m[0]
    if weight is not None:
        if weight.shape[0] != m.shape[0]:
            raise ValueError(f"weight has {weight.shape[0]} places for {m.shape[0]} rows")
        u = &weight[0]
    with nogil:
        for s in range(n):
            j = active[s]
            z = row_at(columns, j)
            if s + 2 * AHEAD < n:
                prefetch(columns.start + active[s + 2 * AHEAD])
                prefetch(&w[active[s + AHEAD]])
                fetch(row_at(columns, active[s + AHEAD]))
            if u == NULL:
                g, h = slopes(z, margin, logistic)
            else:
                g, h = weighted_slopes(z, margin, u, logistic)
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
            bound = C * square[j] * (0.25 if logistic else 1)
            w[j] += taken(z, g, d, w[j], bound, C, logistic, u, margin)
    return left, most, total
