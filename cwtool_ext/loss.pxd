"""Losses of a margin: their slope in the score f, and what keeps a step finite."""

from libc.math cimport exp, fabs, sqrt

cdef enum:
    HINGE = 0
    LOGISTIC = 1


cdef inline double slope(int loss, double y, double f) noexcept nogil:
    """d/df of max(0, 1 - y f), or of log(1 + exp(-y f)).

    The kink is at 1 - 1e-9: on binary data y f = 1 happens, and rounding must not decide it.
    """
    if loss == HINGE:
        return -y if y * f < 1.0 - 1e-9 else 0.0
    return -y / (1.0 + exp(y * f))


cdef inline bint finite_step(double step, double xx) noexcept nogil:
    """May w move by step * x, ||x||^2 = xx? A longer step, or none, is left out: no overflow."""
    return step != 0.0 and xx <= 1e200 and fabs(step) * sqrt(xx) <= 1e100
