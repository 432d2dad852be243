"""The spread of columns, and the scale of each column that follows from it.

With the number nnz_j of nonzero values of a column, their mean and M2 = the sum of their squared
distances from it, the variance over all n rows, zeros included, is
    mu_j = nnz_j mean_j / n;  n var_j = M2_j + nnz_j (mean_j - mu_j)^2 + (n - nnz_j) mu_j^2
With the root mean square r_j of the nonzero values and their share q_j of the rows, the balanced
spread of a column is r_j^(3/4) q_j^(1/4). It takes out most of the unit r_j, and half of what the
frequency contributes to the root mean square r_j q_j^(1/2) of all rows, as rates that fall with the
root of the sum of squared gradients do (AdaGrad, Duchi et al. 2011).
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, uint8_t

from cwtool_ext.csr cimport prefetch
from cwtool_ext.stages cimport (
    DAMP, FAR, GONE, M2, MEAN, NNZ, check_length, check_shared, check_slots,
)


cdef inline double variance(double n, const double* at) noexcept nogil:
    """var_j; 0 for a column that is constant up to rounding."""
    cdef double mu = at[NNZ] * at[MEAN] / n, d = at[MEAN] - mu
    cdef double var = (at[M2] + at[NNZ] * d * d + (n - at[NNZ]) * mu * mu) / n
    cdef double square = at[M2] / max(at[NNZ], 1.0) + at[MEAN] * at[MEAN]
    return var if var > max(1e-24 * square, 1e-200) else 0.0


cdef inline double balanced_square(double n, const double* at) noexcept nogil:
    """The squared balanced spread r sqrt(r q); 0 for a column that is constant up to rounding. One
    with q <= 1/2 is not: its variance is at least q (1 - q) r^2 >= r^2 / 2n."""
    cdef double square = at[M2] / at[NNZ] + at[MEAN] * at[MEAN], r
    if (2.0 * at[NNZ] > n or n > 1e20 or square < 1e-170) and variance(n, at) == 0.0:
        return 0.0
    r = sqrt(square)
    return r * sqrt(r * (at[NNZ] / n))


cdef inline bint alike(const double* at, const double* before) noexcept nogil:
    """Whether two columns have the same statistics."""
    return (
        before != NULL and at[NNZ] == before[NNZ] and at[MEAN] == before[MEAN]
        and at[M2] == before[M2]
    )


def spreads(double n, const double[:, ::1] shared, const int32_t[::1] slots,
            const uint8_t[::1] known, bint balanced, int32_t[::1] met, double[::1] var,
            double[::1] nnz) -> int:
    """Put those of these slots j where known[j] is 1 and whose features have nonzero values into
    met, nnz_j into nnz, and their squared spreads into var: the variance, or the square of the
    balanced spread. Returns how many these are."""
    cdef Py_ssize_t k, found = 0, count = 0
    cdef const double* at
    cdef const double* before = NULL
    cdef double square = 0.0
    check_shared(shared)
    check_slots(slots, shared.shape[0])
    check_length("known", known.shape[0], shared.shape[0])
    check_length("var", var.shape[0], slots.shape[0])
    check_length("nnz", nnz.shape[0], slots.shape[0])
    check_length("met", met.shape[0], slots.shape[0])
    with nogil:
        for k in range(slots.shape[0]):  # without a branch, which chance would decide
            met[count] = slots[k]
            count += known[slots[k]]
        for k in range(count):
            prefetch(&shared[met[min(k + FAR, count - 1)], 0])
            at = &shared[met[k], 0]
            if at[NNZ] > 0.0:
                if not alike(at, before):  # most features of text have one value, of 1
                    square = balanced_square(n, at) if balanced else variance(n, at)
                    before = at
                var[found] = square
                nnz[found] = at[NNZ]
                met[found] = met[k]
                found += 1
    return found


def median(double[::1] values, double[::1] weights) -> float:
    """The weighted median: the smallest value with half of the weight at or below it. Both arrays
    are changed."""
    cdef Py_ssize_t i, n = values.shape[0], smaller, greater
    cdef double total = 0.0, below = 0.0, pivot, inside, equal
    if n == 0 or weights.shape[0] != n:
        raise ValueError("a median needs at least one value, and a weight for each value")
    with nogil:
        for i in range(n):
            total += weights[i]
        while True:  # the median is among the first n; `below` is the weight of all smaller values
            pivot = values[n // 2]
            inside, equal, smaller, greater = 0.0, 0.0, 0, 0
            for i in range(n):
                inside += weights[i] * (values[i] < pivot)
                equal += weights[i] * (values[i] == pivot)
                smaller += values[i] < pivot
                greater += values[i] > pivot
            if below + inside >= 0.5 * total and smaller:
                n = keep(n, values, weights, -1.0, pivot)
            elif below + inside + equal >= 0.5 * total or not greater:
                break
            else:
                n = keep(n, values, weights, 1.0, pivot)
                below += inside + equal
    return pivot


cdef inline Py_ssize_t keep(Py_ssize_t n, double[::1] values, double[::1] weights, double side,
                            double pivot) noexcept nogil:
    """Keep only values below the pivot (side -1) or above it (side 1), with their weights; returns
    how many these are. Without a branch, which chance would decide."""
    cdef Py_ssize_t i, count = 0
    cdef double value
    for i in range(n):
        value = values[i]
        values[count], weights[count] = value, weights[i]
        count += side * value > side * pivot
    return count


cdef inline double square_sum(const double* at) noexcept nogil:
    """The sum of x_j^2 over all rows."""
    return at[M2] + at[NNZ] * at[MEAN] * at[MEAN]


def damp(double[:, ::1] shared, const int32_t[::1] slots, double unit, bint floor,
         double[::1] var) -> tuple[float, float, float]:
    """Set damp_j = sqrt(var_j / unit) - 1 of the features at these slots, which have nonzero
    values: not below 0 with `floor`, and -1 for a constant column. var_j becomes the new divisor
    1 + damp_j over the old one. Returns the sums of x_j^2 over all rows and columns, and of
    z_j^2 = x_j^2 / (1 + damp_j)^2 over all columns, and over those that are left."""
    cdef Py_ssize_t k
    cdef double every = 0.0, scaled = 0.0, left = 0.0, d, square
    cdef double* at
    check_shared(shared)
    check_slots(slots, shared.shape[0])
    check_length("var", var.shape[0], slots.shape[0])
    with nogil:
        for k in range(slots.shape[0]):
            prefetch(&shared[slots[min(k + FAR, slots.shape[0] - 1)], 0])
            at = &shared[slots[k], 0]
            if floor and 1e-30 * unit < var[k] <= unit:  # most columns: without roots and quotients
                d = 0.0
            else:
                d = sqrt(var[k] / unit) - 1.0
                if floor and -1.0 < d < 0.0:
                    d = 0.0
            var[k] = 1.0 + d
            if at[DAMP] != 0.0 and at[DAMP] != -1.0:
                var[k] /= 1.0 + at[DAMP]
            at[DAMP] = d
            square = square_sum(at)
            every += square
            if d > -1.0:
                if d != 0.0:
                    square /= (1.0 + d) * (1.0 + d)
                scaled += square
                if at[GONE] == 0.0:
                    left += square
    return every, scaled, left


def follow(double[:, ::1] weights, const int32_t[::1] slots, const double[::1] factors) -> None:
    """Multiply the weights of all paths of the features at these slots."""
    cdef Py_ssize_t k, m, n = slots.shape[0], M = weights.shape[1]
    check_slots(slots, weights.shape[0])
    check_length("factors", factors.shape[0], n)
    with nogil:
        for k in range(n):
            prefetch(&weights[slots[min(k + FAR, n - 1)], 0])
            for m in range(M):
                weights[slots[k], m] *= factors[k]


def squares_left(const double[:, ::1] shared, const int32_t[::1] slots) -> float:
    """The sum of x_j^2 / (1 + damp_j)^2 over all rows and the columns that are left."""
    cdef Py_ssize_t k
    cdef double total = 0.0, left, root
    cdef const double* at
    check_shared(shared)
    check_slots(slots, shared.shape[0])
    with nogil:
        for k in range(slots.shape[0]):  # without a branch, which chance would decide
            prefetch(&shared[slots[min(k + FAR, slots.shape[0] - 1)], 0])
            at = &shared[slots[k], 0]
            left, root = (at[GONE] == 0.0) & (at[DAMP] > -1.0), 1.0 + at[DAMP]
            total += left * square_sum(at) / (left * (root * root) + (1.0 - left))
    return total
