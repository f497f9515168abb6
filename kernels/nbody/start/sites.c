/* Bodies on a lattice in a periodic box. */
#include "kernels/nbody/start/bodies.h"

#include "engine/reduce.h"
#include "engine/rng.h"

#include <math.h>

/* Positions in a cell of edge 1, centred so that no body is on a face of the box. */
static const double places[3][4][3] = {
    [NBODY_FCC] = {{0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}},
    [NBODY_BCC] = {{0.25, 0.25, 0.25}, {0.75, 0.75, 0.75}},
    [NBODY_SC] = {{0.5, 0.5, 0.5}}};
static const int per_cell[3] = {[NBODY_FCC] = 4, [NBODY_BCC] = 2, [NBODY_SC] = 1};

int64_t nbody_lattice_count(const nbody_lattice *lattice) {
  return per_cell[lattice->kind] * lattice->cells * lattice->cells * lattice->cells;
}

/* Subtracts the mean velocity, and scales velocities so that sum v^2 = 3 (n - 1) k T / m. */
static void scale_velocities(const nbody_lattice *lattice, double *scratch, int threads, nbody_bodies *part) {
  const size_t n = (size_t)part->n;
  double squares = 0;
  for (int c = 0; c < 3; c++) {
    const double mean = sim_reduce_sum(part->velocity[c], n, scratch + n, threads) / (double)n;
    for (size_t i = 0; i < n; i++) {
      part->velocity[c][i] -= mean;
      scratch[i] = part->velocity[c][i] * part->velocity[c][i];
    }
    squares += sim_reduce_sum(scratch, n, scratch + n, threads);
  }
  const double scale = squares > 0 ? sqrt(3 * ((double)n - 1) * lattice->temperature / (lattice->mass * squares)) : 0;
  for (int c = 0; c < 3; c++)
    for (size_t i = 0; i < n; i++) part->velocity[c][i] *= scale;
}

void nbody_make_lattice(const nbody_maker *maker, const nbody_lattice *lattice, double size, double *scratch,
                        nbody_bodies *part) {
  const int64_t cells = lattice->cells, own = per_cell[lattice->kind];
#pragma omp parallel for schedule(static) num_threads(maker->threads) if (part->n > 4096)
  for (int64_t i = 0; i < part->n; i++) {
    const int64_t cell = i / own, at[3] = {cell % cells, cell / cells % cells, cell / cells / cells};
    double v[2][2] = {{0}};
    for (uint32_t d = 0; d < 2 && lattice->temperature > 0; d++)
      sim_rng_normal(maker->seed, (uint64_t)(part->id + i), 0, NBODY_DRAW_VELOCITY + d, v[d]);
    part->mass[i] = lattice->mass;
    for (int c = 0; c < 3; c++) {
      part->position[c][i] = size * ((double)at[c] + places[lattice->kind][i % own][c]) / (double)cells;
      part->velocity[c][i] = v[c / 2][c % 2];
    }
  }
  scale_velocities(lattice, scratch, maker->threads, part);
}
