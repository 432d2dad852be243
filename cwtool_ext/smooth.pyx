"""AROW with a diagonal covariance and L1 (Wu 2013, eq. 6-9), s_j = 1/(1 + p_j).

m = mu.x, v = sum s_j x_j^2, beta = 1/(v + r), l = 1 - y m. Iff l > 0:
    primal, rows (mu_j, p_j, u_j):  mu_j <- T(mu_j + beta l y s_j x_j, (beta/2) lam s_j)
    dual, rows (theta_j, p_j):      theta_j += beta l y x_j,  mu_j = s_j T(theta_j, C)
then 1/s_j += x_j^2/r (KL), or s_j -= beta s_j^2 x_j^2 (L2).
T(a, b) = sign(a) max(|a| - b, 0). C = (lam/2) sum of beta over these rounds, or over all rounds;
a primal weight that was not touched owes s_j (C - u_j): exact, since s_j has not changed since.
Proximal dual averaging is centred at each mu_t: theta_j also gets (p_j gained) mu_j.
"""

import numpy as np

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, prefetch, read, row_at
from cwtool_ext.projection cimport KL, ceiling_of, kl, l2


cdef inline double shrunk(double a, double by) noexcept nogil:
    if fabs(a) <= by:
        return 0.0
    return a - by if a > 0.0 else a + by


cdef inline double mean(const double* row, bint primal, double C) noexcept nogil:
    # mu_j now
    if primal:
        return shrunk(row[0], (C - row[2]) / (1.0 + row[1]))
    return shrunk(row[0], C) / (1.0 + row[1])


cdef inline void look(
    Row row, Row after, const double[:, ::1] table, double C, double scale,
    double* mu, double* g, double* score, double* variance,
) noexcept nogil:
    # mu and g = Sigma x of the row's features, score = mu.x, variance = x.g
    cdef bint primal = table.shape[1] == 3
    cdef double m = 0.0, v = 0.0, x
    cdef Py_ssize_t j, k
    for k in range(row.nnz):
        if k < after.nnz:
            prefetch(&table[after.index[k], 0])
        j = row.index[k]
        x = scale * row.value[k]
        mu[k] = mean(&table[j, 0], primal, C)
        g[k] = x / (1.0 + table[j, 1])
        m += mu[k] * x
        v += g[k] * x
    score[0], variance[0] = m, v


def learn(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table, double r, double lam,
    int projection, double smin, bint every_round, bint proximal, double C, double scale,
    double[::1] score, double[::1] variance,
):
    """Visit the rows in order, score each, then update; return C after them."""
    cdef Rows rows = check(indptr, indices, values, table, score, variance)
    one_a_row("y", y, rows)
    if not (r > 0 and lam >= 0):
        raise ValueError("r must be positive, lam not negative")
    cdef double[::1] mu = np.empty(longest(order, rows) + 1), g = np.empty(mu.shape[0])
    cdef bint primal = table.shape[1] == 3
    cdef double beta, alpha, tax, p, ceiling = ceiling_of(projection, smin)
    cdef double* at
    cdef Py_ssize_t i, k, n
    cdef Row row, after
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            row = row_at(rows, i)
            after = row_at(rows, order[min(n + 1, order.shape[0] - 1)])
            look(row, after, table, C, scale, &mu[0], &g[0], &score[i], &variance[i])
            beta = 1.0 / (variance[i] + r)
            alpha = beta * (1.0 - y[i] * score[i])
            # a step longer than 1e100, or not a number, is left out: no overflow
            if not (0.0 < variance[i] <= 1e200 and fabs(alpha) * sqrt(variance[i]) <= 1e100):
                continue
            tax = lam / 2.0 * beta
            if alpha > 0.0:
                for k in range(row.nnz):
                    at = &table[row.index[k], 0]
                    if projection == KL:
                        p = kl(at[1], 1.0 / r, scale * row.value[k], ceiling)
                    else:
                        p = l2(at[1], beta, g[k], scale * row.value[k], ceiling)
                    if primal:
                        at[0] = shrunk(mu[k] + alpha * y[i] * g[k], tax / (1.0 + at[1]))
                        at[2] = C + tax
                    else:
                        at[0] += alpha * y[i] * (scale * row.value[k])
                        if proximal:
                            at[0] += (p - at[1]) * mu[k]
                    at[1] = p
            if alpha > 0.0 or every_round:
                C += tax
    return C


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, double C, double scale, double[::1] score,
    double[::1] variance,
):
    """mu.x and x'Sigma x of every row."""
    cdef Rows rows = check(indptr, indices, values, table, score, variance)
    cdef double[::1] mu = np.empty(indices.shape[0] + 1), g = np.empty(mu.shape[0])
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.count):
            look(row_at(rows, i), row_at(rows, min(i + 1, rows.count - 1)), table, C, scale,
                 &mu[0], &g[0], &score[i], &variance[i])


def means(const double[:, ::1] table, double C, double[::1] out):
    """mu_j of every table row."""
    cdef Py_ssize_t j
    if table.shape[1] not in (2, 3) or table.shape[0] != out.shape[0]:
        raise ValueError("one place a table row is needed")
    for j in range(out.shape[0]):
        out[j] = mean(&table[j, 0], table.shape[1] == 3, C)


cdef Rows check(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, const double[::1] score, const double[::1] variance,
) except *:
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    one_a_row("score", score, rows)
    one_a_row("variance", variance, rows)
    if table.shape[1] not in (2, 3):
        raise ValueError(f"a smooth table has 2 or 3 columns, not {table.shape[1]}")
    return rows
