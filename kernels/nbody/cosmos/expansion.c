#include "kernels/nbody/cosmos/expansion.h"
#include "kernels/common/vector.h"

#include <math.h>

/* Nodes and weights of Gauss's rule on [-1, 1]; the negative nodes have the same weights. */
static const double nodes[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
static const double weights[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};

double nbody_integral(double (*f)(double x, const void *context), const void *context, double low, double high,
                      int panels) {
  const double half = 0.5 * (high - low) / panels;
  double sum = 0;
  for (int p = 0; p < panels; p++) {
    const double middle = low + (2 * p + 1) * half;
    for (int i = 0; i < 4; i++)
      sum += weights[i] * (f(middle - half * nodes[i], context) + f(middle + half * nodes[i], context));
  }
  return half * sum;
}

/* a^3 (H/H0)^2 = omega_m + omega_k a + omega_lambda a^3. */
static double cubic(const nbody_expansion *e, double a) {
  return e->omega_m + a * ((1 - e->omega_m - e->omega_lambda) + a * a * e->omega_lambda);
}

bool nbody_expansion_lasts(const nbody_expansion *e, double a) {
  const double curvature = 1 - e->omega_m - e->omega_lambda;
  if (!(cubic(e, a) > 0)) return false;
  if (curvature >= 0 || !(e->omega_lambda > 0)) return true;
  const double least = sqrt(-curvature / (3 * e->omega_lambda)); /* scale factor of the cubic's minimum */
  return least >= a || cubic(e, least) > 0;
}

double nbody_hubble(const nbody_expansion *e, double a) { return e->H0 * sqrt(cubic(e, a) / (a * a * a)); }

static double kick_rate(double a, const void *context) { /* (dt/a)/da = 1/(a^2 H) */
  const nbody_expansion *e = context;
  return 1 / (e->H0 * sqrt(a * cubic(e, a)));
}

static double drift_rate(double a, const void *context) { return kick_rate(a, context) / a; }

/* Number of panels for an integral from a to b. Over a panel of ratio r the rule of 8 points has a relative error of
 * about ((sqrt(r) - 1)/(sqrt(r) + 1))^16 for a power of a: 1e-16 for r = 1.5. */
static int panels_for(double a, double b) { return b <= 1.5 * a ? 1 : (int)ceil(2 * (b / a - 1)); }

double nbody_kick_factor(const nbody_expansion *e, double a, double b) {
  return nbody_integral(kick_rate, e, a, b, panels_for(a, b));
}

double nbody_drift_factor(const nbody_expansion *e, double a, double b) {
  return nbody_integral(drift_rate, e, a, b, panels_for(a, b));
}

/* Integrand of Heath's integral of da/(a H/H0)^3 over u = sqrt(a): in a itself, a^(3/2)/cubic^(3/2) is not smooth. */
static double heath_rate(double u, const void *context) {
  const double c = cubic(context, u * u);
  return 2 * u * u * u * u / (c * sqrt(c));
}

static double heath(const nbody_expansion *e, double a) { return nbody_integral(heath_rate, e, 0, sqrt(a), 64); }

double nbody_growth(const nbody_expansion *e, double a) {
  return 2.5 * e->omega_m * (nbody_hubble(e, a) / e->H0) * heath(e, a);
}

/* dlnD/dlna = dlnH/dlna + a/((a H/H0)^3 integral) */
double nbody_growth_rate(const nbody_expansion *e, double a) {
  const double c = cubic(e, a), slope = (1 - e->omega_m - e->omega_lambda) + 3 * e->omega_lambda * a * a;
  return 0.5 * (a * slope / c - 3) + a * (a * sqrt(a)) / (c * sqrt(c)) / heath(e, a);
}

double nbody_mean_density(const nbody_expansion *e, double G) { return 3 * e->omega_m * e->H0 * e->H0 / (8 * pi * G); }
