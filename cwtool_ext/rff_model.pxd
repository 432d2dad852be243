"""Random Fourier features whose variables are chosen by Markov chains: the model (Ma 2017, 4.2).

    P(y = 1 | x) = sigmoid(f),   f = beta_0 + sum_q beta_q phi_q(x)
    phi_q(x) = sqrt(2) cos(sum_t omega_qt x[z_qt] + b_q),   phi_0 = 1
Prior: D ~ Unif{0 .. d_max}. The variables of a feature are a chain z_1 -> .. -> z_T -> null with
T <= t_max, drawn from an urn. With counts N over the chains of all other features, and over this
chain so far,
    P(z_1 = j) = (gamma/p + N_0j) / (gamma + D - 1)
    P(j -> k) = (conc a_k + N_jk) / (conc + N_j),   a_null = alpha0, else (1 - alpha0)/p
and there is no factor P(j -> k) after z_t_max. omega ~ N(0, s^2), log s ~ N(0, 1/4),
b ~ U[0, 2 pi), beta ~ N(0, 1), beta_0 ~ N(0, 100).
"""

from libc.math cimport exp, fmax, fmin, log
from libc.stdint cimport int32_t

from cwtool_ext.four cimport likelihood, slopes, waves

cdef enum:
    NONE = -1  # the null that ends a chain of variables


cdef struct Machine:
    Py_ssize_t n, p, stride, d_max, t_max, d
    Py_ssize_t width  # entries of each row of phi, f and y: n filled up with 0 to a multiple of 4
    Py_ssize_t new  # the place of a proposed feature
    const double* x  # by column
    double* y
    int32_t* length  # T of each feature
    int32_t* z
    int32_t* to  # room for the targets of transitions
    const int32_t* telling  # chains that births try, each filled up with NONE to n_tried numbers
    Py_ssize_t n_telling, n_tried
    double* omega
    double* phase  # b
    double* beta
    double* phi
    double* f
    double* f_new
    double gamma, conc, alpha0, log_s, loglik, loglik_new, heat


cdef inline void evaluate(Machine* m, Py_ssize_t q) noexcept nogil:
    """Compute phi_q of all rows."""
    cdef double* phi = m.phi + q * m.width
    cdef const double* x
    cdef double omega
    cdef Py_ssize_t i, t
    for i in range(m.width):
        phi[i] = m.phase[q]
    for t in range(m.length[q]):
        x = m.x + m.z[q * m.t_max + t] * m.stride
        omega = m.omega[q * m.t_max + t]
        for i in range(m.n):
            phi[i] += omega * x[i]
    waves(phi, m.n)
    for i in range(m.n, m.width):
        phi[i] = 0.0


cdef inline void copy(Machine* m, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
    """Copy a feature to another place."""
    cdef Py_ssize_t i
    m.length[target] = m.length[source]
    m.phase[target] = m.phase[source]
    m.beta[target] = m.beta[source]
    for i in range(m.t_max):
        m.z[target * m.t_max + i] = m.z[source * m.t_max + i]
        m.omega[target * m.t_max + i] = m.omega[source * m.t_max + i]
    for i in range(m.width):
        m.phi[target * m.width + i] = m.phi[source * m.width + i]


cdef inline void mode(
    const double* phi, const double* f, const double* y, Py_ssize_t n, double heat,
    double variance, double* mean, double* spread,
) noexcept nogil:
    """The posterior mode of the weight of phi beside f under heat * log-likelihood and the prior
    N(0, variance): three Newton steps from 0, each at most 2 long. spread = 1/h of the last."""
    cdef double b = 0.0, g = 0.0, h = 1.0
    cdef Py_ssize_t _step
    for _step in range(3):
        slopes(phi, f, y, n, b, &g, &h)
        g = heat * g - b / variance
        h = heat * h + 1.0 / variance
        b += fmax(-2.0, fmin(2.0, g / h))
    mean[0] = b
    spread[0] = 1.0 / h


cdef inline double normal(double a, double mean, double variance) noexcept nogil:
    """log N(a; mean, variance) without the constant log(2 pi)/2."""
    return -0.5 * ((a - mean) * (a - mean) / variance + log(variance))


cdef inline void add(Machine* m, Py_ssize_t q, double step) noexcept nogil:
    """f_new and its likelihood when the weight of feature q changes by `step`."""
    cdef const double* phi = m.phi + q * m.width
    cdef Py_ssize_t i
    for i in range(m.n):
        m.f_new[i] = m.f[i] + step * phi[i]
    m.loglik_new = likelihood(m.f_new, m.y, m.n)


cdef inline void accept(Machine* m) noexcept nogil:
    """f_new becomes f."""
    m.f, m.f_new = m.f_new, m.f
    m.loglik = m.loglik_new


cdef inline int32_t after(Machine* m, Py_ssize_t q, Py_ssize_t t) noexcept nogil:
    """The variable that follows z_qt, or NONE."""
    return m.z[q * m.t_max + t + 1] if t + 1 < m.length[q] else NONE


cdef inline Py_ssize_t leaving(
    Machine* m, Py_ssize_t skip, Py_ssize_t q, Py_ssize_t so_far, int32_t j
) noexcept nogil:
    """Write to m.to the targets of all transitions from variable j, in all features but `skip` and
    in the first `so_far` transitions of feature q; returns their number."""
    cdef Py_ssize_t k, t, count = 0
    for k in range(1, m.d + 1):
        if k == skip:
            continue
        for t in range(min(<Py_ssize_t> m.length[k], m.t_max - 1)):
            if m.z[k * m.t_max + t] == j:
                m.to[count] = after(m, k, t)
                count += 1
    for t in range(so_far):
        if m.z[q * m.t_max + t] == j:
            m.to[count] = m.z[q * m.t_max + t + 1]
            count += 1
    return count


cdef inline double chain(Machine* m, Py_ssize_t skip, Py_ssize_t q) noexcept nogil:
    """log P of the chain of feature q given all features but `skip`; 0 skips none."""
    cdef const int32_t* z = m.z + q * m.t_max
    cdef Py_ssize_t k, t, count, same = 0
    cdef int32_t to
    cdef double logp
    for k in range(1, m.d + 1):
        same += k != skip and m.z[k * m.t_max] == z[0]
    logp = log((m.gamma / m.p + same) / (m.gamma + (m.d - (skip > 0))))
    for t in range(min(<Py_ssize_t> m.length[q], m.t_max - 1)):
        to = after(m, q, t)
        count = leaving(m, skip, q, t, z[t])
        same = 0
        for k in range(count):
            same += m.to[k] == to
        logp += log(
            (m.conc * (m.alpha0 if to == NONE else (1.0 - m.alpha0) / m.p) + same)
            / (m.conc + count)
        )
    return logp


cdef inline int32_t below(double u, Py_ssize_t n) noexcept nogil:
    """One of 0 .. n - 1 from a number in [0, 1)."""
    return <int32_t> min(<Py_ssize_t> (u * n), n - 1)


cdef inline void draw_chain(Machine* m, const double* u) noexcept nogil:
    """Draw the chain of the new feature, with one uniform number for each atom: from the urn or, if
    the screening has found chains of columns, in half of the cases one of these."""
    cdef int32_t* z = m.z + m.new * m.t_max
    cdef Py_ssize_t t, count
    cdef double r = u[0]
    if m.n_telling:
        if r < 0.5:
            count = below(2 * r, m.n_telling)
            m.length[m.new] = 0
            for t in range(m.n_tried):
                z[t] = m.telling[count * m.n_tried + t]
                m.length[m.new] += z[t] != NONE
            return
        r = 2 * r - 1
    r *= m.gamma + m.d
    if r < m.gamma:
        z[0] = below(r / m.gamma, m.p)
    else:
        z[0] = m.z[(1 + below((r - m.gamma) / m.d, m.d)) * m.t_max]
    for t in range(1, m.t_max):
        count = leaving(m, 0, m.new, t - 1, z[t - 1])
        r = u[t] * (m.conc + count)
        if r >= m.conc:
            z[t] = m.to[below((r - m.conc) / count, count)]
        elif r < m.conc * m.alpha0:
            z[t] = NONE
        else:
            z[t] = below((r / m.conc - m.alpha0) / (1.0 - m.alpha0), m.p)
        if z[t] == NONE:
            m.length[m.new] = <int32_t> t
            return
    m.length[m.new] = <int32_t> m.t_max


cdef inline double surplus(Machine* m, Py_ssize_t skip, Py_ssize_t q) noexcept nogil:
    """log of the probability of the chain of feature q, given all features but `skip`, minus that
    with which draw_chain draws it."""
    cdef const int32_t* z = m.z + q * m.t_max
    cdef Py_ssize_t k, t, equal, same = 0
    cdef double logp
    if m.n_telling == 0:
        return 0.0
    logp = chain(m, skip, q)
    if m.length[q] <= m.n_tried:
        for k in range(m.n_telling):
            equal = 0
            for t in range(m.n_tried):
                equal += m.telling[k * m.n_tried + t] == (z[t] if t < m.length[q] else NONE)
            same += equal == m.n_tried
    return logp - log(0.5 * exp(logp) + 0.5 * same / m.n_telling)
