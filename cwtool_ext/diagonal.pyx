"""Second-order rules with a diagonal covariance: one row (mu_j, p_j) a feature, s_j = 1/(1 + p_j).

m = y sum mu_j x_j, v = sum s_j x_j^2, (alpha, kappa) = rule(m, v), beta = kappa/(1 + kappa v):
    mu_j += alpha y s_j x_j                                         (with the old s_j)
    KL: 1/s_j += kappa x_j^2        L2: s_j -= beta s_j^2 x_j^2     (then s_j >= smin)
KL drops the off-diagonal part of Sigma^-1, L2 that of Sigma (Crammer et al., NIPS 2008, sec. 3).
"""

import numpy as np

from libc.math cimport fmin
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Rows, longest, one_a_row, read
from cwtool_ext.rules cimport Form, Rule, fires

KL, L2 = 0, 1


cdef inline void look(
    const int32_t* index, const double* value, Py_ssize_t nnz, const double[:, ::1] table,
    double scale, double* g, double* score, double* variance,
) noexcept nogil:
    # g = Sigma x, score = mu.x, variance = x.g
    cdef double m = 0.0, v = 0.0, x
    cdef Py_ssize_t k
    for k in range(nnz):
        x = scale * value[k]
        g[k] = x / (1.0 + table[index[k], 1])
        m += table[index[k], 0] * x
        v += g[k] * x
    score[0] = m
    variance[0] = v


cdef inline void move_kl(
    const int32_t* index, const double* value, Py_ssize_t nnz, double[:, ::1] table, double scale,
    const double* g, double alpha, double kappa, double ceiling,
) noexcept nogil:
    cdef double x
    cdef Py_ssize_t k
    for k in range(nnz):
        x = scale * value[k]
        table[index[k], 0] += alpha * g[k]
        table[index[k], 1] = min(table[index[k], 1] + kappa * x * x, ceiling)


cdef inline void move_l2(
    const int32_t* index, const double* value, Py_ssize_t nnz, double[:, ::1] table, double scale,
    const double* g, double alpha, double beta, double ceiling,
) noexcept nogil:
    # q = beta s x^2 <= 1:  s <- s (1 - q)  <=>  p <- (p + q)/(1 - q)
    cdef double q
    cdef Py_ssize_t k
    for k in range(nnz):
        q = fmin(1.0, beta * g[k] * scale * value[k])
        table[index[k], 0] += alpha * g[k]
        table[index[k], 1] = min((table[index[k], 1] + q) / (1.0 - q), ceiling)


def learn(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table, Rule rule not None,
    int projection, double smin, double scale, double[::1] score, double[::1] variance,
):
    """Visit the rows in order, score each, then update; return the number of updates."""
    cdef Rows rows = check(indptr, indices, values, table, score, variance)
    one_a_row("y", y, rows)
    if projection not in (KL, L2):
        raise ValueError(f"the projection is 0 (KL) or 1 (L2), not {projection}")
    if not 0.0 < smin < 1.0:
        raise ValueError(f"smin must lie between 0 and 1, not {smin}")
    cdef double[::1] scratch = np.empty(longest(order, rows) + 1)
    cdef double* g = &scratch[0]
    cdef Form form = rule.form
    cdef const double* theta = rule.theta
    cdef const int32_t* index
    cdef const double* value
    cdef Py_ssize_t i, n, nnz, updates = 0
    cdef double alpha, kappa, ceiling = 1.0 / smin - 1.0
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            index = rows.index + rows.start[i]
            value = rows.value + rows.start[i]
            nnz = rows.start[i + 1] - rows.start[i]
            look(index, value, nnz, table, scale, g, &score[i], &variance[i])
            if not fires(form, theta, y[i] * score[i], variance[i], &alpha, &kappa):
                continue
            updates += 1
            alpha *= y[i]
            if projection == 0:
                move_kl(index, value, nnz, table, scale, g, alpha, kappa, ceiling)
            else:
                kappa = 1.0 / (1.0 / kappa + variance[i])
                move_l2(index, value, nnz, table, scale, g, alpha, kappa, ceiling)
    return updates


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, double scale, double[::1] score, double[::1] variance,
):
    """mu.x and x'Sigma x of every row."""
    cdef Rows rows = check(indptr, indices, values, table, score, variance)
    cdef double[::1] scratch = np.empty(indices.shape[0] + 1)
    cdef Py_ssize_t i, a
    with nogil:
        for i in range(rows.count):
            a = rows.start[i]
            look(rows.index + a, rows.value + a, rows.start[i + 1] - a, table, scale,
                 &scratch[0], &score[i], &variance[i])


cdef Rows check(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, const double[::1] score, const double[::1] variance,
) except *:
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    one_a_row("score", score, rows)
    one_a_row("variance", variance, rows)
    if table.shape[1] != 2:
        raise ValueError(f"a diagonal table has 2 columns (mu, p), not {table.shape[1]}")
    return rows
