"""Diagonal NAROW (Orabona, Crammer, NIPS 2010) in natural form: one row (theta_j, p_j) a feature.

s_j = 1/(1 + p_j), mu_j = s_j theta_j, v = sum s_j x_j^2, score f = mu.x / max(1, b v).
Iff y f < 1:  theta += y x  and, if b v > 1, with kappa = b - 1/v and beta = kappa/(1 + kappa v):
    KL: 1/s_j += kappa x_j^2        L2: s_j -= beta s_j^2 x_j^2     (then s_j >= smin)
"""

import numpy as np

from libc.math cimport fmax, fmin, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Rows, longest, one_a_row, read

KL, L2 = 0, 1


cdef inline void look(
    const int32_t* index, const double* value, Py_ssize_t nnz, const double[:, ::1] table,
    double b, double scale, double* g, double* score, double* variance,
) noexcept nogil:
    # g = Sigma x, variance = x.g, score = theta.g / max(1, b variance)
    cdef double m = 0.0, v = 0.0, x
    cdef Py_ssize_t k
    for k in range(nnz):
        x = scale * value[k]
        g[k] = x / (1.0 + table[index[k], 1])
        m += table[index[k], 0] * g[k]
        v += g[k] * x
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
    if projection not in (KL, L2):
        raise ValueError(f"the projection is 0 (KL) or 1 (L2), not {projection}")
    if not 0.0 < smin < 1.0:
        raise ValueError(f"smin must lie between 0 and 1, not {smin}")
    cdef double[::1] scratch = np.empty(longest(order, rows) + 1)
    cdef double* g = &scratch[0]
    cdef const int32_t* index
    cdef const double* value
    cdef Py_ssize_t i, j, k, n, nnz, updates = 0
    cdef double x, q, v, kappa, beta, ceiling = 1.0 / smin - 1.0
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            index = rows.index + rows.start[i]
            value = rows.value + rows.start[i]
            nnz = rows.start[i + 1] - rows.start[i]
            look(index, value, nnz, table, b, scale, g, &score[i], &variance[i])
            v = variance[i]
            # |x_j| <= sqrt(v/smin): a row longer than 1e100 is skipped, theta cannot overflow
            if not (y[i] * score[i] < 1.0 and 0.0 < v and sqrt(v) <= 1e100):
                continue
            updates += 1
            kappa = fmax(0.0, b - 1.0 / v)
            beta = 1.0 / (1.0 / kappa + v)
            for k in range(nnz):
                j = index[k]
                x = scale * value[k]
                table[j, 0] += y[i] * x
                if projection == 0:
                    table[j, 1] = fmin(table[j, 1] + kappa * x * x, ceiling)
                else:
                    q = fmin(1.0, beta * g[k] * x)
                    table[j, 1] = fmin((table[j, 1] + q) / (1.0 - q), ceiling)
    return updates


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, double b, double scale, double[::1] score, double[::1] variance,
):
    """f and x'Sigma x of every row."""
    cdef Rows rows = check(indptr, indices, values, table, b, score, variance)
    cdef double[::1] scratch = np.empty(indices.shape[0] + 1)
    cdef Py_ssize_t i, a
    with nogil:
        for i in range(rows.count):
            a = rows.start[i]
            look(rows.index + a, rows.value + a, rows.start[i + 1] - a, table, b, scale,
                 &scratch[0], &score[i], &variance[i])


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
