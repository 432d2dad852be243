"""Stabilized truncated stochastic gradient descent (Ma 2017, Algorithms 3.2-3.4): its loops.

Several paths learn the same rows in their own way, each in a table of rows (w, start, k, 1 - gain).
With gain_j = s_j^2, s_j the scale of a column, descent on s_j x_j with weights w_j / s_j is
    w_j -= eta loss'(f) gain_j x_j,   f = b + sum w_j x_j.
After a burst of rows, a feature that was informed by k_j = sum of gain_j x_j^2 (norm; q = sqrt k)
or by k_j rows (count; q = k) has gravity g = g0 q:
    emit |change of w_j| / (s_j q);   w_j <- T(w_j, s_j g),   T(w, a) = sign(w) max(|w| - a, 0).
After a stage of bursts, a feature whose weight was kept in less than a share pi0 of the bursts that
informed it leaves for good (3.9, 3.33).

Shared rows: (damp, gone, bursts, kept, nnz, mean, M2, ..); gain = 1/(1 + damp), 0 for who has left.
"""

from libc.math cimport fabs, fmax, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, prefetch, read, row_at
from cwtool_ext.loss cimport HINGE, LOGISTIC, slope

cdef enum:
    DAMP = 0
    GONE = 1
    BURSTS = 2
    KEPT = 3
    NNZ = 4
    MEAN = 5
    M2 = 6

cdef enum:
    WEIGHT = 0
    START = 1
    COUNT = 2
    LESS = 3


def prepare(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const int64_t[::1] order, double[:, ::1] shared, double scale, bint fresh, double[::1] seen,
    int64_t[::1] starts, int32_t[::1] slots, double[::1] x, double[::1] rates,
):
    """Copy the rows in order, without the features that are gone, and for each row the rate
    1 / mean ||s x||^2 of the rows so far. If the rows are fresh, they first enter the statistics
    of the columns (Welford) and seen = (rows, sum of ||s x||^2, the same without what is gone);
    rows 100 times longer than usual do not. Returns (entries, columns met for the first time)."""
    cdef Rows rows = read(indptr, indices, values, shared.shape[0])
    longest(order, rows)
    cdef Py_ssize_t n = order.shape[0], i, j, k, end = 0, met = 0
    if shared.shape[1] <= M2 or seen.shape[0] != 3 or starts.shape[0] != n + 1:
        raise ValueError("prepare needs shared rows of 7 columns, seen of 3, a start a row")
    if rates.shape[0] != n:
        raise ValueError("prepare needs a rate a row")
    k = 0
    for i in range(n):
        k += rows.start[order[i] + 1] - rows.start[order[i]]
    if min(slots.shape[0], x.shape[0]) < k:
        raise ValueError("prepare needs room for every entry")
    cdef Row row, after
    cdef double a, square, all_, left, d
    with nogil:
        starts[0] = 0
        for i in range(n):
            row = row_at(rows, order[i])
            after = row_at(rows, order[min(i + 1, n - 1)])
            d = all_ = left = 0.0
            for k in range(row.nnz):
                if k < after.nnz:
                    prefetch(&shared[after.index[k], 0])
                j = row.index[k]
                a = scale * row.value[k]
                d += a * a
                if a == 0.0 or shared[j, DAMP] == -1.0:
                    continue
                square = a * a / (1.0 + shared[j, DAMP])
                all_ += square
                if shared[j, GONE] == 0.0:
                    slots[end], x[end] = <int32_t> j, a
                    left += square
                    end += 1
            if d <= 1e4:
                seen[2] += left
            if fresh and d <= 1e4:
                seen[0] += 1.0
                seen[1] += all_
                for k in range(row.nnz):
                    met += count(&shared[row.index[k], 0], scale * row.value[k])
            rates[i] = seen[0] / seen[1] if seen[1] > 0.0 else 0.0
            starts[i + 1] = end
    return end, met


cdef inline bint count(double* column, double a) noexcept nogil:
    cdef double d = a - column[MEAN]
    if a == 0.0:
        return False
    column[NNZ] += 1.0
    column[MEAN] += d / column[NNZ]
    column[M2] += d * (a - column[MEAN])
    return column[NNZ] == 1.0


cdef class Walk:
    """What all paths do alike: loss, how a burst counts, and the intercept's share of a step."""

    cdef int loss
    cdef bint by_norm, of_weight, by_gradient
    cdef double bias

    def __init__(self, int loss, bint by_norm=True, bint of_weight=False,
                 bint by_gradient=False, double bias=0.0):
        if loss not in (HINGE, LOGISTIC):
            raise ValueError("loss is 0 (hinge) or 1 (logistic)")
        self.loss, self.by_norm, self.of_weight = loss, by_norm, of_weight
        self.by_gradient, self.bias = by_gradient, bias


cdef inline double pulled(const double* at, double g0, bint by_norm) noexcept nogil:
    # w after its pending truncation; rounding must not decide a tie, hence 1e-9
    cdef double bar
    if at[COUNT] == 0.0:
        return at[WEIGHT]
    bar = g0 * (sqrt(at[COUNT]) if by_norm else at[COUNT]) * sqrt(1.0 - at[LESS])
    if fabs(at[WEIGHT]) <= bar * (1.0 + 1e-9):
        return 0.0
    return at[WEIGHT] - bar if at[WEIGHT] > 0.0 else at[WEIGHT] + bar


def walk(
    const int64_t[::1] starts, const int32_t[::1] slots, const double[::1] x,
    const double[::1] rates, const double[::1] y, const int64_t[::1] order,
    const uint8_t[::1] learned, double[:, ::1] table, Walk how not None, double eta, double g0,
    int64_t burst, int64_t into, double[::1] intercept, int32_t[::1] touched, Py_ssize_t n_touched,
    int32_t[::1] pool_slot, double[::1] pool_value, uint8_t[::1] pool_kept, double[::1] score,
):
    """One path over prepared rows in its order, learning those with learned[n] = 1; `into` rows
    of the current burst are behind it, which touched touched[:n_touched]. eta is the learning
    rate, or 0 for that of each row. Returns (touched now, entries emitted)."""
    cdef Rows rows = read(starts, slots, x, table.shape[0])
    one_a_row("y", y, rows)
    one_a_row("score", score, rows)
    one_a_row("rates", rates, rows)
    longest(order, rows)
    cdef Py_ssize_t n, i, k, later, total = 0, emitted = 0, N = order.shape[0]
    if learned.shape[0] != N or table.shape[1] != 4:
        raise ValueError("walk needs learned for every visit, and rows of 4 columns")
    for n in range(N):
        total += rows.start[order[n] + 1] - rows.start[order[n]]
    if touched.shape[0] < n_touched + total or burst < 1 or intercept.shape[0] != 1:
        raise ValueError("walk needs room for what it touches, a burst, an intercept")
    if min(pool_slot.shape[0], pool_value.shape[0], pool_kept.shape[0]) < n_touched + total:
        raise ValueError("walk needs room for what it emits")
    for n in range(n_touched):
        if not 0 <= touched[n] < table.shape[0]:
            raise ValueError("a touched feature is not in the table")
    cdef int loss = how.loss
    cdef bint by_norm = how.by_norm, of_weight = how.of_weight, by_gradient = how.by_gradient
    cdef double f, c, step, a, gain, move, q, b = intercept[0]
    cdef double* at
    cdef Row row, after
    with nogil:
        for n in range(N):
            i = order[n]
            row = row_at(rows, i)
            after = row_at(rows, order[min(n + 1, N - 1)])
            later = rows.start[order[min(n + 4, N - 1)]]
            prefetch(rows.index + later)
            prefetch(rows.value + later)
            f = b
            for k in range(row.nnz):
                if k < after.nnz:
                    prefetch(&table[after.index[k], 0])
                f += table[row.index[k], WEIGHT] * row.value[k]
            score[i] = f
            c = slope(loss, y[i], f)
            if learned[n] and c == c and (c != 0.0 or not by_gradient):
                step = -c * (eta if eta > 0.0 else rates[i])
                b += how.bias * step
                for k in range(row.nnz):
                    at = &table[row.index[k], 0]
                    a = row.value[k]
                    gain = 1.0 - at[LESS]
                    move = step * gain * a
                    # what could overflow a weight is scored and not learned
                    if gain == 0.0 or not (gain * a * a <= 1e200 and fabs(move) <= 1e100):
                        continue
                    if at[COUNT] == 0.0:
                        at[START] = at[WEIGHT]
                        touched[n_touched] = row.index[k]
                        n_touched += 1
                    at[COUNT] += fmax(gain * a * a, 1e-300) if by_norm else 1.0
                    if move != 0.0:
                        at[WEIGHT] += move
                        if fabs(at[WEIGHT]) <= 1e-12 * fabs(move):
                            at[WEIGHT] = 0.0  # steps that cancelled, up to rounding
            into += 1
            if into < burst:
                continue
            into = 0
            for k in range(n_touched):
                at = &table[touched[k], 0]
                q = (sqrt(at[COUNT]) if by_norm else at[COUNT]) * sqrt(1.0 - at[LESS])
                pool_slot[emitted] = touched[k]
                pool_value[emitted] = fabs(at[WEIGHT] - (0.0 if of_weight else at[START])) / q
                at[WEIGHT] = pulled(at, g0, by_norm)
                pool_kept[emitted] = at[WEIGHT] != 0.0
                at[START] = at[COUNT] = 0.0
                emitted += 1
            n_touched = 0
    intercept[0] = b
    return n_touched, emitted


def purge(
    const int32_t[::1] slots, const uint8_t[::1] kept, double[:, ::1] shared, double pi0,
    double least, int64_t spare,
):
    """The bursts of a stage enter the counters of their features; whoever has at least `least` of
    them is judged and its counters start again. Marks as gone those kept in less than a share pi0,
    unless they are more than `spare`. Returns how many left."""
    cdef Py_ssize_t n
    cdef int64_t leaving = 0
    cdef double* at
    if kept.shape[0] != slots.shape[0] or shared.shape[1] <= M2:
        raise ValueError("purge needs a verdict a burst, and shared rows of 7 columns")
    for n in range(slots.shape[0]):
        if not 0 <= slots[n] < shared.shape[0]:
            raise ValueError("a feature is not in the table")
    with nogil:
        for n in range(slots.shape[0]):
            shared[slots[n], BURSTS] += 1.0
            shared[slots[n], KEPT] += kept[n]
        for n in range(slots.shape[0]):
            at = &shared[slots[n], 0]
            if at[BURSTS] > 0.0 and at[BURSTS] >= least:
                if at[KEPT] / at[BURSTS] < pi0:
                    at[GONE] = 2.0
                    leaving += 1
                at[BURSTS] = at[KEPT] = 0.0
        for n in range(slots.shape[0]):
            at = &shared[slots[n], 0]
            if at[GONE] == 2.0:
                at[GONE] = 1.0 if leaving <= spare else 0.0
    return leaving if leaving <= spare else 0


def add_scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, double g0, bint by_norm, double scale, double[::1] score,
):
    """score += w.x of every row for one path, pending truncation done."""
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    one_a_row("score", score, rows)
    if table.shape[1] != 4:
        raise ValueError("a path has rows of 4 columns")
    cdef Row row, after
    cdef Py_ssize_t i, k
    cdef double f
    with nogil:
        for i in range(rows.count):
            row, after = row_at(rows, i), row_at(rows, min(i + 1, rows.count - 1))
            f = 0.0
            for k in range(row.nnz):
                if k < after.nnz:
                    prefetch(&table[after.index[k], 0])
                f += pulled(&table[row.index[k], 0], g0, by_norm) * (scale * row.value[k])
            score[i] += f


def add_weights(const double[:, ::1] table, double g0, bint by_norm, double[::1] out):
    """out += w_j of every row of a path, pending truncation done."""
    cdef Py_ssize_t j
    if table.shape[1] != 4 or table.shape[0] != out.shape[0]:
        raise ValueError("one place a row of 4 columns is needed")
    for j in range(out.shape[0]):
        out[j] += pulled(&table[j, 0], g0, by_norm)
