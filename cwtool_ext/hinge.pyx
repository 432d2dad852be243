"""The hinge loss with a rounded corner, or squared, and its derivatives.

    xi = max(0, 1 - y f),  f the score of a row;  loss = cost l(xi)
    rounded:  l = xi^2 / 2       up to xi = 1,  xi - 1/2 beyond;  pull min(xi, 1)
    squared:  l = xi^2 / 2;                                       pull xi
A row pulls its score by cost * pull * y, and the loss is curved, with the second derivative cost,
where 0 < xi <= 1 (rounded) or 0 < xi (squared).
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int8_t, int64_t

from cwtool_ext.csr cimport Csr, Row, check_order, fetch, one_a_row, row_at


cdef enum:
    SOON = 4  # rows ahead that are asked for
    TOGETHER = 32  # rows that are scored before those that pull are visited again


cdef inline double dot(Row row, const double* w) noexcept nogil:
    """w . the stored values of a row, in two sums: one would wait for each of its additions."""
    cdef Py_ssize_t k, even = row.nnz - row.nnz % 2
    cdef double a = 0, b = 0
    for k in range(0, even, 2):
        a += w[row.index[k]] * row.value[k]
        b += w[row.index[k + 1]] * row.value[k + 1]
    if even < row.nnz:
        a += w[row.index[even]] * row.value[even]
    return a + b


cdef inline double one_loss(
    double xi, double cost, double corner, double* pull, double* curved
) noexcept nogil:
    """The loss of a row; `corner` is the xi up to which the loss is squared."""
    # without branches, which the processor would guess wrong
    cdef double above = xi if xi > 0 else 0, bounded = above if above < corner else corner
    curved[0] = (xi > 0) & (xi <= corner)
    pull[0] = cost * bounded
    return pull[0] * (above - 0.5 * bounded)


cdef inline double total_of(Row row, const double* w) noexcept nogil:
    """The sum of w over the entries of a row, in two sums as above."""
    cdef Py_ssize_t k, even = row.nnz - row.nnz % 2
    cdef double a = 0, b = 0
    for k in range(0, even, 2):
        a += w[row.index[k]]
        b += w[row.index[k + 1]]
    if even < row.nnz:
        a += w[row.index[even]]
    return a + b


def of_rows(
    Csr rows not None, bint alike, const double[::1] y, const double[:] cost, bint squared,
    const int64_t[::1] some, const double[::1] mu, double[::1] pulled, double[::1] scores,
    int8_t[::1] curved,
) -> float:
    """The sum of the losses of the rows with these numbers at the weights mu. `pulled` becomes the
    sum of all pulls, times their rows, `scores` the score of each, and `curved` is 1 for rows where
    the loss is curved, otherwise 0. That of other rows is left as it is. If all values are `alike`,
    only the first is read."""
    cdef Row row
    cdef Py_ssize_t i, k, s, part, active, n = some.shape[0]
    cdef double f, pull, bent, total = 0, corner = INFINITY if squared else 1
    cdef Py_ssize_t[TOGETHER] pulling  # rows that pull their scores
    cdef double[TOGETHER] pulls
    cdef double same = rows.value[0] if alike and rows.start[rows.count] else 0
    rows.fit(min(mu.shape[0], pulled.shape[0]))
    check_order(some, rows)
    one_a_row("y", y.shape[0], rows)
    one_a_row("cost", cost.shape[0], rows)
    one_a_row("scores", scores.shape[0], rows)
    one_a_row("curved", curved.shape[0], rows)
    cdef const double* w = &mu[0] if mu.shape[0] else NULL
    cdef double* at = &pulled[0] if mu.shape[0] else NULL
    with nogil:
        pulled[:] = 0
        for part in range((n + TOGETHER - 1) // TOGETHER):
            active = 0
            for s in range(TOGETHER * part, min(TOGETHER * part + TOGETHER, n)):
                i = some[s]
                if s + SOON < n and some[s + SOON] != i + SOON:  # the processor does not expect it
                    fetch(row_at(rows, some[s + SOON]))
                row = row_at(rows, i)
                f = row.scale * (same * total_of(row, w) if alike else dot(row, w))
                scores[i] = f
                total += one_loss(1 - y[i] * f, cost[i], corner, &pull, &bent)
                curved[i] = <int8_t> bent
                pulling[active], pulls[active] = i, pull * y[i] * row.scale
                active += pull != 0
            for s in range(active):  # apart, because nobody can guess which rows these are
                row = row_at(rows, pulling[s])
                if alike:
                    pull = pulls[s] * same
                    for k in range(row.nnz):
                        at[row.index[k]] += pull
                else:
                    for k in range(row.nnz):
                        at[row.index[k]] += pulls[s] * row.value[k]
    return total


def shorter(
    const double[::1] f, const double[::1] g, const double[::1] y, const double[:] cost,
    bint squared, const int64_t[::1] some, double slope, double bend, double enough,
) -> float:
    """The share t of the way from the scores f to g that leads downwards: there the derivative of
    slope t + bend t^2 / 2 + the losses of the rows with these numbers is at most `enough` in size,
    and at the end of the way it is greater. By Newton steps within a bracket."""
    cdef Py_ssize_t i, s, n = f.shape[0]
    cdef double t = 1, low = 0, high = 1, first, second, q, xi, pull
    cdef double corner = INFINITY if squared else 1
    if min(g.shape[0], y.shape[0], cost.shape[0]) < n:
        raise ValueError("g, y and cost must have a place for each score")
    for s in range(some.shape[0]):
        if not 0 <= some[s] < n:
            raise ValueError(f"there is no score of row {some[s]}")
    with nogil:
        while True:
            first, second = slope + bend * t, bend
            for s in range(some.shape[0]):
                i = some[s]
                q = y[i] * (g[i] - f[i])
                xi = 1 - y[i] * f[i] - t * q
                # without branches, which the processor would guess wrong
                pull = xi if xi < corner else corner
                first -= cost[i] * (pull if pull > 0 else 0) * q
                second += cost[i] * q * q * ((xi > 0) & (xi <= corner))
            if fabs(first) <= enough or high - low < 1e-9:
                break
            if first > 0:
                high = t
            else:
                low = t
            t -= first / second
            if not low < t < high:
                t = 0.5 * (low + high)
    return t


def of_scores(
    const double[::1] f, const double[::1] y, const double[:] cost, bint squared,
    double[::1] pull, double[::1] curved,
) -> float:
    """The same for rows whose scores f are known; `pull` becomes that of each, with its sign."""
    cdef Py_ssize_t i, n = f.shape[0]
    cdef double total = 0, corner = INFINITY if squared else 1
    if min(y.shape[0], cost.shape[0], pull.shape[0], curved.shape[0]) < n:
        raise ValueError("y, cost, pull and curved must have a place for each score")
    with nogil:
        for i in range(n):
            total += one_loss(1 - y[i] * f[i], cost[i], corner, &pull[i], &curved[i])
            pull[i] *= y[i]
    return total
