/* A step of all cells of a D3Q19 grid that have no links, in one pass over the state.
 *
 * A block has TX x (TY - 2) columns of cells, and the columns around them; it marches along z. For plane z each thread
 * holds the moments of its cell in planes z, z + 1 and, on their way from memory, z + 2 (and z + 3). It writes what
 * moves sideways to shared memory:
 *
 *                          buffers   read
 *   in the plane z   (8)      2      in this round; with heat 4 more of the temperature
 *   up from z        (4)      3      in the next round; of two stages 2, read before the next round writes
 *   down from z + 1  (4)      2      in this round
 *
 * Of the cells around the inner ones the numbers alone are read that what arrives is made of: the L2 cache is what
 * limits the kernel (90 % of its throughput at 68 % of the memory's). Shared memory of the other numbers holds what it
 * held before, and what is made of them nobody reads.
 *
 * After one barrier each inner thread reads what arrives at its cell in plane z, collides, and stores. What moves
 * straight up or down stays in its thread. The inner columns begin at multiples of 32 cells. Plain twin: step_cells in
 * plain.cuh, with the same bits. */
#ifndef FLUID_CUDA_MARCH_CUH
#define FLUID_CUDA_MARCH_CUH

#include "kernels/fluid/cuda/step.cuh"

/* A form of the kernel: inner columns and rows of a tile, two of the rows outer; blocks of a multiprocessor; planes of
 * cells on their way to shared memory; and how many planes beyond them a plane is on its way to the L2 cache (0: none).
 */
template <int TX, int TY, int BLOCKS, int STAGES, int AHEAD> struct march_form {
  static constexpr int tx = TX, ty = TY, blocks = BLOCKS, stages = STAGES, ahead = AHEAD;
};

template <typename form, bool HEAT> struct march_tile {
  static constexpr int TX = form::tx, TY = form::ty;
  static constexpr int pitch = TX + 2, sites = pitch * TY, threads = (TX * TY + 2 * TY + 31) / 32 * 32;
  static constexpr int cell = fluid_numbers_of_cell(3, HEAT);
  static constexpr int ups = form::stages == 1 ? 3 : 2;                          /* buffers of what moves up */
  static constexpr int flat = HEAT ? 12 : 8, up = 2 * flat, down = up + ups * 4; /* in units of sites */
  static constexpr int numbers = sites * (down + 2 * 4);
  template <typename real> static constexpr size_t bytes() { /* of shared memory, with cells on their way */
    return (numbers + form::stages * cell * threads) * sizeof(real);
  }
};

/* Where a thread's column is in its tile: directions that lead to no inner column are not written. */
enum { MARCH_INNER, MARCH_SOUTH, MARCH_NORTH, MARCH_WEST, MARCH_EAST, MARCH_NONE };

/* Slot in shared memory of direction C: 0 to 7 in the plane, and 0 to 3 up or down. */
__host__ __device__ constexpr int march_slot(int c) {
  return c < 5 ? c - 1 : c < 11 ? c - 3 : c == 11 || c == 13 ? 0 : c == 14 || c == 12 ? 1 : c == 15 || c == 17 ? 2 : 3;
}

/* Writes directions C and after: of those that move sideways what stays in the plane to flat[], and up to up[], both
 * from `here`, and down to down[] from `above`. */
template <int ROLE, int C, typename real>
__device__ __forceinline__ void emit(const real *here, const real *above, real *flat, real *up, real *down, int sites) {
  if constexpr (C < 19) {
    constexpr fluid_way w = fluid_way_of(19, C);
    constexpr bool sideways = w.along(0) != 0 || w.along(1) != 0;
    constexpr bool inwards = ROLE == MARCH_SOUTH   ? w.along(1) > 0
                             : ROLE == MARCH_NORTH ? w.along(1) < 0
                             : ROLE == MARCH_WEST  ? w.along(0) > 0
                             : ROLE == MARCH_EAST  ? w.along(0) < 0
                                                   : true;
    constexpr int slot = march_slot(C);
    if constexpr (sideways && inwards && w.along(2) == 0) flat[slot * sites] = population<19, C>(here);
    if constexpr (sideways && inwards && w.along(2) > 0) up[slot * sites] = population<19, C>(here);
    if constexpr (sideways && inwards && w.along(2) < 0) down[slot * sites] = population<19, C>(above);
    emit<ROLE, C + 1>(here, above, flat, up, down, sites);
  }
}
/* Writes the populations of the temperature that stay in the plane. */
template <int ROLE, typename real> __device__ __forceinline__ void emit_warm(const real *here, real *flat, int sites) {
  const real *warm = here + fluid_moments(3);
  flat += 8 * sites;
  if constexpr (ROLE == MARCH_INNER || ROLE == MARCH_WEST) flat[0] = warm_population<1>(warm);
  if constexpr (ROLE == MARCH_INNER || ROLE == MARCH_EAST) flat[sites] = warm_population<2>(warm);
  if constexpr (ROLE == MARCH_INNER || ROLE == MARCH_SOUTH) flat[2 * sites] = warm_population<3>(warm);
  if constexpr (ROLE == MARCH_INNER || ROLE == MARCH_NORTH) flat[3 * sites] = warm_population<4>(warm);
}
template <bool HEAT, int ROLE, typename real>
__device__ __forceinline__ void emit_both(const real *here, const real *above, real *flat, real *up, real *down,
                                          int sites) {
  emit<ROLE, 1>(here, above, flat, up, down, sites);
  if constexpr (HEAT) emit_warm<ROLE>(here, flat, sites);
}
template <bool HEAT, typename real>
__device__ __forceinline__ void emit_all(int role, const real *here, const real *above, real *flat, real *up,
                                         real *down, int sites) {
  if (role == MARCH_INNER)
    emit_both<HEAT, MARCH_INNER>(here, above, flat, up, down, sites);
  else if (role == MARCH_SOUTH)
    emit_both<HEAT, MARCH_SOUTH>(here, above, flat, up, down, sites);
  else if (role == MARCH_NORTH)
    emit_both<HEAT, MARCH_NORTH>(here, above, flat, up, down, sites);
  else if (role == MARCH_WEST)
    emit_both<HEAT, MARCH_WEST>(here, above, flat, up, down, sites);
  else if (role == MARCH_EAST)
    emit_both<HEAT, MARCH_EAST>(here, above, flat, up, down, sites);
}

/* What arrives from below of directions C and after, by slot; up: the buffer at this thread's site. */
template <int C, typename real>
__device__ __forceinline__ void receive_up(const real *up, int pitch, int sites, real *out) {
  if constexpr (C < 19) {
    constexpr fluid_way w = fluid_way_of(19, C);
    if constexpr (w.along(2) > 0 && w.axes == 2)
      out[march_slot(C)] = up[march_slot(C) * sites - w.along(1) * pitch - w.along(0)];
    receive_up<C + 1>(up, pitch, sites, out);
  }
}

/* d of directions C and after. plane, down: buffers at this thread's site; up: receive_up; from_below, from_above: what
 * moves straight up and down. */
template <int C, typename real>
__device__ __forceinline__ void receive(const real *plane, const real *up, const real *down, int pitch, int sites,
                                        real from_below, real from_above, const real *here, real *d) {
  if constexpr (C < 19) {
    constexpr fluid_way w = fluid_way_of(19, C);
    const int source = march_slot(C) * sites - w.along(1) * pitch - w.along(0);
    const real g = C == 5            ? from_below
                   : C == 6          ? from_above
                   : w.along(2) == 0 ? plane[source]
                   : w.along(2) > 0  ? up[march_slot(C)]
                                     : down[source];
    d[C] = g - population<19, C>(here);
    receive<C + 1>(plane, up, down, pitch, sites, from_below, from_above, here, d);
  }
}

/* d of the temperature, as of `receive`. */
template <typename real>
__device__ __forceinline__ void receive_warm(const real *flat, int pitch, int sites, real from_below, real from_above,
                                             const real *here, real *d) {
  const real *warm = here + fluid_moments(3);
  flat += 8 * sites;
  d[0] = flat[-1] - warm_population<1>(warm);
  d[1] = flat[sites + 1] - warm_population<2>(warm);
  d[2] = flat[2 * sites - pitch] - warm_population<3>(warm);
  d[3] = flat[3 * sites + pitch] - warm_population<4>(warm);
  d[4] = from_below - warm_population<5>(warm);
  d[5] = from_above - warm_population<6>(warm);
}

/* The numbers of a cell that its populations in some directions are made of, as bits: of all directions; of those that
 * leave along x or -x, or along y or -y; and along a diagonal of x and y. */
enum { MARCH_ALL, MARCH_ALONG_X, MARCH_ALONG_Y, MARCH_DIAGONAL, MARCH_NOTHING };
template <bool HEAT> __host__ __device__ constexpr unsigned march_numbers(int which) {
  const unsigned flow = 0x3ff, warm = HEAT ? 0x3c00 : 0; /* T and its flux behind the moments */
  return which == MARCH_ALL       ? flow | warm
         : which == MARCH_ALONG_X ? (flow & ~(1u << 9)) | (warm & 0xc00)
         : which == MARCH_ALONG_Y ? (flow & ~(1u << 8)) | (warm & 0x1400)
                                  : 0xb7; /* A, J_x, J_y, S_xx, S_yy, S_xy */
}

/* Begins to copy numbers of a cell to shared memory. */
template <unsigned NUMBERS, int COUNT, int THREADS, typename real>
__device__ __forceinline__ void fetch_numbers(real *to, const real *from) {
#pragma unroll
  for (int i = 0; i < COUNT; i++)
    if (NUMBERS >> i & 1) copy_async(to + i * THREADS, from + i * FLUID_GROUP);
}
template <bool HEAT, int THREADS, typename real>
__device__ __forceinline__ void fetch(int which, real *to, const real *from) {
  constexpr int count = fluid_numbers_of_cell(3, HEAT);
  if (which == MARCH_ALL)
    fetch_numbers<march_numbers<HEAT>(MARCH_ALL), count, THREADS>(to, from);
  else if (which == MARCH_ALONG_Y)
    fetch_numbers<march_numbers<HEAT>(MARCH_ALONG_Y), count, THREADS>(to, from);
  else if (which == MARCH_ALONG_X)
    fetch_numbers<march_numbers<HEAT>(MARCH_ALONG_X), count, THREADS>(to, from);
  else if (which == MARCH_DIAGONAL)
    fetch_numbers<march_numbers<HEAT>(MARCH_DIAGONAL), count, THREADS>(to, from);
  commit_async();
}
/* The oldest of STAGES cells. */
template <int COUNT, int THREADS, int STAGES, typename real>
__device__ __forceinline__ void take(const real *from, real *m) {
  wait_async<STAGES - 1>();
#pragma unroll
  for (int i = 0; i < COUNT; i++) m[i] = from[i * THREADS];
}

/* Blocks of a multiprocessor; older ones have 1024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define MARCH_BLOCKS(wanted) 1
#else
#define MARCH_BLOCKS(wanted) wanted
#endif

/* Begins to bring a row of cells of plane z <= end of a block's tile to the L2 cache: row `row` of TY - 2. */
template <typename form, int CELL, typename real>
__device__ __forceinline__ void prefetch_row(const fluid_step<real> &s, int row, int z, int end) {
  constexpr int TX = form::tx, TY = form::ty;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  const int y = (int)blockIdx.y * (TY - 2) + row, group = (int)blockIdx.x * (TX / FLUID_GROUP);
  if (row < 0 || row >= TY - 2 || y >= s.l.n[1] || z > end) return;
  const size_t at = ((size_t)around(z, s.l.n[2]) * (size_t)s.l.n[1] + (size_t)y) * (size_t)s.l.groups + (size_t)group;
  const int groups = min(TX / FLUID_GROUP, s.l.groups - group);
  prefetch_bulk(s.from + at * (CELL * FLUID_GROUP), (unsigned)groups * (CELL * FLUID_GROUP * (unsigned)sizeof(real)));
#endif
}

/* Ends a plane: where the cell is `mine`, makes it of what has arrived and stores it. flat, from_up, down: buffers at
 * this thread's site; below: receive_up, with STAGES == 2 alone; from_below, warm_below: what moves straight up into
 * this plane, and then into the next one; here: the cell, and then the one above. The threads of a block wait for each
 * other. */
template <typename tile, int STAGES, bool FORCE, bool EDDY, bool HEAT, typename real>
__device__ __forceinline__ void end_plane(const fluid_step<real> &s, unsigned long long step, bool mine, int x, int y,
                                          int z, const real *flat, const real *from_up, const real *down, real *below,
                                          real *from_below, real *warm_below, const real *above, real *here, real *to) {
  constexpr int sites = tile::sites, cell = tile::cell;
  const real from_above = population<19, 6>(above), own = population<19, 5>(here);
  real warm_above = 0, warm_own = 0;
  if constexpr (HEAT) {
    warm_above = warm_population<6>(above + fluid_moments(3));
    warm_own = warm_population<5>(here + fluid_moments(3));
  }
  __syncthreads();
  if (mine) {
    real d[19], warm[6], rho1;
    fluid_sums<3, real> sums;
    if constexpr (STAGES == 1) receive_up<1>(from_up, tile::pitch, sites, below);
    receive<1>(flat, below, down, tile::pitch, sites, *from_below, from_above, here, d);
    sum_directions<19>(d, &sums);
    if constexpr (HEAT) receive_warm(flat, tile::pitch, sites, *warm_below, warm_above, here, warm);
    const real square = step_cell<19, FORCE, EDDY, HEAT>(s.k, s.w, sums, warm, here, &rho1);
    store_cell<cell>(to, here);
    look<HEAT>(s, step, x, (size_t)z * (size_t)s.l.n[1] + (size_t)y, rho1, square, here[cell - 4]);
  }
  *from_below = own;
  *warm_below = warm_own;
#pragma unroll
  for (int i = 0; i < cell; i++) here[i] = above[i];
}

/* SKIP: there are cells to leave out. */
template <typename form, bool SKIP, bool FORCE, bool EDDY, bool HEAT, typename real>
__global__ void __launch_bounds__((march_tile<form, HEAT>::threads), MARCH_BLOCKS(form::blocks))
    march(const fluid_step<real> s) {
  using tile = march_tile<form, HEAT>;
  constexpr int TX = form::tx, TY = form::ty, stages = form::stages, stage = tile::cell * tile::threads;
  constexpr int sites = tile::sites, threads = tile::threads, cell = tile::cell;
  extern __shared__ __align__(16) char shared_bytes[];
  after_previous();
  const int t = threadIdx.x, extra = t - TX * TY; /* the last threads have the columns at both ends of rows */
  const int ty = extra < 0 ? t / TX : min(extra / 2, TY - 1), tx = extra < 0 ? t % TX + 1 : extra % 2 ? TX + 1 : 0;
  const int x = (int)blockIdx.x * TX + tx - 1, y = (int)blockIdx.y * (TY - 2) + ty - 1;
  const int role = extra >= 2 * TY ? MARCH_NONE
                   : extra >= 0    ? extra % 2 ? MARCH_EAST : MARCH_WEST
                   : ty == 0       ? MARCH_SOUTH
                   : ty == TY - 1  ? MARCH_NORTH
                                   : MARCH_INNER;
  const int which = role == MARCH_INNER                          ? MARCH_ALL
                    : role == MARCH_SOUTH || role == MARCH_NORTH ? MARCH_ALONG_Y
                    : role == MARCH_NONE                         ? MARCH_NOTHING
                    : ty == 0 || ty == TY - 1                    ? MARCH_DIAGONAL
                                                                 : MARCH_ALONG_X;
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
  real *const coming = (real *)shared_bytes + tile::numbers + t;
  const unsigned long long step = *s.step + 1;
  if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && t == 0) *s.next = step;
  real here[cell], above[cell], from_below, warm_below = 0;
  fetch<HEAT, threads>(which, coming, from + ((ptrdiff_t)around(first - 1, nz) - first) * (ptrdiff_t)plane);
  if constexpr (stages == 2) fetch<HEAT, threads>(which, coming + stage, from);
  take<cell, threads, stages>(coming, here);
  const real *next = from + (stages - 1) * (ptrdiff_t)plane; /* of plane first + stages - 1 */
  if (first + stages - 1 == nz) next -= whole;
  fetch<HEAT, threads>(which, coming, next);
  emit_all<HEAT>(role, here, here, site, site + (tile::up + (tile::ups - 1) * 4) * sites, site + tile::down * sites,
                 sites); /* up alone is read */
  from_below = population<19, 5>(here);
  if constexpr (HEAT) warm_below = warm_population<5>(here + fluid_moments(3));
  take<cell, threads, stages>(coming + (stages - 1) * stage, here);
  next += plane;
  if (first + stages == nz) next -= whole;
  if (first + stages <= end)
    fetch<HEAT, threads>(which, coming + (stages - 1) * stage, next);
  else
    commit_async();
  int even = 0, third = 0;
  __syncthreads(); /* the other buffers, which emit_all has written too */
#pragma unroll 2
  for (int z = first; z < end; z++) {
    real *const arrived = coming + (stages == 2 ? even * stage : 0);
    real below[4];
    take<cell, threads, stages>(arrived, above);
    next += plane;
    if (z + 1 + stages == nz) next -= whole;
    if (z + 1 + stages <= end)
      fetch<HEAT, threads>(which, arrived, next);
    else
      commit_async();
    if constexpr (form::ahead > 0) prefetch_row<form, cell>(s, extra, z + 1 + stages + form::ahead, end);
    const bool mine = inner && !(SKIP && *skip >> (column % FLUID_GROUP) & 1);
    real *const flat = site + even * tile::flat * sites, *const up = site + tile::up * sites,
                *const down = site + (tile::down + even * 4) * sites;
    const real *const from_up = up + (stages == 2 ? 1 - even : third == 0 ? 2 : third - 1) * 4 * sites;
    if constexpr (stages == 2)
      if (inner) receive_up<1>(from_up, tile::pitch, sites, below); /* all have, when the next round writes there */
    emit_all<HEAT>(role, here, above, flat, up + (stages == 2 ? even : third) * 4 * sites, down, sites);
    end_plane<tile, stages, FORCE, EDDY, HEAT>(s, step, mine, x, y, z, flat, from_up, down, below, &from_below,
                                               &warm_below, above, here, to);
    to += plane;
    if constexpr (SKIP) skip += words;
    even ^= 1;
    third = third == 2 ? 0 : third + 1;
  }
}

#endif
