"""Rows as the paths of stabilized truncated gradient descent walk them: scaled by column, without
the features that are gone; and the statistics of the columns that their scale is fitted to."""

from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Csr, Row, prefetch, row_at
from cwtool_ext.stages cimport (
    DAMP, FAR, GONE, M2, MEAN, NNZ, check_length, check_shared, check_slots, entries, usable,
)

cdef int check_norms(const double[:, ::1] norms, Py_ssize_t n) except -1:
    if norms.shape[0] != n or norms.shape[1] != 2:
        raise ValueError("there are two norms for each visited row")
    return 0


def prepare(
    Csr rows not None, const int64_t[::1] order, const double[:, ::1] shared,
    int64_t[::1] starts, int32_t[::1] slots, double[::1] z, double[:, ::1] norms, double longest,
) -> int:
    """Copy rows in this order, scaled by column, without the features that are gone, in CSR form.
    norms[n] is (1, ||z||^2 of the whole row), or zero for a row x with ||x||^2 > longest. Returns
    the number of entries copied."""
    rows.fit(shared.shape[0])
    cdef Py_ssize_t n = order.shape[0], i, k, end = 0
    cdef int64_t total = entries(order, rows)
    check_shared(shared)
    check_norms(norms, n)
    check_length("starts", starts.shape[0], n + 1)
    check_length("slots", slots.shape[0], total)
    check_length("z", z.shape[0], total)
    cdef Row row, after
    cdef double a, scaled, all_, d, scale = rows.scale
    cdef const double* at
    with nogil:
        starts[0] = 0
        for i in range(n):
            row, after = row_at(rows, order[i]), row_at(rows, order[min(i + 1, n - 1)])
            for k in range(min(row.nnz, after.nnz)):
                prefetch(&shared[after.index[k], 0])
            d = all_ = 0.0
            for k in range(row.nnz):
                at = &shared[row.index[k], 0]
                a = scale * row.value[k]
                d += a * a
                if a == 0.0 or at[DAMP] == -1.0:
                    continue
                scaled = a / (1.0 + at[DAMP])
                all_ += scaled * scaled
                if at[GONE] == 0.0 and usable(scaled):
                    slots[end] = row.index[k]
                    z[end] = scaled
                    end += 1
            norms[i, 0] = d <= longest
            norms[i, 1] = all_ if d <= longest else 0.0
            starts[i + 1] = end
    return end


def count(
    Csr rows not None, const int64_t[::1] order, double[:, ::1] shared,
    const double[:, ::1] norms,
) -> int:
    """Add the rows of usual length (those with norms[n, 0] = 1) to the statistics of the columns
    (Welford). Returns how many features were met for the first time."""
    rows.fit(shared.shape[0])
    entries(order, rows)
    check_shared(shared)
    check_norms(norms, order.shape[0])
    cdef Py_ssize_t i, k, met = 0
    cdef double a, d, scale = rows.scale
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
    cdef double a, scale = rows.scale
    cdef Row row
    with nogil:
        starts[0] = 0
        for i in range(rows.count):
            row = row_at(rows, i)
            for k in range(row.nnz):
                prefetch(&places[row.index[min(k + FAR, last - rows.start[i])]])
                a = scale * row.value[k]
                p = places[row.index[k]]
                highest = max(highest, p)
                if 0 < p <= given and a != 0.0 and divisors[p - 1] != 0.0:
                    a /= divisors[p - 1]
                    if usable(a):
                        numbers[end] = <int32_t> (p - 1)
                        z[end] = a
                        end += 1
                elif p == 0:
                    strangers += 1
                    numbers[room - strangers] = row.index[k]
            starts[i + 1] = end
    check_length("divisors", given, highest)
    return end, strangers
