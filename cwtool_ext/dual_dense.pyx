"""Dual coordinate ascent of bcw over dense rows, for two forms of the same problem.

The problem and its step are those of dual.pyx (Tan et al. 2016, Algorithm 1). With the Cholesky
factor L of the precision P = LL', `whitened_pass` works on rows xh = L^-1 x, so that x'P^-1 x =
xh.xh, and on w = L' mu instead of mu. With fewer rows than features, `kernel_pass` works on the
scores f_i = mu.x_i alone, which follow from the matrix K = X P^-1 X' over pairs of rows.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport fabs, fmax
from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Csr, Row, check_order, row_at
from cwtool_ext.dual cimport step

from cwtool_ext.fortran import blas

# the routines of BLAS themselves, as their modules in SciPy give them
ctypedef void (*Syrk)(
    const char*, const char*, int*, int*, double*, double*, int*, double*, double*, int*
) noexcept nogil
ctypedef void (*Trsm)(
    const char*, const char*, const char*, const char*, int*, int*, double*, double*, int*, double*,
    int*
) noexcept nogil
cdef Syrk dsyrk = <Syrk> PyCapsule_GetPointer(blas().dsyrk._cpointer, NULL)
cdef Trsm dtrsm = <Trsm> PyCapsule_GetPointer(blas().dtrsm._cpointer, NULL)


def densify(Csr rows not None, const int64_t[::1] some, double[:, ::1] X) -> None:
    """X becomes the rows with these numbers."""
    cdef Row row
    cdef Py_ssize_t i, k
    rows.fit(X.shape[1])
    check_order(some, rows)
    if some.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows for {some.shape[0]} numbers")
    with nogil:
        X[:, :] = 0
        for i in range(X.shape[0]):
            row = row_at(rows, some[i])
            for k in range(row.nnz):
                X[i, row.index[k]] = row.scale * row.value[k]


def add_gram(const double[:, ::1] X, double[:, ::1] G) -> None:
    """G += X'X on and below the diagonal."""
    cdef int n = <int> X.shape[0], d = <int> X.shape[1], width = <int> G.shape[1]
    cdef double one = 1
    if G.shape[0] < d or G.shape[1] < d:
        raise ValueError(f"G is {G.shape[0]} x {G.shape[1]}; {d} x {d} is needed")
    if n and d:
        with nogil:  # column-major: X is d x n, the lower triangle of C order is the upper one
            dsyrk(b"U", b"N", &d, &n, &one, <double*> &X[0, 0], &d, &one, &G[0, 0], &width)


def whiten(const double[:, ::1] L, double[:, ::1] X, double[::1] v) -> None:
    """Replace each row x of X by the whitened row L^-1 x, and set v to the squared norms of these,
    x'P^-1 x, where L is the Cholesky factor of the precision P = LL'."""
    cdef int n = <int> X.shape[0], d = <int> X.shape[1], width = <int> L.shape[1]
    cdef double one = 1
    cdef Py_ssize_t i, k
    if L.shape[0] < d or L.shape[1] < d or v.shape[0] != n:
        raise ValueError("L must be as large as a row of X, and v must have a place for each row")
    with nogil:
        if n and d:  # L in C order is L' in column order: upper, to be transposed
            dtrsm(b"L", b"U", b"T", b"N", &d, &n, &one, <double*> &L[0, 0], &width, &X[0, 0], &d)
        for i in range(n):
            v[i] = 0
            for k in range(d):
                v[i] += X[i, k] * X[i, k]


cdef inline void dots(const double* w, Py_ssize_t d, const double* x, double* m) noexcept nogil:
    """m_c = w_c.x of four vectors that lie one behind the other: the four sums, each in the order
    of the columns, take hardly longer than one."""
    cdef double m0 = 0, m1 = 0, m2 = 0, m3 = 0
    cdef Py_ssize_t k
    for k in range(d):
        m0 += w[k] * x[k]
        m1 += w[d + k] * x[k]
        m2 += w[2 * d + k] * x[k]
        m3 += w[3 * d + k] * x[k]
    m[0], m[1], m[2], m[3] = m0, m1, m2, m3


cdef inline double dot(const double* w, const double* x, Py_ssize_t d) noexcept nogil:
    cdef double m = 0
    cdef Py_ssize_t k
    for k in range(d):
        m += w[k] * x[k]
    return m


def whitened_pass(
    const double[:, ::1] X, const double[:, ::1] y, const double[::1] v, const double[:] D,
    const double[:] U, Py_ssize_t start, double[:, ::1] w, double[:, ::1] a, double[::1] most,
) -> None:
    """Visit each whitened row once (P = I in these coordinates), for each class c of the signs y_c
    with w_c and the dual variables a_c. The rows are those from `start` on in y and a. `most`
    becomes the largest change of a dual variable of each class, if that is larger."""
    cdef Py_ssize_t i, j, c, k, n = X.shape[0], d = X.shape[1], classes = y.shape[0]
    cdef double m[4]
    cdef double new, change
    cdef double* w_c = NULL
    cdef const double* x = NULL
    if (v.shape[0] != n or D.shape[0] != n or U.shape[0] != n or start < 0
            or start + n > min(y.shape[1], a.shape[1]) or a.shape[0] != classes
            or w.shape[0] != classes or w.shape[1] != d or most.shape[0] != classes):
        raise ValueError(
            "y, v, D, U and a must have a place for each row of X, and w for each column"
        )
    with nogil:
        for i in range(n):
            x = &X[i, 0] if d else NULL
            for c in range(classes):
                w_c = &w[c, 0] if d else NULL
                if c % 4 == 0 and c + 4 <= classes:
                    dots(w_c, d, x, m)
                elif c >= classes - classes % 4:
                    m[c % 4] = dot(w_c, x, d)
                j = start + i
                new = step(y[c, j] * m[c % 4], a[c, j], v[i], D[i], U[i])
                change = (new - a[c, j]) * y[c, j]
                most[c] = fmax(most[c], fabs(change))
                a[c, j] = new
                if change != 0:
                    for k in range(d):
                        w_c[k] += change * x[k]


def kernel_pass(
    const double[:, ::1] K, const double[::1] y, const double[:] D, const double[:] U,
    double[::1] f, double[::1] a,
) -> float:
    """Visit each row once by its score f alone; K = X Sigma X'. Returns the largest change of a
    dual variable."""
    cdef Py_ssize_t i, j, n = K.shape[0]
    cdef double new, change, most = 0
    if K.shape[1] < n or min(y.shape[0], f.shape[0], a.shape[0], D.shape[0], U.shape[0]) < n:
        raise ValueError("y, D, U, f and a must have a place for each row of K, which is square")
    with nogil:
        for i in range(n):
            new = step(y[i] * f[i], a[i], K[i, i], D[i], U[i])
            change = (new - a[i]) * y[i]
            most = fmax(most, fabs(change))
            a[i] = new
            if change != 0:
                for j in range(n):
                    f[j] += change * K[i, j]
    return most
