"""Which features stabilized truncated gradient descent keeps (Ma 2017, 3.9 and 3.33).

After a stage of bursts, a feature whose weight was kept in less than a share pi0 of the bursts that
informed it is removed for good.
"""

from libc.stdint cimport int32_t, uint8_t

from cwtool_ext.csr cimport prefetch
from cwtool_ext.stages cimport BURSTS, FAR, GONE, KEPT, check_length, check_shared, check_slots


def tally(const int32_t[::1] slots, const uint8_t[::1] kept, double[:, ::1] shared) -> None:
    """Add bursts to the counters of their features: one burst for each of the slots, after which
    the weight of the feature was kept or not."""
    cdef Py_ssize_t k, n = slots.shape[0]
    check_shared(shared)
    check_slots(slots, shared.shape[0])
    check_length("kept", kept.shape[0], n)
    with nogil:
        for k in range(n):
            prefetch(&shared[slots[min(k + FAR, n - 1)], 0])
            shared[slots[k], BURSTS] += 1.0
            shared[slots[k], KEPT] += kept[k]


def judge(
    const int32_t[::1] slots, double[:, ::1] shared, double pi0, double least, int32_t[::1] left,
) -> int:
    """Judge the features at these slots that have at least `least` bursts, and start their counters
    again: those kept in less than a share pi0 of the bursts are marked as gone and put into `left`.
    Returns how many these are."""
    cdef Py_ssize_t k, n = slots.shape[0], leaving = 0
    cdef double* at
    check_shared(shared)
    check_slots(slots, shared.shape[0])
    check_length("left", left.shape[0], n)
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


def remaining(
    const int32_t[::1] slots, double[::1] values, const double[:, ::1] shared,
) -> int:
    """Move the values of features that are not gone to the front; returns how many there are."""
    cdef Py_ssize_t k, n = slots.shape[0], count = 0
    check_shared(shared)
    check_slots(slots, shared.shape[0])
    check_length("values", values.shape[0], n)
    with nogil:
        for k in range(n):
            prefetch(&shared[slots[min(k + FAR, n - 1)], 0])
            if shared[slots[k], GONE] == 0.0:
                values[count] = values[k]
                count += 1
    return count
