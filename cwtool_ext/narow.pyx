"""Diagonal NAROW (Orabona, Crammer, NIPS 2010) in natural form: one row (theta_j, p_j) a feature.

s_j = 1/(1 + p_j), mu_j = s_j theta_j, v = sum s_j x_j^2, score f = mu.x / max(1, b v).
Iff y f < 1:  theta += y x  and, if b v > 1, with kappa = b - 1/v and beta = kappa/(1 + kappa v):
    KL: 1/s_j += kappa x_j^2        L2: s_j -= beta s_j^2 x_j^2     (then s_j >= smin)
"""

import numpy as np

from libc.math cimport fmax
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, prefetch, read, row_at
from cwtool_ext.projection cimport KL, ceiling_of, kl, l2


cdef inline void look(
    Row row, Row after, const double[:, ::1] table, double b, double scale,
    double* g, double* score, double* variance,
) noexcept nogil:
    # g = Sigma x, variance = x.g, score = theta.g / max(1, b variance)
    cdef double m = 0.0, v = 0.0, x, gk
    cdef Py_ssize_t j, k
    for k in range(row.nnz):
        if k < after.nnz:
            prefetch(&table[after.index[k], 0])
        j = row.index[k]
        x = scale * row.value[k]
        g[k] = gk = x / (1.0 + table[j, 1])
        m += table[j, 0] * gk
        v += gk * x
    score[0] = m / fmax(1.0, b * v)
    variance[0] = v


def learn(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table, double b,
    int projection, double smin, double scale, double[::1] score, double[::1] variance,
):
    """Visit the rows in order, score each, then update; return the number of updates."""
    cdef Rows rows = check(indptr, indices, values, table, b, score, variance)
    one_a_row("y", y, rows)
    cdef double[::1] g = np.empty(longest(order, rows) + 1)
    cdef Row row, after
    cdef Py_ssize_t i, j, k, n, updates = 0
    cdef double x, v, kappa, beta, ceiling = ceiling_of(projection, smin)
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            row = row_at(rows, i)
            after = row_at(rows, order[min(n + 1, order.shape[0] - 1)])
            look(row, after, table, b, scale, &g[0], &score[i], &variance[i])
            v = variance[i]
            # |x_j| <= sqrt(v/smin): a row longer than 1e100 is skipped, theta cannot overflow
            if not (y[i] * score[i] < 1.0 and 0.0 < v <= 1e200):
                continue
            updates += 1
            kappa = fmax(0.0, b - 1.0 / v)
            beta = 1.0 / (1.0 / kappa + v)
            for k in range(row.nnz):
                j = row.index[k]
                x = scale * row.value[k]
                table[j, 0] += y[i] * x
                if projection == KL:
                    table[j, 1] = kl(table[j, 1], kappa, x, ceiling)
                else:
                    table[j, 1] = l2(table[j, 1], beta, g[k], x, ceiling)
    return updates


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, double b, double scale, double[::1] score, double[::1] variance,
):
    """f and x'Sigma x of every row."""
    cdef Rows rows = check(indptr, indices, values, table, b, score, variance)
    cdef double[::1] g = np.empty(indices.shape[0] + 1)
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.count):
            look(row_at(rows, i), row_at(rows, min(i + 1, rows.count - 1)), table, b, scale,
                 &g[0], &score[i], &variance[i])


cdef Rows check(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, double b, const double[::1] score, const double[::1] variance,
) except *:
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    one_a_row("score", score, rows)
    one_a_row("variance", variance, rows)
    if table.shape[1] != 2:
        raise ValueError(f"a NAROW table has 2 columns (theta, p), not {table.shape[1]}")
    if not b > 0.0:
        raise ValueError(f"b must be positive, not {b}")
    return rows
