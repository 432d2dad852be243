"""LIBSVM text to CSR rows.

    line  = [label[:weight] [qid:N] {index:value}] [#comment]
    label, weight, value = [+-] digits [. digits] [e [+-] digits]        index, N = digits

Items are separated by blanks (space, tab, CR, VT, FF). Indices increase within a line. A weight is
not negative; a line that gives none has the weight 1. A line without a label gives no row; a zero
value takes part in the order of the indices but is not stored; a comment may contain anything.
"""

from libc.math cimport isinf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memchr

from cwtool_ext.decimal cimport digits, number
from cwtool_ext.plain_pairs cimport nonzero, plain_pairs
from cwtool_ext.usual_pairs cimport Marks, begin_marks, usual_pairs

cdef extern from * nogil:
    bint likely(bint condition)
    bint unlikely(bint condition)

PADDING = 64

cdef enum:
    LOST = 8  # trust in usual pairs that each other one costs
    MOST_TRUST = 64
    PAUSE = 2048  # pairs that are not taken for usual ones when there was no trust left


cdef int all_pairs(
    const uint8_t** at, int base, int32_t* indices, double* values, int64_t* nnz, Marks* marks,
    int64_t* trust,
) noexcept nogil:
    """Store the pairs up to the end of the line or the first fault; `at` shows where that is. Each
    pair is first taken for a usual one, as long as there is trust that most of them are."""
    cdef const uint8_t* p = at[0]
    cdef int64_t previous = base - 1, before
    cdef double value
    cdef int fault
    while True:
        before = nnz[0]
        if trust[0] > 0:
            p = at[0] = usual_pairs(p, base, &previous, indices, values, nnz, marks)
            if p[0] == c"\n":
                return NO_FAULT
            trust[0] = min(trust[0] + nnz[0] - before, MOST_TRUST) - LOST
            if trust[0] <= 0:
                trust[0] = -PAUSE
            p = plain_pairs(p, base, &previous, indices, values, nnz, 1)
            if p != at[0]:
                continue
        else:
            p = plain_pairs(p, base, &previous, indices, values, nnz, PAUSE)
            trust[0] += nnz[0] - before + 1
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


cdef inline const uint8_t* any_label(const uint8_t* p, double* label) noexcept nogil:
    """Read a label without a weight, most often one digit; the place behind it, or NULL."""
    cdef bint negative = p[0] == c"-"
    cdef const uint8_t* digit = p + (negative or p[0] == c"+")
    if likely(c"0" <= digit[0] <= c"9" and ends_item(digit[1])):
        label[0] = <double> (digit[0] - c"0") / (1 - 2 * negative)
        return digit + 1
    p = number(p, label)
    return p if p != NULL and ends_item(p[0]) and not isinf(label[0]) else NULL


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


def whole_lines(
    const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t most
) -> int:
    """The place behind the last of the first `most` newlines in text[start:stop]; `start` if there
    is none."""
    if not 0 <= start <= stop <= text.shape[0]:
        raise ValueError(f"text[{start}:{stop}] exceeds {text.shape[0]} bytes")
    if start == stop:
        return start
    cdef const unsigned char* first = &text[0]
    cdef const unsigned char* p = first + start
    cdef const unsigned char* end = first + stop
    cdef const unsigned char* newline
    with nogil:
        while most > 0 and p < end:
            newline = <const unsigned char*> memchr(p, c"\n", end - p)
            if newline == NULL:
                break
            p = newline + 1
            most -= 1
    return p - first


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
    cdef int64_t trust = MOST_TRUST, row = 0, nnz = 0, line = 0, greatest = -1, qids = 0, i
    cdef int64_t bad = 0, weighted = 0
    cdef bint qid = False
    cdef int fault
    cdef double h
    cdef Marks marks

    with nogil:
        begin_marks(&marks, origin + 8, end)
        indptr[0] = 0
        while p < end:
            p = item = skip_blanks(p)
            if p[0] != c"\n" and p[0] != c"#":
                if unlikely(row == room):
                    break
                fault = NO_FAULT
                h = 1.0
                p = any_label(item, &labels[row])
                if unlikely(p == NULL):
                    p = item
                    fault = careful_label(&p, &labels[row], &h)
                if likely(fault == NO_FAULT):
                    p = skip_qid(p, &qid)
                    fault = all_pairs(&p, base, &indices[0], &values[0], &nnz, &marks, &trust)
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
