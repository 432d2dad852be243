"""X'HX over rows, which grows by rows that are added and shrinks by rows that are subtracted.

A row of l entries adds l^2/2 products. Columns that many rows have may be `heavy`: the products of
two of them are left to tiles.pyx, which multiplies the zeros among them as well but is many times
faster than a loop that finds the place of each product.
"""

import numpy as np

from libc.stdint cimport int8_t, int32_t

from cwtool_ext.csr cimport Csr, Row, fetch, one_a_row, row_at
from cwtool_ext.tiles cimport HeavyColumns


cdef enum:
    FEW = 96  # rows: for fewer no column is heavy
    SOON = 4  # rows ahead that are asked for


cdef inline void add_pairs(
    const int32_t* index, const double* z, Py_ssize_t first, Py_ssize_t nnz, double h, double* g,
    Py_ssize_t width
) noexcept nogil:
    """g += h z z' of one row, each pair of its entries once, at the line of the later one, but not
    the pairs of the entries before `first`. Four lines at a time, which share the loads."""
    cdef Py_ssize_t a, b, k, whole = nnz - (nnz - first) % 4
    cdef double x0, x1, x2, x3
    cdef double* g0
    cdef double* g1
    cdef double* g2
    cdef double* g3
    for a in range(first, whole, 4):
        x0, x1, x2, x3 = h * z[a], h * z[a + 1], h * z[a + 2], h * z[a + 3]
        g0, g1 = g + width * index[a], g + width * index[a + 1]
        g2, g3 = g + width * index[a + 2], g + width * index[a + 3]
        for b in range(a + 1):
            k = index[b]
            g0[k] += x0 * z[b]
            g1[k] += x1 * z[b]
            g2[k] += x2 * z[b]
            g3[k] += x3 * z[b]
        k = index[a + 1]
        g1[k] += x1 * z[a + 1]
        g2[k] += x2 * z[a + 1]
        g3[k] += x3 * z[a + 1]
        g2[index[a + 2]] += x2 * z[a + 2]
        g3[index[a + 2]] += x3 * z[a + 2]
        g3[index[a + 3]] += x3 * z[a + 3]
    for a in range(whole, nnz):
        x0 = h * z[a]
        g0 = g + width * index[a]
        for b in range(a + 1):
            g0[index[b]] += x0 * z[b]


cdef class PairSums:
    """X'HX over n columns, by pairs of entries. Slots of a row need not ascend."""

    cdef Csr rows
    cdef const double[:] weight
    cdef double[:, ::1] both  # room for pairs of slots on both sides of the diagonal; else zeros
    cdef double[::1] z  # the entries of a row
    cdef int32_t[::1] index
    cdef HeavyColumns heavy  # None: there are none

    def __init__(
        self, Csr rows not None, Py_ssize_t n, const double[:] weight, const int32_t[::1] heavy
    ):
        """`weight` has the weight of each row; `heavy` are columns in ascending order."""
        rows.fit(n)
        one_a_row("weight", weight.shape[0], rows)
        self.rows, self.weight, self.both = rows, weight, np.zeros((n, n))
        self.z = np.empty(max(1, rows.longest))
        self.index = np.empty(max(1, rows.longest), dtype=np.int32)
        self.heavy = HeavyColumns(heavy, n) if heavy.shape[0] else None

    def add(self, const int8_t[::1] signs, double[:, ::1] G) -> None:
        """G += sum of signs_i weight_i x_i x_i' on and below the diagonal; signs are 1, 0 or -1."""
        cdef Csr rows = self.rows
        cdef Py_ssize_t i, j, k, first, changed = 0, n = self.both.shape[0]
        cdef double h
        cdef Row row
        cdef bint mixed
        one_a_row("signs", signs.shape[0], rows)
        if min(G.shape[0], G.shape[1]) < n:
            raise ValueError(f"the matrix has no place for {n} columns")
        if n == 0:
            return
        cdef double* g = &self.both[0, 0]
        with nogil:
            for i in range(rows.count):
                changed += signs[i] != 0
            mixed = self.heavy is not None and changed >= FEW
            for i in range(rows.count):
                if i + SOON < rows.count and signs[i + SOON] != 0 and signs[i + SOON - 1] == 0:
                    fetch(row_at(rows, i + SOON))  # the processor does not expect it
                if signs[i] == 0:
                    continue
                h, row, first = self.weight[i] * signs[i], row_at(rows, i), 0
                if mixed:
                    first = self.heavy.take(row, h, &self.index[0], &self.z[0])
                    add_pairs(&self.index[0], &self.z[0], first, row.nnz, h, g, n)
                else:
                    for k in range(row.nnz):
                        self.z[k] = row.scale * row.value[k]
                    add_pairs(row.index, &self.z[0], 0, row.nnz, h, g, n)
            if mixed:
                self.heavy.hand_over(G)
            for j in range(n):
                for k in range(j):
                    G[j, k] += self.both[j, k] + self.both[k, j]
                    self.both[j, k] = self.both[k, j] = 0
                G[j, j] += self.both[j, j]
                self.both[j, j] = 0
