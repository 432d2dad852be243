"""What the kernels of stabilized truncated gradient descent (Ma 2017, chapter 3) share.

There is one shared table with the columns (damp, gone, bursts, kept, nnz, mean, M2, ...), one with
the weights of path 0, 1, ... and one with their counts. Later passes have copies of them in which
each path has a table of its own. A path sees the value x_j of a feature as
z_j = s_j x_j with the scale s_j = 1 / (1 + damp_j) of the column. A constant column has damp = -1
and is left out.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Csr, check_order


cdef enum:  # columns of the shared table
    DAMP = 0
    GONE = 1  # 1 after the feature was removed for good
    BURSTS = 2  # that informed the feature since it was last judged
    KEPT = 3  # of these, bursts after which its weight was not zero
    NNZ = 4  # rows with a nonzero value, the mean of these values, and the sum of their
    MEAN = 5  # squared distances from the mean (Welford)
    M2 = 6

cdef enum:
    MOST = 64  # paths

cdef enum:  # columns of the table of one path
    WEIGHT = 0
    COUNT = 1  # how much the burst under way informed the feature; -1 if the feature was removed
    PATH_COLUMNS = 2

cdef enum:
    FAR = 64  # entries between the one in use and the one that is prefetched


cdef inline bint usable(double x) noexcept nogil:
    """Whether a value or a move is too small to overflow a weight; others are left out."""
    return fabs(x) <= 1e100


cdef inline double informed(double count, bint by_norm) noexcept nogil:
    """q: the root of a sum of squares, or a number of rows."""
    return sqrt(count) if by_norm else count


cdef inline double pulled(double w, double bar) noexcept nogil:
    """T(w, bar) = sign(w) max(|w| - bar, 0); the factor decides ties, which rounding must not."""
    if fabs(w) <= bar * (1.0 + 1e-9):
        return 0.0
    return w - bar if w > 0.0 else w + bar


cdef inline int64_t entries(const int64_t[::1] order, Csr rows) except -1:
    """The number of entries in all rows of an order; an order of rows that are not there is
    refused."""
    cdef Py_ssize_t k
    cdef int64_t total = 0
    check_order(order, rows)
    with nogil:
        for k in range(order.shape[0]):
            total += rows.start[order[k] + 1] - rows.start[order[k]]
    return total


cdef inline int check_shared(const double[:, ::1] shared) except -1:
    if shared.shape[1] <= M2:
        raise ValueError(f"the shared table has {shared.shape[1]} columns; it needs {M2 + 1}")
    return 0


cdef inline int check_path(const double[:, ::1] table) except -1:
    if table.shape[1] != PATH_COLUMNS:
        raise ValueError(f"a path has {table.shape[1]} columns; it needs {PATH_COLUMNS}")
    return 0


cdef inline int check_slots(const int32_t[::1] slots, Py_ssize_t n_slots) except -1:
    """Refuse slots that are not in 0 .. n_slots - 1."""
    cdef Py_ssize_t k
    cdef bint good = True
    with nogil:
        for k in range(slots.shape[0]):
            good &= 0 <= slots[k] < n_slots
    if not good:
        raise ValueError(f"a slot lies outside 0..{n_slots - 1}")
    return 0


cdef inline int check_length(str name, Py_ssize_t length, Py_ssize_t wanted) except -1:
    """Refuse an array that is shorter than what is to be put into it or read from it."""
    if length < wanted:
        raise ValueError(f"{name} has {length} entries; it needs {wanted}")
    return 0
