/* The tree of grains on a GPU: keys, sorted; cells, by a scan over the grains at which they begin; moments, level by
 * level. CPU counterpart: tree.c. */
#include "kernels/collision/gravity/device.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <stdlib.h>

static const sim_kernel extent_launch = {"collision_gravity_extent", "self-gravity", SIM_LIMIT_BYTES};
static const sim_kernel sort_launch = {"collision_gravity_sort", "self-gravity", SIM_LIMIT_BYTES};
static const sim_kernel cells_launch = {"collision_gravity_cells", "self-gravity", SIM_LIMIT_BYTES};
static const sim_kernel moments_launch = {"collision_gravity_moments", "self-gravity", SIM_LIMIT_BYTES};

/* ---- memory ---- */

template <typename T> static void place(char *memory, size_t *at, T **out, int64_t count) {
  *out = memory != NULL ? (T *)(memory + *at) : NULL;
  *at += ((size_t)count * sizeof(T) + 255) / 256 * 256;
}

/* Lays out all arrays but the cells in t->memory; without memory it only counts. Returns the bytes. */
static size_t lay_out(collision_device_tree *t) {
  gravity_arrays *a = &t->arrays;
  char *const memory = (char *)t->memory, *scratch;
  size_t at = 0;
  place(memory, &at, &a->position, 3 * t->n);
  place(memory, &at, &a->mass, t->n);
  for (int s = 0; s < 2; s++) {
    place(memory, &at, &t->keys[s], t->n);
    place(memory, &at, &t->indices[s], t->n);
  }
  place(memory, &at, &a->offset, t->n + 1);
  place(memory, &at, &a->at, t->n);
  place(memory, &at, &a->attraction, t->n);
  place(memory, &at, &a->image, COLLISION_IMAGES_MAX);
  place(memory, &at, &a->cube, 1);
  a->gathered = NULL;
  if (t->comm->size > 1) place(memory, &at, &a->gathered, GRAVITY_NUMBERS * (t->n + gravity_piece(t->n)));
  place(memory, &at, &a->extremes, 6);
  place(memory, &at, &a->partial, gravity_partials);
  place(memory, &at, &scratch, (int64_t)t->scratch_bytes);
  t->scratch = scratch;
  return at;
}

static int64_t usual_cells(double n) { return (int64_t)(0.6 * n) + 256; }

static sim_status take_cells(collision_device_tree *t, int64_t room) {
  size_t bytes = 0;
  sim_backend_cuda.free(t->cell_memory);
  t->cell_memory = NULL;
  t->room = t->cells = 0;
  for (int pass = 0; pass < 2; pass++) {
    bytes = 0;
    place((char *)t->cell_memory, &bytes, &t->arrays.cell, room);
    place((char *)t->cell_memory, &bytes, &t->arrays.level, room);
    if (pass == 0) SIM_TRY(sim_backend_cuda.alloc(bytes, &t->cell_memory));
  }
  t->room = room;
  return SIM_OK;
}

static cudaStream_t stream() { return (cudaStream_t)sim_cuda_stream(); }

/* Calls of CUB; with scratch NULL they write the bytes that they need. */
static cudaError_t sort_pairs(collision_device_tree *t, void *scratch, size_t *bytes) {
  cub::DoubleBuffer<uint64_t> keys(t->keys[0], t->keys[1]);
  cub::DoubleBuffer<uint32_t> values(t->indices[0], t->indices[1]);
  const cudaError_t error =
      cub::DeviceRadixSort::SortPairs(scratch, *bytes, keys, values, (int)t->n, 0, 3 * COLLISION_DEPTH, stream());
  t->arrays.key = keys.Current();
  t->arrays.index = values.Current();
  return error;
}
static cudaError_t scan_offsets(collision_device_tree *t, void *scratch, size_t *bytes) {
  uint32_t *const offset = t->arrays.offset;
  return cub::DeviceScan::ExclusiveSum(scratch, *bytes, offset, offset, (int)t->n + 1, stream());
}
static cudaError_t find_extreme(collision_device_tree *t, int which, void *scratch, size_t *bytes) {
  const double *const x = t->arrays.position + (which % 3) * t->n;
  double *const out = t->arrays.extremes + which;
  return which < 3 ? cub::DeviceReduce::Min(scratch, *bytes, x, out, (int)t->n, stream())
                   : cub::DeviceReduce::Max(scratch, *bytes, x, out, (int)t->n, stream());
}

static size_t greatest(const size_t bytes[3]) {
  size_t most = 1;
  for (int k = 0; k < 3; k++) most = bytes[k] > most ? bytes[k] : most;
  return most;
}

sim_status collision_device_tree_create(const sim_comm *comm, int64_t n, collision_device_tree **out) {
  collision_device_tree *t = *out = (collision_device_tree *)calloc(1, sizeof *t);
  if (t == NULL) return sim_no_memory("a tree on the GPU");
  t->comm = comm;
  t->n = n;
  size_t bytes[3] = {0, 0, 0};
  sim_cuda_failed(sort_pairs(t, NULL, &bytes[0]), "SortPairs", sort_launch.name);
  sim_cuda_failed(scan_offsets(t, NULL, &bytes[1]), "ExclusiveSum", cells_launch.name);
  sim_cuda_failed(find_extreme(t, 0, NULL, &bytes[2]), "Min", extent_launch.name);
  SIM_TRY(sim_queue_cuda.status());
  t->scratch_bytes = greatest(bytes);
  SIM_TRY(sim_backend_cuda.alloc(lay_out(t), &t->memory));
  (void)lay_out(t);
  return take_cells(t, usual_cells((double)n));
}

void collision_device_tree_destroy(collision_device_tree **tree) {
  if (*tree == NULL) return;
  sim_backend_cuda.free((*tree)->memory);
  sim_backend_cuda.free((*tree)->cell_memory);
  free(*tree);
  *tree = NULL;
}

double collision_device_tree_bytes(const sim_comm *comm, double n) {
  collision_device_tree t = {};
  t.comm = comm;
  t.n = (int64_t)n;
  t.scratch_bytes = (size_t)(1e6 + 0.1 * n); /* measured: less */
  return (double)lay_out(&t) + (double)usual_cells(n) * (sizeof(collision_cell) + 1);
}

double *collision_device_tree_position(const collision_device_tree *t) { return t->arrays.position; }
double *collision_device_tree_mass(const collision_device_tree *t) { return t->arrays.mass; }

/* ---- cells ---- */

static __global__ void make_cube(gravity_arrays a) {
  after_previous();
  *a.cube = cell_cube(a.extremes, a.extremes + 3);
}

static __global__ void __launch_bounds__(GRAVITY_THREADS)
    make_keys(gravity_arrays a, int64_t n, uint64_t *key, uint32_t *index) {
  after_previous();
  const int64_t i = (int64_t)blockIdx.x * GRAVITY_THREADS + threadIdx.x;
  if (i >= n) return;
  const double x[3] = {a.position[i], a.position[n + i], a.position[2 * n + i]};
  key[i] = cell_key(a.cube, x);
  index[i] = (uint32_t)i;
}

/* Brings the grains into the order of the tree, and counts the cells that begin at each. */
static __global__ void __launch_bounds__(GRAVITY_THREADS) count_cells(gravity_arrays a, int64_t n) {
  after_previous();
  const int64_t k = (int64_t)blockIdx.x * GRAVITY_THREADS + threadIdx.x;
  if (k > n) return;
  int from = 1, to = 0;
  if (k < n) {
    const uint32_t i = a.index[k];
    a.at[k] = {{a.position[i], a.position[n + i], a.position[2 * n + i]}, a.mass[i]};
    cell_levels(a.key, n, k, &from, &to);
  }
  a.offset[k] = from <= to ? (uint32_t)(to - from + 1) : 0;
}

static __global__ void __launch_bounds__(GRAVITY_THREADS) begin_cells(gravity_arrays a, int64_t n) {
  after_previous();
  const int64_t i = (int64_t)blockIdx.x * GRAVITY_THREADS + threadIdx.x;
  if (i >= n) return;
  cell_begin(a.key, n, a.offset, i, a.cell);
  for (uint32_t c = a.offset[i]; c < a.offset[i + 1]; c++) a.level[c] = (uint8_t)a.cell[c].level;
}

/* Moments of the cells of one level; the cells inside them have theirs. */
static __global__ void __launch_bounds__(GRAVITY_THREADS) close_cells(gravity_arrays a, int64_t cells, int level) {
  after_previous();
  for (int64_t c = (int64_t)blockIdx.x * GRAVITY_THREADS + threadIdx.x; c < cells; c += gridDim.x * GRAVITY_THREADS)
    if (a.level[c] == level) cell_close(a.cell, c, a.at, a.cube->edge);
}

static void sort_grains(collision_device_tree *t) {
  const double n = (double)t->n;
  size_t bytes = t->scratch_bytes;
  sim_cuda_begin(&extent_launch);
  for (int which = 0; which < 6; which++)
    sim_cuda_failed(find_extreme(t, which, t->scratch, &bytes), "Reduce", extent_launch.name);
  sim_cuda_end(&extent_launch, 6 * 8 * n);
  device_launch(&extent_launch, 0, 1, 1, make_cube, t->arrays);
  device_launch(&sort_launch, 36 * n, gravity_blocks(t->n), GRAVITY_THREADS, make_keys, t->arrays, t->n, t->keys[0],
                t->indices[0]);
  sim_cuda_begin(&sort_launch);
  sim_cuda_failed(sort_pairs(t, t->scratch, &bytes), "SortPairs", sort_launch.name);
  sim_cuda_end(&sort_launch, 8 * 24 * n);
}

sim_status collision_device_tree_build(collision_device_tree *t) {
  const double n = (double)t->n;
  uint32_t cells = 0;
  size_t bytes = t->scratch_bytes;
  sort_grains(t);
  device_launch(&cells_launch, 80 * n, gravity_blocks(t->n + 1), GRAVITY_THREADS, count_cells, t->arrays, t->n);
  sim_cuda_begin(&cells_launch);
  sim_cuda_failed(scan_offsets(t, t->scratch, &bytes), "ExclusiveSum", cells_launch.name);
  sim_cuda_end(&cells_launch, 8 * n);
  SIM_TRY(sim_backend_cuda.copy(&cells, t->arrays.offset + t->n, sizeof cells));
  if (cells > INT32_MAX) return sim_no_memory("a tree of %u cells on the GPU", cells);
  if (cells > t->room) SIM_TRY(take_cells(t, (int64_t)cells + cells / 4));
  t->cells = cells;
  device_launch(&cells_launch, 12 * n + 130.0 * cells, gravity_blocks(t->n), GRAVITY_THREADS, begin_cells, t->arrays,
                t->n);
  const unsigned most = 16 * (unsigned)sim_cuda_multiprocessors(), blocks = gravity_blocks(t->cells);
  for (int level = COLLISION_DEPTH; level >= 0; level--)
    device_launch(&moments_launch, cells, blocks < most ? blocks : most, GRAVITY_THREADS, close_cells, t->arrays,
                  t->cells, level);
  return sim_queue_cuda.status();
}
