"""Sparse rows in CSR form, as every kernel takes them."""

from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.string cimport memcpy

cdef enum:
    TOGETHER = 512  # values that are compared before a difference counts


cdef class Csr:
    """Rows `indptr`, `indices`, `values` whose values count `scale` times. The arrays are checked
    here and shared, not copied."""

    def __init__(
        self, const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
        double scale=1.0,
    ):
        cdef Py_ssize_t i, nnz = indices.shape[0]
        cdef int64_t length, longest = 0, least = 0
        cdef int32_t bits = 0
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
            for i in range(nnz):
                bits |= indices[i]
        if least < 0:
            raise ValueError("indptr must not decrease")
        if bits < 0:
            raise ValueError("a feature index is negative")
        self._bits, self._width, self.longest, self.scale = bits, -1, longest, scale
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
        cdef const int64_t* bits = <const int64_t*> self.value
        cdef int64_t size, most = 0
        cdef double found
        cdef Py_ssize_t k
        for k in range(self._values.shape[0]):
            size = bits[k] & INT64_MAX  # without the sign, in the order of numbers
            most = size if size > most else most
        memcpy(&found, &most, 8)
        return found

    cdef Py_ssize_t width(self) noexcept:
        """All indices lie below; it is looked for once."""
        cdef int32_t most = -1
        cdef Py_ssize_t i
        if self._width < 0:
            for i in range(self._indices.shape[0]):
                most = max(most, self.index[i])
            self._width = <Py_ssize_t> most + 1
        return self._width

    cdef int fit(self, Py_ssize_t features) except -1:
        """Refuse rows with an index that is not below `features`. No index is greater than the
        bits of all of them together, so the greatest is looked for only if these do not fit."""
        if self._bits >= features and self._indices.shape[0] and self.width() > features:
            raise ValueError(f"feature index {self.width() - 1} lies outside 0..{features - 1}")
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
