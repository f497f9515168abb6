#include "kernels/diffusion/cpu/matrix.h"

#include <math.h>
#include <string.h>

typedef diffusion_matrix matrix;

/* out = a b */
static void multiply(int n, const matrix *a, const matrix *b, matrix *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double re = 0, im = 0;
      for (int k = 0; k < n; k++) {
        re += a->re[i][k] * b->re[k][j] - a->im[i][k] * b->im[k][j];
        im += a->re[i][k] * b->im[k][j] + a->im[i][k] * b->re[k][j];
      }
      out->re[i][j] = re;
      out->im[i][j] = im;
    }
}

/* Copies the leading n x n elements; the other elements are never set. */
static void copy(int n, const matrix *from, matrix *to) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      to->re[i][j] = from->re[i][j];
      to->im[i][j] = from->im[i][j];
    }
}

static void add(int n, double factor, const matrix *a, matrix *to) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      to->re[i][j] += factor * a->re[i][j];
      to->im[i][j] += factor * a->im[i][j];
    }
}

static void scale(int n, double factor, matrix *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a->re[i][j] *= factor;
      a->im[i][j] *= factor;
    }
}

static void add_identity(int n, double factor, matrix *a) {
  for (int i = 0; i < n; i++) a->re[i][i] += factor;
}

static double norm_of(int n, const matrix *a) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    double row = 0;
    for (int j = 0; j < n; j++) row += fabs(a->re[i][j]) + fabs(a->im[i][j]);
    if (!(row <= most)) most = row;
  }
  return most;
}

/* phi_j(2A) = 2^-j (phi_0 phi_j + sum over k = 1 ... j of phi_k/(j - k)!) */
void diffusion_matrix_double(int n, matrix phi[DIFFUSION_PHIS]) {
  static const double factorial[] = {1, 1, 2, 6};
  for (int j = DIFFUSION_PHIS - 1; j >= 0; j--) {
    matrix sum;
    multiply(n, &phi[0], &phi[j], &sum);
    for (int k = 1; k <= j; k++) add(n, 1 / factorial[j - k], &phi[k], &sum);
    scale(n, 1.0 / (1 << j), &sum);
    copy(n, &sum, &phi[j]);
  }
}

void diffusion_matrix_phis(int n, const matrix *a, matrix phi[DIFFUSION_PHIS]) {
  enum { TERMS = 13 }; /* the next term is 0.5^13/16! < 1e-17 of the first */
  static const double starts[] = {1, 1, 0.5};
  const double norm = norm_of(n, a);
  const int halvings = norm > 0.5 && norm < INFINITY ? (int)ceil(log2(norm)) + 1 : 0;
  matrix z = *a, power;
  double factorial = 6;
  scale(n, ldexp(1, -halvings), &z);
  for (int i = 4; i < 3 + TERMS; i++) factorial *= i;
  memset(&phi[3], 0, sizeof phi[3]);
  for (int i = 2 + TERMS; i >= 3; i--) { /* Horner's rule */
    multiply(n, &z, &phi[3], &power);
    copy(n, &power, &phi[3]);
    add_identity(n, 1 / factorial, &phi[3]);
    factorial /= i;
  }
  for (int j = 2; j >= 0; j--) {
    multiply(n, &z, &phi[j + 1], &phi[j]);
    add_identity(n, starts[j], &phi[j]);
  }
  for (int i = 0; i < halvings; i++) diffusion_matrix_double(n, phi);
}

/* Tests exp(-D t) at t = 2^30 / norm. Rounding has then grown to 1e-7 of the norm; an unstable mode is far above 1. */
bool diffusion_matrix_stable(int n, const matrix *d) {
  matrix a = *d, phi[DIFFUSION_PHIS];
  const double norm = norm_of(n, d);
  if (!(norm > 0)) return true;
  scale(n, -0x1p30 / norm, &a);
  diffusion_matrix_phis(n, &a, phi);
  return norm_of(n, &phi[0]) < 1e4;
}
