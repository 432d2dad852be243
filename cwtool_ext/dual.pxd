"""The step of dual coordinate ascent, which sparse and dense kernels share."""

from libc.math cimport fmax, fmin


cdef inline double step(double margin, double a, double v, double D, double U) noexcept nogil:
    """The new a_i = clip(a_i + (1 - margin - D a_i) / (v_i + D), 0, U). A row without entries and
    without ridge does not bend the dual, so that its best value is the bound U."""
    if v + D == 0:
        return U
    return fmin(U, fmax(0, a + (1 - margin - D * a) / (v + D)))
