#include "kernels/nbody/cosmos/power.h"
#include "kernels/common/vector.h"

#include <math.h>

double nbody_transfer(double omega_m, double omega_b, double h, double k) {
  const double theta = 2.7255 / 2.7, m = omega_m * h * h, b = omega_b * h * h, share = omega_b / omega_m;
  const double s = 44.5 * log(9.83 / m) / sqrt(1 + 10 * pow(b, 0.75)); /* sound horizon in Mpc */
  const double alpha = 1 - 0.328 * log(431 * m) * share + 0.38 * log(22.3 * m) * share * share;
  const double shape = omega_m * h * (alpha + (1 - alpha) / (1 + pow(0.43 * k * h * s, 4)));
  const double q = k * theta * theta / shape;
  const double L = log(2 * exp(1) + 1.8 * q), C = 14.2 + 731 / (1 + 62.5 * q);
  return L / (L + C * q * q);
}

static double of_rows(const sim_doubles *rows, double k) {
  const double *row = rows->data;
  size_t i = 0;
  while (i + 2 < rows->rows && k > row[2 * (i + 1)]) i++;
  row += 2 * i;
  return row[1] * pow(k / row[0], log(row[3] / row[1]) / log(row[2] / row[0]));
}

double nbody_power_at(const nbody_power *power, double k) {
  if (power->rows != NULL) return power->scale * of_rows(power->rows, k);
  const double T = nbody_transfer(power->omega_m, power->omega_b, power->h, k);
  return power->scale * pow(k, power->index) * T * T;
}

typedef struct in_sphere {
  const nbody_power *power;
  double R;
} in_sphere;

/* dsigma^2/dlnk = k^3 P W^2 / (2 pi^2), with the transform W of a homogeneous sphere. */
static double sigma_rate(double ln_k, const void *context) {
  const in_sphere *s = context;
  const double k = exp(ln_k), x = k * s->R;
  const double W = x < 1e-2 ? 1 - x * x / 10 : 3 * (sin(x) - x * cos(x)) / (x * x * x);
  return k * k * k * nbody_power_at(s->power, k) * W * W / (2 * pi * pi);
}

/* Mean square of the density contrast in spheres of radius R; `within`: only of the waves that the rows cover. */
static double variance(const nbody_power *power, double R, bool within) {
  const in_sphere s = {power, R};
  double low = 1e-5 / R, high = 1e3 / R;
  if (within) {
    low = fmin(fmax(low, power->rows->data[0]), high);
    high = fmax(fmin(high, power->rows->data[2 * power->rows->rows - 2]), low);
  }
  return nbody_integral(sigma_rate, &s, log(low), log(high), 1000);
}

double nbody_sigma(const nbody_power *power, double R) { return sqrt(variance(power, R, false)); }

double nbody_sigma_within(const nbody_power *power, double R) {
  return variance(power, R, true) / variance(power, R, false);
}

static double contrast_rate(double ln_k, const void *power) {
  const double k = exp(ln_k);
  return k * k * k * nbody_power_at(power, k) / (2 * pi * pi);
}

static double displacement_rate(double ln_k, const void *power) { return contrast_rate(ln_k, power) / exp(2 * ln_k); }

/* Root of the integral of `rate` over the waves of the lattice. These fill a cube of n - 1 units without the unit cube
 * in its middle; both cubes are replaced by spheres of the same volume. */
static double over_lattice(double (*rate)(double ln_k, const void *power), const nbody_power *power, double size,
                           int64_t n) {
  const double least = 2 * pi / size * cbrt(3 / (4 * pi));
  return sqrt(nbody_integral(rate, power, log(least), log(least * (double)(n - 1)), 100));
}

double nbody_lattice_contrast(const nbody_power *power, double size, int64_t n) {
  return over_lattice(contrast_rate, power, size, n);
}

double nbody_lattice_displacement(const nbody_power *power, double size, int64_t n) {
  return over_lattice(displacement_rate, power, size, n);
}

nbody_power nbody_power_of(const nbody_zeldovich *z, const nbody_expansion *e) {
  nbody_power power = {.rows = z->power.rows > 0 ? &z->power : NULL,
                       .index = isnan(z->index) ? 0.965 : z->index,
                       .omega_m = e->omega_m,
                       .omega_b = isnan(z->omega_b) ? 0.049 : z->omega_b,
                       .h = e->h,
                       .scale = 1};
  if (power.rows != NULL && isnan(z->sigma8)) return power;
  const double sigma8 = isnan(z->sigma8) ? 0.81 : z->sigma8;
  power.scale = pow(sigma8 / nbody_sigma(&power, 8), 2);
  return power;
}
