"""Dual coordinate ascent over blocks of features under the squared sum of block norms.

    primal  sigma/2 sum |w_k|^2 + 1/2 (sum |w_k|)^2 + C/q sum xi_i^q
    dual    sum b - (q-1)/(2C) sum b^2 - Omega*(z),   z_k = Sigma_k^1/2 s_k,  0 <= b_i <= U
    s_k = sum_i b_i y_i x_i over block k,   m_k = Sigma_k s_k,   a_k^2 = |z_k|^2 = s_k' Sigma_k s_k
    Omega*(z) = max over t >= 0 of  sum a t - sigma/2 sum t^2 - 1/2 (sum t)^2
(Tan et al. 2016, eq. 11-16.) No square root of Sigma is needed: a step d of row i gives, with
p_k = m_k.x_i and n_k = x_i' Sigma_k x_i,  a_k^2 += 2 d p_k + d^2 n_k,  m_k += d Sigma_k x_i.

Rows are sparse over the positions of the chosen features, blocks one behind the other: block k
begins at position first[k]; Sigma[j] is the row of position j within its own block.
"""

from libc.math cimport fabs, fmax, fmin, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, prefetch, read, row_at

cdef enum:
    AHEAD = 8  # rows in a random order are fetched so many visits before they are needed


cdef double shares(const double* a, Py_ssize_t K, double sigma, double* t) noexcept nogil:
    """The t of Omega*: S = sum t = max_j (a_1 + .. + a_j) / (sigma + j) over a descending,
    t_k = (a_k - S)_+ / sigma; equal shares of S where the a tie. Returns S."""
    cdef Py_ssize_t k, n, above
    cdef double total, S, cut = 0
    while True:
        n = 0
        total = 0
        for k in range(K):
            if a[k] > cut:
                n += 1
                total += a[k]
        S = total / (sigma + n) if n else 0
        above = 0
        for k in range(K):
            above += a[k] > S
        if n == 0 or above == 0 or above >= n:  # more than n: by rounding
            break
        cut = S
    for k in range(K):
        if a[k] <= cut:
            t[k] = 0
        elif above == 0 or n == 1 or sigma == 0:
            t[k] = S / n
        else:
            t[k] = (a[k] - S) / sigma
    return S


def omega(const double[::1] a, double sigma, double[::1] t):
    """Fills t and returns S for the block norms a."""
    if t.shape[0] != a.shape[0]:
        raise ValueError("the shapes do not fit")
    return shares(&a[0], a.shape[0], sigma, &t[0]) if a.shape[0] else 0.0


cdef int check(const int32_t[::1] owner, const int64_t[::1] first,
               const double[:, ::1] Sigma) except -1:
    """Blocks one behind the other, none wider than Sigma."""
    cdef Py_ssize_t j, K = first.shape[0] - 1
    if Sigma.shape[0] != owner.shape[0] or K < 0 or first[K] != owner.shape[0] or first[0] != 0:
        raise ValueError("the shapes do not fit")
    for j in range(K):
        if not 0 <= first[j + 1] - first[j] <= Sigma.shape[1]:
            raise ValueError("a block is wider than Sigma")
    for j in range(owner.shape[0]):
        if not 0 <= owner[j] < K or not first[owner[j]] <= j < first[owner[j] + 1]:
            raise ValueError("a position is not in its block")
    return 0


cdef inline Py_ssize_t run_end(Row row, Py_ssize_t k, const int32_t[::1] owner) noexcept nogil:
    """Where the entries of the block of entry k end."""
    cdef int32_t block = owner[row.index[k]]
    while k < row.nnz and owner[row.index[k]] == block:
        k += 1
    return k


cdef inline void move(Row row, double d, const int32_t* owner, const int64_t* first,
                      const double* Sigma, Py_ssize_t room, double* m) noexcept nogil:
    """m += d Sigma x"""
    cdef Py_ssize_t k, j, start, width
    cdef double x, a, b
    cdef double* to
    cdef const double* column
    for k in range(row.nnz):
        start = first[owner[row.index[k]]]
        width = first[owner[row.index[k]] + 1] - start
        x = d * row.value[k]
        to = m + start
        column = Sigma + row.index[k] * room
        for j in range(0, width - 1, 2):  # both before either is written: two at once
            a = to[j] + x * column[j]
            b = to[j + 1] + x * column[j + 1]
            to[j] = a
            to[j + 1] = b
        if width & 1:
            to[width - 1] += x * column[width - 1]


cdef inline void fetch(Rows rows, const int64_t[::1] order, Py_ssize_t s, const double* y,
                       const double* n, double* b) noexcept nogil:
    """What the visits to come will need."""
    cdef Py_ssize_t i, start, stop, k
    if s + 2 * AHEAD >= order.shape[0]:
        return
    prefetch(rows.start + order[s + 2 * AHEAD])
    i = order[s + AHEAD]
    prefetch(y + i)
    prefetch(b + i)
    start, stop = rows.start[i], rows.start[i + 1]
    for k in range(start, min(stop, start + 32), 16):
        prefetch(rows.index + k)
    for k in range(start, min(stop, start + 32), 8):
        prefetch(rows.value + k)
        prefetch(n + k)


def norms(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
          const int32_t[::1] owner, const int64_t[::1] first, const double[:, ::1] Sigma,
          Py_ssize_t position, double[::1] n):
    """n_ik = x' Sigma_k x, written at the first entry of row i in block k, of blocks that begin at
    this position or behind."""
    cdef Rows rows = read(indptr, indices, values, owner.shape[0])
    cdef Row row
    cdef Py_ssize_t i, k, a, b, end
    cdef double total, below
    check(owner, first, Sigma)
    if n.shape[0] != indices.shape[0]:
        raise ValueError("the shapes do not fit")
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            k = 0
            while k < row.nnz and row.index[k] < position:
                k += 1
            while k < row.nnz:
                end = run_end(row, k, owner)
                total = 0
                for a in range(k, end):
                    below = 0
                    for b in range(k, a):
                        below += Sigma[row.index[a], row.index[b] - first[owner[row.index[a]]]] \
                            * row.value[b]
                    total += row.value[a] * (2 * below + row.value[a] * Sigma[
                        row.index[a], row.index[a] - first[owner[row.index[a]]]])
                n[indptr[i] + k] = fmax(0, total)
                k = end


def metric_pass(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
                const double[::1] y, const int64_t[::1] order, const int32_t[::1] owner,
                const int64_t[::1] first, const double[:, ::1] Sigma, const double[::1] n,
                const double[::1] metric, double D, double U, double[::1] m, double[::1] b):
    """One visit to each row under 1/2 sum |w_k|^2 / metric_k, which bounds Omega from above:
    margin = sum metric_k p_k,  Q = sum metric_k n_k,  b' = clip(b + (1 - margin - D b)/(Q + D))."""
    cdef Rows rows = read(indptr, indices, values, owner.shape[0])
    cdef Row row
    cdef Py_ssize_t i, k, s, end
    cdef double margin, Q, p, new, d
    cdef const double* norm = &n[0] if n.shape[0] else NULL
    check(owner, first, Sigma)
    longest(order, rows)
    one_a_row("y", y, rows)
    one_a_row("b", b, rows)
    if n.shape[0] != indices.shape[0] or metric.shape[0] != first.shape[0] - 1 \
            or m.shape[0] != owner.shape[0]:
        raise ValueError("the shapes do not fit")
    with nogil:
        for s in range(order.shape[0]):
            fetch(rows, order, s, &y[0], norm, &b[0])
            i = order[s]
            row = row_at(rows, i)
            margin = 0
            Q = 0
            k = 0
            while k < row.nnz:
                end = run_end(row, k, owner)
                Q += metric[owner[row.index[k]]] * n[indptr[i] + k]
                p = 0
                for k in range(k, end):
                    p += m[row.index[k]] * row.value[k]
                margin += metric[owner[row.index[end - 1]]] * p
                k = end
            if Q + D == 0:
                new = U
            else:
                new = fmin(U, fmax(0, b[i] + (1 - y[i] * margin - D * b[i]) / (Q + D)))
            d = (new - b[i]) * y[i]
            b[i] = new
            if d != 0 and row.nnz:
                move(row, d, &owner[0], &first[0], &Sigma[0, 0], Sigma.shape[1], &m[0])


cdef struct Touched:  # by one row: its blocks, y p_k, n_k, and room for all blocks
    Py_ssize_t count, K
    double sigma
    double* block
    double* p
    double* n
    double* square  # a_k^2 before the step
    double* a
    double* t


cdef double margin_after(Touched row, double d) noexcept nogil:
    """y f after a step d:  sum t_k/a_k (p_k + d n_k)."""
    cdef Py_ssize_t j, k
    cdef double margin = 0
    for k in range(row.K):
        row.a[k] = sqrt(row.square[k])
    for j in range(row.count):
        k = <Py_ssize_t> row.block[j]
        row.a[k] = sqrt(fmax(0, row.square[k] + d * (2 * row.p[j] + d * row.n[j])))
    shares(row.a, row.K, row.sigma, row.t)
    for j in range(row.count):
        k = <Py_ssize_t> row.block[j]
        if row.t[k] > 0:
            margin += row.t[k] / row.a[k] * (row.p[j] + d * row.n[j])
    return margin


cdef double root(Touched row, double b, double D, double low, double high) noexcept nogil:
    """The zero of 1 - margin(d) - D (b + d), which falls with d, between low and high or the
    nearer of the two; by regula falsi (Illinois)."""
    cdef double left, right, d, slope
    cdef int side = 0, _try
    left = 1 - margin_after(row, low) - D * (b + low)
    if left <= 0:
        return low
    right = 1 - margin_after(row, high) - D * (b + high)
    if right >= 0:
        return high
    for _try in range(200):
        d = (low * right - high * left) / (right - left)
        if not low < d < high:
            d = 0.5 * (low + high)
        if high - low <= 1e-15 * fmax(fabs(low), fabs(high)) or d == low or d == high:
            break
        slope = 1 - margin_after(row, d) - D * (b + d)
        if slope == 0:
            break
        if slope > 0:
            low = d
            left = slope
            right = 0.5 * right if side > 0 else right
            side = 1
        else:
            high = d
            right = slope
            left = 0.5 * left if side < 0 else left
            side = -1
    return d


def conjugate_pass(const int64_t[::1] indptr, const int32_t[::1] indices,
                   const double[::1] values, const double[::1] y, const int64_t[::1] order,
                   const int32_t[::1] owner, const int64_t[::1] first,
                   const double[:, ::1] Sigma, const double[::1] n, double sigma, double D,
                   double U, bint exact, double[::1] square, double[:, ::1] work,
                   double[::1] m, double[::1] b):
    """One visit to each row in the dual itself; square holds a_k^2, work is room.
    exact: the best step.  Otherwise as printed (Algorithm 3): b' = clip(b + g/(sum n_k + D)),
    which is a Newton step only if the curvature is at most sum n_k."""
    cdef Rows rows = read(indptr, indices, values, owner.shape[0])
    cdef Row row
    cdef Touched at
    cdef Py_ssize_t i, j, k, s, end, K = first.shape[0] - 1
    cdef double Q, p, g, d, high
    check(owner, first, Sigma)
    longest(order, rows)
    one_a_row("y", y, rows)
    one_a_row("b", b, rows)
    if n.shape[0] != indices.shape[0] or square.shape[0] != K or m.shape[0] != owner.shape[0] \
            or work.shape[0] != 5 or work.shape[1] < max(1, K):
        raise ValueError("the shapes do not fit")
    if K == 0:
        return
    at = Touched(0, K, sigma, &work[0, 0], &work[1, 0], &work[2, 0], &square[0], &work[3, 0],
                 &work[4, 0])
    with nogil:
        for s in range(order.shape[0]):
            i = order[s]
            row = row_at(rows, i)
            Q = 0
            k = 0
            at.count = 0
            while k < row.nnz:
                end = run_end(row, k, owner)
                at.block[at.count] = owner[row.index[k]]
                at.n[at.count] = n[indptr[i] + k]
                Q += n[indptr[i] + k]
                p = 0
                for k in range(k, end):
                    p += m[row.index[k]] * row.value[k]
                at.p[at.count] = y[i] * p
                at.count += 1
                k = end
            g = 1 - margin_after(at, 0) - D * b[i]
            if Q + D == 0:
                d = U - b[i]
            elif Q == 0 or not exact:
                d = fmin(U, fmax(0, b[i] + g / (Q + D))) - b[i]
            elif g > 0:
                high = U - b[i]
                if D > 0:
                    high = fmin(high, g / D)
                d = root(at, b[i], D, 0, high)
            else:
                d = root(at, b[i], D, -b[i], 0)
            if d == 0:
                continue
            b[i] += d
            for j in range(at.count):
                k = <Py_ssize_t> at.block[j]
                square[k] = fmax(0, square[k] + d * (2 * at.p[j] + d * at.n[j]))
            if row.nnz:
                move(row, d * y[i], &owner[0], &first[0], &Sigma[0, 0], Sigma.shape[1], &m[0])


def variances(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
              double scale, const double[:, ::1] table, Py_ssize_t column,
              const int32_t[::1] owner, const int64_t[::1] first, const double[:, ::1] Sigma,
              double[::1] out):
    """out_i = sum_k x' Sigma_k x over the chosen features; table[:, column] is 1 + the position
    of a feature, 0 for one that was not chosen."""
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    cdef Row row
    cdef Py_ssize_t i, a, b, p, q
    cdef double x, total
    check(owner, first, Sigma)
    one_a_row("out", out, rows)
    if not 0 <= column < table.shape[1]:
        raise ValueError("the shapes do not fit")
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            total = 0
            for a in range(row.nnz):
                p = <Py_ssize_t> table[row.index[a], column] - 1
                if not 0 <= p < owner.shape[0]:
                    continue
                x = scale * row.value[a]
                total += x * x * Sigma[p, p - first[owner[p]]]
                for b in range(a):
                    q = <Py_ssize_t> table[row.index[b], column] - 1
                    if 0 <= q < owner.shape[0] and owner[q] == owner[p]:
                        total += 2 * x * (scale * row.value[b]) * Sigma[p, q - first[owner[p]]]
            out[i] = fmax(0, total)
