"""AROW on a diagonal that keeps at most B weights: columns (mu, p) of a feature, s_j = 1/(1 + p_j).

Iff l = 1 - y mu.x > 0: mu_j += beta l y s_j x_j, 1/s_j += x_j^2/r, beta = 1/(v + r); then only the
B best features keep their mu_j (Wu 2013, eq. 5), by
    MAHALANOBIS  |mu_j| / sqrt s_j, the projection in the metric of Sigma
    CERTAIN      1/s_j, the most confident (SOFS: Wu, Hoi, Mei, Yu 2017)
    WEIGHT       |mu_j|
    PRINTED      s_j |mu_j|, as eq. 5 stands
and by the lower id among equals. A row of weight h has r/h for r. s_j is kept for all
features. The B features are a heap, worst first: O(nonzeros log B) a round.
"""

import numpy as np

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Row, prefetch
from cwtool_ext.visit cimport Learner

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


cdef void sift(Heap* heap, Py_ssize_t at, int32_t slot, double value) noexcept nogil:
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
        sift(heap, heap.count - 1, slot, value)
    elif worse(heap, heap.worth[0], heap.slot[0], value, slot):
        table[heap.slot[0], 0] = 0.0
        heap.place[heap.slot[0]] = 0
        sift(heap, 0, slot, value)
    else:
        table[slot, 0] = 0.0


cdef class Budget(Learner):
    """The table has the columns (mu, p); `kept[:count]` are the slots that have a weight, in any
    order, and len(kept) = B. The id of a slot is itself below `direct`, else in `keys`. `place` has
    a zero for each slot; afterwards it has others for those of kept[:count] alone."""

    cdef double[:, ::1] table
    cdef int ranking
    cdef double r, ceiling
    cdef int32_t[::1] kept, place
    cdef const int32_t[::1] keys
    cdef double[::1] worths
    cdef Heap heap
    cdef double score, v  # of the row looked at

    def __init__(self, double[:, ::1] table, int ranking, double r, double floor,
                 int32_t[::1] kept, Py_ssize_t count, int64_t direct, const int32_t[::1] keys,
                 int32_t[::1] place):
        if table.shape[1] != 2 or not 0 <= ranking <= PRINTED or not r > 0:
            raise ValueError("a budget needs columns (mu, p), a ranking 0 to 3, and r > 0")
        if not 0 <= count <= kept.shape[0] or kept.shape[0] == 0:
            raise ValueError(f"{count} features of {kept.shape[0]} cannot be kept")
        if table.shape[0] > direct + keys.shape[0] or keys.shape[0] == 0:
            raise ValueError("every slot needs an id")
        if place.shape[0] < table.shape[0]:
            raise ValueError("every slot needs a place")
        if not 0.0 < floor < 1.0:
            raise ValueError(f"floor must lie between 0 and 1, not {floor}")
        self.table, self.features, self.ranking, self.r = table, table.shape[0], ranking, r
        self.ceiling = 1.0 / floor
        self.kept, self.keys, self.place = kept, keys, place
        self.worths = np.empty(kept.shape[0])
        cdef int32_t[::1] start = np.array(kept[:count], dtype=np.int32)
        self.heap = Heap(0, kept.shape[0], &kept[0], &self.worths[0], &self.place[0], direct,
                         &keys[0])
        cdef int32_t j
        for j in start:
            if not 0 <= j < table.shape[0] or self.place[j]:
                raise ValueError("kept features must be slots, each once")
            self.heap.count += 1
            sift(&self.heap, self.heap.count - 1, j, self.worth_of(j))

    @property
    def count(self) -> int:
        """How many features have a weight."""
        return self.heap.count

    cdef double worth_of(self, int32_t j) noexcept nogil:
        return worth(self.table[j, 0], self.table[j, 1], self.ranking)

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        cdef double m = 0.0, v = 0.0, x
        cdef const double* table = &self.table[0, 0]
        cdef const double* j
        cdef Py_ssize_t k
        for k in range(row.nnz):
            if k < after.nnz:
                prefetch(table + 2 * <Py_ssize_t> after.index[k])
            j = table + 2 * <Py_ssize_t> row.index[k]
            x = row.scale * row.value[k]
            m += j[0] * x
            v += x * x / (1.0 + j[1])
        score[0] = self.score = m
        variance[0] = self.v = v

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef double r = self.r / h, alpha = (1.0 - y * self.score) / (self.v + r), x
        cdef double* at
        cdef int32_t j
        cdef Py_ssize_t k
        # a step longer than 1e100, or not a number, is left out: no overflow
        if not (alpha > 0.0 and 0.0 < self.v <= 1e200 and alpha * sqrt(self.v) <= 1e100):
            return False
        for k in range(row.nnz):
            at = &self.table[row.index[k], 0]
            x = row.scale * row.value[k]
            at[0] += alpha * y * x / (1.0 + at[1])
            at[1] = min(self.ceiling, at[1] + x * x / r)
        # features that have a weight first: a newcomer must be compared with their new worth
        for k in range(row.nnz):
            j = row.index[k]
            if self.place[j]:
                sift(&self.heap, self.place[j] - 1, j, self.worth_of(j))
        for k in range(row.nnz):
            j = row.index[k]
            if not self.place[j]:
                offer(&self.heap, j, self.worth_of(j), self.table)
        return True
