/* The walk of the tree on a GPU: a thread for each grain, in the order of the tree. CPU counterpart: walk.c, with the
 * same bits. */
#include "kernels/collision/gravity/device.cuh"

#include <string.h>

enum { THREADS = 128 };

static const sim_kernel walk_launch = {"collision_gravity_walk", "self-gravity", SIM_LIMIT_BYTES};
static const sim_kernel pull_launch = {"collision_gravity_pull", "self-gravity", SIM_LIMIT_BYTES};
static const sim_kernel direct_launch = {"collision_gravity_direct", "observe", SIM_LIMIT_BYTES};

static __device__ __forceinline__ void add_pull(collision_attraction *sum, const walk_pull &p, double number) {
  sum->a[0] += p.x;
  sum->a[1] += p.y;
  sum->a[2] += p.z;
  sum->potential += p.potential;
  sum->swept += number * p.y;
}

struct reduce_least {
  __device__ static unsigned of(unsigned a, unsigned b) { return min(a, b); }
};

/* A grain whose attraction is computed: x, its position from the centre of its leaf. */
typedef struct walk_target {
  double x[3], centre[3], radius;
  int64_t place;
} walk_target;

/* Adds a cell that is taken as a whole or by its share, or the grains of a leaf. c is at d [3] from the leaf's centre.
 */
static __device__ __forceinline__ void add_cell(const collision_point *__restrict__ at, const collision_cell &c,
                                                const collision_image &im, const collision_walk_numbers &w,
                                                const walk_target &p, walk_choice choice, const double *d,
                                                collision_attraction *sum) {
  if (choice == WALK_TAKE || choice == WALK_CUT) {
    const double edge[2] = {choice == WALK_CUT ? im.edge[0] : INFINITY, choice == WALK_CUT ? im.edge[1] : INFINITY};
    add_pull(
        sum,
        walk_cell(c.mass, c.second, c.trace, c.slope, d[0] - p.x[0], d[1] - p.x[1], d[2] - p.x[2], w.softening2, edge),
        im.number);
  }
  if (choice != WALK_OPEN || !cell_is_leaf(&c)) return;
  const bool box = im.number == 0 && im.x == 0 && im.y == 0;
#pragma unroll 1
  for (int32_t j = c.first; j < c.first + c.count; j++) {
    const collision_point &q = at[j];
    const double qx = q.x[0] - p.centre[0] + im.x, qy = q.x[1] - p.centre[1] + im.y, qz = q.x[2] - p.centre[2];
    if (walk_beyond(&im, qx, qy, p.radius)) continue;
    add_pull(sum, walk_point(q.m, qx - p.x[0], qy - p.x[1], qz - p.x[2], box && j == p.place, w.softening2, im.edge),
             im.number);
  }
}

/* Adds an image of all grains to what a grain feels. The lanes of a warp visit cells together, each of them those that
 * its own walk visits, in the order of the tree. `all`: the number of cells; `begins` false: a lane without a grain. */
static __device__ __forceinline__ void walk_image(const collision_cell *__restrict__ cell,
                                                  const collision_point *__restrict__ at, unsigned all,
                                                  const collision_image &im, const collision_walk_numbers &w,
                                                  const walk_target &p, bool begins, collision_attraction *sum) {
  unsigned next = begins ? 0 : all;
  for (;;) {
    const unsigned k = warp_reduce_all(next, reduce_least());
    if (k >= all) return;
    if (next != k) continue;
    const collision_cell &c = cell[k];
    const double d[3] = {c.centre[0] - p.centre[0] + im.x, c.centre[1] - p.centre[1] + im.y, c.centre[2] - p.centre[2]};
    const walk_choice choice = walk_choose(&c, &im, &w, d[0], d[1], d[2], p.radius);
    add_cell(at, c, im, w, p, choice, d, sum);
    next = choice == WALK_OPEN && !cell_is_leaf(&c) ? k + 1 : (unsigned)c.next;
  }
}

/* The grains of a rank: in each piece of the order of the tree, `count` from `first` on, the last piece may have fewer.
 * One rank has one piece. */
typedef struct grain_share {
  int64_t piece, first, count;
} grain_share;

static __global__ void __launch_bounds__(THREADS)
    walk_tree(gravity_arrays a, int64_t n, grain_share share, int64_t cells, int images, collision_walk_numbers w) {
  after_previous();
  const int64_t thread = (int64_t)blockIdx.x * THREADS + threadIdx.x, piece = thread / share.count,
                within = share.first + thread % share.count, at = piece * share.piece + within;
  const bool begins = at < n;
  const int64_t i = begins ? at : n - 1;
  const collision_cell &leaf = a.cell[a.offset[i + 1] - 1]; /* the last cell that begins at grain i or before */
  const collision_point &q = a.at[i];
  const walk_target p = {{q.x[0] - leaf.centre[0], q.x[1] - leaf.centre[1], q.x[2] - leaf.centre[2]},
                         {leaf.centre[0], leaf.centre[1], leaf.centre[2]},
                         leaf.radius,
                         i};
  collision_attraction sum = {};
#pragma unroll 1
  for (int k = 0; k < images; k++) walk_image(a.cell, a.at, (unsigned)cells, a.image[k], w, p, begins, &sum);
  if (!begins) return;
  if (a.gathered == nullptr) {
    a.attraction[a.index[i]] = sum;
    return;
  }
  double *const to = a.gathered + piece * GRAVITY_NUMBERS * share.piece + within;
  const double numbers[GRAVITY_NUMBERS] = {sum.a[0], sum.a[1], sum.a[2], sum.potential, sum.swept};
  for (int k = 0; k < GRAVITY_NUMBERS; k++) to[k * share.piece] = numbers[k];
}

/* Brings gathered attractions into the order of indices. */
static __global__ void __launch_bounds__(GRAVITY_THREADS) take_gathered(gravity_arrays a, int64_t n, int64_t piece) {
  after_previous();
  const int64_t i = (int64_t)blockIdx.x * GRAVITY_THREADS + threadIdx.x;
  if (i >= n) return;
  const double *const of = a.gathered + i / piece * GRAVITY_NUMBERS * piece + i % piece;
  a.attraction[a.index[i]] = {{of[0], of[piece], of[2 * piece]}, of[3 * piece], of[4 * piece]};
}

static sim_status send_images(const collision_device_tree *t, const collision_images *images, int *count) {
  static collision_image image[COLLISION_IMAGES_MAX];
  *count = collision_walk_images(images, image);
  return sim_backend_cuda.copy(t->arrays.image, image, (size_t)*count * sizeof *image);
}

sim_status collision_device_tree_attract(collision_device_tree *t, sim_exchange *exchange,
                                         const collision_images *images, double softening, double opening) {
  int count;
  SIM_TRY(send_images(t, images, &count));
  const int64_t piece = t->comm->size > 1 ? gravity_piece(t->n) : t->n, pieces = (t->n + piece - 1) / piece;
  const sim_columns columns = {GRAVITY_NUMBERS, (size_t)piece, sim_comm_share(t->comm, (size_t)piece)};
  size_t end;
  const size_t first = sim_comm_first(t->comm, columns.n, &end);
  const grain_share share = {piece, (int64_t)first, (int64_t)(end > first ? end - first : 0)};
  const int64_t threads = pieces * share.count;
  if (threads > 0)
    device_launch(&walk_launch, (double)threads * sizeof(collision_attraction),
                  (unsigned)((threads + THREADS - 1) / THREADS), THREADS, walk_tree, t->arrays, t->n, share, t->cells,
                  count, collision_walk_numbers_of(images, softening, opening));
  if (t->comm->size == 1) return sim_queue_cuda.status();
  for (int64_t p = 0; p < pieces; p++)
    sim_exchange_gather_columns(exchange, &columns, t->arrays.gathered + p * GRAVITY_NUMBERS * piece);
  device_launch(&walk_launch, (double)t->n * 2 * sizeof(collision_attraction), gravity_blocks(t->n), GRAVITY_THREADS,
                take_gathered, t->arrays, t->n, piece);
  return sim_queue_cuda.status();
}

static __global__ void __launch_bounds__(GRAVITY_THREADS)
    write_pull(gravity_arrays a, int64_t n, double G, double jump, double *pull) {
  after_previous();
  const int64_t i = (int64_t)blockIdx.x * GRAVITY_THREADS + threadIdx.x;
  if (i >= n) return;
  const collision_attraction of = a.attraction[i];
  for (int c = 0; c < 3; c++) pull[c * n + i] = G * of.a[c];
  pull[3 * n + i] = 0.5 * G * a.mass[i] * jump * of.swept;
}

sim_status collision_device_tree_pull(const collision_device_tree *t, double G, double jump, double *pull) {
  device_launch(&pull_launch, (double)t->n * (sizeof(collision_attraction) + 40), gravity_blocks(t->n), GRAVITY_THREADS,
                write_pull, t->arrays, t->n, G, jump, pull);
  return sim_queue_cuda.status();
}

/* terms [n]: memory of the keys that the sort leaves free. */
static __global__ void __launch_bounds__(GRAVITY_THREADS) write_terms(gravity_arrays a, int64_t n, double *terms) {
  after_previous();
  const int64_t i = (int64_t)blockIdx.x * GRAVITY_THREADS + threadIdx.x;
  if (i < n) terms[i] = a.mass[i] * a.attraction[i].potential;
}

sim_status collision_device_tree_terms(collision_device_tree *t, double *terms) {
  double *const there = (double *)(t->arrays.key == t->keys[0] ? t->keys[1] : t->keys[0]);
  device_launch(&pull_launch, (double)t->n * 24, gravity_blocks(t->n), GRAVITY_THREADS, write_terms, t->arrays, t->n,
                there);
  return sim_backend_cuda.copy(terms, there, (size_t)t->n * sizeof *terms);
}

/* ---- direct sums for a few grains ---- */

typedef struct direct_targets {
  uint32_t grain[COLLISION_DEVICE_SAMPLES];
} direct_targets;

/* Sums over a block's share of the grains for one target: blockIdx.y. */
static __global__ void __launch_bounds__(GRAVITY_THREADS)
    sum_directly(gravity_arrays a, int64_t n, int images, double softening2,
                 const __grid_constant__ direct_targets targets) {
  __shared__ double shared[GRAVITY_THREADS / 32];
  after_previous();
  const uint32_t target = targets.grain[blockIdx.y];
  const double x[3] = {a.position[target], a.position[n + target], a.position[2 * n + target]};
  collision_attraction sum = {};
  for (int64_t j = (int64_t)blockIdx.x * GRAVITY_THREADS + threadIdx.x; j < n;
       j += (int64_t)GRAVITY_SUM_BLOCKS * GRAVITY_THREADS) {
    const collision_point q = a.at[j];
    const bool same = a.index[j] == target;
    for (int k = 0; k < images; k++) {
      const collision_image im = a.image[k];
      const double dx = q.x[0] - x[0] + im.x, dy = q.x[1] - x[1] + im.y;
      if (walk_beyond(&im, dx, dy, 0)) continue;
      const bool box = im.number == 0 && im.x == 0 && im.y == 0;
      add_pull(&sum, walk_point(q.m, dx, dy, q.x[2] - x[2], box && same, softening2, im.edge), im.number);
    }
  }
  const double numbers[GRAVITY_NUMBERS] = {sum.a[0], sum.a[1], sum.a[2], sum.potential, sum.swept};
  for (int k = 0; k < GRAVITY_NUMBERS; k++) {
    const double of_block = block_sum<GRAVITY_THREADS>(numbers[k], shared);
    if (threadIdx.x == 0) a.partial[(blockIdx.y * GRAVITY_SUM_BLOCKS + blockIdx.x) * GRAVITY_NUMBERS + k] = of_block;
  }
}

sim_status collision_device_tree_samples(collision_device_tree *t, const collision_images *images, double softening,
                                         int count, const int64_t *grains, collision_attraction *got,
                                         collision_attraction *exact) {
  static double partial[COLLISION_DEVICE_SAMPLES][GRAVITY_SUM_BLOCKS][GRAVITY_NUMBERS];
  direct_targets targets = {};
  int of_images;
  SIM_TRY(send_images(t, images, &of_images));
  for (int s = 0; s < count; s++) {
    targets.grain[s] = (uint32_t)grains[s];
    SIM_TRY(sim_backend_cuda.copy(&got[s], t->arrays.attraction + grains[s], sizeof *got));
  }
  device_launch(&direct_launch, 0, dim3(GRAVITY_SUM_BLOCKS, (unsigned)count), GRAVITY_THREADS, sum_directly, t->arrays,
                t->n, of_images, softening * softening, targets);
  SIM_TRY(sim_backend_cuda.copy(partial, t->arrays.partial, (size_t)count * sizeof *partial));
  for (int s = 0; s < count; s++) {
    double sum[GRAVITY_NUMBERS] = {0};
    for (int b = 0; b < GRAVITY_SUM_BLOCKS; b++)
      for (int k = 0; k < GRAVITY_NUMBERS; k++) sum[k] += partial[s][b][k];
    exact[s] = {{sum[0], sum[1], sum[2]}, sum[3], sum[4]};
  }
  return SIM_OK;
}
