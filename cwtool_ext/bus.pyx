"""A mapped file that is cut short while it is read raises SIGBUS; say so and end with code 3."""

from posix.unistd cimport _exit, write

cdef extern from "<signal.h>" nogil:
    int SIGBUS
    void (*signal(int signum, void (*handler)(int) noexcept nogil))(int)


cdef const char* SENTENCE = b"error: an input file became shorter while it was read\n" \
    b"hint: run again when nothing else writes to it; no model was changed\n"
cdef int LENGTH = len(SENTENCE)


cdef void complain(int signum) noexcept nogil:
    write(2, SENTENCE, LENGTH)
    _exit(3)


def install():
    """For the whole process."""
    signal(SIGBUS, complain)
