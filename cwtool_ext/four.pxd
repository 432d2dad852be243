"""Cosines and logistic likelihoods of four rows at once, in the vectors of the C compiler.

On x86-64 they are compiled twice, for processors with vectors of 256 bits and for all; nothing is
contracted, so that the bits are the same. Arrays of n rows have a multiple of four entries; those
that fill up the last four are 0.
"""


cdef extern from *:
    """
    #include <math.h>
    #include "vectors.h"
    #define CWTOOL_READ(address) (*(const cwtool_four *) (address))
    #define CWTOOL_SUM(v) ((v)[0] + (v)[1] + (v)[2] + (v)[3])

    // out = a, or 700 with the sign of a where |a| is larger
    #define CWTOOL_BOUND(out, a) do { \
        const cwtool_four most_ = {700.0, 700.0, 700.0, 700.0}; \
        const cwtool_bits near_ = CWTOOL_SIZE(a) <= most_, bits_ = (cwtool_bits) (a); \
        out = (cwtool_four) ( \
            (bits_ & near_) | (((bits_ & INT64_MIN) | (cwtool_bits) most_) & ~near_)); \
    } while (0)

    // Added and taken away again, it rounds to an integer k, whose last bits are then those of k.
    #define CWTOOL_ROUND 6755399441055744.0  // 1.5 2^52

    // out = e^x for |x| <= 700: x = k log 2 + r with |r| <= log(2) / 2, e^r by its series to r^13.
    // The first part of log 2 has 33 bits, so that its product with k is exact.
    #define CWTOOL_EXP(out, x) do { \
        const cwtool_four big_ = (x) * 1.4426950408889634 + CWTOOL_ROUND; \
        const cwtool_four k_ = big_ - CWTOOL_ROUND; \
        const cwtool_four r_ = ((x) - k_ * 0x1.62e42fefp-1) - k_ * 0x1.473de6af278edp-34; \
        const cwtool_four s_ = r_ * r_, t_ = s_ * s_; \
        const cwtool_four low_ = (1.0 + r_) + s_ * (1.0 / 2 + r_ * (1.0 / 6)) \
            + t_ * ((1.0 / 24 + r_ * (1.0 / 120)) + s_ * (1.0 / 720 + r_ * (1.0 / 5040))); \
        const cwtool_four high_ = (1.0 / 40320 + r_ * (1.0 / 362880)) \
            + s_ * (1.0 / 3628800 + r_ * (1.0 / 39916800)) \
            + t_ * (1.0 / 479001600 + r_ * (1.0 / 6227020800)); \
        out = (cwtool_four) ((cwtool_bits) (low_ + t_ * t_ * high_) + ((cwtool_bits) big_ << 52)); \
    } while (0)

    // Angles become sqrt(2) cos of them: x = k pi + r with |r| <= pi / 2, and cos x = (-1)^k cos r,
    // cos r by its series to r^20. The first part of pi has 33 bits, so that its product with k is
    // exact for |x| <= 1e6; larger angles are left to the C library.
    CWTOOL_WIDE
    static void cwtool_waves(double *angle, Py_ssize_t n)
    {
        cwtool_bits far = {0, 0, 0, 0};
        for (Py_ssize_t i = 0; i < n; i += 4)
            far |= ~(CWTOOL_SIZE(CWTOOL_READ(angle + i)) <= 1e6);
        if (far[0] | far[1] | far[2] | far[3]) {
            for (Py_ssize_t i = 0; i < n; i++)
                angle[i] = M_SQRT2 * cos(angle[i]);
            return;
        }
        for (Py_ssize_t i = 0; i < n; i += 4) {
            const cwtool_four x = CWTOOL_READ(angle + i);
            const cwtool_four big = x * 0.3183098861837907 + CWTOOL_ROUND, k = big - CWTOOL_ROUND;
            const cwtool_four r = (x - k * 0x1.921fb544p+1) - k * 0x1.0b4611a626331p-33;
            const cwtool_four s = r * r, t = s * s, u = t * t;
            const cwtool_four low = (1.0 - s * 0.5) + t * (1.0 / 24 - s * (1.0 / 720))
                + u * ((1.0 / 40320 - s * (1.0 / 3628800))
                       + t * (1.0 / 479001600 - s * (1.0 / 87178291200)));
            const cwtool_four high = (1.0 / 20922789888000 - s * (1.0 / 6402373705728000))
                + t * (1.0 / 2432902008176640000);
            const cwtool_four cosine = M_SQRT2 * (low + u * u * high);
            CWTOOL_FOUR(angle + i) = (cwtool_four) (
                (cwtool_bits) cosine ^ ((cwtool_bits) big << 63));
        }
    }

    // -sum log(1 + exp(-y f)), where log(1 + e^a) = max(a, 0) + log(1 + e^-|a|). The logarithm is
    // taken of products of up to 1,000 factors of at most 2.
    CWTOOL_WIDE
    static double cwtool_likelihood(const double *f, const double *y, Py_ssize_t n)
    {
        cwtool_four above = {0, 0, 0, 0};
        double total = 0.0;
        for (Py_ssize_t i = 0; i < n;) {
            const Py_ssize_t end = n - i > 1000 ? i + 1000 : i + (n - i + 3) / 4 * 4;
            cwtool_four product = {1, 1, 1, 1};
            for (; i < end; i += 4) {
                const cwtool_four a = CWTOOL_READ(f + i) * CWTOOL_READ(y + i);
                const cwtool_four size = CWTOOL_SIZE(a);
                cwtool_four x, e;
                CWTOOL_BOUND(x, -size);
                CWTOOL_EXP(e, x);
                above += size - a;
                product *= 1.0 + e;
            }
            for (Py_ssize_t k = n; k < end; k++)
                product[0] *= 0.5;  // of the entries that fill up the last four
            total += log(product[0] * product[1] * product[2] * product[3]);
        }
        return -(total + 0.5 * CWTOOL_SUM(above));
    }

    // g = sum y q phi and h = sum q (1 - q) phi^2 with q = 1 / (1 + exp(y (f + b phi)))
    CWTOOL_WIDE
    static void cwtool_slopes(
        const double *phi, const double *f, const double *y, Py_ssize_t n, double b, double *g,
        double *h)
    {
        cwtool_four first = {0, 0, 0, 0}, second = {0, 0, 0, 0};
        for (Py_ssize_t i = 0; i < n; i += 4) {
            const cwtool_four p = CWTOOL_READ(phi + i), sign = CWTOOL_READ(y + i);
            const cwtool_four a = sign * (CWTOOL_READ(f + i) + b * p);
            cwtool_four x, e;
            CWTOOL_BOUND(x, a);
            CWTOOL_EXP(e, x);
            const cwtool_four q = 1.0 / (1.0 + e);
            first += sign * q * p;
            second += q * (1.0 - q) * p * p;
        }
        *g = CWTOOL_SUM(first);
        *h = CWTOOL_SUM(second);
    }
    """
    void waves "cwtool_waves"(double* angle, Py_ssize_t n) noexcept nogil
    double likelihood "cwtool_likelihood"(
        const double* f, const double* y, Py_ssize_t n
    ) noexcept nogil
    void slopes "cwtool_slopes"(
        const double* phi, const double* f, const double* y, Py_ssize_t n, double b, double* g,
        double* h,
    ) noexcept nogil
