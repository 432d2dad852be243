"""What happens to the rows of a block before they are learned, in place."""

from libc.math cimport INFINITY, fabs, floor, fmax, fmin, frexp, ldexp, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy


def take(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
         const int64_t[::1] numbers, const int64_t[::1] starts, int32_t[::1] out_indices,
         double[::1] out_values) -> None:
    """Copy the rows with these numbers; row k of the copy has its entries from starts[k] on."""
    cdef int64_t k, i, n, count = numbers.shape[0]
    cdef int64_t entries = min(indices.shape[0], values.shape[0])
    cdef int64_t room = min(out_indices.shape[0], out_values.shape[0])
    if starts.shape[0] < count:
        raise ValueError("starts must have a number for each row")
    for k in range(count):
        i = numbers[k]
        if not 0 <= i < indptr.shape[0] - 1:
            raise ValueError(f"there is no row {i}")
        n = indptr[i + 1] - indptr[i]
        if indptr[i] < 0 or indptr[i + 1] > entries or starts[k] < 0 or starts[k] + n > room:
            raise ValueError(f"row {i} does not fit")
    with nogil:
        for k in range(count):
            i = numbers[k]
            n = indptr[i + 1] - indptr[i]
            if n > 0:
                memcpy(&out_indices[starts[k]], &indices[indptr[i]], n * sizeof(int32_t))
                memcpy(&out_values[starts[k]], &values[indptr[i]], n * sizeof(double))


cdef double norm(const double[::1] values, int64_t start, int64_t stop) noexcept nogil:
    """||x||, by the largest entry when the plain sum of squares over- or underflows."""
    cdef double total = 0, big = 0, a
    cdef int64_t k
    for k in range(start, stop):
        total += values[k] * values[k]
    if 1e-280 < total < INFINITY:
        return sqrt(total)
    for k in range(start, stop):
        big = max(big, fabs(values[k]))
    if big == 0:
        return 0
    total = 0
    for k in range(start, stop):
        a = values[k] / big
        total += a * a
    return big * sqrt(total)


def normalize(const int64_t[::1] indptr, double[::1] values):
    """x / ||x|| for every row that is not zero."""
    cdef int64_t i, k
    cdef double length
    with nogil:
        for i in range(indptr.shape[0] - 1):
            length = norm(values, indptr[i], indptr[i + 1])
            if 0 < length < INFINITY:
                for k in range(indptr[i], indptr[i + 1]):
                    values[k] /= length


def append_column(int64_t[::1] indptr, int32_t[::1] indices, double[::1] values,
                  int32_t index, double value):
    """One more entry (index, value) at the end of every row; the arrays must have the room."""
    cdef int64_t i, k, n = indptr.shape[0] - 1
    if indices.shape[0] < indptr[n] + n or values.shape[0] < indptr[n] + n:
        raise ValueError("the arrays have no room for one more entry a row")
    with nogil:
        for i in range(n - 1, -1, -1):  # from the last row, so that nothing is overwritten
            indices[indptr[i + 1] + i] = index
            values[indptr[i + 1] + i] = value
            for k in range(indptr[i + 1] - 1, indptr[i] - 1, -1):
                indices[k + i] = indices[k]
                values[k + i] = values[k]
        for i in range(n + 1):
            indptr[i] += i


def fold(int64_t[::1] indptr, int32_t[::1] indices, double[::1] values, int bits):
    """Ids into [0, 2^bits): the bits above are folded in by exclusive or, so that ids that fit
    stay as they are. Entries that meet in a row are added. Returns the new number of entries."""
    cdef int32_t mask = <int32_t> ((1 << bits) - 1), j
    cdef int64_t i, k, start, stop, first, end = 0
    cdef bint rising
    if not 1 <= bits <= 30:
        raise ValueError("bits must be 1 to 30")
    with nogil:
        start = indptr[0]
        for i in range(indptr.shape[0] - 1):
            stop = indptr[i + 1]
            rising = True
            for k in range(start, stop):
                j = indices[k]
                while j > mask:
                    j = (j & mask) ^ (j >> bits)
                indices[k] = j
                rising &= k == start or indices[k - 1] < j
            if not rising and stop > start:
                heap_sort(&indices[start], &values[start], stop - start)
            first = end
            for k in range(start, stop):
                if end > first and indices[end - 1] == indices[k]:
                    values[end - 1] += values[k]
                else:
                    indices[end] = indices[k]
                    values[end] = values[k]
                    end += 1
            start = stop
            indptr[i + 1] = end
    return end


cdef void heap_sort(int32_t* ids, double* values, int64_t n) noexcept nogil:
    """Pairs by id; equal ids always in the same order, so that their sum is always the same."""
    cdef int64_t k
    for k in range(n // 2 - 1, -1, -1):
        sift(ids, values, k, n)
    for k in range(n - 1, 0, -1):
        swap(ids, values, 0, k)
        sift(ids, values, 0, k)


cdef inline void sift(int32_t* ids, double* values, int64_t k, int64_t n) noexcept nogil:
    cdef int64_t child = 2 * k + 1
    while child < n:
        if child + 1 < n and ids[child] < ids[child + 1]:
            child += 1
        if ids[k] >= ids[child]:
            return
        swap(ids, values, k, child)
        k, child = child, 2 * child + 1


cdef inline void swap(int32_t* ids, double* values, int64_t a, int64_t b) noexcept nogil:
    ids[a], ids[b] = ids[b], ids[a]
    values[a], values[b] = values[b], values[a]


cdef inline double rough_log2(double x) noexcept nogil:
    """log2 by straight lines between the powers of two: no library's last bit in it."""
    cdef int e
    cdef double f = frexp(x, &e)  # x = f 2^e, 1/2 <= f < 1
    return e + 2 * f - 2


cdef inline double rough_exp2(double t) noexcept nogil:
    """The inverse of rough_log2."""
    cdef double e = floor(t)
    return ldexp(1 + (t - e), <int> e)


cdef double scale_of(double n_rows, double total) noexcept nogil:
    """2^(-t/2), t the mean log; by halves, since 2^t may be past the range of a double."""
    cdef double t, half
    if n_rows == 0:
        return 1
    t = total / n_rows
    half = floor(t / 2)
    return ldexp(1 / sqrt(rough_exp2(t - 2 * half)), <int> fmin(fmax(-half, -1000), 1000))


def row_scale(double n_rows, double total) -> float:
    """1 / root of the (rough) geometric mean of squared norms."""
    return scale_of(n_rows, total)


def warm_up(
    const int64_t[::1] indptr, double[::1] values, int64_t limit, double[::1] seen,
    const double[::1] weight=None,
) -> int:
    """Multiply each row by 1 / root of the geometric mean squared norm of the rows up to and
    including it, while fewer than `limit` rows with entries have been seen; `seen` is (rows, sum
    of log2 squared norms) and goes on from call to call. Rows of weight 0 are multiplied and not
    taken into account. Returns how many rows were handled."""
    cdef int64_t i = 0, k
    cdef double length, scale
    cdef bint weighted = weight is not None
    if weighted and weight.shape[0] < indptr.shape[0] - 1:
        raise ValueError("weight must have one number for each row")
    with nogil:
        while i < indptr.shape[0] - 1 and seen[0] < limit:
            length = norm(values, indptr[i], indptr[i + 1])
            if 0 < length < INFINITY and not (weighted and weight[i] == 0.0):
                seen[0] += 1
                seen[1] += 2 * rough_log2(length)
            scale = scale_of(seen[0], seen[1])
            for k in range(indptr[i], indptr[i + 1]):
                values[k] *= scale
            i += 1
    return i


cdef extern from *:
    """
    #define K0 0x9E3779B97F4A7C15ULL
    #define K1 0xC2B2AE3D27D4EB4FULL
    """
    const uint64_t K0, K1
    void prefetch "__builtin_prefetch" (const void*) noexcept nogil


cdef enum:
    ENDS = 2  # entries at either end of a row that the upper half of its hash is made of
    AHEAD = 8  # rows that memory is asked for before they are looked at


cdef inline uint64_t bits(double x) noexcept nogil:
    cdef uint64_t found
    memcpy(&found, &x, 8)
    return found


cdef inline uint64_t mixed(uint64_t h, uint64_t w) noexcept nogil:
    h = (h ^ w) * K0
    return h ^ h >> 32


cdef inline uint64_t summed(const int32_t* ids, const double* values, int64_t start,
                            int64_t stop) noexcept nogil:
    """K1 times the sum over the entries of mix(value bits + id K1), whose terms do not wait for one
    another. They are not linear in the id: otherwise rows with the same number and sum of ids would
    be alike."""
    cdef uint64_t h = 0, w
    cdef int64_t k
    for k in range(start, stop):
        w = bits(values[k])
        w = ((w >> 32 | w << 32) + <uint64_t> (ids[k] + 1) * K1) * K0
        h += w ^ w >> 29
    return h * K1


def hashes(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
           const double[::1] labels, uint64_t[::1] out, const double[::1] weights=None,
           int level=0) -> int:
    """The hashes below 2^(64 - level) of the rows that do not weigh 0 (`weights` None: all 1).
    Returns how many there are.

    The upper half of a hash is that of the label, the weight, the number of entries and the first
    and last entries; the lower half is that of all entries. So most rows that a sample does not
    keep are passed over without a look at all their entries.
    """
    cdef int64_t i, start, stop, middle, n = indptr.shape[0] - 1, found = 0
    cdef uint64_t h
    cdef bint weighted = weights is not None
    cdef int shift = 64 - min(level, 32)
    if labels.shape[0] < n or out.shape[0] < n or (weighted and weights.shape[0] < n):
        raise ValueError("labels, weights and hashes have one number a row")
    with nogil:
        for i in range(n):
            stop = indptr[min(i + AHEAD, n)]
            prefetch(&indices[0] + stop)
            prefetch(&values[0] + stop)
            if weighted and weights[i] == 0.0:
                continue
            start, stop = indptr[i], indptr[i + 1]
            middle = min(start + ENDS, stop)
            h = summed(&indices[0], &values[0], start, middle)
            h += summed(&indices[0], &values[0], max(middle, stop - ENDS), stop)
            h = mixed(h, bits(labels[i]))
            h = mixed(h, bits(weights[i] if weighted else 1.0))
            h = mixed(h, <uint64_t> (stop - start)) * K1
            h ^= h >> 32
            if level > 0 and h >> shift:
                continue
            h = h >> 32 << 32 | mixed(summed(&indices[0], &values[0], start, stop), h) * K1 >> 32
            out[found] = h
            found += 1
    return found
