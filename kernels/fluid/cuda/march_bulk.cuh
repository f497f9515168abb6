/* The marching kernel (march.cuh) with a warp's cells copied at once, and without threads for the columns at both ends
 * of rows: those are made by the first warp, from shared memory, so that threads have more registers. For heat in
 * single.
 *
 * A group of 32 cells comes by bulk copies of one thread, counted by a barrier of its warp (compute capability 9.0; by
 * copies of each thread on other devices and where a group ends beyond the box). Same bits as march. */
#ifndef FLUID_CUDA_MARCH_BULK_CUH
#define FLUID_CUDA_MARCH_BULK_CUH

#include "kernels/fluid/cuda/march.cuh"

/* A form of this kernel, with what march_form has. */
template <int TX, int TY, int BLOCKS, int STAGES, int AHEAD>
struct march_bulk_form : march_form<TX, TY, BLOCKS, STAGES, AHEAD> {};

template <typename form, bool HEAT> struct march_bulk_tile {
  static constexpr int TX = form::tx, TY = form::ty;
  static constexpr int pitch = TX + 2, sites = pitch * TY, threads = TX * TY;
  static constexpr int warps = threads / 32; /* each has a group of cells of a row */
  static_assert(2 * TY <= 32, "the first warp has the columns at both ends of rows");
  static constexpr int cell = fluid_numbers_of_cell(3, HEAT);
  static constexpr int ups = form::stages == 1 ? 3 : 2;                          /* buffers of what moves up */
  static constexpr int flat = HEAT ? 12 : 8, up = 2 * flat, down = up + ups * 4; /* in units of sites */
  static constexpr int numbers = sites * (down + 2 * 4);
  /* Behind cells on their way: those of the columns at both ends of rows, in `ring` planes. */
  static constexpr int ring = form::stages + 2, columns = numbers + form::stages * cell * threads;
  static constexpr int barriers = columns + ring * cell * 32;
  template <typename real> static constexpr size_t bytes() { /* of shared memory */
    return barriers * sizeof(real) + (form::stages * warps + 32) * sizeof(uint64_t);
  }
};

/* emit_all of a cell that is not at an end of a row. */
template <bool HEAT, typename real>
__device__ __forceinline__ void emit_row(int role, const real *here, const real *above, real *flat, real *up,
                                         real *down, int sites) {
  if (role == MARCH_INNER)
    emit_both<HEAT, MARCH_INNER>(here, above, flat, up, down, sites);
  else if (role == MARCH_SOUTH)
    emit_both<HEAT, MARCH_SOUTH>(here, above, flat, up, down, sites);
  else
    emit_both<HEAT, MARCH_NORTH>(here, above, flat, up, down, sites);
}
/* The same of a cell at an end of a row, in shared memory. */
template <bool HEAT, int ROLE, typename real>
__device__ __forceinline__ void emit_stored(const real *of_here, const real *of_above, real *flat, real *up, real *down,
                                            int sites) {
  real here[fluid_numbers_of_cell(3, HEAT)], above[fluid_numbers_of_cell(3, HEAT)];
  load_cell<fluid_numbers_of_cell(3, HEAT)>(of_here, here);
  load_cell<fluid_numbers_of_cell(3, HEAT)>(of_above, above);
  emit_both<HEAT, ROLE>(here, above, flat, up, down, sites);
}

/* Begins to copy numbers of a cell to shared memory. */
template <unsigned NUMBERS, typename real> __device__ __forceinline__ void bulk_numbers(real *to, const real *from) {
#pragma unroll
  for (int i = 0; i < fluid_numbers_of_cell(3, true); i++)
    if (NUMBERS >> i & 1) copy_async(to + i * FLUID_GROUP, from + i * FLUID_GROUP);
}
/* The same for all cells of a group, by one thread: numbers that follow one another in one copy. */
template <unsigned NUMBERS, int FIRST = 0, typename real>
__device__ __forceinline__ void bulk_runs(unsigned to, const real *from, unsigned barrier) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (FIRST < 32 && NUMBERS >> FIRST != 0) {
    constexpr unsigned one = FLUID_GROUP * sizeof(real);
    constexpr int skipped = __builtin_ctz(NUMBERS >> FIRST), run = __builtin_ctz(~(NUMBERS >> FIRST >> skipped));
    constexpr int at = FIRST + skipped;
    if constexpr (FIRST == 0) arrival_expect(barrier, __builtin_popcount(NUMBERS) * one);
    bulk_read(to + at * one, from + at * FLUID_GROUP, run * one, barrier);
    bulk_runs<NUMBERS, at + run>(to, from, barrier);
  }
#endif
}
/* Cells of a thread on their way: a stage of shared memory, of which this thread's cell is at `to`. */
template <bool HEAT, typename real>
__device__ __forceinline__ void bulk_fetch(int which, bool group, unsigned barrier, real *to, const real *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (group) {    /* the 32 cells of a warp */
    fence_bulk(); /* what was here is read before the copy writes */
    warp_barrier();
    if (threadIdx.x % 32 == 0) {
      if (which == MARCH_ALL)
        bulk_runs<march_numbers<HEAT>(MARCH_ALL)>(shared_address(to), from, barrier);
      else
        bulk_runs<march_numbers<HEAT>(MARCH_ALONG_Y)>(shared_address(to), from, barrier);
    }
    return;
  }
#endif
  if (which == MARCH_ALL)
    bulk_numbers<march_numbers<HEAT>(MARCH_ALL)>(to, from);
  else
    bulk_numbers<march_numbers<HEAT>(MARCH_ALONG_Y)>(to, from);
}
/* The oldest of STAGES cells; parity: of the number of cells that its stage had before. */
template <int COUNT, int STAGES, typename real>
__device__ __forceinline__ void bulk_take(bool group, unsigned barrier, unsigned parity, const real *from, real *m) {
  wait_async<STAGES - 1>(); /* cells of the columns at both ends too */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (group) arrival_wait(barrier, parity);
#endif
#pragma unroll
  for (int i = 0; i < COUNT; i++) m[i] = from[i * FLUID_GROUP];
}

/* SKIP: there are cells to leave out. */
template <typename form, bool SKIP, bool FORCE, bool EDDY, bool HEAT, typename real>
__global__ void __launch_bounds__((march_bulk_tile<form, HEAT>::threads), MARCH_BLOCKS(form::blocks))
    march_bulk(const fluid_step<real> s) {
  using tile = march_bulk_tile<form, HEAT>;
  constexpr int TX = form::tx, TY = form::ty, stages = form::stages, stage = tile::cell * tile::threads;
  constexpr int sites = tile::sites, cell = tile::cell, ring = tile::ring, slot = 32 * cell;
  extern __shared__ __align__(16) char shared_bytes[];
  after_previous();
  const int t = threadIdx.x, ty = t / TX, tx = t % TX + 1;
  const int x = (int)blockIdx.x * TX + tx - 1, y = (int)blockIdx.y * (TY - 2) + ty - 1;
  const int role = ty == 0 ? MARCH_SOUTH : ty == TY - 1 ? MARCH_NORTH : MARCH_INNER;
  const int which = role == MARCH_INNER ? MARCH_ALL : MARCH_ALONG_Y;
  const bool inner = role == MARCH_INNER && x < s.l.n[0] && y < s.l.n[1];
  const int nz = s.l.n[2], first = s.begin + (int)blockIdx.z * s.stride, end = min(first + s.chunk, s.end);
  /* around the box, also where it is narrower than a tile */
  const int column = (x + s.l.n[0]) % s.l.n[0], line = (y + s.l.n[1]) % s.l.n[1];
  const size_t words = (size_t)s.l.n[1] * (size_t)s.l.groups, plane = words * (cell * FLUID_GROUP),
               whole = plane * (size_t)nz;
  const size_t place = fluid_place(s.l, column, (size_t)line);
  const real *from = s.from + place + (size_t)first * plane;
  real *to = s.to + place + (size_t)first * plane;
  const uint32_t *skip = s.skip + (size_t)first * words + (size_t)line * (size_t)s.l.groups + column / FLUID_GROUP;
  real *const site = (real *)shared_bytes + ty * tile::pitch + tx;
  real *const coming = (real *)shared_bytes + tile::numbers + t / 32 * (32 * cell) + t % 32;
  /* a warp's cells come in one copy, but around the box */
  const bool group = (int)blockIdx.x * TX + (tx - 1) / 32 * 32 + 32 <= s.l.n[0];
  unsigned barrier = 0, parity = 0; /* of stage 0 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  barrier = shared_address((real *)shared_bytes + tile::barriers) + t / 32 * (stages * 8);
  if (group && t % 32 == 0)
    for (int i = 0; i < stages; i++) arrival_init(barrier + i * 8);
  warp_barrier();
  fence_bulk();
#endif
  /* The first threads have a cell of the columns at both ends of rows too: west, east, of row after row. */
  real *const ends = (real *)shared_bytes + tile::columns + t;
  const real **const ends_from =
      (const real **)((uint64_t *)((real *)shared_bytes + tile::barriers) + stages * tile::warps) + t;
  if (t < 2 * TY) {
    const int at = (int)blockIdx.x * TX + (t % 2 ? TX : -1), row = (int)blockIdx.y * (TY - 2) + t / 2 - 1;
    *ends_from = s.from + fluid_place(s.l, (at + s.l.n[0]) % s.l.n[0], (size_t)((row + s.l.n[1]) % s.l.n[1]));
  }
  const auto fetch_ends = [&](int z, int to) {
    if (t < 2 * TY)
      bulk_numbers<march_numbers<HEAT>(MARCH_ALONG_X)>(ends + to * slot, *ends_from + (size_t)around(z, nz) * plane);
  };
  const auto emit_ends = [&](int here, int above, int flat, int up, int down) {
    if (t >= 2 * TY) return;
    wait_async<stages>(); /* all but what was begun last */
    real *const at = (real *)shared_bytes + t / 2 * tile::pitch + t % 2 * (TX + 1);
    if (t % 2)
      emit_stored<HEAT, MARCH_EAST>(ends + here * slot, ends + above * slot, at + flat * sites, at + up * sites,
                                    at + down * sites, sites);
    else
      emit_stored<HEAT, MARCH_WEST>(ends + here * slot, ends + above * slot, at + flat * sites, at + up * sites,
                                    at + down * sites, sites);
  };
  const unsigned long long step = *s.step + 1;
  if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && t == 0) *s.next = step;
  real here[cell], above[cell], from_below, warm_below = 0;
  bulk_fetch<HEAT>(which, group, barrier, coming, from + ((ptrdiff_t)around(first - 1, nz) - first) * (ptrdiff_t)plane);
  fetch_ends(first - 1, ring - 1);
  commit_async();
  if constexpr (stages == 2) {
    bulk_fetch<HEAT>(which, group, barrier + 8, coming + stage, from);
    fetch_ends(first, 0);
    commit_async();
  }
  bulk_take<cell, stages>(group, barrier, 0, coming, here);
  const real *next = from + (stages - 1) * (ptrdiff_t)plane; /* of plane first + stages - 1 */
  if (first + stages - 1 == nz) next -= whole;
  bulk_fetch<HEAT>(which, group, barrier, coming, next);
  fetch_ends(first + stages - 1, stages - 1);
  commit_async();
  emit_row<HEAT>(role, here, here, site, site + (tile::up + (tile::ups - 1) * 4) * sites, site + tile::down * sites,
                 sites); /* up alone is read */
  emit_ends(ring - 1, ring - 1, 0, tile::up + (tile::ups - 1) * 4, tile::down);
  from_below = population<19, 5>(here);
  if constexpr (HEAT) warm_below = warm_population<5>(here + fluid_moments(3));
  bulk_take<cell, stages>(group, barrier + (stages - 1) * 8, stages == 1, coming + (stages - 1) * stage, here);
  next += plane;
  if (first + stages == nz) next -= whole;
  if (first + stages <= end) {
    bulk_fetch<HEAT>(which, group, barrier + (stages - 1) * 8, coming + (stages - 1) * stage, next);
    fetch_ends(first + stages, stages);
  }
  commit_async();
  if constexpr (stages == 2) parity = 1;
  int even = 0, turn = 0; /* turn: of the ring */
  __syncthreads();        /* the other buffers, which emit_all has written too */
#pragma unroll 2
  for (int z = first; z < end; z++) {
    real *const arrived = coming + (stages == 2 ? even * stage : 0);
    const unsigned arrival = barrier + (stages == 2 ? even * 8 : 0);
    const int last = turn == 0 ? ring - 1 : turn - 1, after = turn == ring - 1 ? 0 : turn + 1;
    real below[4];
    bulk_take<cell, stages>(group, arrival, parity, arrived, above);
    if (stages == 1 || even) parity ^= 1;
    next += plane;
    if (z + 1 + stages == nz) next -= whole;
    if (z + 1 + stages <= end) {
      bulk_fetch<HEAT>(which, group, arrival, arrived, next);
      fetch_ends(z + 1 + stages, last);
    }
    commit_async();
    if constexpr (form::ahead > 0) prefetch_row<form, cell>(s, t, z + 1 + stages + form::ahead, end);
    const bool mine = inner && !(SKIP && *skip >> (column % FLUID_GROUP) & 1);
    real *const flat = site + even * tile::flat * sites, *const up = site + tile::up * sites,
                *const down = site + (tile::down + even * 4) * sites;
    const real *const from_up = up + (stages == 2 ? 1 - even : last) * 4 * sites;
    if constexpr (stages == 2)
      if (inner) receive_up<1>(from_up, tile::pitch, sites, below); /* all have, when the next round writes there */
    emit_row<HEAT>(role, here, above, flat, up + (stages == 2 ? even : turn) * 4 * sites, down, sites);
    emit_ends(turn, after, even * tile::flat, tile::up + (stages == 2 ? even : turn) * 4, tile::down + even * 4);
    end_plane<tile, stages, FORCE, EDDY, HEAT>(s, step, mine, x, y, z, flat, from_up, down, below, &from_below,
                                               &warm_below, above, here, to);
    to += plane;
    if constexpr (SKIP) skip += words;
    even ^= 1;
    turn = after;
  }
}

#endif
