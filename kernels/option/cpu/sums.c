/* The kernel of option_sum, compiled once for each instruction set and precision of payoffs. Arithmetic is fp64
 * without contraction: the same bits on every instruction set. */
#include "kernels/option/cpu/sums.h"

#include "engine/reduce.h"

#include <stdbool.h>
#include <string.h>

#if OPTION_SINGLE
typedef float real;
#else
typedef double real;
#endif
/* Lanes of one register; the sums of all OPTION_SUM_LANES are in PARTS of them. */
#if defined(__AVX512F__)
enum { WIDTH = 8 };
#elif defined(__AVX__)
enum { WIDTH = 4 };
#else
enum { WIDTH = 2 };
#endif
enum { PARTS = OPTION_SUM_LANES / WIDTH };
typedef real reals __attribute__((vector_size(WIDTH * sizeof(real))));
typedef double doubles __attribute__((vector_size(WIDTH * sizeof(double))));
#define SUMS_INLINE static inline __attribute__((always_inline))

SUMS_INLINE doubles total(const option_addend *addend, int count, int at) {
  doubles sum = {0};
  for (int k = 0; k < count; k++) {
    reals x;
    memcpy(&x, (const real *)addend[k].from + at, sizeof x);
    sum += __builtin_convertvector(x, doubles) * addend[k].factor;
  }
  return sum;
}

/* Adds the samples from `at` on, of which the first `left` count. */
SUMS_INLINE void add(const option_sum *s, int addends, bool controlled, int at, int left, doubles *first,
                     doubles *second) {
#pragma GCC unroll 8
  for (int part = 0; part < PARTS; part++) {
    const int from = at + part * WIDTH;
    doubles d = total(s->addend, addends, from);
    if (controlled) d -= (total(s->control, s->controls, from) - s->control_mean) * s->slope;
    d -= s->shift;
    for (int lane = 0; lane < WIDTH && left < OPTION_SUM_LANES; lane++)
      if (part * WIDTH + lane >= left) d[lane] = 0;
    first[part] += d;
    second[part] += d * d;
  }
}

SUMS_INLINE void add_all(const option_sum *s, int addends, bool controlled, int count, double *out) {
  doubles first[PARTS] = {{0}}, second[PARTS] = {{0}};
  const int whole = count / OPTION_SUM_LANES * OPTION_SUM_LANES;
  for (int at = 0; at < whole; at += OPTION_SUM_LANES) add(s, addends, controlled, at, OPTION_SUM_LANES, first, second);
  if (whole < count) add(s, addends, controlled, whole, count - whole, first, second);
  double lanes[OPTION_SUMS_OF][OPTION_SUM_LANES];
  memcpy(lanes[OPTION_SUM_FIRST], first, sizeof first);
  memcpy(lanes[OPTION_SUM_SECOND], second, sizeof second);
  for (int i = 0; i < OPTION_SUM_LANES; i++) {
    const int own = whole / OPTION_SUM_LANES + (i < count - whole);
    const double sum = lanes[OPTION_SUM_FIRST][i], square = lanes[OPTION_SUM_SECOND][i];
    const double spread = own > 1 && square > sum * sum / own ? square - sum * sum / own : 0;
    lanes[OPTION_SUM_LANE][i] = spread;
    lanes[OPTION_SUM_LANE_SQUARE][i] = spread * spread;
  }
  for (int k = 0; k < OPTION_SUMS_OF; k++) out[k] = sim_reduce_tree(lanes[k], OPTION_SUM_LANES);
}

/* Reads arrays up to the next multiple of OPTION_SUM_LANES. */
option_sum_kernel OPTION_SUMS;
void OPTION_SUMS(const option_sum *s, int count, double out[OPTION_SUMS_OF]) {
  if (s->controls > 0)
    add_all(s, s->addends, true, count, out);
  else if (s->addends == 1)
    add_all(s, 1, false, count, out);
  else if (s->addends == 2)
    add_all(s, 2, false, count, out);
  else
    add_all(s, s->addends, false, count, out);
}
