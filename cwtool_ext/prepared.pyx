"""Rows as the paths of stabilized truncated gradient descent walk them: scaled by column, without
the features that are gone; and the statistics of the columns that their scale is fitted to."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from cwtool_ext.csr cimport Csr, Row, prefetch, row_at
from cwtool_ext.stages cimport (
    DAMP, FAR, GONE, M2, MEAN, NNZ, check_length, check_shared, check_slots, entries, usable,
)


cdef extern from *:
    """
    #include "vectors.h"

    CWTOOL_WIDE static double cwtool_norm(Py_ssize_t n, const double *value, double scale)
    {
        cwtool_four s0 = {0.0}, s1 = {0.0}, s2 = {0.0}, s3 = {0.0};
        double total = 0.0;
        Py_ssize_t k = 0;
        for (; k + 16 <= n; k += 16) {
            const cwtool_four a0 = scale * CWTOOL_FOUR(value + k);
            const cwtool_four a1 = scale * CWTOOL_FOUR(value + k + 4);
            const cwtool_four a2 = scale * CWTOOL_FOUR(value + k + 8);
            const cwtool_four a3 = scale * CWTOOL_FOUR(value + k + 12);
            s0 += a0 * a0;
            s1 += a1 * a1;
            s2 += a2 * a2;
            s3 += a3 * a3;
        }
        for (; k < n; k++)
            total += scale * value[k] * (scale * value[k]);
        s0 += s1 + (s2 + s3);
        return total + (s0[0] + s0[1]) + (s0[2] + s0[3]);
    }
    """
    # ||x||^2, by sums side by side
    double norm "cwtool_norm"(Py_ssize_t n, const double* value, double scale) noexcept nogil


cdef inline bint within(Row row, double longest) noexcept nogil:
    """Whether ||x||^2 <= longest. Sums side by side are faster than one, and decide where it does
    not depend on how they are rounded."""
    cdef double a, total = norm(row.nnz, row.value, row.scale)
    cdef Py_ssize_t k
    if total < 0.999 * longest or total > 1.001 * longest:
        return total <= longest
    total = 0.0
    for k in range(row.nnz):
        a = row.scale * row.value[k]
        total += a * a
    return total <= longest


cdef inline bint count(double* at, double a, double d, double step) noexcept nogil:
    """Add a value, d above the mean, to the statistics of its column (Welford), whose mean it moves
    by `step`; whether it is the first one."""
    at[NNZ] += 1.0
    at[MEAN] += step
    at[M2] += d * (a - at[MEAN])
    return at[NNZ] == 1.0


def meet(
    Csr rows not None, const int64_t[::1] order, const double[:] weight, double longest,
    double[:, ::1] shared, int64_t[::1] starts, int32_t[::1] slots, double[::1] z,
    double[:, ::1] sums, uint8_t[::1] known,
) -> tuple[int, int]:
    """Copy rows in this order, scaled by column, without the features that are gone, in CSR form.
    At the same time add those of usual length, ||x||^2 <= longest, and of a weight above 0 to the
    statistics of the columns; weight[n] is that of the n-th visited row. sums[n + 1] becomes
    sums[n] + (1, ||z||^2 of the whole row) for these, and sums[n] for others. known[j] becomes 1
    for the slots j of their features.
    Returns the number of entries copied, and that of features met for the first time."""
    rows.fit(shared.shape[0])
    cdef Py_ssize_t n = order.shape[0], i, k, end = 0, met = 0
    cdef int64_t total = entries(order, rows)
    check_shared(shared)
    if sums.shape[0] != n + 1 or sums.shape[1] != 2 or weight.shape[0] != n:
        raise ValueError("there are two sums and a weight for each visited row")
    check_length("starts", starts.shape[0], n + 1)
    check_length("slots", slots.shape[0], total)
    check_length("z", z.shape[0], total)
    check_length("known", known.shape[0], shared.shape[0])
    cdef Py_ssize_t ahead, width = shared.shape[1]
    cdef double* table = &shared[0, 0] if shared.shape[0] else NULL
    cdef Row row
    cdef double a, d, step, scaled, square
    cdef double* at
    cdef bint usual
    with nogil:
        starts[0] = 0
        for i in range(n):
            row = row_at(rows, order[i])
            ahead = rows.start[rows.count] - rows.start[order[i]] - FAR
            usual = within(row, longest) and weight[i] > 0.0
            square = 0.0
            for k in range(row.nnz):
                if k < ahead:
                    prefetch(table + width * <Py_ssize_t> row.index[k + FAR])
                at = table + width * <Py_ssize_t> row.index[k]
                a = row.scale * row.value[k]
                if a == 0.0:
                    continue
                d = a - at[MEAN]
                scaled = a / (1.0 + at[DAMP])
                step = d / (at[NNZ] + 1.0)
                if usual:  # and without a branch for the first value, which chance would decide
                    met += count(at, a, d, step)
                    known[row.index[k]] = 1
                if at[DAMP] == -1.0:
                    continue
                square += scaled * scaled
                slots[end] = row.index[k]  # without a branch, which chance would decide
                z[end] = scaled
                end += (at[GONE] == 0.0) & usable(scaled)
            sums[i + 1, 0] = sums[i, 0] + usual
            sums[i + 1, 1] = sums[i, 1] + (square if usual else 0.0)
            starts[i + 1] = end
    return end, met


def find(
    const int32_t[::1] slots, const double[:, ::1] shared, int32_t[::1] places, int32_t[::1] own,
) -> int:
    """Find those of these slots whose place is 0. Features that are gone get the place -1; the
    others get 1 for the time being and are put into `own`, each once. Returns how many these are.
    """
    cdef Py_ssize_t k, new = 0, n = slots.shape[0]
    cdef int32_t j
    check_shared(shared)
    check_slots(slots, shared.shape[0])
    check_length("own", own.shape[0], n)
    check_length("places", places.shape[0], shared.shape[0])
    with nogil:
        for k in range(n):
            prefetch(&places[slots[min(k + FAR, n - 1)]])
            j = slots[k]
            if places[j] != 0:
                continue
            places[j] = -1 if shared[j, GONE] != 0.0 else 1
            if places[j] > 0:
                own[new] = j
                new += 1
    return new


def compact(
    Csr rows not None, const int32_t[::1] places, const double[::1] divisors,
    int64_t[::1] starts, int32_t[::1] numbers, double[::1] z,
) -> tuple[int, int]:
    """Copy all rows, scaled by column, in CSR form by the numbers of their features: places[j] is
    1 + the number of slot j, 0 if it has none yet, -1 if its feature is gone. Slots without a
    number, each as often as it occurs, are put at the end of `numbers`.
    Returns the number of entries copied, and that of slots without a number."""
    rows.fit(places.shape[0])
    cdef Py_ssize_t i, k, p, end = 0, strangers = 0, highest = 0, room = numbers.shape[0]
    cdef Py_ssize_t last = rows.start[rows.count] - 1, given = divisors.shape[0]
    check_length("starts", starts.shape[0], rows.count + 1)
    check_length("numbers", room, last + 1)
    check_length("z", z.shape[0], last + 1)
    if last < 0:
        starts[: rows.count + 1] = 0
        return 0, 0
    cdef double a, scaled, none = 1.0, scale = rows.scale
    cdef const int32_t* place = &places[0]
    cdef const double* divisor = &divisors[0] if given else &none
    cdef int32_t* number = &numbers[0]
    cdef double* to = &z[0]
    with nogil:
        starts[0] = 0
        for i in range(rows.count):
            for k in range(rows.start[i], rows.start[i + 1]):
                prefetch(place + rows.index[min(k + FAR, last)])
                p = place[rows.index[k]]
                if p == 0 or p > given:
                    highest = max(highest, p)
                    if p == 0:
                        strangers += 1
                        number[room - strangers] = rows.index[k]
                    continue
                # without a branch, which chance would decide: a place behind the last entry is free
                a = scale * rows.value[k]
                scaled = a / divisor[max(p - 1, 0)]  # not usable if the divisor is 0
                number[end] = <int32_t> (p - 1)
                to[end] = scaled
                end += (p > 0) & (a != 0.0) & usable(scaled)
            starts[i + 1] = end
    check_length("divisors", given, highest)
    return end, strangers
