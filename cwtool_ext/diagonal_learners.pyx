"""Several diagonal learners of different rules over the same rows, row by row.

Each does what `diagonal.pyx` says, to the last bit. With K of them the columns of a feature are
(mu of learner 0 .. K - 1, p of learner 0 .. K - 1), so that an entry of a row costs one look into
memory for all of them, and the processor works on several at a time. Where some learn a row and
others do not, the steps of the others are 0, which changes neither mu nor p.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Csr, Row, check_order, effect, one_a_row, prefetch, row_at
from cwtool_ext.projection cimport KL, ceiling_of, kl, l2
from cwtool_ext.rules cimport Form, Rule, fires

cdef enum:
    MANY = 8  # learners in a table: the compiler knows these two numbers
    FEW = 4

PLACES = (FEW, MANY)


cdef struct Learners:
    Form form[MANY]
    const double* theta[MANY]
    double ceiling[MANY]
    double m[MANY]  # of the row looked at: mu.x and x.Sigma x
    double v[MANY]
    int projection


cdef inline void look(
    Learners* all_, Row row, Row after, const double* table, double* g, Py_ssize_t K
) noexcept nogil:
    cdef double m[MANY]
    cdef double v[MANY]
    cdef double step[MANY]
    cdef double x
    cdef const double* j
    cdef Py_ssize_t k, c
    for c in range(K):
        m[c] = v[c] = 0.0
    for k in range(row.nnz):
        if k < after.nnz:
            for c in range(0, 2 * K, 8):  # a cache line has 8 numbers
                prefetch(table + 2 * K * <Py_ssize_t> after.index[k] + c)
            effect()
        j = table + 2 * K * <Py_ssize_t> row.index[k]
        x = row.scale * row.value[k]
        for c in range(K):
            step[c] = x / (1.0 + j[K + c])
            m[c] += j[c] * x
            v[c] += step[c] * x
        for c in range(K):
            g[K * k + c] = step[c]
    for c in range(K):
        all_.m[c], all_.v[c] = m[c], v[c]


cdef inline void move(
    const Learners* all_, Row row, double* table, const double* g, const double* alpha,
    const double* kappa, Py_ssize_t first, Py_ssize_t last, Py_ssize_t K
) noexcept nogil:
    """The steps of the learners first .. last - 1."""
    cdef double beta[MANY]
    cdef double mu[MANY]  # in memory of their own, so that several are computed at a time
    cdef double p[MANY]
    cdef double x
    cdef double* j
    cdef Py_ssize_t k, c
    if all_.projection == KL:
        for k in range(row.nnz):
            j = table + 2 * K * <Py_ssize_t> row.index[k]
            x = row.scale * row.value[k]
            for c in range(first, last):
                mu[c] = j[c] + alpha[c] * g[K * k + c]
                p[c] = kl(j[K + c], kappa[c], x, all_.ceiling[c])
            for c in range(first, last):
                j[c], j[K + c] = mu[c], p[c]
        return
    for c in range(first, last):
        beta[c] = 1.0 / (1.0 / kappa[c] + all_.v[c])
    for k in range(row.nnz):
        j = table + 2 * K * <Py_ssize_t> row.index[k]
        x = row.scale * row.value[k]
        for c in range(first, last):
            mu[c] = j[c] + alpha[c] * g[K * k + c]
            p[c] = l2(j[K + c], beta[c], g[K * k + c], x, all_.ceiling[c])
        for c in range(first, last):
            j[c], j[K + c] = mu[c], p[c]


cdef inline void visit(
    Learners* all_, Py_ssize_t n, Row row, Row after, double y, double h, double* table,
    double* g, Py_ssize_t K
) noexcept nogil:
    """Look at a row with n learners, and learn it unless its weight h is 0."""
    cdef double alpha[MANY]
    cdef double kappa[MANY]
    cdef bint fired = False, usual = True
    cdef Py_ssize_t c
    look(all_, row, after, table, g, K)
    if not h > 0.0:
        return
    for c in range(K):
        alpha[c] = kappa[c] = 0.0
    for c in range(n):
        fired |= fires(
            all_.form[c], all_.theta[c], y * all_.m[c], all_.v[c], h, &alpha[c], &kappa[c]
        )
        alpha[c] *= y
        usual &= all_.v[c] <= 1e200
    if fired and usual:
        move(all_, row, table, g, alpha, kappa, 0, K, K)
    elif fired:  # 0 times a value that has overflowed is not 0
        for c in range(n):
            if alpha[c] != 0.0 or kappa[c] != 0.0:
                move(all_, row, table, g, alpha, kappa, c, c + 1, K)


def learn(
    Csr rows not None, const int32_t[::1] y, const double[::1] weight, const int64_t[::1] order,
    double[:, ::1] table, list rules, int projection, const double[::1] floor,
    double[:, ::1] score, double[:, ::1] variance,
) -> None:
    """Visit the rows in this order with all learners, and learn those whose weight is not 0; a
    rule, a variance floor and a row of `score` and `variance` is for each of them. The table has
    columns for one of PLACES learners, of which some may be unused."""
    cdef Py_ssize_t n = len(rules), K = table.shape[1] // 2, last = order.shape[0] - 1, i, at, c
    cdef Learners all_
    cdef Rule rule
    cdef bint weighted = weight is not None
    rows.fit(table.shape[0])
    check_order(order, rows)
    one_a_row("y", y.shape[0], rows)
    if weighted:
        one_a_row("weight", weight.shape[0], rows)
    if K not in PLACES or table.shape[1] != 2 * K or not 0 < n <= K:
        raise ValueError(f"{n} learners do not fit a table of {table.shape[1]} columns")
    if floor.shape[0] != n or score.shape[0] != n or variance.shape[0] != n:
        raise ValueError("floor, score and variance have a row for each learner")
    one_a_row("score", score.shape[1], rows)
    one_a_row("variance", variance.shape[1], rows)
    all_.projection = projection
    for c in range(K):
        all_.ceiling[c] = ceiling_of(projection, floor[min(c, n - 1)])
    for c in range(n):
        rule = rules[c]
        all_.form[c], all_.theta[c] = rule.form, rule.theta
    cdef double[::1] room = np.empty(K * (rows.longest + 1))
    cdef double* g = &room[0]
    cdef double* start = &table[0, 0]
    cdef double h = 1.0, sign
    cdef Row row, after
    with nogil:
        for at in range(order.shape[0]):
            i = order[at]
            row, after = row_at(rows, i), row_at(rows, order[min(at + 1, last)])
            if weighted:
                h = weight[i]
            sign = 1.0 if y[i] == 1 else -1.0
            if K == MANY:
                visit(&all_, n, row, after, sign, h, start, g, MANY)
            else:
                visit(&all_, n, row, after, sign, h, start, g, FEW)
            for c in range(n):
                score[c, i], variance[c, i] = all_.m[c], all_.v[c]
