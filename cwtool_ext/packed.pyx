"""Rows in few bytes, as they are kept in files, and back.

    rows   numbers: entries of each row
           numbers: lines between each row and the row before
           doubles: labels
           doubles: weights, if there are any
           ids: of all entries, by how many are missing before each since the one before in the
               row. They are written as numbers, but the codes of each row begin with a new byte.
           doubles: values

`numbers.pxd` and `doubles.pxd` say how these are written.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc

from cwtool_ext.ascending cimport SPARE as SPARE_IDS
from cwtool_ext.ascending cimport get_ascending
from cwtool_ext.doubles cimport DOUBLES_HEAD, get_doubles, put_doubles
from cwtool_ext.numbers cimport PADDING as ROOM
from cwtool_ext.numbers cimport get_numbers, put_number, put_numbers

PADDING = ROOM
SPARE = SPARE_IDS

cdef enum:
    LAST_LINE = 2147483647


def room(Py_ssize_t n_rows, Py_ssize_t nnz) -> int:
    """Bytes that so many rows and entries take at most."""
    return 27 * n_rows + 13 * nnz + 3 * DOUBLES_HEAD + 3


cdef int64_t quads_of(const int64_t* indptr, int64_t n_rows) noexcept nogil:
    """Bytes that the codes of the ids take."""
    cdef int64_t i, quads = 0
    for i in range(n_rows):
        quads += (indptr[i + 1] - indptr[i] + 3) >> 2
    return quads


cdef uint8_t* put_ids(
    const int64_t* indptr, const int32_t* indices, int64_t n_rows, uint8_t* out
) noexcept nogil:
    cdef uint8_t* p = out + quads_of(indptr, n_rows)
    cdef int64_t i, k, id_
    cdef uint32_t missing
    for i in range(n_rows):
        id_ = -1
        for k in range(indptr[i + 1] - indptr[i]):
            missing = <uint32_t> (indices[indptr[i] + k] - id_ - 1)
            id_ = indices[indptr[i] + k]
            p = put_number(missing, k, out, p)
        out += (indptr[i + 1] - indptr[i] + 3) >> 2
    return p


cdef const uint8_t* get_ids(
    const uint8_t* p, const uint8_t* end, const int64_t* indptr, int64_t n_rows, int32_t last,
    int32_t* indices,
) noexcept nogil:
    """Read the ids of all rows; NULL if they do not end before `end` or exceed `last`."""
    cdef int64_t quads = quads_of(indptr, n_rows)
    if end - p < quads:
        return NULL
    return get_ascending(p, p + quads, end, indptr, n_rows, last, indices)


cdef uint8_t* put_rows(
    const int64_t* indptr, const int32_t* indices, const double* values, const double* labels,
    const double* weights, const int32_t* lines, int64_t n_rows, uint32_t* work, uint8_t* p,
) noexcept nogil:
    """`work` has room for a number for each row."""
    cdef int64_t i, nnz = indptr[n_rows] - indptr[0]
    for i in range(n_rows):
        work[i] = <uint32_t> (indptr[i + 1] - indptr[i])
    p = put_numbers(work, n_rows, p)
    for i in range(n_rows):
        work[i] = <uint32_t> (lines[i] - (lines[i - 1] + 1 if i else 0))
    p = put_doubles(labels, n_rows, put_numbers(work, n_rows, p))
    if p != NULL and weights != NULL:
        p = put_doubles(weights, n_rows, p)
    if p == NULL:
        return NULL
    return put_doubles(values + indptr[0], nnz, put_ids(indptr, indices, n_rows, p))


def encode(
    const int64_t[::1] indptr,
    const int32_t[::1] indices,
    const double[::1] values,
    const double[::1] labels,
    const int32_t[::1] lines,
    uint8_t[::1] out,
    const double[::1] weights=None,
) -> int:
    """Write rows whose ids ascend, with or without `weights`, to `out`, which has the room that
    `room` gives; the number of bytes."""
    cdef int64_t n_rows = indptr.shape[0] - 1, nnz = indptr[n_rows] - indptr[0]
    cdef bint weighted = weights is not None
    if min(labels.shape[0], lines.shape[0]) < n_rows or (weighted and weights.shape[0] < n_rows):
        raise ValueError("labels, weights and lines have one number a row")
    if not 0 <= indptr[0] <= indptr[n_rows] <= min(indices.shape[0], values.shape[0]):
        raise ValueError("indptr reaches beyond indices or values")
    if out.shape[0] < room(n_rows, nnz):
        raise ValueError(f"out has {out.shape[0]} bytes; {room(n_rows, nnz)} may be needed")
    if n_rows == 0:
        raise ValueError("there are no rows")
    cdef uint32_t* work = <uint32_t*> malloc(4 * <size_t> n_rows)
    cdef uint8_t* end = NULL
    if work == NULL:
        raise MemoryError
    with nogil:
        end = put_rows(
            &indptr[0], &indices[0] if nnz else NULL, &values[0] if nnz else NULL, &labels[0],
            &weights[0] if weighted else NULL, &lines[0], n_rows, work, &out[0],
        )
        free(work)
    if end == NULL:
        raise MemoryError
    return end - &out[0]


cdef const uint8_t* get_rows(
    const uint8_t* p, const uint8_t* end, int64_t n_rows, int64_t nnz, int64_t* indptr,
    int32_t* indices, double* values, double* labels, double* weights, int32_t* lines,
    int32_t last,
) noexcept nogil:
    cdef int64_t i, line = -1
    cdef uint32_t* numbers = <uint32_t*> lines
    p = get_numbers(p, end, n_rows, numbers)
    if p == NULL:
        return NULL
    indptr[0] = 0
    for i in range(n_rows):
        indptr[i + 1] = indptr[i] + numbers[i]
    if indptr[n_rows] != nnz:
        return NULL
    p = get_numbers(p, end, n_rows, numbers)
    if p == NULL:
        return NULL
    for i in range(n_rows):
        line += 1 + <int64_t> numbers[i]
        lines[i] = <int32_t> line
    if line > LAST_LINE:
        return NULL
    p = get_doubles(p, end, n_rows, labels)
    if p != NULL and weights != NULL:
        p = get_doubles(p, end, n_rows, weights)
    if p == NULL:
        return NULL
    p = get_ids(p, end, indptr, n_rows, last, indices)
    if p == NULL:
        return NULL
    return get_doubles(p, end, nnz, values)


def decode(
    const unsigned char[::1] data,
    Py_ssize_t start,
    Py_ssize_t stop,
    Py_ssize_t n_rows,
    Py_ssize_t nnz,
    int64_t[::1] indptr,
    int32_t[::1] indices,
    double[::1] values,
    double[::1] labels,
    int32_t[::1] lines,
    int32_t last,
    double[::1] weights=None,
) -> int:
    """Read so many rows and entries from data[start:stop], which PADDING bytes of any content
    follow; without `weights` rows have none. `indices` has SPARE places more than entries.

    Returns the place behind the rows, or -1 if the data is damaged: what was read then has no
    meaning. All doubles are finite, and the ids of a row ascend from 0 on, up to `last` at most.
    """
    cdef bint weighted = weights is not None
    if not 0 <= start <= stop <= data.shape[0] - ROOM:
        raise ValueError(f"data[{start}:{stop}] and its padding exceed {data.shape[0]} bytes")
    if n_rows < 1 or nnz < 0:
        raise ValueError("there are no rows")
    if indptr.shape[0] <= n_rows or min(labels.shape[0], lines.shape[0]) < n_rows or (
        weighted and weights.shape[0] < n_rows
    ):
        raise ValueError(f"labels, weights, lines or indptr[1:] lack room for {n_rows} rows")
    if indices.shape[0] < nnz + SPARE_IDS or values.shape[0] < nnz:
        raise ValueError(f"indices or values lack room for {nnz} entries")
    cdef const uint8_t* end
    with nogil:
        end = get_rows(
            &data[0] + start, &data[0] + stop, n_rows, nnz, &indptr[0],
            &indices[0], &values[0] if nnz else NULL, &labels[0],
            &weights[0] if weighted else NULL, &lines[0], last,
        )
    return -1 if end == NULL else end - &data[0]
