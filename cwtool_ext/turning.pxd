"""Turning the rows of W into the leading directions, R = W E, when D + R R' is fitted to D + W W'.

Only rows that have loadings or entries are visited; the others have a bit of `bare`.
"""

from libc.math cimport fmax
from libc.stdint cimport uint64_t

from cwtool_ext.dense cimport dot
from cwtool_ext.factor cimport CHAIN, LOADING, MEAN, PRECISION
from cwtool_ext.factor_loops cimport Factor, dressed, turn_eight

cdef extern from *:
    int lowest "__builtin_ctzll"(uint64_t) noexcept nogil  # number of the lowest bit that is set

cdef enum:
    # Loadings of a feature whose squares are a smaller share of its precision than 1 / SMALL go to
    # the diagonal, and later fits pass over them. On phishurl these are 98 % of the features and
    # 0.3 % of the trace of R'D^-1 R.
    SMALL = 1000


cdef inline void add_upper(double* S, const double* r, double s, Py_ssize_t n) noexcept nogil:
    # S += s r r' on and above the diagonal; an even start lets two numbers be added at once
    cdef Py_ssize_t i, j
    cdef double x
    for i in range(n):
        x = s * r[i]
        for j in range(i - i % 2, n):
            S[i * n + j] += x * r[j]


cdef inline bint empty(const double* r, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t a
    for a in range(n):
        if r[a] != 0.0:
            return False
    return True


cdef inline void mark_all(Factor* f) noexcept nogil:
    """Set the bits of all rows that have neither loadings nor entries."""
    cdef Py_ssize_t number
    cdef const double* own
    for number in range(1, f.n_rows + 1):
        own = f.rows + number * f.width
        if own[CHAIN] == 0.0 and empty(own + LOADING, f.dense):
            f.bare[number // 64] |= (<uint64_t> 1) << (<uint64_t> number % 64)
    f.marked = True


cdef inline bint turn(
    const Factor* f, double* own, const double* c, const double* E, double* S
) noexcept nogil:
    """Replace the loadings of a row by r = E'w, its D by D plus what the diagonal loses, and its
    mean by mu + D^-1 w.c, without entries then; add r r'/D to S on and above the diagonal. False
    if no loadings are left."""
    cdef double r[256]
    cdef Py_ssize_t i, a, m = f.m, entry = <Py_ssize_t> own[CHAIN]
    cdef double w, shift = dot(own + LOADING, c, f.dense), total, within
    for a in range(m):
        r[a] = 0.0
    total = dot(own + LOADING, own + LOADING, f.dense)
    for i in range(f.dense):
        w = own[LOADING + i]
        for a in range(m):
            r[a] += w * E[i * m + a]
    while entry:
        w, i = f.entries[entry], f.links[2 * entry + 1]
        shift += w * c[i]
        total += w * w
        for a in range(m):
            r[a] += w * E[i * m + a]
        entry = f.links[2 * entry]
    own[MEAN] += shift / (1.0 + own[PRECISION])
    own[CHAIN] = 0.0
    within = dot(r, r, m)
    if SMALL * within <= 1.0 + own[PRECISION] + total:
        own[PRECISION] += total
        for a in range(m):
            own[LOADING + a] = 0.0
        return False
    own[PRECISION] += fmax(0.0, total - within)
    for a in range(m):
        own[LOADING + a] = r[a]
    add_upper(S, r, 1.0 / (1.0 + own[PRECISION]), m)
    return True


cdef inline void turn_rows(
    Factor* f, const double* c, const double* E, double* S
) noexcept nogil:
    """Turn every row that is not bare, in the order of their numbers; S = R'D^-1 R."""
    cdef Py_ssize_t a, word, number
    cdef uint64_t left
    if not f.marked:
        mark_all(f)
    for a in range(f.m * f.m):
        S[a] = 0.0
    if f.m == 8:  # the usual rank; loadings are 0 before the first fit
        turn_eight(f, c, E, S, SMALL)
        return
    for word in range(f.n_rows // 64 + 1):
        left = dressed(f, word)
        while left:
            number = 64 * word + lowest(left)
            left &= left - 1
            if not turn(f, f.rows + number * f.width, c, E, S):
                f.bare[word] |= (<uint64_t> 1) << (<uint64_t> number % 64)
