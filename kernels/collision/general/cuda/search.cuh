/* Cells of grains, their neighbours, and prefix sums over all thread blocks, as templates on the real type. CPU
 * counterpart: cpu/search.inc. */
#ifndef COLLISION_GENERAL_CUDA_SEARCH_CUH
#define COLLISION_GENERAL_CUDA_SEARCH_CUH

#include "kernels/collision/general/cuda/shared.cuh"

/* Barrier of all thread blocks, which are all resident: the launch is cooperative. */
static __device__ void wait_for_all(unsigned *barrier, unsigned *round) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    *round += gridDim.x;
    atomicAdd(barrier, 1u);
    while ((int)(*(volatile unsigned *)barrier - *round) < 0) {}
    __threadfence();
  }
  __syncthreads();
}

static __device__ int level_of(const general_numbers &b, double radius) {
  int level = 0;
  while (level + 1 < b.levels && radius <= b.level[level + 1].radius) level++;
  return level;
}

static __device__ uint32_t cell_along(const general_level &level, const general_numbers &b, int c, double x) {
  const double k = floor((x - b.low[c]) / level.width[c]);
  return k > 0 ? (k < (double)level.cells[c] ? (uint32_t)k : level.cells[c] - 1) : 0; /* NaN: 0 */
}

/* Cells are numbered in columns of GENERAL_COLUMN x GENERAL_COLUMN, along y first, then x, then z. */
enum { GENERAL_COLUMN = 6 };

static __device__ uint32_t cell_number(const general_level &level, uint32_t x, uint32_t y, uint32_t z) {
  const uint32_t left = x / GENERAL_COLUMN * GENERAL_COLUMN, front = y / GENERAL_COLUMN * GENERAL_COLUMN;
  const uint32_t wide = min((uint32_t)GENERAL_COLUMN, level.cells[0] - left);
  const uint32_t deep = min((uint32_t)GENERAL_COLUMN, level.cells[1] - front);
  return level.first_cell + (left * level.cells[1] + front * wide) * level.cells[2] + (z * wide + (x - left)) * deep +
         (y - front);
}

template <typename real> static __device__ uint32_t cell_at(const general_numbers &b, const vec4<real> &p) {
  const general_level &level = b.level[level_of(b, (double)p.w)];
  return cell_number(level, cell_along(level, b, 0, (double)p.x), cell_along(level, b, 1, (double)p.y),
                     cell_along(level, b, 2, (double)p.z));
}

/* Positions are in the box, so one image away is enough. Odd in d, to the bit. */
template <typename real> static __device__ real nearest_image(real d, real size, real half) {
  return d > half ? d - size : d < -half ? d + size : d;
}

template <typename real>
static __device__ __forceinline__ void minimum_image(const general_box<real> &b, const vec4<real> &p,
                                                     const vec4<real> &q, real d[3]) {
  d[0] = p.x - q.x, d[1] = p.y - q.y, d[2] = p.z - q.z;
  if (!((real)fabs(d[0]) > b.half[0] || (real)fabs(d[1]) > b.half[1] || (real)fabs(d[2]) > b.half[2])) return;
  for (int c = 0; c < 3; c++) d[c] = nearest_image(d[c], b.size[c], b.half[c]);
}

/* Components of a vector in a sheared box: across the shear, and along it. */
template <typename real>
static __device__ __forceinline__ real across_shear(const general_box<real> &b, const real *v) {
  return b.turned ? v[0] : v[1];
}
template <typename real> static __device__ __forceinline__ real along_shear(const general_box<real> &b, const real *v) {
  return b.turned ? v[1] : v[0];
}
template <typename real>
static __device__ __forceinline__ void add_along(const general_box<real> &b, real *v, real more) {
  if (b.turned)
    v[1] += more;
  else
    v[0] += more;
}

/* Minimum image in a sheared box; returns which image across the shear it is, -1 ... 1. */
template <typename real>
static __device__ __forceinline__ int minimum_image_sheared(const general_box<real> &b, real offset,
                                                            const vec4<real> &p, const vec4<real> &q, real d[3]) {
  d[0] = p.x - q.x, d[1] = p.y - q.y, d[2] = p.z - q.z;
  const real across = across_shear(b, d), half = across_shear(b, b.half);
  const int which = across > half ? 1 : across < -half ? -1 : 0;
  add_along(b, d, -(real)which * offset);
  for (int c = 0; c < 2; c++) /* an offset may take it two images away */
    if (c == (int)b.turned) d[c] = nearest_image(d[c], b.size[c], b.half[c]);
  for (int c = 0; c < 3; c++) d[c] = nearest_image(d[c], b.size[c], b.half[c]);
  return which;
}

/* Cells along each axis that may hold neighbours of a grain at x: the first, and how many. Arrays [3]. */
static __device__ __forceinline__ void cells_near(const general_numbers &b, const general_level &level, const double *x,
                                                  double reach, int *least, int *number) {
  for (int c = 0; c < 3; c++) {
    const int cells = (int)level.cells[c];
    double first = floor((x[c] - reach - b.low[c]) / level.width[c]);
    double last = floor((x[c] + reach - b.low[c]) / level.width[c]);
    if (!b.periodic[c]) {
      first = fmin(fmax(first, 0.0), (double)(cells - 1));
      last = fmin(fmax(last, 0.0), (double)(cells - 1));
    }
    last = fmin(last, first + (double)(cells - 1));
    least[c] = (int)first;
    number[c] = (int)(last - first) + 1;
  }
}

/* Calls found(j) for all neighbours j of grain i: gap less than `cutoff`. */
template <typename Found, typename real>
static __device__ void near_of(const general_numbers &b, const general_arrays<real> &a, const vec4<real> *position,
                               uint32_t i, double cutoff, Found found) {
  const vec4<real> p = position[i];
  const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
#pragma unroll 1
  for (int l = 0; l < b.levels; l++) {
    const general_level &level = b.level[l];
    /* A little more than the reach: rounding of single precision may put a neighbour one cell farther. */
    const double reach = ((double)p.w + level.radius + cutoff) * 1.0001;
    int least[3], number[3];
    cells_near(b, level, x, reach, least, number);
#pragma unroll 1
    for (int u = 0; u < number[0]; u++) {
      const int nx = (int)level.cells[0], cx = ((least[0] + u) % nx + nx) % nx;
#pragma unroll 1
      for (int v = 0; v < number[2]; v++) {
        const int nz = (int)level.cells[2], ny = (int)level.cells[1], cz = ((least[2] + v) % nz + nz) % nz;
        int y = (least[1] % ny + ny) % ny;
#pragma unroll 1
        for (int left = number[1]; left > 0;) {
          const int end = min(ny, (y / GENERAL_COLUMN + 1) * GENERAL_COLUMN), cells = min(left, end - y);
          const uint32_t first = cell_number(level, (uint32_t)cx, (uint32_t)y, (uint32_t)cz);
          const uint32_t last = a.cell[first + (uint32_t)cells];
          for (uint32_t j = a.cell[first]; j < last; j++) {
            const vec4<real> q = position[j];
            real d[3];
            minimum_image(a.box, p, q, d);
            const real square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], far = p.w + q.w + (real)cutoff;
            if (square < far * far && j != i) found(j);
          }
          left -= cells;
          y = end == ny ? 0 : end;
        }
      }
    }
  }
}

/* Visits neighbours in a sheared box, whose image above is moved by `offset`: beyond top and bottom, in all cells along
 * the shear. */
template <typename Found, typename real>
static __device__ void near_sheared(const general_numbers &b, const general_arrays<real> &a, const vec4<real> *position,
                                    uint32_t i, double cutoff, real offset, Found found) {
  const vec4<real> p = position[i];
  const double x[3] = {(double)p.x, (double)p.y, (double)p.z};
#pragma unroll 1
  for (int l = 0; l < b.levels; l++) {
    const general_level &level = b.level[l];
    int least[3], number[3];
    cells_near(b, level, x, ((double)p.w + level.radius + cutoff) * 1.0001, least, number);
    const bool turned = a.box.turned;
    const int s = turned ? 0 : 1, t = 1 - s; /* axes across the shear and along it */
    const int ns = (int)level.cells[s], nt = (int)level.cells[t], nz = (int)level.cells[2];
#pragma unroll 1
    for (int v = 0; v < number[s]; v++) {
      const int at = least[s] + v, cs = (at % ns + ns) % ns;
      const int cells = at != cs || number[s] == ns ? nt : number[t];
#pragma unroll 1
      for (int u = 0; u < cells; u++) {
        const int ct = ((least[t] + u) % nt + nt) % nt, cx = turned ? cs : ct, cy = turned ? ct : cs;
#pragma unroll 1
        for (int w = 0; w < number[2]; w++) {
          const int cz = ((least[2] + w) % nz + nz) % nz;
          const uint32_t cell = cell_number(level, (uint32_t)cx, (uint32_t)cy, (uint32_t)cz);
          for (uint32_t j = a.cell[cell]; j < a.cell[cell + 1]; j++) {
            const vec4<real> q = position[j];
            real d[3];
            (void)minimum_image_sheared(a.box, offset, p, q, d);
            const real square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], far = p.w + q.w + (real)cutoff;
            if (square < far * far && j != i) found(j);
          }
        }
      }
    }
  }
}

template <bool SHEAR, typename Found, typename real>
static __device__ void neighbours_of(const general_numbers &b, const general_arrays<real> &a,
                                     const vec4<real> *position, uint32_t i, double cutoff, real offset, Found found) {
  if constexpr (SHEAR)
    near_sheared(b, a, position, i, cutoff, offset, found);
  else
    near_of(b, a, position, i, cutoff, found);
}

/* Returns the sum over the threads of a block before this one; *all: over all threads. shared [33]. */
static __device__ uint32_t block_sums(uint32_t value, uint32_t *shared, uint32_t *all) {
  const uint32_t upto = warp_prefix_sum(value);
  __syncthreads();
  if ((threadIdx.x & 31) == 31) shared[threadIdx.x / 32] = upto;
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t sum = 0;
    for (int k = 0; k < GENERAL_THREADS / 32; k++) {
      const uint32_t own = shared[k];
      shared[k] = sum;
      sum += own;
    }
    shared[32] = sum;
  }
  __syncthreads();
  *all = shared[32];
  return shared[threadIdx.x / 32] + upto - value;
}

/* Replaces numbers by the sums of the numbers before each; data[count]: sum of all. Each thread block has one
 * stretch. */
static __device__ void scan(uint32_t *data, uint32_t count, uint32_t *partial, unsigned *barrier, unsigned *round,
                            uint32_t *shared) {
  const uint32_t stretch = (count + gridDim.x - 1) / gridDim.x;
  const uint32_t from = min(count, blockIdx.x * stretch), to = min(count, from + stretch);
  uint32_t sum = 0, all, before = 0;
  for (uint32_t k = from + threadIdx.x; k < to; k += GENERAL_THREADS) sum += data[k];
  block_sums(sum, shared, &all);
  if (threadIdx.x == 0) partial[blockIdx.x] = all;
  wait_for_all(barrier, round);
  sum = 0;
  for (uint32_t k = threadIdx.x; k < blockIdx.x; k += GENERAL_THREADS) sum += ((volatile uint32_t *)partial)[k];
  block_sums(sum, shared, &before);
  for (uint32_t k = from; k < to; k += GENERAL_THREADS) {
    const uint32_t at = k + threadIdx.x, own = at < to ? data[at] : 0;
    const uint32_t sums = before + block_sums(own, shared, &all);
    if (at < to) data[at] = sums;
    before += all;
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) data[count] = before;
  wait_for_all(barrier, round);
}

#endif
