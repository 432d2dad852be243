from libc.float cimport DBL_MAX
from libc.math cimport fabs, sqrt

# (m, v, h, theta) -> (alpha, kappa); the caller has set both to 0, v > 0 and h > 0.
ctypedef void (*Form)(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil

cdef class Rule:
    cdef Form form
    cdef double[4] theta
    cdef double limit  # there is no step where m is at least this, whatever v is


cdef inline bint fires(
    Form form, const double* theta, double m, double v, double h, double* alpha, double* kappa
) noexcept nogil:
    """The step (alpha, kappa) of a rule for a row of weight h; false, with both 0, if there is
    none.

    |alpha (Sigma x)_j| <= |alpha| sqrt v because Sigma <= I. A row whose step could be longer than
    1e100, or not a number, is scored and then skipped: no state can overflow.
    """
    alpha[0] = 0.0
    kappa[0] = 0.0
    if not v > 0.0:
        return False
    form(m, v, h, theta, alpha, kappa)
    if not (v <= 1e200 and fabs(alpha[0]) * sqrt(v) <= 1e100 and kappa[0] <= DBL_MAX):
        alpha[0] = 0.0
        kappa[0] = 0.0
    return alpha[0] != 0.0 or kappa[0] != 0.0
