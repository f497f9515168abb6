/* How much of a cell a sphere covers, and what share of the cell follows the sphere: for the CPU and for GPUs. */
#ifndef FLUID_COVERED_H
#define FLUID_COVERED_H

#include <math.h>

#ifdef __CUDACC__
#define FLUID_BOTH __host__ __device__ inline
#else
#define FLUID_BOTH static inline
#endif

/* The part of a cell of width 1 around the origin that a sphere of radius r around c covers. By 8 x 8 lines along
 * the axis to which the surface is turned most; their parts in the sphere are exact. */
FLUID_BOTH double fluid_covered(const double c[3], double r) {
  const int lines = 8;
  const double half_diagonal = 0.8660254037844386;
  const double far = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
  int along = 0;
  double sum = 0;
  for (int a = 1; a < 3; a++)
    if (fabs(c[a]) > fabs(c[along])) along = a;
  const double across[2] = {c[(along + 1) % 3], c[(along + 2) % 3]};
  if (far >= r + half_diagonal) return 0;
  if (far <= r - half_diagonal) return 1;
  for (int i = 0; i < lines; i++)
    for (int j = 0; j < lines; j++) {
      const double y = (i + 0.5) / lines - 0.5 - across[0], z = (j + 0.5) / lines - 0.5 - across[1];
      const double square = r * r - y * y - z * z, chord = square > 0 ? sqrt(square) : -1;
      const double low = fmax(c[along] - chord, -0.5), high = fmin(c[along] + chord, 0.5);
      if (chord > 0 && high > low) sum += high - low;
    }
  return sum / (lines * lines);
}

/* The share of the solid in a cell of which grains cover a part, at a relaxation time (Noble and Torczynski). */
FLUID_BOTH double fluid_share_of(double part, double tau) { return part * (tau - 0.5) / (1 - part + tau - 0.5); }

#endif
