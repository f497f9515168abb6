/* Bodies of a universe in linear theory: a lattice, displaced by a Gaussian random field (Ya. B. Zel'dovich, A&A 5
 * (1970) 84). Density contrast delta(q) = sum over k of delta_k exp(i k q), with independent normal delta_k of variance
 * P(k)/V; displacement psi_k = i k delta_k / k^2; position q + D psi and momentum a^2 dx/dt = a^2 H dlnD/dlna D psi. */
#include "kernels/nbody/cosmos/cube.h"
#include "kernels/nbody/cosmos/power.h"
#include "kernels/nbody/start/bodies.h"
#include "kernels/common/vector.h"

#include "engine/rng.h"

#include <complex.h>
#include <math.h>

/* Random numbers of a wave are keyed by its three wave numbers, in a step of philox that no body uses. So the waves of
 * one seed are the same for any number of bodies. */
enum { WAVE_STEP = 1, WAVE_BITS = 21 };

typedef struct waves {
  const nbody_maker *maker;
  const nbody_zeldovich *z;
  nbody_power power;
  double size, growth; /* edge of the box; D(a_start)/D(1) */
  nbody_cube cube;
} waves;

/* Draws delta_k at a_start, at the centres of lattice cells. Of k and -k one is drawn; the other is its conjugate. */
static double complex amplitude(const waves *w, const int64_t k[3], double square) {
  bool mirrored = false;
  for (int c = 0, found = 0; c < 3 && !found; c++)
    if (k[c] != 0) mirrored = k[c] < 0, found = 1;
  uint64_t entity = 0;
  double draw[2], phase = 0;
  for (int c = 0; c < 3; c++) {
    entity = entity << WAVE_BITS | (uint64_t)((mirrored ? -k[c] : k[c]) + (INT64_C(1) << (WAVE_BITS - 1)));
    phase += pi * (double)k[c] / (double)w->z->n;
  }
  sim_rng_normal(w->maker->seed, entity, WAVE_STEP, NBODY_DRAW_WAVE, draw);
  const double unit = 2 * pi / w->size;
  const double variance = nbody_power_at(&w->power, unit * sqrt(square)) / (w->size * w->size * w->size);
  const double length = w->z->amplitudes == NBODY_FIXED ? sqrt(2) / hypot(draw[0], draw[1]) : 1;
  const double scale = w->growth * sqrt(0.5 * variance) * length;
  return scale * (draw[0] + (mirrored ? -I : I) * draw[1]) * (cos(phase) + I * sin(phase));
}

/* Fills the cube with the displacement along `first` and, as its imaginary part, along `second` (-1: none), and
 * transforms both. Waves with a component at half the lattice's wave number have no direction, and are left out. */
static void displace(waves *w, int first, int second) {
  const nbody_cube *cube = &w->cube;
  const int64_t n = cube->n;
#pragma omp parallel for schedule(static) num_threads(w->maker->threads)
  for (int64_t z = 0; z < n; z++)
    for (int64_t y = 0; y < n; y++)
      for (int64_t x = 0; x < n; x++) {
        const int64_t k[3] = {cube->wave[x], cube->wave[y], cube->wave[z]};
        const double square = (double)(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
        double complex value = 0;
        if (square > 0 && 2 * k[0] < n && 2 * k[1] < n && 2 * k[2] < n)
          value = amplitude(w, k, square) * (w->size / (2 * pi * square)) *
                  (I * (double)k[first] - (second < 0 ? 0 : (double)k[second]));
        double *to = nbody_cube_at(cube, x, y, z);
        to[0] = creal(value);
        to[cube->lanes] = cimag(value);
      }
  nbody_cube_inverse(&w->cube);
}

/* Copies a displacement from the cube to component c of all bodies; `part`: 0 real, 1 imaginary. */
static void store(const waves *w, int c, int part, double momentum, nbody_bodies *bodies) {
  const int64_t n = w->cube.n;
#pragma omp parallel for schedule(static) num_threads(w->maker->threads)
  for (int64_t z = 0; z < n; z++)
    for (int64_t y = 0; y < n; y++)
      for (int64_t x = 0; x < n; x++) {
        const int64_t at[3] = {x, y, z}, i = (z * n + y) * n + x;
        const double psi = nbody_cube_at(&w->cube, x, y, z)[part * w->cube.lanes];
        bodies->position[c][i] = w->size * ((double)at[c] + 0.5) / (double)n + psi;
        bodies->velocity[c][i] = momentum * psi;
      }
}

double nbody_zeldovich_bytes(const nbody_zeldovich *z, int threads) { return nbody_cube_bytes(z->n, threads); }

sim_status nbody_make_zeldovich(const nbody_maker *maker, const nbody_zeldovich *z, const nbody_expansion *e,
                                double size, nbody_bodies *part) {
  const double a = e->a_start, total = nbody_mean_density(e, maker->G) * size * size * size;
  const double momentum = a * a * nbody_hubble(e, a) * nbody_growth_rate(e, a);
  waves w = {.maker = maker,
             .z = z,
             .power = nbody_power_of(z, e),
             .size = size,
             .growth = nbody_growth(e, a) / nbody_growth(e, 1)};
  SIM_TRY(nbody_cube_create(z->n, maker->isa, maker->threads, &w.cube));
  displace(&w, 0, 1);
  store(&w, 0, 0, momentum, part);
  store(&w, 1, 1, momentum, part);
  displace(&w, 2, -1);
  store(&w, 2, 0, momentum, part);
  nbody_cube_destroy(&w.cube);
  for (int64_t i = 0; i < part->n; i++) part->mass[i] = total / (double)part->n;
  return SIM_OK;
}
