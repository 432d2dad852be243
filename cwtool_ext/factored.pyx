"""The learner of second-order rules with the factored covariance of factor.pxd."""

import numpy as np

from libc.math cimport fmax, fmin
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from cwtool_ext.compress cimport compress, settle_rows
from cwtool_ext.csr cimport Row
from cwtool_ext.factor cimport LOADING, Seen, append, move, see
from cwtool_ext.factor_loops cimport SPAN, Factor, Node
from cwtool_ext.leading cimport ROOM, leading
from cwtool_ext.rules cimport Rule, fires
from cwtool_ext.visit cimport Learner


cdef Factor view(
    double[:, ::1] rows, int32_t[:, ::1] links, double[::1] entries, double[:, ::1] U,
    double[::1] e, const int64_t[::1] counts,
) except *:
    cdef Factor f
    f.width, f.room, f.length = rows.shape[1], rows.shape[0] - 1, entries.shape[0] - 1
    f.m, f.K = f.width - LOADING, U.shape[0]
    if not 0 < f.m < f.K or U.shape[1] != f.K or e.shape[0] != f.K:
        raise ValueError(f"rank {f.m}, U of {U.shape[0]} x {U.shape[1]} and e of {e.shape[0]}")
    if links.shape[0] != entries.shape[0] or links.shape[1] != 2:
        raise ValueError(f"{links.shape[0]} links do not match {entries.shape[0]} entries")
    if counts.shape[0] != 4:
        raise ValueError("counts are of columns, dense columns, rows, entries")
    f.k, f.dense, f.n_rows, f.n_entries = counts[0], counts[1], counts[2], counts[3]
    if not (f.dense in (0, f.m) and f.dense <= f.k <= f.K
            and 0 <= f.n_rows <= f.room and 0 <= f.n_entries <= f.length):
        raise ValueError(f"counts {list(counts)} do not fit the arrays")
    f.rows, f.links, f.entries = &rows[0, 0], &links[0, 0], &entries[0]
    f.U, f.e = &U[0, 0], &e[0]
    return f


cdef class Factored(Learner):
    """The table has the column of row numbers; `rows`, `links`, `entries`, `U`, `e` and `counts`
    are the parts of the factor."""

    cdef double[:, ::1] table, rows, U
    cdef int32_t[:, ::1] links
    cdef double[::1] entries, e
    cdef int64_t[::1] counts, numbers
    cdef Rule rule
    cdef int method
    cdef Py_ssize_t iterations
    cdef double floor
    cdef Factor f
    cdef Seen seen
    cdef readonly bint full  # no room was left for a row, which was not learned
    cdef double[::1] g, z, weight
    cdef int64_t[::1] found
    cdef double[::1] work
    cdef double[:, ::1] fitted
    cdef int32_t[::1] heads
    cdef int32_t[:, ::1] lines
    cdef uint8_t[::1] nodes
    cdef uint64_t[::1] bare

    def __init__(
        self, double[:, ::1] table, double[:, ::1] rows, int32_t[:, ::1] links,
        double[::1] entries, double[:, ::1] U, double[::1] e, int64_t[::1] counts,
        Rule rule not None, int method, Py_ssize_t iterations, double floor,
    ):
        if table.shape[1] != 1:
            raise ValueError(f"a factored table has 1 column (row number), not {table.shape[1]}")
        if not 0.0 < floor < 1.0:
            raise ValueError(f"floor must lie between 0 and 1, not {floor}")
        self.table, self.features, self.rule = table, table.shape[0], rule
        self.rows, self.links, self.entries, self.U, self.e = rows, links, entries, U, e
        self.counts, self.method, self.iterations, self.floor = counts, method, iterations, floor
        self.f = view(rows, links, entries, U, e, counts)
        self.work = np.empty(self.f.K * (6 * self.f.K + ROOM))
        self.make_nodes()
        self.fitted = np.empty((self.f.room + 1 if iterations else 1, self.f.m + 1))

    cdef int make_nodes(self) except -1:
        cdef Factor* f = &self.f
        f.line = (f.K + SPAN - 1) // SPAN + 2  # spans are looked at by two
        self.heads = np.zeros(f.room + 1, dtype=np.int32)
        self.lines = np.empty((min(f.room, f.length) + 1, f.line), dtype=np.int32)
        self.nodes = np.empty((f.length + 1) * sizeof(Node), dtype=np.uint8)
        self.bare = np.zeros(f.room // 64 + 1, dtype=np.uint64)
        f.heads, f.lines, f.nodes = &self.heads[0], &self.lines[0, 0], <Node*> &self.nodes[0]
        f.bare, f.n_lines, f.n_nodes = &self.bare[0], 0, 0
        self.lines[0, :], self.nodes[:sizeof(Node)], self.bare[0] = 0, 0, 1  # number 0 is none
        f.marked, f.behind = f.n_rows == 0, f.n_entries > 0
        return 0

    cdef int prepare(self, Py_ssize_t longest) except -1:
        self.g, self.weight = np.empty((2, longest + 1))
        self.z = np.empty(self.f.K + 2 * SPAN)
        self.numbers, self.found = np.empty((2, longest + 1), dtype=np.int64)
        self.seen.g, self.seen.z, self.seen.number = &self.g[0], &self.z[0], &self.numbers[0]
        self.seen.weight, self.seen.found = &self.weight[0], &self.found[0]
        return 0

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        see(row, after, self.table, &self.f, self.floor, &self.seen)
        score[0], variance[0] = self.seen.score, self.seen.v

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        cdef Factor* f = &self.f
        cdef Seen* seen = &self.seen
        cdef double alpha, kappa
        if self.full or not fires(
                self.rule.form, self.rule.theta, y * seen.score, seen.v, h, &alpha, &kappa):
            return False
        if f.n_rows + row.nnz > f.room or f.n_entries + row.nnz > f.length:
            self.full = True
            return False
        move(row, self.table, f, alpha * y, seen)
        kappa = fmax(0.0, fmin(kappa, 1.0 / (self.floor * seen.xx) - 1.0 / seen.v))
        if kappa == 0.0:
            return True
        if f.k == f.K:
            compress(f, self.method, self.iterations, &self.fitted[0, 0], &self.work[0])
            see(row, row, self.table, f, self.floor, seen)
        append(row, f, kappa, seen)
        return True

    def compress(self) -> None:
        """Fit all columns into D and R by the leading eigenvectors; the mean is explicit then. What
        was fitted and has not changed since stays as it is."""
        cdef Py_ssize_t c
        cdef bint shifted = False
        for c in range(self.f.k):
            shifted = shifted or self.f.e[c] != 0.0
        if shifted or self.f.k > self.f.dense:
            compress(&self.f, 0, 0, &self.fitted[0, 0], &self.work[0])

    def settle(self) -> None:
        """Take D and R from the rows, as many as `counts` has, without other columns."""
        settle_rows(&self.f, &self.work[0])

    def keep(self) -> None:
        """Write the counts back; an error if a row found no room."""
        cdef Factor f = self.f
        self.counts[0], self.counts[1] = f.k, f.dense
        self.counts[2], self.counts[3] = f.n_rows, f.n_entries
        if self.full:
            raise ValueError("no room is left for rows or entries")


def leading_directions(const double[:, ::1] gram, Py_ssize_t m, double[:, ::1] out) -> None:
    """out: the m leading eigenvectors of W'D^-1 W, the symmetric `gram`, as columns."""
    cdef Py_ssize_t k = gram.shape[0]
    if gram.shape[1] != k or out.shape[0] != k or out.shape[1] != m or k == 0:
        raise ValueError(f"{gram.shape[0]} x {gram.shape[1]} numbers do not give {m} directions")
    cdef double[:, ::1] A = np.array(gram) / (np.abs(gram).max() or 1.0)
    cdef double[::1] room = np.empty(ROOM * k)
    leading(&A[0, 0], k, m, &out[0, 0], &room[0])
