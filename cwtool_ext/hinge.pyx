"""The hinge loss with a rounded corner, or squared, and its derivatives.

    xi = max(0, 1 - y f),  f the score of a row;  loss = cost l(xi)
    rounded:  l = xi^2 / 2       up to xi = 1,  xi - 1/2 beyond;  pull min(xi, 1)
    squared:  l = xi^2 / 2;                                       pull xi
A row pulls its score by cost * pull * y, and the loss is curved, with the second derivative cost,
where 0 < xi <= 1 (rounded) or 0 < xi (squared).
"""

from libc.math cimport INFINITY, fmin

from cwtool_ext.csr cimport Csr, Row, one_a_row, row_at


cdef inline double one_loss(
    double xi, double cost, double corner, double* pull, double* curved
) noexcept nogil:
    """The loss of a row; `corner` is the xi up to which the loss is squared."""
    if not xi > 0:
        pull[0] = 0
        curved[0] = 0
        return 0
    curved[0] = xi <= corner
    pull[0] = cost * fmin(xi, corner)
    return pull[0] * (xi - 0.5 * fmin(xi, corner))


def of_rows(
    Csr rows not None, const double[::1] y, const double[:] cost, bint squared,
    const double[::1] mu, double[::1] pulled, double[::1] curved,
) -> float:
    """The sum of the losses of the rows at the weights mu. `pulled` becomes the sum of all pulls,
    times their rows, and `curved` is 1 for rows where the loss is curved, otherwise 0."""
    cdef Row row
    cdef Py_ssize_t i, k
    cdef double f, pull, total = 0, corner = INFINITY if squared else 1
    rows.fit(min(mu.shape[0], pulled.shape[0]))
    one_a_row("y", y.shape[0], rows)
    one_a_row("cost", cost.shape[0], rows)
    one_a_row("curved", curved.shape[0], rows)
    with nogil:
        pulled[:] = 0
        for i in range(rows.count):
            row = row_at(rows, i)
            f = 0
            for k in range(row.nnz):
                f += mu[row.index[k]] * row.value[k]
            total += one_loss(1 - y[i] * row.scale * f, cost[i], corner, &pull, &curved[i])
            if pull != 0:
                pull *= y[i] * row.scale
                for k in range(row.nnz):
                    pulled[row.index[k]] += pull * row.value[k]
    return total


def bent_along(
    Csr rows not None, const double[:] cost, const double[::1] curved, const double[::1] d,
    double[::1] out,
) -> None:
    """out becomes the sum of cost (x.d) x over the rows where the loss is curved: the second
    derivative of the sum of the losses, times d."""
    cdef Row row
    cdef Py_ssize_t i, k
    cdef double s
    rows.fit(min(d.shape[0], out.shape[0]))
    one_a_row("cost", cost.shape[0], rows)
    one_a_row("curved", curved.shape[0], rows)
    with nogil:
        out[:] = 0
        for i in range(rows.count):
            if curved[i] == 0:
                continue
            row = row_at(rows, i)
            s = 0
            for k in range(row.nnz):
                s += d[row.index[k]] * row.value[k]
            s *= cost[i] * row.scale * row.scale
            for k in range(row.nnz):
                out[row.index[k]] += s * row.value[k]


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
