/* The walk of the tree on a GPU: a thread for each grain, in the order of the tree, so that the grains of a leaf visit
 * the same cells. The host builds the tree and sends it. CPU counterpart: walk.c, with the same bits. */
#include "kernels/collision/gravity/walk.h"
#include "kernels/common/launch.cuh"

#include <stdlib.h>

enum { THREADS = 128 };

static const sim_kernel walk_launch = {"collision_gravity_walk", "self-gravity", SIM_LIMIT_BYTES};

struct collision_device_tree {
  void *memory;
  size_t bytes;
  int64_t *leaf; /* [n], on the host: cell of each grain in the order of the tree */
};

/* Arrays on the device. */
typedef struct device_tree {
  collision_cell *cell;
  collision_point *at;
  int64_t *leaf;
  collision_image *image;
  collision_attraction *out; /* [n], by index */
} device_tree;

void collision_walk_cuda_destroy(struct collision_device_tree **there) {
  if (*there == NULL) return;
  sim_backend_cuda.free((*there)->memory);
  free((*there)->leaf);
  free(*there);
  *there = NULL;
}

static __device__ __forceinline__ void add_pull(collision_attraction *sum, const walk_pull &p, double number) {
  sum->a[0] += p.x;
  sum->a[1] += p.y;
  sum->a[2] += p.z;
  sum->potential += p.potential;
  sum->swept += number * p.y;
}

/* Adds an image of all grains to what grain i feels, at x [3] from the centre of its leaf. */
static __device__ __forceinline__ void walk_image(const device_tree &t, int64_t cells, const collision_image &im,
                                                  const collision_walk_numbers &w, int64_t i, const double *x,
                                                  const double *centre, double radius, collision_attraction *sum) {
  const bool box = im.number == 0 && im.x == 0 && im.y == 0;
#pragma unroll 1
  for (int64_t k = 0; k < cells;) {
    const collision_cell &c = t.cell[k];
    const double cx = c.centre[0] - centre[0] + im.x, cy = c.centre[1] - centre[1] + im.y, cz = c.centre[2] - centre[2];
    const walk_choice choice = walk_choose(&c, &im, &w, cx, cy, cz, radius);
    if (choice == WALK_TAKE || choice == WALK_CUT) {
      const double edge[2] = {choice == WALK_CUT ? im.edge[0] : INFINITY, choice == WALK_CUT ? im.edge[1] : INFINITY};
      add_pull(sum, walk_cell(c.mass, c.second, c.trace, c.slope, cx - x[0], cy - x[1], cz - x[2], w.softening2, edge),
               im.number);
    }
    if (choice == WALK_OPEN && c.leaf)
      for (int64_t j = c.first; j < c.first + c.count; j++) {
        const collision_point &q = t.at[j];
        const double qx = q.x[0] - centre[0] + im.x, qy = q.x[1] - centre[1] + im.y, qz = q.x[2] - centre[2];
        if (walk_beyond(&im, qx, qy, radius)) continue;
        add_pull(sum, walk_point(q.m, qx - x[0], qy - x[1], qz - x[2], box && j == i, w.softening2, im.edge),
                 im.number);
      }
    k = choice == WALK_OPEN && !c.leaf ? k + 1 : c.next;
  }
}

static __global__ void __launch_bounds__(THREADS)
    walk_tree(device_tree t, int64_t n, int64_t cells, int images, collision_walk_numbers w) {
  after_previous();
  const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  const collision_cell &leaf = t.cell[t.leaf[i]];
  const collision_point &p = t.at[i];
  const double centre[3] = {leaf.centre[0], leaf.centre[1], leaf.centre[2]}, radius = leaf.radius;
  const double x[3] = {p.x[0] - centre[0], p.x[1] - centre[1], p.x[2] - centre[2]};
  collision_attraction sum = {};
#pragma unroll 1
  for (int k = 0; k < images; k++) walk_image(t, cells, t.image[k], w, i, x, centre, radius, &sum);
  t.out[p.index] = sum;
}

template <typename T> static size_t place(char *memory, size_t *at, T **out, int64_t count) {
  *out = memory != NULL ? (T *)(memory + *at) : NULL;
  return *at += ((size_t)count * sizeof(T) + 255) / 256 * 256;
}

static device_tree lay_out(const collision_tree *t, char *memory, size_t *bytes) {
  device_tree out;
  *bytes = 0;
  place(memory, bytes, &out.cell, t->room);
  place(memory, bytes, &out.at, t->n);
  place(memory, bytes, &out.leaf, t->n);
  place(memory, bytes, &out.out, t->n);
  place(memory, bytes, &out.image, COLLISION_IMAGES_MAX);
  return out;
}

/* Memory for the tree, which grows with its cells. */
static sim_status reserve(collision_tree *t) {
  size_t bytes;
  (void)lay_out(t, NULL, &bytes);
  if (t->there == NULL) {
    t->there = (collision_device_tree *)calloc(1, sizeof *t->there);
    if (t->there == NULL) return sim_no_memory("a tree on the GPU");
    t->there->leaf = (int64_t *)malloc((size_t)t->n * sizeof(int64_t) + 1);
    if (t->there->leaf == NULL) return sim_no_memory("a tree on the GPU");
  }
  if (t->there->bytes >= bytes) return SIM_OK;
  sim_backend_cuda.free(t->there->memory);
  t->there->memory = NULL;
  t->there->bytes = 0;
  SIM_TRY(sim_backend_cuda.alloc(bytes, &t->there->memory));
  t->there->bytes = bytes;
  return SIM_OK;
}

sim_status collision_tree_attract_there(collision_tree *t, const collision_images *images, double softening,
                                        double opening, collision_attraction *out) {
  static collision_image image[COLLISION_IMAGES_MAX];
  size_t bytes;
  SIM_TRY(reserve(t));
  const device_tree there = lay_out(t, (char *)t->there->memory, &bytes);
  const int count = collision_walk_images(images, image);
  for (int64_t k = 0; k < t->cells; k++)
    for (int64_t i = t->cell[k].first; t->cell[k].leaf && i < t->cell[k].first + t->cell[k].count; i++)
      t->there->leaf[i] = k;
  SIM_TRY(sim_backend_cuda.copy(there.cell, t->cell, (size_t)t->cells * sizeof *t->cell));
  SIM_TRY(sim_backend_cuda.copy(there.at, t->at, (size_t)t->n * sizeof *t->at));
  SIM_TRY(sim_backend_cuda.copy(there.leaf, t->there->leaf, (size_t)t->n * sizeof *t->there->leaf));
  SIM_TRY(sim_backend_cuda.copy(there.image, image, (size_t)count * sizeof *image));
  device_launch(&walk_launch, (double)t->n * sizeof(collision_attraction), (unsigned)((t->n + THREADS - 1) / THREADS),
                THREADS, walk_tree, there, t->n, t->cells, count,
                collision_walk_numbers_of(images, softening, opening));
  return sim_backend_cuda.copy(out, there.out, (size_t)t->n * sizeof *out);
}
