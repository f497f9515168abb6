/* Hernquist spheres and exponential disks in equilibrium.
 *
 * A sphere's bodies are drawn from the isotropic distribution function of energy that Eddington's inversion gives for
 * its density in the potential of all matter (J. Binney and S. Tremaine, Galactic Dynamics, 2nd ed., section 4.3.1).
 * Density: L. Hernquist, ApJ 356 (1990) 359, times (1 - r^2/cutoff^2)^2, which ends it smoothly, so that the system
 * ends at the cutoff and is in equilibrium there too. A disk enters as the sphere that has its mass within each radius.
 *
 * A disk follows L. Hernquist, ApJS 86 (1993) 389: exponential in R, sech^2 in z, velocities normal about the mean
 * streaming with the moments of the Jeans equations in the epicyclic approximation. Its own pull takes thickness and
 * softening into account, by layers at offsets z: a thin disk's potential at height h has exp(-k h) in its Hankel
 * transform (Binney and Tremaine, section 2.6). In the halo softening is neglected: choose it well below the radius. */
#include "kernels/nbody/start/bodies.h"
#include "kernels/common/vector.h"

#include "engine/rng.h"

#include <math.h>
#include <stdlib.h>

enum { NODES = 2048, SPEEDS = 256, RINGS = 512, LAYERS = 32, LAST = 50, FARTHEST = 200 };

/* Tables over radii that are evenly spaced in log r. `psi`, the potential at the cutoff minus that at r, decreases with
 * r. */
typedef struct sphere_model {
  double G, mass, radius, cutoff, density_scale;
  double disk_mass, disk_radius, disk_within; /* disk_within: share of an infinite disk's mass inside its cutoff */
  double r[NODES], within[NODES], psi[NODES];
  double f[NODES];       /* distribution function at energy psi[i], in arbitrary units */
  double ceiling[NODES]; /* upper bound of q^2 f(psi (1 - q^2)) over q at r[i] */
} sphere_model;

static double disk_fraction(double x) { return 1 - (1 + x) * exp(-x); }

static double density(const sphere_model *m, double r) {
  const double a = m->radius, x = r / m->cutoff, taper = 1 - x * x;
  return x < 1 ? m->density_scale * taper * taper / (r * (r + a) * (r + a) * (r + a)) : 0;
}

/* d(density)/dr */
static double density_slope(const sphere_model *m, double r) {
  const double x = r / m->cutoff, taper = 1 - x * x;
  return x < 1 ? -density(m, r) * (1 / r + 3 / (r + m->radius) + 4 * x / (m->cutoff * taper)) : 0;
}

/* Linear interpolation at x between the nodes k and k + 1. */
static double between(double x, const double *xs, const double *ys, int k) {
  return ys[k] + (ys[k + 1] - ys[k]) * ((x - xs[k]) / (xs[k + 1] - xs[k]));
}

/* The last index k <= NODES - 2 with xs[k] <= x (`rising`) or xs[k] >= x. */
static int find(double x, const double *xs, bool rising) {
  int low = 0, high = NODES - 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (rising ? xs[middle] <= x : xs[middle] >= x)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static double mass_within(const sphere_model *m, double r) {
  if (r <= m->r[0]) return m->within[0] * (r / m->r[0]) * (r / m->r[0]);
  return r >= m->cutoff ? m->mass : between(r, m->r, m->within, find(r, m->r, true));
}

static double distribution(const sphere_model *m, double energy) {
  if (energy >= m->psi[0]) return m->f[0];
  return energy <= 0 ? 0 : between(energy, m->psi, m->f, find(energy, m->psi, false));
}

static double all_within(const sphere_model *m, int k) {
  if (m->disk_mass == 0) return m->within[k];
  const double x = m->r[k] / m->disk_radius;
  return m->within[k] + m->disk_mass * fmin(1, disk_fraction(x) / m->disk_within);
}

static void fill_potential(sphere_model *m) {
  const double first = 1e-5 * fmin(m->radius, m->cutoff), step = log(m->cutoff / first) / (NODES - 1);
  for (int k = 0; k < NODES; k++) m->r[k] = first * exp(step * k);
  m->r[NODES - 1] = m->cutoff;
  m->density_scale = 1;
  m->within[0] = 2 * pi * m->r[0] * m->r[0] * m->r[0] * density(m, m->r[0]); /* density goes as 1/r inside */
  for (int k = 1; k < NODES; k++) {
    const double a = m->r[k - 1], b = m->r[k];
    m->within[k] = m->within[k - 1] + 2 * pi * step * (a * a * a * density(m, a) + b * b * b * density(m, b));
  }
  m->density_scale = m->mass / m->within[NODES - 1];
  for (int k = 0; k < NODES; k++) m->within[k] *= m->density_scale;
  m->psi[NODES - 1] = 0;
  for (int k = NODES - 2; k >= 0; k--)
    m->psi[k] = m->psi[k + 1] + 0.5 * step * m->G * (all_within(m, k) / m->r[k] + all_within(m, k + 1) / m->r[k + 1]);
}

/* Fills in f(E) ~ integral over psi from 0 to E of d2(density)/dpsi2 / sqrt(E - psi), with d(density)/dpsi linear
 * between the nodes and 0 at the cutoff. */
static void fill_distribution(sphere_model *m) {
  double slope[NODES]; /* d(density)/dpsi */
  for (int k = 0; k < NODES; k++) slope[k] = -density_slope(m, m->r[k]) * m->r[k] * m->r[k] / (m->G * all_within(m, k));
  for (int i = 0; i < NODES; i++) {
    double sum = 0, outer = sqrt(m->psi[i]);
    for (int k = NODES - 1; k > i; k--) {
      const double inner = sqrt(m->psi[i] - m->psi[k - 1]);
      sum += (slope[k - 1] - slope[k]) / (m->psi[k - 1] - m->psi[k]) * 2 * (outer - inner);
      outer = inner;
    }
    m->f[i] = fmax(0, sum);
  }
  for (int i = 0; i < NODES; i++) {
    double most = 0;
    for (int s = 1; s < SPEEDS; s++) {
      const double q = (double)s / SPEEDS;
      most = fmax(most, q * q * distribution(m, m->psi[i] * (1 - q * q)));
    }
    m->ceiling[i] = 1.05 * most;
  }
}

static sim_status sphere_model_create(sphere_model **out) {
  *out = calloc(1, sizeof **out);
  return *out != NULL ? SIM_OK : sim_no_memory("a galaxy's tables");
}

static void draw_sphere(const nbody_maker *maker, const sphere_model *m, nbody_bodies *part) {
#pragma omp parallel for schedule(static) num_threads(maker->threads) if (part->n > 4096)
  for (int64_t i = 0; i < part->n; i++) {
    const uint64_t id = (uint64_t)(part->id + i);
    double u[3][2], x_unit[3], v_unit[3], q[2];
    for (uint32_t d = 0; d < 3; d++) sim_rng_uniform(maker->seed, id, 0, NBODY_DRAW_RADIUS + d, u[d]);
    const double inside = ((double)i + u[0][0]) / (double)part->n * m->mass;
    const int k = find(inside, m->within, true);
    const bool core = inside < m->within[0];
    const double r = core ? m->r[0] * sqrt(inside / m->within[0]) : between(inside, m->within, m->r, k);
    const double psi = core ? m->psi[0] : between(r, m->r, m->psi, k);
    const double ceiling = fmax(m->ceiling[k], m->ceiling[k + 1]);
    uint32_t draw = NBODY_DRAW_SPEED;
    do {
      sim_rng_uniform(maker->seed, id, 0, draw++, q);
    } while (q[1] * ceiling > q[0] * q[0] * distribution(m, psi * (1 - q[0] * q[0])) && draw < 0xffff);
    nbody_direction(u[0][1], u[1][0], x_unit);
    nbody_direction(u[1][1], u[2][0], v_unit);
    part->mass[i] = m->mass / (double)part->n;
    for (int c = 0; c < 3; c++) {
      part->position[c][i] = r * x_unit[c];
      part->velocity[c][i] = q[0] * sqrt(2 * psi) * v_unit[c];
    }
  }
}

sim_status nbody_make_hernquist(const nbody_maker *maker, const nbody_sphere *sphere, nbody_bodies *part) {
  sphere_model *m;
  SIM_TRY(sphere_model_create(&m));
  m->G = maker->G;
  m->mass = sphere->mass;
  m->radius = sphere->radius;
  m->cutoff = isnan(sphere->cutoff) ? 30 * sphere->radius : sphere->cutoff;
  fill_potential(m);
  fill_distribution(m);
  draw_sphere(maker, m, part);
  free(m);
  return SIM_OK;
}

/* ---- disk ---- */

static double disk_cutoff(const nbody_exponential_disk *disk) {
  return isnan(disk->cutoff) ? 8 * disk->radius : disk->cutoff;
}

static void halo_model(const nbody_maker *maker, const nbody_exponential_disk *disk, sphere_model *m) {
  const nbody_halo *halo = &disk->halo;
  m->G = maker->G;
  m->mass = halo->mass;
  m->radius = halo->radius;
  m->cutoff = isnan(halo->cutoff) ? 30 * halo->radius : halo->cutoff;
  m->disk_mass = disk->mass;
  m->disk_radius = disk->radius;
  m->disk_within = disk_fraction(disk_cutoff(disk) / disk->radius);
  fill_potential(m);
}

sim_status nbody_make_halo(const nbody_maker *maker, const nbody_exponential_disk *disk, nbody_bodies *part) {
  sphere_model *m;
  SIM_TRY(sphere_model_create(&m));
  halo_model(maker, disk, m);
  fill_distribution(m);
  draw_sphere(maker, m, part);
  free(m);
  return SIM_OK;
}

/* Heights of layers of equal mass in a disk that goes as sech^2(z/thickness). */
static void fill_layers(double thickness, double z[LAYERS]) {
  for (int l = 0; l < LAYERS; l++) z[l] = thickness * atanh(2 * (l + 0.5) / LAYERS - 1);
}

/* Squared speed far away: the first terms of the transform's powers of k^2 (odd powers contribute nothing), a series in
 * 1/R^2; h2 and h4 are means of h^2 and h^4. */
static double far_speed2(double R, double h2, double h4) {
  const double c2 = (h2 - 3) / 2, c4 = (45 - 18 * h2 + h4) / 24, R2 = R * R;
  return (1 + (-3 * c2 + 45 * c4 / R2) / R2) / R;
}

/* R times the integral of k J1(k R) F(k) (1 + k^2)^(-3/2) dk, F = mean of exp(-k h) over pairs of layers, h the
 * softened offset of two layers. Trapezoidal rule up to LAST; the rest is below 1e-3 for R > 0.1. J1 needs steps of
 * about 1/R, beyond which the rule's error is R <h> step^4/240 relative to R^-2, at most 2e-5. So the rule is used up
 * to `far`, beyond which the next term of the series is below 1e-6 (h < far/10). */
void nbody_disk_circular_speed2(double spacing, double thickness, double softening, double *pull, int rings) {
  double z[LAYERS], h2 = 0, h4 = 0, most = 0;
  fill_layers(thickness, z);
  for (int a = 0; a < LAYERS; a++)
    for (int b = 0; b < LAYERS; b++) {
      const double h = hypot(z[a] - z[b], softening);
      h2 += h * h / (LAYERS * LAYERS);
      h4 += h * h * h * h / (LAYERS * LAYERS);
      most = fmax(most, h);
    }
  const double far = fmin(40 + 10 * most, FARTHEST), reach = fmin(far, spacing * rings);
  int near = 0;
  while (near < rings && spacing * (near + 0.5) < far) near++;
  for (int r = 0; r < near; r++) pull[r] = 0;
  for (int r = near; r < rings; r++) pull[r] = far_speed2(spacing * (r + 0.5), h2, h4);
  const double step = fmin(0.05, 1 / reach);
  for (int w = 1; step * w <= LAST; w++) {
    const double k = step * w;
    double mean = 0;
    for (int a = 0; a < LAYERS; a++)
      for (int b = 0; b < LAYERS; b++) mean += exp(-k * hypot(z[a] - z[b], softening));
    const double weight = step * k * mean / (LAYERS * LAYERS) * pow(1 + k * k, -1.5);
    for (int r = 0; r < near; r++) {
      const double R = spacing * (r + 0.5);
      pull[r] += R * weight * j1(k * R);
    }
  }
}

/* Moments of the velocities, on rings at radii spacing (k + 1/2). */
typedef struct disk_model {
  double spacing;
  double circular2[RINGS], ratio[RINGS]; /* speed squared; epicyclic frequency over twice the angular speed, squared */
  double streaming[RINGS], radial[RINGS], azimuthal[RINGS], vertical[RINGS];
} disk_model;

static double ring_value(const disk_model *m, const double *values, double R) {
  const double x = fmin(fmax(R / m->spacing - 0.5, 0), RINGS - 1.000001);
  const int k = (int)x;
  return values[k] + (values[k + 1] - values[k]) * (x - k);
}

static void fill_rotation(const sphere_model *halo, double own, disk_model *m) {
  for (int k = 0; k < RINGS; k++) {
    const double R = m->spacing * (k + 0.5);
    m->circular2[k] = own * m->circular2[k] + halo->G * mass_within(halo, R) / R;
  }
  /* kappa^2 = 4 W^2 + R d(W^2)/dR with W the angular speed. */
  for (int k = 0; k < RINGS; k++) {
    const int a = k > 0 ? k - 1 : 0, b = k < RINGS - 1 ? k + 1 : k;
    m->ratio[k] = 0.5 + 0.25 * log(m->circular2[b] / m->circular2[a]) / log((b + 0.5) / (a + 0.5));
  }
}

static void fill_disk(const nbody_maker *maker, const nbody_exponential_disk *disk, const sphere_model *halo,
                      double thickness, disk_model *m) {
  const double scale = disk->radius, G = halo->G, cutoff = disk_cutoff(disk);
  const double whole = disk->mass / disk_fraction(cutoff / scale), sigma0 = whole / (2 * pi * scale * scale);
  double z[LAYERS], depth = 0; /* depth: mean of |z offset| of two bodies, reduced by softening */
  fill_layers(thickness / scale, z);
  for (int a = 0; a < LAYERS; a++)
    for (int b = 0; b < a; b++)
      depth +=
          2 * scale / (LAYERS * LAYERS) * (z[a] - z[b]) * (z[a] - z[b]) / hypot(z[a] - z[b], maker->softening / scale);
  m->spacing = cutoff / RINGS;
  nbody_disk_circular_speed2(m->spacing / scale, thickness / scale, maker->softening / scale, m->circular2, RINGS);
  fill_rotation(halo, G * whole / scale, m);
  /* Toomre's criterion at this radius: radial dispersion 3.36 Q G Sigma / kappa. */
  const double at = 2.5 * scale;
  const double kappa = 2 * sqrt(ring_value(m, m->circular2, at) * ring_value(m, m->ratio, at)) / at;
  const double there = 3.36 * disk->Q * G * sigma0 * exp(-at / scale) / kappa;
  for (int k = 0; k < RINGS; k++) {
    const double R = m->spacing * (k + 0.5), sigma = sigma0 * exp(-R / scale), ratio = m->ratio[k];
    const double radial2 = there * there * exp((at - R) / scale), d = hypot(R, thickness);
    m->radial[k] = sqrt(radial2);
    m->azimuthal[k] = sqrt(radial2 * ratio);
    m->streaming[k] = sqrt(fmax(0, m->circular2[k] + radial2 * (1 - ratio - 2 * R / scale)));
    /* Vertical dispersion squared: the sheet's own weight, and the halo's pull z G M(R)/R^3, averaged over sech^2. */
    m->vertical[k] =
        sqrt(pi * G * sigma * depth + pi * pi / 12 * thickness * thickness * G * mass_within(halo, d) / (d * d * d));
  }
}

/* Radius, in scale lengths, that contains the fraction u of the mass of an infinite disk; by bisection. */
static double disk_radius(double u, double most) {
  double low = 0, high = most;
  for (int i = 0; i < 54; i++) {
    const double middle = 0.5 * (low + high);
    if (disk_fraction(middle) < u)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

sim_status nbody_make_disk(const nbody_maker *maker, const nbody_exponential_disk *disk, nbody_bodies *part) {
  sphere_model *halo;
  SIM_TRY(sphere_model_create(&halo));
  disk_model *m = calloc(1, sizeof *m);
  if (m == NULL) {
    free(halo);
    return sim_no_memory("a galaxy's tables");
  }
  const double thickness = isnan(disk->thickness) ? 0.1 * disk->radius : disk->thickness;
  const double most = disk_cutoff(disk) / disk->radius;
  halo_model(maker, disk, halo);
  fill_disk(maker, disk, halo, thickness, m);
#pragma omp parallel for schedule(static) num_threads(maker->threads) if (part->n > 4096)
  for (int64_t i = 0; i < part->n; i++) {
    const uint64_t id = (uint64_t)(part->id + i);
    double u[2][2], v[2][2];
    for (uint32_t d = 0; d < 2; d++) {
      sim_rng_uniform(maker->seed, id, 0, NBODY_DRAW_RADIUS + d, u[d]);
      sim_rng_normal(maker->seed, id, 0, NBODY_DRAW_VELOCITY + d, v[d]);
    }
    const double share = ((double)i + u[0][0]) / (double)part->n, angle = 2 * pi * u[0][1];
    const double R = disk->radius * disk_radius(share * disk_fraction(most), most);
    const double c = cos(angle), s = sin(angle);
    const double outward = v[0][0] * ring_value(m, m->radial, R);
    const double around = ring_value(m, m->streaming, R) + v[0][1] * ring_value(m, m->azimuthal, R);
    part->mass[i] = disk->mass / (double)part->n;
    part->position[0][i] = R * c;
    part->position[1][i] = R * s;
    part->position[2][i] = thickness * atanh(2 * u[1][0] - 1);
    part->velocity[0][i] = outward * c - around * s;
    part->velocity[1][i] = outward * s + around * c;
    part->velocity[2][i] = v[1][0] * ring_value(m, m->vertical, R);
  }
  free(m);
  free(halo);
  return SIM_OK;
}
