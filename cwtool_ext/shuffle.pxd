"""The generator of random orders, for kernels that need them."""

from libc.stdint cimport uint64_t


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
