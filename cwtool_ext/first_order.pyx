"""First-order rules: w += alpha y x, alpha = rule(m = y w.x, ||x||^2).

A table row is w_j, or (w_j, acc_j) to average: an update in round t (from 0) adds t alpha y x to acc,
and the mean of w_1..w_T is w - acc/T. Updates always use w itself.
"""

from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Rows, longest, one_a_row, read
from cwtool_ext.rules cimport Form, Rule, fires


cdef inline void look(
    const int32_t* index, const double* value, Py_ssize_t nnz, const double[:, ::1] table,
    double scale, double* m, double* old, double* xx,
) noexcept nogil:
    # m = w.x, old = acc.x, xx = x.x
    cdef double x
    cdef Py_ssize_t k
    m[0] = old[0] = xx[0] = 0.0
    if table.shape[1] == 1:
        for k in range(nnz):
            x = scale * value[k]
            m[0] += table[index[k], 0] * x
            xx[0] += x * x
    else:
        for k in range(nnz):
            x = scale * value[k]
            m[0] += table[index[k], 0] * x
            old[0] += table[index[k], 1] * x
            xx[0] += x * x


cdef inline double reported(double m, double old, int64_t t, bint averaged) noexcept nogil:
    # (w - acc/t).x; before the first round the mean is 0
    if not averaged:
        return m
    return m - old / t if t > 0 else 0.0


def learn(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table, Rule rule not None,
    int64_t rounds, double scale, double[::1] score,
):
    """Visit the rows in order, score each, then update; return the number of updates."""
    cdef Rows rows = check(indptr, indices, values, table, score)
    one_a_row("y", y, rows)
    longest(order, rows)
    cdef Form form = rule.form
    cdef const double* theta = rule.theta
    cdef bint averaged = table.shape[1] == 2
    cdef const int32_t* index
    cdef const double* value
    cdef Py_ssize_t i, k, n, nnz, updates = 0
    cdef double m, old, xx, alpha, kappa
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            index = rows.index + rows.start[i]
            value = rows.value + rows.start[i]
            nnz = rows.start[i + 1] - rows.start[i]
            look(index, value, nnz, table, scale, &m, &old, &xx)
            score[i] = reported(m, old, rounds + n, averaged)
            if not fires(form, theta, y[i] * m, xx, &alpha, &kappa):
                continue
            updates += 1
            alpha *= y[i] * scale
            for k in range(nnz):
                table[index[k], 0] += alpha * value[k]
            if averaged:
                for k in range(nnz):
                    table[index[k], 1] += (rounds + n) * (alpha * value[k])
    return updates


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, int64_t rounds, double scale, double[::1] score,
):
    """w.x of every row, or (w - acc/T).x after T rounds."""
    cdef Rows rows = check(indptr, indices, values, table, score)
    cdef bint averaged = table.shape[1] == 2
    cdef Py_ssize_t i, a
    cdef double m, old, xx
    with nogil:
        for i in range(rows.count):
            a = rows.start[i]
            look(rows.index + a, rows.value + a, rows.start[i + 1] - a, table, scale,
                 &m, &old, &xx)
            score[i] = reported(m, old, rounds, averaged)


cdef Rows check(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, const double[::1] score,
) except *:
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    one_a_row("score", score, rows)
    if table.shape[1] not in (1, 2):
        raise ValueError(f"a first-order table has columns (w) or (w, acc), not {table.shape[1]}")
    return rows
