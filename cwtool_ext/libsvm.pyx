"""LIBSVM text to CSR rows.

    line  = [label[:weight] [qid:N] {index:value}] [#comment]
    label, weight, value = [+-] digits [. digits] [e [+-] digits]        index, N = digits

Items are separated by blanks (space, tab, CR, VT, FF). Indices increase within a line. A weight is
not negative; a line that gives none has the weight 1. A line without a label gives no row; a zero
value takes part in the order of the indices but is not stored; a comment may contain anything.
"""

from libc.math cimport isinf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcpy

from cwtool_ext.decimal cimport (
    EXACT, EXACT_TENS, digits, eight_digits, load8, non_digits, number, rounded, trailing_zeros,
)

cdef extern from * nogil:
    bint likely(bint condition)
    bint unlikely(bint condition)

PADDING = 64

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
) noexcept nogil:
    """Store pairs written ` index:value` up to the first with anything unusual; its place."""
    cdef const uint8_t* v  # the value
    cdef const uint8_t* end
    cdef uint64_t word, stops, w
    cdef unsigned int bit
    cdef int64_t index, places, last = previous[0], n = nnz[0]
    cdef double x, any_x  # two, so that x, whose address is not taken, may live in a register
    while True:
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
        elif likely(v[1] == c"." and w <= 9):
            end = digits(v + 2, &w)
            if unlikely(not ends_item(end[0])):
                break
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
    previous[0] = last
    nnz[0] = n
    return p


cdef int all_pairs(
    const uint8_t** at, int base, int32_t* indices, double* values, int64_t* nnz
) noexcept nogil:
    """Store the pairs up to the end of the line or the first fault; `at` shows where that is."""
    cdef const uint8_t* p = at[0]
    cdef int64_t previous = base - 1
    cdef double value
    cdef int fault
    while True:
        p = plain_pairs(p, base, &previous, indices, values, nnz)
        at[0] = skip_blanks(p)
        if at[0][0] == c"\n" or at[0][0] == c"#":
            return NO_FAULT
        fault = careful_pair(at, base, &previous, &value)
        if fault:
            return fault
        p = at[0]
        indices[nnz[0]] = <int32_t> (previous - base)
        values[nnz[0]] = value
        nnz[0] += nonzero(value)


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


def capacity(Py_ssize_t nbytes) -> tuple[int, int]:
    """Upper bounds (rows, nnz) for a text: a row takes 2 bytes or more, a pair 4 or more."""
    return (nbytes + 1) // 2, nbytes // 4 + 1


def count_lines(const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop) -> int:
    """Lines of text[start:stop], the last one with or without its newline."""
    if not 0 <= start <= stop <= text.shape[0]:
        raise ValueError(f"text[{start}:{stop}] exceeds {text.shape[0]} bytes")
    if start == stop:
        return 0
    cdef const unsigned char* p = &text[0] + start
    cdef const unsigned char* end = &text[0] + stop
    cdef Py_ssize_t lines = 0
    with nogil:
        while p != NULL and p < end:
            lines += 1
            p = <const unsigned char*> memchr(p, c"\n", end - p)
            p = p + 1 if p != NULL else NULL
    return lines


def parse(
    const unsigned char[::1] text,
    Py_ssize_t start,
    Py_ssize_t stop,
    int base,
    double[::1] labels,
    double[::1] weights,
    int64_t[::1] indptr,
    int32_t[::1] indices,
    double[::1] values,
    int32_t[::1] lines,
    int64_t[:, ::1] faults,
    int64_t[::1] report,
):
    """Parse the lines of text[start:stop] into CSR arrays with 0-based indices.

    The range ends with a newline or has one right behind it, and is followed by PADDING readable
    bytes (of any content). Arrays have room as given by `capacity`, indptr for one more; for rows
    `count_lines` is enough.

    A bad line gives no row but one fault: its line number, the byte offset of the bad item, a code.
    Faults beyond the room of `faults` are only counted. Line numbers start with 0 at `start`.

    report: rows, nnz, lines, greatest stored index (-1: none), qids ignored, faults, rows with a
    weight other than 1. Where there are no such rows, `weights` is not written.
    """
    cdef int64_t room = min(
        labels.shape[0], weights.shape[0], lines.shape[0], indptr.shape[0] - 1
    )
    nnz_bound = capacity(stop - start)[1]
    if not 0 <= start <= stop <= text.shape[0] - PADDING:
        raise ValueError(f"text[{start}:{stop}] and its padding exceed {text.shape[0]} bytes")
    if stop - start >= 1 << 31:
        raise ValueError("line numbers are 32 bit: parse fewer than 2^31 bytes at once")
    if start < stop and text[stop - 1] != c"\n" and text[stop] != c"\n":
        raise ValueError("the range must end with a newline, or right before one")
    if base != 0 and base != 1:
        raise ValueError(f"base is 0 or 1, not {base}")
    if room < min(1, stop - start):
        raise ValueError("labels, weights, lines or indptr[1:] lack room")
    if min(indices.shape[0], values.shape[0]) < nnz_bound:
        raise ValueError(f"indices or values lack room for {nnz_bound} entries")
    if faults.shape[1] != 3 or report.shape[0] != 7:
        raise ValueError("faults has 3 columns and report 7 entries")

    cdef const uint8_t* origin = &text[0]
    cdef const uint8_t* p = origin + start
    cdef const uint8_t* end = origin + stop
    cdef const uint8_t* item
    cdef int64_t row = 0, nnz = 0, line = 0, greatest = -1, qids = 0, bad = 0, weighted = 0, i
    cdef bint qid = False
    cdef int fault
    cdef double h

    with nogil:
        indptr[0] = 0
        while p < end:
            p = item = skip_blanks(p)
            if p[0] != c"\n" and p[0] != c"#":
                if unlikely(row == room):
                    break
                fault = NO_FAULT
                h = 1.0
                p = number(item, &labels[row])
                if unlikely(p == NULL or not ends_item(p[0]) or isinf(labels[row])):
                    p = item
                    fault = careful_label(&p, &labels[row], &h)
                if likely(fault == NO_FAULT):
                    p = skip_qid(p, &qid)
                    fault = all_pairs(&p, base, &indices[0], &values[0], &nnz)
                if likely(fault == NO_FAULT):
                    if nnz > indptr[row]:
                        greatest = max(greatest, <int64_t> indices[nnz - 1])
                    qids += qid
                    if unlikely(weighted > 0 or h != 1.0):
                        if weighted == 0:
                            for i in range(row):
                                weights[i] = 1.0
                        weights[row] = h
                        weighted += h != 1.0
                    lines[row] = <int32_t> line
                    row += 1
                    indptr[row] = nnz
                else:
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

    if p < end:
        raise ValueError(f"labels, weights, lines or indptr[1:] have room for {room} rows only")
    report[0], report[1], report[2] = row, nnz, line
    report[3], report[4], report[5], report[6] = greatest, qids, bad, weighted
