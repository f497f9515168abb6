/* Series between walls of which one or both mix value and slope (Robin): u' = h_low u at x = 0, u' = -h_high u at
 * x = L, h >= 0, where INFINITY stands for u = 0. The eigenfunctions of the Laplacian are cos(k_m x - p_m), m = 0, 1,
 * ..., with p_m = atan(h_low/k_m) and k_m L = m pi + atan(h_low/k_m) + atan(h_high/k_m), so that m pi <= k_m L <= (m +
 * 1) pi (Carslaw and Jaeger, Conduction of heat in solids, 1959, section 3.9). A field is the sum of c_m cos(k_m x -
 * p_m), m < n, and its c_m follow from the values at the n centres of cells: a product with the inverse of the matrix
 * of these cosines. */
#ifndef DIFFUSION_SPECTRAL_ROBIN_H
#define DIFFUSION_SPECTRAL_ROBIN_H

#include "kernels/common/fft/fft.h"
#include "kernels/common/grid/grid.h"

enum { DIFFUSION_ROBIN_MOST = 2048 }; /* cells along an axis: the inverse takes 2 n^3 operations */

/* Returns k_m. mix: h_low, h_high, not both 0; size: L. */
double diffusion_robin_wave(const double mix[2], double size, int64_t mode);
/* Returns the mean over 0 < x < L of the square of cos(k_m x - p_m). wave: k_m. */
double diffusion_robin_weight(const double mix[2], double size, double wave);

/* Matrices of a series, [n][n] each, in host memory; freed by diffusion_robin_end. `inverse`: cos(k_m x_j - p_m) at
 * [j][m]; `forward`: n times the inverse of that, [m][j]; `slope`: sin(k_m x_j - p_m), [j][m], whose product with -k_m
 * is the derivative. */
typedef struct diffusion_robin {
  double *waves, *forward, *inverse, *slope; /* waves[n]: k_m */
} diffusion_robin;
/* Computes them. SIM_ERR_NO_MEMORY; SIM_ERR_INTERNAL where the matrix is too badly conditioned. */
sim_status diffusion_robin_begin(int64_t n, const double mix[2], double size, int threads,
                                 diffusion_robin *out) SIM_MUST_CHECK;
void diffusion_robin_end(diffusion_robin *robin);
double diffusion_robin_bytes(int64_t n); /* bytes of a diffusion_robin */

/* The series of one axis of a field, as plans of transforms. Transforms of the same series share one. */
typedef struct diffusion_basis {
  int64_t n;
  double mix[2], size;
  bool single;
  sim_isa isa;
  double *waves;          /* [n]: k_m */
  fft_plan *plan, *slope; /* slope: an inverse transform to sin(k_m x - p_m) */
  int users;
  struct diffusion_basis *next;
} diffusion_basis;
/* Returns a basis, which is made where no other user has it; given back by diffusion_basis_close. like: a plan of n
 * points and of that precision, whose order of wavenumbers the series has. SIM_ERR_NO_MEMORY, SIM_ERR_INTERNAL. */
sim_status diffusion_basis_open(const grid_shape *shape, int axis, const fft_plan *like, bool single, sim_isa isa,
                                int threads, diffusion_basis **out) SIM_MUST_CHECK;
void diffusion_basis_close(diffusion_basis **basis);
double diffusion_basis_bytes(int64_t n, bool single); /* bytes of a basis, and of what making it takes */

#endif
