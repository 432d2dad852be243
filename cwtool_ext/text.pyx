"""Rows to LIBSVM text: the features of a row as `id:value id:value ...`.

A value is written with up to six places if these give the double exactly, and otherwise with as
many digits as Python's repr has; both are read as the same double again.
"""

from cpython.dict cimport PyDict_GetItem
from cpython.float cimport PyFloat_AsDouble
from cpython.long cimport PyLong_AsLongLong
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeASCII
from libc.math cimport fabs, floor
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport qsort

from cwtool_ext.decimal cimport EXACT, EXACT_TENS
from cwtool_ext.shortest cimport put_double, put_whole

cdef enum:
    PLACES = 6
    ROOM = 48  # bytes that an entry takes at most


cdef struct Entry:
    int64_t id
    int64_t place  # among the entries of the row
    double value


cdef int compare(const void* a, const void* b) noexcept nogil:
    cdef const Entry* p = <const Entry*> a
    cdef const Entry* q = <const Entry*> b
    if p.id != q.id:
        return -1 if p.id < q.id else 1
    return -1 if p.place < q.place else 1


cdef char* put_value(char* out, double x) noexcept nogil:
    """A finite number; the place behind it."""
    cdef double size = fabs(x), scaled
    cdef uint64_t n, tens
    cdef int places
    for places in range(PLACES + 1):
        scaled = floor(size * EXACT_TENS[places] + 0.5)
        if scaled > <double> EXACT:
            break
        if scaled / EXACT_TENS[places] == size:
            if x < 0:
                out[0] = c"-"
                out += 1
            n, tens = <uint64_t> scaled, <uint64_t> EXACT_TENS[places]
            out = put_whole(out, n // tens, 1)
            if places:
                out[0] = c"."
                out = put_whole(out + 1, n % tens, places)
            return out
    return put_double(out, x)


cdef str written(Entry* entries, Py_ssize_t n):
    """The text of entries with ascending ids; values of the same id are added up."""
    cdef char* buffer = <char*> PyMem_Malloc(n * ROOM + 1)
    cdef char* out = buffer
    cdef Py_ssize_t i = 0
    cdef int64_t number
    cdef double x
    if buffer == NULL:
        raise MemoryError
    try:
        while i < n:
            number, x = entries[i].id, entries[i].value
            i += 1
            while i < n and entries[i].id == number:
                x += entries[i].value
                i += 1
            if x != 0.0:
                if out > buffer:
                    out[0] = c" "
                    out += 1
                out = put_whole(out, <uint64_t> number, 1)
                out[0] = c":"
                out = put_value(out + 1, x)
        return PyUnicode_DecodeASCII(buffer, out - buffer, NULL)
    finally:
        PyMem_Free(buffer)


def named_features(list entries, dict ids, id_of) -> str:
    """The features of a row of (name, value) entries. Ids are those in `ids`, or what `id_of` gives
    a name that is not there; an entry of value 0 is not written."""
    cdef Py_ssize_t n = len(entries), i, m = 0
    cdef Entry* found = <Entry*> PyMem_Malloc((n + 1) * sizeof(Entry))
    cdef PyObject* number
    cdef int64_t j, last = -1
    cdef bint ascending = True
    cdef double x
    if found == NULL:
        raise MemoryError
    try:
        for i in range(n):
            name, value = <tuple> entries[i]
            number = PyDict_GetItem(ids, name)
            j = PyLong_AsLongLong(<object> number if number != NULL else id_of(name))
            x = PyFloat_AsDouble(value)
            if x != 0.0:
                found[m] = Entry(j, i, x)
                ascending = ascending and j > last
                last = j
                m += 1
        if not ascending:
            qsort(found, m, sizeof(Entry), compare)
        return written(found, m)
    finally:
        PyMem_Free(found)


def csr_features(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values, int base
) -> list[str]:
    """The features of each row of CSR arrays, with ids counted from `base`."""
    cdef Py_ssize_t n = indptr.shape[0] - 1, i, k, longest = 0
    cdef list rows = []
    if indptr[n] > min(indices.shape[0], values.shape[0]) or indptr[0] < 0:
        raise ValueError("indptr exceeds the entries")
    for i in range(n):
        if indptr[i] > indptr[i + 1]:
            raise ValueError("indptr descends")
        longest = max(longest, indptr[i + 1] - indptr[i])
    cdef Entry* found = <Entry*> PyMem_Malloc((longest + 1) * sizeof(Entry))
    if found == NULL:
        raise MemoryError
    try:
        for i in range(n):
            for k in range(indptr[i], indptr[i + 1]):
                found[k - indptr[i]] = Entry(<int64_t> indices[k] + base, k, values[k])
            rows.append(written(found, indptr[i + 1] - indptr[i]))
        return rows
    finally:
        PyMem_Free(found)
