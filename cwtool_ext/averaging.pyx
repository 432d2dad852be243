"""Regularized dual averaging with L1 (Xiao 2010, Algorithm 2): one row (G_j) a feature.

G += loss'(f) x, and after t rounds
    w_j = -(sqrt t / gamma) T(G_j / t, lam + gamma rho / sqrt t),
    T(g, a) = sign(g) max(|g| - a, 0):
so w_j is read from G_j when it is needed and no feature waits for anything.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, prefetch, read, row_at
from cwtool_ext.loss cimport HINGE, LOGISTIC, finite_step, slope


cdef struct Reading:
    # w = -factor * sign(G) max(|G| - bar, 0)
    double factor
    double bar


cdef inline Reading after_rounds(double t, double lam, double gamma, double rho) noexcept nogil:
    if t == 0.0:
        return Reading(0.0, 0.0)
    return Reading(1.0 / (gamma * sqrt(t)), t * lam + gamma * rho * sqrt(t))


cdef inline double weight(double G, Reading by) noexcept nogil:
    cdef double above = fabs(G) - by.bar
    if above <= 0.0:
        return 0.0
    return -by.factor * above if G > 0.0 else by.factor * above


def learn(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table, int loss,
    double lam, double gamma, double rho, int64_t rounds, double scale, double[::1] score,
):
    """Visit the rows in order, score each, then add its gradient."""
    cdef Rows rows = check(indptr, indices, values, table, gamma, score)
    one_a_row("y", y, rows)
    longest(order, rows)
    if loss not in (HINGE, LOGISTIC):
        raise ValueError("loss is 0 (hinge) or 1 (logistic)")
    cdef double f, xx, x, c
    cdef Row row, after
    cdef Reading by
    cdef Py_ssize_t i, k, n
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            row = row_at(rows, i)
            after = row_at(rows, order[min(n + 1, order.shape[0] - 1)])
            by = after_rounds(rounds + n, lam, gamma, rho)
            f = xx = 0.0
            for k in range(row.nnz):
                if k < after.nnz:
                    prefetch(&table[after.index[k], 0])
                x = scale * row.value[k]
                f += weight(table[row.index[k], 0], by) * x
                xx += x * x
            score[i] = f
            c = slope(loss, y[i], f)
            if finite_step(c, xx):
                for k in range(row.nnz):
                    table[row.index[k], 0] += c * (scale * row.value[k])


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, double lam, double gamma, double rho, int64_t rounds,
    double scale, double[::1] score,
):
    """w.x of every row."""
    cdef Rows rows = check(indptr, indices, values, table, gamma, score)
    cdef Reading by = after_rounds(rounds, lam, gamma, rho)
    cdef Row row
    cdef double f
    cdef Py_ssize_t i, k
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            f = 0.0
            for k in range(row.nnz):
                f += weight(table[row.index[k], 0], by) * (scale * row.value[k])
            score[i] = f


def weights(
    const double[:, ::1] table, double lam, double gamma, double rho, int64_t rounds,
    double[::1] out,
):
    """w_j of every table row."""
    cdef Reading by = after_rounds(rounds, lam, gamma, rho)
    cdef Py_ssize_t j
    if table.shape[1] != 1 or table.shape[0] != out.shape[0]:
        raise ValueError("one place a table row (G) is needed")
    for j in range(out.shape[0]):
        out[j] = weight(table[j, 0], by)


cdef Rows check(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, double gamma, const double[::1] score,
) except *:
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    one_a_row("score", score, rows)
    if table.shape[1] != 1:
        raise ValueError(f"a dual table has 1 column (G), not {table.shape[1]}")
    if not gamma > 0:
        raise ValueError("gamma must be positive")
    return rows
