"""Fitting D + R R' to D + W W' when the sparse columns of a factored covariance are full.

Spectral: one step by the leading eigenvectors. EM: the iterations of Ma et al. 2010, eqs. 8-11.
"""

from libc.math cimport fmax, sqrt

from cwtool_ext.dense cimport backward, cholesky, dot, eigenvectors, invert
from cwtool_ext.factor cimport CHAIN, LOADING, MEAN, PRECISION, Factor, square, times

cdef enum:
    SPECTRAL = 0
    EM = 1
    # Loadings of a feature whose squares are a smaller share of its precision than 1 / SMALL go to
    # the diagonal. On phishurl these are 87 % of the features and 0.1 % of the trace of R'D^-1 R,
    # and later fits pass over them.
    SMALL = 10000


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


cdef inline void leading(const Factor* f, double* V, double* E) noexcept nogil:
    """E: the m leading eigenvectors of W'D^-1 W = U'U - I as columns; V is room for K x K."""
    cdef Py_ssize_t a, c, i, best
    cdef double norm, most
    for i in range(f.k):
        for c in range(f.k):
            V[i * f.k + c] = f.U[i * f.K + c] if c >= i else 0.0
    eigenvectors(V, f.k)
    for a in range(f.m):
        best, most = 0, -1.0
        for i in range(f.k):
            norm = dot(V + i * f.k, V + i * f.k, f.k)
            if norm > most:
                best, most = i, norm
        for c in range(f.k):
            E[c * f.m + a] = V[best * f.k + c] / sqrt(most) if most > 0.0 else 0.0
            V[best * f.k + c] = 0.0


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


cdef inline void add_upper(double* S, const double* r, double s, Py_ssize_t n) noexcept nogil:
    # S += s r r' on and above the diagonal; an even start lets two numbers be added at once
    cdef Py_ssize_t i, j
    cdef double x
    for i in range(n):
        x = s * r[i]
        for j in range(i - i % 2, n):
            S[i * n + j] += x * r[j]


cdef inline bint empty(const double* r, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t a
    for a in range(n):
        if r[a] != 0.0:
            return False
    return True


cdef inline void turn(
    Factor* f, const double* c, const double* E, double* S, Py_ssize_t m
) noexcept nogil:
    """Replace the loadings of every row by R = W E, D by D plus what the diagonal loses, and the
    mean by mu + D^-1 W c, without entries then; S = R'D^-1 R on and above the diagonal."""
    cdef double r[256]
    cdef double* own
    cdef Py_ssize_t i, a, number, entry
    cdef double w, shift, total, within
    for a in range(m * m):
        S[a] = 0.0
    for number in range(1, f.n_rows + 1):
        own = f.rows + number * f.width
        if own[CHAIN] == 0.0 and empty(own + LOADING, f.dense):
            continue
        shift = 0.0
        for a in range(m):
            r[a] = 0.0
        total = dot(own + LOADING, own + LOADING, f.dense)
        for i in range(f.dense):
            w = own[LOADING + i]
            shift += w * c[i]
            for a in range(m):
                r[a] += w * E[i * m + a]
        entry = <Py_ssize_t> own[CHAIN]
        while entry:
            w, i = f.entries[entry], f.links[2 * entry + 1]
            shift += w * c[i]
            total += w * w
            for a in range(m):
                r[a] += w * E[i * m + a]
            entry = f.links[2 * entry]
        own[MEAN] += shift / (1.0 + own[PRECISION])
        own[CHAIN] = 0.0
        within = dot(r, r, m)
        if SMALL * within <= 1.0 + own[PRECISION] + total:
            own[PRECISION] += total
            for a in range(m):
                own[LOADING + a] = 0.0
            continue
        own[PRECISION] += fmax(0.0, total - within)
        for a in range(m):
            own[LOADING + a] = r[a]
        add_upper(S, r, 1.0 / (1.0 + own[PRECISION]), m)


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


cdef inline void iterate(
    Factor* f, int fit, Py_ssize_t iterations, double* fitted, double* work
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
        lost = square(f, own) - dot(r, r, m) if fit == SPECTRAL else 0.0
        new[0] = own[PRECISION] + fmax(0.0, lost)
        for a in range(m):
            new[1 + a] = r[a]
    for _round in range(iterations):
        em_step(f, fitted, work)
    for number in range(1, f.n_rows + 1):
        own = f.rows + number * f.width
        own[CHAIN] = 0.0
        for a in range(m + 1):
            own[PRECISION + a] = fitted[number * (m + 1) + a]


cdef inline void compress(
    Factor* f, int fit, Py_ssize_t iterations, double* fitted, double* work
) noexcept nogil:
    """Fit D + R R' to D + W W'; the mean stays. `fitted` is room for (D - 1, R) if there are
    iterations of EM; `work` for 6 K x K.

    Spectral: R = W E_m, E_m the leading eigenvectors of W'D^-1 W, is the best R for this D; D
    gains what R lost of the diagonal. No row can wait: also one without entries loses what it has
    outside E_m, and R'D^-1 R needs its new D.
    """
    cdef Py_ssize_t m = f.m, a, block = f.K * f.K
    cdef double* c = work
    cdef double* S = work + 3 * block
    cdef double* E = work + 4 * block
    if fit == SPECTRAL:
        leading(f, work + block, E)
    else:
        for a in range(f.k * m):
            E[a] = a % m == a // m  # the first m columns as they are
    for a in range(f.k):
        c[a] = f.e[a]
    backward(f.U, f.k, f.K, c)
    if iterations:
        iterate(f, fit, iterations, fitted, work)
        settle_rows(f, S)
    else:
        if m == 8:  # the usual rank, which the compiler then knows
            turn(f, c, E, S, 8)
        else:
            turn(f, c, E, S, m)
        settle(f, S)
    f.n_entries = 0
