"""Rows by column: column j is the entries start[j] .. start[j+1] of (rows, values), rows ascending.

What learners over features do with columns costs as much as the columns have entries.
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint32_t
from libc.string cimport memcpy

from cwtool_ext.csr cimport Row, Rows, one_a_row, read, row_at


def transpose(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
              double scale, const int32_t[::1] column, int64_t[::1] start, int32_t[::1] rows,
              double[::1] out):
    """Fill the columns from sparse rows, each value times scale; column[slot] is where it goes."""
    cdef Rows source = read(indptr, indices, values, column.shape[0])
    cdef Row row
    cdef Py_ssize_t i, k, j, n = start.shape[0] - 1
    cdef int64_t at
    cdef uint32_t outside = 0
    if n < 0 or rows.shape[0] != indices.shape[0] or out.shape[0] != indices.shape[0] \
            or (n == 0 and indices.shape[0]):
        raise ValueError("the shapes do not fit")
    for k in range(indices.shape[0]):
        j = column[indices[k]]
        outside |= <uint32_t> j | <uint32_t> (n - 1 - j)  # top bit: j < 0 or j >= n
    if outside >> 31:
        raise ValueError("a column is not there")
    with nogil:
        start[:] = 0
        for k in range(indices.shape[0]):
            start[column[indices[k]] + 1] += 1
        for j in range(n):
            start[j + 1] += start[j]
        for i in range(source.count):
            row = row_at(source, i)
            for k in range(row.nnz):
                j = column[row.index[k]]
                at = start[j]
                rows[at] = <int32_t> i
                out[at] = scale * row.value[k]
                start[j] = at + 1
        for j in range(n, 0, -1):
            start[j] = start[j - 1]
        start[0] = 0


def products(const int64_t[::1] start, const int32_t[::1] rows, const double[::1] values,
             const double[::1] v, double[::1] out):
    """out_j = sum_i x_ij v_i"""
    cdef Rows columns = read(start, rows, values, v.shape[0])
    cdef Row x
    cdef Py_ssize_t j, k
    cdef double even, odd  # two sums do not wait for each other
    if out.shape[0] != columns.count:
        raise ValueError("the shapes do not fit")
    with nogil:
        for j in range(columns.count):
            x = row_at(columns, j)
            even = 0
            odd = 0
            for k in range(0, x.nnz - 1, 2):
                even += x.value[k] * v[x.index[k]]
                odd += x.value[k + 1] * v[x.index[k + 1]]
            if x.nnz & 1:
                even += x.value[x.nnz - 1] * v[x.index[x.nnz - 1]]
            out[j] = even + odd


def moments(const int64_t[::1] start, const int32_t[::1] rows, const double[::1] values,
            const double[:, ::1] v, double[::1] first, double[::1] second):
    """first_j = sum_i x_ij v_i0,  second_j = sum_i x_ij^2 v_i1"""
    cdef Rows columns = read(start, rows, values, v.shape[0])
    cdef Row x
    cdef Py_ssize_t j, k
    cdef double a, b, even1, odd1, even2, odd2
    cdef const double* at
    if v.shape[1] != 2 or first.shape[0] != columns.count or second.shape[0] != columns.count:
        raise ValueError("the shapes do not fit")
    with nogil:
        for j in range(columns.count):
            x = row_at(columns, j)
            even1 = even2 = odd1 = odd2 = 0
            for k in range(0, x.nnz - 1, 2):
                a = x.value[k]
                at = &v[x.index[k], 0]
                even1 += a * at[0]
                even2 += a * a * at[1]
                b = x.value[k + 1]
                at = &v[x.index[k + 1], 0]
                odd1 += b * at[0]
                odd2 += b * b * at[1]
            if x.nnz & 1:
                a = x.value[x.nnz - 1]
                at = &v[x.index[x.nnz - 1], 0]
                even1 += a * at[0]
                even2 += a * a * at[1]
            first[j] = even1 + odd1
            second[j] = even2 + odd2


def sums(const int64_t[::1] start, const int32_t[::1] index, const double[::1] values,
         const double[::1] v, double[::1] out):
    """out += sum_i v_i x_i for what is stored by row."""
    cdef Rows rows = read(start, index, values, out.shape[0])
    cdef Row x
    cdef Py_ssize_t i, k
    one_a_row("v", v, rows)
    with nogil:
        for i in range(rows.count):
            x = row_at(rows, i)
            for k in range(x.nnz):
                out[x.index[k]] += v[i] * x.value[k]


def squares(const int64_t[::1] start, const int32_t[::1] rows, const double[::1] values,
            double[::1] out):
    """out_j = |x_j|^2"""
    cdef Py_ssize_t j, k
    cdef double total
    check(start, rows, values, start[:0])
    if out.shape[0] != start.shape[0] - 1:
        raise ValueError("the shapes do not fit")
    with nogil:
        for j in range(out.shape[0]):
            total = 0
            for k in range(start[j], start[j + 1]):
                total += values[k] * values[k]
            out[j] = total


def take(const int64_t[::1] start, const int32_t[::1] rows, const double[::1] values,
         const int64_t[::1] some, int64_t[::1] start_out, int32_t[::1] rows_out,
         double[::1] values_out):
    """Copy some columns; start_out tells how long each is."""
    cdef Py_ssize_t k, n
    check(start, rows, values, some)
    if start_out.shape[0] != some.shape[0] + 1 or start_out[0] != 0 \
            or rows_out.shape[0] != start_out[some.shape[0]] \
            or values_out.shape[0] != rows_out.shape[0]:
        raise ValueError("the shapes do not fit")
    for k in range(some.shape[0]):
        n = start[some[k] + 1] - start[some[k]]
        if n != start_out[k + 1] - start_out[k]:
            raise ValueError("a column has another length")
        if n:
            memcpy(&rows_out[start_out[k]], &rows[start[some[k]]], n * sizeof(int32_t))
            memcpy(&values_out[start_out[k]], &values[start[some[k]]], n * sizeof(double))


def gram(const int64_t[::1] start, const int32_t[::1] rows, const double[::1] values,
         const int64_t[::1] some, double[::1] room, double[:, ::1] G):
    """G_ab = x_a.x_b for some columns; room is a zero for every row, and is so again."""
    cdef Py_ssize_t a, b, k
    cdef double total
    check(start, rows, values, some)
    inside(start, rows, some, room.shape[0])
    if G.shape[0] != some.shape[0] or G.shape[1] != some.shape[0]:
        raise ValueError("the shapes do not fit")
    with nogil:
        for a in range(some.shape[0]):
            for k in range(start[some[a]], start[some[a] + 1]):
                room[rows[k]] = values[k]
            for b in range(a + 1):
                total = 0
                for k in range(start[some[b]], start[some[b] + 1]):
                    total += values[k] * room[rows[k]]
                G[a, b] = total
                G[b, a] = total
            for k in range(start[some[a]], start[some[a] + 1]):
                room[rows[k]] = 0


def widen(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
          const double[::1] also, const int64_t[::1] start, const int32_t[::1] rows,
          const double[::1] columns, const int64_t[::1] some, int32_t position,
          int64_t[::1] indptr_out, int32_t[::1] indices_out, double[::1] values_out,
          double[::1] also_out):
    """Sparse rows get the entries of some columns behind their own, at this position and on; what
    is known of each entry besides goes with it, and is 0 for new ones."""
    cdef Rows old = read(indptr, indices, values, position)
    cdef Row row
    cdef Py_ssize_t a, k, i, n = old.count
    cdef int64_t at, added = 0
    check(start, rows, columns, some)
    inside(start, rows, some, n)
    for a in range(some.shape[0]):
        added += start[some[a] + 1] - start[some[a]]
    if indptr_out.shape[0] != n + 1 or indices_out.shape[0] != indices.shape[0] + added \
            or values_out.shape[0] != indices_out.shape[0] or also.shape[0] != indices.shape[0] \
            or also_out.shape[0] != indices_out.shape[0]:
        raise ValueError("the shapes do not fit")
    with nogil:
        indptr_out[:] = 0
        for a in range(some.shape[0]):
            for k in range(start[some[a]], start[some[a] + 1]):
                indptr_out[rows[k] + 1] += 1
        for i in range(n):
            row = row_at(old, i)
            at = indptr_out[i] + indptr[i]
            for k in range(row.nnz):
                indices_out[at + k] = row.index[k]
                values_out[at + k] = row.value[k]
                also_out[at + k] = also[indptr[i] + k]
            indptr_out[i + 1] += indptr_out[i]
        for i in range(n):  # for now where the new entries of row i begin, then where they end
            indptr_out[i] += indptr[i + 1]
        for a in range(some.shape[0]):
            for k in range(start[some[a]], start[some[a] + 1]):
                at = indptr_out[rows[k]]
                indices_out[at] = position + <int32_t> a
                values_out[at] = columns[k]
                also_out[at] = 0
                indptr_out[rows[k]] = at + 1
        for i in range(n, 0, -1):
            indptr_out[i] = indptr_out[i - 1]
        indptr_out[0] = 0


cdef int check(const int64_t[::1] start, const int32_t[::1] rows, const double[::1] values,
               const int64_t[::1] some) except -1:
    """Columns that do not leave the arrays, and some of them."""
    cdef Py_ssize_t k, n = start.shape[0] - 1
    if n < 0 or rows.shape[0] != values.shape[0] or start[0] != 0 or start[n] != rows.shape[0]:
        raise ValueError("the shapes do not fit")
    for k in range(n):
        if start[k] > start[k + 1]:
            raise ValueError("start must not decrease")
    for k in range(some.shape[0]):
        if not 0 <= some[k] < n:
            raise ValueError("a column is not there")
    return 0


cdef int inside(const int64_t[::1] start, const int32_t[::1] rows, const int64_t[::1] some,
                Py_ssize_t n) except -1:
    """The rows of some columns are among n."""
    cdef Py_ssize_t a, k
    cdef uint32_t row, outside = 0, last = <uint32_t> min(n - 1, INT32_MAX)
    for a in range(some.shape[0]):
        for k in range(start[some[a]], start[some[a] + 1]):
            row = <uint32_t> rows[k]
            outside |= row | (last - row)  # top bit: row < 0 or row > last
    if outside >> 31:
        raise ValueError("a row is not there")
    return 0
