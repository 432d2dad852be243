"""Counting scores as they come: confusion counts and histograms on a logarithmic scale.

A histogram has 2 * 64 * 256 + 1 bins: for each sign the magnitudes 2^-32 .. 2^32 in steps of
1/256 octave, and one bin for zero in the middle. Counts are whole numbers, so that a run that
stops and goes on gives what one long run gives.
"""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, nextafter
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    OCTAVES = 64
    STEPS = 256
    HALF = OCTAVES * STEPS  # bins on each side of zero

BINS = 2 * HALF + 1


cdef inline int64_t bin_of(double s) noexcept nogil:
    cdef uint64_t bits
    cdef int64_t at, negative
    memcpy(&bits, &s, 8)
    # the top of an IEEE double, exponent then 8 bits of mantissa, is a piecewise linear log2
    at = <int64_t> ((bits & 0x7FFFFFFFFFFFFFFFu) >> 44) - ((1023 - OCTAVES // 2) * STEPS - 1)
    at = min(max(at, 0), HALF)
    negative = <int64_t> (bits >> 63)
    return HALF + ((at ^ -negative) + negative)  # HALF - at or HALF + at, without a branch


def centers(double[::1] out) -> None:
    """The middle of each bin."""
    cdef int64_t k, e, f
    cdef double width
    if out.shape[0] != 2 * HALF + 1:
        raise ValueError("one centre a bin is needed")
    out[HALF] = 0
    for k in range(HALF):
        e = k // STEPS - OCTAVES // 2
        f = k % STEPS
        width = 2.0 ** e
        out[HALF + 1 + k] = width * (1 + (f + 0.5) / STEPS)
        out[HALF - 1 - k] = -out[HALF + 1 + k]


def edges(double[::1] out) -> None:
    """The least score of each bin. A magnitude that lies between two bins belongs to the greater
    one, so that the least score of a negative bin is the number next to this magnitude."""
    cdef int64_t k
    cdef double least
    if out.shape[0] != 2 * HALF + 1:
        raise ValueError("one edge a bin is needed")
    for k in range(HALF):
        least = 2.0 ** (k // STEPS - OCTAVES // 2) * (1 + (k % STEPS) / <double> STEPS)
        out[HALF + 1 + k] = least
        out[HALF - k] = nextafter(-least, 0)
    out[0] = -DBL_MAX


cdef bint counts_units(const int64_t[::1] units, Py_ssize_t rows) except? True:
    """Whether rows count as units; there must be one number for each row then."""
    if units is not None and units.shape[0] < rows:
        raise ValueError("units must have one number for each row")
    return units is not None


def add(const int32_t[::1] y, const double[::1] score, int64_t[:, ::1] scores,
        int64_t[:, ::1] confusion, const int64_t[::1] units=None,
        double threshold=0) -> None:
    """Count each score under its class y (0 or 1) and the class predicted, 1 iff score >=
    threshold: confusion[actual, predicted]. A row counts as 1, or as units[i]."""
    cdef int64_t i, n = 1
    cdef int actual
    cdef bint weighted = counts_units(units, y.shape[0])
    if scores.shape[0] != 2 or scores.shape[1] != 2 * HALF + 1 or score.shape[0] < y.shape[0]:
        raise ValueError("the histogram has another shape")
    with nogil:
        for i in range(y.shape[0]):
            actual = y[i] == 1
            if weighted:
                n = units[i]
            confusion[actual, score[i] >= threshold] += n
            scores[actual, bin_of(score[i])] += n


cdef inline int64_t next_fading(int64_t t) noexcept nogil:
    """The first row number from t on before which counts are halved: powers of two, and from 4,096
    on every eighth of the way between two of them."""
    cdef int64_t step = 1
    while 2 * step <= t:
        step *= 2
    if t >= 4096:
        step //= 8
    return (t + step - 1) // step * step


cdef void halve(int64_t[:, ::1] counts, int times) noexcept nogil:
    cdef int64_t k
    times = min(times, 63)
    for k in range(2 * HALF + 1):
        counts[0, k] = <int64_t> (<uint64_t> counts[0, k] >> times)  # none is below 0
        counts[1, k] = <int64_t> (<uint64_t> counts[1, k] >> times)


def add_fading(const int32_t[::1] y, const double[::1] score, int64_t rows,
               int64_t[:, ::1] counts, const int64_t[::1] units, bint at_once) -> None:
    """Count the score of each row under its class y, as units[i], after `rows` rows. What was
    counted before is halved at certain row numbers; `at_once` all of these rows count alike."""
    cdef int64_t i, fading = next_fading(rows + 1)
    cdef int times = 0
    counts_units(units, y.shape[0])
    if counts.shape[0] != 2 or counts.shape[1] != 2 * HALF + 1:
        raise ValueError("the histogram has another shape")
    if score.shape[0] < y.shape[0]:
        raise ValueError("one score a row is needed")
    with nogil:
        if at_once:
            while fading <= rows + y.shape[0]:
                times += 1
                fading = next_fading(fading + 1)
            if rows:  # else there is nothing yet
                halve(counts, times)
        for i in range(y.shape[0]):
            if fading == rows + i + 1:
                halve(counts, 1)
                fading = next_fading(fading + 1)
            counts[y[i] == 1, bin_of(score[i])] += units[i]


def highest(const double[:, ::1] score, const int64_t[::1] order, int32_t[::1] out) -> None:
    """out[i] is the class of the highest score of row i, of equal ones the first in this order; -1
    where that is -infinity. What is not a number is the highest, as for NumPy."""
    cdef int64_t i, k, best, classes = score.shape[1]
    if order.shape[0] != classes or classes == 0 or out.shape[0] != score.shape[0]:
        raise ValueError("one place a class and one a row are needed")
    for k in range(classes):
        if not 0 <= order[k] < classes:
            raise ValueError(f"there is no class {order[k]}")
    with nogil:
        for i in range(score.shape[0]):
            best = order[0]
            for k in range(1, classes):
                if not score[i, order[k]] <= score[i, best] and score[i, best] == score[i, best]:
                    best = order[k]
            out[i] = -1 if score[i, best] == -INFINITY else <int32_t> best


def mean_of_best(
    const double[:, ::1] score, const double[:, ::1] variance, double[::1] out
) -> None:
    """out[i] is the mean variance of the two highest scores of row i, of equal ones the first; the
    places of scores that are not finite count nothing."""
    cdef int64_t i, k, first, second
    cdef double total
    if variance.shape[0] != score.shape[0] or variance.shape[1] != score.shape[1]:
        raise ValueError("one variance a score is needed")
    if out.shape[0] != score.shape[0]:
        raise ValueError("one place a row is needed")
    with nogil:
        for i in range(score.shape[0]):
            first = second = -1
            for k in range(score.shape[1]):
                if not score[i, k] > -INFINITY or (second >= 0 and score[i, k] <= score[i, second]):
                    continue
                if first < 0 or score[i, k] > score[i, first]:
                    first, second = k, first
                else:
                    second = k
            # what is infinite ranks first and is not there
            if first >= 0 and score[i, first] == INFINITY:
                first = -1
            if second >= 0 and score[i, second] == INFINITY:
                second = -1
            total = variance[i, first] if first >= 0 else 0.0
            if second >= 0:
                total += variance[i, second]
            out[i] = total / 2.0 if first >= 0 and second >= 0 else total
