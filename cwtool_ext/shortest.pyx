"""Doubles as the shortest decimal text that is read as the same double, byte for byte what Python's
repr gives, and lines of them.

Giulietti, "The Schubfach way to render doubles", 2020. A double v = c 2^q is what is read for all
reals of an interval around it, of the length 2^q (or 3/4 2^q if c is 2^52, the least one). Its ends

    (c - 1/2) 2^q   or, if c is 2^52,   (c - 1/4) 2^q,     and     (c + 1/2) 2^q

belong to it if c is even. With the largest k for which 10^k is not longer than the interval, it
holds one or more multiples of 10^k, of which the nearest to v is taken, and one multiple of
10^(k+1) or none; if there is one, it has a digit less and is taken. To tell what is inside, ends
and v are multiplied by 4 10^-k in 128 bits and rounded to an odd number where anything is cut off.
"""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.unicode cimport PyUnicode_DecodeASCII
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memmove, memset

cdef extern from * nogil:
    ctypedef unsigned long long uint128_t "unsigned __int128"

cdef enum:
    LEAST_POWER = -292  # 10^-k of the largest doubles
    GREATEST_POWER = 324  # and of the least
    DIGITS = 20  # of a whole number, or 19 and a sign

# the leading 128 bits of 10^e, rounded up: high, low
cdef uint64_t tens[2 * (GREATEST_POWER - LEAST_POWER + 1)]


def _power_of_ten(e):
    above, below = 10 ** max(0, e), 10 ** max(0, -e)
    shift = 128 - above.bit_length() + below.bit_length()
    found = -(-(above << shift) // below) if shift >= 0 else -(-above // (below << -shift))
    return found if found < 1 << 128 else -(-found // 2)


for e in range(LEAST_POWER, GREATEST_POWER + 1):
    power = _power_of_ten(e)
    tens[2 * (e - LEAST_POWER)] = power >> 64
    tens[2 * (e - LEAST_POWER) + 1] = power & 0xFFFFFFFFFFFFFFFF


cdef inline uint64_t rounded_to_odd(const uint64_t* g, uint64_t c) noexcept nogil:
    """g c / 2^128, cut off, with the last bit set if it was not exact."""
    cdef uint128_t product = <uint128_t> g[0] * c + (<uint128_t> g[1] * c >> 64)
    return <uint64_t> (product >> 64) | (<uint64_t> product > 1)


cdef uint64_t shortest(uint64_t c, int q, bint least, int* k) noexcept nogil:
    """The d of the shortest d 10^k; `least`: the double below is nearer than the one above."""
    cdef bint odd = c & 1, below, above
    cdef int h
    cdef uint64_t left, v, right, s, t
    cdef const uint64_t* g
    k[0] = (q * 1262611 - (524031 if least else 0)) >> 22  # log10(2), log10(4/3), times 2^22
    h = q + ((-k[0] * 1741647) >> 19) + 1  # log2(10) times 2^19
    g = tens + 2 * (-k[0] - LEAST_POWER)
    left = rounded_to_odd(g, (4 * c - (1 if least else 2)) << h) + odd
    v = rounded_to_odd(g, 4 * c << h)
    right = rounded_to_odd(g, (4 * c + 2) << h) - odd
    s = v >> 2
    if s >= 10:
        t = s // 10
        below, above = left <= 40 * t, 40 * t + 40 <= right
        if below != above:
            k[0] += 1
            return t + above
    below, above = left <= 4 * s, 4 * s + 4 <= right
    if below != above:
        return s + above
    above = v > 4 * s + 2 or (v == 4 * s + 2 and s & 1 == 1)  # halfway goes to the even one
    return s + above


cdef char* put_whole(char* out, uint64_t n, int least) noexcept nogil:
    """The digits of n, at least so many; the place behind them."""
    cdef char[DIGITS] reversed_
    cdef int k = 0
    while n or k < least:
        reversed_[k] = <char> (c"0" + n % 10)
        n //= 10
        k += 1
    while k:
        k -= 1
        out[0] = reversed_[k]
        out += 1
    return out


cdef char* put_finite(char* out, uint64_t bits) noexcept nogil:
    """The positive number with these bits; the place behind it."""
    cdef uint64_t c = bits & 0xFFFFFFFFFFFFFU
    cdef int exponent = <int> (bits >> 52), k, n, point
    cdef char* end
    if exponent:
        c = shortest(c | 0x10000000000000U, exponent - 1075, c == 0 and exponent > 1, &k)
    else:
        c = shortest(c, -1074, False, &k)
    while c % 10 == 0:
        c //= 10
        k += 1
    end = put_whole(out, c, 1)
    n = <int> (end - out)
    point = n + k  # digits before the decimal point
    if 0 < point <= 16:
        if point >= n:
            memset(end, c"0", point - n)
            out[point + 1] = c"0"
            end = out + point + 2
        else:
            memmove(out + point + 1, out + point, n - point)
            end += 1
        out[point] = c"."
        return end
    if -4 < point <= 0:
        memmove(out + 2 - point, out, n)
        memset(out, c"0", 2 - point)
        out[1] = c"."
        return end + 2 - point
    if n > 1:
        memmove(out + 2, out + 1, n - 1)
        out[1] = c"."
        end += 1
    end[0], end[1] = c"e", c"-" if point < 1 else c"+"
    return put_whole(end + 2, point - 1 if point > 0 else 1 - point, 2)


cdef char* put_double(char* out, double x) noexcept nogil:
    """The text of x; the place behind it."""
    cdef uint64_t bits
    memcpy(&bits, &x, 8)
    if x != x:
        memcpy(out, b"nan", 3)
        return out + 3
    if bits >> 63:
        out[0] = c"-"
        out += 1
        bits &= 0x7FFFFFFFFFFFFFFFU
    if bits == 0 or bits >> 52 == 2047:
        memcpy(out, b"0.0" if bits == 0 else b"inf", 3)
        return out + 3
    return put_finite(out, bits)


cdef inline char* put_mark(char* out, bytes mark) noexcept:
    memcpy(out, <const char*> mark, len(mark))
    return out + len(mark)


def lines(
    const int64_t[:, ::1] whole, const double[:, ::1] values, bytes start, bytes then,
    bytes between, bytes end,
) -> str:
    """A line for each row of both tables: `start`, its whole numbers with `between` between them,
    `then`, its values in the same way, `end`. The marks are ASCII."""
    cdef Py_ssize_t n = values.shape[0], i, j, size
    if whole.shape[0] != n:
        raise ValueError("the tables have different numbers of rows")
    size = len(start) + len(then) + len(end) + whole.shape[1] * (DIGITS + len(between))
    size += values.shape[1] * (LONGEST + len(between))
    cdef char* buffer = <char*> PyMem_Malloc(n * size + 1)
    cdef char* out = buffer
    if buffer == NULL:
        raise MemoryError
    try:
        for i in range(n):
            out = put_mark(out, start)
            for j in range(whole.shape[1]):
                if j:
                    out = put_mark(out, between)
                if whole[i, j] < 0:
                    raise ValueError("a whole number is negative")
                out = put_whole(out, <uint64_t> whole[i, j], 1)
            out = put_mark(out, then)
            for j in range(values.shape[1]):
                if j:
                    out = put_mark(out, between)
                out = put_double(out, values[i, j])
            out = put_mark(out, end)
        return PyUnicode_DecodeASCII(buffer, out - buffer, NULL)
    finally:
        PyMem_Free(buffer)
