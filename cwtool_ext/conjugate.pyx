"""Dual coordinate ascent over groups of features under the squared sum of group norms.

    primal  sigma/2 sum |w_k|^2 + 1/2 (sum |w_k|)^2 + C/q sum h_i xi_i^q
    dual    sum b - (q-1)/(2C) sum b^2/h - Omega*(z),   z_k = Sigma_k^1/2 s_k,  0 <= b_i <= U_i
    s_k = sum_i b_i y_i x_i over group k,   m_k = Sigma_k s_k,   a_k^2 = |z_k|^2 = s_k' Sigma_k s_k
    Omega*(z) = max over t >= 0 of  sum a t - sigma/2 sum t^2 - 1/2 (sum t)^2
(Tan et al. 2016, eq. 11-16.) No square root of Sigma is needed: a step d of row i gives, with
p_k = m_k.x_i and n_k = x_i' Sigma_k x_i,  a_k^2 += 2 d p_k + d^2 n_k,  m_k += d Sigma_k x_i.

Rows are sparse over the positions of the chosen features (see groups.pxd).
"""

from libc.math cimport fabs, fmax, fmin, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Csr, Row, check_order, one_a_row, row_at
from cwtool_ext.groups cimport check_groups, move, run_end
from cwtool_ext.inverted cimport check_matrix


cdef int check_runs(Csr rows, const int32_t[::1] owner) except -1:
    """Refuse a row in which the entries of a group do not follow one another, group by group."""
    cdef Row row
    cdef Py_ssize_t i, k
    cdef bint ascending = True
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            for k in range(row.nnz - 1):
                ascending &= owner[row.index[k]] <= owner[row.index[k + 1]]
    if not ascending:
        raise ValueError("the groups of the entries of a row do not ascend")
    return 0


cdef double shares(const double* a, Py_ssize_t K, double sigma, double* t) noexcept nogil:
    """Fill the t of Omega*: S = sum t = max_j (a_1 + .. + a_j) / (sigma + j) over a descending,
    t_k = (a_k - S)_+ / sigma, and equal shares of S where the largest a are equal. Returns S."""
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
        if n == 0 or above == 0 or above >= n:  # above > n is possible by rounding
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


def omega(const double[::1] a, double sigma, double[::1] t) -> float:
    """Fill t for the group norms a. Returns S = sum t."""
    if t.shape[0] != a.shape[0]:
        raise ValueError(f"t has {t.shape[0]} places for {a.shape[0]} groups")
    return shares(&a[0], a.shape[0], sigma, &t[0]) if a.shape[0] else 0.0


cdef struct Touched:  # the groups in which one row has entries, and room for all groups
    Py_ssize_t count, K
    double sigma
    double* group  # numbers of the groups of the row
    double* p  # y p_k of these
    double* n  # n_k of these
    double* square  # a_k^2 of all groups, before the step
    double* a
    double* t


cdef double margin_after(Touched row, double d) noexcept nogil:
    """The margin of the row after a step d:  sum t_k/a_k (p_k + d n_k)."""
    cdef Py_ssize_t j, k
    cdef double margin = 0
    for k in range(row.K):
        row.a[k] = sqrt(row.square[k])
    for j in range(row.count):
        k = <Py_ssize_t> row.group[j]
        row.a[k] = sqrt(fmax(0, row.square[k] + d * (2 * row.p[j] + d * row.n[j])))
    shares(row.a, row.K, row.sigma, row.t)
    for j in range(row.count):
        k = <Py_ssize_t> row.group[j]
        if row.t[k] > 0:
            margin += row.t[k] / row.a[k] * (row.p[j] + d * row.n[j])
    return margin


cdef double root(Touched row, double b, double D, double low, double high) noexcept nogil:
    """The d in low .. high at which 1 - margin(d) - D (b + d), which falls with d, is zero, or the
    end nearer to it; by the Illinois variant of regula falsi."""
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


def conjugate_pass(
    Csr rows not None, const double[::1] y, const int64_t[::1] order, const int32_t[::1] owner,
    const int64_t[::1] first, const double[:, ::1] Sigma, const double[::1] n, double sigma,
    const double[:] D, const double[:] U, bint exact, double[::1] square, double[:, ::1] work,
    double[::1] m, double[::1] b,
) -> None:
    """Visit the rows once, in this order, in the dual itself. square holds a_k^2, n the n_ik of
    sbcw.norms, and work is room for 5 numbers a group. exact: the best step of each row. Otherwise
    the step as printed (Algorithm 3), b' = clip(b + g/(sum n_k + D)), which is a Newton step only
    if the curvature is at most sum n_k."""
    cdef Row row
    cdef Touched at
    cdef Py_ssize_t i, j, k, s, end, K = first.shape[0] - 1
    cdef double Q, p, g, d, high, ridge, upper
    check_groups(owner, first, Sigma)
    check_matrix(rows, owner.shape[0])
    check_order(order, rows)
    one_a_row("y", y.shape[0], rows)
    one_a_row("b", b.shape[0], rows)
    one_a_row("D", D.shape[0], rows)
    one_a_row("U", U.shape[0], rows)
    if n.shape[0] != rows.start[rows.count] or m.shape[0] != owner.shape[0]:
        raise ValueError("n needs a place for each entry, and m for each position")
    if square.shape[0] != K or work.shape[0] != 5 or work.shape[1] < max(1, K):
        raise ValueError(f"square and each of the 5 rows of work need {K} places")
    if K == 0:
        return
    check_runs(rows, owner)
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
                end = run_end(row, k, &owner[0])
                at.group[at.count] = owner[row.index[k]]
                at.n[at.count] = n[rows.start[i] + k]
                Q += n[rows.start[i] + k]
                p = 0
                for k in range(k, end):
                    p += m[row.index[k]] * row.value[k]
                at.p[at.count] = y[i] * p
                at.count += 1
                k = end
            ridge = D[i]
            upper = U[i]
            g = 1 - margin_after(at, 0) - ridge * b[i]
            if Q + ridge == 0:
                d = upper - b[i]
            elif Q == 0 or not exact:
                d = fmin(upper, fmax(0, b[i] + g / (Q + ridge))) - b[i]
            elif g > 0:
                high = upper - b[i]
                if ridge > 0:
                    high = fmin(high, g / ridge)
                d = root(at, b[i], ridge, 0, high)
            else:
                d = root(at, b[i], ridge, -b[i], 0)
            if d == 0:
                continue
            b[i] += d
            for j in range(at.count):
                k = <Py_ssize_t> at.group[j]
                square[k] = fmax(0, square[k] + d * (2 * at.p[j] + d * at.n[j]))
            if row.nnz:
                move(row, d * y[i], &owner[0], &first[0], &Sigma[0, 0], Sigma.shape[1], &m[0])
