"""Second-order perceptron, diagonal (Cesa-Bianchi, Conconi, Gentile, SIAM J. Comput. 2005).

Table rows (v_j, p_j), A_j = 1 + p_j:  score = x'(A + xx')^-1 v -> sum_j v_j x_j/(A_j + x_j^2).
On a mistake, sign(score) != y with sign(0) = +1:  v += y x, A_j += x_j^2.
"""

from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, prefetch, read, row_at


cdef inline void look(
    Row row, Row after, const double[:, ::1] table, double scale, double* score, double* xx,
) noexcept nogil:
    cdef double f = 0.0, square = 0.0, x
    cdef Py_ssize_t j, k
    for k in range(row.nnz):
        if k < after.nnz:
            prefetch(&table[after.index[k], 0])
        j = row.index[k]
        x = scale * row.value[k]
        f += table[j, 0] * x / (1.0 + table[j, 1] + x * x)
        square += x * x
    score[0], xx[0] = f, square


def learn(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table,
    double scale, double[::1] score,
):
    """Visit the rows in order, score each, then update; return the number of updates."""
    cdef Rows rows = check(indptr, indices, values, table, score)
    one_a_row("y", y, rows)
    longest(order, rows)
    cdef Row row, after
    cdef Py_ssize_t i, k, n, updates = 0
    cdef double x, xx
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            row = row_at(rows, i)
            after = row_at(rows, order[min(n + 1, order.shape[0] - 1)])
            look(row, after, table, scale, &score[i], &xx)
            # a row longer than 1e100 is skipped: neither v nor A can overflow
            if (score[i] >= 0.0) == (y[i] > 0.0) or not 0.0 < xx <= 1e200:
                continue
            updates += 1
            for k in range(row.nnz):
                x = scale * row.value[k]
                table[row.index[k], 0] += y[i] * x
                table[row.index[k], 1] += x * x
    return updates


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, double scale, double[::1] score,
):
    """sum_j v_j x_j/(A_j + x_j^2) of every row."""
    cdef Rows rows = check(indptr, indices, values, table, score)
    cdef Py_ssize_t i
    cdef double xx
    with nogil:
        for i in range(rows.count):
            look(row_at(rows, i), row_at(rows, min(i + 1, rows.count - 1)), table, scale,
                 &score[i], &xx)


cdef Rows check(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, const double[::1] score,
) except *:
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    one_a_row("score", score, rows)
    if table.shape[1] != 2:
        raise ValueError(f"a SOP table has 2 columns (v, p), not {table.shape[1]}")
    return rows
