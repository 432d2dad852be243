"""Scores and kernel of sampled random Fourier features; the model is in rff_model.pxd.

The features of all samples stand behind each other: feature q has the phase b_q and the atoms
(z_t, omega_t) for t = chains[q] .. chains[q + 1] - 1.
"""

from libc.math cimport M_SQRT2, cos, exp, log, sin, sqrt
from libc.stdint cimport int32_t


cdef inline double angle(
    const double[:, ::1] x, Py_ssize_t i, const int32_t[::1] chains, const int32_t[::1] z,
    const double[::1] omega, const double[::1] phase, Py_ssize_t q,
) noexcept nogil:
    """sum_t omega_qt x_i[z_qt] + b_q"""
    cdef double total = phase[q]
    cdef Py_ssize_t t
    for t in range(chains[q], chains[q + 1]):
        total += omega[t] * x[i, z[t]]
    return total


cdef int check(
    const double[:, ::1] x, const int32_t[::1] chains, const int32_t[::1] z,
    const double[::1] omega, const double[::1] phase,
) except -1:
    """Refuse features whose atoms do not fit each other or the columns."""
    cdef Py_ssize_t k, n = phase.shape[0]
    if chains.shape[0] != n + 1 or chains[0] != 0 or chains[n] != z.shape[0]:
        raise ValueError("chains must have an end for each feature, from 0 to the number of atoms")
    if omega.shape[0] != z.shape[0]:
        raise ValueError(f"{z.shape[0]} atoms do not match {omega.shape[0]} values of omega")
    for k in range(n):
        if chains[k] > chains[k + 1]:
            raise ValueError("chains must not decrease")
    for k in range(z.shape[0]):
        if not 0 <= z[k] < x.shape[1]:
            raise ValueError(f"an atom uses column {z[k]} of {x.shape[1]}")
    return 0


def scores(
    const double[:, ::1] x, const double[::1] y, const int32_t[::1] samples,
    const int32_t[::1] chains, const int32_t[::1] z, const double[::1] omega,
    const double[::1] phase, const double[::1] beta, const double[::1] intercept,
    double[::1] out,
) -> None:
    """out = log(P / (1 - P)), where P is the mean of the probabilities P_k over the samples. Where
    y_i is not 0, row i with this label was learned, and P is estimated as if it had not been:
        1 / P(y_i) = mean of 1 / P_k(y_i),   that is   odds of y_i = 1 / mean of exp(-y_i f_k).
    Sample k has the features samples[k] .. samples[k + 1] - 1, and feature q the atoms
    chains[q] .. chains[q + 1] - 1."""
    cdef Py_ssize_t i, k, q, n = intercept.shape[0]
    cdef double f, yes, no, against
    check(x, chains, z, omega, phase)
    if samples.shape[0] != n + 1 or samples[0] != 0 or samples[n] != phase.shape[0]:
        raise ValueError("samples must have an end for each sample, from 0 to the features")
    if beta.shape[0] != phase.shape[0]:
        raise ValueError("there must be a weight for every feature")
    if y.shape[0] != x.shape[0] or out.shape[0] != x.shape[0]:
        raise ValueError("y and out must have an entry for every row")
    for k in range(n):
        if samples[k] > samples[k + 1]:
            raise ValueError("samples must not decrease")
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
) -> None:
    """out = sqrt(weight_q) times the cosine and the sine of each feature q. The inner product of
    two of these rows is the kernel K(x, x') = sum_q weight_q cos(sum_t omega_qt (x - x')[z_qt]) of
    (4.2)."""
    cdef Py_ssize_t i, q
    cdef double a, r
    check(x, chains, z, omega, phase)
    if weight.shape[0] != phase.shape[0]:
        raise ValueError("there must be a weight for every feature")
    if out.shape[0] != x.shape[0] or out.shape[1] != 2 * phase.shape[0]:
        raise ValueError("out must have a row for every row and two columns for every feature")
    with nogil:
        for i in range(x.shape[0]):
            for q in range(phase.shape[0]):
                a = angle(x, i, chains, z, omega, phase, q)
                r = sqrt(weight[q])
                out[i, 2 * q] = r * cos(a)
                out[i, 2 * q + 1] = r * sin(a)
