"""Rows of a batch stored by row, and beside rows stored by column (see inverted): sums of rows,
products of rows and columns, and rows that columns are added to."""

from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Csr, Row, one_a_row, row_at
from cwtool_ext.inverted cimport check_columns, check_matrix


def sums(Csr x not None, const double[::1] v, double[::1] out) -> None:
    """out += sum_i v_i x_i, for rows x_i stored by row."""
    cdef Row row
    cdef Py_ssize_t i, k
    check_matrix(x, out.shape[0])
    one_a_row("v", v.shape[0], x)
    with nogil:
        for i in range(x.count):
            row = row_at(x, i)
            for k in range(row.nnz):
                out[row.index[k]] += v[i] * row.value[k]


def cross(Csr rows not None, Csr x not None, double[:, ::1] out) -> None:
    """out_ri = sum_j z_rj x_ij, the products ZX' of rows z_r stored by row with all rows of x. A
    pair of rows costs time only for the features that both have."""
    cdef Row z, c
    cdef Py_ssize_t r, j, k
    check_matrix(x, out.shape[1])
    rows.fit(x.count)
    one_a_row("out", out.shape[0], rows)
    with nogil:
        out[:, :] = 0
        for r in range(rows.count):
            z = row_at(rows, r)
            for j in range(z.nnz):
                c = row_at(x, z.index[j])
                for k in range(c.nnz):
                    out[r, c.index[k]] += z.scale * z.value[j] * c.value[k]


def pairs(
    Csr x not None, const int64_t[::1] some, Csr rows not None, const double[::1] h,
    double[:, ::1] across, double[::1] squares,
) -> None:
    """For the columns x_j with the numbers `some`, and the columns k of rows z_i stored by row:
    across_jk = sum_i h_i x_ij z_ik,  squares_j = sum_i h_i x_ij^2. Rows with h_i = 0 are left out.
    """
    cdef Row c, z
    cdef Py_ssize_t j, k, m
    cdef double hx
    cdef double* line
    check_matrix(x, h.shape[0])
    check_matrix(rows, across.shape[1])
    check_columns(some, x)
    one_a_row("h", h.shape[0], rows)
    if across.shape[0] != some.shape[0] or squares.shape[0] != some.shape[0]:
        raise ValueError(f"the results must have room for {some.shape[0]} columns")
    with nogil:
        across[:, :] = 0
        squares[:] = 0
        for j in range(some.shape[0]):
            c = row_at(x, some[j])
            line = &across[j, 0] if across.shape[1] else NULL
            for k in range(c.nnz):
                hx = h[c.index[k]] * c.value[k]
                if hx == 0:
                    continue
                squares[j] += hx * c.value[k]
                z = row_at(rows, c.index[k])
                for m in range(z.nnz):
                    line[z.index[m]] += hx * z.value[m]


def widen(
    Csr rows not None, const double[::1] also, Csr x not None, const int64_t[::1] some,
    int32_t position, int64_t[::1] start, int32_t[::1] place, double[::1] value,
    double[::1] also_out,
) -> None:
    """Rows (start, place, value) with the entries of `rows` and, behind them in each row, those of
    the columns `some` of x, which become the positions `position`, position + 1, ... `also` is a
    further number for each entry; it is copied, and is 0 for the new entries."""
    cdef Row row, c
    cdef Py_ssize_t a, k, i, n = rows.count
    cdef int64_t at, nnz = rows.start[n]
    check_matrix(rows, position)
    check_matrix(x, n)
    check_columns(some, x)
    if also.shape[0] != nnz:
        raise ValueError(f"also has {also.shape[0]} entries for {nnz}")
    for a in range(some.shape[0]):
        nnz += row_at(x, some[a]).nnz
    if start.shape[0] != n + 1 or place.shape[0] != nnz or value.shape[0] != nnz \
            or also_out.shape[0] != nnz:
        raise ValueError(f"the result must have room for {n} rows with {nnz} entries")
    with nogil:
        start[:] = 0
        for a in range(some.shape[0]):
            c = row_at(x, some[a])
            for k in range(c.nnz):
                start[c.index[k] + 1] += 1
        for i in range(n):
            row = row_at(rows, i)
            at = start[i] + rows.start[i]
            for k in range(row.nnz):
                place[at + k] = row.index[k]
                value[at + k] = row.value[k]
                also_out[at + k] = also[rows.start[i] + k]
            start[i + 1] += start[i]
        for i in range(n):  # for now where the new entries of row i begin, then where they end
            start[i] += rows.start[i + 1]
        for a in range(some.shape[0]):
            c = row_at(x, some[a])
            for k in range(c.nnz):
                at = start[c.index[k]]
                place[at] = position + <int32_t> a
                value[at] = c.value[k]
                also_out[at] = 0
                start[c.index[k]] = at + 1
        for i in range(n, 0, -1):
            start[i] = start[i - 1]
        start[0] = 0
