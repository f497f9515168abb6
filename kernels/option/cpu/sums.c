/* The kernel of option_sum, compiled once for each instruction set and precision of payoffs. Arithmetic is fp64
 * without contraction: the same bits on every instruction set. */
#include "kernels/option/cpu/sums.h"

#include "engine/reduce.h"

#include <string.h>

#if OPTION_SINGLE
typedef float real;
#else
typedef double real;
#endif
typedef real reals __attribute__((vector_size(OPTION_SUM_LANES * sizeof(real))));
typedef double doubles __attribute__((vector_size(OPTION_SUM_LANES * sizeof(double))));

static inline __attribute__((always_inline)) doubles total(const option_addend *addend, int count, int at) {
  doubles sum = {0};
  for (int k = 0; k < count; k++) {
    reals x;
    memcpy(&x, (const real *)addend[k].from + at, sizeof x);
    sum += __builtin_convertvector(x, doubles) * addend[k].factor;
  }
  return sum;
}

/* Reads arrays up to the next multiple of LANES. */
option_sum_kernel OPTION_SUMS;
void OPTION_SUMS(const option_sum *s, int count, double out[2]) {
  doubles first = {0}, second = {0};
  for (int at = 0; at < count; at += OPTION_SUM_LANES) {
    doubles d = total(s->addend, s->addends, at);
    if (s->controls > 0) d -= (total(s->control, s->controls, at) - s->control_mean) * s->slope;
    d -= s->shift;
    for (int lane = count - at; lane < OPTION_SUM_LANES; lane++) d[lane] = 0;
    first += d;
    second += d * d;
  }
  double lanes[2][OPTION_SUM_LANES];
  memcpy(lanes[0], &first, sizeof first);
  memcpy(lanes[1], &second, sizeof second);
  for (int k = 0; k < 2; k++) out[k] = sim_reduce_tree(lanes[k], OPTION_SUM_LANES);
}
