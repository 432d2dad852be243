"""One path of stabilized truncated gradient descent over prepared rows (Ma 2017, Algorithm 3.2).

    w_j -= eta h loss'(f) z_j,   f = b + sum w_j z_j,   b -= eta_b h loss'(f)
with the weight h of the row; a row of weight 0 is scored and does not count. After a burst of rows,
a feature that was informed by k_j = sum of (h z_j)^2 (by norm; q = sqrt k) or by k_j rows (by
count; q = k) emits |change of w_j| / q and is pulled by the gravity g0 q:
    w_j <- T(w_j, g0 q),   T(w, a) = sign(w) max(|w| - a, 0).
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t

from cwtool_ext.csr cimport Csr, Row, fetch, one_a_row, prefetch, row_at
from cwtool_ext.loss cimport HINGE, LOGISTIC, slope
from cwtool_ext.stages cimport (
    COUNT, FAR, PATH_COLUMNS, WEIGHT, check_length, check_path, check_slots, entries, informed,
    pulled, usable,
)

cdef enum:
    SOON = 4  # rows between the one in use and the one whose entries are prefetched


cdef class Walk:
    """What all paths of a stage do alike.

    loss: 0 is hinge, 1 is logistic. g0, burst: the base gravity, and the rows of a burst. by_norm:
    a feature is informed by squares, not by rows. of_weight: a burst emits |w|, not the change of
    w. by_gradient: only rows with a gradient inform their features."""

    def __init__(
        self, int loss, double g0, int64_t burst, bint by_norm=True, bint of_weight=False,
        bint by_gradient=False,
    ):
        if loss not in (HINGE, LOGISTIC):
            raise ValueError("loss is 0 (hinge) or 1 (logistic)")
        if burst < 1:
            raise ValueError("a burst has at least one row")
        self.rule = Rule(loss, by_norm, of_weight, by_gradient, g0, burst)


cdef struct Touched:  # features informed in the burst under way, with their weights before it
    int32_t* slot
    double* began
    Py_ssize_t count


cdef struct Emitted:  # by bursts that ended: slots, |change| / q, and whether w is not zero
    int32_t* slot
    double* value
    uint8_t* kept
    Py_ssize_t count


cdef inline void inform(Touched* touched, double* at, int32_t slot, double z,
                        bint by_norm) noexcept nogil:
    if at[COUNT] <= 0.0:
        if at[COUNT] < 0.0:
            return
        touched.slot[touched.count] = slot
        touched.began[touched.count] = at[WEIGHT]
        touched.count += 1
    at[COUNT] += max(z * z, 1e-300) if by_norm else 1.0


cdef inline double score_of(Row row, double* table, double b, double h, bint informs,
                            Touched* touched, bint by_norm) noexcept nogil:
    """f of a row, which at the same time may inform its features."""
    cdef double f = b
    cdef double* at
    cdef Py_ssize_t k
    if informs:
        for k in range(row.nnz):
            at = table + PATH_COLUMNS * <Py_ssize_t> row.index[k]
            f += at[WEIGHT] * row.value[k]
            inform(touched, at, row.index[k], h * row.value[k], by_norm)
    else:
        for k in range(row.nnz):
            f += table[PATH_COLUMNS * <Py_ssize_t> row.index[k] + WEIGHT] * row.value[k]
    return f


cdef inline void descend(Row row, double* table, double step, double h, bint informs,
                         Touched* touched, bint by_norm) noexcept nogil:
    """w_j += step z_j for the features of a row that are informed."""
    cdef double move
    cdef double* at
    cdef Py_ssize_t k
    for k in range(row.nnz):
        at = table + PATH_COLUMNS * <Py_ssize_t> row.index[k]
        if informs:
            inform(touched, at, row.index[k], h * row.value[k], by_norm)
        move = step * row.value[k]
        if at[COUNT] > 0.0 and usable(move):
            at[WEIGHT] += move
            if fabs(at[WEIGHT]) <= 1e-12 * fabs(move):
                at[WEIGHT] = 0.0  # steps that cancelled, up to rounding


cdef inline void end_burst(double* table, Touched* touched, Emitted* out, Rule rule) noexcept nogil:
    """Every touched feature emits its change and is pulled to zero."""
    cdef Py_ssize_t k, last = touched.count - 1
    cdef double q
    cdef double* at
    for k in range(touched.count):
        prefetch(table + PATH_COLUMNS * <Py_ssize_t> touched.slot[min(k + FAR, last)])
        at = table + PATH_COLUMNS * <Py_ssize_t> touched.slot[k]
        q = informed(at[COUNT], rule.by_norm)
        out.slot[out.count] = touched.slot[k]
        out.value[out.count] = fabs(
            at[WEIGHT] - (0.0 if rule.of_weight else touched.began[k])
        ) / q
        at[WEIGHT] = pulled(at[WEIGHT], rule.g0 * q)
        out.kept[out.count] = at[WEIGHT] != 0.0
        at[COUNT] = 0.0
        out.count += 1
    touched.count = 0


def walk(
    Csr rows not None, const double[:, ::1] rates, const double[::1] y, const double[:] weight,
    const int64_t[::1] order, const uint8_t[::1] learned, double[:, ::1] table, Walk how not None,
    int64_t into, double[::1] intercept, int32_t[::1] touched_slot, double[::1] touched_began,
    Py_ssize_t n_touched, int32_t[::1] pool_slot, double[::1] pool_value, uint8_t[::1] pool_kept,
    double[::1] score,
) -> tuple[int, int]:
    """One path over prepared rows in its order; it learns the n-th visited row if learned[n] is 1.
    `into` rows of the burst under way are behind it; they touched the first n_touched features of
    touched_slot, whose weights were touched_began. rates[i] is the rate of row i and the one of
    its step of the intercept. Scores are set by row.
    Returns the numbers of features touched now and of entries emitted into the pool."""
    rows.fit(table.shape[0])
    one_a_row("y", y.shape[0], rows)
    one_a_row("score", score.shape[0], rows)
    one_a_row("rates", rates.shape[0], rows)
    one_a_row("weight", weight.shape[0], rows)
    if rates.shape[1] != 2:
        raise ValueError("rates has two columns")
    check_path(table)
    cdef Rule rule = how.rule
    cdef Py_ssize_t n, i, k, N = order.shape[0]
    cdef int64_t total = n_touched + entries(order, rows)
    cdef int64_t room = min(total, table.shape[0])
    if rows.scale != 1.0 or intercept.shape[0] != 1 or n_touched < 0:
        raise ValueError("walk needs rows of scale 1 and one intercept")
    check_length("learned", learned.shape[0], N)
    check_length("touched_slot", touched_slot.shape[0], max(room, n_touched))
    check_length("touched_began", touched_began.shape[0], max(room, n_touched))
    check_slots(touched_slot[:n_touched], table.shape[0])
    room = min(total, table.shape[0] * ((into + N) // rule.burst))
    check_length("pool_slot", pool_slot.shape[0], room)
    check_length("pool_value", pool_value.shape[0], room)
    check_length("pool_kept", pool_kept.shape[0], room)
    cdef Touched touched = Touched(NULL, NULL, n_touched)
    cdef Emitted out = Emitted(NULL, NULL, NULL, 0)
    if total:
        touched.slot, touched.began = &touched_slot[0], &touched_began[0]
    if room:
        out.slot, out.value, out.kept = &pool_slot[0], &pool_value[0], &pool_kept[0]
    cdef double* weights = &table[0, 0] if table.shape[0] else NULL
    cdef double c, h, step, f, b = intercept[0]
    cdef Row row, after
    with nogil:
        for n in range(N):
            i = order[min(n + SOON, N - 1)]
            prefetch(&y[i])
            prefetch(&rates[i, 0])
            prefetch(&weight[i])
            prefetch(&score[i])
            fetch(row_at(rows, i))
            i = order[n]
            row, after = row_at(rows, i), row_at(rows, order[min(n + 1, N - 1)])
            for k in range(min(row.nnz, after.nnz)):
                prefetch(weights + PATH_COLUMNS * <Py_ssize_t> after.index[k])
            h = weight[i]
            f = score_of(
                row, weights, b, h, learned[n] and h > 0.0 and not rule.by_gradient, &touched,
                rule.by_norm,
            )
            score[i] = f
            if h == 0.0:
                continue
            c = slope(rule.loss, y[i], f)
            if learned[n] and c == c and c != 0.0:
                b -= c * rates[i, 1] * h
                step = -c * rates[i, 0] * h
                descend(row, weights, step, h, rule.by_gradient, &touched, rule.by_norm)
            into += 1
            if into >= rule.burst:
                end_burst(weights, &touched, &out, rule)
                into = 0
    intercept[0] = b
    return touched.count, out.count
