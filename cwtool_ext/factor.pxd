"""Second-order rules with Sigma^-1 = D + W W', W = [R B] (Ma et al., AISTATS 2010, eq. 12).

D is diagonal, R has m dense columns, B the latest updates as sparse columns; k columns, at most K.
With U'U = I + W'D^-1 W, z = U'^-1 W'D^-1 x and the mean kept as mu + D^-1 W U^-1 e:
    score = mu.x + z.e        v = x'Sigma x = x'D^-1 x - z.z           O(nnz k + k^2)
    mu += alpha y D^-1 x      e -= alpha y z                           (mean += alpha y Sigma x)
    W gains sqrt(kappa) x     U gains the column [sqrt(kappa) z, sqrt(1 + kappa v)], e gains 0
When K columns are full, D + W W' is fitted by a new D + R R' first.
Guards: v >= floor x'D^-1 x and kappa <= 1/(floor ||x||^2) - 1/v, as with a full covariance.

A feature that took part in an update has a row (mu_j, entries, D_jj - 1, R_j1 .. R_jm); the table
holds its number. Its entries in B are a chain of links (next, column) with their values. Number 0
is none, in the table and in the chains.
"""

from libc.math cimport fmax, sqrt
from libc.stdint cimport int32_t

from cwtool_ext.csr cimport Row
from cwtool_ext.dense cimport dot, forward

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


cdef inline void see(
    Row row, const double[:, ::1] table, const Factor* f, double floor, Seen* out,
) noexcept nogil:
    cdef double x, g, m = 0.0, v = 0.0, xx = 0.0
    cdef const double* own
    cdef Py_ssize_t a, c, entry, number
    for c in range(f.k):
        out.z[c] = 0.0
    for a in range(row.nnz):
        x = row.scale * row.value[a]
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
    out.v = fmax(out.exact, floor * v)
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
    Row row, const double[:, ::1] table, Factor* f, double kappa, const Seen* seen
) noexcept nogil:
    cdef double root = sqrt(kappa)
    cdef double* own
    cdef Py_ssize_t a, c
    for a in range(row.nnz):
        own = f.rows + <Py_ssize_t> table[row.index[a], 0] * f.width
        f.n_entries += 1
        f.links[2 * f.n_entries] = <int32_t> own[CHAIN]
        f.links[2 * f.n_entries + 1] = <int32_t> f.k
        f.entries[f.n_entries] = root * (row.scale * row.value[a])
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
