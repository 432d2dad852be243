"""What all paths of a stage of stabilized truncated gradient descent do alike."""

from libc.stdint cimport int64_t


cdef struct Rule:
    int loss
    bint by_norm
    bint of_weight
    bint by_gradient
    double g0
    int64_t burst


cdef class Walk:
    cdef Rule rule
