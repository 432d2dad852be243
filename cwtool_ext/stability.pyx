"""Which features stabilized truncated gradient descent keeps (Ma 2017, 3.9 and 3.33).

After a stage of bursts, a feature whose weight was kept in less than a share pi0 of the bursts that
informed it is removed for good.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memmove

from cwtool_ext.csr cimport prefetch
from cwtool_ext.stages cimport BURSTS, FAR, GONE, KEPT, check_length, check_shared, check_slots


cdef int check_emitted(const int32_t[::1] slots, const uint8_t[::1] paths, str name,
                       Py_ssize_t length, const double[:, ::1] shared) except -1:
    """Refuse emitted entries that do not fit the shared table, or their values."""
    cdef Py_ssize_t k, values = 0
    check_shared(shared)
    check_slots(slots, shared.shape[0])
    check_length("paths", paths.shape[0], slots.shape[0])
    for k in range(slots.shape[0]):
        values += paths[k]
    return check_length(name, length, values)


cdef inline int64_t ones(const uint8_t* kept, int n) noexcept nogil:
    """The sum of the first n <= 8 of 8 bytes, each 0 or 1, without a loop of n steps."""
    cdef uint64_t bytes
    memcpy(&bytes, kept, 8)
    return ((bytes << 8 * (8 - n)) * <uint64_t> 0x0101010101010101) >> 56


def tally(const int32_t[::1] slots, const uint8_t[::1] paths, const uint8_t[::1] kept,
          double[:, ::1] shared) -> None:
    """Add bursts to the counters of the features at these slots. A burst informed the k-th of them
    in paths[k] paths; `kept` has for each of these whether the weight was kept."""
    cdef Py_ssize_t k, m, at = 0, n = slots.shape[0]
    cdef int64_t survived
    check_emitted(slots, paths, "kept", kept.shape[0], shared)
    with nogil:
        for k in range(n):
            prefetch(&shared[slots[min(k + FAR, n - 1)], 0])
            if 0 < paths[k] <= 8 and at + 8 <= kept.shape[0]:
                survived = ones(&kept[at], paths[k])
            else:
                survived = 0
                for m in range(paths[k]):
                    survived += kept[at + m]
            at += paths[k]
            shared[slots[k], BURSTS] += paths[k]
            shared[slots[k], KEPT] += survived


cdef inline Py_ssize_t moved(double[::1] values, Py_ssize_t first, Py_ssize_t stop,
                             Py_ssize_t to) noexcept nogil:
    """Move the values first .. stop - 1 to the place `to` before them; returns where they end."""
    if first < stop and to < first:
        memmove(&values[to], &values[first], 8 * (stop - first))
    return to + stop - first


def judge(
    const int32_t[::1] slots, const uint8_t[::1] paths, double[::1] values, double[:, ::1] shared,
    double pi0, double least, int32_t[::1] left,
) -> tuple[int, int]:
    """Judge the features at these slots that have at least `least` bursts, and start their counters
    again: those kept in less than a share pi0 of the bursts are marked as gone and put into `left`.
    The values of features that are not gone are moved to the front, paths[k] values of the k-th
    slot. Returns how many features are in `left`, and how
    many values at the front."""
    cdef Py_ssize_t k, n = slots.shape[0], at = 0, run = 0, leaving = 0, staying = 0
    cdef double* feature
    check_emitted(slots, paths, "values", values.shape[0], shared)
    check_length("left", left.shape[0], n)
    with nogil:
        for k in range(n):
            prefetch(&shared[slots[min(k + FAR, n - 1)], 0])
            feature = &shared[slots[k], 0]
            if feature[BURSTS] > 0.0 and feature[BURSTS] >= least:
                if feature[KEPT] / feature[BURSTS] < pi0:
                    feature[GONE] = 1.0
                    left[leaving] = slots[k]
                    leaving += 1
                feature[BURSTS] = feature[KEPT] = 0.0
            if feature[GONE] != 0.0:  # a run of values that stay ends here
                staying = moved(values, run, at, staying)
                run = at + paths[k]
            at += paths[k]
        staying = moved(values, run, at, staying)
    return leaving, staying


def clear(const int32_t[::1] slots, double[:, :] weights) -> None:
    """Set the weights of the features at these slots to 0."""
    cdef Py_ssize_t k, m, n = slots.shape[0], M = weights.shape[1]
    check_slots(slots, weights.shape[0])
    with nogil:
        for k in range(n):
            prefetch(&weights[slots[min(k + FAR, n - 1)], 0])
            for m in range(M):
                weights[slots[k], m] = 0.0


def within(double[::1] values, double low, double high) -> tuple[int, int]:
    """Move the values from low to high to the front; returns how many there are, and how many
    values are below."""
    cdef Py_ssize_t k, count = 0, below = 0
    cdef double v
    with nogil:
        for k in range(values.shape[0]):  # without branches, which chance would decide
            v = values[k]
            values[k] = values[count]
            values[count] = v
            count += (v >= low) & (v <= high)
            below += v < low
    return count, below
