/* L2P and P2P: a warp a leaf. For L2P a lane has a body. For P2P the warp is 8 target slots by 4 source strands, and a
 * lane has up to 8 targets; the bodies of a piece of the near list stream through a tile in shared memory, the next
 * tile while the warp works on this one. Device code. */
#ifndef NBODY_FMM_CUDA_NEAR_CUH
#define NBODY_FMM_CUDA_NEAR_CUH

#include "kernels/nbody/fmm/cuda/launch.cuh"
#include "kernels/nbody/fmm/cuda/operators.cuh"
#include "kernels/nbody/fmm/cuda/stages.cuh"

enum { FMM_NEAR_WARPS = 4, FMM_TILE = 128 /* bodies */, FMM_TARGETS = 64 /* of a warp at a time */, FMM_SLOTS = 8 };

template <typename real, int P> struct fmm_near_room {
  typename nbody_fmm_tree<real>::body_type tile[2][FMM_TILE];
  typename nbody_fmm_tree<real>::body_type target[FMM_TARGETS];
  real sum[3][FMM_TARGETS];
  alignas(16) real field[fmm_row<real, P>::field_stride];
};

/* The bodies of a piece: 32 cells in a row, a lane a cell. */
struct fmm_piece {
  unsigned first, count, offset; /* of the lane's cell; offset: bodies of the cells before it */
  unsigned total;
};

__device__ inline void fmm_copy_body(float4 *to, const float4 *from) { fmm_copy16(to, from); }
__device__ inline void fmm_copy_body(double_quad *to, const double_quad *from) {
  fmm_copy16(to, from);
  fmm_copy16((char *)to + 16, (const char *)from + 16);
}

/* Begins to copy bodies begin ... begin + FMM_TILE - 1 of the piece, which begin in the cell of lane *cell or later;
 * *cell: the first cell that the next tile needs. The end is filled up with bodies without mass, far away. */
template <typename body_type>
__device__ __forceinline__ void fmm_fill(body_type *tile, const body_type *body, const fmm_piece &piece, unsigned begin,
                                         unsigned *cell) {
  const unsigned end = min(begin + FMM_TILE, piece.total), lane = fmm_lane();
  for (;;) {
    const unsigned offset = __shfl_sync(~0u, piece.offset, (int)*cell),
                   first = __shfl_sync(~0u, piece.first, (int)*cell);
    const unsigned count = __shfl_sync(~0u, piece.count, (int)*cell);
    const unsigned from = max(offset, begin), to = min(offset + count, end);
    for (unsigned f = from + lane; f < to; f += 32) fmm_copy_body(tile + (f - begin), body + (first + (f - offset)));
    if (offset + count >= end) break; /* more of this cell may be in the next tile */
    ++*cell;
  }
  if (lane < ((0u - end) & 3)) {
    body_type none;
    none.x = none.y = none.z = 64, none.w = 0;
    tile[end - begin + lane] = none;
  }
  fmm_copies_end();
}

/* Targets of a lane, the k-th of its slot: target slot + 8 k. */
template <typename real, int K, int SUMS> struct fmm_targets { real x[K], y[K], z[K], sum[K][SUMS]; };

/* SUMS: 3 components of the acceleration, or 1 for the potential. SELF: bodies of the tile may be the targets; `own` is
 * the place of the first target in the tile. */
template <bool SELF, typename real, int K, int SUMS, typename body_type>
__device__ __forceinline__ void fmm_pairs(fmm_targets<real, K, SUMS> &mine, const body_type *tile, unsigned count,
                                          real softening2, int own) {
  const int strand = (int)fmm_lane() % NBODY_FMM_P2P_STRANDS, slot = (int)fmm_lane() / NBODY_FMM_P2P_STRANDS;
  const int steps = (int)(count + NBODY_FMM_P2P_STRANDS - 1) / NBODY_FMM_P2P_STRANDS;
#pragma unroll(K > 4 || sizeof(real) == 8 ? 1 : K > 2 ? 2 : 4)
  for (int step = 0; step < steps; step++) {
    const int j = NBODY_FMM_P2P_STRANDS * step + strand;
    const body_type b = tile[j];
#pragma unroll
    for (int k = 0; k < K; k++) {
      const real dx = b.x - mine.x[k], dy = b.y - mine.y[k], dz = b.z - mine.z[k];
      const real s2 = fused(dz, dz, fused(dy, dy, fused(dx, dx, softening2)));
      const real y = fmm_device::v_inverse_root(s2), my = b.w * y;
      const bool counts = !SELF || j - own != slot + FMM_SLOTS * k;
      if constexpr (SUMS == 1) {
        if (counts) mine.sum[k][0] = fused(b.w, y, mine.sum[k][0]);
      } else {
        const real g = my * (y * y);
        if (counts) {
          mine.sum[k][0] = fused(g, dx, mine.sum[k][0]);
          mine.sum[k][1] = fused(g, dy, mine.sum[k][1]);
          mine.sum[k][2] = fused(g, dz, mine.sum[k][2]);
        }
      }
    }
  }
}

/* Adds to room.sum what the cells of the near list give to `count` targets, bodies first ... of leaf `c`. */
template <int SUMS, int K, typename real, int P>
__device__ __forceinline__ void fmm_add_near(const nbody_fmm_tree<real> &t, fmm_near_room<real, P> &room, unsigned c,
                                             unsigned skipped, unsigned count, real softening2) {
  typedef typename nbody_fmm_tree<real>::body_type body_type;
  const unsigned lane = fmm_lane(), slot = lane / NBODY_FMM_P2P_STRANDS;
  fmm_targets<real, K, SUMS> mine;
#pragma unroll
  for (int k = 0; k < K; k++) {
    const body_type b = room.target[min(slot + FMM_SLOTS * k, count - 1)];
    mine.x[k] = b.x, mine.y[k] = b.y, mine.z[k] = b.z;
  }
  const uint2 list = t.near[c];
  unsigned segment = list.x;
  for (unsigned left = list.y; left > 0;) {
    const unsigned entries = min(left, (unsigned)FMM_SEGMENT);
    fmm_piece piece = {0, 0, 0, 0};
    unsigned source = FMM_NONE;
    if (lane < entries) {
      source = t.pool[(size_t)segment * FMM_SEGMENT + lane];
      const uint4 cell = t.cell[source];
      piece.first = cell.x, piece.count = cell.y;
    }
    piece.offset = fmm_scan(piece.count, &piece.total);
    const unsigned self = __ballot_sync(~0u, source == c);
    const unsigned self_offset = __shfl_sync(~0u, piece.offset, self != 0 ? __ffs((int)self) - 1 : 0);
    const unsigned self_begin = self_offset + skipped, self_end = self != 0 ? self_begin + count : self_begin;
    left -= entries;
    if (left > 0) segment = t.next[segment];
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
      for (int s = 0; s < SUMS; s++) mine.sum[k][s] = 0;
    unsigned cell = 0, turn = 0;
    fmm_fill(room.tile[0], t.body, piece, 0, &cell);
    for (unsigned begin = 0; begin < piece.total; begin += FMM_TILE, turn ^= 1) {
      if (begin + FMM_TILE < piece.total)
        fmm_fill(room.tile[turn ^ 1], t.body, piece, begin + FMM_TILE, &cell);
      else
        fmm_copies_end();
      fmm_copies_wait<1>();
      __syncwarp();
      const unsigned here = min((unsigned)FMM_TILE, piece.total - begin);
      if (self_begin < begin + here && begin < self_end)
        fmm_pairs<true>(mine, room.tile[turn], here, softening2, (int)self_begin - (int)begin);
      else
        fmm_pairs<false>(mine, room.tile[turn], here, softening2, 0);
      __syncwarp();
    }
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
      for (int s = 0; s < SUMS; s++) {
        real sum = mine.sum[k][s];
        sum += __shfl_xor_sync(~0u, sum, 2);
        sum += __shfl_xor_sync(~0u, sum, 1);
        if (lane % NBODY_FMM_P2P_STRANDS == 0) room.sum[s][slot + FMM_SLOTS * k] += sum;
      }
  }
  __syncwarp();
}

/* SUMS 3: out is acceleration[3][n], in the state's order. SUMS 1: out[cell], the sum of m times the potential. */
template <int SUMS, typename real, int P>
static __global__ void __launch_bounds__(32 * FMM_NEAR_WARPS) fmm_near(const nbody_fmm_tree<real> t, double *out) {
  typedef typename nbody_fmm_tree<real>::body_type body_type;
  constexpr int FIELDS = NBODY_FMM_FIELD(P);
  extern __shared__ __align__(16) char shared[];
  __shared__ unsigned long long block_run;
  fmm_near_room<real, P> &room = ((fmm_near_room<real, P> *)shared)[threadIdx.x / 32];
  const unsigned lane = fmm_lane();
  if (threadIdx.x == 0) block_run = 0;
  after_previous();
  __syncthreads();
  const unsigned cells = t.counters->level_begin[NBODY_FMM_LEVEL_MAX + 1];
  const bool failed = t.counters->failed != 0;
  const real softening2 = fmm_softening2<real>(t.frame);
  const double per_edge_box = t.frame->per_edge;
  for (;;) {
    const unsigned c = fmm_take_cell(&block_run, &t.counters->ticket[FMM_TICKET_NEAR]);
    if (c >= cells) return;
    const uint4 me = t.cell[c];
    if (me.z != 0) {
      if (SUMS == 1 && lane == 0) out[c] = 0;
      continue;
    }
    const body_type sphere = t.sphere[c];
    const real per_edge = fmm_power<real>(t.level[c]);
    const real *const field = t.field + (size_t)c * fmm_row<real, P>::field_stride;
    __syncwarp();
    for (int k = (int)lane; k < FIELDS; k += 32) room.field[k] = field[k];
    double of_cell = 0;
    for (unsigned skipped = 0; skipped < me.y; skipped += FMM_TARGETS) {
      const unsigned count = min(me.y - skipped, (unsigned)FMM_TARGETS);
      __syncwarp();
      for (unsigned i = lane; i < count; i += 32) {
        const body_type b = t.body[me.x + skipped + i];
        const real at[3] = {(b.x - sphere.x) * per_edge, (b.y - sphere.y) * per_edge, (b.z - sphere.z) * per_edge};
        room.target[i] = b;
        if constexpr (SUMS == 1) {
          room.sum[0][i] = fmm_device::fmm_l2p_potential(P, room.field, at) * per_edge;
        } else {
          real a[3];
          fmm_device::fmm_l2p(P, room.field, at, a);
#pragma unroll
          for (int s = 0; s < 3; s++) room.sum[s][i] = a[s] * (per_edge * per_edge);
        }
      }
      __syncwarp();
#define FMM_CASE(K)                                                                                                    \
  case K: fmm_add_near<SUMS, K>(t, room, c, skipped, count, softening2); break;
      switch ((count + FMM_SLOTS - 1) / FMM_SLOTS) {
        FMM_CASE(1)
        FMM_CASE(2)
        FMM_CASE(3)
        FMM_CASE(4)
        FMM_CASE(5)
        FMM_CASE(6)
        FMM_CASE(7)
        FMM_CASE(8)
      }
#undef FMM_CASE
      for (unsigned i = lane; i < count; i += 32) {
        if constexpr (SUMS == 1) {
          of_cell += (double)room.target[i].w * (double)room.sum[0][i];
        } else {
          const size_t to = t.id[me.x + skipped + i];
#pragma unroll
          for (int s = 0; s < 3; s++)
            out[(size_t)s * (unsigned)t.n + to] =
                failed ? (double)NAN : (double)room.sum[s][i] * (per_edge_box * per_edge_box);
        }
      }
    }
    if constexpr (SUMS == 1) {
      for (int half = 16; half > 0; half /= 2) of_cell += __shfl_xor_sync(~0u, of_cell, half);
      if (lane == 0) out[c] = failed ? (double)NAN : of_cell * per_edge_box;
    }
  }
}

template <int SUMS, typename real, int P> void fmm_queue_near(const nbody_fmm_tree<real> *t, double *out) {
  static const sim_kernel kernel = {"nbody_fmm_near", "near", SIM_LIMIT_BYTES};
  fmm_launch(&kernel, fmm_near<SUMS, real, P>, FMM_NEAR_WARPS, sizeof(fmm_near_room<real, P>), *t, out);
}

#endif
