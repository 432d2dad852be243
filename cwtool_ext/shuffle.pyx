"""A random order that depends on its seed alone, never on a library's version."""

from libc.stdint cimport int64_t, uint64_t


cdef inline uint64_t splitmix(uint64_t* state) noexcept nogil:
    """SplitMix64 (Steele, Lea, Flood 2014)."""
    state[0] += 0x9E3779B97F4A7C15u
    cdef uint64_t z = state[0]
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu
    return z ^ (z >> 31)


cdef inline uint64_t start(const uint64_t[::1] seeds) noexcept nogil:
    """One state from several numbers."""
    cdef uint64_t state = 0
    cdef Py_ssize_t k
    for k in range(seeds.shape[0]):
        state = splitmix(&state) ^ seeds[k]
    return state


def permute(const uint64_t[::1] seeds, int64_t[::1] out):
    """0 .. n-1 in a random order (Fisher-Yates)."""
    cdef uint64_t state = start(seeds)
    cdef int64_t i, j, kept, n = out.shape[0]
    with nogil:
        for i in range(n):
            out[i] = i
        for i in range(n - 1, 0, -1):
            j = <int64_t> (splitmix(&state) % <uint64_t> (i + 1))
            kept = out[i]
            out[i] = out[j]
            out[j] = kept


def permute_groups(const uint64_t[::1] seeds, const int64_t[::1] groups, int64_t[::1] out):
    """0 .. n-1 by groups of four neighbours, which come in the order `groups` of their numbers;
    each group in one of four random orders."""
    cdef uint64_t state = start(seeds), turn
    cdef int64_t j, k, at = 0, g, n = out.shape[0]
    if groups.shape[0] != (n + 3) // 4:
        raise ValueError(f"there are {groups.shape[0]} groups of four for {n} places")
    with nogil:
        for g in range(groups.shape[0]):
            turn = splitmix(&state) >> 62
            for k in range(4):
                j = 4 * groups[g] + (k ^ <int64_t> turn)
                if 0 <= j < n and at < n:
                    out[at] = j
                    at += 1


def choose(const uint64_t[::1] seeds, uint64_t first, double share, unsigned char[::1] out):
    """out[i] = 1 for about this share of the rows numbered first + i, by row number alone."""
    cdef uint64_t base = start(seeds), state
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            state = base + (first + <uint64_t> i) * 0xD1342543DE82EF95u
            out[i] = <double> (splitmix(&state) >> 11) < share * 9007199254740992.0


def uniforms(const uint64_t[::1] seeds, double[::1] out):
    """Numbers between 0 and 1, without 1."""
    cdef uint64_t state = start(seeds)
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = <double> (splitmix(&state) >> 11) / 9007199254740992.0
