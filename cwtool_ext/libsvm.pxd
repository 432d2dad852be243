"""The careful part of the LIBSVM reader: single items of a line, and what is wrong with them."""

from libc.math cimport isinf
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memchr

from cwtool_ext.decimal cimport number

cdef enum:
    NO_FAULT = 0

cpdef enum:
    BAD_LABEL = 1
    INFINITE_LABEL
    MISSING_COLON
    BAD_INDEX
    ZERO_INDEX
    NEGATIVE_INDEX
    LARGE_INDEX
    DESCENDING
    DUPLICATE
    BAD_VALUE
    INFINITE_VALUE
    OVERFLOW
    BINARY
    BAD_WEIGHT
    INFINITE_WEIGHT
    NEGATIVE_WEIGHT

cdef enum:
    LAST_STORED = 2147483646  # stored indices run to 2^31 - 2; 2^31 - 1 is reserved


cdef inline bint is_blank(uint8_t c) noexcept nogil:
    return c == c" " or (9 <= c <= 13 and c != c"\n")


cdef inline bint ends_item(uint8_t c) noexcept nogil:
    """Blank, newline or `#`."""
    return c < 64 and 0x900003E00U >> c & 1


cdef inline const uint8_t* skip_blanks(const uint8_t* p) noexcept nogil:
    while is_blank(p[0]):
        p += 1
    return p


cdef inline bint names_infinity(const uint8_t* p, const uint8_t* end) noexcept nogil:
    """nan, inf or infinity, in any case and with any sign."""
    p += p[0] == c"-" or p[0] == c"+"
    return same_word(p, end, b"nan") or same_word(p, end, b"inf") or same_word(p, end, b"infinity")


cdef inline bint same_word(const uint8_t* p, const uint8_t* end, const char* word) noexcept nogil:
    while p < end and word[0] == (p[0] | 32):
        p += 1
        word += 1
    return p == end and word[0] == 0


cdef inline bint is_binary(const uint8_t* p, const uint8_t* end) noexcept nogil:
    while p < end:
        if p[0] < 32 or p[0] == 127:
            return True
        p += 1
    return False


cdef inline const uint8_t* item_end(const uint8_t* p) noexcept nogil:
    while not ends_item(p[0]):
        p += 1
    return p


cdef inline int careful_label(const uint8_t** at, double* label, double* weight) noexcept nogil:
    """Read any `label` or `label:weight`; its first fault, at the byte `at` then shows."""
    cdef const uint8_t* p = at[0]
    cdef const uint8_t* end = item_end(p)
    cdef const uint8_t* colon = <const uint8_t*> memchr(p, c":", end - p)
    cdef const uint8_t* label_end = end if colon == NULL else colon
    if is_binary(p, end):
        return BINARY
    if names_infinity(p, label_end) or (number(p, label) == label_end and isinf(label[0])):
        return INFINITE_LABEL
    if number(p, label) != label_end:
        return BAD_LABEL
    if colon != NULL:
        at[0] = p = colon + 1
        if number(p, weight) != end:
            return INFINITE_WEIGHT if names_infinity(p, end) else BAD_WEIGHT
        if isinf(weight[0]):
            return INFINITE_WEIGHT
        if weight[0] < 0.0:
            return NEGATIVE_WEIGHT
    at[0] = end
    return NO_FAULT


cdef inline int careful_pair(
    const uint8_t** at, int base, int64_t* previous, double* value
) noexcept nogil:
    """Read any `index:value`; its first fault from left to right, at the byte `at` then shows."""
    cdef const uint8_t* p = at[0]
    cdef const uint8_t* end = item_end(p)
    cdef inline bint negative = p[0] == c"-"
    cdef const uint8_t* colon
    cdef int64_t i = 0
    if is_binary(p, end):
        return BINARY
    colon = <const uint8_t*> memchr(p, c":", end - p)
    if colon == NULL:
        return MISSING_COLON
    p += negative
    if p == colon:
        return BAD_INDEX
    while p < colon:
        if not c"0" <= p[0] <= c"9":
            return BAD_INDEX
        if i <= LAST_STORED + base:  # what is greater stays so, however many digits follow
            i = 10 * i + (p[0] - c"0")
        p += 1
    if negative:
        return NEGATIVE_INDEX
    if i < base:
        return ZERO_INDEX
    if i > LAST_STORED + base:
        return LARGE_INDEX
    if i <= previous[0]:
        return DUPLICATE if i == previous[0] else DESCENDING
    at[0] = p = colon + 1
    if number(p, value) != end:
        return INFINITE_VALUE if names_infinity(p, end) else BAD_VALUE
    if isinf(value[0]):
        return OVERFLOW
    previous[0] = i
    at[0] = end
    return NO_FAULT
