/* L2P and P2P: a warp for each leaf. For L2P a lane has a body. For P2P the warp is 8 target slots by 4 source strands,
 * and a lane has up to 4 targets; the bodies of a piece of the near list stream through a tile in shared memory, and
 * the next tile is copied meanwhile. Of a long list the warp does the first pieces. The writer of the lists has put the
 * other pieces down as tasks, which are spread over all warps. Each task waits until the piece before it was added, so
 * that sums have one order; each part of a leaf's bodies waits for itself, so that a wait lasts no longer than an
 * addition. Hot loops are few and short, for the instruction cache. Device code. */
#ifndef NBODY_FMM_CUDA_NEAR_CUH
#define NBODY_FMM_CUDA_NEAR_CUH

#include "kernels/nbody/fmm/cuda/launch.cuh"
#include "kernels/nbody/fmm/cuda/operators.cuh"
#include "kernels/nbody/fmm/cuda/stages.cuh"

enum {
  FMM_NEAR_WARPS = 4,
  FMM_TILE = 128, /* bodies of a tile in shared memory */
  FMM_SLOTS = 32 / NBODY_FMM_P2P_STRANDS,
  FMM_ROWS = 4,                      /* most targets of a lane */
  FMM_TARGETS = FMM_SLOTS * FMM_ROWS /* targets of a warp at a time */
};

template <typename real, int P> struct fmm_near_room {
  typename nbody_fmm_tree<real>::body_type tile[2][FMM_TILE];
  typename nbody_fmm_tree<real>::body_type target[FMM_TARGETS];
  unsigned place[FMM_TARGETS]; /* SOME: indices of the targets in their leaf, ascending */
  real sum[3][FMM_TARGETS];
  alignas(16) real field[fmm_row<real, P>::field_stride];
};

/* The bodies of a piece: up to 32 cells, one in each lane. */
struct fmm_piece {
  unsigned first, count, offset; /* bodies of the lane's cell; offset: number of bodies in the cells before it */
  unsigned total;
  unsigned code; /* code of the cell's shift, as in its entry */
};

template <typename body_type> __device__ __forceinline__ body_type fmm_shifted(body_type b, unsigned code) {
  b.x += fmm_shift<decltype(b.x)>(code, 0);
  b.y += fmm_shift<decltype(b.x)>(code, 1);
  b.z += fmm_shift<decltype(b.x)>(code, 2);
  return b;
}

/* Begins to copy bodies begin ... begin + FMM_TILE - 1 of the piece, which begin in the cell of lane *cell or later;
 * *cell: the first cell that the next tile needs. The end is filled up with bodies without mass, far away. */
template <bool PERIODIC, typename body_type>
__device__ __forceinline__ void fmm_fill(body_type *tile, const body_type *body, const fmm_piece &piece, unsigned begin,
                                         unsigned *cell) {
  const unsigned end = min(begin + FMM_TILE, piece.total), lane = fmm_lane();
  for (;;) {
    const unsigned offset = warp_read(piece.offset, (int)*cell), first = warp_read(piece.first, (int)*cell);
    const unsigned count = warp_read(piece.count, (int)*cell);
    const unsigned from = max(offset, begin), to = min(offset + count, end);
    const unsigned code = PERIODIC ? warp_read(piece.code, (int)*cell) : 0;
    for (unsigned f = from + lane; f < to; f += 32) {
      const body_type *const source = body + (first + (f - offset));
      if (code == 0)
        fmm_copy_body(tile + (f - begin), source);
      else
        tile[f - begin] = fmm_shifted(*source, code);
    }
    if (offset + count >= end) break; /* more of this cell may be in the next tile */
    ++*cell;
  }
  if (lane < ((0u - end) & 3)) {
    body_type none;
    none.x = none.y = none.z = 64, none.w = 0;
    tile[end - begin + lane] = none;
  }
  commit_async();
}

/* Targets of a lane, the k-th of its slot: target slot + 8 k. SUMS: 3 components of the acceleration, or 1 for the
 * potential. */
template <typename real, int SUMS> struct fmm_targets {
  real x[FMM_ROWS], y[FMM_ROWS], z[FMM_ROWS], sum[FMM_ROWS][SUMS];
};

/* The first ROWS targets of each lane. SELF: bodies of the tile may be the targets; `own` is the index in the tile of
 * the first target or, SOME, of the leaf's first body; place[FMM_TARGETS]: indices of the targets in the leaf. */
template <int ROWS, bool SELF, bool SOME, typename real, int SUMS, typename body_type>
__device__ __forceinline__ void fmm_pairs_of(fmm_targets<real, SUMS> &mine, const body_type *tile, unsigned count,
                                             real softening2, int own, const unsigned *place) {
  const int strand = (int)fmm_lane() % NBODY_FMM_P2P_STRANDS, slot = (int)fmm_lane() / NBODY_FMM_P2P_STRANDS;
  const int steps = (int)(count + NBODY_FMM_P2P_STRANDS - 1) / NBODY_FMM_P2P_STRANDS;
  int self[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS; k++) {
    const int target = slot + FMM_SLOTS * k;
    self[k] = SELF ? own + (SOME ? (int)place[target] : target) : 0;
  }
#pragma unroll(SELF || sizeof(real) == 8 ? 1 : ROWS > 2 ? 2 : 4)
  for (int step = 0; step < steps; step++) {
    const int j = NBODY_FMM_P2P_STRANDS * step + strand;
    const body_type b = tile[j];
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
      const real dx = b.x - mine.x[k], dy = b.y - mine.y[k], dz = b.z - mine.z[k];
      const real s2 = fused(dz, dz, fused(dy, dy, fused(dx, dx, softening2)));
      const real y = fmm_device::v_inverse_root(s2);
      const bool counts = !SELF || j != self[k];
      if constexpr (SUMS == 1) {
        if (counts) mine.sum[k][0] = fused(b.w, y, mine.sum[k][0]);
      } else {
        const real g = (b.w * y) * (y * y);
        if (counts) {
          mine.sum[k][0] = fused(g, dx, mine.sum[k][0]);
          mine.sum[k][1] = fused(g, dy, mine.sum[k][1]);
          mine.sum[k][2] = fused(g, dz, mine.sum[k][2]);
        }
      }
    }
  }
}

/* fmm_pairs_of for `rows` targets in each lane, 1 to FMM_ROWS. */
template <bool SELF, bool SOME, typename real, int SUMS, typename body_type>
__device__ __forceinline__ void fmm_pairs(int rows, fmm_targets<real, SUMS> &mine, const body_type *tile,
                                          unsigned count, real softening2, int own, const unsigned *place) {
  static_assert(FMM_ROWS == 4, "a case each");
  switch (rows) {
  case 1: fmm_pairs_of<1, SELF, SOME>(mine, tile, count, softening2, own, place); break;
  case 2: fmm_pairs_of<2, SELF, SOME>(mine, tile, count, softening2, own, place); break;
  case 3: fmm_pairs_of<3, SELF, SOME>(mine, tile, count, softening2, own, place); break;
  default: fmm_pairs_of<4, SELF, SOME>(mine, tile, count, softening2, own, place);
  }
}

/* Pieces first ... end - 1 of the near list of a leaf, which begin in `segment`. */
struct fmm_share {
  unsigned cell, segment, first, end;
};

/* Adds the terms of a piece, `entries` cells of a segment, to room.sum of room.target: `count` bodies of leaf `c`,
 * after the first `skipped` bodies or, SOME, at the indices room.place. */
template <int SUMS, bool PERIODIC, bool SOME, typename real, int P>
__device__ __forceinline__ void fmm_add_piece(const nbody_fmm_tree<real> &t, fmm_near_room<real, P> &room, unsigned c,
                                              unsigned segment, unsigned entries, unsigned skipped, unsigned count,
                                              real softening2, fmm_targets<real, SUMS> &mine) {
  const unsigned lane = fmm_lane(), slot = lane / NBODY_FMM_P2P_STRANDS;
  const int rows = (int)(count + FMM_SLOTS - 1) / FMM_SLOTS;
  fmm_piece piece = {0, 0, 0, 0, 0};
  unsigned source = FMM_NONE;
  if (lane < entries) {
    source = t.pool[(size_t)segment * FMM_SEGMENT + lane];
    if (PERIODIC) piece.code = source & FMM_CODE;
    const uint4 cell = t.cell[source & ~piece.code];
    piece.first = cell.x, piece.count = cell.y;
  }
  piece.offset = fmm_scan(piece.count, &piece.total);
  const unsigned self = warp_ballot(source == c);
  unsigned own = warp_read(piece.offset, self != 0 ? __ffs((int)self) - 1 : 0); /* of the leaf's first body */
  own = self != 0 ? own + (SOME ? 0 : skipped) : ~0u / 2;                       /* of the first target; in no tile */
#pragma unroll
  for (int k = 0; k < FMM_ROWS; k++)
#pragma unroll
    for (int s = 0; s < SUMS; s++) mine.sum[k][s] = 0;
  unsigned cell = 0, turn = 0, filled = 0;
  for (unsigned begin = 0; begin < piece.total; turn ^= 1) {
    for (; filled < min(begin + 2 * FMM_TILE, piece.total); filled += FMM_TILE)
      fmm_fill<PERIODIC>(room.tile[filled / FMM_TILE % 2], t.body, piece, filled, &cell);
    if (begin + FMM_TILE < piece.total)
      wait_async<1>();
    else
      wait_async<0>();
    warp_barrier();
    const unsigned here = min((unsigned)FMM_TILE, piece.total - begin);
    const unsigned first = SOME ? room.place[0] : 0, last = SOME ? room.place[count - 1] : count - 1;
    if (own + first < begin + here && begin <= own + last)
      fmm_pairs<true, SOME>(rows, mine, room.tile[turn], here, softening2, (int)(own - begin), room.place);
    else
      fmm_pairs<false, SOME>(rows, mine, room.tile[turn], here, softening2, 0, room.place);
    begin += FMM_TILE;
    warp_barrier();
  }
#pragma unroll
  for (int k = 0; k < FMM_ROWS; k++)
#pragma unroll
    for (int s = 0; s < SUMS; s++) {
      real sum = mine.sum[k][s];
      sum += warp_read_xor(sum, 2);
      sum += warp_read_xor(sum, 1);
      if (lane % NBODY_FMM_P2P_STRANDS == 0) room.sum[s][slot + FMM_SLOTS * k] += sum;
    }
}

/* Where component s of a sum waits for the next piece, for body i in the order of keys: in the memory of the result or,
 * for the potential, of the body's key, which is not needed any more. */
template <int SUMS, typename real>
__device__ __forceinline__ double *fmm_unfinished(const nbody_fmm_tree<real> &t, double *out, unsigned i, int s) {
  if constexpr (SUMS == 1) return (double *)t.key + i;
  return out + (size_t)s * (unsigned)t.n + t.id[i];
}

/* One share, for the targets of the leaf. SUMS 3: out is acceleration[3][n], in the state's order. SUMS 1: out[cell],
 * the sum of m times the potential; the potential of each body stays in the memory of its key. */
template <int SUMS, bool PERIODIC, bool SOME, typename real, int P>
__device__ __forceinline__ void fmm_do_share(const nbody_fmm_tree<real> &t, fmm_near_room<real, P> &room,
                                             const fmm_share &share, real softening2, double *out) {
  typedef typename nbody_fmm_tree<real>::body_type body_type;
  const unsigned lane = fmm_lane(), c = share.cell, listed = t.near[c].y;
  const uint4 me = t.cell[c];
  const bool starts = share.first == 0, ends = share.end * FMM_SEGMENT >= listed;
  if (starts) {
    const real *const field = t.field + (size_t)c * fmm_row<real, P>::field_stride;
    warp_barrier();
    for (int k = (int)lane; k < NBODY_FMM_FIELD(P); k += 32) room.field[k] = field[k];
  }
  double of_cell = 0;
  const unsigned parts = (me.y + FMM_TARGETS - 1) / FMM_TARGETS;
  const unsigned most = ((me.y + parts - 1) / parts + FMM_SLOTS - 1) / FMM_SLOTS * FMM_SLOTS; /* of a part */
  for (unsigned skipped = 0; skipped < me.y; skipped += most) {
    unsigned count = min(me.y - skipped, most), place = skipped + lane; /* of the lane's target in the leaf */
    if constexpr (SOME) {
      const bool wanted = lane < count && fmm_is_target(t, me.x + place);
      const unsigned mask = warp_ballot(wanted);
      count = (unsigned)__popc(mask);
      if (count == 0) continue;
      warp_barrier();
      if (wanted) room.place[__popc(mask & ((1u << lane) - 1))] = place;
      warp_barrier();
      place = room.place[lane];
    }
    const bool is = lane < count;
    const unsigned i = me.x + place;
    warp_barrier();
    if (is) room.target[lane] = t.body[i];
    if (SOME && !is) room.place[lane] = ~0u / 4; /* in no tile */
#pragma unroll
    for (int s = 0; s < SUMS; s++) room.sum[s][lane] = 0;
    if (is && starts) {
      const real per_edge = fmm_power<real>(t.level[c]);
      const body_type b = room.target[lane], sphere = t.sphere[c];
      const real at[3] = {(b.x - sphere.x) * per_edge, (b.y - sphere.y) * per_edge, (b.z - sphere.z) * per_edge};
      if constexpr (SUMS == 1) {
        room.sum[0][lane] = fmm_device::fmm_l2p_potential(P, room.field, at) * per_edge;
      } else {
        real a[3];
        fmm_device::fmm_l2p(P, room.field, at, a);
#pragma unroll
        for (int s = 0; s < 3; s++) room.sum[s][lane] = a[s] * (per_edge * per_edge);
      }
    }
    warp_barrier();
    fmm_targets<real, SUMS> mine;
#pragma unroll
    for (int k = 0; k < FMM_ROWS; k++) {
      const body_type b = room.target[min(lane / NBODY_FMM_P2P_STRANDS + FMM_SLOTS * k, count - 1)];
      mine.x[k] = b.x, mine.y[k] = b.y, mine.z[k] = b.z;
    }
    unsigned segment = share.segment;
    for (unsigned piece = share.first; piece < share.end; piece++) {
      const unsigned left = listed - piece * FMM_SEGMENT;
      fmm_add_piece<SUMS, PERIODIC, SOME>(t, room, c, segment, min(left, (unsigned)FMM_SEGMENT), skipped, count,
                                          softening2, mine);
      if (piece + 1 < share.end) segment = t.next[segment];
    }
    warp_barrier();
    if (!starts) { /* the warp of the first pieces sets `done` */
      while (fmm_stage_of(t.stage, c) < FMM_STAGE_BEGUN) __nanosleep(64);
      __threadfence();
      while (fmm_stage_of(t.done, me.x + skipped) < share.first) __nanosleep(64);
      __threadfence();
    }
    const double per_edge_box = t.frame->per_edge;
#pragma unroll
    for (int s = 0; s < SUMS; s++) {
      if (!is) break;
      double *const to = fmm_unfinished<SUMS>(t, out, i, s);
      real sum = room.sum[s][lane];
      if (!starts) sum = (real)__ldcg(to) + sum;
      if (!ends)
        *to = (double)sum;
      else if constexpr (SUMS == 1)
        of_cell += *to = (double)room.target[lane].w * (double)sum;
      else {
        const double value = (double)sum * (per_edge_box * per_edge_box) * t.unit;
        *to = value;
        for (int k = 0; k < t.other_count; k++) t.others[k][to - out] = value;
      }
    }
    if (!ends) fmm_set_stage(t.done, me.x + skipped, share.end);
  }
  if (!ends) {
    if (starts) fmm_set_stage(t.stage, c, FMM_STAGE_BEGUN);
  } else if constexpr (SUMS == 1) {
    of_cell = warp_sum_all(of_cell);
    if (lane == 0) out[c] = of_cell * t.frame->per_edge;
  }
}

/* Writes the results of a leaf where the force has failed. */
template <int SUMS, typename real>
__device__ __forceinline__ void fmm_write_nan(const nbody_fmm_tree<real> &t, unsigned c, double *out) {
  const uint4 me = t.cell[c];
  if (SUMS == 1 && fmm_lane() == 0) out[c] = NAN;
  for (unsigned i = fmm_lane(); SUMS == 3 && i < me.y; i += 32)
    for (int s = 0; s < 3; s++) *fmm_unfinished<3>(t, out, me.x + i, s) = NAN;
}

/* Blocks on a multiprocessor, by the registers of a thread: 80, or 72 where that is faster, and 128 in fp64. */
template <typename real, int P, bool SOME> constexpr int fmm_near_blocks() {
  return sizeof(real) == sizeof(double) ? 4 : P == 5 && !SOME ? 7 : 6;
}

/* First all leaves, up to t.pieces of their lists, for which nobody waits; then the tasks, of which each waits for
 * one before it. SOME: some bodies are targets. */
template <int SUMS, bool PERIODIC, bool SOME, typename real, int P>
static __global__ void __launch_bounds__(32 * FMM_NEAR_WARPS, fmm_near_blocks<real, P, SOME>())
    fmm_near(const nbody_fmm_tree<real> t, double *out) {
  extern __shared__ __align__(16) char shared[];
  __shared__ unsigned long long block_run;
  fmm_near_room<real, P> &room = ((fmm_near_room<real, P> *)shared)[threadIdx.x / 32];
  if (threadIdx.x == 0) block_run = 0;
  after_previous();
  __syncthreads();
  const unsigned cells = t.counters->level_begin[NBODY_FMM_LEVEL_MAX + 1], tasks = t.counters->tasks;
  const bool failed = t.counters->failed != 0;
  const real softening2 = fmm_softening2<real>(t.frame);
  bool leaves = true;
  for (;;) {
    fmm_share share;
    if (leaves) {
      const unsigned c = fmm_take_cell(&block_run, &t.counters->ticket[FMM_TICKET_NEAR]);
      if (c >= cells) {
        leaves = false;
        continue;
      }
      if (t.cell[c].z != 0) {
        if (SUMS == 1 && fmm_lane() == 0) out[c] = 0;
        continue;
      }
      if (failed) fmm_write_nan<SUMS>(t, c, out);
      if (failed || !fmm_is_walked(t, c)) continue;
      const uint2 list = t.near[c];
      const unsigned pieces = (list.y + FMM_SEGMENT - 1) / FMM_SEGMENT;
      share = {c, list.x, 0, min(pieces, t.pieces)};
    } else {
      unsigned k = 0;
      if (fmm_lane() == 0) k = atomicAdd(&t.counters->ticket[FMM_TICKET_TASK], 1u);
      k = warp_read(k, 0);
      if (k >= tasks || failed) return;
      const uint4 task = t.task[k];
      share = {task.x, task.y, task.z, task.z + 1};
    }
    fmm_do_share<SUMS, PERIODIC, SOME>(t, room, share, softening2, out);
  }
}

template <int SUMS, typename real, int P> void nbody_fmm_queue_near(const nbody_fmm_tree<real> *t, double *out) {
  static const sim_kernel kernel = {"nbody_fmm_near", "near", SIM_LIMIT_BYTES};
  void (*function)(nbody_fmm_tree<real>, double *) =
      t->box > 0 ? fmm_near<SUMS, true, false, real, P> : fmm_near<SUMS, false, false, real, P>;
  if constexpr (SUMS == 3) {
    if (t->walked != nullptr)
      function = t->box > 0 ? fmm_near<SUMS, true, true, real, P> : fmm_near<SUMS, false, true, real, P>;
  }
  nbody_fmm_launch(&kernel, function, FMM_NEAR_WARPS, sizeof(fmm_near_room<real, P>), *t, out);
}

#endif
