/* Spheres whose distribution is known in closed form. */
#include "kernels/nbody/start/bodies.h"
#include "kernels/common/vector.h"

#include "engine/rng.h"

#include <math.h>

void nbody_direction(double u, double v, double out[3]) {
  const double z = 2 * u - 1, r = sqrt(1 - z * z);
  out[0] = r * cos(2 * pi * v);
  out[1] = r * sin(2 * pi * v);
  out[2] = z;
}

double nbody_plummer_radius(double share) { return 1 / sqrt(fmax(pow(share, -2.0 / 3) - 1, 0x1p-52)); }

/* S. J. Aarseth, M. Henon and R. Wielen, A&A 37 (1974) 183, appendix: radius from the mass within it; speed over escape
 * speed q from g(q) = q^2 (1 - q^2)^(7/2) <= 0.0923 by rejection. A cutoff only leaves out the mass beyond it:
 * velocities are those of the whole sphere, whose mass is sphere->mass. */
void nbody_make_plummer(const nbody_maker *maker, const nbody_sphere *sphere, nbody_bodies *part) {
  const double a = sphere->radius, x = isnan(sphere->cutoff) ? INFINITY : sphere->cutoff / a;
  const double within = isinf(x) ? 1 : pow(1 + 1 / (x * x), -1.5);
  const double whole = sphere->mass / within;
#pragma omp parallel for schedule(static) num_threads(maker->threads) if (part->n > 4096)
  for (int64_t i = 0; i < part->n; i++) {
    const uint64_t id = (uint64_t)(part->id + i);
    double u[3][2], x_unit[3], v_unit[3], q[2];
    for (uint32_t d = 0; d < 3; d++) sim_rng_uniform(maker->seed, id, 0, NBODY_DRAW_RADIUS + d, u[d]);
    const double share = ((double)i + u[0][0]) / (double)part->n;
    const double r = a * nbody_plummer_radius(share * within);
    const double escape = sqrt(2 * maker->G * whole / sqrt(r * r + a * a));
    uint32_t draw = NBODY_DRAW_SPEED;
    do { sim_rng_uniform(maker->seed, id, 0, draw++, q); } while (0.1 * q[1] > q[0] * q[0] * pow(1 - q[0] * q[0], 3.5));
    nbody_direction(u[0][1], u[1][0], x_unit);
    nbody_direction(u[1][1], u[2][0], v_unit);
    part->mass[i] = sphere->mass / (double)part->n;
    for (int c = 0; c < 3; c++) {
      part->position[c][i] = r * x_unit[c];
      part->velocity[c][i] = q[0] * escape * v_unit[c];
    }
  }
}

/* Velocities are normal, with the variance that gives 2K/|W| = virial with W = -3 G M^2 / (5 R). */
void nbody_make_uniform(const nbody_maker *maker, const nbody_uniform_sphere *sphere, nbody_bodies *part) {
  const double sigma = sqrt(sphere->virial * maker->G * sphere->mass / (5 * sphere->radius));
#pragma omp parallel for schedule(static) num_threads(maker->threads) if (part->n > 4096)
  for (int64_t i = 0; i < part->n; i++) {
    const uint64_t id = (uint64_t)(part->id + i);
    double u[2][2], unit[3], v[2][2];
    for (uint32_t d = 0; d < 2; d++) {
      sim_rng_uniform(maker->seed, id, 0, NBODY_DRAW_RADIUS + d, u[d]);
      sim_rng_normal(maker->seed, id, 0, NBODY_DRAW_VELOCITY + d, v[d]);
    }
    const double r = sphere->radius * cbrt(((double)i + u[0][0]) / (double)part->n);
    nbody_direction(u[0][1], u[1][0], unit);
    part->mass[i] = sphere->mass / (double)part->n;
    for (int c = 0; c < 3; c++) {
      part->position[c][i] = r * unit[c];
      part->velocity[c][i] = sigma * v[c / 2][c % 2];
    }
  }
}
