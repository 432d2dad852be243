"""The exact k nearest points of each of several classes, found from approximate distances.

The products x.z are given in single precision, as unit_i cross_ij. Then |x|^2 - 2 x.z + |z|^2 has
an error of at most c (|x_i|^2 + |z_j|^2) + tiny unit_i. Points that cannot be among the nearest
within this error are skipped. The distance to every other point is summed again from the
differences, in the order of the columns, so that dense and sparse rows give the same bits however
the rows are divided into calls. Distances are compared by their leading 40 bits, so that rounding
does not decide which of two equally near points comes first.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Csr, Row, row_at

cdef enum:
    MOST = 1024  # neighbours of each class


cdef struct Points:  # what is known of the points z_j without their columns
    Py_ssize_t count
    Py_ssize_t kinds
    Py_ssize_t k
    double c, tiny
    const double* square  # |z_j|^2
    const int32_t* kind  # the class of each point, from 0 to kinds - 1


cdef Points checked(
    const float[:, ::1] cross, const double[::1] unit, const double[::1] x_square,
    const double[::1] z_square, double c, double tiny, const int32_t[::1] kind,
    const int64_t[::1] own, const double[:, ::1] bound, const int64_t[:, :, ::1] index,
    const double[:, :, ::1] distance,
) except *:
    """Refuse arrays whose shapes do not fit together."""
    cdef Py_ssize_t m = cross.shape[0], n = cross.shape[1], k = index.shape[2]
    cdef Py_ssize_t j, kinds = index.shape[1]
    cdef Points points
    if not 1 <= k <= MOST:
        raise ValueError(f"k is {k}; it must be from 1 to {MOST}")
    if (x_square.shape[0] != m or z_square.shape[0] != n or kind.shape[0] != n
            or unit.shape[0] != m or own.shape[0] != m or index.shape[0] != m
            or distance.shape[0] != m or distance.shape[1] != kinds or distance.shape[2] != k
            or bound.shape[0] != kinds or bound.shape[1] != k):
        raise ValueError("the arrays of nearest do not fit the rows and points")
    for j in range(n):
        if not 0 <= kind[j] < kinds:
            raise ValueError(f"point {j} has the class {kind[j]}; there are {kinds}")
    points.count, points.kinds, points.k, points.c, points.tiny = n, kinds, k, c, tiny
    points.square = &z_square[0] if n else NULL
    points.kind = &kind[0] if n else NULL
    return points


cdef inline double leading(double d) noexcept nogil:
    """d rounded to 40 bits (Veltkamp)."""
    cdef double c = 8193.0 * d
    return c - (c - d) if c < INFINITY else d


cdef inline void insert(double d, int64_t j, double* distance, int64_t* index,
                        Py_ssize_t k) noexcept nogil:
    """Insert into an ascending list of length k, behind equal distances."""
    cdef Py_ssize_t s = k - 1
    cdef double by = leading(d)
    if not by < leading(distance[s]):
        return
    while s > 0 and by < leading(distance[s - 1]):
        distance[s] = distance[s - 1]
        index[s] = index[s - 1]
        s -= 1
    distance[s] = d
    index[s] = j


cdef inline void upper_bounds(
    const Points* points, const float* cross, double unit, int64_t own, double* bound,
) noexcept nogil:
    """bound[kind * k + s], s < k: the k smallest (1 + c) |z_j|^2 - 2 x.z_j in each class."""
    cdef double d, more = 1 + points.c, twice = 2 * unit
    cdef double* least
    cdef Py_ssize_t j, s, last = points.k - 1
    for s in range(points.kinds * points.k):
        bound[s] = INFINITY
    for j in range(points.count):
        d = more * points.square[j] - twice * cross[j]
        least = bound + points.k * points.kind[j]
        if d < least[last] and j != own:
            s = last
            while s > 0 and d < least[s - 1]:
                least[s] = least[s - 1]
                s -= 1
            least[s] = d


cdef inline void largest_sums(const Points* points, double x_square, double unit,
                              double* bound) noexcept nogil:
    """bound[kind * k]: what (1 - c) |z_j|^2 - 2 x.z_j is at most for a point of the class that may
    be among the k nearest of its class; from what upper_bounds gives."""
    cdef Py_ssize_t kind
    cdef double slack = points.c * x_square + points.tiny * unit, distance
    for kind in range(points.kinds):
        distance = x_square + bound[points.k * (kind + 1) - 1] + slack
        bound[points.k * kind] = distance * (1 + 1e-11) - x_square + slack


cdef inline void forget(double* distance, int64_t* index, Py_ssize_t size) noexcept nogil:
    """Empty the lists of a row, which have `size` places in all."""
    cdef Py_ssize_t s
    for s in range(size):
        distance[s] = INFINITY
        index[s] = -1


cdef inline double apart(const double* x, const double* z, Py_ssize_t p) noexcept nogil:
    """|x - z|^2 of dense rows with p columns."""
    cdef Py_ssize_t j
    cdef double d, total = 0
    for j in range(p):
        d = x[j] - z[j]
        total += d * d
    return total


cdef inline double apart_sparse(Row x, Row z) noexcept nogil:
    """|x - z|^2 of sparse rows with ascending indices."""
    cdef Py_ssize_t a = 0, b = 0
    cdef double d, total = 0
    while a < x.nnz or b < z.nnz:
        if b == z.nnz or (a < x.nnz and x.index[a] < z.index[b]):
            d = x.value[a]
            a += 1
        elif a == x.nnz or z.index[b] < x.index[a]:
            d = z.value[b]
            b += 1
        else:
            d = x.value[a] - z.value[b]
            a += 1
            b += 1
        total += d * d
    return total


def nearest_dense(
    const double[:, ::1] x, const double[:, ::1] z, const float[:, ::1] cross,
    const double[::1] unit, const double[::1] x_square, const double[::1] z_square, double c,
    double tiny, const int32_t[::1] kind, const int64_t[::1] own, double[:, ::1] bound,
    int64_t[:, :, ::1] index, double[:, :, ::1] distance,
) -> None:
    """The k nearest points z of each class, for every row x. unit_i cross_ij = x_i.z_j, kind_j is
    the class of z_j, and point own_i is no neighbour of x_i (-1 allows all). Products and squares
    may be those of rows and points that are all moved by the same vector. Fills index and distance,
    indexed by row, class and place: nearest first, of equally near points the first, and -1 and inf
    where a class has fewer than k points. `bound`, by class and place, is room to work in."""
    cdef Points points = checked(
        cross, unit, x_square, z_square, c, tiny, kind, own, bound, index, distance
    )
    cdef Py_ssize_t i, j, side, k = points.k, p = x.shape[1]
    cdef double* bounds = &bound[0, 0] if bound.size else NULL
    cdef const double* xs = &x[0, 0] if x.size else NULL
    cdef const double* zs = &z[0, 0] if z.size else NULL
    cdef double less = 1 - c, twice
    if z.shape[1] != p or x.shape[0] != cross.shape[0] or z.shape[0] != points.count:
        raise ValueError("the dense rows do not fit the products")
    with nogil:
        for i in range(x.shape[0]):
            forget(&distance[i, 0, 0], &index[i, 0, 0], points.kinds * k)
            if points.count == 0:
                continue
            upper_bounds(&points, &cross[i, 0], unit[i], own[i], bounds)
            largest_sums(&points, x_square[i], unit[i], bounds)
            twice = 2 * unit[i]
            for j in range(points.count):
                side = kind[j]
                if (less * points.square[j] - twice * cross[i, j] <= bounds[k * side]
                        and j != own[i]):
                    insert(apart(xs + i * p, zs + j * p, p), j,
                           &distance[i, side, 0], &index[i, side, 0], k)


def nearest_sparse(
    Csr x not None, Csr z not None, const float[:, ::1] cross, const double[::1] unit,
    const double[::1] x_square, const double[::1] z_square, double c, double tiny,
    const int32_t[::1] kind, const int64_t[::1] own, double[:, ::1] bound,
    int64_t[:, :, ::1] index, double[:, :, ::1] distance,
) -> None:
    """The same as nearest_dense, for sparse rows with ascending indices and scale 1."""
    cdef Points points = checked(
        cross, unit, x_square, z_square, c, tiny, kind, own, bound, index, distance
    )
    cdef Py_ssize_t i, j, side, k = points.k
    cdef double* bounds = &bound[0, 0] if bound.size else NULL
    cdef double less = 1 - c, twice
    if x.count != cross.shape[0] or z.count != points.count or x.scale != 1 or z.scale != 1:
        raise ValueError("the sparse rows do not fit the products, or are scaled")
    with nogil:
        for i in range(x.count):
            forget(&distance[i, 0, 0], &index[i, 0, 0], points.kinds * k)
            if points.count == 0:
                continue
            upper_bounds(&points, &cross[i, 0], unit[i], own[i], bounds)
            largest_sums(&points, x_square[i], unit[i], bounds)
            twice = 2 * unit[i]
            for j in range(points.count):
                side = kind[j]
                if (less * points.square[j] - twice * cross[i, j] <= bounds[k * side]
                        and j != own[i]):
                    insert(apart_sparse(row_at(x, i), row_at(z, j)), j,
                           &distance[i, side, 0], &index[i, side, 0], k)
