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

/* a b + c, a b - c and c - a b */
#if FLUID_SINGLE && FLUID_ISA == 2
#define FUSED(a, b, c) ((vreal)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define FUSED_LESS(a, b, c) ((vreal)_mm512_fmsub_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define FUSED_OFF(a, b, c) ((vreal)_mm512_fnmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#elif FLUID_SINGLE && FLUID_ISA == 1
#define FUSED(a, b, c) ((vreal)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define FUSED_LESS(a, b, c) ((vreal)_mm256_fmsub_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define FUSED_OFF(a, b, c) ((vreal)_mm256_fnmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

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

/* share a + b, where share is a power of two, so that only the sum rounds. */
FLUID_INLINE vreal add_exact(real share, vreal a, vreal b) {
  const vreal all = share - (vreal){0};
  return share == 1 ? a + b : share == -1 ? b - a : FUSED(all, a, b);
}

/* a divided by an integer. */
FLUID_INLINE vreal divide(vreal a, int parts) {
#if FLUID_SINGLE && FLUID_ISA >= 1
  const vreal whole = (real)parts - (vreal){0}, part = 1 / (real)parts - (vreal){0}, near = a * part;
  return FUSED_OFF(FUSED_LESS(near, whole, a), part, near);
#else
  return a / (real)parts;
#endif
}

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
