"""Whole numbers in few bytes, little-endian.

A code of 2 bits each, four to a byte from its low end, then the bytes of all numbers: code 0, 1, 2
and 3 stand for 0, 1, 2 and 4 bytes. The reader makes sure that PADDING bytes behind the end can
be read: numbers are loaded 4 bytes at a time.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

cdef extern from *:
    """
    #define LENGTH_OF(code) ((code) == 3 ? 4 : (code))
    #define MASK_OF(code) \
        ((code) == 3 ? 0xffffffff : (code) == 2 ? 0xffff : (code) == 1 ? 0xff : 0)
    #define FIRST(c) LENGTH_OF((c) & 3)
    #define SECOND(c) (FIRST(c) + LENGTH_OF((c) >> 2 & 3))
    #define THIRD(c) (SECOND(c) + LENGTH_OF((c) >> 4 & 3))
    #define QUAD(c) {{MASK_OF((c) & 3), MASK_OF((c) >> 2 & 3), MASK_OF((c) >> 4 & 3), \
                      MASK_OF((c) >> 6 & 3)}, \
                     {FIRST(c), SECOND(c), THIRD(c), THIRD(c) + LENGTH_OF((c) >> 6 & 3)}},
    #define FOUR(OF, c) OF(c) OF((c) + 1) OF((c) + 2) OF((c) + 3)
    #define SIXTEEN(OF, c) FOUR(OF, c) FOUR(OF, (c) + 4) FOUR(OF, (c) + 8) FOUR(OF, (c) + 12)
    #define PART(OF, c) \
        SIXTEEN(OF, c) SIXTEEN(OF, (c) + 16) SIXTEEN(OF, (c) + 32) SIXTEEN(OF, (c) + 48)
    #define EVERY(OF) PART(OF, 0) PART(OF, 64) PART(OF, 128) PART(OF, 192)
    typedef struct { unsigned int mask[4]; unsigned char end[4]; } Quad;
    static const Quad QUADS[256] = {EVERY(QUAD)};
    """
    ctypedef struct Quad:  # of a byte of codes: the bits of each number, and where it ends
        uint32_t mask[4]
        uint8_t end[4]
    const Quad QUADS[256]

cdef enum:
    PADDING = 32


cdef inline uint32_t load4(const uint8_t* p) noexcept nogil:
    cdef uint32_t found
    memcpy(&found, p, 4)
    return found


cdef inline int code_of(uint32_t number) noexcept nogil:
    return 0 if number == 0 else 1 if number < 1 << 8 else 2 if number < 1 << 16 else 3


cdef inline uint8_t* put_number(
    uint32_t number, int64_t k, uint8_t* codes, uint8_t* p
) noexcept nogil:
    """Write the number k of those that `codes` are of."""
    cdef int code = code_of(number)
    codes[k >> 2] = (codes[k >> 2] if k & 3 else 0) | <uint8_t> (code << 2 * (k & 3))
    memcpy(p, &number, QUADS[code].end[0])
    return p + QUADS[code].end[0]


cdef inline uint8_t* put_numbers(const uint32_t* numbers, int64_t n, uint8_t* out) noexcept nogil:
    """Write n numbers; they take at most (n + 3) / 4 + 4 n bytes. Returns the place behind them."""
    cdef uint8_t* codes = out
    cdef uint8_t* p = out + (n + 3) // 4
    cdef int64_t k
    for k in range(n):
        p = put_number(numbers[k], k, codes, p)
    return p


cdef inline const uint8_t* four_numbers(
    const uint8_t* p, uint8_t codes, uint32_t* out
) noexcept nogil:
    cdef const Quad* quad = &QUADS[codes]
    out[0] = load4(p) & quad.mask[0]
    out[1] = load4(p + quad.end[0]) & quad.mask[1]
    out[2] = load4(p + quad.end[1]) & quad.mask[2]
    out[3] = load4(p + quad.end[2]) & quad.mask[3]
    return p + quad.end[3]


cdef inline const uint8_t* get_numbers(
    const uint8_t* p, const uint8_t* end, int64_t n, uint32_t* out
) noexcept nogil:
    """Read n numbers; the place behind them, or NULL if they do not end before `end`."""
    cdef const uint8_t* codes = p
    cdef int64_t k
    cdef uint32_t rest[4]
    if end - p < (n + 3) // 4:
        return NULL
    p += (n + 3) // 4
    for k in range(0, n - 3, 4):
        if p > end:
            return NULL
        p = four_numbers(p, codes[k >> 2], out + k)
    if p <= end and n & 3:
        p = four_numbers(p, codes[n >> 2], rest)
        memcpy(out + n - (n & 3), rest, 4 * (n & 3))
    return p if p <= end else NULL
