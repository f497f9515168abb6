/* Conversion between Fourier coefficients of cells in Makhoul's order (layout.cuh) and cosine coefficients. */
#ifndef DIFFUSION_CUDA_FOLD_CUH
#define DIFFUSION_CUDA_FOLD_CUH

template <typename real> struct complex_of { real re, im; };

template <typename real>
static __device__ __forceinline__ complex_of<real> times(complex_of<real> a, complex_of<real> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* exp(-i pi k / 2n) */
static __device__ __forceinline__ complex_of<float> turn(long long k, long long n, float) {
  complex_of<float> w;
  sincospif((float)k / (float)(2 * n), &w.im, &w.re);
  w.im = -w.im;
  return w;
}
static __device__ __forceinline__ complex_of<double> turn(long long k, long long n, double) {
  complex_of<double> w;
  sincospi((double)k / (double)(2 * n), &w.im, &w.re);
  w.im = -w.im;
  return w;
}

/* Fourier coefficients of wavenumbers k and n-k along one axis, of cells in Makhoul's order, and cosine coefficients k
 * and n-k: with w = exp(-i pi k / 2n), X_k = (w V_k + w* V_n-k) / 2 and X_n-k = i (w V_k - w* V_n-k) / 2. */
template <typename real, bool FORWARD>
static __device__ __forceinline__ void fold_pair(complex_of<real> &a, complex_of<real> &b, complex_of<real> w,
                                                 long long k) {
  const complex_of<real> other = {w.re, -w.im};
  if (FORWARD) {
    const complex_of<real> p = times(w, a), q = times(other, b);
    a = {(p.re + q.re) / 2, (p.im + q.im) / 2};
    b = {-(p.im - q.im) / 2, (p.re - q.re) / 2};
  } else {
    if (k == 0) b = {0, 0};
    const complex_of<real> p = {a.re + b.im, a.im - b.re}, q = {a.re - b.im, a.im + b.re};
    a = times(other, p);
    b = times(w, q);
  }
}

#endif
