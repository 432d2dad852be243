"""X'X over rows whose values are all the same number: how many rows have both of two columns.

A row is written as 32 bytes, 1 for each of the 32 most frequent columns that it has, and these are
added to the bytes of all of its columns. After 255 rows, before a byte overflows, the bytes become
part of the counts. Pairs of two other columns are counted one by one. Whole numbers have no
rounding, so that the bits are the same on every machine.
"""

import numpy as np

from libc.stdint cimport int8_t, int32_t, uint8_t
from libc.string cimport memset

from cwtool_ext.csr cimport Csr, Row, one_a_row, row_at


cdef enum:
    FREQUENT = 32  # columns
    FULL = 255  # rows that bytes can count
    TELLING = 1000  # rows that tell which columns are frequent


cdef extern from *:
    """
    #include <stdint.h>
    typedef uint8_t cwtool_bytes __attribute__((vector_size(32), aligned(1), may_alias));

    /* add 32 bytes to those of each of n columns */
    static inline void cwtool_add_bytes(
        Py_ssize_t n, const int32_t *column, const uint8_t *bytes, uint8_t *sums)
    {
        const cwtool_bytes added = *(const cwtool_bytes *) bytes;
        for (Py_ssize_t k = 0; k < n; k++)
            *(cwtool_bytes *) (sums + 32 * (Py_ssize_t) column[k]) += added;
    }
    """
    void add_bytes "cwtool_add_bytes"(
        Py_ssize_t n, const int32_t* column, const uint8_t* bytes, uint8_t* sums
    ) noexcept nogil


cdef class PairCounts:
    """Counts pairs of the n columns of rows in which no column is twice."""

    cdef Csr rows
    cdef Py_ssize_t n
    cdef int32_t[::1] frequent  # columns
    cdef uint8_t[::1] place  # of each column among the frequent ones; FREQUENT: it is none
    cdef uint8_t[:, ::1] packed, sums  # latest rows, and their sum for each of their columns
    cdef int32_t[:, ::1] counts  # the same of all rows
    cdef int32_t[:, ::1] others  # rows with two columns that are not frequent, below the diagonal
    cdef Py_ssize_t[::1] latest  # rows
    cdef int32_t[::1] few  # their columns that are not frequent, one row after the other
    cdef Py_ssize_t[::1] first  # where those of each of these rows begin

    def __init__(self, Csr rows not None, Py_ssize_t n):
        cdef Py_ssize_t i, k, step = max(1, rows.count // TELLING)
        cdef Py_ssize_t rare = n if n > FREQUENT else 0
        cdef Row row
        rows.fit(n)
        self.rows, self.n = rows, n
        often = np.zeros(n, dtype=np.int32)
        cdef int32_t[::1] seen = often
        for i in range(0, rows.count, step):
            row = row_at(rows, i)
            for k in range(row.nnz):
                seen[row.index[k]] += 1
        self.frequent = np.argsort(-often, kind="stable")[:FREQUENT].astype(np.int32)
        self.place = np.full(n, FREQUENT, dtype=np.uint8)
        for k in range(self.frequent.shape[0]):
            self.place[self.frequent[k]] = <uint8_t> k
        self.packed = np.zeros((FULL, FREQUENT), dtype=np.uint8)
        self.sums = np.zeros((n, FREQUENT), dtype=np.uint8)
        self.counts = np.zeros((n, FREQUENT), dtype=np.int32)
        self.others = np.zeros((rare, rare), dtype=np.int32)
        self.few = np.empty(FULL * rows.longest + 1, dtype=np.int32)
        self.latest, self.first = np.empty((2, FULL + 1), dtype=np.intp)

    def add(self, double unit, const int8_t[::1] signs, double[:, ::1] G) -> None:
        """G += unit * sum of signs_i b_i b_i' on and below the diagonal, where b_i is 1 for the
        columns of row i and 0 for all others; signs are 1, 0 or -1."""
        cdef Py_ssize_t i, full = 0
        cdef int sign
        cdef Py_ssize_t* latest = &self.latest[0]
        one_a_row("signs", signs.shape[0], self.rows)
        if min(G.shape[0], G.shape[1]) < self.n:
            raise ValueError(f"the matrix has no place for {self.n} columns")
        if self.n == 0:
            return
        with nogil:
            for sign in range(1, -2, -2):
                for i in range(signs.shape[0]):
                    latest[full] = i
                    full += signs[i] == sign
                    if full == FULL:
                        self.count(full, sign)
                        full = 0
                self.count(full, sign)
                full = 0
            self.hand_over(unit, G)

    cdef void count(self, Py_ssize_t n, int sign) noexcept nogil:
        """Count the pairs of the latest n rows `sign` times."""
        cdef Py_ssize_t i, k, c, place, few = 0
        cdef Row row
        cdef int32_t* counts = &self.counts[0, 0]
        cdef uint8_t* sums = &self.sums[0, 0]
        cdef const uint8_t* places = &self.place[0]
        cdef int32_t* columns = &self.few[0]
        cdef uint8_t* bits = &self.packed[0, 0]
        memset(bits, 0, n * FREQUENT)
        for i in range(n):
            row = row_at(self.rows, self.latest[i])
            self.first[i] = few
            for k in range(row.nnz):
                place = places[row.index[k]]
                bits[place % FREQUENT] |= place < FREQUENT
                columns[few] = row.index[k]
                few += place == FREQUENT
            bits += FREQUENT
        self.first[n] = few
        for i in range(n):  # apart from the loop above, whose bytes would have to be waited for
            row = row_at(self.rows, self.latest[i])
            add_bytes(row.nnz, row.index, &self.packed[i, 0], sums)
        for c in range(self.n * FREQUENT):
            counts[c] += sign * sums[c]
            sums[c] = 0
        for i in range(n):
            self.count_others(columns + self.first[i], self.first[i + 1] - self.first[i], sign)

    cdef inline void count_others(
        self, const int32_t* columns, Py_ssize_t few, int sign
    ) noexcept nogil:
        """Count the pairs of these columns of a row, which are not frequent."""
        cdef Py_ssize_t a, b, n = self.others.shape[1]
        cdef int32_t j, k
        cdef int32_t* others = &self.others[0, 0]
        for a in range(few):
            j = columns[a]
            for b in range(a + 1):
                k = columns[b]
                others[max(j, k) * n + min(j, k)] += sign

    cdef void hand_over(self, double unit, double[:, ::1] G) noexcept nogil:
        """Add the counts to the matrix, and begin again with 0."""
        cdef Py_ssize_t c, j, k, columns = self.frequent.shape[0]
        cdef int32_t count
        for j in range(self.n):
            for c in range(columns):
                k, count = self.frequent[c], self.counts[j, c]
                self.counts[j, c] = 0
                if k <= j:
                    G[j, k] += unit * count
                elif self.place[j] == FREQUENT:
                    G[k, j] += unit * count
        for j in range(self.others.shape[0]):
            if self.place[j] == FREQUENT:
                add_line(unit, &self.others[j, 0], j + 1, &G[j, 0])


cdef inline void add_line(
    double unit, int32_t* counts, Py_ssize_t n, double* line
) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        line[k] += unit * counts[k]
    memset(counts, 0, n * sizeof(int32_t))
