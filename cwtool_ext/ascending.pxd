"""Ascending ids from the gaps between them, four at a time where the processor can do that.

The codes of `numbers.pxd` say where the bytes of four numbers lie, so one instruction moves all of
them to their places. The ids are the running sums of 1 + gap.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

from cwtool_ext.numbers cimport QUADS, Quad, load4  # and the macros beside them

cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__GNUC__)
    #include <immintrin.h>

    #define MOVED(length, start, j) ((j) < (length) ? (start) + (j) : 128) /* 128: a byte of 0 */
    #define LANE(length, start) MOVED(length, start, 0), MOVED(length, start, 1), \
                                MOVED(length, start, 2), MOVED(length, start, 3)
    #define MOVES(c) {LANE(LENGTH_OF((c) & 3), 0), LANE(LENGTH_OF((c) >> 2 & 3), FIRST(c)), \
                      LANE(LENGTH_OF((c) >> 4 & 3), SECOND(c)), \
                      LANE(LENGTH_OF((c) >> 6 & 3), THIRD(c))},
    static const unsigned char SHUFFLES[256][16] __attribute__((aligned(16))) = {EVERY(MOVES)};

    static int has_vectors(void) { return __builtin_cpu_supports("avx"); }

    __attribute__((target("avx"))) static void vector_fill(double* out, int64_t n, double x)
    {
        for (; n > 0 && (uintptr_t) out % 32; n--) *out++ = x;
        for (; n >= 4; n -= 4, out += 4) _mm256_store_pd(out, _mm256_set1_pd(x));
        while (n-- > 0) *out++ = x;
    }

    __attribute__((target("avx"))) static const uint8_t* vector_ids(
        const uint8_t* codes, const uint8_t* p, const uint8_t* end, const int64_t* indptr,
        int64_t n_rows, int32_t last, int32_t* indices)
    {
        const __m128i one = _mm_set1_epi32(1);
        __m128i signs = _mm_setzero_si128();
        for (int64_t i = 0; i < n_rows; i++) {
            int32_t* ids = indices + indptr[i];
            int32_t* stop = indices + indptr[i + 1];
            __m128i before = _mm_set1_epi32(-1);
            for (; ids < stop; ids += 4) {
                if (p > end) return 0;
                __m128i move = _mm_load_si128((const __m128i*) SHUFFLES[*codes]);
                __m128i x = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i*) p), move);
                signs = _mm_or_si128(signs, x);
                x = _mm_add_epi32(x, one);
                x = _mm_add_epi32(x, _mm_slli_si128(x, 4));
                x = _mm_add_epi32(x, _mm_slli_si128(x, 8));
                x = _mm_add_epi32(x, before);
                signs = _mm_or_si128(signs, x);
                _mm_storeu_si128((__m128i*) ids, x);
                before = _mm_shuffle_epi32(x, 0xff);
                p += QUADS[*codes++].end[3];
            }
            if (indptr[i] < indptr[i + 1] && stop[-1] > last) return 0;
        }
        return p <= end && _mm_movemask_ps(_mm_castsi128_ps(signs)) == 0 ? p : 0;
    }
    #else
    static void vector_fill(double* out, int64_t n, double x) {}
    static int has_vectors(void) { return 0; }
    static const uint8_t* vector_ids(
        const uint8_t* codes, const uint8_t* p, const uint8_t* end, const int64_t* indptr,
        int64_t n_rows, int32_t last, int32_t* indices) { return 0; }
    #endif
    """
    bint has_vectors() noexcept nogil
    void vector_fill(double* out, int64_t n, double x) noexcept nogil
    # The ids of all rows, of which `codes` and the bytes from p on say the gaps; the place behind
    # them. NULL: they do not end before `end`, exceed `last`, or come so near to 2^31 that sums of
    # 32 bits do not tell. Gaps and ids without a sign bit cannot have passed 2^32 unseen. Up to 3
    # places behind the ids of a row are written, and 16 bytes behind `end` are read.
    const uint8_t* vector_ids(
        const uint8_t* codes, const uint8_t* p, const uint8_t* end, const int64_t* indptr,
        int64_t n_rows, int32_t last, int32_t* indices
    ) noexcept nogil

cdef enum:
    SPARE = 3  # places behind the last id that may be written to


cdef inline const uint8_t* get_ascending(
    const uint8_t* codes, const uint8_t* p, const uint8_t* end, const int64_t* indptr,
    int64_t n_rows, int32_t last, int32_t* indices,
) noexcept nogil:
    """The ids of all rows, of which `codes` and the bytes from p on say the gaps; the place behind
    them, or NULL if they do not end before `end` or exceed `last`. Four are read at a time: up to
    SPARE places behind the ids of a row are written and written again."""
    cdef const uint8_t* found
    cdef int64_t i, k, id_, n
    cdef const Quad* quad
    cdef int32_t* ids
    if has_vectors():
        found = vector_ids(codes, p, end, indptr, n_rows, last, indices)
        if found != NULL:
            return found
    for i in range(n_rows):
        n = indptr[i + 1] - indptr[i]
        ids = indices + indptr[i]
        id_ = -1
        for k in range(0, n, 4):
            if p > end:
                return NULL
            quad = &QUADS[codes[0]]
            id_ += 1 + <int64_t> (load4(p) & quad.mask[0])
            ids[k] = <int32_t> id_
            id_ += 1 + <int64_t> (load4(p + quad.end[0]) & quad.mask[1])
            ids[k + 1] = <int32_t> id_
            id_ += 1 + <int64_t> (load4(p + quad.end[1]) & quad.mask[2])
            ids[k + 2] = <int32_t> id_
            id_ += 1 + <int64_t> (load4(p + quad.end[2]) & quad.mask[3])
            ids[k + 3] = <int32_t> id_
            p += quad.end[3]
            codes += 1
        if id_ - (-n & 3) > last:
            return NULL
    return p if p <= end else NULL


cdef inline void fill(double* out, int64_t n, double x) noexcept nogil:
    """Write x to n places."""
    cdef int64_t k
    if has_vectors():
        vector_fill(out, n, x)
        return
    for k in range(n):
        out[k] = x
