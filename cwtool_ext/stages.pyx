"""Stabilized truncated stochastic gradient descent (Ma 2017, Algorithms 3.2-3.4): its loops.

Several paths learn the same rows in their own way, each in a table of rows (w, k):
    w_j -= eta loss'(f) z_j,   f = b + sum w_j z_j,   z_j = s_j x_j, s_j the scale of a column.
After a burst of rows, a feature that was informed by k_j = sum of z_j^2 (norm; q = sqrt k) or by
k_j rows (count; q = k) has gravity g = g0 q:
    emit |change of w_j| / q;   w_j <- T(w_j, g),   T(w, a) = sign(w) max(|w| - a, 0).
After a stage of bursts, a feature whose weight was kept in less than a share pi0 of the bursts that
informed it leaves for good (3.9, 3.33).

Shared rows: (damp, gone, bursts, kept, nnz, mean, M2, ..); s = 1/(1 + damp), and a constant
column with damp = -1 is left out.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t

from cwtool_ext.csr cimport Row, Rows, entries, one_a_row, prefetch, read, row_at
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
    COUNT = 1  # -1: has left, among rows that still hold it
    FAR = 16  # entries to fetch ahead


cdef double LONG = 1e4  # squared length of a row; usual is 1
cdef double HUGE = 1e100  # what is beyond could overflow a weight: it is left out


def prepare(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const int64_t[::1] order, const double[:, ::1] shared, double scale, int64_t[::1] starts,
    int32_t[::1] slots, double[::1] z, double[:, ::1] norms,
):
    """Copy rows in order, scaled, without the features that are gone. norms[i] is (1, ||z||^2 of
    the whole row, ||z||^2 of what is left), or zero for rows 100 times longer than usual.
    Returns the number of entries."""
    cdef Rows rows = read(indptr, indices, values, shared.shape[0])
    cdef Py_ssize_t n = order.shape[0], i, k, end = 0
    if shared.shape[1] <= M2 or starts.shape[0] != n + 1:
        raise ValueError("prepare needs shared rows of 7 columns, a start a row")
    if norms.shape[0] != n or norms.shape[1] != 3:
        raise ValueError("prepare needs three norms a row")
    if min(slots.shape[0], z.shape[0]) < entries(order, rows):
        raise ValueError("prepare needs room for every entry")
    cdef Row row, after
    cdef double a, scaled, all_, left, d
    cdef const double* at
    with nogil:
        starts[0] = 0
        for i in range(n):
            row = row_at(rows, order[i])
            after = row_at(rows, order[min(i + 1, n - 1)])
            for k in range(min(row.nnz, after.nnz)):
                prefetch(&shared[after.index[k], 0])
            d = all_ = left = 0.0
            for k in range(row.nnz):
                at = &shared[row.index[k], 0]
                a = scale * row.value[k]
                d += a * a
                if a == 0.0 or at[DAMP] == -1.0:
                    continue
                scaled = a / (1.0 + at[DAMP])
                all_ += scaled * scaled
                if at[GONE] == 0.0 and fabs(scaled) <= HUGE:
                    slots[end] = row.index[k]
                    z[end] = scaled
                    left += scaled * scaled
                    end += 1
            norms[i, 0] = d <= LONG
            norms[i, 1] = all_ if d <= LONG else 0.0
            norms[i, 2] = left if d <= LONG else 0.0
            starts[i + 1] = end
    return end


def count(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const int64_t[::1] order, double[:, ::1] shared, double scale, const double[:, ::1] norms,
):
    """Rows of usual length enter the statistics of the columns (Welford). Returns how many features
    were met for the first time."""
    cdef Rows rows = read(indptr, indices, values, shared.shape[0])
    entries(order, rows)
    if shared.shape[1] <= M2 or norms.shape[0] != order.shape[0] or norms.shape[1] != 3:
        raise ValueError("count needs shared rows of 7 columns, and three norms a row")
    cdef Py_ssize_t i, k, met = 0
    cdef double a, d
    cdef double* at
    cdef Row row
    with nogil:
        for i in range(order.shape[0]):
            row = row_at(rows, order[i])
            if norms[i, 0] == 0.0:
                continue
            for k in range(row.nnz):
                a = scale * row.value[k]
                if a == 0.0:
                    continue
                at = &shared[row.index[k], 0]
                d = a - at[MEAN]
                at[NNZ] += 1.0
                met += at[NNZ] == 1.0
                if d != 0.0:
                    at[MEAN] += d / at[NNZ]
                    at[M2] += d * (a - at[MEAN])
    return met


def find(
    const int32_t[::1] slots, const double[:, ::1] shared, int32_t[::1] places, int32_t[::1] own,
):
    """Those of these slots that have no place yet: who is gone gets the place -1; the others 1, for
    the time being, and own begins with them, each once. Returns how many."""
    cdef Py_ssize_t k, new = 0, m = slots.shape[0]
    cdef int32_t j
    inside(slots, own.shape[0], shared)
    if places.shape[0] < shared.shape[0]:
        raise ValueError("every slot needs a place")
    with nogil:
        for k in range(m):
            prefetch(&places[slots[min(k + FAR, m - 1)]])
            j = slots[k]
            if places[j] != 0:
                continue
            places[j] = -1 if shared[j, GONE] != 0.0 else 1
            if places[j] > 0:
                own[new] = j
                new += 1
    return new


def compact(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    double scale, const int32_t[::1] places, const double[::1] divisors, int64_t[::1] starts,
    int32_t[::1] slots, double[::1] z,
):
    """Copy rows, scaled, of the features that have numbers, by these numbers. Slots
    without a place, each as often as it occurs, come to stand at the end of slots.
    Returns (entries, of slots without a place, sum of ||z||^2)."""
    cdef Rows rows = read(indptr, indices, values, places.shape[0])
    cdef Py_ssize_t i, k, p, end = 0, strangers = 0, room = slots.shape[0]
    cdef Py_ssize_t last = indices.shape[0] - 1
    if starts.shape[0] != rows.count + 1:
        raise ValueError("compact needs a start a row")
    if min(room, z.shape[0]) < indices.shape[0]:
        raise ValueError("compact needs room for every entry")
    cdef double a, d, left, total = 0.0
    cdef Row row
    with nogil:
        starts[0] = 0
        for i in range(rows.count):
            row = row_at(rows, i)
            d = left = 0.0
            for k in range(row.nnz):
                prefetch(&places[row.index[min(k + FAR, last - rows.start[i])]])
                a = scale * row.value[k]
                d += a * a
                p = places[row.index[k]]
                if p > 0 and a != 0.0 and divisors[p - 1] != 0.0:
                    a /= divisors[p - 1]
                    if fabs(a) <= HUGE:
                        slots[end] = <int32_t> (p - 1)
                        z[end] = a
                        left += a * a
                        end += 1
                elif p == 0:
                    strangers += 1
                    slots[room - strangers] = row.index[k]
            if d <= LONG:
                total += left
            starts[i + 1] = end
    return end, strangers, total


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


cdef inline double pulled(double w, double bar) noexcept nogil:
    # T(w, bar); rounding must not decide a tie, hence 1e-9
    if fabs(w) <= bar * (1.0 + 1e-9):
        return 0.0
    return w - bar if w > 0.0 else w + bar


cdef struct Touched:
    int32_t* slot
    double* began
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


def walk(
    const int64_t[::1] starts, const int32_t[::1] slots, const double[::1] z,
    const double[::1] rates, const double[::1] y, const int64_t[::1] order,
    const uint8_t[::1] learned, double[:, ::1] table, Walk how not None, double g0,
    int64_t burst, int64_t into, double[::1] intercept, int32_t[::1] touched, double[::1] began,
    Py_ssize_t n_touched, int32_t[::1] pool_slot, double[::1] pool_value, uint8_t[::1] pool_kept,
    double[::1] score,
):
    """One path over prepared rows in its order, learning those with learned[n] = 1; `into` rows
    of the current burst are behind it, which touched touched[:n_touched], where w was `began`.
    Returns (touched now, entries emitted)."""
    cdef Rows rows = read(starts, slots, z, table.shape[0])
    one_a_row("y", y, rows)
    one_a_row("score", score, rows)
    one_a_row("rates", rates, rows)
    cdef Py_ssize_t n, i, k, later, emitted = 0, N = order.shape[0]
    cdef Py_ssize_t total = n_touched + entries(order, rows)
    if learned.shape[0] != N or table.shape[1] != 2:
        raise ValueError("walk needs learned for every visit, and rows of 2 columns")
    if burst < 1 or intercept.shape[0] != 1:
        raise ValueError("walk needs a burst, an intercept")
    if min(touched.shape[0], began.shape[0]) < min(total, table.shape[0]):
        raise ValueError("walk needs room for what it touches")
    if min(pool_slot.shape[0], pool_value.shape[0], pool_kept.shape[0]) < min(
        total, table.shape[0] * ((into + N) // burst)
    ):
        raise ValueError("walk needs room for what it emits")
    for n in range(n_touched):
        if not 0 <= touched[n] < table.shape[0]:
            raise ValueError("a touched feature is not in the table")
    cdef int loss = how.loss
    cdef bint by_norm = how.by_norm, of_weight = how.of_weight, by_gradient = how.by_gradient
    cdef double f, c, step, move, q, b = intercept[0]
    cdef double* at
    cdef Row row, after
    cdef Touched list = Touched(NULL, NULL, n_touched)
    if total:
        list.slot, list.began = &touched[0], &began[0]
    with nogil:
        for n in range(N):
            row = row_at(rows, order[n])
            after = row_at(rows, order[min(n + 1, N - 1)])
            i = order[min(n + 4, N - 1)]
            later = rows.start[i]
            prefetch(&y[i])
            prefetch(&rates[i])
            prefetch(&score[i])
            prefetch(rows.index + later)
            prefetch(rows.value + later)
            i = order[n]
            f = b
            for k in range(min(row.nnz, after.nnz)):
                prefetch(&table[after.index[k], 0])
            if learned[n] and not by_gradient:
                for k in range(row.nnz):
                    at = &table[row.index[k], 0]
                    f += at[WEIGHT] * row.value[k]
                    inform(&list, at, row.index[k], row.value[k], by_norm)
            else:
                for k in range(row.nnz):
                    f += table[row.index[k], WEIGHT] * row.value[k]
            score[i] = f
            c = slope(loss, y[i], f)
            if learned[n] and c == c and c != 0.0:
                step = -c * rates[i]
                b += how.bias * step
                for k in range(row.nnz):
                    at = &table[row.index[k], 0]
                    if by_gradient:
                        inform(&list, at, row.index[k], row.value[k], by_norm)
                    move = step * row.value[k]
                    if at[COUNT] > 0.0 and fabs(move) <= HUGE:
                        at[WEIGHT] += move
                        if fabs(at[WEIGHT]) <= 1e-12 * fabs(move):
                            at[WEIGHT] = 0.0  # steps that cancelled, up to rounding
            into += 1
            if into < burst:
                continue
            into = 0
            for k in range(list.count):
                prefetch(&table[touched[min(k + FAR, list.count - 1)], 0])
                at = &table[touched[k], 0]
                q = sqrt(at[COUNT]) if by_norm else at[COUNT]
                pool_slot[emitted] = touched[k]
                pool_value[emitted] = fabs(at[WEIGHT] - (0.0 if of_weight else began[k])) / q
                at[WEIGHT] = pulled(at[WEIGHT], g0 * q)
                pool_kept[emitted] = at[WEIGHT] != 0.0
                at[COUNT] = 0.0
                emitted += 1
            list.count = 0
    intercept[0] = b
    return list.count, emitted


def tally(const int32_t[::1] slots, const uint8_t[::1] kept, double[:, ::1] shared):
    """Bursts of a stage enter the counters of their features."""
    cdef Py_ssize_t k, n = slots.shape[0]
    inside(slots, kept.shape[0], shared)
    with nogil:
        for k in range(n):
            prefetch(&shared[slots[min(k + FAR, n - 1)], 0])
            shared[slots[k], BURSTS] += 1.0
            shared[slots[k], KEPT] += kept[k]


def judge(
    const int32_t[::1] slots, double[:, ::1] shared, double pi0, double least, int32_t[::1] left,
):
    """Whoever has at least `least` bursts is judged and its counters start again: those kept in
    less than a share pi0 are gone. Returns how many, and left begins with these."""
    cdef Py_ssize_t k, n = slots.shape[0], leaving = 0
    cdef double* at
    inside(slots, left.shape[0], shared)
    with nogil:
        for k in range(n):
            prefetch(&shared[slots[min(k + FAR, n - 1)], 0])
            at = &shared[slots[k], 0]
            if at[BURSTS] > 0.0 and at[BURSTS] >= least:
                if at[KEPT] / at[BURSTS] < pi0:
                    at[GONE] = 1.0
                    left[leaving] = slots[k]
                    leaving += 1
                at[BURSTS] = at[KEPT] = 0.0
    return leaving


def remaining(const int32_t[::1] slots, double[::1] values, const double[:, ::1] shared):
    """Values of features that are not gone move to the front; returns how many."""
    cdef Py_ssize_t k, n = slots.shape[0], count = 0
    inside(slots, values.shape[0], shared)
    with nogil:
        for k in range(n):
            prefetch(&shared[slots[min(k + FAR, n - 1)], 0])
            if shared[slots[k], GONE] == 0.0:
                values[count] = values[k]
                count += 1
    return count


cdef int inside(const int32_t[::1] slots, Py_ssize_t room, const double[:, ::1] shared) except -1:
    cdef Py_ssize_t k
    cdef bint good = room >= slots.shape[0] and shared.shape[1] > M2
    with nogil:
        for k in range(slots.shape[0]):
            good &= 0 <= slots[k] < shared.shape[0]
    if not good:
        raise ValueError("every slot has a place, and a shared row of 7 columns or more")
    return 0


def add_scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] shared, const double[:, ::1] table, double g0, bint by_norm,
    double scale, double[::1] score,
):
    """score += w.x of every row for one path, pending truncation done."""
    cdef Rows rows = read(indptr, indices, values, min(shared.shape[0], table.shape[0]))
    one_a_row("score", score, rows)
    check(shared, table)
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
                f += (
                    ended(&shared[row.index[k], 0], &table[row.index[k], 0], g0, by_norm)
                    * (scale * row.value[k])
                )
            score[i] += f


def add_weights(
    const int32_t[::1] slots, const double[:, ::1] shared, const double[:, ::1] table, double g0,
    bint by_norm, double[::1] out,
):
    """out += w_j of one path at these slots, pending truncation done."""
    cdef Py_ssize_t k, n = slots.shape[0]
    check(shared, table)
    if n != out.shape[0]:
        raise ValueError("one place a slot is needed")
    for k in range(n):
        if not 0 <= slots[k] < min(shared.shape[0], table.shape[0]):
            raise ValueError("a feature is not in the table")
    with nogil:
        for k in range(n):
            prefetch(&table[slots[min(k + FAR, n - 1)], 0])
            out[k] += ended(&shared[slots[k], 0], &table[slots[k], 0], g0, by_norm)


cdef inline double ended(const double* column, const double* at, double g0,
                         bint by_norm) noexcept nogil:
    # w s as if its burst had ended
    cdef double w = at[WEIGHT]
    if at[COUNT] != 0.0:
        w = pulled(w, g0 * (sqrt(at[COUNT]) if by_norm else at[COUNT]))
    return w / (1.0 + column[DAMP]) if w != 0.0 else 0.0


cdef int check(const double[:, ::1] shared, const double[:, ::1] table) except -1:
    if shared.shape[1] <= M2 or table.shape[1] != 2:
        raise ValueError("shared rows have 7 columns or more, those of a path 2")
    return 0
