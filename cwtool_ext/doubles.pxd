"""Doubles in few bytes, little-endian.

    doubles   form: 1 byte, base: 8 bytes, m: 4 bytes. All are `base` but m of them. What these are
              follows in one of the forms
                  DOUBLES   8 bytes each
                  FLOATS    4 bytes each, where that loses nothing
                  TABLE     t: 4 bytes, t doubles, and the place of each in this table: 1 byte each
                            if t <= 256, else 2
              and then, unless m is the number of all, numbers (`numbers.pxd`): how many are `base`
              before each of them, since the one before.

Doubles are told apart by their bits, so that -0 stays what it is.
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from cwtool_ext.ascending cimport SPARE, fill, get_ascending
from cwtool_ext.numbers cimport load4, put_numbers

cdef enum:
    DOUBLES = 0
    FLOATS = 1
    TABLE = 2

cdef enum:
    MOST = 65536  # doubles in a table
    DOUBLES_HEAD = 13
    AT_A_TIME = 256  # of those that are not `base`
    LAST_PLACE = 2147483646


cdef inline uint64_t bits(double x) noexcept nogil:
    cdef uint64_t found
    memcpy(&found, &x, 8)
    return found


cdef struct Table:
    double* found  # the different doubles, in the order of their first places
    int32_t* slots  # of a hash table with open addresses: 1 + the place in `found`, 0: free
    uint64_t mask
    int64_t size


cdef inline int64_t place_of(Table* table, double x) noexcept nogil:
    """The place of x in the table, which takes it in if there is room; MOST if there is none."""
    cdef uint64_t slot = bits(x) * 0x9E3779B97F4A7C15ULL >> 40 & table.mask
    while table.slots[slot]:
        if bits(table.found[table.slots[slot] - 1]) == bits(x):
            return table.slots[slot] - 1
        slot = slot + 1 & table.mask
    if table.size == MOST:
        return MOST
    table.found[table.size] = x
    table.size += 1
    table.slots[slot] = <int32_t> table.size
    return table.size - 1


cdef inline double majority(const double* x, int64_t n) noexcept nogil:
    """The double that more than half of these are, if there is one: pairs of different ones are
    struck out, and it is left over."""
    cdef double found = 0
    cdef int64_t k, left = 0
    for k in range(n):
        if left == 0:
            found = x[k]
        left += 1 if bits(x[k]) == bits(found) else -1
    return found


cdef inline uint8_t* put_items(
    const double* x, int64_t n, uint8_t* form, uint8_t* out
) noexcept nogil:
    """Write n doubles in the shortest form; NULL if there is no memory to find it."""
    cdef Table table
    cdef int64_t k, width, place = 0
    cdef uint16_t short_place
    cdef float single
    cdef bint floats = True
    table.mask, table.size = 2 * MOST - 1, 0
    table.found = <double*> malloc(MOST * sizeof(double))
    table.slots = <int32_t*> calloc(2 * MOST, sizeof(int32_t))
    if table.found == NULL or table.slots == NULL:
        free(table.found)
        free(table.slots)
        return NULL
    for k in range(n):
        floats = floats and bits(<double> <float> x[k]) == bits(x[k])
        if place != MOST:
            place = place_of(&table, x[k])
    width = 1 if table.size <= 256 else 2
    if place != MOST and 4 + 8 * table.size + width * n < (4 if floats else 8) * n:
        form[0] = TABLE
        memcpy(out, &table.size, 4)
        memcpy(out + 4, table.found, 8 * table.size)
        out += 4 + 8 * table.size
        for k in range(n):
            short_place = <uint16_t> place_of(&table, x[k])
            memcpy(out, &short_place, width)
            out += width
    elif floats:
        form[0] = FLOATS
        for k in range(n):
            single = <float> x[k]
            memcpy(out, &single, 4)
            out += 4
    else:
        form[0] = DOUBLES
        memcpy(out, x, 8 * n)
        out += 8 * n
    free(table.found)
    free(table.slots)
    return out


cdef inline uint8_t* put_doubles(const double* x, int64_t n, uint8_t* out) noexcept nogil:
    """Write n doubles; they take at most DOUBLES_HEAD + 8 n bytes. Returns the place behind them,
    or NULL if there is no memory to work in."""
    cdef double base = majority(x, n)
    cdef int64_t k, since = 0
    cdef uint32_t m = 0
    cdef uint32_t* gaps
    cdef double* others
    cdef uint8_t* end
    for k in range(n):
        m += bits(x[k]) != bits(base)
    if 2 * <int64_t> m >= n:
        m = <uint32_t> n
    memcpy(out + 1, &base, 8)
    memcpy(out + 9, &m, 4)
    if m == n:
        return put_items(x, n, out, out + DOUBLES_HEAD)
    gaps = <uint32_t*> malloc(4 * <size_t> m + 4)
    others = <double*> malloc(8 * <size_t> m + 8)
    if gaps == NULL or others == NULL:
        free(gaps)
        free(others)
        return NULL
    m = 0
    for k in range(n):
        if bits(x[k]) == bits(base):
            since += 1
        else:
            gaps[m], others[m] = <uint32_t> since, x[k]
            m, since = m + 1, 0
    end = put_items(others, m, out, out + DOUBLES_HEAD)
    if end != NULL:
        end = put_numbers(gaps, m, end)
    free(gaps)
    free(others)
    return end


cdef inline bint finite(const uint8_t* p, int64_t n) noexcept nogil:
    """Whether the n doubles at p are finite: those that are not have an exponent of ones."""
    cdef int64_t k
    cdef uint64_t x
    cdef bint found = True
    for k in range(n):
        memcpy(&x, p + 8 * k, 8)
        found &= (x << 1) < 0xFFE0000000000000ULL
    return found


cdef enum:  # forms of places in a table, by their bytes
    SHORT = 3
    LONG = 4


cdef struct Items:
    int form  # DOUBLES, FLOATS, SHORT or LONG
    int64_t size  # doubles in the table
    const uint8_t* table
    const uint8_t* first
    const uint8_t* end


cdef inline bint find_items(
    Items* items, int form, const uint8_t* p, const uint8_t* end, int64_t n
) noexcept nogil:
    """Where n doubles of a form lie; whether all of them can be read and are finite."""
    cdef int64_t width = 8 if form == DOUBLES else 4
    items.form, items.table, items.first, items.size = form, p, p, 0
    if form == TABLE:
        if end - p < 4:
            return False
        items.size = load4(p)
        items.table = p + 4
        width = 1 if items.size <= 256 else 2
        if items.size > MOST or end - items.table < 8 * items.size:
            return False
        items.first = items.table + 8 * items.size
        items.form = SHORT if items.size <= 256 else LONG
    if form > TABLE or n > (end - items.first) // width:
        return False
    items.end = items.first + width * n
    return finite(items.table, n if form == DOUBLES else items.size) and within(items, n)


cdef inline bint within(const Items* items, int64_t n) noexcept nogil:
    """Whether the places of all n doubles are in the table, or all floats are finite."""
    cdef int64_t k
    cdef uint8_t small, most = 0
    cdef uint16_t large, highest = 0
    cdef bint fit = True
    if items.form == SHORT:
        for k in range(n):
            small = items.first[k]
            most = small if small > most else most
        return n == 0 or most < items.size
    if items.form == LONG:
        for k in range(n):
            memcpy(&large, items.first + 2 * k, 2)
            highest = large if large > highest else highest
        return n == 0 or highest < items.size
    if items.form == FLOATS:
        for k in range(n):
            fit &= (load4(items.first + 4 * k) << 1) < 0xFF000000U
    return fit


cdef inline double item(const Items* items, int form, int64_t k) noexcept nogil:
    """The double number k of those that are known to be there, in the form items.form."""
    cdef uint16_t place
    cdef float single
    cdef double found
    if form == SHORT:
        memcpy(&found, items.table + 8 * items.first[k], 8)
    elif form == LONG:
        memcpy(&place, items.first + 2 * k, 2)
        memcpy(&found, items.table + 8 * <int64_t> place, 8)
    elif form == FLOATS:
        memcpy(&single, items.first + 4 * k, 4)
        found = single
    else:
        memcpy(&found, items.first + 8 * k, 8)
    return found


cdef inline const uint8_t* spread(
    const Items* items, int form, const uint8_t* end, int64_t m, int64_t n, double base,
    double* out,
) noexcept nogil:
    """Write n doubles that are `base`, but for m at the places that the gaps behind these say; the
    place behind the gaps, or NULL if they are wrong. This is done for few at a time, so that what
    is written a second time is still near the processor."""
    cdef const uint8_t* codes = items.end
    cdef const uint8_t* p
    cdef int32_t places[AT_A_TIME + SPARE]
    cdef int64_t part[2]
    cdef int64_t k = 0, j, upto
    if end - codes < (m + 3) // 4:
        return NULL
    p = codes + (m + 3) // 4
    part[0] = 0
    while k < m:
        part[1] = min(m - k, <int64_t> AT_A_TIME)
        p = get_ascending(codes + k // 4, p, end, part, 1, LAST_PLACE, places)
        if p == NULL:
            return NULL
        upto = 1 + <int64_t> places[part[1] - 1]
        if upto > n:
            return NULL
        fill(out, upto, base)
        for j in range(part[1]):
            out[places[j]] = item(items, form, k + j)
        out += upto
        n -= upto
        k += part[1]
    fill(out, n, base)
    return p


cdef inline const uint8_t* get_doubles(
    const uint8_t* p, const uint8_t* end, int64_t n, double* out
) noexcept nogil:
    """Read n finite doubles; the place behind them, or NULL if they cannot be these."""
    cdef Items items
    cdef double base
    cdef int64_t k, m
    if end - p < DOUBLES_HEAD:
        return NULL
    m = load4(p + 9)
    memcpy(&base, p + 1, 8)
    if m > n or not find_items(&items, p[0], p + DOUBLES_HEAD, end, m) or not isfinite(base):
        return NULL
    if m == n:
        for k in range(n):
            out[k] = item(&items, items.form, k)
        return items.end
    if items.form == SHORT:  # the usual form, which the compiler then knows
        return spread(&items, SHORT, end, m, n, base, out)
    return spread(&items, items.form, end, m, n, base, out)
