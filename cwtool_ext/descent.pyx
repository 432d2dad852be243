"""Stochastic gradient descent and its sparse forms: columns (w), or (w, u), of a feature.

Round t = 1, 2, ..: eta = eta0 / t^power, f = w.x, w -= eta loss'(f) x; then, with gravity, in the
rounds every, 2 every, ..:
    w_j <- T(w_j, a) where |w_j| <= theta,   T(w, a) = sign(w) max(|w| - a, 0),
    a = every * gravity * (eta or 1).
Truncated gradient: Langford, Li, Zhang (2009), eq. 4. FOBOS with L1: every = 1, theta = inf;
Duchi, Singer (2009), eq. 19.

Since T(T(w, a), b) = T(w, a + b), a feature pays when it is next seen: `owed` is the sum of all a,
u_j what it was when j last paid. Exact, and O(nonzeros) a round.

A row of weight h has the step h eta; with the hinge loss no step past the margin, unless a plain
step is one (Karampatziakis, Langford 2011): min(h eta, max(eta, (1 - y f) / x.x)).
"""

from libc.math cimport fabs, fmax, fmin, pow, sqrt
from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Row, prefetch
from cwtool_ext.loss cimport HINGE, LOGISTIC, finite_step, slope
from cwtool_ext.visit cimport Learner


cdef inline double rate_in(double rate, double power, double t) noexcept nogil:
    if power == 0.0:
        return rate
    return rate / (sqrt(t) if power == 0.5 else pow(t, power))


cdef inline double paid(double w, double debt, double theta) noexcept nogil:
    # T(w, debt) where |w| <= theta; the factor decides ties, which rounding must not
    if w == 0.0 or fabs(w) > theta:
        return w
    if fabs(w) <= debt * (1.0 + 1e-9):
        return 0.0
    return fmax(w - debt, 0.0) if w > 0.0 else -fmax(-w - debt, 0.0)


cdef class Descent(Learner):
    """The table has the column (w), or the columns (w, u)."""

    cdef double[:, ::1] table
    cdef int loss
    cdef double rate, power, gravity, theta
    cdef int64_t every
    cdef bint by_rate
    cdef readonly int64_t rounds
    cdef readonly double owed
    cdef double f, xx  # of the row looked at

    def __init__(self, double[:, ::1] table, int loss, double rate, double power, int64_t rounds,
                 double gravity=0.0, int64_t every=1, double theta=float("inf"),
                 bint by_rate=True, double owed=0.0):
        if loss not in (HINGE, LOGISTIC):
            raise ValueError("loss is 0 (hinge) or 1 (logistic)")
        if not (rate > 0 and power >= 0 and gravity >= 0 and every >= 1 and theta > 0):
            raise ValueError("a learning rate must be positive, a gravity not negative")
        if table.shape[1] not in (1, 2):
            raise ValueError(f"a descent table has columns (w) or (w, u), not {table.shape[1]}")
        self.table, self.features = table, table.shape[0]
        self.loss, self.rate, self.power, self.rounds = loss, rate, power, rounds
        self.gravity, self.every, self.theta, self.by_rate = gravity, every, theta, by_rate
        self.owed = owed

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        # w.x with all debts paid; the debts themselves stay
        cdef Py_ssize_t width = self.table.shape[1]
        cdef double f = 0.0, xx = 0.0, x, w, owed = self.owed, theta = self.theta
        cdef const double* table = &self.table[0, 0]
        cdef const double* j
        cdef Py_ssize_t k
        for k in range(row.nnz):
            if k < after.nnz:
                prefetch(table + width * after.index[k])
            j = table + width * row.index[k]
            x = row.scale * row.value[k]
            w = j[0] if width == 1 else paid(j[0], owed - j[1], theta)
            f += w * x
            xx += x * x
        self.f, self.xx = f, xx
        score[0], variance[0] = f, 0.0

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef bint lazy = self.table.shape[1] == 2, moved
        cdef double eta, step, move
        cdef double* j
        cdef Py_ssize_t k
        self.rounds += 1
        eta = rate_in(self.rate, self.power, self.rounds)
        step = h * eta
        if self.loss == HINGE:
            step = fmin(step, fmax(eta, (1.0 - y * self.f) / self.xx))
        step = -step * slope(self.loss, y, self.f)
        moved = finite_step(step, self.xx)
        for k in range(row.nnz if lazy or moved else 0):
            j = &self.table[row.index[k], 0]
            if lazy:
                j[0] = paid(j[0], self.owed - j[1], self.theta)
                j[1] = self.owed
            if moved:
                move = step * (row.scale * row.value[k])
                j[0] += move
                if lazy and fabs(j[0]) <= 1e-12 * fabs(move):
                    j[0] = 0.0  # steps that cancelled, up to rounding
        if lazy and self.rounds % self.every == 0:
            self.owed += self.every * self.gravity * (eta if self.by_rate else 1.0)
        return moved

    def weights(self, const double[:, ::1] rows, double[::1] out) -> None:
        """w_j of every row of a table like the learner's, with all debts paid."""
        cdef Py_ssize_t j
        if rows.shape[1] != self.table.shape[1] or rows.shape[0] != out.shape[0]:
            raise ValueError("one place a table row is needed")
        for j in range(out.shape[0]):
            out[j] = rows[j, 0]
            if rows.shape[1] == 2:
                out[j] = paid(rows[j, 0], self.owed - rows[j, 1], self.theta)
