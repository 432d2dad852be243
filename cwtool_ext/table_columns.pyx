"""Columns of the feature table: all rows in use are set to zero, values are taken out to be saved,
and put back when they are loaded."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset


cdef enum:
    PER_LINE = 8  # doubles in a cache line
    NEAR = 256  # places whose lines of the table stay in the nearest cache

LINE = PER_LINE


def clear(double[:, ::1] table, const uint64_t[::1] seen, int64_t direct, int64_t count) -> None:
    """Set the rows of all slots that were given out to zero, in parts of 64: those of the direct
    ids whose bits are set, and of `count` hashed ids. The memory of other rows is not looked at."""
    cdef int64_t word = 0, first, last, words = seen.shape[0]
    cdef size_t row = table.shape[1] * sizeof(double)
    if not 0 <= direct <= 64 * words or direct + count > table.shape[0] or count < 0:
        raise ValueError("there must be a bit for every direct id, and a row for every slot")
    if row == 0 or table.shape[0] == 0:
        return
    with nogil:
        while word < words:
            first = word
            while word < words and seen[word]:
                word += 1
            last = min(64 * word, direct)
            if 64 * first < last:
                memset(&table[64 * first, 0], 0, (last - 64 * first) * row)
            word += 1
        if count:
            memset(&table[direct, 0], 0, count * row)


cdef int check_places(const double[:, :] columns, const int32_t[::1] places) except -1:
    cdef int64_t k
    if not 0 < columns.shape[1] <= PER_LINE:
        raise ValueError(f"1 to {PER_LINE} columns are gathered")
    for k in range(places.shape[0]):
        if not 0 <= places[k] < columns.shape[0]:
            raise ValueError(f"there is no place {places[k]}")
    return 0


cdef inline bint there(double x) noexcept nogil:
    """Whether a value is not zero by its bits."""
    cdef uint64_t bits
    memcpy(&bits, &x, 8)
    return bits != 0


cdef inline int64_t copy(
    const char* column, int64_t step, const int32_t* places, int64_t n, double* to
) noexcept nogil:
    """The values of a column at the first n places; two that follow each other lie `step` bytes
    apart. Returns how many are not zero by their bits."""
    cdef int64_t k, found = 0
    cdef const char* value
    for k in range(n):
        value = column + step * places[k]
        to[k] = (<const double*> value)[0]
        found += (<const uint64_t*> value)[0] != 0
    return found


cdef inline int64_t take(
    const char* column, int64_t step, const int32_t* places, int64_t n, double* to,
    int32_t* numbers, int64_t first,
) noexcept nogil:
    """Those of the same values that are not zero by their bits, and the numbers of their places,
    counted from `first`. Returns how many there are."""
    cdef int64_t k, found = 0
    cdef const char* value
    for k in range(n):
        value = column + step * places[k]
        to[found], numbers[found] = (<const double*> value)[0], <int32_t> (first + k)
        found += (<const uint64_t*> value)[0] != 0
    return found


cdef bint seems_sparse(const double[:, :] columns, const int32_t[::1] places, int64_t c):
    """Whether the nonzero values of a column with their places are shorter than all values, by up
    to 512 places."""
    cdef int64_t k, found = 0, n = min(512, places.shape[0])
    for k in range(n):
        found += there(columns[places[k * places.shape[0] // n], c])
    return (8 + 4) * found < 8 * n


def gather(const double[:, :] columns, const int32_t[::1] places) -> list:
    """For each of up to LINE columns side by side, which cost one look into memory: its values
    columns[places, c] and None; or, if that is shorter, those that are not zero by their bits, and
    the numbers k of their places."""
    cdef int64_t k, c, block, here, n = places.shape[0], step = columns.strides[0]
    cdef int64_t[PER_LINE] counts
    cdef (const char*)[PER_LINE] column
    cdef (double*)[PER_LINE] to
    cdef (int32_t*)[PER_LINE] numbers
    cdef double[::1] one
    cdef int32_t[::1] at
    check_places(columns, places)
    found = []
    for c in range(columns.shape[1]):
        sparse = seems_sparse(columns, places, c)
        # as if no value were zero, and one more, which is written to and not used; memory that is
        # not written to takes no room
        one = values = np.empty(n + 1)
        at = numbered = np.empty(n + 1 if sparse else 1, dtype=np.int32)
        found.append((values, numbered if sparse else None))
        counts[c], to[c], numbers[c] = 0, &one[0], &at[0] if sparse else NULL
        column[c] = <const char*> &columns[0, c] if n else NULL
    with nogil:
        for block in range((n + NEAR - 1) // NEAR):
            k = NEAR * block
            here = min(NEAR, n - k)
            for c in range(columns.shape[1]):
                if numbers[c] == NULL:
                    counts[c] += copy(column[c], step, &places[k], here, to[c] + k)
                else:
                    counts[c] += take(
                        column[c], step, &places[k], here, to[c] + counts[c],
                        numbers[c] + counts[c], k,
                    )
    one = at = None  # the views are released, so that the arrays can shrink
    return [shorter(n, counts[c], found[c][0], found[c][1]) for c in range(columns.shape[1])]


cdef tuple shorter(int64_t n, int64_t count, values, at):
    """The shorter of the two forms of a column of n values of which `count` are not zero; `values`
    and `at` are its longest possible arrays."""
    sparse = (8 + 4) * count < 8 * n
    if at is None:
        values = values[:n]
        if sparse:
            at = np.flatnonzero(values.view(np.int64)).astype(np.int32)
            values = values[at]
    else:
        values.resize(count, refcheck=False)  # which gives the rest of the memory back
        at.resize(count, refcheck=False)
        if not sparse:
            dense = np.zeros(n)
            dense[at] = values
            values, at = dense, None
    return values, at


def scatter(
    double[:, :] columns, const int32_t[::1] places, list values, list at
) -> None:
    """The way back from `gather`, into columns that are zero: columns[places, c] = values[c]; or,
    where at[c] is not None, columns[places[at[c]], c] = values[c], with ascending at[c]."""
    cdef int64_t k, c, n = places.shape[0], width = columns.shape[1]
    cdef int64_t[PER_LINE] done, lengths
    cdef (const double*)[PER_LINE] from_
    cdef (const int32_t*)[PER_LINE] numbers
    cdef const double[::1] one
    cdef const int32_t[::1] where
    check_places(columns, places)
    if len(values) != width or len(at) != width:
        raise ValueError("each column has arrays of its own")
    for c in range(width):
        one, where = values[c], at[c]
        done[c], lengths[c] = 0, one.shape[0]
        if lengths[c] != (n if where is None else where.shape[0]):
            raise ValueError("one place a value is needed")
        from_[c] = &one[0] if lengths[c] else NULL
        numbers[c] = NULL
        if where is not None and lengths[c]:
            numbers[c] = &where[0]
    with nogil:
        for k in range(n):
            for c in range(width):
                if done[c] < lengths[c] and (numbers[c] == NULL or numbers[c][done[c]] == k):
                    columns[places[k], c] = from_[c][done[c]]
                    done[c] += 1
    for c in range(width):
        if done[c] < lengths[c]:
            raise ValueError("places of values are not ascending")
