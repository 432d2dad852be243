/* Loops in the vectors of the C compiler, which kernels share. */

#ifndef CWTOOL_VECTORS_H
#define CWTOOL_VECTORS_H

#include <stdint.h>

/* On x86-64 such a function is compiled twice, for processors with vectors of 256 bits and for all,
   or three times, also for those with vectors of 512 bits. Nothing is contracted and no sum is
   regrouped, so that the bits are the same. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define CWTOOL_WIDE __attribute__((target_clones("avx2", "default")))
#define CWTOOL_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CWTOOL_WIDE
#define CWTOOL_WIDEST
#endif

/* Four numbers at any address of a double. */
typedef double cwtool_four __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t cwtool_bits __attribute__((vector_size(32), aligned(8), may_alias));
#define CWTOOL_FOUR(address) (*(cwtool_four *) (address))

/* The absolute values of four numbers. */
#define CWTOOL_SIZE(v) ((cwtool_four) ((cwtool_bits) (v) & INT64_MAX))

#endif
