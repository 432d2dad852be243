"""AROW on a diagonal that keeps at most B weights: rows (mu_j, p_j), s_j = 1/(1 + p_j).

Iff l = 1 - y mu.x > 0: mu_j += beta l y s_j x_j, 1/s_j += x_j^2/r, beta = 1/(v + r); then only the
B best features keep their mu_j (Wu 2013, eq. 5), by
    MAHALANOBIS  |mu_j| / sqrt s_j, the projection in the metric of Sigma
    CERTAIN      1/s_j, the most confident (SOFS: Wu, Hoi, Mei, Yu 2017)
    WEIGHT       |mu_j|
    PRINTED      s_j |mu_j|, as eq. 5 stands
and by the lower id among equals. s_j is kept for all. The B features are a heap, worst first:
O(nonzeros log B) a round.
"""

import numpy as np

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, Rows, longest, one_a_row, prefetch, read, row_at

cdef enum:
    MAHALANOBIS = 0
    CERTAIN = 1
    WEIGHT = 2
    PRINTED = 3


cdef inline double worth(double mu, double p, int ranking) noexcept nogil:
    if ranking == CERTAIN:
        return p
    if ranking == WEIGHT:
        return fabs(mu)
    return fabs(mu) * sqrt(1.0 + p) if ranking == MAHALANOBIS else fabs(mu) / (1.0 + p)


cdef struct Heap:
    Py_ssize_t count
    Py_ssize_t room
    int32_t* slot
    double* worth
    int32_t* place  # by slot: position + 1, or 0
    int64_t direct
    const int32_t* keys


cdef inline int32_t id_of(const Heap* heap, int32_t slot) noexcept nogil:
    return slot if slot < heap.direct else heap.keys[slot - heap.direct]


cdef inline bint worse(const Heap* heap, double a, int32_t a_slot, double b,
                       int32_t b_slot) noexcept nogil:
    if a != b:
        return a < b
    return id_of(heap, a_slot) > id_of(heap, b_slot)


cdef inline void put(Heap* heap, Py_ssize_t at, int32_t slot, double value) noexcept nogil:
    heap.slot[at], heap.worth[at] = slot, value
    heap.place[slot] = <int32_t> (at + 1)


cdef void settle(Heap* heap, Py_ssize_t at, int32_t slot, double value) noexcept nogil:
    """Put (slot, value) where it belongs, starting from the hole `at`."""
    cdef Py_ssize_t other
    while at > 0:
        other = (at - 1) // 2
        if not worse(heap, value, slot, heap.worth[other], heap.slot[other]):
            break
        put(heap, at, heap.slot[other], heap.worth[other])
        at = other
    while 2 * at + 1 < heap.count:
        other = 2 * at + 1
        if other + 1 < heap.count and worse(
                heap, heap.worth[other + 1], heap.slot[other + 1],
                heap.worth[other], heap.slot[other]):
            other += 1
        if not worse(heap, heap.worth[other], heap.slot[other], value, slot):
            break
        put(heap, at, heap.slot[other], heap.worth[other])
        at = other
    put(heap, at, slot, value)


cdef inline void offer(Heap* heap, int32_t slot, double value, double[:, ::1] table) noexcept nogil:
    """A feature from outside comes in, or is refused; who is not in has no weight."""
    if heap.count < heap.room:
        heap.count += 1
        settle(heap, heap.count - 1, slot, value)
    elif worse(heap, heap.worth[0], heap.slot[0], value, slot):
        table[heap.slot[0], 0] = 0.0
        heap.place[heap.slot[0]] = 0
        settle(heap, 0, slot, value)
    else:
        table[slot, 0] = 0.0


def learn(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] values,
    const double[::1] y, const int64_t[::1] order, double[:, ::1] table, int ranking, double r,
    int32_t[::1] kept, Py_ssize_t count, int64_t direct, const int32_t[::1] keys,
    double ceiling, double scale, double[::1] score, double[::1] variance,
):
    """Visit the rows in order, score each, then update. kept[:count] are the slots that have a
    weight, in any order, and len(kept) = B; returns the new count. p_j stays below `ceiling`."""
    cdef Rows rows = read(indptr, indices, values, table.shape[0])
    one_a_row("y", y, rows)
    one_a_row("score", score, rows)
    one_a_row("variance", variance, rows)
    longest(order, rows)
    if table.shape[1] != 2 or not 0 <= ranking <= PRINTED or not r > 0:
        raise ValueError("a budget needs rows (mu, p), a ranking 0 to 3, and r > 0")
    if not 0 <= count <= kept.shape[0] or kept.shape[0] == 0:
        raise ValueError(f"{count} features of {kept.shape[0]} cannot be kept")
    if table.shape[0] > direct + keys.shape[0] or keys.shape[0] == 0:
        raise ValueError("every slot needs an id")
    cdef double[::1] worths = np.empty(kept.shape[0])
    cdef int32_t[::1] place = np.zeros(table.shape[0], dtype=np.int32)
    cdef int32_t[::1] start = np.array(kept[:count], dtype=np.int32)
    cdef Heap heap = Heap(0, kept.shape[0], &kept[0], &worths[0], &place[0], direct, &keys[0])
    cdef Py_ssize_t i, k, n
    cdef int32_t j
    cdef double m, v, x, alpha
    cdef Row row, after
    for j in start:
        if not 0 <= j < table.shape[0] or place[j]:
            raise ValueError("kept features must be slots, each once")
        heap.count += 1
        settle(&heap, heap.count - 1, j, worth(table[j, 0], table[j, 1], ranking))
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            row = row_at(rows, i)
            after = row_at(rows, order[min(n + 1, order.shape[0] - 1)])
            m = v = 0.0
            for k in range(row.nnz):
                if k < after.nnz:
                    prefetch(&table[after.index[k], 0])
                j = row.index[k]
                x = scale * row.value[k]
                m += table[j, 0] * x
                v += x * x / (1.0 + table[j, 1])
            score[i], variance[i] = m, v
            alpha = (1.0 - y[i] * m) / (v + r)
            # a step longer than 1e100, or not a number, is left out: no overflow
            if not (alpha > 0.0 and 0.0 < v <= 1e200 and alpha * sqrt(v) <= 1e100):
                continue
            for k in range(row.nnz):
                j = row.index[k]
                x = scale * row.value[k]
                table[j, 0] += alpha * y[i] * x / (1.0 + table[j, 1])
                table[j, 1] = min(ceiling, table[j, 1] + x * x / r)
            # those inside first: a newcomer must meet everyone's new worth
            for k in range(row.nnz):
                j = row.index[k]
                if place[j]:
                    settle(&heap, place[j] - 1, j, worth(table[j, 0], table[j, 1], ranking))
            for k in range(row.nnz):
                j = row.index[k]
                if not place[j]:
                    offer(&heap, j, worth(table[j, 0], table[j, 1], ranking), table)
    return heap.count
