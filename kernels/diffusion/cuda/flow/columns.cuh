/* The last pass of a stage of a flow, along y (two axes) or z: forward transform of the rates of all fields,
 * projection, the stage's sums, and for each input of the rates its coefficients and their inverse transform. All
 * fields of a wavenumber are in one thread. Wavenumbers that dealiasing cuts are 0, and no array is read or written
 * there. */
#ifndef DIFFUSION_CUDA_FLOW_COLUMNS_CUH
#define DIFFUSION_CUDA_FLOW_COLUMNS_CUH

#include "kernels/diffusion/cuda/flat/columns.cuh"
#include "kernels/diffusion/cuda/flow/middle.cuh"
#include "kernels/diffusion/cuda/general/flows.cuh"

/* Columns of a thread block: the last axis of the layout, and the columns of a tile. */
template <typename S> struct flow_columns {
  enum {
    AXIS = S::NZ > 1 ? 2 : 1,
    N = S::NZ > 1 ? S::NZ : S::NY,
    L = S::WIDE * S::DEEP,
    ENTRIES = (N / 512 + 1) * 256,
    KEPT = S::LOW,
  };
  typedef flat_line<N, L> lines;
  enum { C = lines::C, T = lines::T, THREADS = L * T };
};

/* The inputs for outputs: the fields themselves. */
template <typename Flow> struct flow_shown : Flow {
  enum { READS = Flow::FIELDS };
  template <int R> __device__ static __forceinline__ pair read(const pair *u, const flow_at &) { return u[R]; }
};

template <typename Axes> __device__ __forceinline__ void flow_mode(flow_at &at, int i, int n, int mode) {
  at.k[i] = Axes::unit(i) * (double)(2 * mode > n ? mode - n : mode);
  at.own = at.own & ~(1 << i) | (2 * mode == n ? 1 << i : 0);
}

/* A thread's place among the columns. */
template <typename S> struct flow_place {
  typedef flow_columns<S> P;
  flow_at at;
  int j;
  bool there;
  __device__ __forceinline__ flow_place() {
    const int own = threadIdx.x % P::L, kx = blockIdx.x / S::TY * S::WIDE + own % S::WIDE;
    const int q = blockIdx.x % S::TY * S::DEEP + own / S::WIDE;
    j = threadIdx.x / P::L;
    at.own = 0;
    at.member = 1;
    flow_mode<scenario_axes>(at, 0, S::NX, kx);
    flow_mode<scenario_axes>(at, 1, S::NY, P::AXIS == 1 ? 0 : q < S::KY_LOW ? q : q + S::NY - S::KY);
    at.other = at.k[0];
    at.k[2] = 0;
    there = kx < S::KX && q < S::KY;
  }
  /* Wavenumber of v[i]. */
  __device__ __forceinline__ int mode(int i) const {
    return j / P::C + 16 * (j % P::C) + 16 * P::C * (i / P::C) + 256 * (i % P::C);
  }
  __device__ __forceinline__ bool kept(int i) const { return there && flow_any_kept(P::N, P::KEPT, mode(i), mode(i)); }
  /* Sets the wavenumber of v[i]; without modes that are their own mirror images where they are cut. */
  __device__ __forceinline__ void set(int i) {
    flow_mode<scenario_axes>(at, P::AXIS, P::N, mode(i));
    if (2 * P::KEPT <= P::N && 2 * S::KX <= S::NX && (P::AXIS == 1 || 2 * S::KY_LOW <= S::NY)) at.own = 0;
  }
};

/* Sums of a stage for one field, BATCH wavenumbers at a time, of which all arrays are read before any is written. */
template <typename S, typename Visit, int BATCH>
__device__ __forceinline__ void flow_sum(const diffusion_sums &s, float2 *v, flow_place<S> &place, int field) {
  typedef flow_columns<S> P;
  const long long first = field * s.field + (long long)blockIdx.x * (P::N * P::L) + threadIdx.x;
  const long long table = field * s.tables + (long long)blockIdx.x * (P::ENTRIES * P::L) + threadIdx.x % P::L;
#pragma unroll
  for (int begin = 0; begin < 16; begin += BATCH) {
    typename Visit::inputs in[BATCH];
    compute_again(place.j);
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const int i = begin + b;
      if (place.kept(i)) in[b].read(s, first + i * P::THREADS, table + flat_entry<P::N>(place.mode(i)) * P::L);
    }
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const int i = begin + b;
      if (place.kept(i))
        Visit::at(s, v[i], first + i * P::THREADS, in[b]);
      else
        v[i] = float2{0, 0};
    }
  }
}

/* Computes input R of the rates at all wavenumbers of a thread. 16 wavenumbers and their coefficients would not fit in
 * registers beside the fields, so they are computed again for each input, and four at a time. */
template <typename S, typename Flow, int R>
__device__ __forceinline__ void flow_take(float2 *out, const float2 (*v)[16], flow_place<S> &place) {
#pragma unroll
  for (int i = 0; i < 16; i++) {
    pair u[Flow::FIELDS];
#pragma unroll
    for (int f = 0; f < Flow::FIELDS; f++) u[f] = v[f][i];
    if (i % 4 == 0) compute_again(place.j);
    place.set(i);
    out[i] = float2{0, 0};
    if (place.kept(i)) out[i] = Flow::template read<R>(u, place.at);
  }
}

/* Computes inputs R, R + 1, ... of the rates, transformed along the last axis. */
template <typename S, typename Flow, int GROUP, int R>
__device__ __forceinline__ void flow_give(const diffusion_flow &g, const float2 (*v)[16], flow_place<S> &place,
                                          float2 *line, const float2 *turns, float2 *to) {
  typedef flow_columns<S> P;
  if constexpr (R < Flow::READS) {
    float2 out[16], *at = to + R / GROUP * GROUP * g.deep + R % GROUP;
    flow_take<S, Flow, R>(out, v, place);
    __syncthreads();
    flat_back<typename P::lines, 1>(out, line, place.j, line, place.j, turns);
#pragma unroll
    for (int m = 0; m < 16; m++) at[m * P::THREADS * GROUP] = out[m];
    flow_give<S, Flow, GROUP, R + 1>(g, v, place, line, turns, to);
  }
}

/* `from`: by columns, the rates; `to`: by columns, or by rows on two axes, the inputs in groups of GROUP. */
template <typename S, typename Flow, typename Visit, int GROUP, bool FORWARD, bool INVERSE>
__device__ __forceinline__ void flow_columns_of(const diffusion_flow &g, const diffusion_sums &s, const float2 *from,
                                                float2 *to) {
  typedef flow_columns<S> P;
  constexpr int FIELDS = Flow::FIELDS, BATCH = FIELDS > 2 ? 4 : 8;
  extern __shared__ float4 shared[];
  flow_place<S> place;
  float2 *const line = (float2 *)shared + threadIdx.x % P::L * P::lines::PITCH;
  const float2 *turns = (const float2 *)g.turns[P::AXIS];
  const long long tile = (long long)blockIdx.x * (P::N * P::L) + threadIdx.x;
  float2 v[FIELDS][16];
#pragma unroll
  for (int f = 0; f < FIELDS && FORWARD; f++) {
#pragma unroll
    for (int m = 0; m < 16; m++) v[f][m] = place.there ? from[f * g.deep + tile + m * P::THREADS] : float2{0, 0};
    if (f > 0) __syncthreads();
    flat_out<typename P::lines, -1>(v[f], line, place.j, line, place.j, turns);
  }
  if (FORWARD && Flow::JOINS) {
#pragma unroll
    for (int i = 0; i < 16; i++) {
      pair u[FIELDS];
#pragma unroll
      for (int f = 0; f < FIELDS; f++) u[f] = v[f][i];
      if (i % 4 == 0) compute_again(place.j);
      place.set(i);
      Flow::join(u, place.at);
#pragma unroll
      for (int f = 0; f < FIELDS; f++) v[f][i] = u[f];
    }
  }
#pragma unroll
  for (int f = 0; f < FIELDS; f++) flow_sum<S, Visit, BATCH>(s, v[f], place, f);
  if (!INVERSE) return;
  flow_give<S, Flow, GROUP, 0>(g, v, place, line, turns, to + tile * GROUP);
}

#endif
