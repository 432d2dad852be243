"""Feature ids -> slots of the feature table.

An id below `direct` is its own slot; `seen` has a bit for each. A larger one gets the next free
slot, direct + k, when it first appears; `buckets` is an open-addressing hash from such ids to k + 1
(0: empty) and `keys` the way back from k to the id. So memory follows the features seen, whatever
the ids are.
"""

import numpy as np

from cwtool_ext.decimal cimport trailing_zeros
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset


cdef enum:
    PER_LINE = 8  # doubles in a cache line
    NEAR = 256  # places whose lines of the table stay in the nearest cache
    LATELY = 2048  # hashed ids that need not be looked for

LINE = PER_LINE


cdef extern from *:
    """
    #define cwtool_rarely(condition) __builtin_expect((condition), 0)
    """
    bint rarely "cwtool_rarely"(bint condition) noexcept nogil


cdef inline int64_t find(int32_t id, const int32_t[::1] keys, const int32_t[::1] buckets,
                         int shift, uint32_t mask) noexcept nogil:
    """The bucket that holds `id`, or the empty one where it belongs."""
    cdef uint32_t at = (<uint32_t> id * <uint32_t> 2654435769u) >> shift
    while buckets[at] != 0 and keys[buckets[at] - 1] != id:
        at = (at + 1) & mask
    return at


cdef int shift_of(int64_t n_buckets) except -1:
    cdef int bits = 0
    while (<int64_t> 1 << bits) < n_buckets:
        bits += 1
    if n_buckets < 2 or (<int64_t> 1 << bits) != n_buckets:
        raise ValueError("the number of buckets must be a power of two, at least 2")
    return 32 - bits


def rehash(const int32_t[::1] keys, int64_t count, int32_t[::1] buckets):
    """Fill empty buckets with the first `count` keys."""
    cdef int shift = shift_of(buckets.shape[0])
    cdef uint32_t mask = <uint32_t> (buckets.shape[0] - 1)
    cdef int64_t k
    with nogil:
        for k in range(count):
            buckets[find(keys[k], keys, buckets, shift, mask)] = <int32_t> (k + 1)


def observe(const int32_t[::1] ids, int64_t start, int64_t direct, uint64_t[::1] seen,
            int32_t[::1] keys, int32_t[::1] buckets, int64_t count, int32_t[::1] slots):
    """The slots of ids[start:], giving new ones to new ids as far as `keys` and `buckets` have
    room. If `slots` is empty, only ids that are their own slots are passed over.
    Returns (entries done, new direct ids, new count of keys)."""
    cdef int shift = shift_of(buckets.shape[0])
    cdef uint32_t mask = <uint32_t> (buckets.shape[0] - 1), bound = <uint32_t> direct, id
    cdef int64_t k, at, fresh = 0, done = ids.shape[0]
    cdef int64_t room = min(keys.shape[0], <int64_t> buckets.shape[0] - 1)
    cdef bint mapped = slots.shape[0] > 0
    cdef uint64_t[LATELY] lately  # hashed ids with their slots, each at its last bits
    if not 0 <= direct <= seen.shape[0] * 64 or direct > 1 << 31 or start < 0:
        raise ValueError("there must be a bit for every direct id")
    if mapped and slots.shape[0] != ids.shape[0]:
        raise ValueError("one slot an id is needed")
    cdef uint64_t* bits = &seen[0] if seen.shape[0] else NULL
    with nogil:
        memset(lately, 255, sizeof(lately))  # only -1 has all bits
        lately[LATELY - 1] = 0  # where -1 would be, which is refused below
        for k in range(start, start if mapped else ids.shape[0]):
            id = <uint32_t> ids[k]
            if id >= bound:
                done = k
                break
            if rarely(not (bits[id >> 6] >> (id & 63)) & 1):  # reading alone is cheaper
                bits[id >> 6] |= <uint64_t> 1 << (id & 63)
                fresh += 1
        for k in range(start, ids.shape[0] if mapped else start):
            id = <uint32_t> ids[k]
            if id < bound:
                if rarely(not (bits[id >> 6] >> (id & 63)) & 1):
                    bits[id >> 6] |= <uint64_t> 1 << (id & 63)
                    fresh += 1
                slots[k] = <int32_t> id
                continue
            if lately[id % LATELY] >> 32 == id:
                slots[k] = <int32_t> lately[id % LATELY]
                continue
            at = find(<int32_t> id, keys, buckets, shift, mask)
            if buckets[at] == 0:
                if count == room or id >> 31:
                    done = k
                    break
                keys[count] = <int32_t> id
                count += 1
                buckets[at] = <int32_t> count
            slots[k] = <int32_t> (direct + buckets[at] - 1)
            lately[id % LATELY] = <uint64_t> id << 32 | <uint32_t> slots[k]
    if done < ids.shape[0] and ids[done] < 0:
        raise ValueError("ids are not negative")
    return done, fresh, count


def lookup(const int64_t[::1] indptr, const int32_t[::1] ids, const double[::1] values,
           int64_t direct, const uint64_t[::1] seen, const int32_t[::1] keys,
           const int32_t[::1] buckets, int64_t[::1] starts, int32_t[::1] slots,
           double[::1] kept, double[::1] unknown):
    """The rows by slots (`starts`, `slots`, `kept`) without the entries whose feature was never
    seen; unknown[i] is the sum of squares of what row i lost. Returns the number of entries left.
    """
    cdef int shift = shift_of(buckets.shape[0])
    cdef uint32_t mask = <uint32_t> (buckets.shape[0] - 1)
    cdef int64_t i, k, at, slot, end = 0, n = indptr.shape[0] - 1
    cdef int32_t id
    if starts.shape[0] != n + 1 or unknown.shape[0] != n:
        raise ValueError("one place a row is needed")
    if min(slots.shape[0], kept.shape[0], ids.shape[0], values.shape[0]) < indptr[n]:
        raise ValueError("one place an entry is needed")
    with nogil:
        starts[0] = 0
        for i in range(n):
            unknown[i] = 0
            for k in range(indptr[i], indptr[i + 1]):
                id = ids[k]
                if id < direct:
                    slot = id if seen[id >> 6] >> (id & 63) & 1 else -1
                else:
                    at = find(id, keys, buckets, shift, mask)
                    slot = direct + buckets[at] - 1 if buckets[at] else -1
                if slot < 0:
                    unknown[i] += values[k] * values[k]
                    continue
                slots[end] = <int32_t> slot
                kept[end] = values[k]
                end += 1
            starts[i + 1] = end
    return end


def members(const uint64_t[::1] seen, int32_t[::1] ids):
    """The ids whose bits are set, ascending; `ids` has room for just them."""
    cdef int64_t word, n = 0, room = ids.shape[0]
    cdef uint64_t bits
    with nogil:
        for word in range(seen.shape[0]):
            if n == room:  # few ids, in a long array
                break
            bits = seen[word]
            while bits:
                if n < room:
                    ids[n] = <int32_t> (64 * word + trailing_zeros(bits))
                bits &= bits - 1
                n += 1
    if n != room:
        raise ValueError(f"there are {n} ids, and room for {room}")


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


def positions(const int32_t[::1] ids, const int32_t[::1] among, int64_t[::1] out):
    """out[k] is the place of ids[k] in `among`, or -1; both are ascending."""
    cdef int64_t k, at = 0, n = among.shape[0]
    if out.shape[0] != ids.shape[0]:
        raise ValueError("one place an id is needed")
    with nogil:
        for k in range(ids.shape[0]):
            while at < n and among[at] < ids[k]:
                at += 1
            out[k] = at if at < n and among[at] == ids[k] else -1
