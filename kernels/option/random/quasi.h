/* Scrambled Sobol points, and the order in which paths use their dimensions. */
#ifndef OPTION_RANDOM_QUASI_H
#define OPTION_RANDOM_QUASI_H

#include "engine/status.h"
#include "kernels/option/limits.h"

#include <stdint.h>

struct option_parameters;

/* Sobol points replace the random bits of normals and of Heston's variance. Path number: scramble <<
 * OPTION_SCRAMBLE_SHIFT | index of the point. Scrambles are random linear ones: a lower triangular bit matrix for
 * each dimension, and a shift (J. Matousek, Journal of Complexity 14 (1998) 527), with the variance of Owen's
 * scrambling. Normals come from inversion. Dimension k * each + a is asset a at point k of the bridge, or principal
 * component k; dimension k * each + variance[a] is its variance at step k. */
enum { OPTION_SOBOL_BITS = 32, OPTION_SOBOL_DIMENSIONS = 4096, OPTION_SCRAMBLE_SHIFT = 40 };

/* One point of a bridge: w[point] = from_left w[left] + from_right w[right] + spread z. */
typedef struct option_bridge {
  int point, left, right;
  double from_left, from_right, spread;
} option_bridge;

typedef struct option_quasi {
  int scrambles, dimensions, each, hestons; /* each: dimensions a step; hestons: assets of Heston or SABR */
  int variance[OPTION_ASSETS_MAX];          /* -1: not a Heston asset */
  const uint32_t *direction, *shift; /* [scrambles][dimensions][OPTION_SOBOL_BITS], [scrambles][dimensions]; owned */
  const option_bridge *bridge;       /* [steps], in the order of use; owned */
  const double *component;           /* [steps][steps], component by component; owned; NULL: bridges */
} option_quasi;

/* Computes the tables in host memory; freed by option_quasi_free. SIM_ERR_NO_MEMORY. */
sim_status option_quasi_create(const struct option_parameters *p, option_quasi *out) SIM_MUST_CHECK;
void option_quasi_free(option_quasi *quasi);
/* Dimensions of a point; capped at OPTION_SOBOL_DIMENSIONS + 1. */
int option_quasi_dimensions(const struct option_parameters *p);
double option_quasi_bytes(const struct option_parameters *p);

#endif
