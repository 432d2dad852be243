"""The hinge loss with a rounded corner, or squared, and its derivatives.

    xi = max(0, 1 - y f),  f the score of a row;  loss = cost l(xi)
    rounded:  l = xi^2 / 2       up to xi = 1,  xi - 1/2 beyond;  pull min(xi, 1)
    squared:  l = xi^2 / 2;                                       pull xi
A row pulls its score by cost * pull * y, and the loss is curved, with the second derivative cost,
where 0 < xi <= 1 (rounded) or 0 < xi (squared).
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int8_t, int32_t, int64_t

from cwtool_ext.csr cimport Csr, Row, check_order, fetch, fetch_columns, one_a_row, row_at


cdef enum:
    _FLAT = 0
    _CURVED = 1
    _STEEP = 2
    SOON = 4  # rows ahead that are asked for
    TOGETHER = 32  # rows that are scored before those that pull are visited again


# parts of the loss: xi <= 0, 0 < xi <= 1 (squared: 0 < xi), and 1 < xi
FLAT = _FLAT
CURVED = _CURVED
STEEP = _STEEP


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


cdef inline int8_t part_of(double xi, double corner) noexcept nogil:
    """The part of the loss that a row of xi = 1 - y f lies in: FLAT, CURVED or STEEP. It is curved
    for xi between 0 and `corner`."""
    return (xi > 0) + (xi > corner)


cdef inline double one_loss(
    double xi, double cost, double corner, double* pull, int8_t* part
) noexcept nogil:
    """The loss of a row; `corner` is the xi up to which the loss is squared."""
    # without branches, which the processor would guess wrong
    cdef double above = xi if xi > 0 else 0, bounded = above if above < corner else corner
    part[0] = part_of(xi, corner)
    pull[0] = cost * bounded
    return pull[0] * (above - 0.5 * bounded)


cdef inline double total_of(Row row, const double* w) noexcept nogil:
    """The sum of w over the entries of a row, in four sums for the same reason."""
    cdef const int32_t* at = row.index
    cdef const int32_t* end = row.index + row.nnz
    cdef double a = 0, b = 0, c = 0, d = 0
    while end - at >= 4:
        a += w[at[0]]
        b += w[at[1]]
        c += w[at[2]]
        d += w[at[3]]
        at += 4
    while at < end:
        a += w[at[0]]
        at += 1
    return (a + b) + (c + d)


def of_rows(
    Csr rows not None, bint alike, const double[::1] y, const double[:] cost, bint squared,
    const int64_t[::1] some, const double[::1] mu, const int8_t[::1] before, double[::1] pulled,
    double[::1] scores, int8_t[::1] parts,
) -> float:
    """The sum of the losses of the rows with these numbers at the weights mu. `scores` becomes the
    score of each, and `parts` the part of the loss that it lies in: FLAT, CURVED or STEEP. Those of
    other rows are left as they are. `pulled` becomes the sum of pulls, times their rows, beyond
    what the parts `before` tell: a row that was in the curved part is expected to pull by cost xi,
    one in the steep part by cost, and one in the flat part not at all. If all values are `alike`,
    only the first is read."""
    cdef Row row
    cdef Py_ssize_t i, k, s, part, active, n = some.shape[0]
    cdef double xi, pull, total = 0, corner = INFINITY if squared else 1
    cdef int8_t here
    cdef Py_ssize_t[TOGETHER] pulling  # rows that pull otherwise than expected
    cdef double[TOGETHER] pulls, errors
    cdef double same = rows.value[0] if alike and rows.start[rows.count] else 0
    rows.fit(min(mu.shape[0], pulled.shape[0]))
    check_order(some, rows)
    one_a_row("y", y.shape[0], rows)
    one_a_row("cost", cost.shape[0], rows)
    one_a_row("before", before.shape[0], rows)
    one_a_row("scores", scores.shape[0], rows)
    one_a_row("parts", parts.shape[0], rows)
    cdef const double* w = &mu[0] if mu.shape[0] else NULL
    # even and odd rows pull apart: an addition to a number waits for the one before it
    cdef double[:, ::1] sums = np.zeros((2, max(1, pulled.shape[0])))
    cdef double* at
    with nogil:
        for part in range((n + TOGETHER - 1) // TOGETHER):
            active = 0
            for s in range(TOGETHER * part, min(TOGETHER * part + TOGETHER, n)):
                i = some[s]
                if s + SOON < n and some[s + SOON] != i + SOON:  # the processor does not expect it
                    if alike:
                        fetch_columns(row_at(rows, some[s + SOON]))
                    else:
                        fetch(row_at(rows, some[s + SOON]))
                row = row_at(rows, i)
                scores[i] = row.scale * (same * total_of(row, w) if alike else dot(row, w))
            for s in range(TOGETHER * part, min(TOGETHER * part + TOGETHER, n)):
                i = some[s]
                xi = 1 - y[i] * scores[i]
                total += one_loss(xi, cost[i], corner, &pull, &here)
                parts[i] = here
                pulling[active], pulls[active], errors[active] = i, pull, xi
                active += here != before[i]
            for s in range(active):  # apart, because nobody can guess which rows these are
                i = pulling[s]
                if before[i] == _CURVED:
                    pulls[s] -= cost[i] * errors[s]
                elif before[i] == _STEEP:
                    pulls[s] -= cost[i]
                row, at = row_at(rows, i), &sums[s % 2, 0]
                pull = pulls[s] * y[i] * row.scale
                if alike:
                    pull = pull * same
                    for k in range(row.nnz):
                        at[row.index[k]] += pull
                else:
                    for k in range(row.nnz):
                        at[row.index[k]] += pull * row.value[k]
        for k in range(pulled.shape[0]):
            pulled[k] = sums[0, k] + sums[1, k]
    return total


def shorter(
    const double[::1] f, const double[::1] g, const double[::1] y, const double[:] cost,
    bint squared, const int64_t[::1] some, double slope, double bend, double enough,
) -> float:
    """The share t of the way from the scores f to g that leads downwards: there the derivative of
    slope t + bend t^2 / 2 + the losses of the rows with these numbers is at most `enough` in size,
    and at the end of the way it is greater. By Newton steps within a bracket.

    With xi at the beginning and q = y (g - f), the derivative of a row that stays in its part of
    the loss is -cost q (xi - t q) or -cost q; only those of other rows are visited in each step."""
    cdef Py_ssize_t i, s, moving = 0, n = f.shape[0]
    cdef double t = 1, low = 0, high = 1, first, second, q, xi, pull
    cdef double corner = INFINITY if squared else 1
    cdef int8_t part
    cdef bint stays
    if min(g.shape[0], y.shape[0], cost.shape[0]) < n:
        raise ValueError("g, y and cost must have a place for each score")
    for s in range(some.shape[0]):
        if not 0 <= some[s] < n:
            raise ValueError(f"there is no score of row {some[s]}")
    cdef int64_t[::1] others = np.empty(some.shape[0] + 1, dtype=np.int64)
    with nogil:
        for s in range(some.shape[0]):
            i = some[s]
            q, xi = y[i] * (g[i] - f[i]), 1 - y[i] * f[i]
            part = part_of(xi, corner)
            stays = part == part_of(xi - q, corner)
            others[moving] = i
            moving += not stays
            # without branches, which the processor would guess wrong
            pull = xi if xi < corner else corner
            slope -= cost[i] * q * (pull if pull > 0 else 0) * stays
            bend += cost[i] * q * q * (stays & (part == _CURVED))
        while True:
            first, second = slope + bend * t, bend
            for s in range(moving):
                i = others[s]
                q = y[i] * (g[i] - f[i])
                xi = 1 - y[i] * f[i] - t * q
                pull = xi if xi < corner else corner
                first -= cost[i] * (pull if pull > 0 else 0) * q
                second += cost[i] * q * q * (part_of(xi, corner) == _CURVED)
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
    cdef int8_t part
    if min(y.shape[0], cost.shape[0], pull.shape[0], curved.shape[0]) < n:
        raise ValueError("y, cost, pull and curved must have a place for each score")
    with nogil:
        for i in range(n):
            total += one_loss(1 - y[i] * f[i], cost[i], corner, &pull[i], &part)
            pull[i] *= y[i]
            curved[i] = part == _CURVED
    return total
