"""Weights and scores of all paths of stabilized truncated gradient descent.

A burst that is under way counts as if it had ended here: what is read does not depend on where the
rows happened to stop.
"""

import numpy as np

from libc.stdint cimport int32_t

from cwtool_ext.csr cimport Csr, Row, one_a_row, prefetch, row_at
from cwtool_ext.path_loops cimport PathLoops, loops_of
from cwtool_ext.stages cimport (
    DAMP, FAR, MOST, check_length, check_shared, check_slots, informed, pulled,
)


cdef enum:
    USUAL = 8  # paths
    FEW = 4  # entries of a feature, up to which its weights are computed for each entry


cdef inline double ended(double w, double k, double g0, bint by_norm) noexcept nogil:
    """w_j, pulled as at the end of a burst."""
    return pulled(w, g0 * informed(k, by_norm)) if k != 0.0 else w


cdef Py_ssize_t paths_of(const double[:, ::1] weights, const double[:, ::1] counts) except -1:
    """The number of paths of tables with a column for each of them."""
    cdef Py_ssize_t M = weights.shape[1]
    if counts.shape[1] != M or counts.shape[0] != weights.shape[0] or not 0 < M <= MOST:
        raise ValueError(f"the tables of the paths have {M} and {counts.shape[1]} columns")
    return M


cdef void read_weights(
    const double[:, ::1] shared, const double[:, ::1] weights, const double[:, ::1] counts,
    double g0, bint by_norm, double[:, ::1] out
) noexcept nogil:
    """The weights of each feature and path as they are read, divided by 1 + damp."""
    cdef Py_ssize_t j, m, M = out.shape[1]
    cdef double w, divisor
    for j in range(out.shape[0]):
        divisor = 1.0 + shared[j, DAMP]
        for m in range(M):
            w = ended(weights[j, m], counts[j, m], g0, by_norm)
            out[j, m] = w / divisor if w != 0.0 else 0.0


cdef inline void add_products(
    Csr rows, const double[:, ::1] weights, Py_ssize_t M, double[::1] score
) noexcept nogil:
    """score_i += w.x_i of every path, for every row."""
    cdef Py_ssize_t i, k, m
    cdef Row row
    cdef double x
    cdef const double* w
    cdef double[MOST] f
    for i in range(rows.count):
        row = row_at(rows, i)
        for m in range(M):
            f[m] = 0.0
        for k in range(row.nnz):
            w, x = &weights[row.index[k], 0], row.scale * row.value[k]
            for m in range(M):
                f[m] += w[m] * x
        for m in range(M):
            score[i] += f[m]


cdef inline void add_row(
    Row row, Row after, const double[:, ::1] shared, const double[:, ::1] weights,
    const double[:, ::1] counts, double g0, bint by_norm, double* f
) noexcept nogil:
    """Add w.x of a row to f of every path."""
    cdef Py_ssize_t k, m, j
    cdef double w, x, divisor
    for k in range(row.nnz):
        if k < after.nnz:
            prefetch(&weights[after.index[k], 0])
            prefetch(&counts[after.index[k], 0])
        j = row.index[k]
        divisor, x = 1.0 + shared[j, DAMP], row.scale * row.value[k]
        for m in range(weights.shape[1]):
            w = ended(weights[j, m], counts[j, m], g0, by_norm)
            f[m] += (w / divisor if w != 0.0 else 0.0) * x


def add_scores(
    Csr rows not None, const double[:, ::1] shared, const double[:, ::1] weights,
    const double[:, ::1] counts, double g0, bint by_norm, double[::1] score,
) -> None:
    """score_i += w.x_i of every path, for every row, without the intercept. Where rows have many
    more entries than there are features up to their highest, each weight is computed only once."""
    rows.fit(min(shared.shape[0], weights.shape[0]))
    one_a_row("score", score.shape[0], rows)
    check_shared(shared)
    cdef Py_ssize_t i, m, ahead, M = paths_of(weights, counts)
    cdef const PathLoops* loops = loops_of(M)
    cdef Row row
    cdef double[MOST] f
    cdef double[:, ::1] read
    if (FEW if loops != NULL else 1) * rows.width < rows.start[rows.count]:
        read = np.empty((rows.width, M))
        with nogil:
            read_weights(shared, weights, counts, g0, by_norm, read)
            if M == USUAL:  # which the compiler knows
                add_products(rows, read, USUAL, score)
            else:
                add_products(rows, read, M, score)
        return
    with nogil:
        for i in range(rows.count if rows.width else 0):
            row = row_at(rows, i)
            for m in range(M):
                f[m] = 0.0
            if loops != NULL:
                ahead = rows.start[rows.count] - rows.start[i]
                loops.add(
                    row.nnz, row.index, row.value, row.scale, ahead, &shared[0, 0],
                    shared.shape[1], &weights[0, 0], &counts[0, 0], g0, by_norm, f,
                )
            else:
                add_row(
                    row, row_at(rows, min(i + 1, rows.count - 1)), shared, weights, counts, g0,
                    by_norm, f,
                )
            for m in range(M):
                score[i] += f[m]


def add_weights(
    const int32_t[::1] slots, const double[:, ::1] shared, const double[:, ::1] weights,
    const double[:, ::1] counts, double g0, bint by_norm, double[::1] out,
) -> None:
    """out_k += the weights of all paths of the feature at slots[k]."""
    cdef Py_ssize_t k, m, n = slots.shape[0], M = paths_of(weights, counts)
    cdef double w
    check_shared(shared)
    check_length("out", out.shape[0], n)
    check_slots(slots, min(shared.shape[0], weights.shape[0]))
    with nogil:
        for k in range(n):
            prefetch(&weights[slots[min(k + FAR, n - 1)], 0])
            for m in range(M):
                w = ended(weights[slots[k], m], counts[slots[k], m], g0, by_norm)
                out[k] += w / (1.0 + shared[slots[k], DAMP]) if w != 0.0 else 0.0
