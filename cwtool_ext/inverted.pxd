"""What kernels check of a sparse matrix that was made for a batch, stored by row or by column."""

from cwtool_ext.csr cimport Csr


cdef inline int check_matrix(Csr x, Py_ssize_t places) except -1:
    """Refuse a matrix that has an index not below `places`, or whose values are to be scaled: the
    kernels over it take values as they are stored."""
    if x.scale != 1:
        raise ValueError(f"the values are scaled by {x.scale}; the scale must be 1")
    return x.fit(places)
