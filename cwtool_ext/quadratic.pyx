"""Newton steps of the squared hinge loss over few features.

Where the set of rows with a loss stays the same, the sum of losses is quadratic in w, and its
second derivatives are the Gram matrix of these rows. `add_gram` follows the set; `descent`
minimizes the quadratic with an l1 norm and `solve` one without, at a cost that no longer depends on
the number of rows.
"""

import numpy as np

from libc.math cimport fabs, fmax
from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Csr, Row, check_order, row_at
from cwtool_ext.inverted cimport check_matrix

cdef enum:
    WHOLE = 10  # every so many sweeps all features are visited, else those that have a weight


def add_gram(
    Csr rows not None, const int64_t[::1] some, const double[::1] weight, double[:, ::1] G
) -> None:
    """G += sum over i in some of weight_i x_i x_i', on and below the diagonal. The indices of a row
    ascend; those that are there twice count as the sum of their values."""
    cdef Row row
    cdef Py_ssize_t s, a, b
    cdef double x
    cdef double* line
    check_matrix(rows, min(G.shape[0], G.shape[1]))
    check_order(some, rows)
    if weight.shape[0] != some.shape[0]:
        raise ValueError(f"there are {weight.shape[0]} weights for {some.shape[0]} rows")
    with nogil:
        for s in range(some.shape[0]):
            row = row_at(rows, some[s])
            for a in range(row.nnz):
                x = weight[s] * row.value[a]
                line = &G[row.index[a], 0]
                for b in range(a + 1):
                    line[row.index[b]] += x * row.value[b]
                b = a - 1
                while b >= 0 and row.index[b] == row.index[a]:
                    line[row.index[b]] += x * row.value[b]
                    b -= 1


cdef inline double step(double g, double h, double w, double price) noexcept nogil:
    """argmin over d of g d + h d^2/2 + price |w + d|"""
    if g + price <= h * w:
        return -(g + price) / h
    if g - price >= h * w:
        return -(g - price) / h
    return -w


cdef inline double off(double g, double w, double price) noexcept nogil:
    """By how much a feature violates optimality."""
    if w == 0:
        return fmax(fabs(g) - price, 0)
    return fabs(g + (price if w > 0 else -price))


def descent(
    const double[:, ::1] H, double price, double goal, Py_ssize_t sweeps, double[::1] g,
    double[::1] w,
) -> int:
    """Coordinate descent of  g.d + d'Hd/2 + price ||w + d||_1  over d, until the violations of
    optimality of all features add up to at most `goal`. w becomes w + d, and g becomes g + Hd. H is
    symmetric. Returns the number of sweeps."""
    cdef Py_ssize_t j, k, sweep = 0, p = w.shape[0]
    cdef double d, violation, total
    cdef bint whole
    if H.shape[0] != p or H.shape[1] != p or g.shape[0] != p:
        raise ValueError(f"H must be {p} x {p}, and g must have {p} places")
    with nogil:
        while sweep < sweeps:
            whole, total = sweep % WHOLE == 0, 0
            sweep += 1
            for j in range(p):
                if w[j] == 0 and not whole:
                    continue
                violation = off(g[j], w[j], price)
                total += violation
                if violation == 0:
                    continue
                d = step(g[j], fmax(H[j, j], 1e-12), w[j], price)
                w[j] += d
                for k in range(p):
                    g[k] += d * H[j, k]
            if whole and total <= goal:
                break
    return sweep


def solve(const double[:, ::1] H, const double[::1] b, double[::1] x) -> int:
    """Conjugate gradients for Hx = b from x, until |b - Hx| <= 1e-9 |b|, in at most 2 n steps. H is
    symmetric and positive definite. Returns the number of steps."""
    cdef Py_ssize_t j, k, steps = 0, n = x.shape[0]
    cdef double rr = 0, bb = 0, before, alpha, ph
    if H.shape[0] != n or H.shape[1] != n or b.shape[0] != n:
        raise ValueError(f"H must be {n} x {n}, and b must have {n} places")
    cdef double[:, ::1] room = np.zeros((3, n))
    cdef double[::1] r = room[0], p = room[1], Hp = room[2]
    with nogil:
        for j in range(n):
            r[j] = b[j]
            for k in range(n):
                r[j] -= H[j, k] * x[k]
            p[j] = r[j]
            rr += r[j] * r[j]
            bb += b[j] * b[j]
        while rr > 1e-18 * bb and steps < 2 * n:
            steps += 1
            Hp[:] = 0
            for j in range(n):
                for k in range(n):
                    Hp[k] += p[j] * H[j, k]
            ph = 0
            for j in range(n):
                ph += p[j] * Hp[j]
            alpha = rr / ph
            before, rr = rr, 0
            for j in range(n):
                x[j] += alpha * p[j]
                r[j] -= alpha * Hp[j]
                rr += r[j] * r[j]
            for j in range(n):
                p[j] = r[j] + rr / before * p[j]
    return steps
