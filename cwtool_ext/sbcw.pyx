"""Dual coordinate ascent over groups of features with a metric for each group.

    primal  sigma/2 sum |w_k|^2 + 1/2 (sum |w_k|)^2 + C/q sum h_i xi_i^q
    s_k = sum_i b_i y_i x_i over group k,   m_k = Sigma_k s_k,   0 <= b_i <= U_i
(Tan et al. 2016, eq. 11-16.) Since (sum |w_k|)^2 = min over d, sum d = 1, of sum |w_k|^2 / d_k, the
penalty is at most 1/2 sum |w_k|^2 / metric_k with metric_k = 1 / (sigma + 1/d_k), and w_k follows
from metric_k m_k. A step d of row i gives m_k += d Sigma_k x_i; no square root of Sigma is needed.

Rows are sparse over the positions of the chosen features (see groups.pxd). The ascent in the dual
itself, without such a metric, is in conjugate.
"""

import numpy as np

from libc.math cimport fmax, fmin
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Csr, Row, check_order, fetch, one_a_row, prefetch, row_at
from cwtool_ext.groups cimport check_groups, move, run_end
from cwtool_ext.inverted cimport check_matrix

cdef enum:
    AHEAD = 8  # rows in a random order are fetched this number of steps before they are needed


cdef inline void fetch_ahead(
    Csr rows, const int64_t[::1] order, Py_ssize_t s, const double* y, const double* n,
    const double* b,
) noexcept nogil:
    """Ask for what the steps after step s will need."""
    cdef Row row
    cdef Py_ssize_t i, k
    if s + 2 * AHEAD >= order.shape[0]:
        return
    prefetch(rows.start + order[s + 2 * AHEAD])
    i = order[s + AHEAD]
    prefetch(y + i)
    prefetch(b + i)
    row = row_at(rows, i)
    fetch(row)
    n += rows.start[i]
    for k in range(0, min(row.nnz, 32), 8):
        prefetch(n + k)


def norms(
    Csr rows not None, const int32_t[::1] owner, const int64_t[::1] first,
    const double[:, ::1] Sigma, Py_ssize_t position, double[::1] n,
) -> None:
    """n_ik = x_i' Sigma_k x_i, written at the first entry of row i in group k, for the groups that
    begin at this position or behind it."""
    cdef Row row
    cdef Py_ssize_t i, k, a, b, end
    cdef double total, below
    check_groups(owner, first, Sigma)
    check_matrix(rows, owner.shape[0])
    check_entries(n.shape[0], rows)
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            k = 0
            while k < row.nnz and row.index[k] < position:
                k += 1
            while k < row.nnz:
                end = run_end(row, k, &owner[0])
                total = 0
                for a in range(k, end):
                    below = 0
                    for b in range(k, a):
                        below += Sigma[row.index[a], row.index[b] - first[owner[row.index[a]]]] \
                            * row.value[b]
                    total += row.value[a] * (2 * below + row.value[a] * Sigma[
                        row.index[a], row.index[a] - first[owner[row.index[a]]]])
                n[rows.start[i] + k] = fmax(0, total)
                k = end


def metric_pass(
    Csr rows not None, const double[::1] y, const int64_t[::1] order, const int32_t[::1] owner,
    const int64_t[::1] first, const double[:, ::1] Sigma, const double[::1] n,
    const double[::1] metric, const double[:] D, const double[:] U, double[::1] m, double[::1] b,
) -> None:
    """Visit the rows once, in this order, under 1/2 sum |w_k|^2 / metric_k: with p_k = m_k.x_i
    margin = sum metric_k p_k,  Q = sum metric_k n_k,  b' = clip(b + (1 - margin - D b)/(Q + D))."""
    cdef Row row
    cdef Py_ssize_t i, k, s, end
    cdef double margin, Q, p, new, d, ridge
    cdef const double* all_norms = &n[0] if n.shape[0] else NULL
    cdef const double* norm  # of the first entry of the row
    check_groups(owner, first, Sigma)
    check_matrix(rows, owner.shape[0])
    check_order(order, rows)
    one_a_row("y", y.shape[0], rows)
    one_a_row("b", b.shape[0], rows)
    one_a_row("D", D.shape[0], rows)
    one_a_row("U", U.shape[0], rows)
    check_entries(n.shape[0], rows)
    if metric.shape[0] != first.shape[0] - 1 or m.shape[0] != owner.shape[0]:
        raise ValueError("metric needs a place for each group, and m for each position")
    with nogil:
        for s in range(order.shape[0]):
            fetch_ahead(rows, order, s, &y[0], all_norms, &b[0])
            i = order[s]
            row = row_at(rows, i)
            norm = all_norms + rows.start[i]
            margin = 0
            Q = 0
            k = 0
            while k < row.nnz:
                end = run_end(row, k, &owner[0])
                Q += metric[owner[row.index[k]]] * norm[k]
                p = 0
                for k in range(k, end):
                    p += m[row.index[k]] * row.value[k]
                margin += metric[owner[row.index[end - 1]]] * p
                k = end
            ridge = D[i]
            if Q + ridge == 0:
                new = U[i]
            else:
                new = fmin(U[i], fmax(0, b[i] + (1 - y[i] * margin - ridge * b[i]) / (Q + ridge)))
            d = (new - b[i]) * y[i]
            b[i] = new
            if d != 0 and row.nnz:
                move(row, d, &owner[0], &first[0], &Sigma[0, 0], Sigma.shape[1], &m[0])


def variances(
    Csr rows not None, const double[:, ::1] table, Py_ssize_t column, const int32_t[::1] owner,
    const int64_t[::1] first, const double[:, ::1] Sigma, double[::1] out,
) -> None:
    """out_i = sum_k x_i' Sigma_k x_i over the chosen features of rows by slot; table[:, column] is
    1 + the position of a feature, 0 for one that was not chosen."""
    cdef Row row
    cdef Py_ssize_t i, a, b, p, k, chosen
    cdef double x, total
    check_groups(owner, first, Sigma)
    rows.fit(table.shape[0])
    one_a_row("out", out.shape[0], rows)
    if not 0 <= column < table.shape[1]:
        raise ValueError(f"there is no column {column} among {table.shape[1]}")
    cdef double[::1] value = np.empty(max(1, rows.longest))  # of the chosen features of a row
    cdef int32_t[::1] place = np.empty(max(1, rows.longest), dtype=np.int32)
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            total = 0
            chosen = 0
            for a in range(row.nnz):
                p = <Py_ssize_t> table[row.index[a], column] - 1
                if 0 <= p < owner.shape[0]:
                    place[chosen], value[chosen] = <int32_t> p, row.scale * row.value[a]
                    chosen += 1
            for a in range(chosen):
                p, x = place[a], value[a]
                k = first[owner[p]]
                total += x * x * Sigma[p, p - k]
                for b in range(a):
                    if owner[place[b]] == owner[p]:
                        total += 2 * x * value[b] * Sigma[p, place[b] - k]
            out[i] = 0 if total < 0 else total  # what is no number stays so


cdef int check_entries(Py_ssize_t length, Csr rows) except -1:
    """Refuse an n that does not have a place for each entry."""
    if length != rows.start[rows.count]:
        raise ValueError(f"n has {length} places for {rows.start[rows.count]} entries")
    return 0
