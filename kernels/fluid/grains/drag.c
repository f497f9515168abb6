/* The law of drag of a point, and what its own force adds to the velocity around it. */
#include "kernels/fluid/grains/points.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
#define DENSEST 0.7 /* greatest solid fraction of the law: that of spheres at random is 0.64 */

double fluid_drag_factor(int law, double reynolds, double solid) {
  if (law == FLUID_STOKES) return 1;
  const double alone = reynolds <= 1000 ? 1 + 0.15 * pow(reynolds, 0.687) : 0.44 / 24 * reynolds;
  if (law != FLUID_DI_FELICE || !(solid > 0)) return alone;
  const double far = reynolds > 0 ? 1.5 - log10(reynolds) : INFINITY;
  return alone * pow(1 - fmin(solid, DENSEST), -(4.7 - 0.65 * exp(-far * far / 2)));
}

double fluid_crowd_share(double solid) {
  const double p = fmin(solid, DENSEST), q = (1 - p) * (1 - p);
  return q * q / (1 + p * (4 + p * (4 + p * (p - 4))));
}

/* 1 - sqrt(pi) x erfcx(x); above 6 by its asymptotic series, whose next term is below 1e-6 of it. */
static double screened(double x) {
  const double y = 1 / (2 * x * x);
  return x < 6 ? 1 - sqrt(pi) * x * exp(x * x) * erfc(x) : y * (1 - y * (3 - y * (15 - 105 * y)));
}

double fluid_own_share(double moving) {
  enum { POINTS = 8 }; /* of Gauss and Legendre, in c^2 = a: they lie closer where x is small */
  static const double at[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  static const double by[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  double sum = 0;
  for (int i = 0; i < POINTS; i++) {
    const double root = (1 + (i % 2 ? at[i / 2] : -at[i / 2])) / 2, c = root * root;
    sum += by[i / 2] * root * (1 - c * c) * screened(c * moving);
  }
  return 1.5 * sum;
}
