/* Fourier transforms of 2 to 32 points in registers, by radix 2 with all indices known at compile time. A butterfly
 * with a twiddle w takes six multiply-adds: w b = cos (b + tan i b), or with sin and cot, whichever stays below 1.
 * SIGN is that of the exponent. Device code for NVRTC, fp32. */
#ifndef DIFFUSION_CUDA_DFT_CUH
#define DIFFUSION_CUDA_DFT_CUH

/* cos(2 pi k / 32) */
__device__ constexpr double dft_cosine(int k) {
  constexpr double quarter[9] = {1,
                                 0.98078528040323044913,
                                 0.92387953251128675613,
                                 0.83146961230254523708,
                                 0.70710678118654752440,
                                 0.55557023301960222474,
                                 0.38268343236508977173,
                                 0.19509032201612826785,
                                 0};
  return k <= 8 ? quarter[k] : k <= 16 ? -quarter[16 - k] : dft_cosine(32 - k);
}
__device__ constexpr double dft_sine(int k) { return k < 8 ? dft_cosine(8 - k) : dft_cosine(k - 8); }

/* a, b become a + w b, a - w b with w = exp(SIGN 2 pi i K / 32). */
template <int SIGN, int K> __device__ __forceinline__ void dft_butterfly(float2 &a, float2 &b) {
  const float ax = a.x, ay = a.y, bx = b.x, by = b.y;
  if constexpr (K == 0) {
    b.x = ax - bx, b.y = ay - by;
    a.x = ax + bx, a.y = ay + by;
  } else if constexpr (K == 8 && SIGN > 0) {
    b.x = ax + by, b.y = ay - bx;
    a.x = ax - by, a.y = ay + bx;
  } else if constexpr (K == 8) {
    b.x = ax - by, b.y = ay + bx;
    a.x = ax + by, a.y = ay - bx;
  } else {
    constexpr double c = dft_cosine(K), s = SIGN * dft_sine(K);
    constexpr bool flat = K <= 4 || K >= 12;
    constexpr float outer = (float)(flat ? c : s), inner = (float)(flat ? s / c : c / s);
    const float p = flat ? fmaf(-inner, by, bx) : fmaf(inner, bx, -by);
    const float q = flat ? fmaf(inner, bx, by) : fmaf(inner, by, bx);
    b.x = fmaf(-outer, p, ax), b.y = fmaf(-outer, q, ay);
    a.x = fmaf(outer, p, ax), a.y = fmaf(outer, q, ay);
  }
}

/* 0, ..., N-1 as arguments of a template: calls within calls, one for each, would take several times as long to
 * compile. */
template <int... I> struct dft_numbers {};
template <int N, int... I> struct dft_count : dft_count<N - 1, N - 1, I...> {};
template <int... I> struct dft_count<0, I...> { typedef dft_numbers<I...> numbers; };

/* All butterflies of one length. */
template <int SIGN, int LENGTH, int... I> __device__ __forceinline__ void dft_stage(float2 *v, dft_numbers<I...>) {
  constexpr int half = LENGTH / 2;
  (dft_butterfly<SIGN, I % half *(32 / LENGTH)>(v[I / half * LENGTH + I % half],
                                                v[I / half * LENGTH + I % half + half]),
   ...);
}

__device__ constexpr int dft_reversed(int i, int n) {
  int out = 0;
  for (int bit = 1; bit < n; bit *= 2) out = 2 * out + (i / bit & 1);
  return out;
}

/* Of v[N], in order before and after. */
template <int SIGN, int N> __device__ __forceinline__ void dft(float2 *v) {
  float2 t[N];
#pragma unroll
  for (int i = 0; i < N; i++) t[dft_reversed(i, N)] = v[i];
  typename dft_count<N / 2>::numbers numbers;
  if constexpr (N >= 2) dft_stage<SIGN, 2>(t, numbers);
  if constexpr (N >= 4) dft_stage<SIGN, 4>(t, numbers);
  if constexpr (N >= 8) dft_stage<SIGN, 8>(t, numbers);
  if constexpr (N >= 16) dft_stage<SIGN, 16>(t, numbers);
  if constexpr (N >= 32) dft_stage<SIGN, 32>(t, numbers);
#pragma unroll
  for (int i = 0; i < N; i++) v[i] = t[i];
}

__device__ __forceinline__ float2 dft_times(float2 a, float2 w) {
  return float2{fmaf(a.x, w.x, -a.y * w.y), fmaf(a.x, w.y, a.y * w.x)};
}
__device__ __forceinline__ float2 dft_times_conjugate(float2 a, float2 w) {
  return float2{fmaf(a.x, w.x, a.y * w.y), fmaf(a.y, w.x, -a.x * w.y)};
}

/* ---- lines of N = 32 Q points, Q neighbouring threads of a warp each ---- */

/* Numbers of a line in shared memory: exchanges without bank conflicts. */
template <int Q> __device__ constexpr int line_pitch() { return 32 * (Q + 2) + (Q == 8 ? 8 : 0); }

/* turns[16][Q]: w^(a j), w^((a+1) j) of even a, w = exp(-2 pi i / N) */
template <int Q, bool FORWARD> __device__ __forceinline__ void line_turn(float2 *v, const float4 *turns, int j) {
#pragma unroll
  for (int i = 0; i < 16; i++) {
    const float4 w = turns[i * Q + j];
    v[2 * i] = FORWARD ? dft_times(v[2 * i], float2{w.x, w.y}) : dft_times_conjugate(v[2 * i], float2{w.x, w.y});
    v[2 * i + 1] =
        FORWARD ? dft_times(v[2 * i + 1], float2{w.z, w.w}) : dft_times_conjugate(v[2 * i + 1], float2{w.z, w.w});
  }
}

/* From v[m], index j + Q m, to v[Q i + b], index (j + Q i) + 32 b of the other side. */
template <int Q, int SIGN>
__device__ __forceinline__ void line_out(float2 *v, float2 *line, const float4 *turns, int j) {
  dft<SIGN, 32>(v);
  line_turn<Q, (SIGN < 0)>(v, turns, j);
  __syncwarp();
#pragma unroll
  for (int a = 0; a < 32; a++) line[a * (Q + 2) + j] = v[a];
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 32 / Q; i++) {
#pragma unroll
    for (int b = 0; b < Q; b += 2) {
      const float4 two = *(const float4 *)&line[(j + Q * i) * (Q + 2) + b];
      v[Q * i + b] = float2{two.x, two.y};
      v[Q * i + b + 1] = float2{two.z, two.w};
    }
    dft<SIGN, Q>(v + Q * i);
  }
}

/* The way back, in two parts: to where the exchange has been read, and the rest. */
template <int Q, int SIGN> __device__ __forceinline__ void line_back(float2 *v, float2 *line, int j) {
#pragma unroll
  for (int i = 0; i < 32 / Q; i++) {
    dft<SIGN, Q>(v + Q * i);
#pragma unroll
    for (int b = 0; b < Q; b += 2)
      *(float4 *)&line[(j + Q * i) * (Q + 2) + b] =
          float4{v[Q * i + b].x, v[Q * i + b].y, v[Q * i + b + 1].x, v[Q * i + b + 1].y};
  }
  __syncwarp();
#pragma unroll
  for (int a = 0; a < 32; a++) v[a] = line[a * (Q + 2) + j];
}
template <int Q, int SIGN> __device__ __forceinline__ void line_end(float2 *v, const float4 *turns, int j) {
  line_turn<Q, (SIGN < 0)>(v, turns, j);
  dft<SIGN, 32>(v);
}

#endif
