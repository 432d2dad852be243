"""X'HX over columns that many rows have.

The matrix consists of slabs of WIDTH columns. Entries of rows are sorted by column, for every
HEIGHT rows alone. For each slab, HEIGHT rows are written into a tile of WIDTH columns, which stays
in the nearest cache while multiples of its rows are added to the lines of the slab: h x times the
row for each entry x of a row of weight h, zeros included.

The sums are compiled for vectors of 512, 256 and 128 bits. Each number is summed up in the order of
the rows, and nothing is contracted, so that the bits are the same.
"""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memset

from cwtool_ext.csr cimport Row


cdef enum:
    HEIGHT = 96  # rows of a tile
    PARTS = 8  # tiles of rows that are multiplied at a time
    LINE = 8  # numbers in a cache line


cdef extern from *:
    """
    #include <stdint.h>
    #define CWTOOL_WIDTH 48
    #define CWTOOL_TILE(name, bytes, kind) \\
        typedef double name##_vector __attribute__((vector_size(bytes), aligned(8), may_alias)); \\
        kind static void name(Py_ssize_t n, const int32_t *row, const double *x, \\
                              const double *tile, double *sums) \\
        { \\
            enum { VECTORS = 8 * CWTOOL_WIDTH / bytes }; \\
            name##_vector sum[VECTORS], *out = (name##_vector *) sums; \\
            _Pragma("GCC unroll 24") \\
            for (int c = 0; c < VECTORS; c++) \\
                sum[c] = out[c]; \\
            for (Py_ssize_t k = 0; k < n; k++) { \\
                const name##_vector *at = (const name##_vector *) (tile + row[k]); \\
                _Pragma("GCC unroll 24") \\
                for (int c = 0; c < VECTORS; c++) \\
                    sum[c] += x[k] * at[c]; \\
            } \\
            _Pragma("GCC unroll 24") \\
            for (int c = 0; c < VECTORS; c++) \\
                out[c] = sum[c]; \\
        }

    #if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
    CWTOOL_TILE(cwtool_tile_512, 64, __attribute__((target("avx512f"))))
    CWTOOL_TILE(cwtool_tile_256, 32, __attribute__((target("avx2"))))
    #endif
    CWTOOL_TILE(cwtool_tile_128, 16, )

    typedef void (*cwtool_tile)(
        Py_ssize_t, const int32_t *, const double *, const double *, double *);

    static cwtool_tile cwtool_tile_here(void)
    {
    #if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
        if (__builtin_cpu_supports("avx512f"))
            return cwtool_tile_512;
        if (__builtin_cpu_supports("avx2"))
            return cwtool_tile_256;
    #endif
        return cwtool_tile_128;
    }
    """
    const int WIDTH "CWTOOL_WIDTH"
    # sums += the sum over k < n of x[k] times the WIDTH numbers of the tile from row[k] on
    ctypedef void (*Tile "cwtool_tile")(
        Py_ssize_t n, const int32_t* row, const double* x, const double* tile, double* sums
    ) noexcept nogil
    Tile tile_here "cwtool_tile_here"() noexcept nogil


cdef zeros(Py_ssize_t n):
    """n numbers that begin where a cache line begins."""
    room = np.zeros(n + LINE)
    start = -room.ctypes.data // 8 % LINE
    return room[start:start + n]


cdef class HeavyColumns:
    """X'HX over d columns, which ascend, and rows that are not yet part of it."""

    def __init__(self, const int32_t[::1] columns, Py_ssize_t n):
        cdef Py_ssize_t k, d = columns.shape[0], most = PARTS * HEIGHT * max(1, d)
        for k in range(d):
            if not (columns[k - 1] if k else -1) < columns[k] < n:
                raise ValueError("heavy columns ascend, and lie inside the matrix")
        place = np.full(n, -1, dtype=np.int32)
        place[columns] = np.arange(d)
        self.d, self.columns, self.place = d, columns, place
        slabs = (d + WIDTH - 1) // WIDTH
        self.slabs = zeros(slabs * d * WIDTH).reshape(slabs, d, WIDTH)
        self.tile = zeros(HEIGHT * WIDTH)
        self._entries = np.empty((HEIGHT * max(1, d), sizeof(Entry) // 8))
        self.entries = <Entry*> &self._entries[0, 0]
        self.first = np.zeros((PARTS, d + 2), dtype=np.int32)
        self.row = np.empty(most, dtype=np.int32)
        self.hx, self.x = np.empty((2, most))

    cdef Py_ssize_t take(self, Row row, double h, int32_t* index, double* z) noexcept nogil:
        """Take the heavy entries of a row of weight h. `index` and `z` become its entries, those
        that were taken first; their number is returned."""
        cdef Py_ssize_t k, j, first = 0, last = row.nnz
        cdef int32_t begins = <int32_t> (self.n_rows % HEIGHT * WIDTH)
        cdef double x
        for k in range(row.nnz):
            j, x = self.place[row.index[k]], row.scale * row.value[k]
            if j >= 0 and first < self.d:  # there is room for d, whatever the row
                self.entries[self.n_entries] = Entry(<int32_t> j, begins, x, h * x)
                self.n_entries += 1
                index[first] = row.index[k]
                z[first] = x
                first += 1
            else:
                last -= 1
                index[last] = row.index[k]
                z[last] = x
        self.n_rows += 1
        if self.n_rows % HEIGHT == 0:
            self.sort()
        if self.n_rows == PARTS * HEIGHT:
            self.multiply()
        return first

    cdef void sort(self) noexcept nogil:
        """Sort the entries of the latest rows by column."""
        cdef Py_ssize_t e, j, at
        cdef Entry* entry = self.entries
        # the place of the next entry of column j is at j + 1, and where column j begins at j
        cdef int32_t* first = &self.first[(self.n_rows - 1) // HEIGHT, 0]
        memset(first, 0, (self.d + 2) * sizeof(int32_t))
        for e in range(self.n_entries):
            first[entry[e].place + 2] += 1
        first[0] = first[1] = <int32_t> self.n_sorted
        for j in range(1, self.d + 1):
            first[j + 1] += first[j]
        for e in range(self.n_entries):
            at = first[entry[e].place + 1]
            first[entry[e].place + 1] += 1
            self.row[at], self.hx[at], self.x[at] = entry[e].row, entry[e].hx, entry[e].x
        self.n_sorted += self.n_entries
        self.n_entries = 0

    cdef void multiply(self) noexcept nogil:
        """Make the latest rows a part of the matrix."""
        cdef Py_ssize_t s, j, e, part, start
        cdef const int32_t* first
        cdef const int32_t* row = &self.row[0]
        cdef const double* hx = &self.hx[0]
        cdef double* tile = &self.tile[0]
        cdef Tile add_rows = tile_here()
        if self.n_rows % HEIGHT:
            self.sort()
        for s in range(self.slabs.shape[0]):
            start = WIDTH * s
            for part in range((self.n_rows + HEIGHT - 1) // HEIGHT):
                first = &self.first[part, 0]
                memset(tile, 0, HEIGHT * WIDTH * sizeof(double))
                for j in range(start, min(start + WIDTH, self.d)):
                    for e in range(first[j], first[j + 1]):
                        tile[row[e] + j - start] += self.x[e]
                for j in range(start, self.d):
                    e = first[j]
                    add_rows(first[j + 1] - e, row + e, hx + e, tile, &self.slabs[s, j, 0])
        self.n_rows = self.n_sorted = 0

    cdef void hand_over(self, double[:, ::1] G) noexcept nogil:
        """Add the matrix to G on and below the diagonal, and begin again with 0."""
        cdef Py_ssize_t j, k
        self.multiply()
        for j in range(self.d):
            for k in range(j + 1):
                G[self.columns[j], self.columns[k]] += self.slabs[k // WIDTH, j, k % WIDTH]
        self.slabs[:] = 0
