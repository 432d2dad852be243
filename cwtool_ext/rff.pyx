"""The reversible-jump sampler of random Fourier features; the model is in rff_model.pxd.

All random numbers come from the caller: 5 + t_max uniform and 1 + t_max normal ones for each
iteration, whether it needs them or not.
"""

from libc.math cimport M_PI, exp, floor, log, sqrt
from libc.stdint cimport int32_t, int64_t

from cwtool_ext.four cimport likelihood
from cwtool_ext.rff_model cimport (
    NONE, Machine, accept, add, below, chain, copy, draw_chain, evaluate, mode, normal, surplus,
)

cdef enum:  # columns of the uniform numbers
    MOVE = 0
    SIDE = 1
    WHICH = 2
    ACCEPT = 3
    INDEX = 4
    CHAIN = 5  # and t_max - 1 more

cdef double INTERCEPT = 100.0  # variance of beta_0
cdef double SPREAD = 0.25  # variance of log s
cdef int SPREAD_EVERY = 50  # iterations from one proposal of s to the next


cdef inline void birth(Machine* m, const double* u, const double* normals) noexcept nogil:
    """Propose a feature with a weight near its mode. Its omega and phase are drawn from the prior,
    and so is its chain unless the screening has found chains of columns."""
    cdef Py_ssize_t q = m.new, t
    cdef double mean, spread, ratio
    if m.d == m.d_max:
        return
    draw_chain(m, u + CHAIN)
    for t in range(m.length[q]):
        m.omega[q * m.t_max + t] = exp(m.log_s) * normals[t]
    m.phase[q] = 2.0 * M_PI * u[WHICH]
    evaluate(m, q)
    mode(m.phi + q * m.width, m.f, m.y, m.n, m.heat, 1.0, &mean, &spread)
    m.beta[q] = mean + sqrt(1.5 * spread) * normals[m.t_max]
    add(m, q, m.beta[q])
    ratio = m.heat * (m.loglik_new - m.loglik)
    ratio += normal(m.beta[q], 0.0, 1.0) - normal(m.beta[q], mean, 1.5 * spread)
    ratio += surplus(m, 0, q)
    if log(u[ACCEPT]) < ratio:
        accept(m)
        m.d += 1
        copy(m, q, m.d)


cdef inline void death(Machine* m, const double* u) noexcept nogil:
    """Propose to remove a feature: the reverse of a birth."""
    cdef Py_ssize_t q
    cdef double mean, spread, ratio
    if m.d == 0:
        return
    q = 1 + below(u[WHICH], m.d)
    add(m, q, -m.beta[q])
    mode(m.phi + q * m.width, m.f_new, m.y, m.n, m.heat, 1.0, &mean, &spread)
    ratio = m.heat * (m.loglik_new - m.loglik)
    ratio += normal(m.beta[q], mean, 1.5 * spread) - normal(m.beta[q], 0.0, 1.0)
    ratio -= surplus(m, q, q)
    if log(u[ACCEPT]) < ratio:
        accept(m)
        copy(m, m.d, q)
        m.d -= 1


cdef inline void decide(Machine* m, Py_ssize_t q, double ratio, double u) noexcept nogil:
    """Accept or reject the new feature in the place of q. `ratio` is the log ratio of all but the
    likelihoods, u a uniform number."""
    cdef const double* old = m.phi + q * m.width
    cdef const double* new = m.phi + m.new * m.width
    cdef Py_ssize_t i
    evaluate(m, m.new)
    for i in range(m.n):
        m.f_new[i] = m.f[i] + m.beta[q] * (new[i] - old[i])
    m.loglik_new = likelihood(m.f_new, m.y, m.n)
    if log(u) < m.heat * (m.loglik_new - m.loglik) + ratio:
        accept(m)
        copy(m, m.new, q)


cdef inline void change_chain(Machine* m, const double* u, const double* normals) noexcept nogil:
    """Reversible-jump proposal for the length of a chain. With probability 1/2 an atom is appended,
    whose variable is uniform and whose frequency omega is drawn from its prior; otherwise the last
    atom is removed."""
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
    decide(m, q, ratio + chain(m, q, m.new) - chain(m, q, q), u[ACCEPT])


cdef inline void replace_atom(Machine* m, const double* u, const double* normals) noexcept nogil:
    """Propose another variable for one atom, in half of the cases with another omega from its
    prior."""
    cdef Py_ssize_t q = 1 + below(u[WHICH], m.d), atom
    copy(m, q, m.new)
    atom = m.new * m.t_max + below(u[SIDE], m.length[q])
    m.z[atom] = below(u[INDEX], m.p)
    if u[CHAIN] < 0.5:
        m.omega[atom] = exp(m.log_s) * normals[0]
    decide(m, q, chain(m, q, m.new) - chain(m, q, q), u[ACCEPT])


cdef inline void walk(Machine* m, const double* u, const double* normals) noexcept nogil:
    """Propose a step of a random walk of omega and b."""
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
    decide(m, q, ratio, u[ACCEPT])


cdef inline void weigh(Machine* m, const double* u, const double* normals) noexcept nogil:
    """Propose a weight, or beta_0, from a normal distribution around its mode."""
    cdef Py_ssize_t q = below(u[WHICH], m.d + 1), i
    cdef double prior = INTERCEPT if q == 0 else 1.0, old = m.beta[q], new, mean, spread, ratio
    cdef double* phi = m.phi + q * m.width
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
    """Propose a step of a random walk of log s."""
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
    """Make one proposal of a kind that is drawn, and accept or reject it."""
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


cdef int check_features(Machine* m, const int32_t[::1] length, const int32_t[:, ::1] z) except -1:
    """Refuse features with chains that are empty, too long, or lead out of the columns."""
    cdef Py_ssize_t i, k
    for k in range(1, m.d + 1):
        if not 1 <= length[k] <= m.t_max:
            raise ValueError(f"the chain of feature {k} has {length[k]} of 1..{m.t_max} variables")
        for i in range(length[k]):
            if not 0 <= z[k, i] < m.p:
                raise ValueError(f"feature {k} uses column {z[k, i]} of {m.p}")
    return 0


cdef int check_telling(const int32_t[:, ::1] telling, Py_ssize_t p, Py_ssize_t t_max) except -1:
    """Refuse chains of columns from the screening that are empty or longer than t_max, name a
    column outside the data, or go on after their end."""
    cdef Py_ssize_t i, t
    if telling.shape[0] and not 1 <= telling.shape[1] <= t_max:
        raise ValueError(f"telling chains have {telling.shape[1]} of 1..{t_max} variables")
    for i in range(telling.shape[0]):
        for t in range(telling.shape[1]):
            if not (NONE if t else 0) <= telling[i, t] < p:
                raise ValueError(f"telling chain {i} uses a column that is not among {p}")
            if t and telling[i, t - 1] == NONE != telling[i, t]:
                raise ValueError(f"telling chain {i} has a variable after its end")
    return 0


cdef inline void start(Machine* m) noexcept nogil:
    """Compute phi of all features, f, and the likelihood."""
    cdef Py_ssize_t i, k
    for i in range(m.width):
        m.phi[i] = i < m.n
        m.f[i] = m.beta[0] * m.phi[i]
        m.f_new[i] = 0.0
    for k in range(1, m.d + 1):
        evaluate(m, k)
        for i in range(m.n):
            m.f[i] += m.beta[k] * m.phi[k * m.width + i]
    m.loglik = likelihood(m.f, m.y, m.n)


def sample(
    const double[:, ::1] x, const double[::1] y, int32_t[::1] length, int32_t[:, ::1] z,
    double[:, ::1] omega, double[::1] phase, double[::1] beta, Py_ssize_t d, double log_s,
    double[:, ::1] phi, int32_t[::1] to, const double[:, ::1] uniforms,
    const double[:, ::1] normals, const double[::1] heat, int64_t first, double gamma,
    double conc, double alpha0, const int32_t[:, ::1] telling,
) -> tuple[int, float, float]:
    """Make one iteration for each row of random numbers. x has a row for each column of the
    data, y is -1 or +1. Features are numbered 1 .. d, and 0 is the constant. The iterations are
    counted from `first`, and every 50th proposes another s. The likelihood counts to the power
    heat. Half of the births try one of the `telling` chains of columns, rows filled up with -1.
    `phi` (a row for each feature, for the constant and for three more, whose length is a
    multiple of four) and `to` are room to work in. After the call `phi` has the values of
    features 0 .. d at the rows.
    Returns d, log s and the log-likelihood."""
    cdef Machine m
    cdef Py_ssize_t i, n = y.shape[0], steps = uniforms.shape[0]
    m.n, m.p, m.stride, m.d = n, x.shape[0], x.shape[1], d
    m.width = phi.shape[1]
    m.new, m.d_max, m.t_max = z.shape[0] - 1, z.shape[0] - 2, z.shape[1]
    m.gamma, m.conc, m.alpha0, m.log_s = gamma, conc, alpha0, log_s
    if m.d_max < 0 or not 0 <= d <= m.d_max or m.t_max < 1 or m.p < 1 or m.stride < max(1, n):
        raise ValueError("sample needs room for the constant and a new feature, and columns")
    if min(length.shape[0], omega.shape[0], phase.shape[0], beta.shape[0]) < m.new + 1:
        raise ValueError("sample needs an entry for every feature in each of its arrays")
    if omega.shape[1] != m.t_max or phi.shape[0] < m.new + 4 or m.width < max(4, n) or m.width % 4:
        raise ValueError("omega or phi does not have the shape that sample needs")
    if to.shape[0] < (m.new + 1) * m.t_max:
        raise ValueError("sample needs room for every transition")
    if uniforms.shape[1] < CHAIN + m.t_max or normals.shape[1] < m.t_max + 1:
        raise ValueError("sample needs 5 + t_max uniform and 1 + t_max normal numbers a step")
    if min(normals.shape[0], heat.shape[0]) < steps:
        raise ValueError("sample needs normal numbers and a heat for every row of uniform numbers")
    check_features(&m, length, z)
    check_telling(telling, m.p, m.t_max)
    m.n_telling, m.n_tried = telling.shape[0], telling.shape[1]
    m.telling = &telling[0, 0] if m.n_telling else NULL
    m.x, m.length, m.z, m.omega = &x[0, 0], &length[0], &z[0, 0], &omega[0, 0]
    m.phase, m.beta, m.phi, m.to = &phase[0], &beta[0], &phi[0, 0], &to[0]
    m.f = m.phi + (m.new + 1) * m.width
    m.f_new = m.f + m.width
    m.y = m.f_new + m.width
    for i in range(m.width):
        m.y[i] = y[i] if i < n else 0.0
    with nogil:
        start(&m)
        for i in range(steps):
            m.heat = heat[i]
            if (first + i) % SPREAD_EVERY == SPREAD_EVERY - 1:
                change_scale(&m, &uniforms[i, 0], &normals[i, 0])
            else:
                iterate(&m, &uniforms[i, 0], &normals[i, 0])
    return m.d, m.log_s, m.loglik
