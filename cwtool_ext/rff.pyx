"""Random Fourier features whose variables are chosen by Markov chains: the sampler (Ma 2017, 4.2).

    P(y = 1 | x) = sigmoid(f),   f = beta_0 + sum_q beta_q phi_q(x)
    phi_q(x) = sqrt(2) cos(sum_t omega_qt x[z_qt] + b_q),   phi_0 = 1
Prior: D ~ Unif{0 .. d_max}; a chain z_1 -> .. -> z_T -> null, T <= t_max, from an urn: with counts
over all other chains, and over this one so far,
    P(z_1 = j) = (gamma/p + N_0j) / (gamma + D - 1)
    P(j -> k) = (conc a_k + N_jk) / (conc + N_j),   a_null = alpha0, else (1 - alpha0)/p
and none of these factors after z_t_max; omega ~ N(0, s^2), log s ~ N(0, 1/4), b ~ U[0, 2 pi),
beta ~ N(0, 1), beta_0 ~ N(0, 100). Random numbers come in, as many for each iteration.
"""

from libc.math cimport M_PI, M_SQRT2, cos, exp, fabs, floor, fmax, fmin, log, sin, sqrt
from libc.stdint cimport int32_t, int64_t

cdef enum:
    NONE = -1  # the null that ends a chain
    CHUNK = 1000  # factors of at most 2 in a product

cdef enum:  # columns of the uniform numbers
    MOVE = 0
    SIDE = 1
    WHICH = 2
    ACCEPT = 3
    INDEX = 4
    CHAIN = 5  # and t_max - 1 more

cdef double INTERCEPT = 100.0  # variance of beta_0
cdef double SPREAD = 0.25  # variance of log s
cdef int SPREAD_EVERY = 50


cdef struct Machine:
    Py_ssize_t n, p, stride, d_max, t_max, d
    Py_ssize_t new  # where a proposed feature is written
    const double* x  # by column
    const double* y
    int32_t* length
    int32_t* z
    int32_t* to  # targets of transitions
    double* omega
    double* phase
    double* beta
    double* phi
    double* f
    double* f_new
    double gamma, conc, alpha0, log_s, loglik, loglik_new, heat


cdef inline void evaluate(Machine* m, Py_ssize_t q) noexcept nogil:
    """phi_q of all rows."""
    cdef double* phi = m.phi + q * m.n
    cdef const double* x
    cdef double omega
    cdef Py_ssize_t i, t
    for i in range(m.n):
        phi[i] = m.phase[q]
    for t in range(m.length[q]):
        x = m.x + m.z[q * m.t_max + t] * m.stride
        omega = m.omega[q * m.t_max + t]
        for i in range(m.n):
            phi[i] += omega * x[i]
    for i in range(m.n):
        phi[i] = M_SQRT2 * cos(phi[i])


cdef inline void copy(Machine* m, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
    cdef Py_ssize_t i
    m.length[target] = m.length[source]
    m.phase[target] = m.phase[source]
    m.beta[target] = m.beta[source]
    for i in range(m.t_max):
        m.z[target * m.t_max + i] = m.z[source * m.t_max + i]
        m.omega[target * m.t_max + i] = m.omega[source * m.t_max + i]
    for i in range(m.n):
        m.phi[target * m.n + i] = m.phi[source * m.n + i]


cdef inline double likelihood(const double* f, const double* y, Py_ssize_t n) noexcept nogil:
    """-sum log(1 + exp(-y f)); of log(1 + e^a) = max(a, 0) + log(1 + e^-|a|) one log a chunk."""
    cdef double total = 0.0, product, a
    cdef Py_ssize_t i = 0, end
    while i < n:
        end = min(n, i + CHUNK)
        product = 1.0
        while i < end:
            a = -y[i] * f[i]
            total += fmax(a, 0.0)
            product *= 1.0 + exp(-fabs(a))
            i += 1
        total += log(product)
    return -total


cdef inline void mode(
    const double* phi, const double* f, const double* y, Py_ssize_t n, double heat,
    double variance, double* mean, double* spread,
) noexcept nogil:
    """Three Newton steps from 0, none longer than 2, for the weight of phi beside f under
    heat * log-likelihood and the prior N(0, variance); spread = 1/h at the last."""
    cdef double b = 0.0, g, h = 1.0, q
    cdef Py_ssize_t i, _step
    for _step in range(3):
        g = h = 0.0
        for i in range(n):
            q = 1.0 / (1.0 + exp(y[i] * (f[i] + b * phi[i])))
            g += y[i] * q * phi[i]
            h += q * (1.0 - q) * phi[i] * phi[i]
        g = heat * g - b / variance
        h = heat * h + 1.0 / variance
        b += fmax(-2.0, fmin(2.0, g / h))
    mean[0] = b
    spread[0] = 1.0 / h


cdef inline double normal(double a, double mean, double variance) noexcept nogil:
    """log N(a; mean, variance) without log(2 pi)/2."""
    return -0.5 * ((a - mean) * (a - mean) / variance + log(variance))


cdef inline void add(Machine* m, Py_ssize_t q, double step) noexcept nogil:
    """f_new and its likelihood when the weight of q changes."""
    cdef const double* phi = m.phi + q * m.n
    cdef Py_ssize_t i
    for i in range(m.n):
        m.f_new[i] = m.f[i] + step * phi[i]
    m.loglik_new = likelihood(m.f_new, m.y, m.n)


cdef inline void accept(Machine* m) noexcept nogil:
    """f_new becomes f."""
    m.f, m.f_new = m.f_new, m.f
    m.loglik = m.loglik_new


cdef inline int32_t after(Machine* m, Py_ssize_t q, Py_ssize_t t) noexcept nogil:
    """What follows z_qt."""
    return m.z[q * m.t_max + t + 1] if t + 1 < m.length[q] else NONE


cdef inline Py_ssize_t leaving(
    Machine* m, Py_ssize_t skip, Py_ssize_t q, Py_ssize_t so_far, int32_t j
) noexcept nogil:
    """m.to = where the transitions lead that leave j, in all features but `skip`, and in the first
    `so_far` transitions of q; returns how many."""
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
    """log P of the chain of q, given all features but `skip` (0: given all)."""
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
    """One of 0 .. n-1 from a number in [0, 1)."""
    return <int32_t> min(<Py_ssize_t> (u * n), n - 1)


cdef inline void draw_chain(Machine* m, const double* u) noexcept nogil:
    """The chain of the new feature from the urn, one number for each atom."""
    cdef int32_t* z = m.z + m.new * m.t_max
    cdef Py_ssize_t t, count
    cdef double r = u[0] * (m.gamma + m.d)
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


cdef inline void birth(Machine* m, const double* u, const double* normals) noexcept nogil:
    """A feature from the prior with a weight near its mode; the urn cancels."""
    cdef Py_ssize_t q = m.new, t
    cdef double mean, spread, ratio
    if m.d == m.d_max:
        return
    draw_chain(m, u + CHAIN)
    for t in range(m.length[q]):
        m.omega[q * m.t_max + t] = exp(m.log_s) * normals[t]
    m.phase[q] = 2.0 * M_PI * u[WHICH]
    evaluate(m, q)
    mode(m.phi + q * m.n, m.f, m.y, m.n, m.heat, 1.0, &mean, &spread)
    m.beta[q] = mean + sqrt(1.5 * spread) * normals[m.t_max]
    add(m, q, m.beta[q])
    ratio = m.heat * (m.loglik_new - m.loglik)
    ratio += normal(m.beta[q], 0.0, 1.0) - normal(m.beta[q], mean, 1.5 * spread)
    if log(u[ACCEPT]) < ratio:
        accept(m)
        m.d += 1
        copy(m, q, m.d)


cdef inline void death(Machine* m, const double* u) noexcept nogil:
    """The reverse of a birth."""
    cdef Py_ssize_t q
    cdef double mean, spread, ratio
    if m.d == 0:
        return
    q = 1 + below(u[WHICH], m.d)
    add(m, q, -m.beta[q])
    mode(m.phi + q * m.n, m.f_new, m.y, m.n, m.heat, 1.0, &mean, &spread)
    ratio = m.heat * (m.loglik_new - m.loglik)
    ratio += normal(m.beta[q], mean, 1.5 * spread) - normal(m.beta[q], 0.0, 1.0)
    if log(u[ACCEPT]) < ratio:
        accept(m)
        copy(m, m.d, q)
        m.d -= 1


cdef inline void settle(Machine* m, Py_ssize_t q, double ratio, double u) noexcept nogil:
    """The new feature takes the place of q, if the likelihood and the log ratio allow it."""
    cdef const double* old = m.phi + q * m.n
    cdef const double* new = m.phi + m.new * m.n
    cdef Py_ssize_t i
    evaluate(m, m.new)
    for i in range(m.n):
        m.f_new[i] = m.f[i] + m.beta[q] * (new[i] - old[i])
    m.loglik_new = likelihood(m.f_new, m.y, m.n)
    if log(u) < m.heat * (m.loglik_new - m.loglik) + ratio:
        accept(m)
        copy(m, m.new, q)


cdef inline void change_chain(Machine* m, const double* u, const double* normals) noexcept nogil:
    """Longer or shorter by the last atom: a uniform index, omega from its prior."""
    cdef Py_ssize_t q = 1 + below(u[WHICH], m.d), last
    cdef double ratio
    if m.length[q] == (m.t_max if u[SIDE] < 0.5 else 1):
        return
    copy(m, q, m.new)
    if u[SIDE] < 0.5:
        last = m.new * m.t_max + m.length[q]
        m.z[last] = below(u[INDEX], m.p)
        m.omega[last] = exp(m.log_s) * normals[0]
        m.length[m.new] += 1
        ratio = log(m.p)
    else:
        m.length[m.new] -= 1
        ratio = -log(m.p)
    settle(m, q, ratio + chain(m, q, m.new) - chain(m, q, q), u[ACCEPT])


cdef inline void replace_atom(Machine* m, const double* u, const double* normals) noexcept nogil:
    """Another variable for one atom, and in half of the cases another omega from its prior."""
    cdef Py_ssize_t q = 1 + below(u[WHICH], m.d), atom
    copy(m, q, m.new)
    atom = m.new * m.t_max + below(u[SIDE], m.length[q])
    m.z[atom] = below(u[INDEX], m.p)
    if u[CHAIN] < 0.5:
        m.omega[atom] = exp(m.log_s) * normals[0]
    settle(m, q, chain(m, q, m.new) - chain(m, q, q), u[ACCEPT])


cdef inline void walk(Machine* m, const double* u, const double* normals) noexcept nogil:
    """A random walk of omega and b."""
    cdef Py_ssize_t q = 1 + below(u[WHICH], m.d), t, at
    cdef double scale = 0.05 if u[SIDE] < 0.5 else 0.3, s = exp(m.log_s), ratio = 0.0
    copy(m, q, m.new)
    for t in range(m.length[q]):
        at = m.new * m.t_max + t
        ratio += 0.5 * (m.omega[at] / s) * (m.omega[at] / s)
        m.omega[at] += scale * s * normals[t]
        ratio -= 0.5 * (m.omega[at] / s) * (m.omega[at] / s)
    m.phase[m.new] += 2.0 * scale * normals[m.t_max]
    m.phase[m.new] -= 2.0 * M_PI * floor(m.phase[m.new] / (2.0 * M_PI))
    settle(m, q, ratio, u[ACCEPT])


cdef inline void weigh(Machine* m, const double* u, const double* normals) noexcept nogil:
    """A weight, or beta_0, from near its mode."""
    cdef Py_ssize_t q = below(u[WHICH], m.d + 1), i
    cdef double prior = INTERCEPT if q == 0 else 1.0, old = m.beta[q], new, mean, spread, ratio
    cdef double* phi = m.phi + q * m.n
    for i in range(m.n):
        m.f_new[i] = m.f[i] - old * phi[i]
    mode(phi, m.f_new, m.y, m.n, m.heat, prior, &mean, &spread)
    new = mean + sqrt(1.3 * spread) * normals[m.t_max]
    add(m, q, new - old)
    ratio = m.heat * (m.loglik_new - m.loglik)
    ratio += normal(new, 0.0, prior) - normal(old, 0.0, prior)
    ratio += normal(old, mean, 1.3 * spread) - normal(new, mean, 1.3 * spread)
    if log(u[ACCEPT]) < ratio:
        accept(m)
        m.beta[q] = new


cdef inline void change_scale(Machine* m, const double* u, const double* normals) noexcept nogil:
    """A random walk of log s."""
    cdef double new = m.log_s + 0.1 * normals[0], squares = 0.0, ratio
    cdef Py_ssize_t q, t, count = 0
    for q in range(1, m.d + 1):
        for t in range(m.length[q]):
            squares += m.omega[q * m.t_max + t] * m.omega[q * m.t_max + t]
            count += 1
    ratio = normal(new, 0.0, SPREAD) - normal(m.log_s, 0.0, SPREAD) - count * (new - m.log_s)
    ratio -= 0.5 * squares * (exp(-2.0 * new) - exp(-2.0 * m.log_s))
    if log(u[ACCEPT]) < ratio:
        m.log_s = new


cdef inline void iterate(Machine* m, const double* u, const double* normals) noexcept nogil:
    if u[MOVE] < 0.35:
        if u[SIDE] < 0.5:
            birth(m, u, normals)
        else:
            death(m, u)
    elif u[MOVE] >= 0.85:
        weigh(m, u, normals)
    elif m.d == 0:
        return
    elif u[MOVE] < 0.5:
        change_chain(m, u, normals)
    elif u[MOVE] < 0.6:
        replace_atom(m, u, normals)
    else:
        walk(m, u, normals)


def sample(
    const double[:, ::1] x, const double[::1] y, int32_t[::1] length, int32_t[:, ::1] z,
    double[:, ::1] omega, double[::1] phase, double[::1] beta, Py_ssize_t d, double log_s,
    double[:, ::1] phi, int32_t[::1] to, const double[:, ::1] uniforms,
    const double[:, ::1] normals, const double[::1] heat, int64_t first, double gamma,
    double conc, double alpha0,
):
    """One iteration for each row of random numbers: x by column, y in {-1, +1}; iteration `first`
    and on, of which every 50th changes s. Features are 1 .. d, 0 is the constant. The likelihood
    counts to the power heat. phi (a row for each feature and two more) and to are scratch.
    Returns d, log s and the log-likelihood."""
    cdef Machine m
    cdef Py_ssize_t i, k, n = y.shape[0], steps = uniforms.shape[0]
    m.n, m.p, m.stride, m.d = n, x.shape[0], x.shape[1], d
    m.new, m.d_max, m.t_max = z.shape[0] - 1, z.shape[0] - 2, z.shape[1]
    m.gamma, m.conc, m.alpha0, m.log_s = gamma, conc, alpha0, log_s
    if m.d_max < 0 or not 0 <= d <= m.d_max or m.t_max < 1 or m.p < 1 or m.stride < max(1, n):
        raise ValueError("sample needs room for the constant and a new feature, and columns")
    if min(length.shape[0], omega.shape[0], phase.shape[0], beta.shape[0]) < m.new + 1:
        raise ValueError("the features do not fit")
    if omega.shape[1] != m.t_max or phi.shape[0] < m.new + 3 or phi.shape[1] != max(1, n):
        raise ValueError("the shapes do not fit")
    if to.shape[0] < (m.new + 1) * m.t_max:
        raise ValueError("sample needs room for every transition")
    if uniforms.shape[1] < CHAIN + m.t_max or normals.shape[1] < m.t_max + 1:
        raise ValueError("sample needs 5 + t_max uniform and 1 + t_max normal numbers a step")
    if min(normals.shape[0], heat.shape[0]) < steps:
        raise ValueError("sample needs as many numbers of each kind")
    for k in range(1, d + 1):
        if not 1 <= length[k] <= m.t_max:
            raise ValueError("a chain has no length")
        for i in range(length[k]):
            if not 0 <= z[k, i] < m.p:
                raise ValueError("a chain leads to a column that is not there")
    m.x, m.length, m.z, m.omega = &x[0, 0], &length[0], &z[0, 0], &omega[0, 0]
    m.phase, m.beta, m.phi, m.to = &phase[0], &beta[0], &phi[0, 0], &to[0]
    m.y = &y[0] if n else NULL
    with nogil:
        m.f = m.phi + (m.new + 1) * n
        m.f_new = m.f + n
        for i in range(n):
            m.phi[i] = 1.0
            m.f[i] = beta[0]
        for k in range(1, d + 1):
            evaluate(&m, k)
            for i in range(n):
                m.f[i] += beta[k] * m.phi[k * n + i]
        m.loglik = likelihood(m.f, m.y, n)
        for i in range(steps):
            m.heat = heat[i]
            if (first + i) % SPREAD_EVERY == SPREAD_EVERY - 1:
                change_scale(&m, &uniforms[i, 0], &normals[i, 0])
            else:
                iterate(&m, &uniforms[i, 0], &normals[i, 0])
    return m.d, m.log_s, m.loglik


cdef inline double angle(
    const double[:, ::1] x, Py_ssize_t i, const int32_t[::1] chains, const int32_t[::1] z,
    const double[::1] omega, const double[::1] phase, Py_ssize_t q,
) noexcept nogil:
    cdef double total = phase[q]
    cdef Py_ssize_t t
    for t in range(chains[q], chains[q + 1]):
        total += omega[t] * x[i, z[t]]
    return total


cdef int check(
    const double[:, ::1] x, const int32_t[::1] chains, const int32_t[::1] z,
    const double[::1] omega, const double[::1] phase,
) except -1:
    cdef Py_ssize_t k, n = phase.shape[0]
    if chains.shape[0] != n + 1 or chains[0] != 0 or chains[n] != z.shape[0]:
        raise ValueError("the chains do not fit")
    if omega.shape[0] != z.shape[0]:
        raise ValueError("every atom needs its omega")
    for k in range(n):
        if chains[k] > chains[k + 1]:
            raise ValueError("the chains do not fit")
    for k in range(z.shape[0]):
        if not 0 <= z[k] < x.shape[1]:
            raise ValueError("a chain leads to a column that is not there")
    return 0


def scores(
    const double[:, ::1] x, const double[::1] y, const int32_t[::1] samples,
    const int32_t[::1] chains, const int32_t[::1] z, const double[::1] omega,
    const double[::1] phase, const double[::1] beta, const double[::1] intercept,
    double[::1] out,
):
    """log(P / (1 - P)), P the mean of the probabilities P_k over the samples. Where y_i is not 0,
    row i is one of those that were learned, and P is as if it were not:
        1 / P(y_i) = mean of 1 / P_k(y_i),   that is   odds of y_i = 1 / mean of exp(-y_i f_k).
    Sample k has the features samples[k] .. samples[k + 1] - 1, feature q the atoms chains[q] ..
    chains[q + 1] - 1."""
    cdef Py_ssize_t i, k, q, n = intercept.shape[0]
    cdef double f, yes, no, against
    check(x, chains, z, omega, phase)
    if samples.shape[0] != n + 1 or samples[0] != 0 or samples[n] != phase.shape[0]:
        raise ValueError("the samples do not fit")
    if beta.shape[0] != phase.shape[0]:
        raise ValueError("every feature needs its weight")
    if y.shape[0] != x.shape[0] or out.shape[0] != x.shape[0]:
        raise ValueError("scores needs a y and a place for every row")
    for k in range(n):
        if samples[k] > samples[k + 1]:
            raise ValueError("the samples do not fit")
    with nogil:
        for i in range(x.shape[0]):
            yes = no = against = 1e-300
            for k in range(n):
                f = 0.0
                for q in range(samples[k], samples[k + 1]):
                    f += beta[q] * cos(angle(x, i, chains, z, omega, phase, q))
                f = intercept[k] + M_SQRT2 * f
                yes += 1.0 / (1.0 + exp(-f))
                no += 1.0 / (1.0 + exp(f))
                against += exp(-y[i] * f)
            out[i] = log(yes) - log(no) if y[i] == 0.0 else y[i] * log(n / against)


def waves(
    const double[:, ::1] x, const int32_t[::1] chains, const int32_t[::1] z,
    const double[::1] omega, const double[::1] phase, const double[::1] weight,
    double[:, ::1] out,
):
    """sqrt(weight_q) times cosine and sine of each feature: the products of two rows of these
    are the kernel K(x, x') = sum_q weight_q cos(sum_t omega_qt (x - x')[z_qt]) of (4.2)."""
    check(x, chains, z, omega, phase)
    if weight.shape[0] != phase.shape[0]:
        raise ValueError("every feature needs its weight")
    if out.shape[0] != x.shape[0] or out.shape[1] != 2 * phase.shape[0]:
        raise ValueError("waves needs two columns a feature")
    cdef Py_ssize_t i, q
    cdef double a, r
    with nogil:
        for i in range(x.shape[0]):
            for q in range(phase.shape[0]):
                a = angle(x, i, chains, z, omega, phase, q)
                r = sqrt(weight[q])
                out[i, 2 * q] = r * cos(a)
                out[i, 2 * q + 1] = r * sin(a)
