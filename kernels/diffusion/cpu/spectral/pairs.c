/* Storage of wavenumber n/2 of rows. Before the transform along y its coefficients are real, like those of
 * wavenumber 0, and both are transformed as one column a + i b: the first lane of a row's first point. Then
 *
 *   A_k = (C_k + conj C_-k) / 2,   B_k = (C_k - conj C_-k) / 2i,
 *
 * and B moves to the last points of rows 0, G, 2 G, ..., where the lanes are G positions along y. So a row takes n/2
 * lanes instead of n/2 + 1, the last of which would need a point of its own. */
#include "kernels/diffusion/cpu/spectral/parts.h"

#define PAIRS(real, name)                                                                                              \
  static real *first_##name(const diffusion_spectral *s, void *plane, int64_t p) {                                     \
    return (real *)(void *)point(plane, p * s->row_stride);                                                            \
  }                                                                                                                    \
  static real *last_##name(const diffusion_spectral *s, void *plane, int64_t p) {                                      \
    const int64_t lane = p % s->group;                                                                                 \
    return (real *)(void *)point(plane, (p - lane) * s->row_stride + s->row_points - 1) + lane;                        \
  }                                                                                                                    \
  /* Removes rounding errors from the symmetry A_k = conj A_-k, and the same of B. */                                  \
  static void pair_##name(const diffusion_spectral *s, void *plane) {                                                  \
    const int64_t im = s->group;                                                                                       \
    for (int64_t p = 0; p < s->middle; p++) {                                                                          \
      const int64_t q = s->mirror[p];                                                                                  \
      if (q < p) continue;                                                                                             \
      real *a = first_##name(s, plane, p), *c = first_##name(s, plane, q);                                             \
      const real *b = last_##name(s, plane, p), *d = last_##name(s, plane, q);                                         \
      const real a_re = (a[0] + c[0]) / 2, a_im = (a[im] - c[im]) / 2;                                                 \
      const real b_re = (b[0] + d[0]) / 2, b_im = (b[im] - d[im]) / 2;                                                 \
      c[0] = a_re + b_im, c[im] = b_re - a_im;                                                                         \
      a[0] = a_re - b_im, a[im] = a_im + b_re;                                                                         \
    }                                                                                                                  \
  }                                                                                                                    \
  static void unpair_##name(const diffusion_spectral *s, void *plane) {                                                \
    const int64_t im = s->group;                                                                                       \
    for (int64_t p = s->middle; p % im != 0; p++) last_##name(s, plane, p)[0] = last_##name(s, plane, p)[im] = 0;      \
    for (int64_t p = 0; p < s->middle; p++) {                                                                          \
      const int64_t q = s->mirror[p];                                                                                  \
      if (q < p) continue;                                                                                             \
      real *a = first_##name(s, plane, p), *c = first_##name(s, plane, q);                                             \
      real *b = last_##name(s, plane, p), *d = last_##name(s, plane, q);                                               \
      const real p_re = a[0], p_im = a[im], q_re = c[0], q_im = c[im];                                                 \
      c[0] = a[0] = (p_re + q_re) / 2;                                                                                 \
      d[0] = b[0] = (p_im + q_im) / 2;                                                                                 \
      c[im] = (q_im - p_im) / 2, a[im] = (p_im - q_im) / 2;                                                            \
      d[im] = (p_re - q_re) / 2, b[im] = (q_re - p_re) / 2;                                                            \
    }                                                                                                                  \
  }
PAIRS(float, single)
PAIRS(double, double)

void diffusion_pair(const diffusion_spectral *s, void *plane) { (s->single ? pair_single : pair_double)(s, plane); }
void diffusion_unpair(const diffusion_spectral *s, void *plane) {
  (s->single ? unpair_single : unpair_double)(s, plane);
}
