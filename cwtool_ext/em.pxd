"""Fitting D + R R' to D + W W' by the iterations of Ma et al. 2010, eqs. 8-11."""

from libc.math cimport fmax
from libc.string cimport memset

from cwtool_ext.dense cimport dot, invert
from cwtool_ext.factor cimport CHAIN, LOADING, MEAN, PRECISION, square, times
from cwtool_ext.factor_loops cimport Factor


cdef inline void add_outer(double* A, const double* a, double s, Py_ssize_t n) noexcept nogil:
    # A += s a a'
    cdef Py_ssize_t i, j
    cdef double x
    for i in range(n):
        x = s * a[i]
        for j in range(n):
            A[i * n + j] += x * a[j]


cdef inline void product(
    const double* A, const double* B, Py_ssize_t n, Py_ssize_t m, double* out
) noexcept nogil:
    # out = A B, A of n x m, B of m x m
    cdef Py_ssize_t i, j, k
    for i in range(n):
        for j in range(m):
            out[i * m + j] = 0.0
        for k in range(m):
            for j in range(m):
                out[i * m + j] += A[i * m + k] * B[k * m + j]


cdef inline void em_step(const Factor* f, double* fitted, double* work) noexcept nogil:
    """One iteration of eqs. 8-11 towards P = D0 + W W', from the (D, R) in `fitted`:

    Phi = (I + R'D^-1 R)^-1, Y = D^-1 R Phi, H = W'Y, P Y = D0 Y + W H, A = Phi + Y'D0 Y + H'H,
    R <- P Y A^-1, D <- diag(P - R (P Y)').
    """
    cdef Py_ssize_t m = f.m, a, c, number, entry, block = f.K * f.K
    cdef double* S = work
    cdef double* T = work + block
    cdef double* phi = work + 2 * block
    cdef double* G = work + 3 * block
    cdef double* H = work + 4 * block
    cdef double* y = work + 5 * block
    cdef double* py = y + m
    cdef double* own
    cdef double* new
    cdef double d, d0
    for a in range(m * m):
        S[a] = T[a] = 0.0
    for a in range(f.k * m):
        G[a] = 0.0
    for number in range(1, f.n_rows + 1):  # S = R'D^-1 R, T = R'D^-1 D0 D^-1 R, G = W'D^-1 R
        own = f.rows + number * f.width
        new = fitted + number * (m + 1)
        d, d0 = 1.0 + new[0], 1.0 + own[PRECISION]
        add_outer(S, new + 1, 1.0 / d, m)
        add_outer(T, new + 1, d0 / (d * d), m)
        for a in range(m):
            y[a] = new[1 + a] / d
        for c in range(f.dense):
            for a in range(m):
                G[c * m + a] += own[LOADING + c] * y[a]
        entry = <Py_ssize_t> own[CHAIN]
        while entry:
            c = f.links[2 * entry + 1]
            for a in range(m):
                G[c * m + a] += f.entries[entry] * y[a]
            entry = f.links[2 * entry]
    for a in range(m):
        S[a * m + a] += 1.0
    invert(S, m, phi)
    product(G, phi, f.k, m, H)
    product(T, phi, m, m, G)
    product(phi, G, m, m, S)
    for a in range(m * m):
        S[a] += phi[a]
    for c in range(f.k):
        add_outer(S, H + c * m, 1.0, m)
    invert(S, m, T)  # A^-1
    for number in range(1, f.n_rows + 1):
        own = f.rows + number * f.width
        new = fitted + number * (m + 1)
        d, d0 = 1.0 + new[0], 1.0 + own[PRECISION]
        product(new + 1, phi, 1, m, y)
        times(f, own, H, m, py)
        d = d0 / d
        for a in range(m):
            py[a] += d * y[a]
        product(py, T, 1, m, new + 1)
        d = d0 + square(f, own)
        new[0] = fmax(d - dot(new + 1, py, m), 1e-12 * d) - 1.0


cdef inline void iterate(
    Factor* f, bint spectral, Py_ssize_t iterations, double* fitted, double* work
) noexcept nogil:
    """D and R of every row by EM from R = W E, with c and E in `work`; the rows have no entries
    then."""
    cdef Py_ssize_t m = f.m, a, number, _round, block = f.K * f.K
    cdef double* r = work + 5 * block
    cdef double* own
    cdef double* new
    cdef double shift, lost
    for number in range(1, f.n_rows + 1):
        own = f.rows + number * f.width
        new = fitted + number * (m + 1)
        times(f, own, work, 1, &shift)
        own[MEAN] += shift / (1.0 + own[PRECISION])
        times(f, own, work + 4 * block, m, r)
        lost = square(f, own) - dot(r, r, m) if spectral else 0.0
        new[0] = own[PRECISION] + fmax(0.0, lost)
        for a in range(m):
            new[1 + a] = r[a]
    for _round in range(iterations):
        em_step(f, fitted, work)
    memset(f.bare, 0, (f.n_rows // 64 + 1) * sizeof(f.bare[0]))
    f.bare[0], f.marked = 1, False
    for number in range(1, f.n_rows + 1):
        own = f.rows + number * f.width
        own[CHAIN] = 0.0
        for a in range(m + 1):
            own[PRECISION + a] = fitted[number * (m + 1) + a]
