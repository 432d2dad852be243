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
is none, in the table and in the chains, and its row is 0.

Rows are scored with a copy of the entries in nodes of several columns, because a chain of single
entries takes longer to follow. A row with entries has a line with the numbers of its nodes, where
number 0 is a node of zeros. What was there when the learner was made gets its nodes when the row is
first seen.
"""

from libc.math cimport fmax, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from cwtool_ext.csr cimport Row, prefetch
from cwtool_ext.dense cimport dot
from cwtool_ext.factor_loops cimport SPAN, Factor, fetch, forward, project

# places in a row
cdef enum:
    MEAN = 0
    CHAIN = 1
    PRECISION = 2
    LOADING = 3

cdef struct Seen:
    double score
    double v
    double exact          # v without its guard
    double xx
    int64_t* number       # of the row of each feature
    double* g             # D^-1 x
    double* z
    int64_t* found        # room to work in
    double* weight


cdef inline void note_entry(
    Factor* f, Py_ssize_t number, Py_ssize_t column, double value
) noexcept nogil:
    """Put an entry into the node of its row and span, which may be new."""
    cdef int32_t* line
    if f.heads[number] == 0:
        f.n_lines += 1
        f.heads[number] = <int32_t> f.n_lines
        line = f.lines + f.n_lines * f.line
        memset(line, 0, f.line * sizeof(int32_t))
        line[f.line - 1] = <int32_t> number
    line = f.lines + f.heads[number] * f.line + column // SPAN
    if line[0] == 0:
        f.n_nodes += 1
        line[0] = <int32_t> f.n_nodes
        memset(f.nodes + f.n_nodes, 0, sizeof(f.nodes[0]))
    f.nodes[line[0]].value[column % SPAN] = value


cdef inline void catch_up(Factor* f, Py_ssize_t number) noexcept nogil:
    """Make the nodes of a row from its chain of entries, if it has none."""
    cdef Py_ssize_t entry = <Py_ssize_t> f.rows[number * f.width + CHAIN]
    if f.heads[number] == 0:
        while entry:
            note_entry(f, number, f.links[2 * entry + 1], f.entries[entry])
            entry = f.links[2 * entry]


cdef inline void see(
    Row row, Row after, const double[:, ::1] table, Factor* f, double floor, Seen* out,
) noexcept nogil:
    cdef double sums[3]  # mu.x, x'D^-1 x and x.x
    cdef const double* numbers = &table[0, 0]
    cdef Py_ssize_t a
    memset(out.z, 0, (f.k + 2 * SPAN) * sizeof(double))
    for a in range(after.nnz):
        prefetch(numbers + after.index[a])
    for a in range(row.nnz):
        out.number[a] = <int64_t> numbers[row.index[a]]
    for a in range(row.nnz if f.behind else 0):
        catch_up(f, out.number[a])
    project(
        f, row.nnz, row.value, row.scale, out.number, out.g, out.z, sums, out.found, out.weight
    )
    fetch(f, after.nnz, after.index, numbers)
    forward(f.U, f.k, f.K, out.z)
    out.score = sums[0] + dot(out.z, f.e, f.k)
    out.exact = fmax(0.0, sums[1] - dot(out.z, out.z, f.k))
    out.v = fmax(out.exact, floor * sums[1])
    out.xx = sums[2]


cdef inline void move(
    Row row, double[:, ::1] table, Factor* f, double alpha, const Seen* seen
) noexcept nogil:
    cdef Py_ssize_t a, c
    for a in range(row.nnz):
        if seen.number[a] == 0:
            if table[row.index[a], 0] == 0.0:
                f.n_rows += 1
                table[row.index[a], 0] = f.n_rows
            seen.number[a] = <int64_t> table[row.index[a], 0]
        f.rows[seen.number[a] * f.width + MEAN] += alpha * seen.g[a]
    for c in range(f.k):
        f.e[c] -= alpha * seen.z[c]


cdef inline void drop_nodes(Factor* f) noexcept nogil:
    """Forget all nodes, because the rows have no entries any more."""
    cdef Py_ssize_t i
    for i in range(1, f.n_lines + 1):
        f.heads[f.lines[i * f.line + f.line - 1]] = 0
    f.n_lines = f.n_nodes = 0
    f.behind = False


cdef inline void append(Row row, Factor* f, double kappa, const Seen* seen) noexcept nogil:
    # the row was seen before, so that its features have nodes for the entries they had
    cdef double root = sqrt(kappa)
    cdef double* own
    cdef Py_ssize_t a, c, number
    for a in range(row.nnz):
        number = seen.number[a]
        own = f.rows + number * f.width
        f.bare[number // 64] &= ~((<uint64_t> 1) << (<uint64_t> number % 64))
        f.n_entries += 1
        f.links[2 * f.n_entries] = <int32_t> own[CHAIN]
        f.links[2 * f.n_entries + 1] = <int32_t> f.k
        f.entries[f.n_entries] = root * (row.scale * row.value[a])
        own[CHAIN] = f.n_entries
        note_entry(f, number, f.k, f.entries[f.n_entries])
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
