/* Lists and M2L: a warp for each target cell. It tests 32 candidates at a time and queues the accepted ones in shared
 * memory. For each 32 accepted cells it does one M2L a lane, while it copies the moments of the next 32, and the data
 * of the next 32 candidates, into shared memory. Cells wait for the open list of their parent only, so that all levels
 * are one launch. Device code. */
#ifndef NBODY_FMM_CUDA_FAR_CUH
#define NBODY_FMM_CUDA_FAR_CUH

#include "kernels/nbody/fmm/cuda/launch.cuh"
#include "kernels/nbody/fmm/cuda/operators.cuh"
#include "kernels/nbody/fmm/cuda/stages.cuh"

/* A list that a warp writes: full segments in the pool, and the entries that do not fill one yet in shared memory. */
struct fmm_writer {
  unsigned head, tail; /* first and last segment */
  unsigned stored, waiting;
  unsigned leaf; /* the leaf whose near list this is, or FMM_NONE */
};

/* Shared memory of a warp. Rows are an odd number of 16 bytes apart, so that lanes use all banks. */
template <typename real, int P> struct fmm_far_room {
  static constexpr int row_bytes = fmm_row<real, P>::moment_stride * (int)sizeof(real);
  static constexpr int stride = row_bytes / 16 % 2 == 0 ? row_bytes + 16 : row_bytes;
  alignas(16) char rows[2][32][stride];
  real d[3][64]; /* accepted cells: vectors from their centre of expansion to the target's */
  unsigned source[64];
  unsigned candidate[8 * FMM_SEGMENT];
  typename nbody_fmm_tree<real>::body_type sphere[32]; /* of the next candidates, and their cells */
  uint4 cell[32];
  unsigned opened[64], paired[64]; /* waiting entries of two lists */
  unsigned accepted;               /* number of accepted cells so far, for the count of work */
};

/* Warps of the one thread block of a multiprocessor, in fours, by the registers of a thread: 96, 128, 168, 255. */
template <typename real, int P> constexpr int fmm_far_warps() {
  return sizeof(real) == sizeof(double) || P == 6 ? 8 : P == 5 ? 12 : P == 4 ? 16 : 20;
}

/* Whether a source is far enough. The comparison is strict, so that a cell never accepts itself. */
template <typename real>
__device__ __forceinline__ bool fmm_accepts(real weight, real target, real source, real theta2, real dx, real dy,
                                            real dz) {
  const real reach = fused(weight, target, source);
  return reach * reach < theta2 * fmm_square(dx, dy, dz);
}

template <typename real> struct fmm_walk {
  const nbody_fmm_tree<real> &t;
  unsigned spare; /* segments that this warp has read and may fill again, a chain */

  __device__ unsigned new_segment() {
    unsigned s = 0;
    if (fmm_lane() == 0) {
      if (spare != FMM_NONE) {
        s = spare;
        spare = t.next[s];
      } else {
        s = atomicAdd(&t.counters->segments, 1u);
        if (s >= t.segments_most) {
          fmm_fail(t, NBODY_FMM_SEGMENTS_FULL);
          s = FMM_NONE;
        }
      }
    }
    spare = warp_read(spare, 0);
    return warp_read(s, 0);
  }

  __device__ void free_segment(unsigned s) {
    if (fmm_lane() == 0) t.next[s] = spare;
    spare = s;
  }

  /* Stores the first `count` waiting entries in a new segment. Where the pool has no segment left, the force fails, and
   * the host repeats it with more memory. */
  __device__ void store(fmm_writer &w, const unsigned *waiting, unsigned count) {
    const unsigned s = new_segment();
    if (s == FMM_NONE) return;
    if (fmm_lane() < count) t.pool[(size_t)s * FMM_SEGMENT + fmm_lane()] = waiting[fmm_lane()];
    if (w.stored == 0)
      w.head = s;
    else if (fmm_lane() == 0)
      t.next[w.tail] = s;
    if (w.leaf != FMM_NONE && w.stored >= t.pieces * FMM_SEGMENT && fmm_lane() == 0)
      t.task[atomicAdd(&t.counters->tasks, 1u)] = make_uint4(w.leaf, s, w.stored / FMM_SEGMENT, 0);
    w.tail = s;
    w.stored += count;
  }

  /* Appends the entries of the lanes with `is`, in the order of lanes. */
  __device__ void append(fmm_writer &w, unsigned *waiting, bool is, unsigned entry) {
    const unsigned mask = warp_ballot(is), lane = fmm_lane();
    if (mask == 0) return;
    if (is) waiting[w.waiting + (unsigned)__popc(mask & ((1u << lane) - 1))] = entry;
    w.waiting += (unsigned)__popc(mask);
    warp_barrier();
    if (w.waiting < FMM_SEGMENT) return;
    store(w, waiting, FMM_SEGMENT);
    w.waiting -= FMM_SEGMENT;
    const unsigned rest = waiting[FMM_SEGMENT + lane];
    warp_barrier();
    if (lane < w.waiting) waiting[lane] = rest;
    warp_barrier();
  }

  __device__ void finish(fmm_writer &w, const unsigned *waiting) {
    if (w.waiting > 0) store(w, waiting, w.waiting);
    w.waiting = 0;
  }
};

__device__ inline fmm_writer fmm_empty_list(unsigned leaf = FMM_NONE) {
  fmm_writer w = {FMM_NONE, FMM_NONE, 0, 0, leaf};
  return w;
}

/* Sums over the lanes by halves, 32 terms at a time: after the steps 16, 8 ... 1 a lane has kept the half of the terms
 * that its number says. Lane i ends with term 32 k + i in out[k]. */
template <typename real, int COUNT>
__device__ __forceinline__ void fmm_over_lanes(const real (&term)[COUNT], real (&out)[(COUNT + 31) / 32]) {
#pragma unroll
  for (int group = 0; group < (COUNT + 31) / 32; group++) {
    real kept[32];
#pragma unroll
    for (int j = 0; j < 32; j++) kept[j] = 32 * group + j < COUNT ? term[32 * group + j] : 0;
#pragma unroll
    for (int bit = 4; bit >= 0; bit--) {
      const int half = 1 << bit;
      const bool upper = (fmm_lane() & (unsigned)half) != 0;
#pragma unroll
      for (int j = 0; j < 16; j++) {
        if (j >= half || 32 * group + j >= COUNT) continue;
        const real sent = upper ? kept[j] : kept[j + half], mine = upper ? kept[j + half] : kept[j];
        kept[j] = mine + warp_read_xor(sent, half);
      }
    }
    out[group] = kept[0];
  }
}

/* Adds the field of one source cell to `field` (M2L). Lengths are in units of the target's edge; the edge of the source
 * is 2^coarser such units. `row`: moments of the source in shared memory; they are converted in place to the unit of
 * the target. In fp32, where the edge of the source is more than 8 times as long, the tensor is computed in units of
 * that edge and then scaled, so that it does not overflow. */
template <typename real, int P>
__device__ __forceinline__ void fmm_m2l(real *row, const real (&x)[3], real h2, int coarser, bool with_potential,
                                        real (&field)[NBODY_FMM_FIELD(P)]) {
  real tensor[NBODY_FMM_FIELD(P)];
  if (coarser != 0) {
    real moment[NBODY_FMM_MOMENTS(P)];
    fmm_read_row<fmm_settled>(row, moment);
    fmm_device::fmm_scale_moments(P, fmm_power<real>(coarser), moment);
    fmm_write_row(row, moment);
  }
  if constexpr (sizeof(real) == sizeof(float)) {
    const real per = fmm_power<real>(coarser > 3 ? -coarser : 0), there[3] = {x[0] * per, x[1] * per, x[2] * per};
    fmm_device::fmm_tensor(P, there, h2 * (per * per), tensor);
    if (coarser > 3) fmm_device::fmm_scale_tensor(P, per, tensor);
  } else
    fmm_device::fmm_tensor(P, x, h2, tensor);
  const real *const moment = (const real *)__builtin_assume_aligned(row, 16);
  fmm_device::fmm_contract(P, moment, tensor, field, with_potential);
}

template <typename real, int P, bool PERIODIC>
static __global__ void __launch_bounds__(32 * fmm_far_warps<real, P>(), 1)
    fmm_far(const nbody_fmm_tree<real> t, bool with_potential) {
  typedef fmm_far_room<real, P> room_type;
  constexpr int FIELDS = NBODY_FMM_FIELD(P), ROW = room_type::row_bytes;
  extern __shared__ __align__(16) char shared[];
  __shared__ unsigned long long block_run;
  room_type &room = ((room_type *)shared)[threadIdx.x / 32];
  const unsigned lane = fmm_lane();
  if (threadIdx.x == 0) block_run = 0;
  after_previous();
  __syncthreads();
  if (!fmm_is_finite(t)) return; /* no cell would be accepted */
  const unsigned cells = t.counters->level_begin[NBODY_FMM_LEVEL_MAX + 1];
  const real softening2 = fmm_softening2<real>(t.frame);
  fmm_walk<real> walk = {t, FMM_NONE};
  for (;;) {
    const unsigned target = fmm_take_cell(&block_run, &t.counters->ticket[FMM_TICKET_FAR]);
    if (target >= cells) return;
    if (!fmm_is_walked(t, target)) continue;
    const uint4 me = t.cell[target];
    const bool inner = me.z != 0;
    const typename nbody_fmm_tree<real>::body_type sphere = t.sphere[target];
    const int level = t.level[target];
    const real per_edge = fmm_power<real>(level), h2 = softening2 * (per_edge * per_edge);
    constexpr unsigned code_bits = PERIODIC ? FMM_CODE : 0;
    unsigned segment = FMM_NONE, left = PERIODIC ? NBODY_FMM_SHIFTS : 1; /* segment of the list that is read */
    bool own = false; /* whether the segment is of the list that this cell has opened itself */
    if (target > 0) {
      while (fmm_stage_of(t.stage, me.w) < FMM_STAGE_OPEN) __nanosleep(64);
      __threadfence();
      const uint2 list = __ldcg(t.open + me.w); /* from L2, where the warp that wrote the list has put it */
      segment = list.x, left = list.y;
    }
    real term[FIELDS];
#pragma unroll
    for (int k = 0; k < FIELDS; k++) term[k] = 0;
    if (lane == 0) room.accepted = 0;
    fmm_writer opened = fmm_empty_list(), paired = fmm_empty_list(target);
    unsigned at = 0, listed = 0; /* number of candidates that are tested, and that are known */
    unsigned queued = 0, coming = 0, turn = 0;
    real d[3] = {0, 0, 0};
    int coarser = 0;
    bool more = true, published = !inner, ahead = false; /* whether the next spheres and cells were asked for */
    for (;;) {
      while (more && queued < 32) {
        if (at >= listed) {
          if (left == 0) { /* a leaf continues with the cells that it has opened itself */
            walk.finish(opened, room.opened);
            if (inner || opened.stored == 0) {
              more = false;
              break;
            }
            warp_barrier();
            segment = opened.head, left = opened.stored, own = true;
            opened = fmm_empty_list();
          }
          const unsigned count = min(left, (unsigned)FMM_SEGMENT);
          unsigned entry = PERIODIC ? lane << NBODY_FMM_SHIFT_BIT : 0, after = FMM_NONE; /* of the root */
          if (lane < count && target > 0) entry = __ldcg(t.pool + (size_t)segment * FMM_SEGMENT + lane);
          if (left > count) after = __ldcg(t.next + segment);
          const unsigned code = entry & code_bits, first = (entry & ~code_bits) >> 3,
                         size = lane < count ? (entry & 7) + 1 : 0;
          const unsigned offset = fmm_scan(size, &listed);
          warp_barrier();
          for (unsigned k = 0; k < size; k++) room.candidate[offset + k] = (first + k) | code;
          if (own) walk.free_segment(segment);
          segment = after;
          left -= count;
          at = 0;
          warp_barrier();
        }
        const bool is = at + lane < listed;
        const unsigned candidate = is ? room.candidate[at + lane] : 0, code = candidate & code_bits;
        const unsigned source = candidate & ~code_bits;
        at += 32;
        typename nbody_fmm_tree<real>::body_type other = sphere;
        unsigned children = 0;
        if (ahead) {
          wait_async<0>();
          if (is) other = room.sphere[lane], children = room.cell[lane].z;
          ahead = false;
        } else if (is)
          other = t.sphere[source], children = t.cell[source].z;
        if (PERIODIC && code != 0) {
          other.x += fmm_shift<real>(code, 0), other.y += fmm_shift<real>(code, 1);
          other.z += fmm_shift<real>(code, 2);
        }
        const real dx = sphere.x - other.x, dy = sphere.y - other.y, dz = sphere.z - other.z;
        const bool accepted = is && fmm_accepts(t.weight, sphere.w, other.w, t.theta2, dx, dy, dz);
        const unsigned mask = warp_ballot(accepted);
        if (accepted) {
          const unsigned to = queued + (unsigned)__popc(mask & ((1u << lane) - 1));
          room.d[0][to] = dx, room.d[1][to] = dy, room.d[2][to] = dz;
          room.source[to] = source;
        }
        queued += (unsigned)__popc(mask);
        const bool kept = is && !accepted;
        if (warp_any(kept)) {
          const bool to_near = kept && !inner && children == 0;
          walk.append(opened, room.opened, kept && !to_near, (children != 0 ? children : fmm_range(source, 1)) | code);
          walk.append(paired, room.paired, to_near, candidate);
        }
        warp_barrier();
      }
      if (!more && !published) {
        if (lane == 0) t.open[target] = make_uint2(opened.head, opened.stored);
        fmm_set_stage(t.stage, target, FMM_STAGE_OPEN);
        published = true;
      }
      const unsigned take = min(queued, 32u);
      if (lane == 0) room.accepted += take;
      const real next_d[3] = {room.d[0][lane], room.d[1][lane], room.d[2][lane]};
      const unsigned next_source = lane < take ? room.source[lane] : 0;
      const int next_coarser = lane < take ? level - t.level[next_source] : 0;
      if (take > 0) { /* copies rows, each by as many lanes as it has pieces of 16 bytes */
        constexpr unsigned PIECES = ROW / 16;
        for (unsigned k = lane; k < take * PIECES; k += 32) {
          const unsigned row = k / PIECES, piece = k % PIECES;
          copy_async((uint4 *)room.rows[turn][row] + piece,
                     (const uint4 *)((const char *)t.moment + (size_t)room.source[row] * ROW) + piece);
        }
      }
      if (more && at < listed) { /* copies the next spheres and cells while the warp computes */
        if (at + lane < listed) {
          const unsigned source = room.candidate[at + lane] & ~code_bits;
          fmm_copy_body(&room.sphere[lane], t.sphere + source);
          copy_async(&room.cell[lane], t.cell + source);
        }
        ahead = true;
      }
      commit_async();
      const bool rest = lane + 32 < queued;
      const real rest_d[3] = {room.d[0][lane + 32], room.d[1][lane + 32], room.d[2][lane + 32]};
      const unsigned rest_source = room.source[lane + 32];
      warp_barrier();
      if (rest) {
        for (int c = 0; c < 3; c++) room.d[c][lane] = rest_d[c];
        room.source[lane] = rest_source;
      }
      queued -= take;
      if (coming > 0) {
        wait_async<1>();
        warp_barrier();
        if (lane < coming) {
          const real x[3] = {d[0] * per_edge, d[1] * per_edge, d[2] * per_edge};
          fmm_m2l<real, P>((real *)room.rows[turn ^ 1][lane], x, h2, coarser, with_potential, term);
        }
      }
      warp_barrier();
      if (take == 0) break;
      for (int c = 0; c < 3; c++) d[c] = next_d[c];
      coarser = next_coarser;
      coming = take;
      turn ^= 1;
    }
    walk.finish(paired, room.paired);
    if (lane == 0) t.near[target] = make_uint2(paired.head, paired.stored);
    if (lane == 0 && t.work != nullptr)
      fmm_count_work(t, t.cell[target].x, (unsigned long long)t.m2l_work * room.accepted);
    real sum[(FIELDS + 31) / 32];
    fmm_over_lanes(term, sum);
    real *const field = t.field + (size_t)target * fmm_row<real, P>::field_stride;
#pragma unroll
    for (int k = 0; 32 * k < FIELDS; k++)
      if (32 * k + (int)lane < FIELDS) field[32 * k + lane] = sum[k];
  }
}

template <typename real, int P> void nbody_fmm_queue_far(const nbody_fmm_tree<real> *t, bool with_potential) {
  static const sim_kernel kernel = {"nbody_fmm_far", "far", SIM_LIMIT_BYTES};
  nbody_fmm_launch(&kernel, t->box > 0 ? fmm_far<real, P, true> : fmm_far<real, P, false>, fmm_far_warps<real, P>(),
                   sizeof(fmm_far_room<real, P>), *t, with_potential);
}

#endif
