"""Pairs `index:value` of LIBSVM text as they are mostly written, many at a time.

All bytes but digits and + , - . / are marks: in ` 7:0.25 9:1` the blanks and the colons. They are
looked for 64 bytes at a time, so that reading a pair does not wait for the end of the one before;
and no branch depends on how many digits a number has, which a processor could not foresee.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

cdef extern from * nogil:
    """
    #include <stdint.h>
    #include <string.h>
    /* masks of the first and of the last k of eight bytes, and +- 10^(8 - k) */
    static const struct { uint64_t first[9], last[9]; double divisor[2][9]; } CWTOOL_EIGHT = {
        {0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF,
         0xFFFFFFFFFFFFFFFF},
        {0, 0xFFULL << 56, 0xFFFFULL << 48, 0xFFFFFFULL << 40, 0xFFFFFFFFULL << 32,
         0xFFFFFFFFFFULL << 24, 0xFFFFFFFFFFFFULL << 16, 0xFFFFFFFFFFFFFFULL << 8,
         0xFFFFFFFFFFFFFFFF},
        {{1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1, 1e0},
         {-1e8, -1e7, -1e6, -1e5, -1e4, -1e3, -1e2, -1e1, -1e0}}};

    #if defined(__SSE2__)
    #include <emmintrin.h>

    static inline uint64_t cwtool_plain16(const uint8_t *p)
    {
        __m128i x = _mm_loadu_si128((const __m128i *) p);
        x = _mm_sub_epi8(x, _mm_set1_epi8('+'));
        x = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8('9' - '+')), x);
        return (uint64_t) _mm_movemask_epi8(x);
    }

    static inline uint64_t cwtool_marks64(const uint8_t *p)
    {
        return ~(cwtool_plain16(p) | cwtool_plain16(p + 16) << 16
                 | cwtool_plain16(p + 32) << 32 | cwtool_plain16(p + 48) << 48);
    }

    static inline void cwtool_spread(const uint8_t *places, int64_t here, uint16_t *to)
    {
        const __m128i x = _mm_loadl_epi64((const __m128i *) places);
        const __m128i from = _mm_set1_epi16((short) here);
        _mm_storeu_si128(
            (__m128i *) to, _mm_add_epi16(_mm_unpacklo_epi8(x, _mm_setzero_si128()), from));
    }

    static inline int cwtool_digits(
        const uint8_t *a, int64_t n_a, const uint8_t *b, int64_t n_b, uint64_t *both)
    {
        const __m128i nine = _mm_set1_epi8(9);
        __m128i ten = _mm_set1_epi16(10 * 256 + 1);
        __asm__ ("" : "+x" (ten)); /* or GCC would make shifts and additions of the product */
        __m128i x = _mm_loadl_epi64((const __m128i *) a);
        __m128i kept = _mm_loadl_epi64((const __m128i *) &CWTOOL_EIGHT.last[n_a]);
        x = _mm_unpacklo_epi64(x, _mm_loadl_epi64((const __m128i *) b));
        kept = _mm_unpacklo_epi64(
            kept, _mm_loadl_epi64((const __m128i *) &CWTOOL_EIGHT.first[n_b]));
        x = _mm_and_si128(_mm_xor_si128(x, _mm_set1_epi8('0')), kept);
        const int good = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(x, nine), nine));
        x = _mm_srli_epi16(_mm_mullo_epi16(x, ten), 8); /* neighbours become two digits */
        x = _mm_madd_epi16(x, _mm_set1_epi32(100 + (1 << 16)));
        x = _mm_madd_epi16(_mm_packs_epi32(x, x), _mm_set1_epi32(10000 + (1 << 16)));
        *both = (uint64_t) _mm_cvtsi128_si64(x);
        return good == 0xFFFF;
    }
    #else
    static inline uint64_t cwtool_marks64(const uint8_t *p)
    {
        const uint64_t ones = 0x0101010101010101, high = 0x80 * ones;
        uint64_t found = 0;
        for (int k = 0; k < 64; k += 8) {
            uint64_t x, y;
            memcpy(&x, p + k, 8);
            y = x & ~high;
            /* the high bit of each byte that is below +, above 9, or no ASCII */
            y = (~(y + (0x80 - '+') * ones) | (y + (0x7F - '9') * ones) | x) & high;
            found |= ((y >> 7) * 0x0102040810204080 >> 56) << k;
        }
        return found;
    }

    static inline void cwtool_spread(const uint8_t *places, int64_t here, uint16_t *to)
    {
        for (int k = 0; k < 8; k++)
            to[k] = (uint16_t) (here + places[k]);
    }

    static inline uint64_t cwtool_eight(uint64_t x)
    {
        x = x * (10 * 256 + 1) >> 8 & 0x00FF00FF00FF00FF;
        x = x * (100 * 65536 + 1) >> 16 & 0x0000FFFF0000FFFF;
        return x * (10000 * 4294967296 + 1) >> 32;
    }

    static inline int cwtool_digits(
        const uint8_t *a, int64_t n_a, const uint8_t *b, int64_t n_b, uint64_t *both)
    {
        const uint64_t ones = 0x0101010101010101;
        uint64_t x, y;
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        x = (x ^ '0' * ones) & CWTOOL_EIGHT.last[n_a];
        y = (y ^ '0' * ones) & CWTOOL_EIGHT.first[n_b];
        *both = cwtool_eight(x) | cwtool_eight(y) << 32;
        return (((x + (0x7F - 9) * ones) | x | (y + (0x7F - 9) * ones) | y) & 0x80 * ones) == 0;
    }
    #endif

    #define CWTOOL_STRETCH 4096 /* bytes that marks are looked for in at a time */

    typedef struct {
        const uint8_t *first, *last; /* they are looked for between these */
        const uint8_t *start;        /* places are counted from here */
        const uint16_t *next, *end;  /* of the places that were not passed */
        uint16_t places[CWTOOL_STRETCH + 72];
        uint8_t bits[256][8], counts[256]; /* numbers of the bits that are set in a byte */
    } CwtoolMarks;

    static void cwtool_begin(CwtoolMarks *m, const uint8_t *first, const uint8_t *last)
    {
        m->first = first;
        m->last = last;
        m->start = first;
        m->next = m->end = m->places;
        memset(m->counts, 0, 256);
        for (int byte = 0; byte < 256; byte++)
            for (int bit = 0; bit < 8; bit++) {
                m->bits[byte][m->counts[byte]] = (uint8_t) bit;
                m->counts[byte] += byte >> bit & 1;
            }
    }

    static void cwtool_find(CwtoolMarks *m, const uint8_t *p)
    {
        const int64_t rest = m->last - p, last = rest < CWTOOL_STRETCH ? rest : CWTOOL_STRETCH;
        uint16_t *to = m->places;
        for (int64_t here = 0; here <= last; here += 64) {
            const uint64_t marks = cwtool_marks64(p + here);
            for (int k = 0; k < 64; k += 8) {
                const uint8_t byte = (uint8_t) (marks >> k);
                cwtool_spread(m->bits[byte], here + k, to);
                to += m->counts[byte];
            }
        }
        m->start = p;
        m->next = m->places;
        m->end = to;
    }

    /* The next mark is the one at p; whether two are known behind it. */
    static int cwtool_at(CwtoolMarks *m, const uint8_t *p)
    {
        while (m->next < m->end && m->start + *m->next < p)
            m->next++;
        if (m->end - m->next < 3 && m->first <= p && p <= m->last)
            cwtool_find(m, p);
        return m->end - m->next >= 3;
    }

    __attribute__((noinline)) static const uint8_t *cwtool_pairs(
        const uint8_t *p, int64_t base, int64_t *previous, int32_t *indices, double *values,
        int64_t *nnz, CwtoolMarks *m)
    {
        int64_t last = *previous, n = *nnz;
        uint8_t behind = *p;
        while (behind == ' ' && cwtool_at(m, p)) {
            const uint8_t *start = m->start;
            const uint16_t *next = m->next, *end = m->end - 2;
            do {
                const uint8_t *colon = start + next[1], *stop = start + next[2];
                const int64_t negative = colon[1] == '-';
                const uint8_t *digit = colon + 1 + negative;
                const int64_t point = digit[1] == '.';
                const uint8_t *rest = digit + 1 + point;
                const uint64_t first = (uint64_t) *digit - '0';
                const uint64_t length = (uint64_t) (colon - p) - 1;
                const uint64_t count = (uint64_t) (stop - rest);
                uint64_t both;
                behind = 0;
                if (*colon != ':' || length - 1 >= 8 || first > 9 || count > 8)
                    break;
                if (!cwtool_digits(colon - 8, (int64_t) length, rest, (int64_t) count, &both))
                    break;
                const int64_t index = (int64_t) (both & 0xFFFFFFFF);
                if (index <= last || (*stop != ' ' && *stop != '\\n'))
                    break;
                /* the digits of the value, of which `count` may be a fraction, and zeros */
                const int64_t x = (int64_t) (100000000 * first + (both >> 32));
                const uint64_t whole = count & (uint64_t) (point - 1);
                behind = *stop;
                indices[n] = (int32_t) (index - base);
                values[n] = (double) x / CWTOOL_EIGHT.divisor[negative][whole];
                n += x != 0;
                last = index;
                p = stop;
                next += 2;
            } while (behind == ' ' && next < end);
            m->next = next;
        }
        *previous = last;
        *nnz = n;
        return p;
    }
    """
    ctypedef struct Marks "CwtoolMarks":
        pass
    # Look for marks from `first` to `last`: there is one at `last` or just before, and 8 bytes
    # before and 64 behind can be read.
    void begin_marks "cwtool_begin"(Marks* marks, const uint8_t* first, const uint8_t* last)
    # Store the pairs from p on as far as each has one blank before it, an index of up to 8 digits
    # above `previous`, and a value of up to 9 digits, or of one before a point and up to 8 behind
    # it. Returns the place behind them.
    const uint8_t* usual_pairs "cwtool_pairs"(
        const uint8_t* p, int64_t base, int64_t* previous, int32_t* indices, double* values,
        int64_t* nnz, Marks* marks
    )
