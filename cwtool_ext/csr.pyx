"""Sparse rows in CSR form, as every kernel takes them."""

import numpy as np

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint32_t
from libc.string cimport memcpy


cdef enum:
    TOGETHER = 512  # values that are compared before a difference counts


cdef extern from *:
    """
    #include "vectors.h"

    CWTOOL_WIDEST static uint32_t cwtool_greatest(Py_ssize_t n, const uint32_t *number)
    {
        uint32_t found = 0;
        for (Py_ssize_t k = 0; k < n; k++)
            found = number[k] > found ? number[k] : found;
        return found;
    }

    /* without the sign, the bits of numbers are in the order of the numbers */
    CWTOOL_WIDEST static int64_t cwtool_largest(Py_ssize_t n, const int64_t *bits)
    {
        int64_t found = 0;
        for (Py_ssize_t k = 0; k < n; k++) {
            const int64_t size = bits[k] & INT64_MAX;
            found = size > found ? size : found;
        }
        return found;
    }
    """
    uint32_t greatest "cwtool_greatest"(Py_ssize_t n, const uint32_t* number) noexcept nogil
    int64_t largest_bits "cwtool_largest"(Py_ssize_t n, const int64_t* bits) noexcept nogil


cdef class Csr:
    """Rows `indptr`, `indices`, `values` whose values count `scale` times. The arrays are checked
    here and shared, not copied."""

    def __init__(
        self, const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
        double scale=1.0,
    ):
        cdef Py_ssize_t i, nnz = indices.shape[0]
        cdef int64_t length, longest = 0, least = 0
        cdef uint32_t most
        self.count = indptr.shape[0] - 1
        if self.count < 0 or indptr[0] != 0 or indptr[self.count] != nnz:
            raise ValueError("indptr must run from 0 to the number of indices")
        if nnz != values.shape[0]:
            raise ValueError(f"{nnz} indices do not match {values.shape[0]} values")
        with nogil:
            for i in range(self.count):
                length = indptr[i + 1] - indptr[i]
                longest = max(longest, length)
                least = min(least, length)
            # a negative index is a large number without a sign
            most = greatest(nnz, <const uint32_t*> &indices[0]) if nnz else 0
        if least < 0:
            raise ValueError("indptr must not decrease")
        if most > INT32_MAX:
            raise ValueError("a feature index is negative")
        self.width = <Py_ssize_t> most + 1 if nnz else 0
        self.longest, self.scale = longest, scale
        self._indptr, self._indices, self._values = indptr, indices, values
        self.start = &indptr[0]
        self.index = &indices[0] if nnz else NULL
        self.value = &values[0] if nnz else NULL

    def alike(self) -> bool:
        """Whether all stored values are one number, by their bits."""
        cdef const int64_t* bits = <const int64_t*> self.value
        cdef int64_t other = 0
        cdef Py_ssize_t part, k, nnz = self._values.shape[0]
        for part in range((nnz + TOGETHER - 1) // TOGETHER):
            for k in range(TOGETHER * part, min(TOGETHER * part + TOGETHER, nnz)):
                other |= bits[k] ^ bits[0]
            if other:
                return False
        return True

    def largest(self) -> float:
        """The greatest size of a stored value; NaN if one is not a number."""
        cdef int64_t most = largest_bits(self._values.shape[0], <const int64_t*> self.value)
        cdef double found
        memcpy(&found, &most, 8)
        return found

    def by_length(self, int64_t[::1] order) -> None:
        """`order` becomes the numbers of the rows, short ones first; those of one length ascend.
        Loops over the entries of rows in this order end where the processor expects it."""
        cdef Py_ssize_t i, length
        cdef int64_t[::1] next_place = np.zeros(self.longest + 2, dtype=np.int64)
        if order.shape[0] != self.count:
            raise ValueError(f"the order has {order.shape[0]} places for {self.count} rows")
        with nogil:
            for i in range(self.count):
                next_place[self.start[i + 1] - self.start[i] + 1] += 1
            for length in range(self.longest):
                next_place[length + 1] += next_place[length]
            for i in range(self.count):
                length = self.start[i + 1] - self.start[i]
                order[next_place[length]] = i
                next_place[length] += 1

    cdef int fit(self, Py_ssize_t features) except -1:
        """Refuse rows with an index that is not below `features`."""
        if self.width > features:
            raise ValueError(f"feature index {self.width - 1} lies outside 0..{features - 1}")
        return 0


cdef int check_order(const int64_t[::1] order, Csr rows) except -1:
    """Refuse an order that names a row that is not there."""
    cdef Py_ssize_t k, wrong = -1
    with nogil:
        for k in range(order.shape[0]):
            if not 0 <= order[k] < rows.count:
                wrong = k
                break
    if wrong >= 0:
        raise ValueError(f"order names row {order[wrong]} of {rows.count}")
    return 0
