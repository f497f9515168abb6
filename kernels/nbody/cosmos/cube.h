/* Complex numbers on a cubic grid of n^3 points in host memory, and their Fourier transform (kernels/common/fft). */
#ifndef NBODY_COSMOS_CUBE_H
#define NBODY_COSMOS_CUBE_H

#include "engine/device/backend.h"
#include "kernels/common/fft/fft.h"

#include <stdint.h>

typedef struct nbody_cube {
  int64_t n, lanes, row; /* points of an edge; numbers in a group; groups of a row along x */
  int threads;
  double *data;             /* [z][y][row][2][lanes]: groups of real parts, then of imaginary parts */
  int64_t *wave, *position; /* [n]: see nbody_cube_forward */
  fft_plan *plan;
  char *scratch; /* [threads][scratch_bytes] */
  size_t scratch_bytes;
} nbody_cube;

/* Creates a cube of zeros; destroyed by nbody_cube_destroy. SIM_ERR_NO_MEMORY. */
sim_status nbody_cube_create(int64_t n, sim_isa isa, int threads, nbody_cube *out) SIM_MUST_CHECK;
void nbody_cube_destroy(nbody_cube *cube);
double nbody_cube_bytes(int64_t n, int threads); /* upper bound of a cube's memory */

/* The real part of a number; the imaginary part is `lanes` further on. */
static inline double *nbody_cube_at(const nbody_cube *cube, int64_t x, int64_t y, int64_t z) {
  const int64_t group = (z * cube->n + y) * cube->row + x / cube->lanes;
  return cube->data + 2 * cube->lanes * group + x % cube->lanes;
}
void nbody_cube_clear(nbody_cube *cube);

/* Transforms in place: X_k = sum_j x_j exp(-2 pi i j k / n) along each axis, without a factor. Wave number wave[p],
 * from -(n - 1)/2 to n/2, is then at position p; position[k mod n] is the position of wave number k. */
void nbody_cube_forward(nbody_cube *cube);
/* Transforms in place from the order that nbody_cube_forward leaves: x_j = sum_k X_k exp(2 pi i j k / n). */
void nbody_cube_inverse(nbody_cube *cube);

#endif
