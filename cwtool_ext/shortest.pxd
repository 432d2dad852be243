# cython: language_level=3
from libc.stdint cimport uint64_t

cdef enum:
    LONGEST = 24  # bytes that a double takes at most: -1.2345678901234567e-308

cdef char* put_whole(char* out, uint64_t n, int least) noexcept nogil
cdef char* put_double(char* out, double x) noexcept nogil
