/* Rows that are written past the caches, and the copies beyond the ends of a row. */
#ifndef FLUID_CPU_ENDS_H
#define FLUID_CPU_ENDS_H

#include "kernels/fluid/cpu/vectors.h"

enum { WHOLE = VECTOR_BYTES / sizeof(real) };

/* The first and the last whole vector of each number of a row, which the copies beyond its ends are taken from. */
typedef struct row_ends {
  vreal side[2][FLUID_DIRECTIONS_MAX];
} row_ends;

/* Whether a row is to be written past the caches. */
static inline bool streams(const fluid_row *r) {
  return STREAMS && r->large && r->n >= 2 * WHOLE && (uintptr_t)r->to % VECTOR_BYTES == 0;
}

/* First cell of the last whole vector of a row. */
static inline int64_t last_vector(const fluid_row *r) { return r->n / WHOLE * WHOLE - WHOLE; }

/* Copies the ends of the first `copied` numbers of a row beyond it along a periodic x. */
static inline void copy_row_ends(const fluid_row *r, int copied) {
  real *row = r->to;
  for (int c = 0; r->periodic && c < copied; c++, row += r->stride) {
    row[-1] = row[r->n - 1];
    row[r->n] = row[0];
  }
}

/* Writes the ends of a row of `numbers`, and the copies of the first `copied` beyond it. A line of a cache that holds
 * two copies alone is written as a whole. */
static inline void stream_ends(const fluid_row *r, const row_ends *ends, int numbers, int copied) {
  const int64_t last = last_vector(r);
  const bool whole = r->n == last + WHOLE, full = whole && r->stride == r->n + WHOLE;
  real *row = r->to;
  for (int c = 0; c < numbers; c++, row += r->stride) {
    stream_vector(row, ends->side[0][c]);
    stream_vector(row + last, ends->side[1][c]);
    if (!r->periodic || c >= copied) continue;
    if (full && c + 1 < copied) {
      vreal copies = {0};
      copies[0] = ends->side[0][c][0];
      copies[WHOLE - 1] = ends->side[1][c + 1][WHOLE - 1];
      stream_vector(row + r->n, copies);
    } else {
      row[r->n] = ends->side[0][c][0];
    }
    if (!full || c == 0) row[-1] = whole ? ends->side[1][c][WHOLE - 1] : row[r->n - 1];
  }
}

#endif
