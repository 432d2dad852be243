"""Fitting D + R R' to D + W W' when the sparse columns of a factored covariance are full.

Spectral: one step by the leading eigenvectors. EM: the iterations of Ma et al. 2010, eqs. 8-11.
"""

from libc.math cimport fabs, fmax

from cwtool_ext.dense cimport backward, cholesky
from cwtool_ext.em cimport iterate
from cwtool_ext.factor cimport LOADING, PRECISION, drop_nodes
from cwtool_ext.factor_loops cimport Factor
from cwtool_ext.leading cimport leading
from cwtool_ext.turning cimport add_upper, turn_rows

cdef enum:
    SPECTRAL = 0
    EM = 1


cdef inline void leading_of(const Factor* f, double* A, double* E, double* room) noexcept nogil:
    """E: the m leading eigenvectors of W'D^-1 W = U'U - I as columns. They are those of U'U, which
    A has room for, divided by its largest number."""
    cdef Py_ssize_t i, j, c
    cdef double u, most = 1.0
    for i in range(f.k * f.k):
        A[i] = 0.0
    for i in range(f.k):
        for c in range(i, f.k):
            most = fmax(most, fabs(f.U[i * f.K + c]))
    for i in range(f.k):
        for j in range(i, f.k):
            u = f.U[i * f.K + j] / most / most
            for c in range(i, f.k):
                A[j * f.k + c] += u * f.U[i * f.K + c]
    leading(A, f.k, f.m, E, room)


cdef inline void settle(Factor* f, double* S) noexcept nogil:
    """Find U for the D and R of the rows, with no other columns; e is 0. S is R'D^-1 R, on and
    above the diagonal."""
    cdef Py_ssize_t m = f.m, a
    f.k = f.dense = m
    for a in range(m):
        S[a * m + a] += 1.0
        f.e[a] = 0.0
    cholesky(S, m, m, 1.0)
    for a in range(m * m):
        f.U[a // m * f.K + a % m] = S[a] if a % m >= a // m else 0.0


cdef inline void settle_rows(Factor* f, double* S) noexcept nogil:
    """The same with R'D^-1 R from the rows; S is room for m x m."""
    cdef Py_ssize_t m = f.m, a, number
    cdef double* own
    for a in range(m * m):
        S[a] = 0.0
    for number in range(1, f.n_rows + 1):
        own = f.rows + number * f.width
        add_upper(S, own + LOADING, 1.0 / (1.0 + own[PRECISION]), m)
    settle(f, S)


cdef inline void compress(
    Factor* f, int fit, Py_ssize_t iterations, double* fitted, double* work
) noexcept nogil:
    """Fit D + R R' to D + W W'; the mean stays. `fitted` is room for (D - 1, R) if there are
    iterations of EM; `work` for 6 K x K and ROOM K more numbers.

    Spectral: R = W E_m, E_m the leading eigenvectors of W'D^-1 W, is the best R for this D; D
    gains what R lost of the diagonal. No row can wait: also one without entries loses what it has
    outside E_m, and R'D^-1 R needs its new D.
    """
    cdef Py_ssize_t m = f.m, a, block = f.K * f.K
    cdef double* c = work
    cdef double* S = work + 3 * block
    cdef double* E = work + 4 * block
    if fit == SPECTRAL:
        leading_of(f, work + block, E, work + 6 * block)
    else:
        for a in range(f.k * m):
            E[a] = a % m == a // m  # the first m columns as they are
    for a in range(f.k):
        c[a] = f.e[a]
    backward(f.U, f.k, f.K, c)
    if iterations:
        iterate(f, fit == SPECTRAL, iterations, fitted, work)
        settle_rows(f, S)
    else:
        turn_rows(f, c, E, S)
        settle(f, S)
    f.n_entries = 0
    drop_nodes(f)
