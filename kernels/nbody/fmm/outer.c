#include "kernels/nbody/fmm/outer.h"

#include "kernels/nbody/periodic/lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { P = NBODY_FMM_OUTER_ORDER, SIDE = NBODY_FMM_OUTER_SIDE, REACH = NBODY_FMM_OUTER_REACH };
enum { DIFFERENCES = NBODY_FMM_OUTER_ROW * NBODY_FMM_OUTER_ROW * NBODY_FMM_OUTER_ROW };

/* Stores the tensor of the difference sizes[3] >= 0, in descending order, for all permutations and signs of that
 * difference. */
static void spread(const int sizes[3], const double *tensor, double *tensors) {
  static const int axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int turn = 0; turn < 6; turn++)
    for (int signs = 0; signs < 8; signs++) {
      int at[3]; /* component c of this difference is component axes[turn][c] of `sizes`, with a sign */
      for (int c = 0; c < 3; c++) at[c] = (signs >> c & 1 ? -1 : 1) * sizes[axes[turn][c]];
      const int place = nbody_fmm_outer_difference(at[0], at[1], at[2]);
      for (int i = 0; i <= P; i++)
        for (int j = 0; i + j <= P; j++)
          for (int l = 0; i + j + l <= P; l++) {
            const int k[3] = {i, j, l};
            int from[3] = {0, 0, 0}, odd = 0;
            for (int c = 0; c < 3; c++) {
              from[axes[turn][c]] = k[c];
              odd += signs >> c & 1 ? k[c] : 0;
            }
            const double value = tensor[nbody_lattice_position(from[0], from[1], from[2])];
            bool vanishes = false; /* odd derivatives of the even function at 0 vanish */
            for (int c = 0; c < 3; c++) vanishes = vanishes || (at[c] == 0 && k[c] % 2 == 1);
            tensors[(size_t)(nbody_fmm_outer_position(i, j) + l) * DIFFERENCES + (size_t)place] = vanishes ? 0
                                                                                                  : odd % 2 == 1
                                                                                                      ? -value
                                                                                                      : value;
          }
    }
}

void nbody_fmm_outer_tensors(double softening, double *tensors) {
  memset(tensors, 0, sizeof *tensors * NBODY_FMM_OUTER_TENSORS);
  for (int x = 0; x <= REACH; x++)
    for (int y = 0; y <= x; y++)
      for (int z = 0; z <= y; z++) {
        const int sizes[3] = {x, y, z};
        const double d[3] = {(double)x / SIDE, (double)y / SIDE, (double)z / SIDE};
        double tensor[NBODY_LATTICE_COUNT(P)];
        nbody_lattice_tensor(d, softening, P, NBODY_LATTICE_27, tensor);
        for (int rank = 0, k = 0; rank <= P; rank++)
          for (; k < NBODY_LATTICE_COUNT(rank); k++) tensor[k] = ldexp(tensor[k], -2 * rank); /* SIDE = 2^2 */
        spread(sizes, tensor, tensors);
      }
}
