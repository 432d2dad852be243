"""LIBSVM text to CSR rows.

    line  = [label [qid:N] {index:value}] [#comment]
    label, value = [+-] digits [. digits] [e [+-] digits]        index, N = digits

Items are parted by blanks (space, tab, CR, VT, FF). Indices increase within a line. A line without
a label gives no row; a zero value takes part in the order of the indices but is not stored; what a
comment holds is free.
"""

from cwtool_ext.decimal cimport digits, number
from libc.math cimport isinf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memchr

cdef extern from * nogil:
    bint likely(bint condition)
    bint unlikely(bint condition)

cdef enum Fault:
    NONE
    F_BAD_LABEL
    F_INFINITE_LABEL
    F_MISSING_COLON
    F_BAD_INDEX
    F_ZERO_INDEX
    F_NEGATIVE_INDEX
    F_LARGE_INDEX
    F_DESCENDING
    F_DUPLICATE
    F_BAD_VALUE
    F_INFINITE_VALUE
    F_OVERFLOW
    F_BINARY

BAD_LABEL = F_BAD_LABEL
INFINITE_LABEL = F_INFINITE_LABEL
MISSING_COLON = F_MISSING_COLON
BAD_INDEX = F_BAD_INDEX
ZERO_INDEX = F_ZERO_INDEX
NEGATIVE_INDEX = F_NEGATIVE_INDEX
LARGE_INDEX = F_LARGE_INDEX
DESCENDING = F_DESCENDING
DUPLICATE = F_DUPLICATE
BAD_VALUE = F_BAD_VALUE
INFINITE_VALUE = F_INFINITE_VALUE
OVERFLOW = F_OVERFLOW
BINARY = F_BINARY

PADDING = 64

# Stored indices run to 2^31 - 2; 2^31 - 1 is reserved.
cdef int64_t LAST_STORED = 2147483646


cdef inline bint is_blank(uint8_t c) noexcept nogil:
    return c == c" " or (9 <= c <= 13 and c != c"\n")


cdef inline bint ends_item(uint8_t c) noexcept nogil:
    """Blank, newline or `#`."""
    return c < 64 and 0x900003E00U >> c & 1


cdef inline const uint8_t* skip_blanks(const uint8_t* p) noexcept nogil:
    while is_blank(p[0]):
        p += 1
    return p


cdef inline bint plain_pair(
    const uint8_t** at, int64_t previous, int64_t* index, double* value
) noexcept nogil:
    """Read `index:value` if nothing is unusual about it, else leave it to careful_pair."""
    cdef const uint8_t* p = at[0]
    cdef const uint8_t* start = p
    cdef uint64_t i = 0
    p = digits(p, &i)
    index[0] = <int64_t> i
    if unlikely(p[0] != c":" or index[0] <= previous or not 0 < p - start <= 9):
        return False
    p += 1
    if ends_item(p[1]):  # one digit, most often `1`
        value[0] = <int> p[0] - <int> c"0"
        at[0] = p + 1
        return c"0" <= p[0] <= c"9"
    p = number(p, value)
    if unlikely(p == NULL):
        return False
    at[0] = p
    return likely(ends_item(p[0]) and not isinf(value[0]))


cdef bint names_infinity(const uint8_t* p, const uint8_t* end) noexcept nogil:
    """nan, inf or infinity, in any case and with any sign."""
    p += p[0] == c"-" or p[0] == c"+"
    return same_word(p, end, b"nan") or same_word(p, end, b"inf") or same_word(p, end, b"infinity")


cdef bint same_word(const uint8_t* p, const uint8_t* end, const char* word) noexcept nogil:
    while p < end and word[0] == (p[0] | 32):
        p += 1
        word += 1
    return p == end and word[0] == 0


cdef bint is_binary(const uint8_t* p, const uint8_t* end) noexcept nogil:
    while p < end:
        if p[0] < 32 or p[0] == 127:
            return True
        p += 1
    return False


cdef const uint8_t* item_end(const uint8_t* p) noexcept nogil:
    while not ends_item(p[0]):
        p += 1
    return p


cdef int label_fault(const uint8_t* p) noexcept nogil:
    cdef const uint8_t* end = item_end(p)
    cdef double x
    if is_binary(p, end):
        return F_BINARY
    if names_infinity(p, end) or (number(p, &x) == end and isinf(x)):
        return F_INFINITE_LABEL
    return F_BAD_LABEL


cdef int careful_pair(
    const uint8_t** at, int base, int64_t previous, int64_t* index, double* value
) noexcept nogil:
    """Read any `index:value`; its first fault from left to right, at the byte `at` then shows."""
    cdef const uint8_t* p = at[0]
    cdef const uint8_t* end = item_end(p)
    cdef bint negative = p[0] == c"-"
    cdef const uint8_t* colon
    cdef int64_t i = 0
    if is_binary(p, end):
        return F_BINARY
    colon = <const uint8_t*> memchr(p, c":", end - p)
    if colon == NULL:
        return F_MISSING_COLON
    p += negative
    if p == colon:
        return F_BAD_INDEX
    while p < colon:
        if not c"0" <= p[0] <= c"9":
            return F_BAD_INDEX
        if i <= LAST_STORED:
            i = 10 * i + (p[0] - c"0")
        p += 1
    if negative:
        return F_NEGATIVE_INDEX
    if i < base:
        return F_ZERO_INDEX
    if i > LAST_STORED + base:
        return F_LARGE_INDEX
    if i <= previous:
        return F_DUPLICATE if i == previous else F_DESCENDING
    at[0] = p = colon + 1
    if number(p, value) != end:
        return F_INFINITE_VALUE if names_infinity(p, end) else F_BAD_VALUE
    if isinf(value[0]):
        return F_OVERFLOW
    index[0] = i
    at[0] = end
    return NONE


cdef inline const uint8_t* skip_qid(const uint8_t* p, bint* found) noexcept nogil:
    """Behind ` qid:N` if it stands here, else where we are."""
    cdef const uint8_t* q = skip_blanks(p)
    cdef uint64_t ignored = 0
    found[0] = False
    if likely(q[0] != c"q") or q[1] != c"i" or q[2] != c"d" or q[3] != c":":
        return p
    q += 4
    found[0] = c"0" <= q[0] <= c"9"
    q = digits(q, &ignored)
    found[0] = found[0] and ends_item(q[0])
    return q if found[0] else p


def capacity(Py_ssize_t nbytes):
    """Upper bounds (rows, nnz) for a text: a row takes 2 bytes or more, a pair 4 or more."""
    return (nbytes + 1) // 2, nbytes // 4 + 1


def parse(
    const unsigned char[::1] text,
    Py_ssize_t start,
    Py_ssize_t stop,
    int base,
    double[::1] labels,
    int64_t[::1] indptr,
    int32_t[::1] indices,
    double[::1] values,
    int32_t[::1] lines,
    int64_t[:, ::1] faults,
    int64_t[::1] report,
):
    """Parse the lines of text[start:stop] into CSR arrays with 0-based indices.

    The range ends with a newline or has one right behind it, and is followed by PADDING readable
    bytes (of any content). Arrays have room as given by `capacity`, indptr for one more.

    A bad line gives no row but one fault: its line number, the byte offset of the bad item, a code.
    Faults beyond the room of `faults` are only counted. Line numbers start with 0 at `start`.

    report: rows, nnz, lines, greatest stored index (-1: none), qids ignored, faults.
    """
    rows_bound, nnz_bound = capacity(stop - start)
    if not 0 <= start <= stop <= text.shape[0] - PADDING:
        raise ValueError(f"text[{start}:{stop}] and its padding exceed {text.shape[0]} bytes")
    if stop - start >= 1 << 31:
        raise ValueError("line numbers are 32 bit: parse fewer than 2^31 bytes at once")
    if start < stop and text[stop - 1] != c"\n" and text[stop] != c"\n":
        raise ValueError("the range must end with a newline, or right before one")
    if base != 0 and base != 1:
        raise ValueError(f"base is 0 or 1, not {base}")
    if min(labels.shape[0], lines.shape[0], indptr.shape[0] - 1) < rows_bound:
        raise ValueError(f"labels, lines or indptr[1:] lack room for {rows_bound} rows")
    if min(indices.shape[0], values.shape[0]) < nnz_bound:
        raise ValueError(f"indices or values lack room for {nnz_bound} entries")
    if faults.shape[1] != 3 or report.shape[0] != 6:
        raise ValueError("faults has 3 columns and report 6 entries")

    cdef const uint8_t* origin = &text[0]
    cdef const uint8_t* p = origin + start
    cdef const uint8_t* end = origin + stop
    cdef const uint8_t* item
    cdef int64_t row = 0, nnz = 0, line = 0, greatest = -1, qids = 0, bad = 0
    cdef int64_t index = 0, previous
    cdef double value = 0.0
    cdef bint qid
    cdef int fault

    with nogil:
        indptr[0] = 0
        while p < end:
            p = item = skip_blanks(p)
            fault = NONE
            if p[0] != c"\n" and p[0] != c"#":
                p = number(item, &labels[row])
                if unlikely(p == NULL or not ends_item(p[0]) or isinf(labels[row])):
                    p = item
                    fault = label_fault(item)
                else:
                    p = skip_qid(p, &qid)
                    previous = base - 1
                    while True:
                        p += p[0] == c" "
                        item = p
                        if not likely(plain_pair(&p, previous, &index, &value)):
                            p = skip_blanks(item)
                            if p[0] == c"\n" or p[0] == c"#":
                                break
                            fault = careful_pair(&p, base, previous, &index, &value)
                            if fault:
                                break
                        indices[nnz] = <int32_t> (index - base)
                        values[nnz] = value
                        nnz += value != 0.0
                        previous = index
                    if likely(fault == NONE):
                        if nnz > indptr[row]:
                            greatest = max(greatest, <int64_t> indices[nnz - 1])
                        qids += qid
                        lines[row] = <int32_t> line
                        row += 1
                        indptr[row] = nnz
                if unlikely(fault != NONE):
                    nnz = indptr[row]
                    if bad < faults.shape[0]:
                        faults[bad, 0] = line
                        faults[bad, 1] = p - origin
                        faults[bad, 2] = fault
                    bad += 1
            while p[0] != c"\n":
                p += 1
            p += 1
            line += 1

    report[0], report[1], report[2] = row, nnz, line
    report[3], report[4], report[5] = greatest, qids, bad
