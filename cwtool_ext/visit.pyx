"""The one loop of the row-by-row learners: visit a row, score it, learn it.

A learner is a small class with two methods, `look` and `learn`; it works on the tables it was
made with. Rows of weight 0 are scored and not learned.
"""

from libc.stdint cimport int32_t, int64_t

from cwtool_ext.csr cimport Csr, Row, check_order, one_a_row, row_at


cdef class Learner:
    """What a row-by-row learner knows; subclasses say how it looks at a row and learns it."""

    cdef int prepare(self, Py_ssize_t longest) except -1:
        return 0

    cdef void look(self, Row row, Row after, double* score, double* variance) noexcept nogil:
        score[0] = variance[0] = 0.0

    cdef bint learn(self, Row row, double y, double h) noexcept nogil:
        return False


def learn(
    Csr rows not None, const int32_t[::1] y, const double[::1] weight, const int64_t[::1] order,
    Learner learner not None, double[::1] score, double[::1] variance,
) -> int:
    """Visit the rows in this order; score each, then learn it: sign +1 where the class y is 1, or
    the class y of a learner of several, with its weight (None: all 1). Returns how many rows moved
    the learner."""
    cdef Py_ssize_t width = check(rows, learner, score, variance)
    check_order(order, rows)
    one_a_row("y", y.shape[0], rows)
    cdef bint weighted = weight is not None
    if weighted:
        one_a_row("weight", weight.shape[0], rows)
    cdef Py_ssize_t i, n, moved = 0, last = order.shape[0] - 1
    cdef double h = 1.0, target
    cdef Row row, after
    check_classes(y, weight, learner)
    with nogil:
        for n in range(order.shape[0]):
            i = order[n]
            row, after = row_at(rows, i), row_at(rows, order[min(n + 1, last)])
            learner.look(row, after, &score[width * i], &variance[i])
            if weighted:
                h = weight[i]
            if h > 0.0:
                target = y[i] if learner.classes else (1.0 if y[i] == 1 else -1.0)
                moved += learner.learn(row, target, h)
    return moved


def scores(
    Csr rows not None, Learner learner not None, double[::1] score, double[::1] variance
) -> None:
    """The score (or that of each class) and the variance of every row; nothing is learned."""
    cdef Py_ssize_t width = check(rows, learner, score, variance)
    cdef Py_ssize_t i, last = rows.count - 1
    with nogil:
        for i in range(rows.count):
            learner.look(
                row_at(rows, i), row_at(rows, min(i + 1, last)), &score[width * i], &variance[i]
            )


cdef Py_ssize_t check(
    Csr rows, Learner learner, const double[::1] score, const double[::1] variance
) except -1:
    """Check the lengths, prepare the learner, and return the number of scores a row."""
    cdef Py_ssize_t width = max(1, learner.classes)
    rows.fit(learner.features)
    if score.shape[0] != width * rows.count:
        raise ValueError(f"score has {score.shape[0]} entries for {rows.count} rows of {width}")
    one_a_row("variance", variance.shape[0], rows)
    learner.prepare(rows.longest)
    return width


cdef int check_classes(const int32_t[::1] y, const double[::1] weight, Learner learner) except -1:
    """Rows that are learned must have a class that a learner of several classes knows."""
    cdef Py_ssize_t i
    for i in range(y.shape[0] if learner.classes else 0):
        if not 0 <= y[i] < learner.classes and (weight is None or weight[i] > 0.0):
            raise ValueError(f"there is no class {y[i]}")
    return 0
