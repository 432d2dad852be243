"""Products of columns, phi_s = (product of the columns keys_s) / scale_s, and points in a metric
over them (Ma 2017, chapter 2)."""

from libc.stdint cimport int32_t

cdef enum:
    TOGETHER = 16  # rows for which a row of the factor is read once


cdef int named(const int32_t[:, ::1] keys, const double[::1] scale, Py_ssize_t p) except -1:
    """Refuse keys that name columns other than 0 .. p - 1 or -1, or have no scale."""
    cdef Py_ssize_t s, c
    if scale.shape[0] != keys.shape[0]:
        raise ValueError("there must be a scale for every key")
    for s in range(keys.shape[0]):
        for c in range(keys.shape[1]):
            if not -1 <= keys[s, c] < p:
                raise ValueError(f"key {s} names column {keys[s, c]} of {p}")
    return 0


def products(const double[:, ::1] x, const int32_t[:, ::1] keys, const double[::1] scale,
             double[:, ::1] phi) -> None:
    """phi_is = (product of the columns keys_s of row i) / scale_s. A key of -1 stands for no
    column, and comes last."""
    cdef Py_ssize_t i, s, c, order = keys.shape[1]
    cdef double value
    named(keys, scale, x.shape[1])
    if phi.shape[0] != x.shape[0] or phi.shape[1] != keys.shape[0]:
        raise ValueError("the arrays of products do not fit the rows and keys")
    with nogil:
        for i in range(x.shape[0]):
            for s in range(keys.shape[0]):
                value = x[i, keys[s, 0]] if order and keys[s, 0] >= 0 else 1
                c = 1
                while c < order and keys[s, c] >= 0:
                    value *= x[i, keys[s, c]]
                    c += 1
                phi[i, s] = value / scale[s]


def transform(const double[:, ::1] x, const int32_t[:, ::1] keys, const double[::1] scale,
              const double[:, ::1] factor, double[:, ::1] z) -> None:
    """z_i += sum_s phi_s(x_i) factor_s, where phi_s is the product of the columns keys_s divided by
    scale_s, and a key of -1 stands for no column. Each row is summed in the same order, so its
    result does not depend on the other rows."""
    cdef Py_ssize_t i, s, c, r, block, n = x.shape[0], rank = factor.shape[1]
    cdef double phi
    named(keys, scale, x.shape[1])
    if z.shape[0] != n or z.shape[1] != rank or factor.shape[0] != keys.shape[0]:
        raise ValueError("the arrays of transform do not fit the rows and keys")
    with nogil:
        for block in range((n + TOGETHER - 1) // TOGETHER):
            for s in range(keys.shape[0]):
                for i in range(block * TOGETHER, min(n, (block + 1) * TOGETHER)):
                    phi = 1 / scale[s]
                    for c in range(keys.shape[1]):
                        if keys[s, c] >= 0:
                            phi *= x[i, keys[s, c]]
                    if phi != 0:
                        for r in range(rank):
                            z[i, r] += phi * factor[s, r]
