"""The leading eigenvectors of a small symmetric matrix, in plain C order.

The matrix becomes tridiagonal by reflections (Householder 1958), its largest eigenvalues are found
by bisection with counts of signs (Givens 1954), and their vectors by inverse iteration. For 8 of 72
vectors this takes a sixth of the time of rotating all of them.
"""

from libc.float cimport DBL_EPSILON
from libc.math cimport copysign, fabs, fmax, fmin, sqrt
from libc.stdint cimport uint32_t

from cwtool_ext.dense cimport dot

cdef enum:
    HALVINGS = 54  # of the interval of an eigenvalue: to the last bit of the largest one
    REPEATS = 3    # of inverse iteration
    ROOM = 16      # times n: numbers to work in


cdef extern from *:
    """
    #include "vectors.h"

    CWTOOL_WIDE static void cwtool_reflect(
        double *A, Py_ssize_t n, Py_ssize_t stride, double tau, const double *restrict v,
        double *restrict w)
    {
        double middle = 0.0;
        for (Py_ssize_t i = 0; i < n; i++)
            w[i] = 0.0;
        for (Py_ssize_t j = 0; j < n; j++) { /* w = tau A v */
            const double *restrict row = A + j * stride, x = tau * v[j];
            for (Py_ssize_t i = 0; i < n; i++)
                w[i] += x * row[i];
        }
        for (Py_ssize_t i = 0; i < n; i++)
            middle += v[i] * w[i];
        middle *= 0.5 * tau;
        for (Py_ssize_t i = 0; i < n; i++)
            w[i] -= middle * v[i];
        for (Py_ssize_t j = 0; j < n; j++) {
            double *restrict row = A + j * stride;
            const double x = v[j], y = w[j];
            for (Py_ssize_t i = 0; i < n; i++)
                row[i] -= x * w[i] + y * v[i];
        }
    }

    /* below: numbers of eigenvalues below the eight x; 0 if a q is not large enough to divide by,
       which is made -1e-290 where this is `checked`. */
    static inline __attribute__((always_inline)) int cwtool_below(
        const double *d, const double *square, Py_ssize_t n, const cwtool_four *x,
        cwtool_bits *below, int checked)
    {
        const cwtool_four one = {1.0, 1.0, 1.0, 1.0};
        const cwtool_bits small = (cwtool_bits) (-1e-290 * one);
        cwtool_four q0 = one, q1 = one;
        cwtool_bits below0 = {0}, below1 = {0}, large = below0 == 0;
        for (Py_ssize_t i = 0; i < n; i++) {
            q0 = d[i] - x[0] - square[i] / q0;
            q1 = d[i] - x[1] - square[i] / q1;
            const cwtool_bits large0 = CWTOOL_SIZE(q0) > 1e-290, large1 = CWTOOL_SIZE(q1) > 1e-290;
            if (checked) {
                q0 = (cwtool_four) (((cwtool_bits) q0 & large0) | (small & ~large0));
                q1 = (cwtool_four) (((cwtool_bits) q1 & large1) | (small & ~large1));
            }
            large &= large0 & large1;
            below0 -= q0 < 0.0;
            below1 -= q1 < 0.0;
        }
        below[0] = below0;
        below[1] = below1;
        return (large[0] & large[1] & large[2] & large[3]) != 0;
    }

    CWTOOL_WIDE static void cwtool_halve(
        const double *d, const double *square, Py_ssize_t n, Py_ssize_t m, double least,
        double most, int times, double *out)
    {
        const cwtool_bits order = {0, 1, 2, 3};
        const cwtool_four zero = {0.0};
        for (Py_ssize_t a = 0; a < m; a += 8) {
            cwtool_four low[2] = {zero + least, zero + least}, x[2];
            cwtool_four high[2] = {zero + most, zero + most};
            for (int halving = 0; halving < times; halving++) {
                cwtool_bits below[2];
                for (int h = 0; h < 2; h++)
                    x[h] = 0.5 * (low[h] + high[h]);
                if (!cwtool_below(d, square, n, x, below, 0))
                    cwtool_below(d, square, n, x, below, 1);
                for (int h = 0; h < 2; h++) {
                    const cwtool_bits up = below[h] <= n - 1 - (a + 4 * h) - order;
                    const cwtool_bits at = (cwtool_bits) x[h];
                    low[h] = (cwtool_four) ((at & up) | ((cwtool_bits) low[h] & ~up));
                    high[h] = (cwtool_four) ((at & ~up) | ((cwtool_bits) high[h] & up));
                }
            }
            for (Py_ssize_t b = a; b < m && b < a + 8; b++)
                out[b] = low[(b - a) / 4][(b - a) % 4];
        }
    }
    """
    # A becomes (I - tau v v') A (I - tau v v') = A - v w' - w v'; it is compiled for vectors of 256
    # bits too, to the same bits
    void reflect "cwtool_reflect"(
        double* A, Py_ssize_t n, Py_ssize_t stride, double tau, const double* v, double* w
    ) noexcept nogil

    # out: the m largest eigenvalues, which lie between `least` and `most`, halved so many times;
    # square_i is e_(i-1)^2
    void halve "cwtool_halve"(
        const double* d, const double* square, Py_ssize_t n, Py_ssize_t m, double least,
        double most, int times, double* out,
    ) noexcept nogil


cdef inline void tridiagonal(
    double* A, Py_ssize_t n, double* d, double* e, double* tau, double* w
) noexcept nogil:
    """Q'AQ: diagonal d, beside it e. Q is the product of I - tau_k v_k v_k', v_k in row k of A
    right of the diagonal."""
    cdef Py_ssize_t k
    cdef double size
    cdef double* v
    for k in range(n - 1):
        v = A + k * n
        d[k] = v[k]
        size = sqrt(dot(v + k + 1, v + k + 1, n - k - 1))
        if k == n - 2 or size < 1e-140:
            e[k], tau[k] = v[k + 1] if k == n - 2 else 0.0, 0.0
            continue
        e[k] = -copysign(size, v[k + 1])
        tau[k] = 1.0 / (size * (size + fabs(v[k + 1])))
        v[k + 1] -= e[k]
        reflect(A + (k + 1) * (n + 1), n - k - 1, n, tau[k], v + k + 1, w)
    d[n - 1] = A[n * n - 1]


cdef inline double larger(double a, double b) noexcept nogil:
    # fmax without a call; b may be no number
    return b if b > a else a


cdef inline void largest(
    const double* d, const double* e, Py_ssize_t n, Py_ssize_t m, double* low, double* room
) noexcept nogil:
    """low: the m largest eigenvalues, descending, all halved at once. The signs of
    q_i = d_i - x - e_(i-1)^2 / q_(i-1) tell how many eigenvalues lie below x."""
    cdef double* square = room
    cdef double least = d[0], most = d[0], aside
    cdef Py_ssize_t i
    for i in range(n):
        aside = (fabs(e[i]) if i < n - 1 else 0.0) + (fabs(e[i - 1]) if i else 0.0)
        least, most = fmin(least, d[i] - aside), fmax(most, d[i] + aside)
        square[i] = e[i - 1] * e[i - 1] if i else 0.0
    halve(d, square, n, m, least, most, HALVINGS, low)


cdef inline void inverse_iteration(
    const double* d, const double* e, Py_ssize_t n, double value, Py_ssize_t a, Py_ssize_t m,
    double* Y, double* room,
) noexcept nogil:
    """Column a of the n x m matrix Y: the unit eigenvector of `value`, orthogonal to the columns
    before. T - value I = L U with exchanges of rows; U has a diagonal and two others above it."""
    cdef double* u0 = room
    cdef double* u1 = room + n
    cdef double* u2 = room + 2 * n
    cdef double* factor = room + 3 * n
    cdef double* changed = room + 4 * n
    cdef double* y = room + 5 * n
    cdef double u = d[0] - value, v = e[0] if n > 1 else 0.0, after, below, size
    cdef Py_ssize_t i, c, _repeat
    cdef uint32_t seed = <uint32_t> a
    for i in range(n - 1):
        below, after = d[i + 1] - value, e[i + 1] if i < n - 2 else 0.0
        changed[i] = fabs(e[i]) > fabs(u)
        if changed[i]:
            factor[i] = u / e[i]
            u0[i], u1[i], u2[i] = e[i], below, after
            u, v = v - factor[i] * below, -factor[i] * after
        else:
            factor[i] = e[i] / u if u != 0.0 else 0.0
            u0[i], u1[i], u2[i] = u, v, 0.0
            u, v = below - factor[i] * v, after
    u0[n - 1] = u
    for i in range(n):
        if fabs(u0[i]) < DBL_EPSILON:
            u0[i] = DBL_EPSILON
        seed = seed * 1103515245 + 12345  # a direction that data does not have
        y[i] = 1.0 + (seed >> 16) % 1024 / 1024.0
    for _repeat in range(REPEATS):
        for i in range(n - 1):
            if changed[i]:
                y[i], y[i + 1] = y[i + 1], y[i]
            y[i + 1] -= factor[i] * y[i]
        for i in range(n - 1, -1, -1):
            if i < n - 1:
                y[i] -= u1[i] * y[i + 1]
            if i < n - 2:
                y[i] -= u2[i] * y[i + 2]
            y[i] /= u0[i]
        unit(y, n)
        for c in range(2 * a):  # twice: what is left may be small
            size = 0.0
            for i in range(n):
                size += y[i] * Y[i * m + c % a]
            for i in range(n):
                y[i] -= size * Y[i * m + c % a]
            if c == a - 1:
                unit(y, n)
        unit(y, n)
    for i in range(n):
        Y[i * m + a] = y[i]


cdef inline void unit(double* y, Py_ssize_t n) noexcept nogil:
    # y / |y|; divided by its largest number first, so that no square overflows
    cdef Py_ssize_t i
    cdef double size = 0.0
    for i in range(n):
        size = larger(size, fabs(y[i]))
    if size == 0.0:
        return
    for i in range(n):
        y[i] /= size
    size = sqrt(dot(y, y, n))
    for i in range(n):
        y[i] /= size


cdef inline void leading(
    double* A, Py_ssize_t n, Py_ssize_t m, double* E, double* room
) noexcept nogil:
    """E: the m leading eigenvectors of the symmetric A, which is used up, as columns; columns
    beyond n are 0. The largest number of A is about 1; `room` has ROOM n numbers."""
    cdef double* d = room
    cdef double* e = room + n
    cdef double* tau = room + 2 * n
    cdef double* s = room + 3 * n
    cdef double* rest = room + 4 * n
    cdef const double* v
    cdef double x
    cdef Py_ssize_t i, k, a, found = min(m, n)
    for i in range(n * m):
        E[i] = 0.0
    tridiagonal(A, n, d, e, tau, s)
    largest(d, e, n, found, s, rest)
    for a in range(found):
        inverse_iteration(d, e, n, s[a], a, m, E, rest)
    for k in range(n - 3, -1, -1):  # E = Q Y
        if tau[k] == 0.0:
            continue
        v = A + k * n
        for a in range(found):
            s[a] = 0.0
        for i in range(k + 1, n):
            for a in range(found):
                s[a] += v[i] * E[i * m + a]
        for a in range(found):
            s[a] *= tau[k]
        for i in range(k + 1, n):
            x = v[i]
            for a in range(found):
                E[i * m + a] -= x * s[a]
