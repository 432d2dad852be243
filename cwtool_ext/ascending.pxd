"""Ascending ids from the gaps between them, eight at a time where the processor can do that.

The codes of `numbers.pxd` say where the bytes of four numbers lie, so one instruction moves all of
them to their places. The ids are the running sums of 1 + gap.

Rows have unforeseeable lengths. A branch at the end of each would be guessed wrongly, which took a
third of the time. Hence the steps of a window are marked first, and then made without a branch: a
mark is how many ids the step gives, 8 or fewer, and 16 more if they are the last of their row.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

from cwtool_ext.numbers cimport QUADS, Quad, load4  # and the macros beside them

cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__GNUC__)
    #include <immintrin.h>
    #include <string.h>

    #define WINDOW 256
    #define ENDS 16
    #define MOVED(length, start, j) ((j) < (length) ? (start) + (j) : 128) /* 128: a byte of 0 */
    #define LANE(length, start) MOVED(length, start, 0), MOVED(length, start, 1), \
                                MOVED(length, start, 2), MOVED(length, start, 3)
    #define MOVES(c) {{LANE(LENGTH_OF((c) & 3), 0), LANE(LENGTH_OF((c) >> 2 & 3), FIRST(c)), \
                       LANE(LENGTH_OF((c) >> 4 & 3), SECOND(c)), \
                       LANE(LENGTH_OF((c) >> 6 & 3), THIRD(c))}, \
                      THIRD(c) + LENGTH_OF((c) >> 6 & 3)},
    #define REPEATED(x) x, x, x, x
    #define BY_MARK(none, one, two) \
        {none, REPEATED(one), REPEATED(two), none, none, none, none, none, none, none, \
         none, REPEATED(one), REPEATED(two)}
    typedef struct { uint8_t move[16]; int64_t size, unused; } Moves;
    static const struct {
        Moves of[256]; /* a byte of codes: where the bytes of its numbers go, and their number */
        /* of a mark: the codes of the step, their number, and -1 (in four from the mark on) if a
           row begins after it */
        uint32_t codes[25];
        int64_t anew[28];
        uint8_t used[25];
    } TABLES __attribute__((aligned(32))) = {
        {EVERY(MOVES)},
        BY_MARK(0, 0xff, 0xffff),
        {REPEATED(0), REPEATED(0), REPEATED(0), REPEATED(0), REPEATED(-1), REPEATED(-1),
         REPEATED(-1)},
        BY_MARK(0, 1, 2),
    };

    static int has_vectors(void) { return __builtin_cpu_supports("avx2"); }

    __attribute__((target("avx2"))) static void vector_fill(double* out, int64_t n, double x)
    {
        for (; n > 0 && (uintptr_t) out % 32; n--) *out++ = x;
        for (; n >= 4; n -= 4, out += 4) _mm256_store_pd(out, _mm256_set1_pd(x));
        while (n-- > 0) *out++ = x;
    }

    /* The marks of the next steps, at most WINDOW; their number. `left` entries of the row
       behind *row have no mark yet. */
    static int64_t mark_steps(
        const int64_t** row, const int64_t* stop, int64_t* left, uint8_t* marks)
    {
        int64_t n = 0;
        memset(marks, 8, WINDOW);
        while (*row < stop) {
            int64_t steps = (*left + 7) >> 3;
            if (steps > WINDOW - n) {
                *left -= 8 * (WINDOW - n);
                return WINDOW;
            }
            n += steps;
            if (steps) marks[n - 1] = (uint8_t) (ENDS + *left - 8 * (steps - 1));
            if (++*row < stop) *left = (*row)[1] - (*row)[0];
        }
        return n;
    }

    __attribute__((target("avx2"))) static const uint8_t* vector_ids(
        const uint8_t* codes, const uint8_t* p, const uint8_t* end, const int64_t* indptr,
        int64_t n_rows, int32_t last, int32_t* ids)
    {
        const __m256i one = _mm256_set1_epi32(1), most = _mm256_set1_epi32(last);
        const __m256i eighth = _mm256_set1_epi32(7);
        __m256i signs = _mm256_setzero_si256(), highest = most, before = _mm256_set1_epi32(-1);
        const int64_t* row = indptr;
        const int64_t* stop = indptr + n_rows;
        int64_t left = n_rows ? indptr[1] - indptr[0] : 0;
        uint8_t marks[WINDOW];
        while (row < stop) {
            int64_t steps = mark_steps(&row, stop, &left, marks);
            for (int64_t k = 0; k < steps; k++) {
                if (p > end) return 0;
                uint64_t mark = marks[k];
                uint16_t two;
                memcpy(&two, codes, 2);
                uint64_t used = two & TABLES.codes[mark];
                const Moves* a = &TABLES.of[used & 0xff];
                const Moves* b = &TABLES.of[used >> 8];
                codes += TABLES.used[mark];
                __m256i x = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i*) p));
                p += a->size;
                x = _mm256_inserti128_si256(x, _mm_loadu_si128((const __m128i*) p), 1);
                p += b->size;
                __m256i move = _mm256_castsi128_si256(_mm_load_si128((const __m128i*) a->move));
                move = _mm256_inserti128_si256(
                    move, _mm_load_si128((const __m128i*) b->move), 1);
                x = _mm256_shuffle_epi8(x, move);
                signs = _mm256_or_si256(signs, x);
                x = _mm256_add_epi32(x, one);
                x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
                x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
                __m256i four = _mm256_permute2x128_si256(x, x, 0x08); /* the first, as the second */
                x = _mm256_add_epi32(x, _mm256_shuffle_epi32(four, 0xff));
                x = _mm256_add_epi32(x, before);
                highest = _mm256_max_epu32(highest, x);
                _mm256_storeu_si256((__m256i*) ids, x);
                ids += mark % ENDS;
                before = _mm256_or_si256(
                    _mm256_permutevar8x32_epi32(x, eighth),
                    _mm256_loadu_si256((const __m256i*) (TABLES.anew + mark)));
            }
        }
        int none_above = _mm256_movemask_epi8(_mm256_cmpeq_epi32(highest, most)) == -1;
        int none_negative = _mm256_movemask_ps(_mm256_castsi256_ps(signs)) == 0;
        return p <= end && none_above && none_negative ? p : 0;
    }
    #else
    static void vector_fill(double* out, int64_t n, double x) {}
    static int has_vectors(void) { return 0; }
    static const uint8_t* vector_ids(
        const uint8_t* codes, const uint8_t* p, const uint8_t* end, const int64_t* indptr,
        int64_t n_rows, int32_t last, int32_t* ids) { return 0; }
    #endif
    """
    bint has_vectors() noexcept nogil
    void vector_fill(double* out, int64_t n, double x) noexcept nogil
    # The ids of all rows, of which `codes` and the bytes from p on say the gaps; the place behind
    # them. NULL: they do not end before `end`, or exceed `last` or come so near to it that what is
    # written behind a row exceeds it. Gaps and ids without a sign bit cannot have passed 2^32
    # unseen. Up to SPARE places behind a row are written, and 32 bytes behind `end` are read.
    const uint8_t* vector_ids(
        const uint8_t* codes, const uint8_t* p, const uint8_t* end, const int64_t* indptr,
        int64_t n_rows, int32_t last, int32_t* ids
    ) noexcept nogil

cdef enum:
    SPARE = 7  # places behind the last id that may be written to


cdef inline const uint8_t* get_ascending(
    const uint8_t* codes, const uint8_t* p, const uint8_t* end, const int64_t* indptr,
    int64_t n_rows, int32_t last, int32_t* indices,
) noexcept nogil:
    """The ids of all rows, of which `codes` and the bytes from p on say the gaps; the place behind
    them, or NULL if they do not end before `end` or exceed `last`. Several are read at a time: up
    to SPARE places behind the ids of a row are written and written again."""
    cdef const uint8_t* found
    cdef int64_t i, k, id_, n
    cdef const Quad* quad
    cdef int32_t* ids
    if has_vectors() and last >= 0:
        found = vector_ids(codes, p, end, indptr, n_rows, last, indices + indptr[0])
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
