"""Four or eight paths of stabilized truncated gradient descent at once, the usual numbers of them.

The same loops as for any number of paths in all_paths.pyx and path_weights.pyx, in the vectors of
the C compiler. On x86-64 they are compiled twice, for processors with vectors of 256 bits and for
all; nothing is contracted, so that the bits are the same.
"""

from libc.stdint cimport int32_t, uint8_t


cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    #include <string.h>
    #include "vectors.h"
    #define CWTOOL_FAR 48 /* entries between the one in use and the one that is prefetched */
    #define CWTOOL_INSIDE static inline __attribute__((always_inline))

    /* q of stages.pxd */
    CWTOOL_INSIDE void cwtool_informed(const double *count, int by_norm, cwtool_four *q)
    {
        *q = CWTOOL_FOUR(count);
        if (by_norm)
            for (int j = 0; j < 4; j++)
                (*q)[j] = sqrt((*q)[j]);
    }

    /* w <- T(w, bar), as pulled of stages.pxd */
    CWTOOL_INSIDE void cwtool_pull(cwtool_four *w, const cwtool_four *bar)
    {
        const cwtool_bits zero = CWTOOL_SIZE(*w) <= *bar * (1.0 + 1e-9);
        const cwtool_four pull = (cwtool_four) (
            (cwtool_bits) CWTOOL_SIZE(*bar) | ((cwtool_bits) *w & INT64_MIN));
        *w = (cwtool_four) ((cwtool_bits) (*w - pull) & ~zero);
    }

    CWTOOL_INSIDE Py_ssize_t cwtool_look(
        const int paths, Py_ssize_t n, const int32_t *index, const double *value,
        const double *weights, double h, int informs, int by_norm, const double *mask,
        Py_ssize_t ahead, int32_t *place, int32_t *slot, double *began, double *counts,
        Py_ssize_t touched, double *f)
    {
        const int last = paths - 4; /* the first of the last four paths, or of the only ones */
        cwtool_four f0 = CWTOOL_FOUR(f), f1 = CWTOOL_FOUR(f + last);
        const cwtool_four mask0 = CWTOOL_FOUR(mask), mask1 = CWTOOL_FOUR(mask + last);
        for (Py_ssize_t k = 0; k < n; k++) {
            if (k < ahead - CWTOOL_FAR) {
                const Py_ssize_t soon = index[k + CWTOOL_FAR];
                __builtin_prefetch(weights + paths * soon, 1, 3);
                __builtin_prefetch(place + soon, 1, 3);
            }
            const double *at = weights + paths * (Py_ssize_t) index[k], z = value[k];
            const cwtool_four w0 = CWTOOL_FOUR(at), w1 = CWTOOL_FOUR(at + last);
            f0 += w0 * z;
            f1 += w1 * z;
            if (!informs)
                continue;
            double more = 1.0;
            if (by_norm) {
                more = (h * z) * (h * z);
                more = more > 1e-300 ? more : 1e-300;
            }
            if (place[index[k]] == 0) {
                slot[touched] = index[k];
                double *start = began + paths * touched, *count = counts + paths * touched;
                CWTOOL_FOUR(start) = w0;
                CWTOOL_FOUR(start + last) = w1;
                CWTOOL_FOUR(count) = more * mask0;
                CWTOOL_FOUR(count + last) = more * mask1;
                place[index[k]] = (int32_t) ++touched;
                continue;
            }
            double *count = counts + paths * ((Py_ssize_t) place[index[k]] - 1);
            CWTOOL_FOUR(count) += more * mask0;
            if (last)
                CWTOOL_FOUR(count + last) += more * mask1;
        }
        CWTOOL_FOUR(f) = f0;
        CWTOOL_FOUR(f + last) = f1;
        return touched;
    }

    CWTOOL_INSIDE void cwtool_descend(
        const int paths, Py_ssize_t n, const int32_t *index, const double *value,
        double *weights, const double *step)
    {
        for (Py_ssize_t k = 0; k < n; k++)
            for (int m = 0; m < paths; m += 4) {
                double *at = weights + paths * (Py_ssize_t) index[k] + m;
                cwtool_four move = CWTOOL_FOUR(step + m) * value[k];
                move = (cwtool_four) ((cwtool_bits) move & (CWTOOL_SIZE(move) <= 1e100));
                const cwtool_four w = CWTOOL_FOUR(at) + move;
                CWTOOL_FOUR(at) = (cwtool_four) (
                    (cwtool_bits) w & ~(CWTOOL_SIZE(w) <= 1e-12 * CWTOOL_SIZE(move)));
            }
    }

    CWTOOL_INSIDE Py_ssize_t cwtool_end(
        const int paths, Py_ssize_t n, const int32_t *slot, const double *began,
        const double *counts, double *weights, int32_t *place, double g0, int by_norm,
        int of_weight, uint8_t *informed_paths, double *value, uint8_t *kept)
    {
        const cwtool_four one = {1.0, 1.0, 1.0, 1.0};
        Py_ssize_t end = 0;
        for (Py_ssize_t k = 0; k < n; k++) {
            if (k < n - CWTOOL_FAR) {
                const Py_ssize_t soon = slot[k + CWTOOL_FAR];
                __builtin_prefetch(weights + paths * soon, 1, 3);
                __builtin_prefetch(place + soon, 1, 3);
            }
            double *at = weights + paths * (Py_ssize_t) slot[k], moved[8];
            place[slot[k]] = 0;
            uint64_t informed[8], left[8];
            for (int m = 0; m < paths; m += 4) {
                cwtool_four w = CWTOOL_FOUR(at + m), change = w, q;
                cwtool_informed(counts + paths * k + m, by_norm, &q);
                const cwtool_four bar = g0 * q;
                const cwtool_bits some = q > 0.0;
                const cwtool_four divisor = (cwtool_four) (
                    ((cwtool_bits) q & some) | ((cwtool_bits) one & ~some));
                if (!of_weight)
                    change -= CWTOOL_FOUR(began + paths * k + m);
                CWTOOL_FOUR(moved + m) = CWTOOL_SIZE(change) / divisor;
                cwtool_pull(&w, &bar);
                CWTOOL_FOUR(at + m) = w;
                *(cwtool_bits *) (informed + m) = CWTOOL_FOUR(counts + paths * k + m) != 0.0;
                *(cwtool_bits *) (left + m) = w != 0.0;
            }
            const Py_ssize_t first = end;
            for (int m = 0; m < paths; m++) {
                value[end] = moved[m];
                kept[end] = left[m] & 1;
                end += informed[m] & 1;
            }
            informed_paths[k] = (uint8_t) (end - first);
        }
        return end;
    }

    CWTOOL_INSIDE void cwtool_add(
        const int paths, Py_ssize_t n, const int32_t *index, const double *value, double scale,
        Py_ssize_t ahead, const double *shared, Py_ssize_t width, const double *weights,
        const double *counts, double g0, int by_norm, double *f)
    {
        for (Py_ssize_t k = 0; k < n; k++) {
            if (k < ahead - CWTOOL_FAR) {
                const Py_ssize_t soon = index[k + CWTOOL_FAR];
                __builtin_prefetch(shared + width * soon, 0, 3);
                __builtin_prefetch(weights + paths * soon, 0, 3);
                __builtin_prefetch(counts + paths * soon, 0, 3);
            }
            const Py_ssize_t j = index[k];
            const double divisor = 1.0 + shared[width * j], x = scale * value[k];
            for (int m = 0; m < paths; m += 4) {
                cwtool_four w = CWTOOL_FOUR(weights + paths * j + m), q;
                const cwtool_bits some = CWTOOL_FOUR(counts + paths * j + m) != 0.0;
                if (some[0] | some[1] | some[2] | some[3]) { /* else q is 0 */
                    cwtool_informed(counts + paths * j + m, by_norm, &q);
                    q = g0 * q;
                    cwtool_pull(&w, &q);
                }
                const cwtool_four read = (cwtool_four) ((cwtool_bits) (w / divisor) & (w != 0.0));
                CWTOOL_FOUR(f + m) += read * x;
            }
        }
    }

    #define CWTOOL_PATHS(paths) \\
        CWTOOL_WIDE static Py_ssize_t cwtool_look_##paths( \\
            Py_ssize_t n, const int32_t *index, const double *value, const double *weights, \\
            double h, int informs, int by_norm, const double *mask, Py_ssize_t ahead, \\
            int32_t *place, int32_t *slot, double *began, double *counts, Py_ssize_t touched, \\
            double *f) \\
        { \\
            return cwtool_look( \\
                paths, n, index, value, weights, h, informs, by_norm, mask, ahead, place, slot, \\
                began, counts, touched, f); \\
        } \\
        CWTOOL_WIDE static void cwtool_descend_##paths( \\
            Py_ssize_t n, const int32_t *index, const double *value, double *weights, \\
            const double *step) \\
        { \\
            cwtool_descend(paths, n, index, value, weights, step); \\
        } \\
        CWTOOL_WIDE static Py_ssize_t cwtool_end_##paths( \\
            Py_ssize_t n, const int32_t *slot, const double *began, const double *counts, \\
            double *weights, int32_t *place, double g0, int by_norm, int of_weight, \\
            uint8_t *informed_paths, double *value, uint8_t *kept) \\
        { \\
            return cwtool_end( \\
                paths, n, slot, began, counts, weights, place, g0, by_norm, of_weight, \\
                informed_paths, value, kept); \\
        } \\
        CWTOOL_WIDE static void cwtool_add_##paths( \\
            Py_ssize_t n, const int32_t *index, const double *value, double scale, \\
            Py_ssize_t ahead, const double *shared, Py_ssize_t width, const double *weights, \\
            const double *counts, double g0, int by_norm, double *f) \\
        { \\
            cwtool_add( \\
                paths, n, index, value, scale, ahead, shared, width, weights, counts, g0, \\
                by_norm, f); \\
        }
    CWTOOL_PATHS(4)
    CWTOOL_PATHS(8)

    typedef struct {
        Py_ssize_t (*look)(
            Py_ssize_t, const int32_t *, const double *, const double *, double, int, int,
            const double *, Py_ssize_t, int32_t *, int32_t *, double *, double *, Py_ssize_t,
            double *);
        void (*descend)(
            Py_ssize_t, const int32_t *, const double *, double *, const double *);
        Py_ssize_t (*end)(
            Py_ssize_t, const int32_t *, const double *, const double *, double *, int32_t *,
            double, int, int, uint8_t *, double *, uint8_t *);
        void (*add)(
            Py_ssize_t, const int32_t *, const double *, double, Py_ssize_t, const double *,
            Py_ssize_t, const double *, const double *, double, int, double *);
    } cwtool_path_loops;

    static const cwtool_path_loops *cwtool_loops_of(Py_ssize_t paths)
    {
        static const cwtool_path_loops four = {
            cwtool_look_4, cwtool_descend_4, cwtool_end_4, cwtool_add_4};
        static const cwtool_path_loops eight = {
            cwtool_look_8, cwtool_descend_8, cwtool_end_8, cwtool_add_8};
        return paths == 4 ? &four : paths == 8 ? &eight : NULL;
    }
    """
    ctypedef struct PathLoops "cwtool_path_loops":
        # look, descend and end_burst of all_paths.pyx
        Py_ssize_t look(
            Py_ssize_t n, const int32_t* index, const double* value, const double* weights,
            double h, bint informs, bint by_norm, const double* mask, Py_ssize_t ahead,
            int32_t* place, int32_t* slot, double* began, double* counts, Py_ssize_t touched,
            double* f,
        ) noexcept nogil
        void descend(
            Py_ssize_t n, const int32_t* index, const double* value, double* weights,
            const double* step,
        ) noexcept nogil
        Py_ssize_t end(
            Py_ssize_t n, const int32_t* slot, const double* began, const double* counts,
            double* weights, int32_t* place, double g0, bint by_norm, bint of_weight,
            uint8_t* paths, double* value, uint8_t* kept,
        ) noexcept nogil
        # add_row of path_weights.pyx
        void add(
            Py_ssize_t n, const int32_t* index, const double* value, double scale,
            Py_ssize_t ahead, const double* shared, Py_ssize_t width, const double* weights,
            const double* counts, double g0, bint by_norm, double* f,
        ) noexcept nogil

    # NULL for other numbers of paths
    const PathLoops* loops_of "cwtool_loops_of"(Py_ssize_t paths) noexcept nogil
