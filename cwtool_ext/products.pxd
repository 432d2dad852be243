"""Scores of several classes whose weights lie side by side: sums over the entries of a row.

The loop is in the vectors of the C compiler. On x86-64 it is compiled twice, for processors with
vectors of 256 bits and for all; each sum runs over the entries in their order and nothing is
contracted, so that the bits are the same.
"""

from libc.stdint cimport int32_t

from cwtool_ext.csr cimport Row


cdef extern from *:
    """
    #include "vectors.h"

    /* `fours` is a constant where it is inlined, so that the sums stay in registers */
    static inline __attribute__((always_inline)) void cwtool_sums(
        const int fours, Py_ssize_t n, const int32_t *index, const double *value, double scale,
        const double *column, Py_ssize_t width, Py_ssize_t ahead, const int32_t *next,
        const double *soon, Py_ssize_t fetched, double *sums)
    {
        cwtool_four sum[4] = {{0.0}, {0.0}, {0.0}, {0.0}};
        for (Py_ssize_t i = 0; i < n || i < ahead; i++) {
            if (i < ahead)
                for (Py_ssize_t k = 0; k < fetched; k += 8)
                    __builtin_prefetch(soon + width * (Py_ssize_t) next[i] + k, 1, 3);
            if (i < n) {
                const double *at = column + width * (Py_ssize_t) index[i], x = scale * value[i];
                for (int k = 0; k < fours; k++)
                    sum[k] += CWTOOL_FOUR(at + 4 * k) * x;
            }
        }
        for (int k = 0; k < fours; k++)
            CWTOOL_FOUR(sums + 4 * k) = sum[k];
    }

    CWTOOL_WIDE
    static void cwtool_products(
        Py_ssize_t n, const int32_t *index, const double *value, double scale,
        const double *column, Py_ssize_t width, Py_ssize_t ahead, const int32_t *next,
        Py_ssize_t fetched, Py_ssize_t places, double *sums)
    {
        const double *soon = column;
        for (; places > 0; places -= 16, column += 16, sums += 16, ahead = 0) {
            #define CWTOOL_SUMS(fours) cwtool_sums(fours, n, index, value, scale, column, width, \\
                                                   ahead, next, soon, fetched, sums)
            if (places > 12)
                CWTOOL_SUMS(4);
            else if (places > 8)
                CWTOOL_SUMS(3);
            else if (places > 4)
                CWTOOL_SUMS(2);
            else
                CWTOOL_SUMS(1);
        }
    }
    """
    void c_products "cwtool_products"(
        Py_ssize_t n, const int32_t* index, const double* value, double scale,
        const double* column, Py_ssize_t width, Py_ssize_t ahead, const int32_t* next,
        Py_ssize_t fetched, Py_ssize_t places, double* sums,
    ) noexcept nogil


cdef inline void products(
    Row row, Row after, const double* column, Py_ssize_t width, Py_ssize_t fetched,
    Py_ssize_t places, double* sums,
) noexcept nogil:
    """sums_k = column_k.x for k < places; up to three further sums are written. On the way the
    first `fetched` numbers are asked for of the table rows that the row `after` needs."""
    c_products(
        row.nnz, row.index, row.value, row.scale, column, width,
        after.nnz if fetched else 0, after.index, fetched, places, sums,
    )
