/* Numbers side by side, and neighbours of cells, for kernels that are compiled once for each instruction set and
 * precision: FLUID_ISA and FLUID_SINGLE are defined. vector_on.inc and scalar_on.inc say what a text that is included
 * twice is made of. */
#ifndef FLUID_CPU_VECTORS_H
#define FLUID_CPU_VECTORS_H

#include "kernels/fluid/cpu/kernels.h"

#if FLUID_ISA >= 1
#include <immintrin.h>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if FLUID_SINGLE
typedef float real;
#else
typedef double real;
#endif

#define FLUID_INLINE static inline __attribute__((always_inline))

#if FLUID_ISA == 2
#define VECTOR_BYTES 64
#elif FLUID_ISA == 1
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
typedef real vreal __attribute__((vector_size(VECTOR_BYTES)));
typedef real vreal_anywhere __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));
#if FLUID_SINGLE
typedef int32_t vint __attribute__((vector_size(VECTOR_BYTES)));
#else
typedef int64_t vint __attribute__((vector_size(VECTOR_BYTES)));
#endif

enum { LINE = 64 / sizeof(real) }; /* numbers of a line of a cache */

/* a b + c, rounded once */
#if FLUID_SINGLE
FLUID_INLINE real fused(real a, real b, real c) { return __builtin_fmaf(a, b, c); }
#else
FLUID_INLINE real fused(real a, real b, real c) { return __builtin_fma(a, b, c); }
#endif
FLUID_INLINE vreal fused_vector(vreal a, vreal b, vreal c) {
#if FLUID_SINGLE && FLUID_ISA == 2
  return (vreal)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif FLUID_SINGLE && FLUID_ISA == 1
  return (vreal)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif FLUID_ISA == 2
  return (vreal)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif FLUID_ISA == 1
  return (vreal)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  vreal out;
  for (size_t i = 0; i < sizeof a / sizeof a[0]; i++) out[i] = fused(a[i], b[i], c[i]);
  return out;
#endif
}

/* Stores a vector that is a whole line of a cache, which is neither read before nor kept there. */
#if FLUID_ISA == 2
#define STREAMS true
FLUID_INLINE void stream_vector(real *to, vreal a) {
#if FLUID_SINGLE
  _mm512_stream_ps(to, (__m512)a);
#else
  _mm512_stream_pd(to, (__m512d)a);
#endif
}
#else
#define STREAMS false
FLUID_INLINE void stream_vector(real *to, vreal a) { *(vreal_anywhere *)to = a; }
#endif

static inline bool any(vint a) {
  bool out = false;
  for (size_t i = 0; i < sizeof a / sizeof a[0]; i++) out = out || a[i] != 0;
  return out;
}

/* The first number, in a state `from`, of a cell's neighbour in a direction. */
static inline const real *neighbour(const fluid_lattice *l, const fluid_rows *rows, const fluid_cell *cell,
                                    const real *from, int direction) {
  const int8_t *c = l->c[direction];
  const int64_t ny = rows->n[1], nz = rows->n[2];
  const int64_t y = (cell->row % ny + c[1] + ny) % ny, z = (cell->row / ny + c[2] + nz) % nz;
  const int64_t x = cell->x + c[0];
  return from + fluid_row_at(rows, z * ny + y) + (rows->copies ? x : (x + rows->n[0]) % rows->n[0]);
}

/* What an interpolated link is to add where a cell has a force that is a function, or buoyancy: what these add to
 * populations in a step is not interpolated, so that the fluid at rest under them stays at rest (links.c has the same
 * of the acceleration). cell: one of links->cell where there is such a force. */
static inline real held(const fluid_lattice *l, const fluid_links *links, const fluid_cell *cell,
                        const fluid_link *link) {
  real along = 0;
  if (!links->push) return 0;
  for (int a = 0; a < l->rank; a++) along += l->c[link->arriving][a] * (real)links->push[cell - links->cell][a];
  return (real)(-3 * (1 - link->weight)) * along;
}

#endif
