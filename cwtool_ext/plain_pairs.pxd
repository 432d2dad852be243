"""Pairs `index:value` of LIBSVM text, one after the other, with numbers of any length."""

from libc.math cimport isinf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from cwtool_ext.decimal cimport (
    EXACT, EXACT_TENS, digits, eight_digits, load8, non_digits, number, rounded, trailing_zeros,
)
from cwtool_ext.libsvm cimport LAST_STORED, ends_item

cdef extern from * nogil:
    bint likely(bint condition)
    bint unlikely(bint condition)


cdef inline bint nonzero(double x) noexcept nogil:
    """x != 0 for a number: all bits but the sign."""
    cdef uint64_t bits
    memcpy(&bits, &x, 8)
    return bits << 1 != 0


cdef inline const uint8_t* plain_pairs(
    const uint8_t* p,
    int64_t base,
    int64_t* previous,
    int32_t* indices,
    double* values,
    int64_t* nnz,
    int64_t limit,
) noexcept nogil:
    """Store up to `limit` pairs written ` index:value`, before the first with anything unusual; the
    place behind them."""
    cdef const uint8_t* v  # the value
    cdef const uint8_t* end
    cdef uint64_t word, stops, w
    cdef unsigned int bit
    cdef int64_t index, places, last = previous[0], n = nnz[0]
    cdef double x, any_x  # two, so that x, whose address is not taken, may live in a register
    while limit > 0:
        word = load8(p + 1)
        stops = non_digits(word)
        if likely(stops != 0):
            bit = trailing_zeros(stops)
            v = p + 2 + (bit >> 3)
            index = <int64_t> eight_digits(word << (63 - bit) << 8)
            if unlikely(bit == 7):
                break
        elif p[0] == c" ":
            w = 0
            v = digits(p + 1, &w) + 1
            index = <int64_t> w
            if v - p > 12 or index - base > LAST_STORED:
                break
        else:
            break
        if unlikely(p[0] != c" " or (v - 1)[0] != c":" or index <= last):
            break
        w = v[0] - c"0"
        if ends_item(v[1]):  # one digit, most often `1`
            if unlikely(w > 9):
                break
            x = <double> <int64_t> w
            end = v + 1
        elif likely(v[1] == c"." and w <= 9 and ends_item((end := digits(v + 2, &w))[0])):
            places = end - v - 2
            if likely(w <= EXACT and places < 19):
                x = <double> <int64_t> w / EXACT_TENS[places]
            else:
                x = rounded(v, places + 1, w, -places)
        else:
            end = number(v, &any_x)
            if end == NULL or not ends_item(end[0]) or isinf(any_x):
                break
            x = any_x
        indices[n] = <int32_t> (index - base)
        values[n] = x
        n += nonzero(x)
        last = index
        p = end
        limit -= 1
    previous[0] = last
    nnz[0] = n
    return p
