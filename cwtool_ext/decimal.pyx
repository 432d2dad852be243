"""The constant tables behind decimal.pxd."""

cdef extern from * nogil:
    locale_t newlocale(int mask, const char* locale, locale_t base)
    int LC_ALL_MASK

cdef uint64_t fives[2 * (GREATEST_POWER - LEAST_POWER + 1)]


def _power_of_five(q):
    """The leading 128 bits of 5^q.

    Truncated, but rounded up for -27 <= q < 0, so that a quotient which is exact comes out exact.
    """
    if q < 0:
        divisor = 5**-q
        return (1 << divisor.bit_length() + 127) // divisor + (q >= -27)
    power = 5**q
    return power << 128 >> power.bit_length()


for q in range(LEAST_POWER, GREATEST_POWER + 1):
    power = _power_of_five(q)
    fives[2 * (q - LEAST_POWER)] = power >> 64
    fives[2 * (q - LEAST_POWER) + 1] = power & 0xFFFFFFFFFFFFFFFF

FIVES = fives
C_LOCALE = newlocale(LC_ALL_MASK, b"C", NULL)
