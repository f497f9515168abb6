/* Order of the bodies, and lists of their neighbours. */
#include "kernels/nbody/short/cuda/short.cuh"

#include "engine/device/cuda.h"
#include "kernels/common/launch.cuh"

#include <cub/device/device_radix_sort.cuh>

enum { THREADS = 256, SEARCH_THREADS = 128 };

static unsigned grid_of(int64_t n, int threads) { return (unsigned)((n + threads - 1) / threads); }

/* ---- packing ---- */

__device__ static void set_place(int4 *to, const double x[3], double mass, double box) {
  int at[3];
  for (int c = 0; c < 3; c++) at[c] = (int)(unsigned)__double2ll_rn(x[c] * (0x1p32 / box));
  *to = make_int4(at[0], at[1], at[2], __float_as_int((float)mass));
}
__device__ static void set_place(double_quad *to, const double x[3], double mass, double) {
  *to = double_quad{x[0], x[1], x[2], mass};
}

template <typename real, typename real_x, typename type>
static __global__ void __launch_bounds__(THREADS)
    pack(int n, const int *order, const real *mass, const real_x *position, const double *searched, double box,
         type *places, unsigned long long *moved) {
  after_previous();
  const int k = blockIdx.x * THREADS + threadIdx.x;
  double square = 0;
  if (k < n) {
    const size_t i = (size_t)order[k];
    double x[3];
    for (int c = 0; c < 3; c++) {
      x[c] = position[(size_t)c * n + i];
      const double from = searched[(size_t)c * n + i];
      if (x[c] - from > 0.5 * box)
        x[c] -= box;
      else if (x[c] - from < -0.5 * box)
        x[c] += box;
      square += (x[c] - from) * (x[c] - from);
    }
    if (!(square < INFINITY)) square = INFINITY;
    set_place(&places[k], x, mass[i], box);
  }
  for (int step = 16; step > 0; step /= 2) square = fmax(square, warp_read_xor(square, step));
  /* the bits of numbers from 0 on have their order */
  if (threadIdx.x % 32 == 0 && square > 0) atomicMax(moved, (unsigned long long)__double_as_longlong(square));
}

template <typename real, typename real_x, typename type>
static void launch_pack(nbody_solver_work *w, const void *position) {
  static const sim_kernel kernel = {"nbody_short_pack", "force", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  device_launch(&kernel, (double)s->n * (4 * sizeof(real) + 28 + sizeof(type)), grid_of(s->n, THREADS), THREADS,
                pack<real, real_x, type>, (int)s->n, w->order, (const real *)s->mass, (const real_x *)position,
                s->searched, w->options.box, (type *)w->places, w->moved);
}

void nbody_short_pack(nbody_solver_work *w, bool of_search) {
  const void *const position = of_search ? (const void *)w->state.searched : w->state.position;
  sim_cuda_failed(cudaMemsetAsync(w->moved, 0, sizeof *w->moved, (cudaStream_t)sim_cuda_stream()), "cudaMemsetAsync",
                  "the displacement");
  if (w->state.dtype == SIM_F32 && of_search)
    launch_pack<float, double, int4>(w, position);
  else if (w->state.dtype == SIM_F32)
    launch_pack<float, float, int4>(w, position);
  else if (w->options.single_pairs)
    launch_pack<double, double, int4>(w, position);
  else
    launch_pack<double, double, double_quad>(w, position);
}

/* ---- order ---- */

template <typename real>
static __global__ void __launch_bounds__(THREADS)
    move(size_t components, const real *position, double *searched, double *travelled, double box, bool first) {
  after_previous();
  const size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x;
  if (k >= components) return;
  const double x = position[k];
  if (!first) travelled[k] += place<double>::apart(x, searched[k], box);
  searched[k] = x;
}

void nbody_short_move(nbody_solver_work *w, bool first) {
  static const sim_kernel kernel = {"nbody_short_move", "neighbours", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  const size_t components = 3 * (size_t)s->n;
  if (s->dtype == SIM_F32)
    device_launch(&kernel, 36.0 * (double)components, grid_of((int64_t)components, THREADS), THREADS, move<float>,
                  components, (const float *)s->position, s->searched, s->travelled, w->options.box, first);
  else
    device_launch(&kernel, 40.0 * (double)components, grid_of((int64_t)components, THREADS), THREADS, move<double>,
                  components, (const double *)s->position, s->searched, s->travelled, w->options.box, first);
}

__device__ static int cut(double x, int side, double box) { return min(max((int)(x / box * side), 0), side - 1); }

static __global__ void __launch_bounds__(THREADS)
    number_cells(int n, const double *searched, int side, double box, unsigned *keys, int *numbers) {
  after_previous();
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  unsigned key = 0;
  for (int c = 0; c < 3; c++) key = key * side + cut(searched[(size_t)c * n + i], side, box);
  keys[i] = key;
  numbers[i] = i;
}

/* cell[c]: the first body whose key is at least c. */
static __global__ void __launch_bounds__(THREADS) find_cells(int n, const unsigned *keys, int cells, int *cell) {
  after_previous();
  const int k = blockIdx.x * THREADS + threadIdx.x;
  if (k > n) return;
  const int from = k == 0 ? -1 : (int)keys[k - 1], to = k == n ? cells : (int)keys[k];
  for (int c = from + 1; c <= to; c++) cell[c] = k;
}

static int bits_of(int cells) {
  int bits = 1;
  while (bits < 31 && 1 << bits < cells) bits++;
  return bits;
}

size_t nbody_short_sort_bytes(int n) {
  size_t bytes = 0;
  unsigned *keys = nullptr;
  int *values = nullptr;
  (void)cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, keys, values, values, n, 0, 31);
  return bytes;
}

void nbody_short_sort(nbody_solver_work *w) {
  static const sim_kernel number = {"nbody_short_cells", "neighbours", SIM_LIMIT_BYTES};
  static const sim_kernel sort = {"nbody_short_sort", "neighbours", SIM_LIMIT_BYTES};
  const int n = (int)w->options.n, cells = w->side * w->side * w->side;
  device_launch(&number, 32.0 * n, grid_of(n, THREADS), THREADS, number_cells, n, w->state.searched, w->side,
                w->options.box, w->keys, w->numbers);
  sim_cuda_begin(&sort);
  sim_cuda_failed(cub::DeviceRadixSort::SortPairs(w->sort, w->sort_bytes, w->keys, w->sorted_keys, w->numbers, w->order,
                                                  n, 0, bits_of(cells), (cudaStream_t)sim_cuda_stream()),
                  "cub::DeviceRadixSort::SortPairs", sort.name);
  sim_cuda_end(&sort, 64.0 * n);
  device_launch(&number, 8.0 * n, grid_of(n + 1, THREADS), THREADS, find_cells, n, w->sorted_keys, cells, w->cell);
}

/* ---- search ---- */

template <typename pair_real> struct finder {
  typedef place<pair_real> of;
  const typename of::type *places;
  typename of::type mine;
  int i, n, room, count;
  pair_real box, reach2;
  int *list;
  __device__ void look(int first, int end) {
    for (int j = first; j < end; j++) {
      const typename of::type q = places[j];
      const pair_real dx = of::apart(q.x, mine.x, box), dy = of::apart(q.y, mine.y, box),
                      dz = of::apart(q.z, mine.z, box);
      if (!(fused(dz, dz, fused(dy, dy, dx * dx)) <= reach2) || j == i) continue;
      if (count < room) list[(size_t)count * n + i] = j;
      count++;
    }
  }
};

template <typename pair_real>
static __global__ void __launch_bounds__(SEARCH_THREADS)
    search(int n, const typename place<pair_real>::type *places, const unsigned *keys, const int *cell, int side,
           double box, double reach2, int room, int *list, int *length, unsigned long long *most) {
  after_previous();
  const int i = blockIdx.x * SEARCH_THREADS + threadIdx.x;
  if (i >= n) return;
  finder<pair_real> f = {places, places[i], i, n, room, 0, (pair_real)box, (pair_real)reach2, list};
  if (side == 1) {
    f.look(0, n);
  } else {
    const int key = (int)keys[i], z = key % side, y = key / side % side, x = key / side / side;
#pragma unroll 1
    for (int row = 0; row < 9; row++) {
      const int at = ((x + row / 3 - 1 + side) % side * side + (y + row % 3 - 1 + side) % side) * side;
      f.look(cell[at + max(z - 1, 0)], cell[at + min(z + 1, side - 1) + 1]);
      if (z == 0) f.look(cell[at + side - 1], cell[at + side]);
      if (z == side - 1) f.look(cell[at], cell[at + 1]);
    }
  }
  length[i] = min(f.count, room);
  if (f.count > room) atomicMax(most, (unsigned long long)f.count);
}

void nbody_short_search(nbody_solver_work *w) {
  static const sim_kernel kernel = {"nbody_short_search", "neighbours", SIM_LIMIT_BYTES};
  const nbody_options *o = &w->options;
  const int n = (int)o->n;
  const double reach = o->cutoff + nbody_short_skin(o), reach2 = reach * reach * (1 + 1e-6); /* fp32 rounds */
  sim_cuda_failed(cudaMemsetAsync(w->moved + 1, 0, sizeof *w->moved, (cudaStream_t)sim_cuda_stream()),
                  "cudaMemsetAsync", "the number of neighbours");
  const double bytes = 27.0 * 16 * n * ((double)n / (1.0 * w->side * w->side * w->side));
  if (o->single_pairs)
    device_launch(&kernel, bytes, grid_of(n, SEARCH_THREADS), SEARCH_THREADS, search<float>, n, (const int4 *)w->places,
                  w->sorted_keys, w->cell, w->side, o->box, reach2, w->room, w->list, w->length, w->moved + 1);
  else
    device_launch(&kernel, 2 * bytes, grid_of(n, SEARCH_THREADS), SEARCH_THREADS, search<double>, n,
                  (const double_quad *)w->places, w->sorted_keys, w->cell, w->side, o->box, reach2, w->room, w->list,
                  w->length, w->moved + 1);
}
