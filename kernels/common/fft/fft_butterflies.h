/* Discrete Fourier transforms of a few points in registers, natural order in and out: X_k = sum_j x_j exp(-2 pi i
 * jk/R). 2, 3, 4 are written out; odd primes go by sums and differences of x_j and x_(R-j); 8, 9, 16 are composed
 * (Cooley and Tukey). Straight-line code throughout: the array becomes registers. */
#ifndef FFT_BUTTERFLIES_H
#define FFT_BUTTERFLIES_H

#include "kernels/common/fft/fft_simd.h"

FFT_INLINE void dft2(complex_lanes *a, complex_lanes *b) {
  complex_lanes t = {a->re - b->re, a->im - b->im};
  *a = (complex_lanes){a->re + b->re, a->im + b->im};
  *b = t;
}

FFT_INLINE void dft3(complex_lanes *a, complex_lanes *b, complex_lanes *c) {
  const vreal half = v_set((real)0.5), root = v_set((real)0.866025403784438646763723170752936183);
  complex_lanes s = {b->re + c->re, b->im + c->im}, d = {b->re - c->re, b->im - c->im};
  complex_lanes m = {v_fnma(half, s.re, a->re), v_fnma(half, s.im, a->im)};
  *a = (complex_lanes){a->re + s.re, a->im + s.im};
  *b = (complex_lanes){v_fma(root, d.im, m.re), v_fnma(root, d.re, m.im)};
  *c = (complex_lanes){v_fnma(root, d.im, m.re), v_fma(root, d.re, m.im)};
}

/* Last stage of dft4. */
FFT_INLINE void dft4_end(complex_lanes *b, complex_lanes *c, complex_lanes *d) {
  complex_lanes even = *c, odd = *d, second = *b;
  *b = (complex_lanes){even.re + odd.im, even.im - odd.re};
  *d = (complex_lanes){even.re - odd.im, even.im + odd.re};
  *c = second;
}

FFT_INLINE void dft4(complex_lanes *a, complex_lanes *b, complex_lanes *c, complex_lanes *d) {
  dft2(a, c);
  dft2(b, d);
  dft2(a, b);
  dft4_end(b, c, d);
}

/* Replaces a and b by a + root b and a - root b, root = sqrt(1/2). */
FFT_INLINE void dft2_root(complex_lanes *a, complex_lanes *b) {
  const vreal root = v_set((real)0.707106781186547524400844362104849039);
  complex_lanes t = {v_fnma(root, b->re, a->re), v_fnma(root, b->im, a->im)};
  *a = (complex_lanes){v_fma(root, b->re, a->re), v_fma(root, b->im, a->im)};
  *b = t;
}

/* Last stage of dft4 for odd points that still lack the factor root. */
FFT_INLINE void dft4_root_end(complex_lanes *b, complex_lanes *c, complex_lanes *d) {
  const vreal root = v_set((real)0.707106781186547524400844362104849039);
  complex_lanes even = *c, odd = *d, second = *b;
  *b = (complex_lanes){v_fma(root, odd.im, even.re), v_fnma(root, odd.re, even.im)};
  *d = (complex_lanes){v_fnma(root, odd.im, even.re), v_fma(root, odd.re, even.im)};
  *c = second;
}

/* Multiplies by exp(-2 pi i k/8), k = 1, 2, 3; for odd k the factor root = sqrt(1/2) is left out. */
FFT_INLINE void turn_eighth(complex_lanes *a) { *a = (complex_lanes){a->re + a->im, a->im - a->re}; }
FFT_INLINE void turn_quarter(complex_lanes *a) { *a = (complex_lanes){a->im, -a->re}; }
FFT_INLINE void turn_three_eighths(complex_lanes *a) { *a = (complex_lanes){a->im - a->re, -(a->re + a->im)}; }
FFT_INLINE void turn(complex_lanes *a, double cosine, double sine) {
  *a = c_times(*a, v_set((real)cosine), v_set((real)-sine));
}
FFT_INLINE void exchange(complex_lanes *a, complex_lanes *b) {
  complex_lanes t = *a;
  *a = *b;
  *b = t;
}

FFT_INLINE void dft8(complex_lanes *x) {
  dft4(&x[0], &x[2], &x[4], &x[6]);
  dft4(&x[1], &x[3], &x[5], &x[7]);
  turn_eighth(&x[3]);
  turn_quarter(&x[5]);
  turn_three_eighths(&x[7]);
  dft2(&x[0], &x[1]); /* X0 X4, X1 X5, X2 X6, X3 X7 */
  dft2_root(&x[2], &x[3]);
  dft2(&x[4], &x[5]);
  dft2_root(&x[6], &x[7]);
  complex_lanes y[8] = {x[0], x[2], x[4], x[6], x[1], x[3], x[5], x[7]};
  x[0] = y[0], x[1] = y[1], x[2] = y[2], x[3] = y[3], x[4] = y[4], x[5] = y[5], x[6] = y[6], x[7] = y[7];
}

FFT_INLINE void dft9(complex_lanes *x) {
  dft3(&x[0], &x[3], &x[6]);
  dft3(&x[1], &x[4], &x[7]);
  dft3(&x[2], &x[5], &x[8]);
  turn(&x[4], 0.766044443118978035202392650555416674, 0.642787609686539326322643409907263433);  /* 40 degrees */
  turn(&x[5], 0.173648177666930348851716626769314796, 0.984807753012208059366743024589523014);  /* 80 */
  turn(&x[7], 0.173648177666930348851716626769314796, 0.984807753012208059366743024589523014);  /* 80 */
  turn(&x[8], -0.939692620785908384054109277324731470, 0.342020143325668733044099614682259581); /* 160 */
  dft3(&x[0], &x[1], &x[2]); /* X0 X3 X6, X1 X4 X7, X2 X5 X8 */
  dft3(&x[3], &x[4], &x[5]);
  dft3(&x[6], &x[7], &x[8]);
  exchange(&x[1], &x[3]);
  exchange(&x[2], &x[6]);
  exchange(&x[5], &x[7]);
}

/* Transform of 16 points in two halves, each of four parts that share no point, so that few points are in registers at
 * a time: part j takes points j, j + 4, j + 8, j + 12; then part g gives X_g, X_(g+4), X_(g+8), X_(g+12) in points 4g
 * to 4g + 3. */
FFT_INLINE void dft16_first(int j, complex_lanes *x) {
  const double c = 0.923879532511286756128183189396788287, s = 0.382683432365089771728459984030398866;
  dft4(&x[j], &x[j + 4], &x[j + 8], &x[j + 12]);
  if (j == 1) {
    turn(&x[5], c, s);
    turn_eighth(&x[9]);
    turn(&x[13], s, c);
  } else if (j == 2) {
    turn_eighth(&x[6]);
    turn_quarter(&x[10]);
    turn_three_eighths(&x[14]);
  } else if (j == 3) {
    turn(&x[7], s, c);
    turn_three_eighths(&x[11]);
    turn(&x[15], -c, -s);
  }
}
FFT_INLINE void dft16_second(int g, complex_lanes *x) {
  if (g == 0) {
    dft4(&x[0], &x[1], &x[2], &x[3]);
  } else if (g == 2) {
    dft2(&x[8], &x[10]);
    dft2(&x[9], &x[11]);
    dft2_root(&x[8], &x[9]);
    dft4_root_end(&x[9], &x[10], &x[11]);
  } else {
    dft2_root(&x[4 * g], &x[4 * g + 2]);
    dft2(&x[4 * g + 1], &x[4 * g + 3]);
    dft2(&x[4 * g], &x[4 * g + 1]);
    dft4_end(&x[4 * g + 1], &x[4 * g + 2], &x[4 * g + 3]);
  }
}
FFT_INLINE void dft16(complex_lanes *x) {
  dft16_first(0, x);
  dft16_first(1, x);
  dft16_first(2, x);
  dft16_first(3, x);
  dft16_second(0, x);
  dft16_second(1, x);
  dft16_second(2, x);
  dft16_second(3, x);
  exchange(&x[1], &x[4]);
  exchange(&x[2], &x[8]);
  exchange(&x[3], &x[12]);
  exchange(&x[6], &x[9]);
  exchange(&x[7], &x[13]);
  exchange(&x[11], &x[14]);
}

/* Transform of R points, R an odd prime up to 13, from the sums and differences of x_j and x_(R-j). cosine[k - 1],
 * sine[k - 1]: of 2 pi k/R, 1 <= k < R/2. */
FFT_INLINE void dft_prime(complex_lanes *x, int R, const double *cosine, const double *sine) {
  enum { HALF_MAX = 6 };
  const int half = R / 2;
  const complex_lanes first = x[0];
  complex_lanes sum[HALF_MAX], difference[HALF_MAX];
#pragma GCC unroll 16
  for (int j = 1; j <= half; j++) {
    const complex_lanes a = x[j], b = x[R - j];
    sum[j - 1] = (complex_lanes){a.re + b.re, a.im + b.im};
    difference[j - 1] = (complex_lanes){a.re - b.re, a.im - b.im};
    x[0] = (complex_lanes){x[0].re + sum[j - 1].re, x[0].im + sum[j - 1].im};
  }
#pragma GCC unroll 16
  for (int k = 1; k <= half; k++) {
    complex_lanes even = first, odd;
#pragma GCC unroll 16
    for (int j = 1; j <= half; j++) {
      const int m = j * k % R, at = m <= half ? m - 1 : R - m - 1;
      const vreal c = v_set((real)cosine[at]), s = v_set((real)(m <= half ? sine[at] : -sine[at]));
      const complex_lanes a = sum[j - 1], d = difference[j - 1];
      even = (complex_lanes){v_fma(c, a.re, even.re), v_fma(c, a.im, even.im)};
      odd = j == 1 ? (complex_lanes){s * d.re, s * d.im}
                   : (complex_lanes){v_fma(s, d.re, odd.re), v_fma(s, d.im, odd.im)};
    }
    x[k] = (complex_lanes){even.re + odd.im, even.im - odd.re};
    x[R - k] = (complex_lanes){even.re - odd.im, even.im + odd.re};
  }
}

FFT_INLINE void dft5(complex_lanes *x) {
  static const double cosine[] = {0.309016994374947424102293417182819, -0.809016994374947424102293417182819};
  static const double sine[] = {0.951056516295153572116439333379382, 0.587785252292473129168705954639073};
  dft_prime(x, 5, cosine, sine);
}

FFT_INLINE void dft7(complex_lanes *x) {
  static const double cosine[] = {0.62348980185873353052500488400424, -0.222520933956314404288902564496795,
                                  -0.900968867902419126236102319507445};
  static const double sine[] = {0.781831482468029808708444526674058, 0.974927912181823607018131682993931,
                                0.433883739117558120475768332848359};
  dft_prime(x, 7, cosine, sine);
}

FFT_INLINE void dft11(complex_lanes *x) {
  static const double cosine[] = {0.841253532831181168861811648919368, 0.415415013001886425529274149229623,
                                  -0.14231483827328514044379266861637, -0.654860733945285064056925072466294,
                                  -0.959492973614497389890368057066328};
  static const double sine[] = {0.540640817455597582107635954318692, 0.909631995354518371411715383079028,
                                0.989821441880932732376092037776719, 0.755749574354258283774035843972344,
                                0.281732556841429697711417915346617};
  dft_prime(x, 11, cosine, sine);
}

FFT_INLINE void dft13(complex_lanes *x) {
  static const double cosine[] = {0.885456025653209895900375522015099,  0.568064746731155802511807559127517,
                                  0.120536680255323053349067687452544,  -0.354604887042535625969637892600018,
                                  -0.748510748171101098634630599701351, -0.970941817426052027156982276293789};
  static const double sine[] = {0.464723172043768545656015335133105, 0.822983865893656394579617423439382,
                                0.99270887409805399280075164949252,  0.935016242685414823439784599837831,
                                0.663122658240795202376785492666766, 0.239315664287557767148753726260212};
  dft_prime(x, 13, cosine, sine);
}

#endif
