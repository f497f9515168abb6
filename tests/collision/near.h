/* Checks and random numbers without other dependencies. */
#ifndef TESTS_COLLISION_NEAR_H
#define TESTS_COLLISION_NEAR_H

#include "tests/must.h"

#include <math.h>

static inline void near_to(double got, double expected, double within, const char *what) {
  if (!(fabs(got - expected) <= within))
    fail_msg("%s: got %.12g, expected %.12g within %.1e", what, got, expected, within);
}

/* Numbers of [0, 1), the same in each run. */
static inline double chance(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / 9007199254740992.0;
}

#endif
