/* Cells, moments, fields and lists of one force computation, in device memory, and functions that all its kernels use.
 * kernels/nbody/fmm/fmm.h defines the arrays and the order of all sums. Device code. */
#ifndef NBODY_FMM_CUDA_TREE_CUH
#define NBODY_FMM_CUDA_TREE_CUH

#include "kernels/common/device.cuh"
#include "kernels/nbody/direct/cuda/pair.cuh"
#include "kernels/nbody/fmm/cuda/fmm.h"

/* Cells that are handed out in a row: the warps of a thread block work on neighbours, which share rows in the L1 cache.
 */
enum {
  FMM_RUN = 8,
  FMM_SEGMENT = NBODY_FMM_P2P_PIECE /* entries of a segment of a list */
};
static constexpr unsigned FMM_NONE = ~0u;

/* Stages of a cell within a step, in nbody_fmm_tree.stage. BEGUN: of a long near list the first pieces are added.
 */
enum { FMM_STAGE_NEW, FMM_STAGE_MOMENT, FMM_STAGE_OPEN, FMM_STAGE_FIELD, FMM_STAGE_BEGUN };

/* Counters of the work that warps take, in nbody_fmm_counters.ticket; the levels of the tree have the first ones. */
enum { FMM_TICKET_UP = NBODY_FMM_LEVEL_MAX, FMM_TICKET_FAR, FMM_TICKET_DOWN, FMM_TICKET_NEAR, FMM_TICKET_TASK };

/* Kernels take this struct by value. Cells lie breadth first. */
template <typename real> struct nbody_fmm_tree {
  typedef typename quad<real>::type body_type;
  int n, leaf, dense_level;
  double box; /* edge of the periodic box; 0: open space */
  unsigned cells_most, segments_most;
  unsigned pieces; /* pieces of a near list that are no tasks of their own: fewer where targets are few */
  real weight, theta2;
  nbody_fmm_frame *frame;
  nbody_fmm_counters *counters;
  unsigned long long *key;    /* [n], ascending */
  unsigned *id;               /* [n], in the order of keys */
  unsigned *done;             /* [n], of a part of a leaf, at its first body: pieces added of a long near list */
  body_type *body;            /* [n], in the order of keys: position in lengths of the box, mass in its unit */
  uint4 *cell;                /* first body, bodies, children (fmm_range; 0: leaf), parent */
  unsigned char *level;       /* of a cell */
  unsigned *stage;            /* of a cell */
  body_type *sphere;          /* of a cell: centre of expansion, and a radius about it that contains all bodies */
  real *moment, *field;       /* rows of cells */
  uint2 *open, *near;         /* lists of cells: first segment, entries */
  unsigned *pool;             /* [segments_most][FMM_SEGMENT] */
  unsigned *next;             /* [segments_most]: the segment after it in its list */
  uint4 *task;                /* [segments_most], pieces after the first `pieces`: cell, segment, piece */
  unsigned long long *status; /* status of the tiles of a level */
  unsigned long long *told;   /* on the host: counters->forces and, above 32 bits, counters->failed */
  double unit;                /* unit of accelerations */
  /* Targets of forces on some bodies: target_level[id] >= least. NULL, and `walked` too: forces on all bodies. */
  const unsigned char *target_level; /* [n], in the state's order */
  int least;
  unsigned char *walked; /* of a cell: whether it has a target */
  /* On several ranks (ranks.cuh): the first body of this rank, in the order of keys, and of the next; and counted work.
   * NULL: one rank. */
  const unsigned *own;
  unsigned long long *work;
  int bin_shift;
  unsigned m2l_work; /* counted work of one M2L */
  /* Memory of other ranks where accelerations are stored too, at the same indices. */
  double *const *others; /* [other_count], on the device */
  int other_count;
};

/* A run of 1 to 8 cells in one word; cells are fewer than 2^29. */
__device__ inline unsigned fmm_range(unsigned first, unsigned count) { return first << 3 | (count - 1); }

/* In a periodic box the highest bits of an entry of a list are the code of its shift, and the lower bits the cell or
 * range; there are fewer than 2^24 cells. */
static constexpr unsigned FMM_CODE = ~0u << NBODY_FMM_SHIFT_BIT;

/* Component c of the shift of an entry. */
template <typename real> __device__ __forceinline__ real fmm_shift(unsigned entry, int c) {
  const unsigned code = entry >> NBODY_FMM_SHIFT_BIT, of = c == 0 ? code % 3 : c == 1 ? code / 3 % 3 : code / 9;
  return of == 2 ? (real)-1 : (real)(int)of;
}

/* Marks the force as failed: its accelerations will be NaN. */
template <typename real> __device__ void fmm_fail(const nbody_fmm_tree<real> &t, unsigned what) {
  atomicOr(&t.counters->failed, what);
}

/* Whether all positions are numbers: the centre of the root is the mean of all, with masses. After `up`. */
template <typename real> __device__ bool fmm_is_finite(const nbody_fmm_tree<real> &t) {
  return isfinite(t.sphere->x) && isfinite(t.sphere->y) && isfinite(t.sphere->z);
}

/* Whether body i, in the order of keys, is a target. */
template <typename real> __device__ bool fmm_is_target(const nbody_fmm_tree<real> &t, unsigned i) {
  return t.target_level == nullptr || t.target_level[t.id[i]] >= t.least;
}

/* Whether a cell has a target, and some body of this rank. After `up`. */
template <typename real> __device__ bool fmm_is_walked(const nbody_fmm_tree<real> &t, unsigned cell) {
  if (t.walked != nullptr && t.walked[cell] == 0) return false;
  if (t.own == nullptr) return true;
  const uint4 me = t.cell[cell];
  return me.x < t.own[1] && me.x + me.y > t.own[0];
}

/* Counts work of a cell, given its first body. */
template <typename real>
__device__ void fmm_count_work(const nbody_fmm_tree<real> &t, unsigned first, unsigned long long work) {
  atomicAdd(t.work + (max(first, t.own[0]) >> t.bin_shift), work);
}

__device__ inline unsigned fmm_lane() { return threadIdx.x % 32; }

/* Takes the next cell for this warp: 0, 1, 2 ... over all thread blocks, in runs of FMM_RUN for a block. `block` is
 * shared and zero at first: the next cell in the low half, the end of the block's run in the high half. A warp that
 * reaches the end takes a new run; warps behind it ask again. A cell is handed out after all cells before it, so that a
 * warp may wait for an earlier cell. */
__device__ inline unsigned fmm_take_cell(unsigned long long *block, unsigned *ticket) {
  unsigned taken = 0;
  if (fmm_lane() == 0) {
    for (;;) {
      const unsigned long long old = atomicAdd(block, 1ull);
      const unsigned next = (unsigned)old, end = (unsigned)(old >> 32);
      taken = next;
      if (next < end) break;
      if (next == end) {
        taken = atomicAdd(ticket, (unsigned)FMM_RUN);
        atomicExch(block, (unsigned long long)(taken + FMM_RUN) << 32 | (taken + 1));
        break;
      }
      __nanosleep(32);
    }
  }
  return warp_read(taken, 0);
}

/* ---- waiting for another warp ---- */

/* A warp that has waited for a stage calls __threadfence(); else the data that it reads may be older than the stage. */

__device__ inline unsigned fmm_stage_of(const unsigned *stage, unsigned cell) {
  return *(const volatile unsigned *)(stage + cell);
}

/* Sets a stage after all lanes have written its results. */
__device__ inline void fmm_set_stage(unsigned *stage, unsigned cell, unsigned value) {
  __threadfence();
  warp_barrier();
  if (fmm_lane() == 0) *(volatile unsigned *)(stage + cell) = value;
}

/* ---- copies into shared memory during the arithmetic ---- */

__device__ inline void fmm_copy_body(float4 *to, const float4 *from) { copy_async(to, from); }
__device__ inline void fmm_copy_body(double_quad *to, const double_quad *from) {
  copy_async((uint4 *)to, (const uint4 *)from);
  copy_async((uint4 *)to + 1, (const uint4 *)from + 1);
}

/* Returns the sum over the lanes before this one; *total: the sum over all lanes. */
__device__ inline unsigned fmm_scan(unsigned value, unsigned *total) {
  const unsigned sum = warp_prefix_sum(value);
  *total = warp_read(sum, 31);
  return sum - value;
}

#endif
