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
    #if defined(__x86_64__) && defined(__GNUC__)
    #include <immintrin.h>
    static int has_lanes(void)
    {
        return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    }
    #define TAKE_A(a, w) _mm256_rol_epi64(_mm256_mullo_epi64(_mm256_xor_si256(a, w), k0), 29)
    #define NINE(x) _mm256_add_epi64(x, _mm256_slli_epi64(x, 3))
    #define TAKE_B(b, w) _mm256_rol_epi64(NINE(_mm256_xor_si256(b, w)), 23)
    #define LOAD(p) _mm256_loadu_si256((const __m256i*) (p))
    #define STORE(p, x) _mm256_storeu_si256((__m256i*) (p), x)
    __attribute__((target("avx512vl,avx512dq"))) static void lane_stripes(
        const uint8_t* p, const uint8_t* q, Py_ssize_t n, uint64_t* h, uint64_t* g)
    {
        const __m256i k0 = _mm256_set1_epi64x((long long) K0);
        __m256i a = LOAD(h), b = LOAD(h + 4), c = LOAD(g), d = LOAD(g + 4);
        for (Py_ssize_t i = 0; i < n; i++) {
            __m256i w = LOAD(p + 32 * i), v = LOAD(q + 32 * i);
            a = TAKE_A(a, w);
            b = TAKE_B(b, w);
            c = TAKE_A(c, v);
            d = TAKE_B(d, v);
        }
        STORE(h, a);
        STORE(h + 4, b);
        STORE(g, c);
        STORE(g + 4, d);
    }
    #else
    static int has_lanes(void) { return 0; }
    static void lane_stripes(
        const uint8_t* p, const uint8_t* q, Py_ssize_t n, uint64_t* h, uint64_t* g) {}
    #endif
    """
    const uint64_t K0, K1
    bint has_lanes() noexcept nogil
    # `plain_stripes` of n stripes each from p into h and from q into g, all lanes at a time
    void lane_stripes(
        const uint8_t* p, const uint8_t* q, Py_ssize_t n, uint64_t* h, uint64_t* g
    ) noexcept nogil

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


cdef inline uint64_t joined(uint64_t size, const uint64_t* h, uint64_t k, int turn) noexcept nogil:
    cdef uint64_t found = step(step(size, h[0], k, turn), h[1], k, turn)
    return finish(step(step(found, h[2], k, turn), h[3], k, turn))


cdef inline uint64_t word(const uint8_t* p) noexcept nogil:
    cdef uint64_t w
    memcpy(&w, p, 8)
    return w


cdef void plain_stripes(const uint8_t* p, Py_ssize_t n, uint64_t* h) noexcept nogil:
    """Take n stripes into the four lanes of both hashes."""
    cdef uint64_t a0 = h[0], a1 = h[1], a2 = h[2], a3 = h[3]
    cdef uint64_t b0 = h[4], b1 = h[5], b2 = h[6], b3 = h[7]
    cdef const uint8_t* end = p + n * STRIPE
    while p < end:
        a0 = step(a0, word(p), K0, 29)
        b0 = step(b0, word(p), 9, 23)
        a1 = step(a1, word(p + 8), K0, 29)
        b1 = step(b1, word(p + 8), 9, 23)
        a2 = step(a2, word(p + 16), K0, 29)
        b2 = step(b2, word(p + 16), 9, 23)
        a3 = step(a3, word(p + 24), K0, 29)
        b3 = step(b3, word(p + 24), 9, 23)
        p += STRIPE
    h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7] = a0, a1, a2, a3, b0, b1, b2, b3


cdef inline void stripes(
    const uint8_t* p, const uint8_t* q, Py_ssize_t n, uint64_t* h, uint64_t* g
) noexcept nogil:
    if has_lanes():
        lane_stripes(p, q, n, h, g)
    else:
        plain_stripes(p, n, h)
        if p != q:
            plain_stripes(q, n, g)


cdef void two_cells(
    const uint8_t* p, const uint8_t* q, Py_ssize_t size, uint64_t* out
) noexcept nogil:
    """Hash two cells of the same size at a time, because a step waits for the one before. They may
    be the same one, whose hash is then the first in `out`."""
    cdef uint64_t* h = [1, 2, 3, 4, 5, 6, 7, 8]
    cdef uint64_t* g = [1, 2, 3, 4, 5, 6, 7, 8]
    cdef uint8_t rest[2 * STRIPE]
    cdef Py_ssize_t n = size // STRIPE
    memset(rest, 0, 2 * STRIPE)
    memcpy(rest, p + n * STRIPE, size % STRIPE)
    memcpy(rest + STRIPE, q + n * STRIPE, size % STRIPE)
    stripes(p, q, n, h, g)
    stripes(rest, rest + STRIPE, 1, h, g)
    out[0], out[1] = joined(size, h, K1, 31), joined(size, h + 4, K0, 27)
    out[2], out[3] = joined(size, g, K1, 31), joined(size, g + 4, K0, 27)


def cells(const unsigned char[::1] data, Py_ssize_t start, Py_ssize_t stop, uint64_t[::1] out):
    """Hash each CELL bytes of data[start:stop] (the last may be fewer) into two words of `out`."""
    if not 0 <= start <= stop <= data.shape[0]:
        raise ValueError(f"data[{start}:{stop}] exceeds {data.shape[0]} bytes")
    cdef Py_ssize_t size = CELL, count = (stop - start + size - 1) // size
    if out.shape[0] != 2 * count:
        raise ValueError(f"out has {out.shape[0]} words; {count} cells take {2 * count}")
    cdef Py_ssize_t i
    cdef const uint8_t* p
    cdef uint64_t found[4]
    with nogil:
        for i in range(0, (stop - start) // size - 1, 2):
            p = &data[start + i * size]
            two_cells(p, p + size, size, &out[2 * i])
        for i in range((stop - start) // size // 2 * 2, count):
            p = &data[start + i * size]
            two_cells(p, p, min(size, stop - start - i * size), found)
            out[2 * i], out[2 * i + 1] = found[0], found[1]
