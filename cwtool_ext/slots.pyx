"""Feature ids -> slots of the feature table.

An id below `direct` is its own slot; `seen` has a bit for each. A larger one gets the next free
slot, direct + k, when it first appears; `buckets` is an open-addressing hash from such ids to k + 1
(0: empty) and `keys` the way back from k to the id. So memory follows the features seen, whatever
the ids are.
"""

from cwtool_ext.decimal cimport trailing_zeros
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset


cdef enum:
    LATELY = 2048  # hashed ids that need not be looked for


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
