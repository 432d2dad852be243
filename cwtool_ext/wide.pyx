"""What learners of several classes share: table rows with a place a class in every column.

With C places the table row of a feature is [mu_0 .. mu_{C-1} | p_0 .. p_{C-1}]. C is a multiple of
four. Scores of classes without a row so far are -infinity.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from cwtool_ext.csr cimport Row
from cwtool_ext.products cimport products
from cwtool_ext.rules cimport Rule
from cwtool_ext.visit cimport Learner


cdef class Wide(Learner):
    """A learner of several classes; `ghosts` is set before `lay_out`."""

    cdef int lay_out(
        self, double[:, ::1] table, Py_ssize_t columns, Rule rule, const double[::1] labels,
        int64_t[::1] rounds,
    ) except -1:
        cdef Py_ssize_t used = self.ghosts + labels.shape[0]
        if table.shape[1] % (4 * columns) or table.shape[1] // columns < used:
            raise ValueError(f"a table row has {table.shape[1]} numbers; {columns} columns of "
                             f"{used} places take a multiple of {4 * columns}")
        if rounds.shape[0] != used:
            raise ValueError(f"{used} numbers of rounds are needed, not {rounds.shape[0]}")
        self._rows, self.table, self.features = table, &table[0, 0], table.shape[0]
        self.width, self.places = table.shape[1], table.shape[1] // columns
        self.rule, self.labels, self.rounds = rule, labels, rounds
        self.classes, self.used = labels.shape[0], used
        self.fetched = self.width if self.width <= 32 else used
        self._room = np.zeros(2 * self.places)
        self.m = &self._room[0]
        return 0

    cdef bint above(self, Py_ssize_t k, Py_ssize_t other) noexcept nogil:
        if other < 0 or self.m[k] > self.m[other]:
            return True
        return (self.m[k] == self.m[other]
                and self.labels[k - self.ghosts] < self.labels[other - self.ghosts])

    cdef void rank(self) noexcept nogil:
        cdef Py_ssize_t k, first = -1, second = -1
        for k in range(self.ghosts, self.used):
            if self.rounds[k] == 0 or (second >= 0 and self.m[k] < self.m[second]):
                continue
            if self.above(k, first):
                first, second = k, first
            elif self.above(k, second):
                second = k
        self.first, self.second = first, second

    cdef void count(self, Py_ssize_t c) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.used):
            if k < self.ghosts or self.rounds[k] > 0 or k == c:
                self.rounds[k] += 1


cdef class WideFirstOrder(Wide):
    """First-order rules: columns (w), or (w, acc) to average since the first row of the class:
    an update in round t of the class, counted from 0, also adds t times itself to acc; the mean
    after T rounds is w - acc / T. Updates always use w itself."""

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef double* m = self.m
        cdef double* acc = self.m + self.places
        cdef double x, square = 0.0
        products(row, after, self.table, self.width, self.fetched, self.used, m)
        if self.averages:
            products(row, row, self.table + self.places, self.width, 0, self.used, acc)
        for i in range(row.nnz):
            x = row.scale * row.value[i]
            square += x * x
        for k in range(self.ghosts, self.used):
            if self.rounds[k] == 0:
                score[k - self.ghosts] = -INFINITY
            else:
                score[k - self.ghosts] = m[k] - acc[k] / self.rounds[k] if self.averages else m[k]
        self.rank()
        self.xx = square
        variance[0] = 0.0

    cdef void move(self, Row row, Py_ssize_t k, double alpha) noexcept nogil:
        cdef double* w = self.table + k
        cdef double* acc = self.table + self.places + k
        cdef double t = self.rounds[k]
        cdef Py_ssize_t i, j
        for i in range(row.nnz):
            j = self.width * row.index[i]
            w[j] += alpha * row.value[i]
            if self.averages:
                acc[j] += t * (alpha * row.value[i])
