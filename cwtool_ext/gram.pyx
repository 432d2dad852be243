"""X'HX over rows, which grows by rows that are added and shrinks by rows that are subtracted.

A row of l entries adds l^2/2 products. Columns that many rows have may be `heavy`: the products of
two of them are left to BLAS, which multiplies the zeros among them as well but is many times faster
than a loop that finds the place of each product.
"""

import numpy as np

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport sqrt
from libc.stdint cimport int8_t, int32_t

from cwtool_ext.csr cimport Csr, Row, fetch, one_a_row, row_at


cdef enum:
    TOGETHER = 256  # rows whose heavy columns BLAS multiplies at a time
    SOON = 4  # rows ahead that are asked for

ctypedef void (*Syrk)(
    const char*, const char*, int*, int*, double*, double*, int*, double*, double*, int*
) noexcept nogil


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


cdef class Heavy:
    """X'HX over the heavy columns, and blocks of rows that are not yet part of it: those that are
    added, and those that are subtracted."""

    cdef int32_t[::1] place  # of a column among the heavy ones; -1: it is none
    cdef double[:, ::1] added, subtracted, total
    cdef int n_added, n_subtracted
    cdef Syrk syrk

    def __init__(self, const int32_t[::1] columns, Py_ssize_t n):
        from cwtool_ext.fortran import blas

        cdef Py_ssize_t k, width = columns.shape[0]
        for k in range(width):
            if not (columns[k - 1] if k else -1) < columns[k] < n:
                raise ValueError("heavy columns ascend, and lie inside the matrix")
        place = np.full(n, -1, dtype=np.int32)
        place[columns] = np.arange(width)
        self.place = place
        self.added, self.subtracted = np.zeros((2, TOGETHER, width))
        self.total = np.zeros((width, width))
        self.syrk = <Syrk> PyCapsule_GetPointer(blas().dsyrk._cpointer, NULL)

    cdef Py_ssize_t split(
        self, Row row, double h, int32_t* index, double* z
    ) noexcept nogil:
        """Take the heavy entries of a row of weight h into a block. `index` and `z` become its
        entries, the heavy ones first; their number is returned."""
        cdef Py_ssize_t k, j, first = 0, last = row.nnz
        cdef double x, root = sqrt(h if h > 0 else -h)
        cdef double* block = &self.added[self.n_added, 0]
        if h < 0:
            block = &self.subtracted[self.n_subtracted, 0]
        for k in range(row.nnz):
            j, x = self.place[row.index[k]], row.scale * row.value[k]
            if j >= 0:
                block[j] += root * x
                index[first] = row.index[k]
                z[first] = x
                first += 1
            else:
                last -= 1
                index[last] = row.index[k]
                z[last] = x
        if h > 0:
            self.n_added += 1
        else:
            self.n_subtracted += 1
        if max(self.n_added, self.n_subtracted) == TOGETHER:
            self.multiply()
        return first

    cdef void multiply(self) noexcept nogil:
        """Make the rows of both blocks a part of the total."""
        cdef int n = <int> self.total.shape[0]
        cdef double one = 1, minus = -1
        # column-major: the lower triangle of C order is the upper one
        self.syrk(b"U", b"N", &n, &self.n_added, &one, &self.added[0, 0], &n, &one,
                  &self.total[0, 0], &n)
        self.syrk(b"U", b"N", &n, &self.n_subtracted, &minus, &self.subtracted[0, 0], &n, &one,
                  &self.total[0, 0], &n)
        self.added[:self.n_added] = 0
        self.subtracted[:self.n_subtracted] = 0
        self.n_added = self.n_subtracted = 0


def add(
    Csr rows not None, const double[:] weight, double[:, ::1] G, const int8_t[::1] counts=None,
    double[:, ::1] both=None, const int32_t[::1] heavy=None,
) -> None:
    """G += sum of counts_i weight_i x_i x_i' on and below the diagonal; its rows and columns are
    slots. Without counts all of them are 1. `both` is as large as G and full of zeros, before and
    after it: room for pairs of slots on both sides of the diagonal, because slots of a row need not
    ascend. `heavy` are columns in ascending order."""
    cdef Py_ssize_t i, j, k, first, n = min(G.shape[0], G.shape[1])
    rows.fit(n)
    one_a_row("weight", weight.shape[0], rows)
    if counts is not None:
        one_a_row("counts", counts.shape[0], rows)
    if both is None:
        both = np.zeros((n, n))
    if both.shape[0] < n or both.shape[1] < n:
        raise ValueError(f"the room is {both.shape[0]} x {both.shape[1]}; {n} x {n} is needed")
    cdef double[::1] z = np.empty(max(1, rows.longest))
    cdef int32_t[::1] index = np.empty(max(1, rows.longest), dtype=np.int32)
    cdef Heavy blocks = None
    cdef bint mixed = heavy is not None and heavy.shape[0] > 0
    if mixed:
        blocks = Heavy(heavy, n)
    cdef double* g = &both[0, 0] if n else NULL
    cdef bint some = counts is not None and rows.count
    cdef const int8_t* count = &counts[0] if some else NULL
    cdef double h
    cdef Row row
    with nogil:
        for i in range(rows.count):
            if some and i + SOON < rows.count and count[i + SOON] != 0 and count[i + SOON - 1] == 0:
                fetch(row_at(rows, i + SOON))  # the processor does not expect it
            h = weight[i] * count[i] if some else weight[i]
            if h == 0:
                continue
            row = row_at(rows, i)
            if mixed:
                first = blocks.split(row, h, &index[0], &z[0])
                add_pairs(&index[0], &z[0], first, row.nnz, h, g, both.shape[1])
            else:
                for k in range(row.nnz):
                    z[k] = row.scale * row.value[k]
                add_pairs(row.index, &z[0], 0, row.nnz, h, g, both.shape[1])
        if mixed:
            blocks.multiply()
            for j in range(heavy.shape[0]):
                for k in range(j + 1):
                    G[heavy[j], heavy[k]] += blocks.total[j, k]
        for j in range(n):
            for k in range(j):
                G[j, k] += both[j, k] + both[k, j]
                both[j, k] = both[k, j] = 0
            G[j, j] += both[j, j]
            both[j, j] = 0
