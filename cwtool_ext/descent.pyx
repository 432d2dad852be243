"""Stochastic gradient descent and its sparse forms: one row (w_j), or (w_j, u_j), a feature.

Round t = 1, 2, ..: eta = eta0 / t^power, f = w.x, w -= eta loss'(f) x; then, with gravity, in the
rounds every, 2 every, ..:
    w_j <- T(w_j, a) where |w_j| <= theta,   T(w, a) = sign(w) max(|w| - a, 0),
    a = every * gravity * (eta or 1).
Truncated gradient: Langford, Li, Zhang (2009), eq. 4. FOBOS with L1: every = 1, theta = inf;
Duchi, Singer (2009), eq. 19.

Since T(T(w, a), b) = T(w, a + b), a feature pays when it is next seen: `owed` is the sum of all a,
u_j what it was when j last paid. Exact, and O(nonzeros) a round.
"""

from libc.math cimport fabs, fmax, pow, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, prefetch, read, row_at
from cwtool_ext.loss cimport HINGE, LOGISTIC, finite_step, slope


cdef class Descent:
    """The loss, the learning rate and the gravity."""

    cdef int loss
    cdef double eta0, power, gravity, theta
    cdef int64_t every
    cdef bint by_rate

    def __init__(self, int loss, double eta0, double power=0.0, double gravity=0.0,
                 int64_t every=1, double theta=float("inf"), bint by_rate=True):
        if loss not in (HINGE, LOGISTIC):
            raise ValueError("loss is 0 (hinge) or 1 (logistic)")
        if not (eta0 > 0 and power >= 0 and gravity >= 0 and every >= 1 and theta > 0):
            raise ValueError("a learning rate must be positive, a gravity not negative")
        self.loss, self.eta0, self.power = loss, eta0, power
        self.gravity, self.every, self.theta, self.by_rate = gravity, every, theta, by_rate


cdef inline double rate(double eta0, double power, double t) noexcept nogil:
    if power == 0.0:
        return eta0
    return eta0 / (sqrt(t) if power == 0.5 else pow(t, power))


cdef inline double paid(double w, double debt, double theta) noexcept nogil:
    # T(w, debt) where |w| <= theta
    if w == 0.0 or fabs(w) > theta:
        return w
    return fmax(w - debt, 0.0) if w > 0.0 else -fmax(-w - debt, 0.0)


def learn(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table, Descent how not None,
    int64_t rounds, double owed, double scale, double[::1] score,
):
    """Visit the rows in order, score each, then update; return what is owed after them."""
    cdef Rows rows = check(indptr, indices, values, table, score)
    one_a_row("y", y, rows)
    longest(order, rows)
    cdef bint lazy = table.shape[1] == 2
    cdef int loss = how.loss
    cdef double eta0 = how.eta0, power = how.power, theta = how.theta, gravity = how.gravity
    cdef double eta, f, xx, x, step
    cdef int64_t every = how.every, t
    cdef bint by_rate = how.by_rate
    cdef Row row, after
    cdef Py_ssize_t i, j, k, n
    with nogil:
        for n in range(order.shape[0]):
            i, t = order[n], rounds + n + 1
            row = row_at(rows, i)
            after = row_at(rows, order[min(n + 1, order.shape[0] - 1)])
            eta = rate(eta0, power, t)
            f = xx = 0.0
            for k in range(row.nnz):
                if k < after.nnz:
                    prefetch(&table[after.index[k], 0])
                j = row.index[k]
                x = scale * row.value[k]
                if lazy:
                    table[j, 0] = paid(table[j, 0], owed - table[j, 1], theta)
                    table[j, 1] = owed
                f += table[j, 0] * x
                xx += x * x
            score[i] = f
            step = -eta * slope(loss, y[i], f)
            if finite_step(step, xx):
                for k in range(row.nnz):
                    table[row.index[k], 0] += step * (scale * row.value[k])
            if lazy and t % every == 0:
                owed += every * gravity * (eta if by_rate else 1.0)
    return owed


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, Descent how not None, double owed, double scale,
    double[::1] score,
):
    """w.x of every row, all debts paid."""
    cdef Rows rows = check(indptr, indices, values, table, score)
    cdef bint lazy = table.shape[1] == 2
    cdef double theta = how.theta, f, w
    cdef Row row, after
    cdef Py_ssize_t i, j, k
    with nogil:
        for i in range(rows.count):
            row, after = row_at(rows, i), row_at(rows, min(i + 1, rows.count - 1))
            f = 0.0
            for k in range(row.nnz):
                if k < after.nnz:
                    prefetch(&table[after.index[k], 0])
                j = row.index[k]
                w = paid(table[j, 0], owed - table[j, 1], theta) if lazy else table[j, 0]
                f += w * (scale * row.value[k])
            score[i] = f


def weights(const double[:, ::1] table, Descent how not None, double owed, double[::1] out):
    """w_j of every table row, all debts paid."""
    cdef Py_ssize_t j
    if table.shape[1] != 2 or table.shape[0] != out.shape[0]:
        raise ValueError("one place a table row (w, u) is needed")
    for j in range(out.shape[0]):
        out[j] = paid(table[j, 0], owed - table[j, 1], how.theta)


cdef Rows check(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, const double[::1] score,
) except *:
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    one_a_row("score", score, rows)
    if table.shape[1] not in (1, 2):
        raise ValueError(f"a descent table has columns (w) or (w, u), not {table.shape[1]}")
    return rows
