"""First-order rules: w += alpha y x, alpha = rule(m = y w.x, ||x||^2).

A table row is w_j, or (w_j, acc_j) to average: an update in round t, counted from 0, also adds
t alpha y x to acc; then the mean of w_1..w_T is w - acc/T. Updates always use w itself.
"""

from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, prefetch, read, row_at
from cwtool_ext.rules cimport Form, Rule, fires


cdef inline void look(
    Row row, Row after, const double[:, ::1] table, double scale,
    double* wx, double* accx, double* xx,
) noexcept nogil:
    # w.x, acc.x and x.x; fetching the row after doubles the speed
    cdef bint averaged = table.shape[1] == 2
    cdef double w = 0.0, acc = 0.0, square = 0.0, x
    cdef Py_ssize_t j, k
    for k in range(row.nnz):
        if k < after.nnz:
            prefetch(&table[after.index[k], 0])
        j = row.index[k]
        x = scale * row.value[k]
        w += table[j, 0] * x
        square += x * x
        if averaged:
            acc += table[j, 1] * x
    wx[0], accx[0], xx[0] = w, acc, square


cdef inline void move(Row row, double[:, ::1] table, double alpha, double t) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(row.nnz):
        table[row.index[k], 0] += alpha * row.value[k]
    if table.shape[1] == 2:
        for k in range(row.nnz):
            table[row.index[k], 1] += t * (alpha * row.value[k])


cdef inline double reported(double wx, double accx, int64_t t, bint averaged) noexcept nogil:
    # (w - acc/t).x; before the first round the mean is 0
    if not averaged:
        return wx
    return wx - accx / t if t > 0 else 0.0


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
    cdef Row row, after
    cdef Py_ssize_t i, n, updates = 0
    cdef double wx, accx, xx, alpha, kappa
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            row = row_at(rows, i)
            after = row_at(rows, order[min(n + 1, order.shape[0] - 1)])
            look(row, after, table, scale, &wx, &accx, &xx)
            score[i] = reported(wx, accx, rounds + n, averaged)
            if fires(form, theta, y[i] * wx, xx, &alpha, &kappa):
                updates += 1
                move(row, table, alpha * y[i] * scale, rounds + n)
    return updates


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, int64_t rounds, double scale, double[::1] score,
):
    """w.x of every row, or (w - acc/T).x after T rounds."""
    cdef Rows rows = check(indptr, indices, values, table, score)
    cdef bint averaged = table.shape[1] == 2
    cdef Py_ssize_t i
    cdef double wx, accx, xx
    with nogil:
        for i in range(rows.count):
            look(row_at(rows, i), row_at(rows, min(i + 1, rows.count - 1)), table, scale,
                 &wx, &accx, &xx)
            score[i] = reported(wx, accx, rounds, averaged)


cdef Rows check(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, const double[::1] score,
) except *:
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    one_a_row("score", score, rows)
    if table.shape[1] not in (1, 2):
        raise ValueError(f"a first-order table has columns (w) or (w, acc), not {table.shape[1]}")
    return rows
