"""Primal coordinate descent with shrinking for  min ||w||_1 + C sum_i l(y_i w.x_i).

    squared hinge  l(m) = max(0, 1 - m)^2 / 2      logistic  l(m) = log(1 + exp(-m))
    step of feature j:  g = C sum l'(m_i) y_i x_ij,  h = C sum l''(m_i) x_ij^2,
        d = argmin g d + h d^2/2 + |w_j + d|, halved until the objective falls enough
(Yuan et al. 2010, eq. 19-24, and Algorithm 3 for the shrinking.) The data come by column.
"""

from libc.math cimport exp, expm1, fabs, fmax, log1p
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, read, row_at

cdef double ENOUGH = 0.01  # of the decrease that the model of the step promises
cdef int HALVINGS = 20


cdef inline double bend(double m, double c, bint logistic) noexcept nogil:
    """l(m + c) - l(m) - l'(m) c, without cancellation for small c."""
    cdef double p
    if logistic:
        p = 1 / (1 + exp(m))
        return log1p(p * expm1(-c)) + p * c
    if m < 1:
        return 0.5 * c * c if m + c < 1 else (1 - m) * (c - 0.5 * (1 - m))
    return 0.5 * (1 - m - c) * (1 - m - c) if m + c < 1 else 0


cdef inline double step(double g, double h, double w) noexcept nogil:
    """argmin over d of g d + h d^2/2 + |w + d|"""
    if g + 1 <= h * w:
        return -(g + 1) / h
    if g - 1 >= h * w:
        return -(g - 1) / h
    return -w


def descent(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
            const double[::1] y, const double[::1] square, int64_t[::1] active, bint logistic,
            double C, double slack, double[::1] w, double[::1] m):
    """One visit to the active features in their order; m_i = y_i w.x_i follows. A zero weight
    with |g| < 1 - slack is moved behind the active ones. square_j = |x_j|^2.
    Returns (features still active, greatest violation, sum of violations) of optimality."""
    cdef Rows columns = read(indptr, indices, values, y.shape[0])
    cdef Row x
    cdef Py_ssize_t j, k, s = 0, n = active.shape[0], _half
    cdef double g, h, d, bound, p, fall, rise, violation, most = 0, total = 0
    if min(square.shape[0], w.shape[0]) < columns.count or m.shape[0] != y.shape[0]:
        raise ValueError("the shapes do not fit")
    for j in active:
        if not 0 <= j < columns.count:
            raise ValueError("an active feature is not there")
    with nogil:
        while s < n:
            j = active[s]
            x = row_at(columns, j)
            g = 0
            h = 0
            for k in range(x.nnz):
                if logistic:
                    p = 1 / (1 + exp(m[x.index[k]]))
                    g -= p * y[x.index[k]] * x.value[k]
                    h += p * (1 - p) * x.value[k] * x.value[k]
                elif m[x.index[k]] < 1:
                    g -= (1 - m[x.index[k]]) * y[x.index[k]] * x.value[k]
                    h += x.value[k] * x.value[k]
            g *= C
            h = fmax(C * h, 1e-12)
            if w[j] == 0:
                violation = fmax(fabs(g) - 1, 0)
                if fabs(g) < 1 - slack:
                    n -= 1
                    active[s], active[n] = active[n], active[s]
                    continue
            else:
                violation = fabs(g + (1 if w[j] > 0 else -1))
            most = fmax(most, violation)
            total += violation
            s += 1
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
                    break
                rise = 0
                for k in range(x.nnz):
                    rise += bend(m[x.index[k]], d * y[x.index[k]] * x.value[k], logistic)
                if C * rise <= -(1 - ENOUGH) * fall:
                    break
                d *= 0.5
            else:
                continue
            w[j] += d
            for k in range(x.nnz):
                m[x.index[k]] += d * y[x.index[k]] * x.value[k]
    return n, most, total
