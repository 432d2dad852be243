# cython: language_level=3
"""Decimal text to the nearest double, bit for bit what Python's float() gives.

A number is w * 10^q with w an integer of up to 19 digits. In this order:

1. w <= 2^53 and |q| <= 22: both are exact doubles, so one operation rounds once (Clinger 1990).
2. w times a 128-bit power of five (Eisel and Lemire; Lemire, "Number parsing at a gigabyte per
   second", 2021). More than 19 digits: if w and w + 1 round alike, so does all between them.
3. strtod in the "C" locale, for the few that are left.

Texts are read eight bytes at a time, as little-endian words: eight bytes behind any number must be
readable, and a byte that cannot be part of a number (a newline, say) must end the last one.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cdef extern from * nogil:
    """
    #include <locale.h>
    #if defined(__APPLE__)
    #include <xlocale.h>
    #endif
    #include <stdlib.h>
    static const uint64_t TENS[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    static const double EXACT_TENS[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    """
    const uint64_t EXACT "(1ULL << 53)"  # doubles hold every integer up to here
    const uint64_t* TENS
    const double* EXACT_TENS
    ctypedef unsigned long long uint128_t "unsigned __int128"
    ctypedef void* locale_t
    double strtod_l(const char* text, char** end, locale_t locale)
    unsigned int trailing_zeros "__builtin_ctzll"(uint64_t x)
    int leading_zeros "__builtin_clzll"(uint64_t x)
    bint unlikely(bint condition)

cdef enum:
    LEAST_POWER = -342  # 2^64 * 10^-343 is less than half the least subnormal
    GREATEST_POWER = 308

cdef locale_t C_LOCALE
cdef const uint64_t* FIVES  # 5^q for q = LEAST_POWER.., normalised to 128 bits: high, low


cdef inline uint64_t load8(const uint8_t* p) noexcept nogil:
    """Eight bytes, each xor '0': digits become 0..9."""
    cdef uint64_t word
    memcpy(&word, p, 8)
    return word ^ 0x3030303030303030U


cdef inline uint64_t non_digits(uint64_t word) noexcept nogil:
    """High bit set in the first byte that is no digit; above it, anything."""
    return (word + 0x7676767676767676U | word) & 0x8080808080808080U


cdef inline uint64_t eight_digits(uint64_t word) noexcept nogil:
    """d0 d1 .. d7, first digit lowest: neighbours join to 2, 4, 8 digits (10 * 2^8 + 1, ...)."""
    word = word * 0xA01U >> 8 & 0x00FF00FF00FF00FFU
    word = word * 0x640001U >> 16 & 0x0000FFFF0000FFFFU
    return word * 0x271000000001U >> 32


cdef inline const uint8_t* digits(const uint8_t* p, uint64_t* w) noexcept nogil:
    """Append the digits at p to w, modulo 2^64; the place of the first non-digit."""
    cdef uint64_t word = load8(p)
    cdef uint64_t stops = non_digits(word)
    cdef unsigned int bit
    while unlikely(stops == 0):
        w[0] = w[0] * 100000000U + eight_digits(word)
        p += 8
        word = load8(p)
        stops = non_digits(word)
    bit = trailing_zeros(stops)
    # Drop the first stop and all behind it; two shifts, as one by 64 bits would be undefined.
    w[0] = w[0] * TENS[bit >> 3] + eight_digits(word << (63 - bit) << 8)
    return p + (bit >> 3)


cdef inline bint nearest(uint64_t w, int64_t q, double* x) noexcept nogil:
    """x = w * 10^q by a 64 x 128 bit product; False where this cannot decide the rounding."""
    cdef int zeros, upper
    cdef int64_t exponent
    cdef uint64_t high, low, mantissa, bits
    cdef uint128_t product
    cdef const uint64_t* five
    if w == 0 or q < LEAST_POWER:
        x[0] = 0.0
        return True
    if q > GREATEST_POWER:
        x[0] = 1e300 * 1e300
        return True
    five = FIVES + 2 * (q - LEAST_POWER)
    zeros = leading_zeros(w)
    w <<= zeros
    product = <uint128_t> w * five[0]
    if (<uint64_t> (product >> 64) & 0x1FF) == 0x1FF:  # a carry from below could reach the result
        product += <uint128_t> w * five[1] >> 64
    high = <uint64_t> (product >> 64)
    low = <uint64_t> product
    if low == <uint64_t> -1 and not -27 <= q <= 55:
        return False
    upper = <int> (high >> 63)
    mantissa = high >> (upper + 9)  # 53 bits and one to round by
    exponent = (217706 * q >> 16) + 1086 + upper - zeros  # 217706 / 2^16 = log2(10)
    if exponent <= 0:  # subnormal
        return False
    # Halfway between two doubles is possible only for these q, and goes to the even one.
    if low <= 1 and -4 <= q <= 23 and mantissa & 3 == 1 and mantissa << (upper + 9) == high:
        mantissa -= 1
    mantissa = (mantissa + (mantissa & 1)) >> 1
    if mantissa >> 53:
        mantissa >>= 1
        exponent += 1
    bits = (mantissa & 0xFFFFFFFFFFFFFU) | <uint64_t> exponent << 52
    if exponent >= 2047:
        bits = 0x7FF0000000000000U
    memcpy(x, &bits, 8)
    return True


cdef inline double any_length(
    const uint8_t* p, int64_t count, uint64_t w, int64_t q
) noexcept nogil:
    """The unsigned number at p: `count` digits, read as w modulo 2^64, times 10^q."""
    cdef const uint8_t* start = p
    cdef double x, above
    cdef bint sure
    while p[0] == c"0" or p[0] == c".":
        count -= p[0] == c"0"
        p += 1
    if count <= 19:
        if nearest(w, q, &x):
            return x
    else:
        q += count - 19
        w = 0
        count = 19
        while count:
            if p[0] != c".":
                w = w * 10 + (p[0] - c"0")
                count -= 1
            p += 1
        sure = nearest(w, q, &x) and nearest(w + 1, q, &above)
        if sure and x == above:
            return x
    return strtod_l(<const char*> start, NULL, C_LOCALE)


cdef inline const uint8_t* exponent_part(const uint8_t* p, int64_t* q) noexcept nogil:
    """Add the exponent behind an `e` to q; NULL if there is none."""
    cdef bint negative = p[0] == c"-"
    cdef int64_t e = 0
    p += negative or p[0] == c"+"
    if not c"0" <= p[0] <= c"9":
        return NULL
    while c"0" <= p[0] <= c"9":
        if e < 0x4000000000000LL:  # beyond any count of digits that could balance it
            e = 10 * e + (p[0] - c"0")
        p += 1
    q[0] += -e if negative else e
    return p


cdef inline double rounded(
    const uint8_t* start, int64_t count, uint64_t w, int64_t q
) noexcept nogil:
    """The unsigned number at start: `count` digits, read as w modulo 2^64, times 10^q."""
    cdef double x
    if count <= 19:
        if w <= EXACT and -22 <= q <= 22:
            x = <double> <int64_t> w
            return x / EXACT_TENS[-q] if q < 0 else x * EXACT_TENS[q]
        if nearest(w, q, &x):
            return x
    return any_length(start, count, w, q)


cdef inline const uint8_t* number(const uint8_t* p, double* x) noexcept nogil:
    """Read [+-] digits [. digits] [e [+-] digits], at least one digit before the e.

    The place behind it, or NULL; x is infinite if the number is too large for a double.
    """
    cdef bint negative = p[0] == c"-"
    cdef const uint8_t* start
    cdef const uint8_t* point
    cdef uint64_t w = 0
    cdef int64_t count, q = 0
    p += negative or p[0] == c"+"
    start = p
    p = digits(p, &w)
    count = p - start
    if p[0] == c".":
        point = p
        p = digits(point + 1, &w)
        q = point + 1 - p
        count -= q
    if count == 0:
        return NULL
    if p[0] | 32 == c"e":
        p = exponent_part(p + 1, &q)
        if p == NULL:
            return NULL
    x[0] = rounded(start, count, w, q)
    if negative:
        x[0] = -x[0]
    return p
