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
    } cwtool_node;
    typedef struct {
        double *rows;
        Py_ssize_t width, room;
        int32_t *links;
        double *entries;
        Py_ssize_t length;
        double *U, *e;
        Py_ssize_t m, K, k, dense, n_rows, n_entries;
        uint64_t *bare;
        int32_t *heads, *lines;
        Py_ssize_t line, n_lines;
        cwtool_node *nodes;
        Py_ssize_t n_nodes;
        int marked, behind;
    } cwtool_factor;
    #define CWTOOL_INSIDE static inline __attribute__((always_inline))
    /* places in a row, as in factor.pxd */
    enum {cwtool_mean, cwtool_chain, cwtool_precision, cwtool_loading};

    CWTOOL_INSIDE int cwtool_is_bare(const uint64_t *bare, Py_ssize_t number)
    {
        return bare[number >> 6] >> (number & 63) & 1;
    }

    CWTOOL_INSIDE uint64_t cwtool_dressed(const cwtool_factor *f, Py_ssize_t word)
    {
        const uint64_t all = UINT64_MAX, last = all >> (63 - f->n_rows % 64);
        return (word < f->n_rows / 64 ? all : last) & ~f->bare[word];
    }

    static void cwtool_fetch(
        const cwtool_factor *f, Py_ssize_t nnz, const int32_t *index, const double *table)
    {
        for (Py_ssize_t a = 0; a < nnz; a++) {
            const Py_ssize_t number = (Py_ssize_t) table[index[a]];
            const double *own = f->rows + number * f->width;
            __builtin_prefetch(own, 0, 3);
            __builtin_prefetch(own + 8 * !cwtool_is_bare(f->bare, number), 0, 3);
            __builtin_prefetch(f->heads + number, 0, 3);
        }
        __asm__ volatile (""); /* else its calls are removed */
    }

    CWTOOL_WIDE static void cwtool_project(
        const cwtool_factor *f, Py_ssize_t nnz, const double *value, double scale,
        const int64_t *number, double *g, double *z, double *sums, int64_t *found, double *weight)
    {
        const double *rows = f->rows;
        const int32_t *heads = f->heads, *lines = f->lines;
        const uint64_t *bare = f->bare;
        const cwtool_node *nodes = f->nodes;
        const Py_ssize_t width = f->width, line = f->line, dense = f->dense;
        double mean = 0.0, v = 0.0, xx = 0.0;
        cwtool_four r0 = {0.0}, r1 = {0.0};
        Py_ssize_t n = 0, lined = 0;
        for (Py_ssize_t a = 0; a < nnz; a++) {
            const double *own = rows + number[a] * width;
            const double x = scale * value[a], gx = x / (1.0 + own[cwtool_precision]);
            g[a] = gx;
            xx += x * x;
            v += gx * x;
            mean += own[cwtool_mean] * x;
            found[n] = a; /* those that are not bare, without a branch */
            n += !cwtool_is_bare(bare, number[a]);
        }
        for (Py_ssize_t i = 0; i < n; i++) {
            const Py_ssize_t own = number[found[i]];
            const double *loading = rows + own * width + cwtool_loading, gx = g[found[i]];
            if (dense == 8) { /* the usual rank */
                r0 += gx * CWTOOL_FOUR(loading);
                r1 += gx * CWTOOL_FOUR(loading + 4);
            } else
                for (Py_ssize_t c = 0; c < dense; c++)
                    z[c] += gx * loading[c];
            found[lined] = line * heads[own]; /* the lines of those that have one */
            weight[lined] = gx;
            lined += heads[own] != 0;
        }
        if (dense == 8) {
            CWTOOL_FOUR(z) = r0;
            CWTOOL_FOUR(z + 4) = r1;
        }
        const Py_ssize_t end = lined ? (f->k + CWTOOL_SPAN - 1) / CWTOOL_SPAN : 0;
        for (Py_ssize_t s = dense / CWTOOL_SPAN; s < end; s += 2) {
            double *to = z + CWTOOL_SPAN * s;
            cwtool_four z0 = CWTOOL_FOUR(to), z1 = CWTOOL_FOUR(to + 4);
            cwtool_four z2 = CWTOOL_FOUR(to + 8), z3 = CWTOOL_FOUR(to + 12);
            for (Py_ssize_t i = 0; i < lined; i++) {
                const int32_t *two = lines + found[i] + s;
                const double *a = nodes[two[0]].value, *b = nodes[two[1]].value;
                z0 += weight[i] * CWTOOL_FOUR(a);
                z1 += weight[i] * CWTOOL_FOUR(a + 4);
                z2 += weight[i] * CWTOOL_FOUR(b);
                z3 += weight[i] * CWTOOL_FOUR(b + 4);
            }
            CWTOOL_FOUR(to) = z0;
            CWTOOL_FOUR(to + 4) = z1;
            CWTOOL_FOUR(to + 8) = z2;
            CWTOOL_FOUR(to + 12) = z3;
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
        const cwtool_factor *f, const double *c, const double *E, double *S, double small)
    {
        const Py_ssize_t words = f->n_rows / 64 + 1, width = cwtool_loading + 8;
        for (Py_ssize_t word = 0; word < words; word++) {
            uint64_t left = word + 1 < words ? cwtool_dressed(f, word + 1) : 0;
            for (; left; left &= left - 1) {
                const double *soon = f->rows + (64 * word + 64 + __builtin_ctzll(left)) * width;
                __builtin_prefetch(soon, 1, 3);
                __builtin_prefetch(soon + 8, 1, 3);
            }
            for (left = cwtool_dressed(f, word); left; left &= left - 1) {
                const int bit = __builtin_ctzll(left);
                double *own = f->rows + (64 * word + bit) * width;
                if (!cwtool_turn(own, f->links, f->entries, c, E, S, small))
                    f->bare[word] |= (uint64_t) 1 << bit;
            }
        }
    }
    """
    # What a feature has in SPAN columns of B, from a multiple of SPAN on.
    enum: SPAN "CWTOOL_SPAN"
    ctypedef struct Node "cwtool_node":
        double* value

    ctypedef struct Factor "cwtool_factor":
        double* rows
        Py_ssize_t width
        Py_ssize_t room       # for rows
        int32_t* links
        double* entries
        Py_ssize_t length     # room for entries
        double* U             # K x K
        double* e
        Py_ssize_t m
        Py_ssize_t K
        Py_ssize_t k          # columns of W
        Py_ssize_t dense      # of them in R: m, or 0 before the first fit
        Py_ssize_t n_rows
        Py_ssize_t n_entries
        uint64_t* bare        # a bit for each row that surely has neither loadings nor entries
        bint marked           # all such rows up to the last fit have their bit
        int32_t* heads        # the line of each row that has entries, or 0
        int32_t* lines        # the numbers of its nodes by span, 0: none; at the end the row's own
        Py_ssize_t line       # numbers in a line
        Py_ssize_t n_lines
        Node* nodes           # the entries of B again, several columns of a row in one node
        Py_ssize_t n_nodes
        bint behind           # there may be rows whose entries have no nodes yet

    # ask for the rows of the features at these slots of the table
    void fetch "cwtool_fetch"(
        const Factor* f, Py_ssize_t nnz, const int32_t* index, const double* table
    ) noexcept nogil

    # g = D^-1 x, z = W'D^-1 x, where z has up to 2 SPAN numbers beyond its columns; sums: mu.x,
    # x'D^-1 x and x.x; the last two are room to work in
    void project "cwtool_project"(
        const Factor* f, Py_ssize_t nnz, const double* value, double scale, const int64_t* number,
        double* g, double* z, double* sums, int64_t* found, double* weight,
    ) noexcept nogil

    # U'z = b, in place
    void forward "cwtool_forward"(
        const double* U, Py_ssize_t n, Py_ssize_t stride, double* b
    ) noexcept nogil

    # the bits of 64 rows that are there and not bare
    uint64_t dressed "cwtool_dressed"(const Factor* f, Py_ssize_t word) noexcept nogil

    # turn_rows of turning.pxd for rank 8; S is added to
    void turn_eight "cwtool_turn_rows"(
        const Factor* f, const double* c, const double* E, double* S, double small
    ) noexcept nogil
