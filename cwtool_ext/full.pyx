"""Second-order rules with a full covariance over features 0..n-1: a table column mu, and Sigma.

m = y mu.x, v = x'Sigma x, (alpha, kappa) = rule(m, v), g = Sigma x:
    mu += alpha y g        Sigma -= beta g g', beta = kappa/(1 + kappa v)   (Sigma^-1 += kappa x x')
Guards: v >= smin ||x||^2 and kappa <= 1/(smin ||x||^2) - 1/v, so the new variance 1/(1/v + kappa)
stays above smin ||x||^2. NAROW scores mu.x / max(1, b v); `shrink` is its b, 0 for the others.
"""

import numpy as np

from libc.math cimport fmax, fmin, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, read, row_at
from cwtool_ext.rules cimport Form, Rule, fires


cdef inline void look(
    Row row, const double[:, ::1] table, const double[:, ::1] sigma, double scale,
    double* m, double* v, double* xx,
) noexcept nogil:
    # m = mu.x, v = x'Sigma x = sum_a x_a (Sigma_aa x_a + 2 sum_{b<a} Sigma_ab x_b), xx = x.x
    cdef double x, below
    cdef Py_ssize_t a, b
    m[0] = v[0] = xx[0] = 0.0
    for a in range(row.nnz):
        x = scale * row.value[a]
        below = 0.0
        for b in range(a):
            below += sigma[row.index[a], row.index[b]] * (scale * row.value[b])
        m[0] += table[row.index[a], 0] * x
        v[0] += x * (sigma[row.index[a], row.index[a]] * x + 2.0 * below)
        xx[0] += x * x


cdef inline void move(
    Row row, double[:, ::1] table, double[:, ::1] sigma, Py_ssize_t n, double scale,
    double* g, double alpha, double beta,
) noexcept nogil:
    # h = sqrt(beta) g: h_i h_j = h_j h_i to the last bit, Sigma stays exactly symmetric
    cdef double x
    cdef Py_ssize_t a, i, j
    for j in range(n):
        g[j] = 0.0
    for a in range(row.nnz):
        x = scale * row.value[a]
        for j in range(n):
            g[j] += x * sigma[row.index[a], j]
    for j in range(n):
        table[j, 0] += alpha * g[j]
        g[j] *= sqrt(beta)
    for i in range(n):
        if g[i] != 0.0:
            x = g[i]
            for j in range(n):
                sigma[i, j] -= x * g[j]


def learn(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table, double[:, ::1] sigma,
    Py_ssize_t n, Rule rule not None, double shrink, double smin, double scale,
    double[::1] score, double[::1] variance,
):
    """Visit the rows in order, score each, then update; return the number of updates."""
    cdef Rows rows = check(indptr, indices, values, table, sigma, n, score)
    one_a_row("variance", variance, rows)
    one_a_row("y", y, rows)
    longest(order, rows)
    if not 0.0 < smin < 1.0:
        raise ValueError(f"smin must lie between 0 and 1, not {smin}")
    cdef double[::1] g = np.empty(n + 1)
    cdef Form form = rule.form
    cdef const double* theta = rule.theta
    cdef Row row
    cdef Py_ssize_t i, k, updates = 0
    cdef double m, v, xx, alpha, kappa
    with nogil:
        for k in range(order.shape[0]):
            i = order[k]
            row = row_at(rows, i)
            look(row, table, sigma, scale, &m, &v, &xx)
            variance[i] = v = fmax(v, smin * xx)
            score[i] = m / fmax(1.0, shrink * v)
            if not fires(form, theta, y[i] * m, v, &alpha, &kappa):
                continue
            updates += 1
            kappa = fmax(0.0, fmin(kappa, 1.0 / (smin * xx) - 1.0 / v))
            move(row, table, sigma, n, scale, &g[0],
                 alpha * y[i], 1.0 / (1.0 / kappa + v))
    return updates


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, const double[:, ::1] sigma, Py_ssize_t n, double shrink,
    double smin, double scale, double[::1] score, double[::1] variance,
):
    """The score and x'Sigma x of every row."""
    cdef Rows rows = check(indptr, indices, values, table, sigma, n, score)
    one_a_row("variance", variance, rows)
    cdef Py_ssize_t i
    cdef double m, v, xx
    with nogil:
        for i in range(rows.count):
            look(row_at(rows, i), table, sigma, scale, &m, &v, &xx)
            variance[i] = v = fmax(v, smin * xx)
            score[i] = m / fmax(1.0, shrink * v)


def learn_sop(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table, double[:, ::1] sigma,
    Py_ssize_t n, double scale, double[::1] score,
):
    """Second-order perceptron (Cesa-Bianchi et al., 2005), Sigma = A^-1, mu = A^-1 sum y x.

    score = x'(A + xx')^-1 sum y x = mu.x/(1 + v); on a mistake A += xx', which moves mu by
    Sherman-Morrison as AROW with r = 1 does: alpha = (1 - m)/(1 + v), kappa = 1.
    """
    cdef Rows rows = check(indptr, indices, values, table, sigma, n, score)
    one_a_row("y", y, rows)
    longest(order, rows)
    cdef double[::1] g = np.empty(n + 1)
    cdef Row row
    cdef Py_ssize_t i, k, updates = 0
    cdef double m, v, xx
    with nogil:
        for k in range(order.shape[0]):
            i = order[k]
            row = row_at(rows, i)
            look(row, table, sigma, scale, &m, &v, &xx)
            score[i] = m / (1.0 + v)
            # a row longer than 1e100 is skipped: no state can overflow
            if (score[i] >= 0.0) == (y[i] > 0.0) or not (v > 0.0 and xx <= 1e200):
                continue
            updates += 1
            move(row, table, sigma, n, scale, &g[0],
                 (y[i] - m) / (1.0 + v), 1.0 / (1.0 + v))
    return updates


def scores_sop(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, const double[:, ::1] sigma, Py_ssize_t n, double scale,
    double[::1] score,
):
    """mu.x/(1 + x'Sigma x) of every row."""
    cdef Rows rows = check(indptr, indices, values, table, sigma, n, score)
    cdef Py_ssize_t i
    cdef double m, v, xx
    with nogil:
        for i in range(rows.count):
            look(row_at(rows, i), table, sigma, scale, &m, &v, &xx)
            score[i] = m / (1.0 + v)


cdef Rows check(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, const double[:, ::1] sigma, Py_ssize_t n,
    const double[::1] score,
) except *:
    if table.shape[1] != 1:
        raise ValueError(f"a full-covariance table has 1 column (mu), not {table.shape[1]}")
    if not 0 <= n <= min(table.shape[0], sigma.shape[0], sigma.shape[1]):
        raise ValueError(f"table and sigma must hold n = {n} features")
    cdef Rows rows = read(indptr, indices, values, n)
    one_a_row("score", score, rows)
    return rows
