"""Dual coordinate descent for linear SVMs that visits rows only as often as they change.

    min over w of  1/2 |w - w0|^2 + sum_i c_i/q max(0, 1 - m_i)^q,   m_i = y_i w.x_i,  q = 1 or 2
    w = w0 + sum_i a_i y_i x_i,  0 <= a_i <= U_i    (q = 1: U = c, D = 0;  q = 2: U = inf, D = 1/c)
    step of row i:  g = m_i - 1 + D_i a_i,   a_i = clip(a_i - g / (|x_i|^2 + D_i), 0, U_i)
                                                                       (Hsieh et al. 2008)
A third loss, the hinge with a rounded corner (hinge.pyx), has U = c and D = 1/c.

The objective lies above that of the dual by the sum over the rows of what is never negative,

    q = 1:  (U_i - a_i) (1 - m_i) if m_i < 1, else a_i (m_i - 1)
    q = 2:  a_i max(0, m_i - 1) + (max(0, 1 - m_i) - D_i a_i)^2 / (2 D_i)
    rounded:  the same, but (U_i - a_i) (1 - m_i - D_i (U_i + a_i) / 2) if 1 - m_i > D_i U_i

so each visit of a row also says how much of this duality gap is due to the row. The last answers of
all rows are the estimate that decides when the gap itself is computed.

After a visit a row may rest for some passes. The measure is the mean size of the projected
gradients of the last pass. A row at a bound whose gradient points outwards with more than FAR times
the mean rests LONG, which is the shrinking of Hsieh et al., though not for good. A row whose
projected gradient is no larger than the mean rests one pass longer than when this was last so, up
to SHORT.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from cwtool_ext.csr cimport Csr, Row, effect, fetch, one_a_row, prefetch, row_at
from cwtool_ext.shuffle cimport splitmix, start


cdef enum:
    GROUP = 4  # neighbouring rows that are visited one after the other: they share cache lines
    AHEAD = 2  # groups between the one that is fetched from memory and the one that is visited
    FAR = 2
    SHORT = 3
    LONG = 32

cdef double EARLY = 1.25  # the gap is computed once its estimate is below this multiple of the goal
cdef double AGAIN = 0.7  # share of that multiple after a gap that was too large


cdef struct Part:
    double y  # sign of the row
    double bend  # |x|^2 + D
    double a
    double gap  # what the row added to the duality gap when it was last looked at


cdef class DualDescent:
    """The dual variables of the rows, all 0 at first, and the weights that they move."""

    cdef Csr rows
    cdef double[:, ::1] _parts
    cdef Part* part
    cdef const double[:] D
    cdef const double[:] U
    cdef double[::1] weights
    cdef double* w
    cdef unsigned char[::1] rest  # passes that each row still rests
    cdef unsigned char[::1] rested  # how many it rested when its gradient was last too small
    cdef int32_t[::1] awake
    cdef int32_t[::1] groups
    cdef uint64_t random
    cdef double value  # of all entries, if these have the same; else 0
    cdef double mean, far  # of the last pass: mean size of the gradients, and FAR times that
    cdef double multiple
    cdef readonly double visits
    cdef readonly double dual  # objective of the dual
    cdef readonly double gap  # the estimate

    def __init__(
        self, Csr rows not None, const double[::1] y, const double[::1] squares,
        const double[:] D, const double[:] U, double[::1] weights, const uint64_t[::1] seeds,
    ):
        cdef Py_ssize_t i, n = rows.count, n_entries = rows.start[n]
        rows.fit(weights.shape[0])
        for name, length in (
            ("y", y.shape[0]), ("squares", squares.shape[0]), ("D", D.shape[0]), ("U", U.shape[0]),
        ):
            one_a_row(name, length, rows)
        self.rows, self.D, self.U, self.weights = rows, D, U, weights
        self.w = &weights[0] if weights.shape[0] else NULL
        self._parts = np.zeros((n + 1, 4))
        self.part = <Part*> &self._parts[0, 0]
        for i in range(n):
            self.part[i].y, self.part[i].bend = y[i], squares[i] + D[i]
        self.rest, self.rested = np.zeros((2, n + 8), dtype=np.uint8)
        self.awake = np.empty(n + 1, dtype=np.int32)
        self.groups = np.empty(n // GROUP + 1, dtype=np.int32)
        self.random, self.value = start(seeds), rows.value[0] if n_entries and rows.alike() else 0
        self.mean, self.far, self.multiple = 0, INFINITY, EARLY

    def run(self, double share, double visits) -> bool:
        """Passes until the duality gap is at most this share of the dual, or until rows have been
        visited this often in all. Whether the gap is small enough."""
        cdef bint small = False
        with nogil:
            while not small and self.visits < visits:
                self.visit_all(self.wake())
                if self.gap <= self.multiple * share * self.dual:
                    self.look()
                    small = self.gap <= share * self.dual
                    self.multiple *= AGAIN
        return small

    cdef Py_ssize_t wake(self) noexcept nogil:
        """List the rows that do not rest, and put their groups into a random order."""
        cdef Py_ssize_t i, j, eight, last, count = 0
        cdef int32_t kept
        cdef uint64_t bytes
        for eight in range(0, self.rows.count, 8):
            memcpy(&bytes, &self.rest[eight], 8)
            if (bytes + 0x7F7F7F7F7F7F7F7Fu) & 0x8080808080808080u == 0x8080808080808080u:
                bytes -= 0x0101010101010101u  # all of them rest
                memcpy(&self.rest[eight], &bytes, 8)
                continue
            for i in range(eight, min(eight + 8, self.rows.count)):
                self.awake[count] = <int32_t> i
                count += self.rest[i] == 0
                self.rest[i] -= self.rest[i] != 0
        last = (count + GROUP - 1) // GROUP
        for i in range(last):
            self.groups[i] = <int32_t> i
        for i in range(last - 1, 0, -1):
            j = <Py_ssize_t> (((splitmix(&self.random) >> 32) * <uint64_t> (i + 1)) >> 32)
            kept = self.groups[i]
            self.groups[i] = self.groups[j]
            self.groups[j] = kept
        return count

    cdef void visit_all(self, Py_ssize_t count) noexcept nogil:
        """One pass over the rows that were listed."""
        cdef Py_ssize_t g, k, last = (count + GROUP - 1) // GROUP
        cdef double total = 0
        for g in range(last):
            if g + 2 * AHEAD < last:
                prefetch(self.rows.start + self.awake[GROUP * self.groups[g + 2 * AHEAD]])
                k = GROUP * self.groups[g + AHEAD]
                for k in range(k, min(k + GROUP, count)):
                    prefetch(self.part + self.awake[k])
                    self.ask(row_at(self.rows, self.awake[k]))
            k = GROUP * self.groups[g]
            for k in range(k, min(k + GROUP, count)):
                total += self.visit(self.awake[k])
        self.visits += count
        self.mean = total / (count + 1)
        self.far = FAR * self.mean

    cdef inline double visit(self, Py_ssize_t i) noexcept nogil:
        """The step of row i. Returns the size of its projected gradient."""
        cdef Part* p = self.part + i
        cdef Row row = row_at(self.rows, i)
        cdef double m = p.y * self.product(row), D = self.D[i], U = self.U[i]
        cdef double a = p.a, g = m - 1 + D * a, before = p.gap, change
        p.gap = gap_of(m, a, D, U)
        self.gap += p.gap - before
        if (a == 0 and g >= 0) or (a == U and g <= 0):
            self.doze(i, LONG if fabs(g) > self.far else SHORT)
            return 0
        if fabs(g) <= self.mean:
            self.doze(i, SHORT)
        else:
            self.rested[i] = 0
        p.a = U if p.bend == 0 else min(U, max(0, a - g / p.bend))
        change = p.a - a
        self.dual -= change * (g + p.bend * change / 2)
        self.move(row, change * p.y)
        return fabs(g)

    cdef inline void doze(self, Py_ssize_t i, unsigned char most) noexcept nogil:
        """Row i rests: LONG, or a pass longer than last time."""
        if most < LONG:
            self.rested[i] = most = min(self.rested[i] + 1, most)
        self.rest[i] = most

    cdef inline void ask(self, Row row) noexcept nogil:
        """Fetch a row that is visited soon."""
        cdef Py_ssize_t k
        if self.value == 0:
            fetch(row)
            return
        for k in range(0, min(row.nnz, 128), 16):
            prefetch(row.index + k)
        effect()

    cdef inline double product(self, Row row) noexcept nogil:
        """w.x, in four sums: one would wait for each of its additions."""
        cdef const double* w = self.w
        cdef Py_ssize_t k, whole = row.nnz - row.nnz % 4
        cdef double m0 = 0, m1 = 0, m2 = 0, m3 = 0
        if self.value != 0:
            for k in range(0, whole, 4):
                m0 += w[row.index[k]]
                m1 += w[row.index[k + 1]]
                m2 += w[row.index[k + 2]]
                m3 += w[row.index[k + 3]]
            for k in range(whole, row.nnz):
                m0 += w[row.index[k]]
            return self.value * row.scale * ((m0 + m1) + (m2 + m3))
        for k in range(0, whole, 4):
            m0 += w[row.index[k]] * row.value[k]
            m1 += w[row.index[k + 1]] * row.value[k + 1]
            m2 += w[row.index[k + 2]] * row.value[k + 2]
            m3 += w[row.index[k + 3]] * row.value[k + 3]
        for k in range(whole, row.nnz):
            m0 += w[row.index[k]] * row.value[k]
        return row.scale * ((m0 + m1) + (m2 + m3))

    cdef inline void move(self, Row row, double change) noexcept nogil:
        """w += change x"""
        cdef double* w = self.w
        cdef Py_ssize_t k
        change *= row.scale
        if self.value != 0:
            change *= self.value
            for k in range(row.nnz):
                w[row.index[k]] += change
        else:
            for k in range(row.nnz):
                w[row.index[k]] += change * row.value[k]

    cdef void look(self) noexcept nogil:
        """Compute the gap. Rows whose gradient is larger than the mean wake up."""
        cdef Part* p
        cdef Py_ssize_t i
        cdef double m, g
        self.gap = 0
        for i in range(self.rows.count):
            p = self.part + i
            m = p.y * self.product(row_at(self.rows, i))
            p.gap = gap_of(m, p.a, self.D[i], self.U[i])
            self.gap += p.gap
            g = m - 1 + self.D[i] * p.a
            if (g < -self.mean and p.a < self.U[i]) or (g > self.mean and p.a > 0):
                self.rest[i] = 0


cdef inline double gap_of(double m, double a, double D, double U) noexcept nogil:
    """What a row of this margin adds to the duality gap."""
    if D == 0:
        return (U - a) * (1 - m) if m < 1 else a * (m - 1)
    if 1 - m > D * U:
        return (U - a) * (1 - m - D * (U + a) / 2)
    cdef double off = max(0, 1 - m) - D * a
    return a * max(0, m - 1) + off * off / (2 * D)
