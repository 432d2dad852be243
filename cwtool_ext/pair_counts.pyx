"""X'X over rows whose values are all the same number: how many rows have both of two columns.

Rows are taken in blocks. In a block each frequent column has a bit for each row, and two of these
columns are in as many rows as there are ones in the `and` of their bits. Pairs with another column
are counted one by one. Whole numbers have no rounding, so that the bits of the result are the same
on every machine.
"""

import numpy as np

from libc.stdint cimport int8_t, int32_t, uint64_t
from libc.string cimport memset

from cwtool_ext.csr cimport Csr, Row, one_a_row, row_at
from cwtool_ext.decimal cimport trailing_zeros


cdef enum:
    WORD = 64  # bits
    LINE = 8  # words in a cache line
    WORDS = 128  # for each column of a block
    STRIDE = WORDS + LINE  # from column to column; a power of two would use a part of the cache
    TELLING = 1000  # rows that tell which columns are frequent
    FEW = 512  # rows: for fewer all pairs are counted one by one
    # pairs of frequent columns that cost a row as much as one of its other pairs
    VECTORS = 8000
    WORDS_ALONE = 200


cdef extern from *:
    """
    #include <stdint.h>
    /* ones[4 i + k]: the number of ones in a_i & b_k, of four columns each, `stride` words apart */
    #define CWTOOL_SIXTEEN \\
        const uint64_t *a, const uint64_t *b, Py_ssize_t stride, Py_ssize_t words, int32_t *ones
    #if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
    #include <immintrin.h>
    static int cwtool_counts_bits(void)
    {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq");
    }

    __attribute__((target("avx512f,avx512vpopcntdq")))
    static void cwtool_ones_in_vectors(CWTOOL_SIXTEEN)
    {
        __m512i sum[16], mine[4];
        #pragma GCC unroll 16
        for (int c = 0; c < 16; c++)
            sum[c] = _mm512_setzero_si512();
        for (Py_ssize_t w = 0; w < words; w += 8) {
            #pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                mine[i] = _mm512_loadu_si512(a + i * stride + w);
            #pragma GCC unroll 4
            for (int k = 0; k < 4; k++) {
                const __m512i other = _mm512_loadu_si512(b + k * stride + w);
                #pragma GCC unroll 4
                for (int i = 0; i < 4; i++)
                    sum[4 * i + k] = _mm512_add_epi64(
                        sum[4 * i + k], _mm512_popcnt_epi64(_mm512_and_si512(mine[i], other)));
            }
        }
        #pragma GCC unroll 16
        for (int c = 0; c < 16; c++)
            ones[c] = (int32_t) _mm512_reduce_add_epi64(sum[c]);
    }

    __attribute__((target_clones("popcnt", "default")))
    #else
    static int cwtool_counts_bits(void) { return 0; }
    static void cwtool_ones_in_vectors(CWTOOL_SIXTEEN) {}
    #endif
    static void cwtool_ones_in_words(CWTOOL_SIXTEEN)
    {
        for (int c = 0; c < 16; c++) {
            const uint64_t *mine = a + c / 4 * stride, *other = b + c % 4 * stride;
            int32_t sum = 0;
            for (Py_ssize_t w = 0; w < words; w++)
                sum += __builtin_popcountll(mine[w] & other[w]);
            ones[c] = sum;
        }
    }
    """
    bint counts_bits "cwtool_counts_bits"() noexcept nogil
    void ones_in_vectors "cwtool_ones_in_vectors"(
        const uint64_t* a, const uint64_t* b, Py_ssize_t stride, Py_ssize_t words, int32_t* ones
    ) noexcept nogil
    void ones_in_words "cwtool_ones_in_words"(
        const uint64_t* a, const uint64_t* b, Py_ssize_t stride, Py_ssize_t words, int32_t* ones
    ) noexcept nogil


cdef inline Py_ssize_t words_for(Py_ssize_t n) noexcept nogil:
    """The number of words with bits of n rows, in whole cache lines."""
    return (n + WORD * LINE - 1) // (WORD * LINE) * LINE


cdef frequent_columns(Csr rows, Py_ssize_t n):
    """The columns whose pairs are counted by bits, in ascending order; they are the most frequent
    ones. Their number d makes the cost of a row least, which a sample of the rows tells: d^2/2
    pairs of bits, and the other pairs of its entries."""
    cdef Py_ssize_t i, k, step = max(1, rows.count // TELLING)
    cdef Row row
    often = np.zeros(n, dtype=np.int32)
    cdef int32_t[::1] seen = often
    for i in range(0, rows.count, step):
        row = row_at(rows, i)
        for k in range(row.nnz):
            seen[row.index[k]] += 1
    order = np.argsort(-often, kind="stable")
    inside = np.append(0, np.cumsum(often[order])) / max(1, len(range(0, rows.count, step)))
    pairs = np.arange(n + 1) ** 2 - (VECTORS if counts_bits() else WORDS_ALONE) * inside**2
    best = n - int(np.argmin(pairs[::-1]))  # the largest of equal ones
    return np.sort(order[:best]).astype(np.int32)


cdef class PairCounts:
    """Counts pairs of the n columns of rows in which no column is twice."""

    cdef Csr rows
    cdef Py_ssize_t n
    cdef double unit  # the square of all values
    cdef int32_t[::1] frequent  # columns
    cdef int32_t[::1] place  # of each column among the frequent ones; behind them: it is none
    cdef uint64_t[:, ::1] bits  # of the frequent columns, for each row of a block
    cdef uint64_t[::1] word  # the bits of 64 rows; the last one is for all other columns
    cdef int32_t[:, ::1] together  # rows with two frequent columns, on and below the diagonal
    cdef int32_t[:, ::1] others  # rows with two other columns, at one of the places of the pair
    cdef bint by_bits, one_by_one  # whether there are such counts
    cdef Py_ssize_t[:, ::1] latest  # rows that are to be added, and to be subtracted
    cdef int32_t[::1] columns  # of a row, the frequent ones first

    def __init__(self, Csr rows not None, Py_ssize_t n):
        cdef double value = rows.scale * rows.value[0] if rows.start[rows.count] else 0
        rows.fit(n)
        self.unit = value * value
        self.rows, self.n, self.frequent = rows, n, frequent_columns(rows, n)
        cdef Py_ssize_t d = self.frequent.shape[0], whole = (d + 3) // 4 * 4
        place = np.full(n, d, dtype=np.int32)
        place[self.frequent] = np.arange(d)
        self.place = place
        self.bits = np.zeros((whole, STRIDE), dtype=np.uint64)
        self.word = np.zeros(d + 1, dtype=np.uint64)
        self.together = np.zeros((whole, whole), dtype=np.int32)
        self.others = np.zeros((n, n), dtype=np.int32)
        self.latest = np.empty((2, WORDS * WORD + 1), dtype=np.intp)
        self.columns = np.empty(rows.longest + 1, dtype=np.int32)

    def add(self, const int8_t[::1] signs, double[:, ::1] G) -> None:
        """G += sum of signs_i x_i x_i' on and below the diagonal; signs are 1, 0 or -1."""
        cdef Py_ssize_t i, more = 0, less = 0
        one_a_row("signs", signs.shape[0], self.rows)
        if min(G.shape[0], G.shape[1]) < self.n:
            raise ValueError(f"the matrix has no place for {self.n} columns")
        if self.n == 0:
            return
        cdef Py_ssize_t* added = &self.latest[0, 0]
        cdef Py_ssize_t* subtracted = &self.latest[1, 0]
        with nogil:
            for i in range(signs.shape[0]):
                added[more] = subtracted[less] = i
                more += signs[i] > 0
                less += signs[i] < 0
                if more == WORDS * WORD:
                    self.count(added, more, 1)
                    more = 0
                if less == WORDS * WORD:
                    self.count(subtracted, less, -1)
                    less = 0
            self.count(added, more, 1)
            self.count(subtracted, less, -1)
            self.hand_over(G)

    cdef void count(self, const Py_ssize_t* rows, Py_ssize_t n, int sign) noexcept nogil:
        """Count the pairs of these n rows `sign` times."""
        cdef Py_ssize_t w, i
        if n < FEW or self.frequent.shape[0] == 0:
            self.one_by_one |= n > 0
            for i in range(n):
                self.count_row(row_at(self.rows, rows[i]), sign)
            return
        for w in range(words_for(n)):
            self.write_bits(w, rows + WORD * w, min(WORD, n - WORD * w), sign)
        self.count_bits(words_for(n), sign)

    cdef inline void count_row(self, Row row, int sign) noexcept nogil:
        """Count all pairs of a row one by one."""
        cdef Py_ssize_t a, b
        cdef int32_t j, k
        cdef int32_t* others = &self.others[0, 0]
        for a in range(row.nnz):
            j = row.index[a]
            for b in range(a + 1):
                k = row.index[b]
                others[max(j, k) * self.n + min(j, k)] += sign

    cdef void write_bits(
        self, Py_ssize_t w, const Py_ssize_t* rows, Py_ssize_t n, int sign
    ) noexcept nogil:
        """Make the bits of n rows word w of the block, and count their pairs with columns that are
        not frequent. Beyond the last row n is negative."""
        cdef Py_ssize_t i, k, c, first, last, d = self.frequent.shape[0]
        cdef Row row
        cdef bint rare
        cdef const int32_t* places = &self.place[0]
        cdef int32_t* columns = &self.columns[0]
        cdef int32_t* line
        cdef uint64_t* word = &self.word[0]
        memset(word, 0, (d + 1) * sizeof(uint64_t))
        for i in range(n):
            row = row_at(self.rows, rows[i])
            for k in range(row.nnz):
                word[places[row.index[k]]] |= <uint64_t> 1 << i
        for c in range(d):
            self.bits[c, w] = word[c]
        self.one_by_one |= word[d] != 0
        while word[d]:  # rows with columns that are not frequent
            row = row_at(self.rows, rows[trailing_zeros(word[d])])
            word[d] &= word[d] - 1
            first, last = 0, row.nnz
            for k in range(row.nnz):
                rare = places[row.index[k]] == d
                last -= rare
                columns[last if rare else first] = row.index[k]
                first += not rare
            for last in range(first, row.nnz):
                line = &self.others[columns[last], 0]
                for k in range(last + 1):
                    line[columns[k]] += sign

    cdef void count_bits(self, Py_ssize_t words, int sign) noexcept nogil:
        """Count, for each two frequent columns, the rows of the block that have both."""
        self.by_bits = True
        cdef Py_ssize_t a, b, c
        cdef const uint64_t* bits = &self.bits[0, 0]
        cdef int32_t[16] ones
        for a in range(0, self.bits.shape[0], 4):
            for b in range(0, a + 1, 4):
                if counts_bits():
                    ones_in_vectors(bits + STRIDE * a, bits + STRIDE * b, STRIDE, words, ones)
                else:
                    ones_in_words(bits + STRIDE * a, bits + STRIDE * b, STRIDE, words, ones)
                for c in range(16):
                    self.together[a + c // 4, b + c % 4] += sign * ones[c]

    cdef void hand_over(self, double[:, ::1] G) noexcept nogil:
        """Add the counts to the matrix, and begin again with 0."""
        cdef Py_ssize_t a, b, j, k
        if self.by_bits:
            for a in range(self.frequent.shape[0]):
                j = self.frequent[a]
                for b in range(a + 1):
                    G[j, self.frequent[b]] += self.unit * self.together[a, b]
            self.together[:] = 0
        if self.by_bits and self.frequent.shape[0] < self.n:  # pairs on both sides of the diagonal
            for j in range(self.n):
                for k in range(j):
                    self.others[j, k] += self.others[k, j]
                    self.others[k, j] = 0
        if self.one_by_one:
            for j in range(self.n):
                add_line(self.unit, &self.others[j, 0], j + 1, &G[j, 0])
        self.by_bits = self.one_by_one = False


cdef inline void add_line(
    double unit, int32_t* counts, Py_ssize_t n, double* line
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        line[k] += unit * counts[k]
    memset(counts, 0, n * sizeof(int32_t))
