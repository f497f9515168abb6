/* The pass over rows of a flow: inverse transform along x of all inputs of the rates, the rates, and the forward
 * transform of the rates. The real inputs A and B of one row are transformed as one complex line: W(k) = A + i B,
 * W(nx - k) = conj A + i conj B. */
#ifndef DIFFUSION_CUDA_FLOW_ROWS_CUH
#define DIFFUSION_CUDA_FLOW_ROWS_CUH

#include "kernels/diffusion/cuda/flat/lines.cuh"
#include "kernels/diffusion/cuda/flow/flow.cuh"

enum { FLOW_STEP, FLOW_LOAD, FLOW_STORE };

/* Stands in where nothing but the fields is read. */
template <int COUNT> struct flow_fields_alone {
  enum { FIELDS = COUNT, READS = COUNT };
  __device__ static constexpr int value(int field) { return field; }
};

/* Number of wavenumber k of a row, from the row's first number on. */
template <typename S, int GROUP> __device__ __forceinline__ int flow_row_at(int k) {
  return k / S::WIDE * (S::NY * S::SLAB * S::WIDE * GROUP) + k % S::WIDE * GROUP;
}

/* Reads A, and B where there are two. */
template <int GROUP, bool TWO>
__device__ __forceinline__ void flow_read_pair(const float2 *a, const float2 *b, float2 &first, float2 &second) {
  if (GROUP == 2 && TWO) {
    const float4 both = *(const float4 *)a;
    first = float2{both.x, both.y};
    second = float2{both.z, both.w};
  } else {
    first = *a;
    if (TWO) second = *b;
  }
}

/* Reads the line W of two rows' coefficients: v[m] is wavenumber j + T m. */
template <typename S, int T, int GROUP, bool TWO>
__device__ __forceinline__ void flow_rows_in(float2 *v, const float2 *a, const float2 *b, int j) {
  constexpr int STEP = T * S::NY * S::SLAB * GROUP;
  const int near = flow_row_at<S, GROUP>(j), far = flow_row_at<S, GROUP>(T - j);
#pragma unroll
  for (int m = 0; m < 8; m++) {
    float2 p = {0, 0}, q = {0, 0};
    if (T * m < S::KX && j + T * m < S::KX) flow_read_pair<GROUP, TWO>(a + near + m * STEP, b + near + m * STEP, p, q);
    if (m == 0 && j == 0) p.y = q.y = 0; /* real coefficients */
    v[m] = float2{p.x - q.y, p.y + q.x};
  }
#pragma unroll
  for (int m = 8; m < 16; m++) {
    float2 p = {0, 0}, q = {0, 0};
    if (T * (15 - m) + 1 < S::KX && T * (16 - m) - j < S::KX)
      flow_read_pair<GROUP, TWO>(a + far + (15 - m) * STEP, b + far + (15 - m) * STEP, p, q);
    if (m == 8 && j == 0) p.y = q.y = 0;
    v[m] = float2{p.x + q.y, q.x - p.y};
  }
}

/* Stores the coefficients of a transformed line: of A and B where there are two, else of A alone. */
template <typename S, int T, bool TWO>
__device__ __forceinline__ void flow_rows_out(const float2 *v, float2 *a, float2 *b, float2 *line, int j) {
  constexpr int STEP = T * S::NY * S::SLAB;
  const int near = flow_row_at<S, 1>(j);
  if (TWO) {
    __syncthreads();
#pragma unroll
    for (int m = 8; m < 16; m++)
      if (T * (15 - m) + 1 < S::KX) line[j + T * m] = v[m];
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m <= 8; m++) {
    if (T * m >= S::KX || j + T * m >= S::KX || (m == 8 && j > 0)) continue;
    const bool own = m == 8 || (m == 0 && j == 0);
    const float2 k = v[m], n = !TWO || own ? k : line[S::NX - (j + T * m)];
    a[near + m * STEP] = !TWO ? k : float2{0.5f * (k.x + n.x), 0.5f * (k.y - n.y)};
    if (TWO) b[near + m * STEP] = float2{0.5f * (k.y + n.y), 0.5f * (n.x - k.x)};
  }
}

/* The rates at one cell. in[READS]: the inputs; out[FIELDS]. */
template <typename Rates, typename Reads, int FIELDS>
__device__ __forceinline__ void flow_rates_at(const float *in, float *out, const float *x, float t, float h) {
  constexpr int READS = Reads::READS;
  float d[READS + 1];
  int values = 0;
#pragma unroll
  for (int f = 0; f < FIELDS; f++) {
    out[f] = Reads::value(f) < 0 ? 0 : in[Reads::value(f) < 0 ? 0 : Reads::value(f)];
    if (Reads::value(f) >= 0) values++;
  }
#pragma unroll
  for (int g = 0; g < READS; g++)
    if (g >= values) d[g - values] = in[g];
  Rates::of(out, x[0], x[1], x[2], t, h, d);
}

/* One thread block: L rows. The last rows are the first ones, since the pass before has just written them; the pass
 * after begins with the first ones. `from` by rows, inputs of the rates or fields; `to` by rows, rates or fields. */
template <typename S, typename Rates, typename Reads, int FIELDS, int L, int MODE>
__device__ __forceinline__ void flow_rows_of(const diffusion_flow &g, const float2 *from, float2 *to, double t,
                                             double h) {
  typedef flat_line<S::NX, L> lines;
  constexpr int C = lines::C, T = lines::T, GROUP = MODE == FLOW_STEP ? (int)S::GROUP : 1;
  constexpr int IN = MODE == FLOW_LOAD ? 0 : (int)Reads::READS, OUT = MODE == FLOW_STORE ? 0 : FIELDS;
  constexpr int INS = (IN + 1) / 2, OUTS = (FIELDS + 1) / 2, HELD = INS > OUTS ? INS : OUTS;
  extern __shared__ float4 shared[];
  after_previous();
  const int own = threadIdx.x % L, j = threadIdx.x / L;
  const int row = (gridDim.x - 1 - blockIdx.x) * L + own, line_of_slab = row % (S::NY * S::SLAB);
  const int slab = row / (S::NY * S::SLAB), y = line_of_slab / S::SLAB;
  const int z = g.plane + slab * S::SLAB + line_of_slab % S::SLAB;
  float2 *const line = (float2 *)shared + own * lines::PITCH;
  const long long first = ((long long)slab * S::TX * (S::NY * S::SLAB) + line_of_slab) * S::WIDE;
  const float2 *turns = (const float2 *)g.turns[0];
  const int x0 = j / C + 16 * (j % C); /* x of v[0] */
  float2 v[HELD][16];
#pragma unroll
  for (int p = 0; p < INS; p++) {
    const float2 *a = from + first * GROUP + 2LL * p * g.rowed, *b = a + g.rowed; /* b: where GROUP is 1 */
    if (2 * p + 1 < IN)
      flow_rows_in<S, T, GROUP, true>(v[p], a, b, j);
    else
      flow_rows_in<S, T, GROUP, false>(v[p], a, b, j);
    if (p > 0) __syncthreads();
    flat_out<lines, 1>(v[p], line, j, line, j, turns);
  }
  float *real = g.real + ((long long)z * S::NY + y) * S::NX + x0;
  const float cy = (float)(((double)y + 0.5) * g.size[1] / S::NY), cz = (float)(((double)z + 0.5) * g.size[2] / S::NZ);
#pragma unroll
  for (int i = 0; i < 16; i++) {
    const int at = 16 * C * (i / C) + 256 * (i % C);
    float in[2 * HELD], out[2 * HELD];
#pragma unroll
    for (int p = 0; p < INS; p++) in[2 * p] = v[p][i].x, in[2 * p + 1] = v[p][i].y;
    out[2 * OUTS - 1] = 0;
    if (MODE == FLOW_STEP) {
      const float x[3] = {(float)(((double)(x0 + at) + 0.5) * g.size[0] / S::NX), cy, cz};
      flow_rates_at<Rates, Reads, FIELDS>(in, out, x, (float)t, (float)h);
    }
#pragma unroll
    for (int f = 0; f < FIELDS; f++) {
      if (MODE == FLOW_LOAD) out[f] = real[f * g.cells + at];
      if (MODE == FLOW_STORE) real[f * g.cells + at] = in[f];
    }
    if (MODE == FLOW_STORE) continue;
#pragma unroll
    for (int q = 0; q < OUTS; q++) v[q][i] = float2{out[2 * q], out[2 * q + 1]};
  }
#pragma unroll
  for (int q = 0; q < (OUT + 1) / 2; q++) {
    float2 *a = to + first + 2LL * q * g.rowed, *b = a + g.rowed;
    __syncthreads();
    flat_back<lines, -1>(v[q], line, j, line, j, turns);
    if (2 * q + 1 < OUT)
      flow_rows_out<S, T, true>(v[q], a, b, line, j);
    else
      flow_rows_out<S, T, false>(v[q], a, b, line, j);
  }
}

#endif
