"""Second-order rules with a diagonal covariance: one row (mu_j, p_j) a feature, s_j = 1/(1 + p_j).

m = y sum mu_j x_j, v = sum s_j x_j^2, (alpha, kappa) = rule(m, v), beta = kappa/(1 + kappa v):
    mu_j += alpha y s_j x_j                                     (with the old s_j)
    KL: 1/s_j += kappa x_j^2      L2: s_j -= beta s_j^2 x_j^2   (then s_j >= smin)
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, prefetch, read, row_at
from cwtool_ext.projection cimport KL, ceiling_of, kl, l2
from cwtool_ext.rules cimport Form, Rule, fires


cdef inline void look(
    Row row, Row after, const double* table, double scale,
    double* g, double* score, double* variance,
) noexcept nogil:
    # g = Sigma x, score = mu.x, variance = x.g; fetching the row after doubles the speed
    cdef double m = 0.0, v = 0.0, x, gk
    cdef const double* j  # (mu, p) of the feature
    cdef Py_ssize_t k
    for k in range(row.nnz):
        if k < after.nnz:
            prefetch(table + 2 * <Py_ssize_t> after.index[k])
        j = table + 2 * <Py_ssize_t> row.index[k]
        x = scale * row.value[k]
        g[k] = gk = x / (1.0 + j[1])
        m += j[0] * x
        v += gk * x
    score[0] = m
    variance[0] = v


cdef inline void move(
    Row row, double* table, int projection, double scale, double ceiling,
    const double* g, double v, double alpha, double kappa,
) noexcept nogil:
    cdef double beta = 1.0 / (1.0 / kappa + v)
    cdef double* j
    cdef Py_ssize_t k
    if projection == KL:
        for k in range(row.nnz):
            j = table + 2 * <Py_ssize_t> row.index[k]
            j[0] += alpha * g[k]
            j[1] = kl(j[1], kappa, scale * row.value[k], ceiling)
    else:
        for k in range(row.nnz):
            j = table + 2 * <Py_ssize_t> row.index[k]
            j[0] += alpha * g[k]
            j[1] = l2(j[1], beta, g[k], scale * row.value[k], ceiling)


def learn(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table, Rule rule not None,
    int projection, double smin, double scale, double[::1] score, double[::1] variance,
):
    """Visit the rows in order, score each, then update; return the number of updates."""
    cdef Rows rows = check(indptr, indices, values, table, score, variance)
    one_a_row("y", y, rows)
    cdef double[::1] g = np.empty(longest(order, rows) + 1)
    cdef double alpha, kappa, ceiling = ceiling_of(projection, smin)
    cdef Form form = rule.form
    cdef const double* theta = rule.theta
    cdef Py_ssize_t i, n, updates = 0
    cdef Row row, after
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            row = row_at(rows, i)
            after = row_at(rows, order[min(n + 1, order.shape[0] - 1)])
            look(row, after, &table[0, 0], scale, &g[0], &score[i], &variance[i])
            if fires(form, theta, y[i] * score[i], variance[i], &alpha, &kappa):
                updates += 1
                move(row, &table[0, 0], projection, scale, ceiling,
                     &g[0], variance[i], alpha * y[i], kappa)
    return updates


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, double scale, double[::1] score, double[::1] variance,
):
    """mu.x and x'Sigma x of every row."""
    cdef Rows rows = check(indptr, indices, values, table, score, variance)
    cdef double[::1] g = np.empty(indices.shape[0] + 1)
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.count):
            look(row_at(rows, i), row_at(rows, min(i + 1, rows.count - 1)), &table[0, 0], scale,
                 &g[0], &score[i], &variance[i])


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
