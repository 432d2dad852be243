"""What kernels check of a sparse matrix that was made for a batch, stored by row or by column."""

from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Csr


cdef inline int check_matrix(Csr x, Py_ssize_t places) except -1:
    """Refuse a matrix that has an index not below `places`, or whose values are to be scaled: the
    kernels over it take values as they are stored."""
    if x.scale != 1:
        raise ValueError(f"the values are scaled by {x.scale}; the scale must be 1")
    return x.fit(places)


cdef inline int check_columns(const int64_t[::1] some, Csr x) except -1:
    """Refuse a column that is not there."""
    cdef Py_ssize_t k
    for k in range(some.shape[0]):
        if not 0 <= some[k] < x.count:
            raise ValueError(f"column {some[k]} lies outside 0..{x.count - 1}")
    return 0
