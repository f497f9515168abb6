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

/* The last stage of dft4. */
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

/* a + root b and a - root b, root = sqrt(1/2) */
FFT_INLINE void dft2_root(complex_lanes *a, complex_lanes *b) {
  const vreal root = v_set((real)0.707106781186547524400844362104849039);
  complex_lanes t = {v_fnma(root, b->re, a->re), v_fnma(root, b->im, a->im)};
  *a = (complex_lanes){v_fma(root, b->re, a->re), v_fma(root, b->im, a->im)};
  *b = t;
}

/* The last stage of dft4 where the odd points lack the factor root. */
FFT_INLINE void dft4_root_end(complex_lanes *b, complex_lanes *c, complex_lanes *d) {
  const vreal root = v_set((real)0.707106781186547524400844362104849039);
  complex_lanes even = *c, odd = *d, second = *b;
  *b = (complex_lanes){v_fma(root, odd.im, even.re), v_fnma(root, odd.re, even.im)};
  *d = (complex_lanes){v_fnma(root, odd.im, even.re), v_fma(root, odd.re, even.im)};
  *c = second;
}

/* Times exp(-2 pi i k/8), and those of odd k without their factor root. */
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

FFT_INLINE void dft16(complex_lanes *x) {
  const double c = 0.923879532511286756128183189396788287, s = 0.382683432365089771728459984030398866;
  dft4(&x[0], &x[4], &x[8], &x[12]);
  dft4(&x[1], &x[5], &x[9], &x[13]);
  dft4(&x[2], &x[6], &x[10], &x[14]);
  dft4(&x[3], &x[7], &x[11], &x[15]);
  turn(&x[5], c, s);
  turn_eighth(&x[6]);
  turn(&x[7], s, c);
  turn_eighth(&x[9]);
  turn_quarter(&x[10]);
  turn_three_eighths(&x[11]);
  turn(&x[13], s, c);
  turn_three_eighths(&x[14]);
  turn(&x[15], -c, -s);
  dft4(&x[0], &x[1], &x[2], &x[3]); /* X0 X4 X8 X12, X1 ... */
  dft2_root(&x[4], &x[6]);
  dft2(&x[5], &x[7]);
  dft2(&x[4], &x[5]);
  dft4_end(&x[5], &x[6], &x[7]);
  dft2(&x[8], &x[10]);
  dft2(&x[9], &x[11]);
  dft2_root(&x[8], &x[9]);
  dft4_root_end(&x[9], &x[10], &x[11]);
  dft2_root(&x[12], &x[14]);
  dft2(&x[13], &x[15]);
  dft2(&x[12], &x[13]);
  dft4_end(&x[13], &x[14], &x[15]);
  exchange(&x[1], &x[4]);
  exchange(&x[2], &x[8]);
  exchange(&x[3], &x[12]);
  exchange(&x[6], &x[9]);
  exchange(&x[7], &x[13]);
  exchange(&x[11], &x[14]);
}

FFT_INLINE void dft5(complex_lanes *x) {
  const vreal c1 = v_set((real)0.309016994374947424102293417182819),
              s1 = v_set((real)0.951056516295153572116439333379382);
  const vreal c2 = v_set((real)-0.809016994374947424102293417182819),
              s2 = v_set((real)0.587785252292473129168705954639073);
  const complex_lanes a1 = {x[1].re + x[4].re, x[1].im + x[4].im};
  const complex_lanes d1 = {x[1].re - x[4].re, x[1].im - x[4].im};
  const complex_lanes a2 = {x[2].re + x[3].re, x[2].im + x[3].im};
  const complex_lanes d2 = {x[2].re - x[3].re, x[2].im - x[3].im};
  const complex_lanes first = x[0];
  x[0].re = first.re + a1.re + a2.re;
  x[0].im = first.im + a1.im + a2.im;
  {
    const vreal even_re = v_fma(c2, a2.re, v_fma(c1, a1.re, first.re));
    const vreal even_im = v_fma(c2, a2.im, v_fma(c1, a1.im, first.im));
    const vreal odd_re = v_fma(s2, d2.re, s1 * d1.re);
    const vreal odd_im = v_fma(s2, d2.im, s1 * d1.im);
    x[1] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[4] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re = v_fma(c1, a2.re, v_fma(c2, a1.re, first.re));
    const vreal even_im = v_fma(c1, a2.im, v_fma(c2, a1.im, first.im));
    const vreal odd_re = v_fnma(s1, d2.re, s2 * d1.re);
    const vreal odd_im = v_fnma(s1, d2.im, s2 * d1.im);
    x[2] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[3] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
}

FFT_INLINE void dft7(complex_lanes *x) {
  const vreal c1 = v_set((real)0.62348980185873353052500488400424),
              s1 = v_set((real)0.781831482468029808708444526674058);
  const vreal c2 = v_set((real)-0.222520933956314404288902564496795),
              s2 = v_set((real)0.974927912181823607018131682993931);
  const vreal c3 = v_set((real)-0.900968867902419126236102319507445),
              s3 = v_set((real)0.433883739117558120475768332848359);
  const complex_lanes a1 = {x[1].re + x[6].re, x[1].im + x[6].im};
  const complex_lanes d1 = {x[1].re - x[6].re, x[1].im - x[6].im};
  const complex_lanes a2 = {x[2].re + x[5].re, x[2].im + x[5].im};
  const complex_lanes d2 = {x[2].re - x[5].re, x[2].im - x[5].im};
  const complex_lanes a3 = {x[3].re + x[4].re, x[3].im + x[4].im};
  const complex_lanes d3 = {x[3].re - x[4].re, x[3].im - x[4].im};
  const complex_lanes first = x[0];
  x[0].re = first.re + a1.re + a2.re + a3.re;
  x[0].im = first.im + a1.im + a2.im + a3.im;
  {
    const vreal even_re = v_fma(c3, a3.re, v_fma(c2, a2.re, v_fma(c1, a1.re, first.re)));
    const vreal even_im = v_fma(c3, a3.im, v_fma(c2, a2.im, v_fma(c1, a1.im, first.im)));
    const vreal odd_re = v_fma(s3, d3.re, v_fma(s2, d2.re, s1 * d1.re));
    const vreal odd_im = v_fma(s3, d3.im, v_fma(s2, d2.im, s1 * d1.im));
    x[1] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[6] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re = v_fma(c1, a3.re, v_fma(c3, a2.re, v_fma(c2, a1.re, first.re)));
    const vreal even_im = v_fma(c1, a3.im, v_fma(c3, a2.im, v_fma(c2, a1.im, first.im)));
    const vreal odd_re = v_fnma(s1, d3.re, v_fnma(s3, d2.re, s2 * d1.re));
    const vreal odd_im = v_fnma(s1, d3.im, v_fnma(s3, d2.im, s2 * d1.im));
    x[2] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[5] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re = v_fma(c2, a3.re, v_fma(c1, a2.re, v_fma(c3, a1.re, first.re)));
    const vreal even_im = v_fma(c2, a3.im, v_fma(c1, a2.im, v_fma(c3, a1.im, first.im)));
    const vreal odd_re = v_fma(s2, d3.re, v_fnma(s1, d2.re, s3 * d1.re));
    const vreal odd_im = v_fma(s2, d3.im, v_fnma(s1, d2.im, s3 * d1.im));
    x[3] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[4] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
}

FFT_INLINE void dft11(complex_lanes *x) {
  const vreal c1 = v_set((real)0.841253532831181168861811648919368),
              s1 = v_set((real)0.540640817455597582107635954318692);
  const vreal c2 = v_set((real)0.415415013001886425529274149229623),
              s2 = v_set((real)0.909631995354518371411715383079028);
  const vreal c3 = v_set((real)-0.14231483827328514044379266861637),
              s3 = v_set((real)0.989821441880932732376092037776719);
  const vreal c4 = v_set((real)-0.654860733945285064056925072466294),
              s4 = v_set((real)0.755749574354258283774035843972344);
  const vreal c5 = v_set((real)-0.959492973614497389890368057066328),
              s5 = v_set((real)0.281732556841429697711417915346617);
  const complex_lanes a1 = {x[1].re + x[10].re, x[1].im + x[10].im};
  const complex_lanes d1 = {x[1].re - x[10].re, x[1].im - x[10].im};
  const complex_lanes a2 = {x[2].re + x[9].re, x[2].im + x[9].im};
  const complex_lanes d2 = {x[2].re - x[9].re, x[2].im - x[9].im};
  const complex_lanes a3 = {x[3].re + x[8].re, x[3].im + x[8].im};
  const complex_lanes d3 = {x[3].re - x[8].re, x[3].im - x[8].im};
  const complex_lanes a4 = {x[4].re + x[7].re, x[4].im + x[7].im};
  const complex_lanes d4 = {x[4].re - x[7].re, x[4].im - x[7].im};
  const complex_lanes a5 = {x[5].re + x[6].re, x[5].im + x[6].im};
  const complex_lanes d5 = {x[5].re - x[6].re, x[5].im - x[6].im};
  const complex_lanes first = x[0];
  x[0].re = first.re + a1.re + a2.re + a3.re + a4.re + a5.re;
  x[0].im = first.im + a1.im + a2.im + a3.im + a4.im + a5.im;
  {
    const vreal even_re =
        v_fma(c5, a5.re, v_fma(c4, a4.re, v_fma(c3, a3.re, v_fma(c2, a2.re, v_fma(c1, a1.re, first.re)))));
    const vreal even_im =
        v_fma(c5, a5.im, v_fma(c4, a4.im, v_fma(c3, a3.im, v_fma(c2, a2.im, v_fma(c1, a1.im, first.im)))));
    const vreal odd_re = v_fma(s5, d5.re, v_fma(s4, d4.re, v_fma(s3, d3.re, v_fma(s2, d2.re, s1 * d1.re))));
    const vreal odd_im = v_fma(s5, d5.im, v_fma(s4, d4.im, v_fma(s3, d3.im, v_fma(s2, d2.im, s1 * d1.im))));
    x[1] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[10] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re =
        v_fma(c1, a5.re, v_fma(c3, a4.re, v_fma(c5, a3.re, v_fma(c4, a2.re, v_fma(c2, a1.re, first.re)))));
    const vreal even_im =
        v_fma(c1, a5.im, v_fma(c3, a4.im, v_fma(c5, a3.im, v_fma(c4, a2.im, v_fma(c2, a1.im, first.im)))));
    const vreal odd_re = v_fnma(s1, d5.re, v_fnma(s3, d4.re, v_fnma(s5, d3.re, v_fma(s4, d2.re, s2 * d1.re))));
    const vreal odd_im = v_fnma(s1, d5.im, v_fnma(s3, d4.im, v_fnma(s5, d3.im, v_fma(s4, d2.im, s2 * d1.im))));
    x[2] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[9] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re =
        v_fma(c4, a5.re, v_fma(c1, a4.re, v_fma(c2, a3.re, v_fma(c5, a2.re, v_fma(c3, a1.re, first.re)))));
    const vreal even_im =
        v_fma(c4, a5.im, v_fma(c1, a4.im, v_fma(c2, a3.im, v_fma(c5, a2.im, v_fma(c3, a1.im, first.im)))));
    const vreal odd_re = v_fma(s4, d5.re, v_fma(s1, d4.re, v_fnma(s2, d3.re, v_fnma(s5, d2.re, s3 * d1.re))));
    const vreal odd_im = v_fma(s4, d5.im, v_fma(s1, d4.im, v_fnma(s2, d3.im, v_fnma(s5, d2.im, s3 * d1.im))));
    x[3] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[8] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re =
        v_fma(c2, a5.re, v_fma(c5, a4.re, v_fma(c1, a3.re, v_fma(c3, a2.re, v_fma(c4, a1.re, first.re)))));
    const vreal even_im =
        v_fma(c2, a5.im, v_fma(c5, a4.im, v_fma(c1, a3.im, v_fma(c3, a2.im, v_fma(c4, a1.im, first.im)))));
    const vreal odd_re = v_fnma(s2, d5.re, v_fma(s5, d4.re, v_fma(s1, d3.re, v_fnma(s3, d2.re, s4 * d1.re))));
    const vreal odd_im = v_fnma(s2, d5.im, v_fma(s5, d4.im, v_fma(s1, d3.im, v_fnma(s3, d2.im, s4 * d1.im))));
    x[4] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[7] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re =
        v_fma(c3, a5.re, v_fma(c2, a4.re, v_fma(c4, a3.re, v_fma(c1, a2.re, v_fma(c5, a1.re, first.re)))));
    const vreal even_im =
        v_fma(c3, a5.im, v_fma(c2, a4.im, v_fma(c4, a3.im, v_fma(c1, a2.im, v_fma(c5, a1.im, first.im)))));
    const vreal odd_re = v_fma(s3, d5.re, v_fnma(s2, d4.re, v_fma(s4, d3.re, v_fnma(s1, d2.re, s5 * d1.re))));
    const vreal odd_im = v_fma(s3, d5.im, v_fnma(s2, d4.im, v_fma(s4, d3.im, v_fnma(s1, d2.im, s5 * d1.im))));
    x[5] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[6] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
}

FFT_INLINE void dft13(complex_lanes *x) {
  const vreal c1 = v_set((real)0.885456025653209895900375522015099),
              s1 = v_set((real)0.464723172043768545656015335133105);
  const vreal c2 = v_set((real)0.568064746731155802511807559127517),
              s2 = v_set((real)0.822983865893656394579617423439382);
  const vreal c3 = v_set((real)0.120536680255323053349067687452544),
              s3 = v_set((real)0.99270887409805399280075164949252);
  const vreal c4 = v_set((real)-0.354604887042535625969637892600018),
              s4 = v_set((real)0.935016242685414823439784599837831);
  const vreal c5 = v_set((real)-0.748510748171101098634630599701351),
              s5 = v_set((real)0.663122658240795202376785492666766);
  const vreal c6 = v_set((real)-0.970941817426052027156982276293789),
              s6 = v_set((real)0.239315664287557767148753726260212);
  const complex_lanes a1 = {x[1].re + x[12].re, x[1].im + x[12].im};
  const complex_lanes d1 = {x[1].re - x[12].re, x[1].im - x[12].im};
  const complex_lanes a2 = {x[2].re + x[11].re, x[2].im + x[11].im};
  const complex_lanes d2 = {x[2].re - x[11].re, x[2].im - x[11].im};
  const complex_lanes a3 = {x[3].re + x[10].re, x[3].im + x[10].im};
  const complex_lanes d3 = {x[3].re - x[10].re, x[3].im - x[10].im};
  const complex_lanes a4 = {x[4].re + x[9].re, x[4].im + x[9].im};
  const complex_lanes d4 = {x[4].re - x[9].re, x[4].im - x[9].im};
  const complex_lanes a5 = {x[5].re + x[8].re, x[5].im + x[8].im};
  const complex_lanes d5 = {x[5].re - x[8].re, x[5].im - x[8].im};
  const complex_lanes a6 = {x[6].re + x[7].re, x[6].im + x[7].im};
  const complex_lanes d6 = {x[6].re - x[7].re, x[6].im - x[7].im};
  const complex_lanes first = x[0];
  x[0].re = first.re + a1.re + a2.re + a3.re + a4.re + a5.re + a6.re;
  x[0].im = first.im + a1.im + a2.im + a3.im + a4.im + a5.im + a6.im;
  {
    const vreal even_re = v_fma(
        c6, a6.re, v_fma(c5, a5.re, v_fma(c4, a4.re, v_fma(c3, a3.re, v_fma(c2, a2.re, v_fma(c1, a1.re, first.re))))));
    const vreal even_im = v_fma(
        c6, a6.im, v_fma(c5, a5.im, v_fma(c4, a4.im, v_fma(c3, a3.im, v_fma(c2, a2.im, v_fma(c1, a1.im, first.im))))));
    const vreal odd_re =
        v_fma(s6, d6.re, v_fma(s5, d5.re, v_fma(s4, d4.re, v_fma(s3, d3.re, v_fma(s2, d2.re, s1 * d1.re)))));
    const vreal odd_im =
        v_fma(s6, d6.im, v_fma(s5, d5.im, v_fma(s4, d4.im, v_fma(s3, d3.im, v_fma(s2, d2.im, s1 * d1.im)))));
    x[1] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[12] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re = v_fma(
        c1, a6.re, v_fma(c3, a5.re, v_fma(c5, a4.re, v_fma(c6, a3.re, v_fma(c4, a2.re, v_fma(c2, a1.re, first.re))))));
    const vreal even_im = v_fma(
        c1, a6.im, v_fma(c3, a5.im, v_fma(c5, a4.im, v_fma(c6, a3.im, v_fma(c4, a2.im, v_fma(c2, a1.im, first.im))))));
    const vreal odd_re =
        v_fnma(s1, d6.re, v_fnma(s3, d5.re, v_fnma(s5, d4.re, v_fma(s6, d3.re, v_fma(s4, d2.re, s2 * d1.re)))));
    const vreal odd_im =
        v_fnma(s1, d6.im, v_fnma(s3, d5.im, v_fnma(s5, d4.im, v_fma(s6, d3.im, v_fma(s4, d2.im, s2 * d1.im)))));
    x[2] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[11] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re = v_fma(
        c5, a6.re, v_fma(c2, a5.re, v_fma(c1, a4.re, v_fma(c4, a3.re, v_fma(c6, a2.re, v_fma(c3, a1.re, first.re))))));
    const vreal even_im = v_fma(
        c5, a6.im, v_fma(c2, a5.im, v_fma(c1, a4.im, v_fma(c4, a3.im, v_fma(c6, a2.im, v_fma(c3, a1.im, first.im))))));
    const vreal odd_re =
        v_fma(s5, d6.re, v_fma(s2, d5.re, v_fnma(s1, d4.re, v_fnma(s4, d3.re, v_fma(s6, d2.re, s3 * d1.re)))));
    const vreal odd_im =
        v_fma(s5, d6.im, v_fma(s2, d5.im, v_fnma(s1, d4.im, v_fnma(s4, d3.im, v_fma(s6, d2.im, s3 * d1.im)))));
    x[3] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[10] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re = v_fma(
        c2, a6.re, v_fma(c6, a5.re, v_fma(c3, a4.re, v_fma(c1, a3.re, v_fma(c5, a2.re, v_fma(c4, a1.re, first.re))))));
    const vreal even_im = v_fma(
        c2, a6.im, v_fma(c6, a5.im, v_fma(c3, a4.im, v_fma(c1, a3.im, v_fma(c5, a2.im, v_fma(c4, a1.im, first.im))))));
    const vreal odd_re =
        v_fnma(s2, d6.re, v_fnma(s6, d5.re, v_fma(s3, d4.re, v_fnma(s1, d3.re, v_fnma(s5, d2.re, s4 * d1.re)))));
    const vreal odd_im =
        v_fnma(s2, d6.im, v_fnma(s6, d5.im, v_fma(s3, d4.im, v_fnma(s1, d3.im, v_fnma(s5, d2.im, s4 * d1.im)))));
    x[4] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[9] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re = v_fma(
        c4, a6.re, v_fma(c1, a5.re, v_fma(c6, a4.re, v_fma(c2, a3.re, v_fma(c3, a2.re, v_fma(c5, a1.re, first.re))))));
    const vreal even_im = v_fma(
        c4, a6.im, v_fma(c1, a5.im, v_fma(c6, a4.im, v_fma(c2, a3.im, v_fma(c3, a2.im, v_fma(c5, a1.im, first.im))))));
    const vreal odd_re =
        v_fma(s4, d6.re, v_fnma(s1, d5.re, v_fnma(s6, d4.re, v_fma(s2, d3.re, v_fnma(s3, d2.re, s5 * d1.re)))));
    const vreal odd_im =
        v_fma(s4, d6.im, v_fnma(s1, d5.im, v_fnma(s6, d4.im, v_fma(s2, d3.im, v_fnma(s3, d2.im, s5 * d1.im)))));
    x[5] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[8] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
  {
    const vreal even_re = v_fma(
        c3, a6.re, v_fma(c4, a5.re, v_fma(c2, a4.re, v_fma(c5, a3.re, v_fma(c1, a2.re, v_fma(c6, a1.re, first.re))))));
    const vreal even_im = v_fma(
        c3, a6.im, v_fma(c4, a5.im, v_fma(c2, a4.im, v_fma(c5, a3.im, v_fma(c1, a2.im, v_fma(c6, a1.im, first.im))))));
    const vreal odd_re =
        v_fnma(s3, d6.re, v_fma(s4, d5.re, v_fnma(s2, d4.re, v_fma(s5, d3.re, v_fnma(s1, d2.re, s6 * d1.re)))));
    const vreal odd_im =
        v_fnma(s3, d6.im, v_fma(s4, d5.im, v_fnma(s2, d4.im, v_fma(s5, d3.im, v_fnma(s1, d2.im, s6 * d1.im)))));
    x[6] = (complex_lanes){even_re + odd_im, even_im - odd_re};
    x[7] = (complex_lanes){even_re - odd_im, even_im + odd_re};
  }
}

#endif
