/* Tables for cross diffusion (same as cpu/coupled.c and cpu/matrix.c): L of a wavenumber is an N x N matrix, and so are
 * its exponential and the coefficients of the schemes. Device code for NVRTC. */
#ifndef DIFFUSION_CUDA_MATRICES_CUH
#define DIFFUSION_CUDA_MATRICES_CUH

#include "kernels/diffusion/cuda/fill.cuh"

template <int N> struct matrix { fill_number of[N][N]; };

template <int N> __device__ inline void matrix_times(const matrix<N> &a, const matrix<N> &b, matrix<N> &out) {
#pragma unroll 1
  for (int i = 0; i < N; i++)
#pragma unroll 1
    for (int j = 0; j < N; j++) {
      fill_number sum = {0, 0};
#pragma unroll 1
      for (int k = 0; k < N; k++) sum = fill_sum(1, sum, 1, fill_times(a.of[i][k], b.of[k][j]));
      out.of[i][j] = sum;
    }
}

/* to (+)= factor a; the columns of a are multiplied by `under` where that is not NULL. */
template <int N>
__device__ inline void matrix_add(bool adds, double factor, const double *under, const matrix<N> &a, matrix<N> &to) {
#pragma unroll 1
  for (int i = 0; i < N; i++)
#pragma unroll 1
    for (int j = 0; j < N; j++) {
      const fill_number value = fill_scaled(a.of[i][j], under ? factor * under[j] : factor);
      to.of[i][j] = adds ? fill_sum(1, to.of[i][j], 1, value) : value;
    }
}

template <int N> __device__ inline void matrix_add_identity(double factor, matrix<N> &a) {
#pragma unroll 1
  for (int i = 0; i < N; i++) a.of[i][i].re += factor;
}

template <int N> __device__ inline double matrix_norm(const matrix<N> &a) {
  double most = 0;
#pragma unroll 1
  for (int i = 0; i < N; i++) {
    double row = 0;
#pragma unroll 1
    for (int j = 0; j < N; j++) row += fabs(a.of[i][j].re) + fabs(a.of[i][j].im);
    if (!(row <= most)) most = row;
  }
  return most;
}

/* phi_j(2A) = 2^-j (phi_0 phi_j + sum over k = 1 ... j of phi_k/(j - k)!) */
template <int N> __device__ inline void matrix_double(matrix<N> phi[4]) {
#pragma unroll 1
  for (int j = 3; j >= 0; j--) {
    matrix<N> sum;
    matrix_times(phi[0], phi[j], sum);
#pragma unroll 1
    for (int k = 1; k <= j; k++) matrix_add<N>(true, j - k > 1 ? 0.5 : 1, nullptr, phi[k], sum);
    matrix_add<N>(false, 1.0 / (1 << j), nullptr, sum, phi[j]);
  }
}

/* phi_0 = exp, phi_j(A) = (phi_{j-1}(A) - 1/(j-1)!)/A by a Taylor series of 13 terms, and doubling. */
template <int N> __device__ inline void matrix_phis(matrix<N> &z, matrix<N> phi[4]) {
  enum { TERMS = 13 };
  const double norm = matrix_norm(z);
  const int halvings = norm > 0.5 && norm < 1e300 ? (int)ceil(log2(norm)) + 1 : 0;
  double factorial = 6;
  matrix<N> power;
  matrix_add<N>(false, ldexp(1.0, -halvings), nullptr, z, z);
#pragma unroll 1
  for (int i = 4; i < 3 + TERMS; i++) factorial *= i;
  matrix_add<N>(false, 0, nullptr, z, phi[3]);
#pragma unroll 1
  for (int i = 2 + TERMS; i >= 3; i--) { /* Horner's rule */
    matrix_times(z, phi[3], power);
    phi[3] = power;
    matrix_add_identity(1 / factorial, phi[3]);
    factorial /= i;
  }
#pragma unroll 1
  for (int j = 2; j >= 0; j--) {
    matrix_times(z, phi[j + 1], phi[j]);
    matrix_add_identity(j == 2 ? 0.5 : 1, phi[j]);
  }
#pragma unroll 1
  for (int i = 0; i < halvings; i++) matrix_double<N>(phi);
}

template <typename Linear, int N>
__device__ inline void matrices_at(const diffusion_making &m, const long long mode[3], matrix<N> out[FILL_TABLES]) {
  const fill_wave w = fill_wave_of(m, 0, mode); /* all fields have the same walls */
  double under[N];
  matrix<N> a, phi[4];
  if (!w.keep) {
#pragma unroll 1
    for (int i = 0; i < N * N; i++)
#pragma unroll 1
      for (int t = 0; t < m.tables; t++) out[t].of[i / N][i % N] = {0, 0};
    return;
  }
#pragma unroll 1
  for (int i = 0; i < N; i++) {
    const diffusion_own &own = m.field[i];
    const double weighted =
        own.axes[0] * w.k[0] * w.k[0] + own.axes[1] * w.k[1] * w.k[1] + own.axes[2] * w.k[2] * w.k[2];
#pragma unroll 1
    for (int j = 0; j < N; j++) a.of[i][j] = {-m.dt / 2 * own.cross[j] * weighted, 0};
    a.of[i][i] = fill_scaled(fill_own<Linear>(m, i, w, mode), m.dt / 2);
    under[i] = own.conserved ? -w.k2 : 1;
  }
  if (m.weights > 0) {
    double rates[DIFFUSION_NOISE_MATRIX], variances[N], weights[DIFFUSION_NOISE_MATRIX];
#pragma unroll 1
    for (int i = 0; i < N * N; i++) {
      rates[2 * i] = 2 * a.of[i / N][i % N].re;
      rates[2 * i + 1] = 2 * a.of[i / N][i % N].im;
    }
#pragma unroll 1
    for (int i = 0; i < N; i++) {
      const double noise = m.field[i].noise * under[i] * fill_norm(m, i, mode);
      variances[i] = m.dt * noise * noise;
    }
    diffusion_noise_matrix(N, rates, variances, weights);
#pragma unroll 1
    for (int i = 0; i < N * N; i++) out[m.weights].of[i / N][i % N] = {weights[2 * i], weights[2 * i + 1]};
  }
  matrix_phis<N>(a, phi);
  if (m.scheme == FILL_ETDRK4) {
    matrix_add<N>(false, 1, nullptr, phi[0], out[1]);
    matrix_add<N>(false, m.dt / 2, under, phi[1], out[2]);
  }
  matrix_double<N>(phi);
  const bool split = m.scheme == FILL_LIE || m.scheme == FILL_STRANG;
  matrix_add<N>(false, split ? m.scale : 1, nullptr, phi[0], out[0]);
  if (m.scheme == FILL_ETD1 || m.scheme == FILL_ETDRK2) matrix_add<N>(false, m.dt, under, phi[1], out[1]);
  if (m.scheme == FILL_ETDRK2) matrix_add<N>(false, m.dt, under, phi[2], out[2]);
  if (m.scheme != FILL_ETDRK4) return;
  const double sums[3][3] = {{1, -3, 4}, {0, 1, -2}, {0, -1, 4}};
#pragma unroll 1
  for (int i = 0; i < 3; i++)
#pragma unroll 1
    for (int j = 0; j < 3; j++) matrix_add<N>(j > 0, m.dt * sums[i][j], under, phi[1 + j], out[3 + i]);
}

/* One thread computes one entry of all tables. Each element [f][g] is a table. */
template <typename Linear, int N> __device__ __forceinline__ void fill_matrices(const diffusion_making &m) {
  const long long i = (long long)blockIdx.x * FILL_THREADS + threadIdx.x;
  long long mode[3], other[3];
  matrix<N> own[FILL_TABLES], mirror[FILL_TABLES];
  if (i >= m.entries[0] * m.entries[1] * m.entries[2]) return;
  fill_modes(m, 0, i, mode, other);
  matrices_at<Linear, N>(m, mode, own);
  matrices_at<Linear, N>(m, m.factor == FILL_EACH ? other : mode, mirror);
#pragma unroll 1
  for (int t = 0; t < m.tables; t++)
#pragma unroll 1
    for (int e = 0; e < N * N; e++)
      fill_put(m, (real *)m.table[t] + e * m.numbers, i, own[t].of[e / N][e % N], mirror[t].of[e / N][e % N]);
}

#endif
