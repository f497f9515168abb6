/* Properties of wavenumbers, for the CPU and the device. Compiled by NVRTC too. */
#ifndef DIFFUSION_MODES_CUH
#define DIFFUSION_MODES_CUH

#ifdef __CUDACC__
#define DIFFUSION_BOTH static __host__ __device__ inline
#else
#include <math.h>
#define DIFFUSION_BOTH static inline
#endif

/* Whether `dealias` keeps a mode along an axis of n cells. Modes go to n/2 on periodic axes and to n between walls.
 * Below 2/(p + 1) of that, no product of p modes is aliased to a mode that is kept (Orszag, J. Atmos. Sci. 28, 1971). A
 * mode at the limit itself is cut, with a margin for rounding of the fraction. fraction 0: all are kept. */
DIFFUSION_BOTH int diffusion_mode_kept(long long mode, long long n, int periodic, double fraction) {
  const double most = periodic ? 0.5 * (double)n : (double)n;
  return !(fraction > 0) || (double)(mode < 0 ? -mode : mode) < (fraction - 1e-9) * most || mode == 0;
}

/* Whether a shell of wavenumbers low <= |k| <= high contains a wavenumber with this square. */
DIFFUSION_BOTH int diffusion_in_shell(double low, double high, double k2) {
  const double margin = 1e-9; /* for rounding of the limits and of k */
  return k2 > 0 && k2 >= low * low * (1 - margin) && k2 <= high * high * (1 + margin);
}

/* Standard deviation of the integral of exp(rate (h - s)) dW(s) over a step of h: white noise with an exact linear
 * part (Ornstein and Uhlenbeck; Gillespie, Phys. Rev. E 54, 1996). twice: 2 Re(rate) h. */
DIFFUSION_BOTH double diffusion_noise_weight(double h, double twice) {
  return sqrt(fabs(twice) < 1e-9 ? h * (1 + twice / 2) : h * expm1(twice) / twice);
}

/* Number of a mode that keys the draws of random forcing: the lower one of the numbers of k and -k. mirrored: -k has
 * the lower one; own: k and -k are one mode. */
typedef struct diffusion_mode_key {
  unsigned long long number;
  int mirrored, own;
} diffusion_mode_key;
/* n[axes]: modes along each axis. Bit a of `periodic`: axis a is periodic, where a mode may be negative. */
DIFFUSION_BOTH diffusion_mode_key diffusion_key_of(int axes, const long long *n, unsigned periodic,
                                                   const long long *mode) {
  unsigned long long here = 0, there = 0;
  for (int a = 0; a < axes; a++) {
    const int turns = periodic >> a & 1;
    const long long i = turns ? (mode[a] % n[a] + n[a]) % n[a] : mode[a], j = turns ? (n[a] - i) % n[a] : i;
    here = here * (unsigned long long)n[a] + (unsigned long long)i;
    there = there * (unsigned long long)n[a] + (unsigned long long)j;
  }
  diffusion_mode_key key = {there < here ? there : here, there < here, there == here};
  return key;
}

/* Gives the coefficients v[axis][re, im] of a vector without divergence the helicity h. k: unit wavevector. */
DIFFUSION_BOTH void diffusion_twist(const double k[3], double h, double v[3][2]) {
  const double plus = sqrt(1 + h), minus = sqrt(1 - h), a = (plus + minus) / 2, b = (plus - minus) / 2;
  double g[3][2];
  for (int i = 0; i < 3; i++)
    for (int part = 0; part < 2; part++) {
      const int j = (i + 1) % 3, l = (i + 2) % 3, other = 1 - part;
      const double cross = k[j] * v[l][other] - k[l] * v[j][other];
      g[i][part] = a * v[i][part] + b * (part ? cross : -cross);
    }
  for (int i = 0; i < 3; i++)
    for (int part = 0; part < 2; part++) v[i][part] = g[i][part];
}

/* diffusion_noise_weight for n <= 8 fields with a matrix A of rates: lower triangular w with w w^H = integral of exp(A
 * s) Q exp(A^H s) ds, Q diagonal. Matrices are [n][n] complex numbers (re, im); a = A h, q[n] = Q h. Series of the
 * integral over h/2^m with |A| h/2^m <= 1/2 (term j is below 1/(j + 1)!), then doubling. */
enum { DIFFUSION_NOISE_MATRIX = 2 * 8 * 8 };
/* out = x y, or x y^H */
DIFFUSION_BOTH void diffusion_noise_product(int n, const double *x, const double *y, int adjoint, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double re = 0, im = 0;
      for (int k = 0; k < n; k++) {
        const double *p = x + 2 * (i * n + k), *q = y + 2 * (adjoint ? j * n + k : k * n + j);
        const double q_im = adjoint ? -q[1] : q[1];
        re += p[0] * q[0] - p[1] * q_im;
        im += p[0] * q_im + p[1] * q[0];
      }
      out[2 * (i * n + j)] = re;
      out[2 * (i * n + j) + 1] = im;
    }
}
DIFFUSION_BOTH void diffusion_noise_matrix(int n, const double *a, const double *q, double *w) {
  enum { SERIES = 18 };
  double small[DIFFUSION_NOISE_MATRIX], e[DIFFUSION_NOISE_MATRIX], term[DIFFUSION_NOISE_MATRIX];
  double power[DIFFUSION_NOISE_MATRIX], c[DIFFUSION_NOISE_MATRIX], other[DIFFUSION_NOISE_MATRIX];
  double norm = 0;
  const int count = 2 * n * n;
  for (int i = 0; i < n; i++) {
    double row = 0;
    for (int j = 0; j < 2 * n; j++) row += fabs(a[2 * i * n + j]);
    norm = row > norm ? row : norm;
  }
  const int halvings = norm > 0.5 && norm < 1e300 ? (int)ceil(log2(norm)) + 1 : 0;
  for (int i = 0; i < count; i++) {
    const int diagonal = i % (2 * (n + 1)) == 0;
    small[i] = ldexp(a[i], -halvings);
    e[i] = power[i] = diagonal;
    c[i] = term[i] = diagonal ? ldexp(q[i / (2 * (n + 1))], -halvings) : 0;
  }
  for (int j = 1; j <= SERIES; j++) {
    diffusion_noise_product(n, small, power, 0, other);
    for (int i = 0; i < count; i++) e[i] += power[i] = other[i] / j;
    diffusion_noise_product(n, small, term, 0, other); /* A X + (A X)^H, as X is Hermitian */
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        const int at = 2 * (i * n + k), to = 2 * (k * n + i);
        term[at] = (other[at] + other[to]) / (j + 1);
        term[at + 1] = (other[at + 1] - other[to + 1]) / (j + 1);
      }
    for (int i = 0; i < count; i++) c[i] += term[i];
  }
  for (int j = 0; j < halvings; j++) {
    diffusion_noise_product(n, e, c, 0, other);
    diffusion_noise_product(n, other, e, 1, term);
    for (int i = 0; i < count; i++) c[i] += term[i];
    diffusion_noise_product(n, e, e, 0, other);
    for (int i = 0; i < count; i++) e[i] = other[i];
  }
  for (int i = 0; i < count; i++) w[i] = 0;
  for (int j = 0; j < n; j++) /* Cholesky; a field without variance of its own has no column */
    for (int i = j; i < n; i++) {
      double re = c[2 * (i * n + j)], im = c[2 * (i * n + j) + 1];
      for (int k = 0; k < j; k++) {
        const double *p = w + 2 * (i * n + k), *o = w + 2 * (j * n + k);
        re -= p[0] * o[0] + p[1] * o[1];
        im -= p[1] * o[0] - p[0] * o[1];
      }
      if (i == j) {
        w[2 * (j * n + j)] = re > 1e-13 * c[2 * (j * n + j)] ? sqrt(re) : 0;
      } else if (w[2 * (j * n + j)] > 0) {
        w[2 * (i * n + j)] = re / w[2 * (j * n + j)];
        w[2 * (i * n + j) + 1] = im / w[2 * (j * n + j)];
      }
    }
}

/* Sampled lines of cells along an axis, `count` lines evenly spaced among all: the first cell of line j in
 * [nz][ny][nx], and the stride of its cells. */
DIFFUSION_BOTH long long diffusion_line_begin(const long long n[3], int axis, long long count, long long j) {
  const long long q = (2 * j + 1) * (n[0] * n[1] * n[2] / n[axis]) / (2 * count);
  return axis == 0 ? q * n[0] : axis == 1 ? q / n[0] * n[0] * n[1] + q % n[0] : q;
}
DIFFUSION_BOTH long long diffusion_line_stride(const long long n[3], int axis) {
  return axis == 0 ? 1 : axis == 1 ? n[0] : n[0] * n[1];
}

#endif
