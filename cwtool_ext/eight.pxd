"""Eight paths of stabilized truncated gradient descent at once, the usual number of them.

The same loops as for any number of paths in all_paths.pyx, in the vectors of the C compiler. On
x86-64 they are compiled twice, for processors with vectors of 256 bits and for all; nothing is
contracted, so that the bits are the same.
"""

from libc.stdint cimport int32_t, uint8_t


cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    #include <string.h>
    #include "vectors.h"
    #define CWTOOL_BITS(address) (*(const cwtool_bits *) (address))
    #define CWTOOL_FAR 48 /* entries between the one in use and the one that is prefetched */

    CWTOOL_WIDE
    static Py_ssize_t cwtool_look(
        Py_ssize_t n, const int32_t *index, const double *value, const double *weights, double h,
        int informs, int by_norm, const double *mask, Py_ssize_t ahead, int32_t *place,
        int32_t *slot, double *began, double *counts, Py_ssize_t touched, double *f)
    {
        cwtool_four f0 = CWTOOL_FOUR(f), f1 = CWTOOL_FOUR(f + 4);
        const cwtool_four mask0 = CWTOOL_FOUR(mask), mask1 = CWTOOL_FOUR(mask + 4);
        for (Py_ssize_t k = 0; k < n; k++) {
            if (k < ahead - CWTOOL_FAR) {
                const Py_ssize_t soon = index[k + CWTOOL_FAR];
                __builtin_prefetch(weights + 8 * soon, 1, 3);
                __builtin_prefetch(place + soon, 1, 3);
            }
            const double *at = weights + 8 * (Py_ssize_t) index[k], z = value[k];
            const cwtool_four w0 = CWTOOL_FOUR(at), w1 = CWTOOL_FOUR(at + 4);
            f0 += w0 * z;
            f1 += w1 * z;
            if (!informs)
                continue;
            double more = 1.0;
            if (by_norm) {
                more = (h * z) * (h * z);
                more = more > 1e-300 ? more : 1e-300;
            }
            double *count = counts + 8 * ((Py_ssize_t) place[index[k]] - 1);
            if (place[index[k]] == 0) {
                slot[touched] = index[k];
                CWTOOL_FOUR(began + 8 * touched) = w0;
                CWTOOL_FOUR(began + 8 * touched + 4) = w1;
                count = counts + 8 * touched;
                CWTOOL_FOUR(count) = more * mask0;
                CWTOOL_FOUR(count + 4) = more * mask1;
                place[index[k]] = (int32_t) ++touched;
                continue;
            }
            CWTOOL_FOUR(count) += more * mask0;
            CWTOOL_FOUR(count + 4) += more * mask1;
        }
        CWTOOL_FOUR(f) = f0;
        CWTOOL_FOUR(f + 4) = f1;
        return touched;
    }

    CWTOOL_WIDE
    static void cwtool_descend(
        Py_ssize_t n, const int32_t *index, const double *value, double *weights,
        const double *step)
    {
        for (Py_ssize_t k = 0; k < n; k++)
            for (int m = 0; m < 8; m += 4) {
                double *at = weights + 8 * (Py_ssize_t) index[k] + m;
                cwtool_four move = CWTOOL_FOUR(step + m) * value[k];
                move = (cwtool_four) ((cwtool_bits) move & (CWTOOL_SIZE(move) <= 1e100));
                const cwtool_four w = CWTOOL_FOUR(at) + move;
                CWTOOL_FOUR(at) = (cwtool_four) (
                    (cwtool_bits) w & ~(CWTOOL_SIZE(w) <= 1e-12 * CWTOOL_SIZE(move)));
            }
    }

    CWTOOL_WIDE
    static Py_ssize_t cwtool_end(
        Py_ssize_t n, const int32_t *slot, const double *began, const double *counts,
        double *weights, int32_t *place, double g0, int by_norm, int of_weight, uint8_t *paths,
        double *value, uint8_t *kept)
    {
        const cwtool_four one = {1.0, 1.0, 1.0, 1.0};
        Py_ssize_t end = 0;
        for (Py_ssize_t k = 0; k < n; k++) {
            if (k < n - CWTOOL_FAR) {
                const Py_ssize_t soon = slot[k + CWTOOL_FAR];
                __builtin_prefetch(weights + 8 * soon, 1, 3);
                __builtin_prefetch(place + soon, 1, 3);
            }
            double *at = weights + 8 * (Py_ssize_t) slot[k], moved[8];
            place[slot[k]] = 0;
            uint64_t informed[8], left[8];
            for (int m = 0; m < 8; m += 4) {
                const cwtool_four w = CWTOOL_FOUR(at + m), count = CWTOOL_FOUR(counts + 8 * k + m);
                cwtool_four q = count;
                if (by_norm)
                    for (int j = 0; j < 4; j++)
                        q[j] = sqrt(q[j]);
                const cwtool_four bar = g0 * q;
                const cwtool_bits some = q > 0.0, zero = CWTOOL_SIZE(w) <= bar * (1.0 + 1e-9);
                const cwtool_four divisor = (cwtool_four) (
                    ((cwtool_bits) q & some) | ((cwtool_bits) one & ~some));
                cwtool_four change = w;
                if (!of_weight)
                    change -= CWTOOL_FOUR(began + 8 * k + m);
                CWTOOL_FOUR(moved + m) = CWTOOL_SIZE(change) / divisor;
                const cwtool_four pull = (cwtool_four) (
                    (cwtool_bits) CWTOOL_SIZE(bar) | ((cwtool_bits) w & INT64_MIN));
                const cwtool_four pulled = (cwtool_four) ((cwtool_bits) (w - pull) & ~zero);
                CWTOOL_FOUR(at + m) = pulled;
                *(cwtool_bits *) (informed + m) = count != 0.0;
                *(cwtool_bits *) (left + m) = pulled != 0.0;
            }
            const Py_ssize_t first = end;
            for (int m = 0; m < 8; m++) {
                value[end] = moved[m];
                kept[end] = left[m] & 1;
                end += informed[m] & 1;
            }
            paths[k] = (uint8_t) (end - first);
        }
        return end;
    }
    """
    Py_ssize_t look_eight "cwtool_look"(
        Py_ssize_t n, const int32_t* index, const double* value, const double* weights, double h,
        bint informs, bint by_norm, const double* mask, Py_ssize_t ahead, int32_t* place,
        int32_t* slot, double* began, double* counts, Py_ssize_t touched, double* f,
    ) noexcept nogil
    void descend_eight "cwtool_descend"(
        Py_ssize_t n, const int32_t* index, const double* value, double* weights,
        const double* step,
    ) noexcept nogil
    Py_ssize_t end_eight "cwtool_end"(
        Py_ssize_t n, const int32_t* slot, const double* began, const double* counts,
        double* weights, int32_t* place, double g0, bint by_norm, bint of_weight, uint8_t* paths,
        double* value, uint8_t* kept,
    ) noexcept nogil
