"""A random order that depends on its seed alone, never on a library's version."""

from libc.stdint cimport int64_t, uint64_t

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


def choose(const uint64_t[::1] seeds, uint64_t first, double share, unsigned char[::1] out):
    """out[i] = 1 for about this share of the rows numbered first + i, by row number alone."""
    cdef uint64_t base = start(seeds), state
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            state = base + (first + <uint64_t> i) * 0xD1342543DE82EF95u
            out[i] = <double> (splitmix(&state) >> 11) < share * 9007199254740992.0


def uniforms(const uint64_t[::1] seeds, double[::1] out):
    """Numbers between 0 and 1, without 1."""
    cdef uint64_t state = start(seeds)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = <double> (splitmix(&state) >> 11) / 9007199254740992.0
