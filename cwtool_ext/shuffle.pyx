"""A random order that depends on its seed alone, never on a library's version."""

from libc.stdint cimport int32_t, int64_t, uint64_t

from cwtool_ext.shuffle cimport splitmix, start


def permute(const uint64_t[::1] seeds, int64_t[::1] out):
    """0 .. n-1 in a random order (Fisher-Yates)."""
    cdef uint64_t state = start(seeds)
    cdef int64_t i, j, kept, n = out.shape[0]
    with nogil:
        for i in range(n):
            out[i] = i
        for i in range(n - 1, 0, -1):
            j = <int64_t> (splitmix(&state) % <uint64_t> (i + 1))
            kept = out[i]
            out[i] = out[j]
            out[j] = kept


cdef inline uint64_t of_row(uint64_t base, uint64_t number) noexcept nogil:
    """A random number of the row of this number alone."""
    cdef uint64_t state = base + number * 0xD1342543DE82EF95u
    return splitmix(&state)


def choose(const uint64_t[::1] seeds, uint64_t first, double share, unsigned char[::1] out):
    """out[i] = 1 for about this share of the rows numbered first + i, by row number alone."""
    cdef uint64_t base = start(seeds)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = (
                <double> (of_row(base, first + <uint64_t> i) >> 11) < share * 9007199254740992.0
            )


def rank(const uint64_t[::1] seeds, uint64_t first, int32_t[::1] out):
    """out[i] is a random number from 0 to 2^31 - 1 of the row first + i, by row number alone."""
    cdef uint64_t base = start(seeds)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = <int32_t> (of_row(base, first + <uint64_t> i) >> 33)


def uniforms(const uint64_t[::1] seeds, double[::1] out):
    """Numbers between 0 and 1, without 1."""
    cdef uint64_t state = start(seeds)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = <double> (splitmix(&state) >> 11) / 9007199254740992.0
