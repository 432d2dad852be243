"""Closed forms of the online rules: margin m = y mu.x, variance v = x'Sigma x, row weight h ->
(alpha, kappa).

Then mu += alpha y Sigma x and Sigma^-1 += kappa x x'. The first-order rules read v as ||x||^2 and
have kappa = 0. A rule is one form and one factory. With h = 1 every form is the one of its paper,
to the last bit.
"""

from libc.math cimport INFINITY, floor, fmax, fmin, sqrt

from cwtool_ext.normal cimport quantile


cdef void _perceptron(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil:
    # Rosenblatt 1958: w += y x iff m <= 0; weight h: at most h times, until m > 0
    if m <= 0.0:
        alpha[0] = 1.0 if h == 1.0 else fmin(h, floor(-m / v) + 1.0)


# Crammer et al., JMLR 2006: min ||w - w_t||^2/2 (+ C xi | + C xi^2)  s.t.  m_new >= 1 (- xi)
cdef void _pa(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil:
    if m < 1.0:
        alpha[0] = (1.0 - m) / v


cdef void _pa1(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil:
    if m < 1.0:
        alpha[0] = fmin(theta[0] * h, (1.0 - m) / v)


cdef void _pa2(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil:
    if m < 1.0:
        alpha[0] = (1.0 - m) / (v + 0.5 / (theta[0] * h))


cdef inline double _phi(const double* theta, double h) noexcept nogil:
    # h Pr(error) <= 1 - eta; a row of weight below 1 asks for less
    if h == 1.0:
        return theta[0]
    if h < 1.0:
        return theta[0] * sqrt(h)
    return -quantile((1.0 - theta[2]) / h)


cdef inline double _precision(double alpha, double v, double phi) noexcept nogil:
    # kappa = alpha phi / sqrt u,  sqrt u = 2v / (alpha v phi + sqrt((alpha v phi)^2 + 4v))
    cdef double a = alpha * v * phi
    return alpha * phi * (a + sqrt(a * a + 4.0 * v)) / (2.0 * v)


cdef inline double _cw_alpha(double m, double v, double phi) noexcept nogil:
    # Crammer, Dredze, Pereira, NIPS 2008: min KL  s.t.  m_new >= phi sqrt u.
    # psi = 1 + phi^2/2, zeta = 1 + phi^2, root = sqrt(m^2 phi^4/4 + v phi^2 zeta):
    # alpha = (-m psi + root)/(v zeta) = (phi^2 v - m^2)/(v (m psi + root)), without cancellation.
    cdef double psi = 1.0 + 0.5 * phi * phi, zeta = 1.0 + phi * phi, sv = phi * sqrt(v)
    cdef double half = 0.5 * m * phi * phi, root = sqrt(half * half + v * phi * phi * zeta)
    if not m < sv:
        return 0.0
    if m <= 0.0:
        return (root - m * psi) / (v * zeta)
    return (sv - m) / v * ((sv + m) / (m * psi + root))


cdef void _cw(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil:
    cdef double phi = _phi(theta, h)
    alpha[0] = _cw_alpha(m, v, phi)
    kappa[0] = _precision(alpha[0], v, phi)


cdef void _cw_var(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil:
    # Dredze, Crammer, Pereira, ICML 2008: min KL  s.t.  m_new >= phi u.  b = 1 + 2 phi m,
    # root^2 = b^2 - 8 phi (m - phi v) = (1 - 2 phi m)^2 + 8 phi^2 v, alpha = (root - b)/(4 phi v)
    cdef double phi = _phi(theta, h), b = 1.0 + 2.0 * phi * m, c = 1.0 - 2.0 * phi * m
    cdef double root = sqrt(c * c + 8.0 * phi * phi * v)
    if not m < phi * v:
        return
    if b <= 0.0:
        alpha[0] = (root - b) / (4.0 * phi * v)
    else:
        alpha[0] = 2.0 * (phi * v - m) / v / (b + root)
    kappa[0] = 2.0 * alpha[0] * phi


# Wang, Zhao, Hoi, ICML 2012, xi = max(0, phi sqrt u - m_new): SCW-I KL + C xi, SCW-II KL + C xi^2
cdef void _scw1(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil:
    cdef double phi = _phi(theta, h)
    alpha[0] = fmin(theta[1] * h, _cw_alpha(m, v, phi))
    kappa[0] = _precision(alpha[0], v, phi)


cdef void _scw2(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil:
    # n = v + 1/(2C):  n (n + v phi^2) a^2 + m (2n + v phi^2) a + m^2 - phi^2 v = 0   (KKT)
    cdef double phi = _phi(theta, h), w = v * phi * phi, sv = phi * sqrt(v)
    cdef double n = v + 0.5 / (theta[1] * h)
    cdef double root = phi * sqrt(m * m * v * w + 4.0 * n * v * (n + w))
    cdef double b = m * (2.0 * n + w)
    if not m < sv:
        return
    if m <= 0.0:
        alpha[0] = (root - b) / (2.0 * n * (n + w))
    else:
        alpha[0] = 2.0 * (sv - m) * ((sv + m) / (b + root))
    kappa[0] = _precision(alpha[0], v, phi)


cdef void _arow(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil:
    # Crammer, Kulesza, Dredze, NIPS 2009: min KL + (hinge^2 + x'Sigma x)/(2r)
    if m < 1.0:
        alpha[0] = (1.0 - m) / (v + theta[0] / h)
        kappa[0] = 1.0 / (theta[0] / h)


cdef void _narow(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil:
    # Orabona, Crammer, NIPS 2010, full Sigma: Sigma^-1 mu += h y x, 1/r = b - 1/v if bv > 1 else 0
    cdef double bv = theta[0] * v
    if m < fmax(1.0, bv):
        kappa[0] = fmax(0.0, theta[0] - 1.0 / v)
        alpha[0] = (h - kappa[0] * m) / fmax(1.0, bv)


cdef void _nherd(
    double m, double v, double h, const double* theta, double* alpha, double* kappa
) noexcept nogil:
    # Crammer, Lee, NIPS 2010: Sigma_new = A Sigma A', A = I - C Sigma x x'/(1 + C v)
    cdef double C = theta[0] * h
    if m < 1.0:
        alpha[0] = (1.0 - m) / (v + 1.0 / C)
        kappa[0] = C * C * v + 2.0 * C


cdef class Rule:
    """A closed form and its parameters."""

    def __init__(self):
        raise TypeError("a rule is made by its factory, such as arow(r)")


cdef Rule make(Form form, tuple theta=(), double limit=INFINITY):
    cdef Rule rule = Rule.__new__(Rule)
    rule.form, rule.limit = form, limit
    for k, value in enumerate(theta):
        if not value > 0.0:
            raise ValueError(f"the parameters of a rule must be positive, not {theta}")
        rule.theta[k] = value
    return rule


def perceptron() -> Rule: return make(_perceptron)
def pa() -> Rule: return make(_pa)
def pa1(double C) -> Rule: return make(_pa1, (C,))
def pa2(double C) -> Rule: return make(_pa2, (C,))
def cw(double phi, double eta) -> Rule: return make(_cw, (phi, 1.0, eta))
def cw_var(double phi, double eta) -> Rule: return make(_cw_var, (phi, 1.0, eta))
def scw1(double phi, double C, double eta) -> Rule: return make(_scw1, (phi, C, eta))
def scw2(double phi, double C, double eta) -> Rule: return make(_scw2, (phi, C, eta))
def arow(double r) -> Rule: return make(_arow, (r,), limit=1.0)
def narow(double b) -> Rule: return make(_narow, (b,))
def nherd(double C) -> Rule: return make(_nherd, (C,), limit=1.0)


def coefficients(Rule rule not None, double m, double v, double h=1.0) -> tuple[float, float]:
    """(alpha, kappa) of one row; both 0 when the rule does not fire."""
    cdef double alpha, kappa
    fires(rule.form, rule.theta, m, v, h, &alpha, &kappa)
    return alpha, kappa
