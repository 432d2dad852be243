"""A fingerprint of bytes against accidents (not against adversaries).

Two 64-bit hashes of four lanes each, over 8-byte words w:

    h <- rotate(xor(h, w) * K)

K is odd, so a step is one-to-one in h and in w: a change within one word always changes both
hashes. They differ in K and in the rotation, so that changes of several words which cancel in one
do not cancel in the other. (The second K is 9, which costs no multiplication: twice as fast.) The
length of the cell enters last.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

cdef extern from *:
    """
    #define K0 0x9E3779B97F4A7C15ULL
    #define K1 0xC2B2AE3D27D4EB4FULL
    """
    const uint64_t K0, K1

cdef enum:
    STRIPE = 32

CELL = 65536


cdef inline uint64_t step(uint64_t h, uint64_t w, uint64_t k, int turn) noexcept nogil:
    h = (h ^ w) * k
    return h << turn | h >> (64 - turn)


cdef inline uint64_t finish(uint64_t h) noexcept nogil:
    h = (h ^ h >> 32) * K1
    h = (h ^ h >> 29) * K0
    return h ^ h >> 32


cdef inline uint64_t word(const uint8_t* p) noexcept nogil:
    cdef uint64_t w
    memcpy(&w, p, 8)
    return w


cdef void cell(const uint8_t* p, Py_ssize_t size, uint64_t* out) noexcept nogil:
    cdef uint64_t a0 = 1, a1 = 2, a2 = 3, a3 = 4, b0 = 5, b1 = 6, b2 = 7, b3 = 8
    cdef uint8_t rest[STRIPE]
    cdef const uint8_t* end = p + size // STRIPE * STRIPE
    memset(rest, 0, STRIPE)
    memcpy(rest, end, size % STRIPE)
    while True:
        if p == end:
            p = rest
        a0 = step(a0, word(p), K0, 29)
        b0 = step(b0, word(p), 9, 23)
        a1 = step(a1, word(p + 8), K0, 29)
        b1 = step(b1, word(p + 8), 9, 23)
        a2 = step(a2, word(p + 16), K0, 29)
        b2 = step(b2, word(p + 16), 9, 23)
        a3 = step(a3, word(p + 24), K0, 29)
        b3 = step(b3, word(p + 24), 9, 23)
        if p == rest:
            break
        p += STRIPE
    out[0] = finish(step(step(step(step(size, a0, K1, 31), a1, K1, 31), a2, K1, 31), a3, K1, 31))
    out[1] = finish(step(step(step(step(size, b0, K0, 27), b1, K0, 27), b2, K0, 27), b3, K0, 27))


def cells(const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t stop, uint64_t[::1] out):
    """Hash each CELL bytes of data[start:stop] (the last may be fewer) into two words of `out`."""
    if not 0 <= start <= stop <= data.shape[0]:
        raise ValueError(f"data[{start}:{stop}] exceeds {data.shape[0]} bytes")
    cdef Py_ssize_t size = CELL, count = (stop - start + size - 1) // size
    if out.shape[0] != 2 * count:
        raise ValueError(f"out has {out.shape[0]} words; {count} cells take {2 * count}")
    cdef Py_ssize_t i
    with nogil:
        for i in range(count):
            cell(&data[start + i * size], min(size, stop - start - i * size), &out[2 * i])
