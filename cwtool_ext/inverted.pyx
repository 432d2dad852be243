"""Rows of a batch stored by column, for learners that go over features.

A matrix x is a Csr whose "rows" are here the columns x_j of the data, each with the numbers of the
rows in which the feature occurs, ascending. A step over some columns costs as much time as these
columns have entries.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy

from cwtool_ext.csr cimport Csr, Row, one_a_row, row_at


def mark(Csr rows not None, unsigned char[::1] found) -> None:
    """found[j] = 1 for each slot j that occurs in the rows."""
    cdef Py_ssize_t k
    rows.fit(found.shape[0])
    with nogil:
        for k in range(rows.start[rows.count]):
            found[rows.index[k]] = 1


def transpose(
    Csr rows not None, const int32_t[::1] column, int64_t[::1] start, int32_t[::1] place,
    double[::1] value,
) -> None:
    """Fill columns (start, place, value) from sparse rows, each value times its scale; a feature
    at slot j becomes column[j]."""
    cdef Row row
    cdef Py_ssize_t i, k, j, n = start.shape[0] - 1, nnz = rows.start[rows.count]
    cdef int64_t at
    cdef uint32_t outside = 0
    rows.fit(column.shape[0])
    if n < 0 or (n == 0 and nnz):
        raise ValueError("start must have a place for each column and one more")
    if place.shape[0] != nnz or value.shape[0] != nnz:
        raise ValueError(f"the columns must have room for {nnz} entries")
    with nogil:
        for k in range(nnz):
            j = column[rows.index[k]]
            outside |= <uint32_t> j | <uint32_t> (n - 1 - j)  # top bit: j < 0 or j >= n
    if outside >> 31:
        raise ValueError(f"a column lies outside 0..{n - 1}")
    with nogil:
        start[:] = 0
        for k in range(nnz):
            start[column[rows.index[k]] + 1] += 1
        for j in range(n):
            start[j + 1] += start[j]
        for i in range(rows.count):
            row = row_at(rows, i)
            for k in range(row.nnz):
                j = column[row.index[k]]
                at = start[j]
                place[at] = <int32_t> i
                value[at] = row.scale * row.value[k]
                start[j] = at + 1
        for j in range(n, 0, -1):
            start[j] = start[j - 1]
        start[0] = 0


def products(Csr x not None, const double[::1] v, double[::1] out) -> None:
    """out_j = sum_i x_ij v_i"""
    cdef Row c
    cdef Py_ssize_t j, k
    cdef double even, odd  # two sums, so that an addition does not wait for the one before
    check_matrix(x, v.shape[0])
    one_a_row("out", out.shape[0], x)
    with nogil:
        for j in range(x.count):
            c = row_at(x, j)
            even = 0
            odd = 0
            for k in range(0, c.nnz - 1, 2):
                even += c.value[k] * v[c.index[k]]
                odd += c.value[k + 1] * v[c.index[k + 1]]
            if c.nnz & 1:
                even += c.value[c.nnz - 1] * v[c.index[c.nnz - 1]]
            out[j] = even + odd


def moments(
    Csr x not None, const double[:, ::1] v, double[::1] first, double[::1] second
) -> None:
    """first_j = sum_i x_ij v_i0,  second_j = sum_i x_ij^2 v_i1"""
    cdef Row c
    cdef Py_ssize_t j, k
    cdef double a, b, even1, odd1, even2, odd2
    cdef const double* at
    check_matrix(x, v.shape[0])
    one_a_row("first", first.shape[0], x)
    one_a_row("second", second.shape[0], x)
    if v.shape[1] != 2:
        raise ValueError(f"v has {v.shape[1]} columns; it must have 2")
    with nogil:
        for j in range(x.count):
            c = row_at(x, j)
            even1 = even2 = odd1 = odd2 = 0
            for k in range(0, c.nnz - 1, 2):
                a = c.value[k]
                at = &v[c.index[k], 0]
                even1 += a * at[0]
                even2 += a * a * at[1]
                b = c.value[k + 1]
                at = &v[c.index[k + 1], 0]
                odd1 += b * at[0]
                odd2 += b * b * at[1]
            if c.nnz & 1:
                a = c.value[c.nnz - 1]
                at = &v[c.index[c.nnz - 1], 0]
                even1 += a * at[0]
                even2 += a * a * at[1]
            first[j] = even1 + odd1
            second[j] = even2 + odd2


def squares(Csr x not None, double[::1] out) -> None:
    """out_j = |x_j|^2"""
    cdef Row c
    cdef Py_ssize_t j, k
    cdef double total
    check_matrix(x, x.width)
    one_a_row("out", out.shape[0], x)
    with nogil:
        for j in range(x.count):
            c = row_at(x, j)
            total = 0
            for k in range(c.nnz):
                total += c.value[k] * c.value[k]
            out[j] = total


def scale(Csr x not None, const double[::1] v, double[::1] value) -> None:
    """x_ij *= v_i; `value` are the values of x."""
    cdef Py_ssize_t k
    check_matrix(x, v.shape[0])
    if value.shape[0] != x.start[x.count]:
        raise ValueError(f"x has {x.start[x.count]} values, not {value.shape[0]}")
    with nogil:
        for k in range(value.shape[0]):
            value[k] *= v[x.index[k]]


def take(
    Csr x not None, const int64_t[::1] some, int64_t[::1] start, int32_t[::1] place,
    double[::1] value,
) -> None:
    """Copy the columns `some`; `start` already says where each of them begins in the copy."""
    cdef Row c
    cdef Py_ssize_t k, n = some.shape[0]
    check_matrix(x, x.width)
    check_columns(some, x)
    if start.shape[0] != n + 1 or start[0] != 0 or place.shape[0] != start[n] \
            or value.shape[0] != start[n]:
        raise ValueError("start must run from 0 to the number of entries of the copy")
    for k in range(n):
        c = row_at(x, some[k])
        if c.nnz != start[k + 1] - start[k]:
            raise ValueError(f"column {some[k]} has {c.nnz} entries")
    for k in range(n):
        c = row_at(x, some[k])
        if c.nnz:
            memcpy(&place[start[k]], c.index, c.nnz * sizeof(int32_t))
            memcpy(&value[start[k]], c.value, c.nnz * sizeof(double))


def gram(
    Csr x not None, const int64_t[::1] some, const double[:] weight, double[::1] room,
    double[:, ::1] G,
) -> None:
    """G_ab = sum_i weight_i x_ia x_ib for the columns `some`; `room` has a zero for each row,
    before and after."""
    cdef Row c, d
    cdef Py_ssize_t a, b, k
    cdef double total
    check_matrix(x, min(room.shape[0], weight.shape[0]))
    check_columns(some, x)
    if G.shape[0] != some.shape[0] or G.shape[1] != some.shape[0]:
        raise ValueError(f"G is {G.shape[0]} x {G.shape[1]} for {some.shape[0]} columns")
    with nogil:
        for a in range(some.shape[0]):
            c = row_at(x, some[a])
            for k in range(c.nnz):
                room[c.index[k]] = weight[c.index[k]] * c.value[k]
            for b in range(a + 1):
                d = row_at(x, some[b])
                total = 0
                for k in range(d.nnz):
                    total += d.value[k] * room[d.index[k]]
                G[a, b] = total
                G[b, a] = total
            for k in range(c.nnz):
                room[c.index[k]] = 0
