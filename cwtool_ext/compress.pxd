"""Fitting D + R R' to D + W W' when the sparse columns of a factored covariance are full.

Spectral: one step by the leading eigenvectors. EM: the iterations of Ma et al. 2010, eqs. 8-11.
"""

from libc.math cimport fabs

from cwtool_ext.dense cimport backward, cholesky
from cwtool_ext.em cimport iterate
from cwtool_ext.factor cimport LOADING, PRECISION, drop_nodes
from cwtool_ext.factor_loops cimport Factor
from cwtool_ext.leading cimport larger, leading
from cwtool_ext.turning cimport add_upper, turn_rows

cdef enum:
    SPECTRAL = 0
    EM = 1


cdef extern from *:
    """
    #include "vectors.h"

    /* Each number of A is summed up in the order of i. */
    CWTOOL_WIDE static void cwtool_square(
        const double *U, Py_ssize_t n, Py_ssize_t stride, double most, double *restrict V,
        double *restrict A)
    {
        for (Py_ssize_t i = 0; i < n; i++)
            for (Py_ssize_t j = i; j < n; j++)
                V[i * n + j] = U[i * stride + j] / most / most;
        for (Py_ssize_t j = 0; j < n; j++) {
            double *row = A + j * n;
            Py_ssize_t i = 0;
            for (Py_ssize_t c = 0; c < n; c++)
                row[c] = 0.0;
            for (; i + 4 <= j + 1; i += 4) { /* four rows of U, added one after the other */
                const double *v = V + i * n + j, *u0 = U + i * stride, *u1 = u0 + stride;
                const double *u2 = u1 + stride, *u3 = u2 + stride;
                const double v0 = v[0], v1 = v[n], v2 = v[2 * n], v3 = v[3 * n];
                row[i] += v0 * u0[i];
                row[i + 1] = row[i + 1] + v0 * u0[i + 1] + v1 * u1[i + 1];
                row[i + 2] = row[i + 2] + v0 * u0[i + 2] + v1 * u1[i + 2] + v2 * u2[i + 2];
                for (Py_ssize_t c = i + 3; c < n; c++)
                    row[c] = row[c] + v0 * u0[c] + v1 * u1[c] + v2 * u2[c] + v3 * u3[c];
            }
            for (; i <= j; i++)
                for (Py_ssize_t c = i; c < n; c++)
                    row[c] += V[i * n + j] * U[i * stride + c];
        }
    }
    """
    # A = U'U / most^2, U upper triangular; V is room for n x n numbers
    void square_of "cwtool_square"(
        const double* U, Py_ssize_t n, Py_ssize_t stride, double most, double* V, double* A
    ) noexcept nogil


cdef inline void leading_of(
    const Factor* f, double* A, double* V, double* E, double* room
) noexcept nogil:
    """E: the m leading eigenvectors of W'D^-1 W = U'U - I as columns. They are those of U'U, which
    A has room for, divided by the square of the largest number of U."""
    cdef Py_ssize_t i, c
    cdef double most = 1.0
    for i in range(f.k):
        for c in range(i, f.k):
            most = larger(most, fabs(f.U[i * f.K + c]))
    square_of(f.U, f.k, f.K, most, V, A)
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
        leading_of(f, work + block, work + 2 * block, E, work + 6 * block)
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
