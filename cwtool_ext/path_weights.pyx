"""Weights and scores of one path of stabilized truncated gradient descent.

A burst that is under way counts as if it had ended here: what is read does not depend on where the
rows happened to stop.
"""

from libc.stdint cimport int32_t

from cwtool_ext.csr cimport Csr, Row, one_a_row, prefetch, row_at
from cwtool_ext.stages cimport (
    COUNT, DAMP, FAR, WEIGHT, check_length, check_path, check_shared, check_slots, informed, pulled,
)


cdef inline double ended(const double* column, const double* at, double g0,
                         bint by_norm) noexcept nogil:
    """w_j s_j, with w_j pulled as at the end of a burst."""
    cdef double w = at[WEIGHT]
    if at[COUNT] != 0.0:
        w = pulled(w, g0 * informed(at[COUNT], by_norm))
    return w / (1.0 + column[DAMP]) if w != 0.0 else 0.0


def add_scores(
    Csr rows not None, const double[:, ::1] shared, const double[:, ::1] table, double g0,
    bint by_norm, double[::1] score,
) -> None:
    """score_i += w.x_i for every row, without the intercept."""
    rows.fit(min(shared.shape[0], table.shape[0]))
    one_a_row("score", score.shape[0], rows)
    check_shared(shared)
    check_path(table)
    cdef Row row, after
    cdef Py_ssize_t i, k
    cdef double f, scale = rows.scale
    with nogil:
        for i in range(rows.count):
            row, after = row_at(rows, i), row_at(rows, min(i + 1, rows.count - 1))
            f = 0.0
            for k in range(row.nnz):
                if k < after.nnz:
                    prefetch(&table[after.index[k], 0])
                f += (
                    ended(&shared[row.index[k], 0], &table[row.index[k], 0], g0, by_norm)
                    * (scale * row.value[k])
                )
            score[i] += f


def add_weights(
    const int32_t[::1] slots, const double[:, ::1] shared, const double[:, ::1] table, double g0,
    bint by_norm, double[::1] out,
) -> None:
    """out_k += the weight of the feature at slots[k]."""
    cdef Py_ssize_t k, n = slots.shape[0]
    check_shared(shared)
    check_path(table)
    check_length("out", out.shape[0], n)
    check_slots(slots, min(shared.shape[0], table.shape[0]))
    with nogil:
        for k in range(n):
            prefetch(&table[slots[min(k + FAR, n - 1)], 0])
            out[k] += ended(&shared[slots[k], 0], &table[slots[k], 0], g0, by_norm)
