"""The loops of a factored covariance that take most of its time, in C.

On x86-64 they are compiled twice, for processors with vectors of 256 bits and for all; nothing is
contracted and no sum is regrouped, so that the bits are the same.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t


cdef extern from *:
    """
    #include "vectors.h"
    #define CWTOOL_SPAN 8 /* columns of a node */
    typedef struct {
        double value[CWTOOL_SPAN];
        int32_t next, column, owner;
    } cwtool_node;
    #define CWTOOL_INSIDE static inline __attribute__((always_inline))
    /* places in a row, as in factor.pxd */
    enum {cwtool_mean, cwtool_chain, cwtool_precision, cwtool_loading};

    static void cwtool_locate(
        Py_ssize_t nnz, const int32_t *index, const double *table, const double *rows,
        Py_ssize_t width, const int32_t *heads, int64_t *number)
    {
        for (Py_ssize_t a = 0; a < nnz; a++) {
            number[a] = (int64_t) table[index[a]];
            __builtin_prefetch(heads + number[a], 0, 3);
            __builtin_prefetch(rows + number[a] * width, 0, 3);
            __builtin_prefetch(rows + number[a] * width + 8, 0, 3);
        }
    }

    CWTOOL_WIDE static void cwtool_project(
        Py_ssize_t nnz, const double *value, double scale, const double *rows, Py_ssize_t width,
        const int32_t *heads, const cwtool_node *nodes, Py_ssize_t dense, const int64_t *number,
        double *g, double *z, double *sums)
    {
        double mean = 0.0, v = 0.0, xx = 0.0;
        cwtool_four r0 = {0.0}, r1 = {0.0};
        for (Py_ssize_t a = 0; a < nnz; a++) {
            const double *own = rows + number[a] * width, *loading = own + cwtool_loading;
            const double x = scale * value[a], gx = x / (1.0 + own[cwtool_precision]);
            g[a] = gx;
            xx += x * x;
            v += gx * x;
            mean += own[cwtool_mean] * x;
            if (dense == 8) { /* the usual rank */
                r0 += gx * CWTOOL_FOUR(loading);
                r1 += gx * CWTOOL_FOUR(loading + 4);
            } else
                for (Py_ssize_t c = 0; c < dense; c++)
                    z[c] += gx * loading[c];
        }
        if (dense == 8) {
            CWTOOL_FOUR(z) = r0;
            CWTOOL_FOUR(z + 4) = r1;
        }
        for (Py_ssize_t a = 0; a < nnz; a++)
            for (int32_t i = heads[number[a]]; i; i = nodes[i].next) {
                const cwtool_node *node = nodes + i;
                for (int c = 0; c < CWTOOL_SPAN; c += 4)
                    CWTOOL_FOUR(z + node->column + c) += g[a] * CWTOOL_FOUR(node->value + c);
            }
        sums[0] = mean;
        sums[1] = v;
        sums[2] = xx;
    }

    CWTOOL_WIDE static void cwtool_forward(
        const double *U, Py_ssize_t n, Py_ssize_t stride, double *restrict b)
    {
        Py_ssize_t j = 0;
        for (; j + 4 <= n; j += 4) { /* four columns at once, subtracted one after the other */
            const double *u0 = U + j * stride, *u1 = u0 + stride, *u2 = u1 + stride;
            const double *u3 = u2 + stride;
            const double z0 = b[j] / u0[j];
            const double z1 = (b[j + 1] - z0 * u0[j + 1]) / u1[j + 1];
            const double z2 = (b[j + 2] - z0 * u0[j + 2] - z1 * u1[j + 2]) / u2[j + 2];
            const double z3 = (b[j + 3] - z0 * u0[j + 3] - z1 * u1[j + 3] - z2 * u2[j + 3])
                              / u3[j + 3];
            b[j] = z0;
            b[j + 1] = z1;
            b[j + 2] = z2;
            b[j + 3] = z3;
            for (Py_ssize_t i = j + 4; i < n; i++)
                b[i] = b[i] - z0 * u0[i] - z1 * u1[i] - z2 * u2[i] - z3 * u3[i];
        }
        for (; j < n; j++) {
            const double *u = U + j * stride, z = b[j] / u[j];
            b[j] = z;
            for (Py_ssize_t i = j + 1; i < n; i++)
                b[i] -= z * u[i];
        }
    }

    /* The sum of four numbers, added in the order of dense.pxd. */
    CWTOOL_INSIDE double cwtool_sum(cwtool_four v)
    {
        return (v[0] + v[1]) + (v[2] + v[3]);
    }

    CWTOOL_INSIDE int cwtool_turn(
        double *own, const int32_t *links, const double *entries, const double *c,
        const double *E, double *S, double small)
    {
        double *loading = own + cwtool_loading;
        const cwtool_four w0 = CWTOOL_FOUR(loading), w1 = CWTOOL_FOUR(loading + 4);
        cwtool_four r0 = {0.0}, r1 = {0.0};
        double shift = cwtool_sum(w0 * CWTOOL_FOUR(c) + w1 * CWTOOL_FOUR(c + 4));
        double total = cwtool_sum(w0 * w0 + w1 * w1);
        for (int i = 0; i < 8; i++) {
            const double w = i < 4 ? w0[i] : w1[i - 4];
            r0 += w * CWTOOL_FOUR(E + 8 * i);
            r1 += w * CWTOOL_FOUR(E + 8 * i + 4);
        }
        for (int32_t entry = (int32_t) own[cwtool_chain]; entry; entry = links[2 * entry]) {
            const double w = entries[entry];
            const Py_ssize_t i = links[2 * entry + 1];
            shift += w * c[i];
            total += w * w;
            r0 += w * CWTOOL_FOUR(E + 8 * i);
            r1 += w * CWTOOL_FOUR(E + 8 * i + 4);
        }
        own[cwtool_mean] += shift / (1.0 + own[cwtool_precision]);
        own[cwtool_chain] = 0.0;
        const double within = cwtool_sum(r0 * r0 + r1 * r1);
        if (small * within <= 1.0 + own[cwtool_precision] + total) {
            own[cwtool_precision] += total;
            CWTOOL_FOUR(loading) = CWTOOL_FOUR(loading + 4) = (cwtool_four) {0.0};
            return 0;
        }
        own[cwtool_precision] += total > within ? total - within : 0.0;
        CWTOOL_FOUR(loading) = r0;
        CWTOOL_FOUR(loading + 4) = r1;
        const double s = 1.0 / (1.0 + own[cwtool_precision]);
        const cwtool_four x0 = s * r0, x1 = s * r1;
        for (int i = 0; i < 8; i++) {
            const double x = i < 4 ? x0[i] : x1[i - 4];
            if (i < 4)
                CWTOOL_FOUR(S + 8 * i) += x * r0;
            CWTOOL_FOUR(S + 8 * i + 4) += x * r1;
        }
        return 1;
    }

    CWTOOL_WIDE static void cwtool_turn_rows(
        uint64_t *marks, Py_ssize_t words, double *rows, const int32_t *links,
        const double *entries, const double *c, const double *E, double *S, double small)
    {
        for (Py_ssize_t word = 0; word < words; word++)
            for (uint64_t left = marks[word]; left; left &= left - 1) {
                const int bit = __builtin_ctzll(left);
                double *own = rows + (64 * word + bit) * (cwtool_loading + 8);
                if (!cwtool_turn(own, links, entries, c, E, S, small))
                    marks[word] ^= (uint64_t) 1 << bit;
            }
    }
    """
    # What a feature has in SPAN columns of B, from a multiple of SPAN on; the number of the row
    # that owns the node, and another node of this row, or 0.
    enum: SPAN "CWTOOL_SPAN"
    ctypedef struct Node "cwtool_node":
        double* value
        int32_t next
        int32_t column
        int32_t owner

    # number: that of the row of each entry; what belongs to it is fetched early
    void locate "cwtool_locate"(
        Py_ssize_t nnz, const int32_t* index, const double* table, const double* rows,
        Py_ssize_t width, const int32_t* heads, int64_t* number,
    ) noexcept nogil

    # g = D^-1 x, z = W'D^-1 x; sums: mu.x, x'D^-1 x and x.x
    void project "cwtool_project"(
        Py_ssize_t nnz, const double* value, double scale, const double* rows, Py_ssize_t width,
        const int32_t* heads, const Node* nodes, Py_ssize_t dense, const int64_t* number,
        double* g, double* z, double* sums,
    ) noexcept nogil

    # U'z = b, in place
    void forward "cwtool_forward"(
        const double* U, Py_ssize_t n, Py_ssize_t stride, double* b
    ) noexcept nogil

    # turn_rows of turning.pxd for rank 8; S is added to
    void turn_eight "cwtool_turn_rows"(
        uint64_t* marks, Py_ssize_t words, double* rows, const int32_t* links,
        const double* entries, const double* c, const double* E, double* S, double small,
    ) noexcept nogil
