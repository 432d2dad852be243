"""Sigma^-1 += kappa x x' brought back to a diagonal, feature by feature: s = 1/(1 + p) >= floor.

KL drops the off-diagonal part of Sigma^-1, L2 that of Sigma (Crammer et al., NIPS 2008, sec. 3).
"""

cdef enum:
    KL = 0
    L2 = 1


cdef inline double ceiling_of(int projection, double floor) except -1.0:
    """The greatest p, 1/floor - 1."""
    if projection != KL and projection != L2:
        raise ValueError(f"the projection is 0 (KL) or 1 (L2), not {projection}")
    if not 0.0 < floor < 1.0:
        raise ValueError(f"floor must lie between 0 and 1, not {floor}")
    return 1.0 / floor - 1.0


cdef inline double kl(double p, double kappa, double x, double ceiling) noexcept nogil:
    # 1/s <- 1/s + kappa x^2
    return min(ceiling, p + kappa * x * x)


cdef inline double l2(double p, double beta, double g, double x, double ceiling) noexcept nogil:
    # s <- s - beta s^2 x^2 = s (1 - q), q = beta g x <= 1, g = s x;  that is p <- (p + q)/(1 - q)
    cdef double q = min(1.0, beta * g * x)
    return min(ceiling, (p + q) / (1.0 - q))
