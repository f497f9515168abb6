/* One pass over memory for each axis: rates and x, then y and z. A multiplier that is a product of one factor an
 * axis is a filter along each axis: lines are transformed, multiplied and transformed back in place, and between the
 * passes a field is real. Two neighbouring lines are transformed as one complex line. fp32, axes of N = 32 Q cells.
 *
 * Along axes with walls the points of a line are ordered as in layout.cuh. With V_k the Fourier transform in that order
 * and e_k the factors of the cosine coefficients, the filter is
 *   V'_k = s_k V_k + c_k V_N-k,  s_k = (e_k + e_N-k) / 2,  c_k = exp(i pi k / N) (e_k - e_N-k) / 2,
 * which is Makhoul's cosine transform (IEEE Trans. ASSP 28, 1980), the factors and its inverse combined; sine
 * transforms use the factors of N - k.
 *
 * In a row, point p = j + Q m is stored at 4 (j + Q (m / 4)) + m % 4: a thread has one j and reads four numbers at
 * once. Rows and planes are stored in the order of cells, so that every part of a grid is a part of each array. */
#ifndef DIFFUSION_CUDA_FUSED_AXES_CUH
#define DIFFUSION_CUDA_FUSED_AXES_CUH

#include "kernels/diffusion/cuda/axes/axes.cuh"
#include "kernels/diffusion/cuda/dft.cuh"
#include "kernels/diffusion/cuda/layout.cuh"

template <bool BLOCK> __device__ __forceinline__ void axis_sync() {
  if (BLOCK)
    __syncthreads();
  else
    warp_barrier();
}

/* Row i of the 32 rows of Q wavenumbers k = row + 32 b that thread j holds; rows i and i + 1 hold k and N - k. */
template <int Q> __device__ __forceinline__ int axis_row(int i, int j) {
  const int a = j + Q * (i / 2);
  return Q == 32 || i % 2 == 0 ? a : a ? 32 - a : 16;
}

__device__ __forceinline__ float2 axis_sum(float4 w, float2 v, float2 other) {
  return float2{fmaf(w.x, v.x, fmaf(w.y, other.x, -w.z * other.y)), fmaf(w.x, v.y, fmaf(w.y, other.y, w.z * other.x))};
}

/* Filters rows a and 32 - a. `own`: rows 0 and 16, which are their own mirror images. */
template <int Q>
__device__ __forceinline__ void axis_mix(float2 *r, float2 *s, const float4 *factors, int a, bool own) {
  float2 to_r[Q], to_s[Q];
#pragma unroll
  for (int i = 0; i < Q; i++) {
    const int b = i % 2 ? Q - 1 - i / 2 : i / 2, m = Q - 1 - b; /* this order keeps few old numbers in registers */
    const float4 w = factors[a + 32 * b];
    float4 mirrored = {w.x, w.y, -w.z, 0};
    if (own) mirrored = factors[16 + 32 * m];
    to_r[b] = axis_sum(w, r[b], own ? r[(Q - b) % Q] : s[m]);
    to_s[m] = axis_sum(mirrored, s[m], own ? s[b] : r[b]);
  }
#pragma unroll
  for (int b = 0; b < Q; b++) r[b] = to_r[b], s[b] = to_s[b];
}

/* The same where a thread has one row, whose mirror image another thread holds. */
template <int Q, bool BLOCK>
__device__ __forceinline__ void axis_mix_row(float2 *v, float2 *line, const float4 *factors, int j) {
  const float2 *mirror = line + (32 - j) % 32 * (Q + 2);
#pragma unroll
  for (int b = 0; b < Q; b += 2) *(float4 *)&line[j * (Q + 2) + b] = float4{v[b].x, v[b].y, v[b + 1].x, v[b + 1].y};
  axis_sync<BLOCK>();
#pragma unroll
  for (int b = 0; b < Q; b++)
    v[b] = axis_sum(factors[j + 32 * b], v[b], mirror[b == 0 && j == 0 ? 0 : Q - 1 - b + (j == 0)]);
  axis_sync<BLOCK>();
}

/* Filters a line; v[m] is point j + Q m. */
template <int Q, bool WALLS, bool BLOCK>
__device__ __forceinline__ void axis_filter(float2 *v, float2 *line, const float4 *turns, const float *factors, int j) {
  dft<-1, 32>(v);
  line_turn<Q, true>(v, turns, j);
#pragma unroll
  for (int a = 0; a < 32; a++) line[a * (Q + 2) + j] = v[a];
  axis_sync<BLOCK>();
#pragma unroll
  for (int i = 0; i < 32 / Q; i++) {
    const float2 *row = line + axis_row<Q>(i, j) * (Q + 2);
#pragma unroll
    for (int b = 0; b < Q; b += 2) {
      const float4 two = *(const float4 *)&row[b];
      v[Q * i + b] = float2{two.x, two.y};
      v[Q * i + b + 1] = float2{two.z, two.w};
    }
    dft<-1, Q>(v + Q * i);
  }
  if constexpr (!WALLS) {
#pragma unroll
    for (int i = 0; i < 32; i++) {
      const float e = factors[axis_row<Q>(i / Q, j) + 32 * (i % Q)];
      v[i] = float2{v[i].x * e, v[i].y * e};
    }
  } else if constexpr (Q == 32) {
    axis_mix_row<Q, BLOCK>(v, line, (const float4 *)factors, j);
  } else {
#pragma unroll
    for (int i = 0; i < 32 / Q; i += 2)
      axis_mix<Q>(v + Q * i, v + Q * (i + 1), (const float4 *)factors, axis_row<Q>(i, j), i == 0 && j == 0);
  }
#pragma unroll
  for (int i = 0; i < 32 / Q; i++) {
    float2 *row = line + axis_row<Q>(i, j) * (Q + 2);
    dft<1, Q>(v + Q * i);
#pragma unroll
    for (int b = 0; b < Q; b += 2) /* only this thread has read these numbers */
      *(float4 *)&row[b] = float4{v[Q * i + b].x, v[Q * i + b].y, v[Q * i + b + 1].x, v[Q * i + b + 1].y};
  }
  axis_sync<BLOCK>();
#pragma unroll
  for (int a = 0; a < 32; a++) v[a] = line[a * (Q + 2) + j];
  line_turn<Q, false>(v, turns, j);
  dft<1, 32>(v);
}

/* Rates, and the filter along x: Q neighbouring threads of THREADS in a block hold a pair of rows. */
template <typename Rates, int N, int KX, int KY, int KZ, int TIMES, int THREADS = AXES_ROWS>
__device__ __forceinline__ void axis_rows(const diffusion_axes &g, const diffusion_axes_slab &s,
                                          const diffusion_axes_part &part, double t, double h,
                                          unsigned block = blockIdx.x) {
  constexpr int Q = N / 32, FIELDS = Rates::FIELDS;
  extern __shared__ float4 shared[];
  const int j = threadIdx.x % Q, own = threadIdx.x / Q;
  float2 *line = (float2 *)shared + own * line_pitch<Q>();
  const long long first = 2 * ((long long)block * (THREADS / Q) + own);
  const long long plane = part.z + first / part.rows, row = part.y + first % part.rows;
  float *rows = s.field + (plane * s.rows + row) * N + 4 * j;
  float2 v[FIELDS][32];
#pragma unroll
  for (int f = 0; f < FIELDS; f++)
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const float4 a = *(const float4 *)(rows + f * s.cells + 4 * Q * i);
      const float4 b = *(const float4 *)(rows + f * s.cells + 4 * Q * i + N);
      v[f][4 * i] = float2{a.x, b.x};
      v[f][4 * i + 1] = float2{a.y, b.y};
      v[f][4 * i + 2] = float2{a.z, b.z};
      v[f][4 * i + 3] = float2{a.w, b.w};
    }
  const long long z = s.z + plane, y = s.y + row, w = y + 1;
  const float cy = (float)(((double)y + 0.5) * g.size[1] / (double)g.n[1]);
  const float cw = (float)(((double)w + 0.5) * g.size[1] / (double)g.n[1]);
  const float cz = (float)(((double)z + 0.5) * g.size[2] / (double)g.n[2]);
  const bool turned = layout_negated(KZ, z);
  const float sy = turned != layout_negated(KY, y) ? -1 : 1, sw = turned != layout_negated(KY, w) ? -1 : 1;
#pragma unroll
  for (int m = 0; m < 32; m++) {
    const int p = j + Q * m, x = KX == 0 ? p : m < 16 ? 2 * p : 2 * (N - 1 - p) + 1;
    const float cx = (float)(((double)x + 0.5) * g.size[0] / N);
    constexpr bool signs = KX == 2 || KY == 2 || KZ == 2;
    const float sa = KX == 2 && m >= 16 ? -sy : sy, sb = KX == 2 && m >= 16 ? -sw : sw;
    float a[FIELDS], b[FIELDS];
#pragma unroll
    for (int f = 0; f < FIELDS; f++)
      a[f] = signs ? sa * v[f][m].x : v[f][m].x, b[f] = signs ? sb * v[f][m].y : v[f][m].y;
#pragma unroll
    for (int time = 0; time < TIMES; time++) {
      const float at = (float)(t + time * h);
      Rates::of(a, cx, cy, cz, at, (float)h);
      Rates::of(b, cx, cw, cz, at, (float)h);
    }
#pragma unroll
    for (int f = 0; f < FIELDS; f++) v[f][m] = signs ? float2{sa * a[f], sb * b[f]} : float2{a[f], b[f]};
  }
#pragma unroll
  for (int f = 0; f < FIELDS; f++) {
    if (f > 0) warp_barrier();
    axis_filter<Q, KX != 0, false>(v[f], line, (const float4 *)g.turns[0], g.factors[0] + f * g.all_factors, j);
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const float2 *u = v[f] + 4 * i;
      *(float4 *)(rows + f * s.cells + 4 * Q * i) = float4{u[0].x, u[1].x, u[2].x, u[3].x};
      *(float4 *)(rows + f * s.cells + 4 * Q * i + N) = float4{u[0].y, u[1].y, u[2].y, u[3].y};
    }
  }
}

/* Cell of point j + Q m of a line. */
template <int Q, int KIND> __device__ __forceinline__ int axis_cell(int m, int j) {
  const int p = j + Q * m;
  return KIND == 0 ? p : m < 16 ? 2 * p : 2 * (32 * Q - 1 - p) + 1;
}

/* Filters W pairs of neighbouring lines along y (AXIS 1) or z (2) of a slab, in which lines are whole and planes have
 * ROWS rows: the pairs from number `column` on of plane or row `other`. Returns where this thread's line
 * begins; v[m] is point j + Q m. The stride of lines in shared memory is 2 above a multiple of 16, so that neither
 * 8-byte nor 16-byte accesses conflict. */
template <int NX, int ROWS, int N, int AXIS, int KIND, int W>
__device__ __forceinline__ float2 *axis_lines(float2 *v, const diffusion_axes &g, const diffusion_axes_slab &s,
                                              long long field, long long other, long long column, int &c, int &j) {
  constexpr int Q = N / 32;
  constexpr long long STRIDE = AXIS == 2 ? (long long)(NX / 2) * ROWS : NX / 2;
  extern __shared__ float4 shared[];
  const int tid = threadIdx.x;
  c = tid % 8 + 8 * (tid / 16 % (W / 8)), j = tid / 8 % 2 + 2 * (tid / (2 * W));
  float2 *line = (float2 *)shared + c * AXES_PITCH(Q);
  float2 *at =
      (float2 *)(s.field + field * s.cells) + other * (AXIS == 2 ? NX / 2 : (long long)(NX / 2) * ROWS) + column + c;
#pragma unroll
  for (int m = 0; m < 32; m++) v[m] = at[axis_cell<Q, KIND>(m, j) * STRIDE];
  axis_filter<Q, KIND != 0, true>(v, line, (const float4 *)g.turns[AXIS], g.factors[AXIS] + field * g.all_factors, j);
  return at;
}

/* The filter along y or z; blockIdx.y counts planes or rows, blockIdx.z fields. With several ranks (DIVIDED), points
 * `first` <= q < `end` of each line belong to this rank's other slab, `next`, and are stored there; others in place. */
template <int NX, int NY, int ROWS, int N, int AXIS, int KIND, bool DIVIDED>
__device__ __forceinline__ void axis_columns(const diffusion_axes &g, const diffusion_axes_slab &s,
                                             const diffusion_axes_part &part, const diffusion_axes_slab &next,
                                             int first, int end) {
  constexpr int Q = N / 32, W = AXES_WIDE(Q);
  constexpr long long STRIDE = AXIS == 2 ? (long long)(NX / 2) * ROWS : NX / 2;
  constexpr long long NEXT = AXIS == 2 ? (long long)(NX / 2) * NY : NX / 2;
  const long long other = blockIdx.y + (AXIS == 2 ? part.y : part.z);
  int c, j;
  float2 v[32];
  const long long column = part.x + blockIdx.x * W;
  float2 *at = axis_lines<NX, ROWS, N, AXIS, KIND, W>(v, g, s, blockIdx.z, other, column, c, j);
  float2 *to = at;
  if (DIVIDED)
    to = (float2 *)(next.field + blockIdx.z * next.cells) +
         (AXIS == 2 ? s.y + other : (s.z + other) * next.rows) * (NX / 2) + column + c - first * NEXT;
#pragma unroll
  for (int m = 0; m < 32; m++) {
    const int q = axis_cell<Q, KIND>(m, j);
    if (DIVIDED && q >= first && q < end)
      to[q * NEXT] = v[m];
    else
      at[q * STRIDE] = v[m];
  }
}

/* Where a block of lines along AXIS is: `block` counts blocks of a row or plane, rows or planes, and fields. */
template <int AXIS>
__device__ __forceinline__ void axis_place(const diffusion_axes_part &part, unsigned block, unsigned across,
                                           unsigned lines, long long &field, long long &other, long long &column) {
  const unsigned first = block / across;
  field = first / lines;
  other = first % lines + (AXIS == 2 ? part.y : part.z);
  column = part.x + block % across * AXES_TURN_WIDE;
}

/* Whether this block takes lines of a turn; `block` is its number among those that do the same. Both kinds are spread
 * evenly over the grid. */
__device__ __forceinline__ bool axis_turns(const diffusion_axes_blocks &blocks, unsigned &block) {
  const unsigned long long all = blocks.turned + blocks.beside, own = blockIdx.x;
  const unsigned before = (unsigned)(own * blocks.turned / all);
  const bool turns = (own + 1) * blocks.turned / all > before;
  block = turns ? before : blockIdx.x - before;
  return turns;
}

/* Filters lines of `part` along AXIS and stores their points in the slab they belong to: this rank's other slab, or
 * that of another GPU. Each rank has SHARE points of a line; the last ranks have fewer or none. */
template <int FIELDS, int NX, int NY, int ROWS, int N, int AXIS, int KIND, int SHARE>
__device__ __forceinline__ void axis_turned(const diffusion_axes &g, const diffusion_axes_slab &s,
                                            const diffusion_axes_part &part, const diffusion_axes_blocks &blocks,
                                            unsigned block, const diffusion_axes_targets &targets) {
  constexpr int Q = N / 32;
  constexpr long long NEXT = AXIS == 2 ? (long long)(NX / 2) * NY : NX / 2;
  long long field, other, column;
  axis_place<AXIS>(part, block, blocks.across, blocks.turned / blocks.across / FIELDS, field, other, column);
  int c, j;
  float2 v[32];
  axis_lines<NX, ROWS, N, AXIS, KIND, AXES_TURN_WIDE>(v, g, s, field, other, column, c, j);
#pragma unroll
  for (int m = 0; m < 32; m++) {
    const int q = axis_cell<Q, KIND>(m, j), rank = KIND == 0 && SHARE % Q == 0 ? Q * m / SHARE : q / SHARE;
    const long long line = targets.start[rank] + field * targets.fields[rank] + other * targets.lines[rank];
    ((float2 *)targets.slab[rank])[line / 2 + column + c + q * NEXT] = v[m];
  }
}

/* The last pass before a turn, and beside it rates and x of the rows of `later`, in one kernel of several ranks. So the
 * link between GPUs and the memory of each GPU are busy at the same time. */
template <typename Rates, int NX, int NY, int ROWS, int KX, int KY, int KZ, int TIMES, int N, int AXIS, int SHARE>
__device__ __forceinline__ void axis_turn_and_rows(const diffusion_axes &g, const diffusion_axes_slab &s,
                                                   const diffusion_axes_part &part, const diffusion_axes_part &later,
                                                   const diffusion_axes_blocks &blocks, double t, double h,
                                                   const diffusion_axes_targets &targets) {
  unsigned block;
  if (axis_turns(blocks, block))
    axis_turned<Rates::FIELDS, NX, NY, ROWS, N, AXIS, AXIS == 1 ? KY : KZ, SHARE>(g, s, part, blocks, block, targets);
  else if constexpr (Rates::FIELDS == 1)
    axis_rows<Rates, NX, KX, KY, KZ, TIMES, N / 32 * AXES_TURN_WIDE>(g, s, later, t, h, block);
}

/* The same, and beside it the pass after the turn, of lines of N points as well, over `arrived`, of which all ranks
 * have stored their points in this rank's other slab, `next`. Planes of `next` have NEXT_ROWS rows. */
template <int FIELDS, int NX, int NY, int ROWS, int NEXT_ROWS, int KY, int KZ, int N, int AXIS, int SHARE>
__device__ __forceinline__ void
axis_turn_and_lines(const diffusion_axes &g, const diffusion_axes_slab &s, const diffusion_axes_part &part,
                    const diffusion_axes_slab &next, const diffusion_axes_part &arrived,
                    const diffusion_axes_blocks &blocks, const diffusion_axes_targets &targets) {
  constexpr int Q = N / 32, AFTER = 3 - AXIS, KIND = AFTER == 1 ? KY : KZ;
  constexpr long long STRIDE = AFTER == 2 ? (long long)(NX / 2) * NEXT_ROWS : NX / 2;
  unsigned block;
  if (axis_turns(blocks, block)) {
    axis_turned<FIELDS, NX, NY, ROWS, N, AXIS, AXIS == 1 ? KY : KZ, SHARE>(g, s, part, blocks, block, targets);
    return;
  }
  long long field, other, column;
  axis_place<AFTER>(arrived, block, blocks.across_beside, blocks.beside / blocks.across_beside / FIELDS, field, other,
                    column);
  int c, j;
  float2 v[32];
  float2 *at = axis_lines<NX, NEXT_ROWS, N, AFTER, KIND, AXES_TURN_WIDE>(v, g, next, field, other, column, c, j);
#pragma unroll
  for (int m = 0; m < 32; m++) at[axis_cell<Q, KIND>(m, j) * STRIDE] = v[m];
}

/* Copies between the fields for outputs, real[fields][cells of the slab], and this order, one number a thread. */
template <int N, int KX, int KY, int KZ, bool LOADS>
__device__ __forceinline__ void axis_move(const diffusion_axes_slab &s, float *real) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, row = i / N;
  if (i >= s.cells) return;
  const long long x = i % N, y = s.y + row % s.rows, z = s.z + row / s.rows;
  const int p = (int)layout_position(KX, N, x), q = N / 32, j = p % q, m = p / q;
  const long long to = row * N + 4 * (j + q * (m / 4)) + m % 4;
  const bool negated = layout_negated(KX, x) ^ layout_negated(KY, y) ^ layout_negated(KZ, z);
  float *stored = s.field + blockIdx.y * s.cells + to, *shown = real + blockIdx.y * s.cells + i;
  if (LOADS)
    *stored = negated ? -*shown : *shown;
  else
    *shown = negated ? -*stored : *stored;
}

#endif
