"""Second-order rules with Sigma^-1 = D + W W', W = [R B] (Ma et al., AISTATS 2010, eq. 12).

D is diagonal, R has m dense columns, B the latest updates as sparse columns; k columns, at most K.
With U'U = I + W'D^-1 W, z = U'^-1 W'D^-1 x and the mean kept as mu + D^-1 W U^-1 e:
    score = mu.x + z.e        v = x'Sigma x = x'D^-1 x - z.z           O(nnz k + k^2)
    mu += alpha y D^-1 x      e -= alpha y z                           (mean += alpha y Sigma x)
    W gains sqrt(kappa) x     U gains the column [sqrt(kappa) z, sqrt(1 + kappa v)], e gains 0
When K columns are full, D + W W' is fitted by a new D + R R' first.
Guards: v >= smin x'D^-1 x and kappa <= 1/(smin ||x||^2) - 1/v, as with a full covariance.

A feature that took part in an update has a row (mu_j, entries, D_jj - 1, R_j1 .. R_jm); the table
holds its number. Its entries in B are a chain of links (next, column) with their values. Number 0
is none, in the table and in the chains.
"""

import numpy as np

from libc.math cimport fmax, fmin, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, read, row_at
from cwtool_ext.dense cimport backward, cholesky, dot, eigenvectors, forward, invert
from cwtool_ext.rules cimport Form, Rule, fires

cdef enum:
    SPECTRAL = 0
    EM = 1

# places in a row
cdef enum:
    MEAN = 0
    CHAIN = 1
    PRECISION = 2
    LOADING = 3

cdef struct Factor:
    double* rows
    Py_ssize_t width
    Py_ssize_t room       # for rows
    int32_t* links
    double* entries
    Py_ssize_t length     # room for entries
    double* U             # K x K
    double* e
    Py_ssize_t m
    Py_ssize_t K
    Py_ssize_t k          # columns of W
    Py_ssize_t dense      # of them in R: m, or 0 before the first fit
    Py_ssize_t n_rows
    Py_ssize_t n_entries

cdef struct Seen:
    double score
    double v
    double exact          # v without its guard
    double xx
    double* g             # D^-1 x
    double* z


cdef inline void look(
    Row row, const double[:, ::1] table, const Factor* f, double scale, double smin, Seen* out,
) noexcept nogil:
    cdef double x, g, m = 0.0, v = 0.0, xx = 0.0
    cdef const double* own
    cdef Py_ssize_t a, c, entry, number
    for c in range(f.k):
        out.z[c] = 0.0
    for a in range(row.nnz):
        x = scale * row.value[a]
        xx += x * x
        number = <Py_ssize_t> table[row.index[a], 0]
        if number == 0:
            out.g[a] = x
            v += x * x
            continue
        own = f.rows + number * f.width
        out.g[a] = g = x / (1.0 + own[PRECISION])
        m += own[MEAN] * x
        v += g * x
        for c in range(f.dense):
            out.z[c] += own[LOADING + c] * g
        entry = <Py_ssize_t> own[CHAIN]
        while entry:
            out.z[f.links[2 * entry + 1]] += f.entries[entry] * g
            entry = f.links[2 * entry]
    forward(f.U, f.k, f.K, out.z)
    out.score = m + dot(out.z, f.e, f.k)
    out.exact = fmax(0.0, v - dot(out.z, out.z, f.k))
    out.v = fmax(out.exact, smin * v)
    out.xx = xx


cdef inline void move(
    Row row, double[:, ::1] table, Factor* f, double alpha, const Seen* seen
) noexcept nogil:
    cdef Py_ssize_t a, c
    for a in range(row.nnz):
        if table[row.index[a], 0] == 0.0:
            f.n_rows += 1
            table[row.index[a], 0] = f.n_rows
        f.rows[<Py_ssize_t> table[row.index[a], 0] * f.width + MEAN] += alpha * seen.g[a]
    for c in range(f.k):
        f.e[c] -= alpha * seen.z[c]


cdef inline void append(
    Row row, const double[:, ::1] table, Factor* f, double scale, double kappa, const Seen* seen
) noexcept nogil:
    cdef double root = sqrt(kappa)
    cdef double* own
    cdef Py_ssize_t a, c
    for a in range(row.nnz):
        own = f.rows + <Py_ssize_t> table[row.index[a], 0] * f.width
        f.n_entries += 1
        f.links[2 * f.n_entries] = <int32_t> own[CHAIN]
        f.links[2 * f.n_entries + 1] = <int32_t> f.k
        f.entries[f.n_entries] = root * (scale * row.value[a])
        own[CHAIN] = f.n_entries
    for c in range(f.k):
        f.U[c * f.K + f.k] = root * seen.z[c]
    f.U[f.k * f.K + f.k] = sqrt(1.0 + kappa * seen.exact)
    f.e[f.k] = 0.0
    f.k += 1


cdef inline void times(
    const Factor* f, const double* own, const double* A, Py_ssize_t n, double* out
) noexcept nogil:
    # out = w'A, w the row of W, A with n columns
    cdef Py_ssize_t a, c, entry = <Py_ssize_t> own[CHAIN]
    for a in range(n):
        out[a] = 0.0
    for c in range(f.dense):
        for a in range(n):
            out[a] += own[LOADING + c] * A[c * n + a]
    while entry:
        c = f.links[2 * entry + 1]
        for a in range(n):
            out[a] += f.entries[entry] * A[c * n + a]
        entry = f.links[2 * entry]


cdef inline double square(const Factor* f, const double* own) noexcept nogil:
    # w.w
    cdef Py_ssize_t entry = <Py_ssize_t> own[CHAIN]
    cdef double total = dot(own + LOADING, own + LOADING, f.dense)
    while entry:
        total += f.entries[entry] * f.entries[entry]
        entry = f.links[2 * entry]
    return total


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


cdef void leading(const Factor* f, double* V, double* E) noexcept nogil:
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


cdef void em_step(const Factor* f, double* fitted, double* work) noexcept nogil:
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


cdef void compress(
    Factor* f, int fit, Py_ssize_t iterations, double* fitted, double* work
) noexcept nogil:
    """Fit D + R R' to D + W W'; the mean stays. `fitted` is room for (D - 1, R) if there are
    iterations of EM; `work` for 6 K x K.

    Spectral: R = W E_m, E_m the leading eigenvectors of W'D^-1 W, is the best R for this D; D
    gains what R lost of the diagonal. No row can wait: also one without entries loses what it has
    outside E_m, and R'D^-1 R needs its new D.
    """
    cdef Py_ssize_t m = f.m, a, number, _round, block = f.K * f.K
    cdef double* c = work
    cdef double* E = work + 4 * block
    cdef double* r = work + 5 * block
    cdef double* own
    cdef double* new
    cdef double shift, lost
    if fit == SPECTRAL:
        leading(f, work + block, E)
    else:
        for a in range(f.k * m):
            E[a] = a % m == a // m  # the first m columns as they are
    for a in range(f.k):
        c[a] = f.e[a]
    backward(f.U, f.k, f.K, c)
    for number in range(1, f.n_rows + 1):
        own = f.rows + number * f.width
        new = fitted + number * (m + 1) if iterations else own + PRECISION
        times(f, own, c, 1, &shift)
        own[MEAN] += shift / (1.0 + own[PRECISION])
        times(f, own, E, m, r)
        lost = square(f, own) - dot(r, r, m) if fit == SPECTRAL else 0.0
        new[0] = own[PRECISION] + fmax(0.0, lost)
        for a in range(m):
            new[1 + a] = r[a]
    for _round in range(iterations):
        em_step(f, fitted, work)
    f.k = f.dense = m
    f.n_entries = 0
    for a in range(m * m):
        E[a] = 0.0
    for number in range(1, f.n_rows + 1):
        own = f.rows + number * f.width
        own[CHAIN] = 0.0
        if iterations:
            for a in range(m + 1):
                own[PRECISION + a] = fitted[number * (m + 1) + a]
        add_outer(E, own + LOADING, 1.0 / (1.0 + own[PRECISION]), m)
    for a in range(m):
        E[a * m + a] += 1.0
        f.e[a] = 0.0
    cholesky(E, m, m, 1.0)
    for a in range(m * m):
        f.U[a // m * f.K + a % m] = E[a] if a % m >= a // m else 0.0


cdef Factor view(
    double[:, ::1] rows, int32_t[:, ::1] links, double[::1] entries, double[:, ::1] U,
    double[::1] e, const int64_t[::1] counts,
) except *:
    cdef Factor f
    f.width, f.room, f.length = rows.shape[1], rows.shape[0] - 1, entries.shape[0] - 1
    f.m, f.K = f.width - LOADING, U.shape[0]
    if not 0 < f.m < f.K or U.shape[1] != f.K or e.shape[0] != f.K:
        raise ValueError(f"rank {f.m}, U of {U.shape[0]} x {U.shape[1]} and e of {e.shape[0]}")
    if links.shape[0] != entries.shape[0] or links.shape[1] != 2:
        raise ValueError(f"{links.shape[0]} links do not match {entries.shape[0]} entries")
    if counts.shape[0] != 4:
        raise ValueError("counts are of columns, dense columns, rows, entries")
    f.k, f.dense, f.n_rows, f.n_entries = counts[0], counts[1], counts[2], counts[3]
    if not (f.dense in (0, f.m) and f.dense <= f.k <= f.K
            and 0 <= f.n_rows <= f.room and 0 <= f.n_entries <= f.length):
        raise ValueError(f"counts {list(counts)} do not fit the arrays")
    f.rows, f.links, f.entries = &rows[0, 0], &links[0, 0], &entries[0]
    f.U, f.e = &U[0, 0], &e[0]
    return f


def learn(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table, double[:, ::1] rows,
    int32_t[:, ::1] links, double[::1] entries, double[:, ::1] U, double[::1] e,
    int64_t[::1] counts, Rule rule not None, int fit, Py_ssize_t iterations, double smin,
    double scale, double[::1] score, double[::1] variance,
):
    """Visit the rows in order, score each, then update; return the number of updates."""
    cdef Rows data = check(indptr, indices, values, table, score, variance, smin)
    one_a_row("y", y, data)
    cdef Py_ssize_t most = longest(order, data)
    cdef Factor f = view(rows, links, entries, U, e, counts)
    cdef double[::1] g = np.empty(most + 1), z = np.empty(f.K)
    cdef double[:, :, ::1] work = np.empty((6, f.K, f.K))
    cdef double[:, ::1] fitted = np.empty((f.room + 1 if iterations else 1, f.m + 1))
    cdef Seen seen
    cdef Form form = rule.form
    cdef const double* theta = rule.theta
    cdef Row row
    cdef Py_ssize_t i, n, updates = 0
    cdef double alpha, kappa
    cdef bint full = False
    seen.g, seen.z = &g[0], &z[0]
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            row = row_at(data, i)
            look(row, table, &f, scale, smin, &seen)
            score[i], variance[i] = seen.score, seen.v
            if not fires(form, theta, y[i] * seen.score, seen.v, &alpha, &kappa):
                continue
            full = f.n_rows + row.nnz > f.room or f.n_entries + row.nnz > f.length
            if full:
                break
            updates += 1
            move(row, table, &f, alpha * y[i], &seen)
            kappa = fmax(0.0, fmin(kappa, 1.0 / (smin * seen.xx) - 1.0 / seen.v))
            if kappa == 0.0:
                continue
            if f.k == f.K:
                compress(&f, fit, iterations, &fitted[0, 0], &work[0, 0, 0])
                look(row, table, &f, scale, smin, &seen)
            append(row, table, &f, scale, kappa, &seen)
    counts[0], counts[1], counts[2], counts[3] = f.k, f.dense, f.n_rows, f.n_entries
    if full:
        raise ValueError("no room is left for rows or entries")
    return updates


def scores(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, double[:, ::1] rows, int32_t[:, ::1] links, double[::1] entries,
    double[:, ::1] U, double[::1] e, const int64_t[::1] counts, double smin, double scale,
    double[::1] score, double[::1] variance,
):
    """The score and x'Sigma x of every row."""
    cdef Rows data = check(indptr, indices, values, table, score, variance, smin)
    cdef Factor f = view(rows, links, entries, U, e, counts)
    cdef double[::1] g = np.empty(indices.shape[0] + 1), z = np.empty(f.K)
    cdef Seen seen
    cdef Py_ssize_t i
    seen.g, seen.z = &g[0], &z[0]
    with nogil:
        for i in range(data.count):
            look(row_at(data, i), table, &f, scale, smin, &seen)
            score[i], variance[i] = seen.score, seen.v


def fit_again(
    double[:, ::1] rows, int32_t[:, ::1] links, double[::1] entries, double[:, ::1] U,
    double[::1] e, int64_t[::1] counts, int fit, Py_ssize_t iterations,
):
    """Compress now, whatever the number of columns from m on."""
    cdef Factor f = view(rows, links, entries, U, e, counts)
    cdef double[:, :, ::1] work = np.empty((6, f.K, f.K))
    cdef double[:, ::1] fitted = np.empty((f.room + 1, f.m + 1))
    if f.k < f.m:
        raise ValueError(f"{f.k} columns are fewer than the rank {f.m}")
    with nogil:
        compress(&f, fit, iterations, &fitted[0, 0], &work[0, 0, 0])
    counts[0], counts[1], counts[2], counts[3] = f.k, f.dense, f.n_rows, f.n_entries


cdef Rows check(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[:, ::1] table, const double[::1] score, const double[::1] variance, double smin,
) except *:
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    one_a_row("score", score, rows)
    one_a_row("variance", variance, rows)
    if table.shape[1] != 1:
        raise ValueError(f"a factored table has 1 column (row number), not {table.shape[1]}")
    if not 0.0 < smin < 1.0:
        raise ValueError(f"smin must lie between 0 and 1, not {smin}")
    return rows
