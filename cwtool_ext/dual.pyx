"""Dual coordinate ascent for linear classifiers, plain and in the metric of a covariance.

    min over mu of  1/2 (mu - mu0)' P (mu - mu0) + C/q sum_i max(0, 1 - y_i mu.x_i)^q
    dual step of row i, with Sigma = P^-1, v_i = x_i' Sigma x_i:
        g = 1 - y_i mu.x_i - D a_i;   a' = clip(a_i + g / (v_i + D), 0, U)
        mu += (a' - a_i) y_i Sigma x_i
    q = 1: U = C, D = 0;  q = 2: U = inf, D = 1/C       (Hsieh et al. 2008; Tan et al. 2016, Alg. 1)
"""

from libc.math cimport INFINITY, fabs, fmax, fmin
from libc.stdint cimport int32_t, int64_t
from scipy.linalg.cython_blas cimport dsyrk, dtrsm

from cwtool_ext.csr cimport Row, Rows, prefetch, read, row_at


cdef enum:
    AHEAD = 8  # rows in a random order are fetched so many visits before they are needed


cdef inline double step(double margin, double a, double v, double D, double U) noexcept nogil:
    """The new a; a row without entries costs nothing, so it takes what is allowed."""
    if v + D == 0:
        return U
    return fmin(U, fmax(0, a + (1 - margin - D * a) / (v + D)))


def gram(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
         double scale, double[:, ::1] G):
    """G += X'X on and below the diagonal of the order of slots, from sparse rows."""
    cdef Rows rows = read(indptr, indices, values, G.shape[0])
    cdef Row row
    cdef Py_ssize_t i, a, b
    cdef int32_t j
    cdef double x
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            for a in range(row.nnz):
                x = scale * row.value[a]
                j = row.index[a]
                for b in range(row.nnz):
                    if row.index[b] <= j:
                        G[j, row.index[b]] += x * (scale * row.value[b])


def gram_dense(const double[:, ::1] X, double[:, ::1] G):
    """G += X'X on and below the diagonal, from dense rows."""
    cdef int n = <int> X.shape[0], d = <int> X.shape[1], width = <int> G.shape[1]
    cdef double one = 1
    if G.shape[0] < d or G.shape[1] < d:
        raise ValueError("G is too small")
    if n and d:
        with nogil:  # column-major: X is d x n, the lower triangle of C order is the upper one
            dsyrk(b"U", b"N", &d, &n, &one, <double*> &X[0, 0], &d, &one, &G[0, 0], &width)


def densify(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
            double scale, Py_ssize_t start, double[:, ::1] X):
    """Rows start .. start + len(X) as dense rows."""
    cdef Py_ssize_t i, k
    if start < 0 or start + X.shape[0] > indptr.shape[0] - 1:
        raise ValueError("there are not so many rows")
    with nogil:
        X[:, :] = 0
        for i in range(X.shape[0]):
            for k in range(indptr[start + i], indptr[start + i + 1]):
                X[i, indices[k]] = scale * values[k]


def whiten(const double[:, ::1] L, double[:, ::1] X, double[::1] v):
    """Rows x of X become L^-1 x, in place; v is their squared length, x'(LL')^-1 x."""
    cdef int n = <int> X.shape[0], d = <int> X.shape[1], width = <int> L.shape[1]
    cdef double one = 1
    cdef Py_ssize_t i, k
    if L.shape[0] < d or L.shape[1] < d or v.shape[0] < n:
        raise ValueError("the shapes do not fit")
    with nogil:
        if n and d:  # L in C order is L' in column order: upper, to be transposed
            dtrsm(b"L", b"U", b"T", b"N", &d, &n, &one, <double*> &L[0, 0], &width, &X[0, 0], &d)
        for i in range(n):
            v[i] = 0
            for k in range(d):
                v[i] += X[i, k] * X[i, k]


def whitened_pass(const double[:, ::1] X, const double[::1] y, const double[::1] v,
                  double D, double U, double[::1] w, double[::1] a):
    """One visit to each row in whitened coordinates (P = I there). Returns the largest change."""
    cdef Py_ssize_t i, k, d = X.shape[1]
    cdef double m, new, change, most = 0
    if min(y.shape[0], v.shape[0], a.shape[0]) < X.shape[0] or w.shape[0] < d:
        raise ValueError("the shapes do not fit")
    with nogil:
        for i in range(X.shape[0]):
            m = 0
            for k in range(d):
                m += w[k] * X[i, k]
            new = step(y[i] * m, a[i], v[i], D, U)
            change = (new - a[i]) * y[i]
            most = fmax(most, fabs(change))
            a[i] = new
            if change != 0:
                for k in range(d):
                    w[k] += change * X[i, k]
    return most


def variances(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
              double scale, const double[:, ::1] S, double[::1] v):
    """v_i = x_i' S x_i for sparse rows."""
    cdef Rows rows = read(indptr, indices, values, min(S.shape[0], S.shape[1]))
    cdef Row row
    cdef Py_ssize_t i, a, b
    cdef double below, x, total
    if v.shape[0] < rows.count:
        raise ValueError("v is too short")
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            total = 0
            for a in range(row.nnz):
                below = 0
                x = scale * row.value[a]
                for b in range(a):
                    below += S[row.index[a], row.index[b]] * (scale * row.value[b])
                total += x * (S[row.index[a], row.index[a]] * x + 2 * below)
            v[i] = total


def covariance_pass(const int64_t[::1] indptr, const int32_t[::1] indices,
                    const double[::1] values, double scale, const double[::1] y,
                    const double[:, ::1] S, const double[::1] v, double D, double U,
                    double[::1] mu, double[::1] a):
    """One visit to each sparse row without a square root: mu itself is kept, mu += da y S x.
    Returns the largest change."""
    cdef Py_ssize_t i, k, j, n = mu.shape[0]
    cdef Rows rows = read(indptr, indices, values, min(S.shape[0], S.shape[1], n))
    cdef Row row
    cdef double m, new, change, most = 0, x
    if S.shape[1] < n or min(y.shape[0], v.shape[0], a.shape[0]) < rows.count:
        raise ValueError("the shapes do not fit")
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            m = 0
            for k in range(row.nnz):
                m += mu[row.index[k]] * (scale * row.value[k])
            new = step(y[i] * m, a[i], v[i], D, U)
            change = (new - a[i]) * y[i]
            most = fmax(most, fabs(change))
            a[i] = new
            if change != 0:
                for k in range(row.nnz):
                    x = change * (scale * row.value[k])
                    for j in range(n):
                        mu[j] += x * S[row.index[k], j]
    return most


def add_rows(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
             double scale, const double[::1] weight, double[:, ::1] table, Py_ssize_t column):
    """table[:, column] += sum_i weight_i x_i."""
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    cdef Row row
    cdef Py_ssize_t i, k
    if weight.shape[0] < rows.count or not 0 <= column < table.shape[1]:
        raise ValueError("the shapes do not fit")
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            for k in range(row.nnz):
                table[row.index[k], column] += weight[i] * (scale * row.value[k])


def margins(const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
            double scale, const double[:, ::1] table, Py_ssize_t column, double[::1] out):
    """out_i = table[:, column] . x_i"""
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    cdef Row row
    cdef Py_ssize_t i, k
    cdef double m
    if out.shape[0] < rows.count or not 0 <= column < table.shape[1]:
        raise ValueError("the shapes do not fit")
    with nogil:
        for i in range(rows.count):
            row = row_at(rows, i)
            m = 0
            for k in range(row.nnz):
                m += table[row.index[k], column] * (scale * row.value[k])
            out[i] = m


def squared_norms(const int64_t[::1] indptr, const double[::1] values, double scale,
                  double[::1] out):
    """out_i = ||x_i||^2"""
    cdef Py_ssize_t i, k
    cdef double x
    with nogil:
        for i in range(indptr.shape[0] - 1):
            out[i] = 0
            for k in range(indptr[i], indptr[i + 1]):
                x = scale * values[k]
                out[i] += x * x


def shrinking_pass(const int64_t[::1] indptr, const int32_t[::1] indices,
                   const double[::1] values, double scale, const double[::1] y,
                   int64_t[::1] active, const double[::1] v, double D, double U,
                   double above, double below, double[:, ::1] table, double[::1] a):
    """One visit to the active rows with P = I, in their order. A row at a bound whose gradient
    lies outside the last pass's range of projected gradients (below .. above) is moved behind
    the active ones. Returns (rows still active, greatest, least projected gradient)."""
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    cdef Row row, after
    cdef Py_ssize_t i, k, s = 0, n = active.shape[0]
    cdef double m, g, projected, new, change, most = -INFINITY, least = INFINITY
    for i in active:
        if not 0 <= i < rows.count:
            raise ValueError("an active row is not there")
    if min(y.shape[0], v.shape[0], a.shape[0]) < rows.count or table.shape[1] != 1:
        raise ValueError("the shapes do not fit")
    with nogil:
        while s < n:
            i = active[s]
            row = row_at(rows, i)
            after = row_at(rows, active[min(s + AHEAD, n - 1)])
            prefetch(after.index)
            prefetch(after.value)
            prefetch(after.value + 8)
            m = 0
            for k in range(row.nnz):
                m += table[row.index[k], 0] * row.value[k]
            g = y[i] * scale * m - 1 + D * a[i]
            projected = g
            if a[i] == 0:
                if g > above:
                    n -= 1
                    active[s], active[n] = active[n], active[s]
                    continue
                projected = fmin(g, 0)
            elif a[i] == U:
                if g < below:
                    n -= 1
                    active[s], active[n] = active[n], active[s]
                    continue
                projected = fmax(g, 0)
            most = fmax(most, projected)
            least = fmin(least, projected)
            if fabs(projected) > 1e-12:
                new = U if v[i] + D == 0 else fmin(U, fmax(0, a[i] - g / (v[i] + D)))
                change = (new - a[i]) * y[i] * scale
                a[i] = new
                for k in range(row.nnz):
                    table[row.index[k], 0] += change * row.value[k]
            s += 1
    return n, most, least


def kernel_pass(const double[:, ::1] K, const double[::1] y, double D, double U,
                double[::1] f, double[::1] a):
    """One visit to each row by its margins f alone, K = X Sigma X'. Returns the largest change."""
    cdef Py_ssize_t i, j, n = K.shape[0]
    cdef double new, change, most = 0
    if K.shape[1] < n or min(y.shape[0], f.shape[0], a.shape[0]) < n:
        raise ValueError("the shapes do not fit")
    with nogil:
        for i in range(n):
            new = step(y[i] * f[i], a[i], K[i, i], D, U)
            change = (new - a[i]) * y[i]
            most = fmax(most, fabs(change))
            a[i] = new
            if change != 0:
                for j in range(n):
                    f[j] += change * K[i, j]
    return most
