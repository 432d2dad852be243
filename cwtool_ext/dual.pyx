"""Dual coordinate ascent for linear classifiers over sparse rows, plain and in the metric of a
covariance.

    min over mu of  1/2 (mu - mu0)' P (mu - mu0) + C/q sum_i max(0, 1 - y_i mu.x_i)^q
    dual step of row i, with Sigma = P^-1, v_i = x_i' Sigma x_i:
        g = 1 - y_i mu.x_i - D a_i;   a' = clip(a_i + g / (v_i + D), 0, U)
        mu += (a' - a_i) y_i Sigma x_i
    q = 1: U = C, D = 0;  q = 2: U = inf, D = 1/C       (Hsieh et al. 2008; Tan et al. 2016, Alg. 1)
    U and D are given by row: with the weight h of a row, C is C h. Arrays of stride 0, the same
    for all rows, cost nothing.

The same steps over dense rows are in dual_dense; dual_descent solves with P = I to the optimum.
"""

import numpy as np

from libc.math cimport fabs, fmax, fmin
from libc.stdint cimport int32_t

from cwtool_ext.csr cimport Csr, Row, one_a_row, row_at


def squared_norms(Csr rows not None, double[::1] out) -> None:
    """out_i = ||x_i||^2"""
    cdef Row row
    cdef Py_ssize_t i, k
    cdef double x, total
    one_a_row("out", out.shape[0], rows)
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            total = 0
            for k in range(row.nnz):
                x = row.scale * row.value[k]
                total += x * x
            out[i] = total


def margins(
    Csr rows not None, const double[:, ::1] table, Py_ssize_t column, double[::1] out
) -> None:
    """out_i = table[:, column] . x_i"""
    cdef Row row
    cdef Py_ssize_t i, k
    cdef double m
    rows.fit(table.shape[0])
    one_a_row("out", out.shape[0], rows)
    check_column(column, table)
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            m = 0
            for k in range(row.nnz):
                m += table[row.index[k], column] * (row.scale * row.value[k])
            out[i] = m


def add_rows(
    Csr rows not None, const double[::1] weight, double[:, ::1] table, Py_ssize_t column
) -> None:
    """table[:, column] += sum_i weight_i x_i"""
    cdef Row row
    cdef Py_ssize_t i, k
    rows.fit(table.shape[0])
    one_a_row("weight", weight.shape[0], rows)
    check_column(column, table)
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            for k in range(row.nnz):
                table[row.index[k], column] += weight[i] * (row.scale * row.value[k])


def variances(
    Csr rows not None, const double[:, ::1] S, double[::1] v, bint by_feature=False
) -> None:
    """v_i = x_i' S x_i. The sums are in the order of the entries, or `by_feature` in that of the
    features, so that it does not matter in which order a row has them."""
    cdef Row row
    cdef Py_ssize_t i, a, b
    cdef double below, total
    rows.fit(min(S.shape[0], S.shape[1]))
    one_a_row("v", v.shape[0], rows)
    cdef int32_t[::1] j = np.empty(rows.longest + 1, dtype=np.int32)
    cdef double[::1] x = np.empty(rows.longest + 1)
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            total = 0
            for a in range(row.nnz):
                b = a
                while by_feature and b > 0 and j[b - 1] > row.index[a]:
                    j[b], x[b] = j[b - 1], x[b - 1]
                    b -= 1
                j[b], x[b] = row.index[a], row.scale * row.value[a]
            for a in range(row.nnz):
                below = 0
                for b in range(a):
                    below += S[j[a], j[b]] * x[b]
                total += x[a] * (S[j[a], j[a]] * x[a] + 2 * below)
            v[i] = total


def covariance_pass(
    Csr rows not None, const double[::1] y, const double[:, ::1] S, const double[::1] v,
    const double[:] D, const double[:] U, double[::1] mu, double[::1] a,
) -> float:
    """One pass of dual coordinate ascent with the covariance matrix S: a row x of sign y whose dual
    variable changes by da moves the mean by mu += da y S x. Returns the largest |da|."""
    cdef Py_ssize_t i, k, j, n = mu.shape[0]
    cdef Row row
    cdef double m, new, change, most = 0, x
    rows.fit(min(S.shape[0], S.shape[1], n))
    one_a_row("y", y.shape[0], rows)
    one_a_row("v", v.shape[0], rows)
    one_a_row("a", a.shape[0], rows)
    one_a_row("D", D.shape[0], rows)
    one_a_row("U", U.shape[0], rows)
    if S.shape[1] < n:
        raise ValueError(f"S has {S.shape[1]} columns for {n} weights")
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            m = 0
            for k in range(row.nnz):
                m += mu[row.index[k]] * (row.scale * row.value[k])
            new = step(y[i] * m, a[i], v[i], D[i], U[i])
            change = (new - a[i]) * y[i]
            most = fmax(most, fabs(change))
            a[i] = new
            if change != 0:
                for k in range(row.nnz):
                    x = change * (row.scale * row.value[k])
                    for j in range(n):
                        mu[j] += x * S[row.index[k], j]
    return most


cdef inline double dot(Row row, const double* w) noexcept nogil:
    """w . the stored values of a row, in four sums: one would wait for each of its additions."""
    cdef Py_ssize_t k, whole = row.nnz - row.nnz % 4
    cdef double m0 = 0, m1 = 0, m2 = 0, m3 = 0
    for k in range(0, whole, 4):
        m0 += w[row.index[k]] * row.value[k]
        m1 += w[row.index[k + 1]] * row.value[k + 1]
        m2 += w[row.index[k + 2]] * row.value[k + 2]
        m3 += w[row.index[k + 3]] * row.value[k + 3]
    for k in range(whole, row.nnz):
        m0 += w[row.index[k]] * row.value[k]
    return (m0 + m1) + (m2 + m3)


def plain_pass(
    Csr rows not None, const double[::1] y, const double[::1] v, const double[:] D,
    const double[:] U, double[::1] mu, double[::1] a,
) -> None:
    """Visit rows once, in their order, with P = I."""
    cdef Row row
    cdef Py_ssize_t i, k
    cdef double* w = &mu[0] if mu.shape[0] else NULL
    cdef double g, change, new
    rows.fit(mu.shape[0])
    one_a_row("y", y.shape[0], rows)
    one_a_row("v", v.shape[0], rows)
    one_a_row("a", a.shape[0], rows)
    one_a_row("D", D.shape[0], rows)
    one_a_row("U", U.shape[0], rows)
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            g = y[i] * row.scale * dot(row, w) - 1 + D[i] * a[i]
            if (a[i] == 0 and g >= 0) or (a[i] == U[i] and g <= 0) or fabs(g) <= 1e-12:
                continue
            new = U[i] if v[i] + D[i] == 0 else fmin(U[i], fmax(0, a[i] - g / (v[i] + D[i])))
            change = (new - a[i]) * y[i] * row.scale
            a[i] = new
            for k in range(row.nnz):
                w[row.index[k]] += change * row.value[k]


cdef int check_column(Py_ssize_t column, const double[:, ::1] table) except -1:
    """Refuse a column that the table does not have."""
    if not 0 <= column < table.shape[1]:
        raise ValueError(f"there is no column {column} among {table.shape[1]}")
    return 0
