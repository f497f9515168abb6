/* Grains on the GPU: the host moves them, and the device makes the steps of the cells that they cover. Twin:
 * grains/couple.c. A step sends where the grains stand and how they move, and gets back what the fluid gives them. */
#include "kernels/fluid/cuda/work.h"

#include "engine/device/cuda.h"
#include "kernels/fluid/grains/grains.h"

#include <math.h>
#include <stdlib.h>

/* Distance in cells of covering spheres below which they may cover the same cell: its diagonal, rounded up; and of the
 * grains themselves. */
#define FLUID_BALL_GAP 1.75
#define FLUID_BALL_BIN 2.5

/* What a step sends stands behind each other in both memories: grains, `first`, `near`. */
struct fluid_ball_rooms {
  fluid_bins bins;
  void *here, *there;
  size_t bytes; /* of each */
};

static size_t bytes_for(int64_t n, int64_t near) {
  return (size_t)n * sizeof(fluid_ball) + (size_t)(n + 1 + near) * sizeof(int32_t);
}

static sim_status reserve(fluid_ball_rooms *r, size_t bytes) {
  if (bytes <= r->bytes) return SIM_OK;
  const size_t room = bytes + bytes / 4;
  void *grown = realloc(r->here, room);
  if (!grown) return sim_no_memory("grains");
  r->here = grown;
  sim_backend_cuda.free(r->there);
  r->there = NULL;
  r->bytes = 0;
  SIM_TRY(sim_backend_cuda.alloc(room, &r->there));
  r->bytes = room;
  return SIM_OK;
}

sim_status fluid_cuda_build_grains(const fluid_machine *m, fluid_device *d) {
  const fluid_grains *g = m->grains;
  const fluid_layout *l = &d->l;
  const size_t words = (size_t)l->n[1] * (size_t)l->n[2] * (size_t)l->groups;
  void *made = NULL;
  if (!g) return SIM_OK;
  d->ball_rooms = calloc(1, sizeof *d->ball_rooms);
  if (!d->ball_rooms) return sim_no_memory("grains");
  SIM_TRY(fluid_bins_create(g, &m->grid, FLUID_BALL_BIN * g->numbers->dx, &d->ball_rooms->bins));
  d->balls.count = (int)g->s.n;
  for (int a = 0; a < 3; a++) d->balls.periodic[a] = grid_is_periodic(&m->grid, a);
  d->balls.walls = d->skip; /* no more than cells with links: grains have no bodies and no heat beside them */
  d->skip = NULL;
  SIM_TRY(fluid_cuda_send(NULL, words * sizeof(uint32_t), &made));
  d->skip = made;
  SIM_TRY(fluid_cuda_send(NULL, words * sizeof(uint32_t), &made));
  d->balls.covered = made;
  SIM_TRY(fluid_cuda_send(NULL, 6 * (size_t)g->s.n * sizeof(double), &made));
  d->balls.given = made;
  return SIM_OK;
}

void fluid_cuda_free_grains(fluid_device *d) {
  sim_backend_cuda.free(d->balls.walls);
  sim_backend_cuda.free(d->balls.covered);
  sim_backend_cuda.free(d->balls.given);
  if (!d->ball_rooms) return;
  fluid_bins_destroy(&d->ball_rooms->bins);
  sim_backend_cuda.free(d->ball_rooms->there);
  free(d->ball_rooms->here);
  free(d->ball_rooms);
  d->ball_rooms = NULL;
}

static fluid_ball ball_of(const fluid_grains *g, int64_t i) {
  const fluid_numbers *k = g->numbers;
  const int64_t n = g->s.n;
  fluid_ball out = {.radius = fluid_cover_radius(g, i)};
  for (int a = 0; a < 3; a++) {
    out.centre[a] = g->s.position[a * n + i] / k->dx;
    out.velocity[a] = k->dt / k->dx * g->s.velocity[a * n + i];
    out.spin[a] = k->dt * g->s.spin[a * n + i];
  }
  return out;
}

static int rising(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Grains that may cover cells of grain i, rising; near NULL: their number alone. */
static int64_t find_near(const fluid_grains *g, const grid_shape *grid, const fluid_bins *b, int64_t i, int32_t *near) {
  int64_t bin[27], count = 0;
  const int bins = fluid_bins_near(g, grid, b, i, bin);
  const double dx = g->numbers->dx, radius = fluid_cover_radius(g, i);
  for (int k = 0; k < bins; k++)
    for (int32_t j = b->first[bin[k]]; j >= 0; j = b->next[j]) {
      double d[3];
      if (j == i || fluid_grains_apart(g, grid, i, j, d) >= dx * (radius + fluid_cover_radius(g, j) + FLUID_BALL_GAP))
        continue;
      if (near) near[count] = j;
      count++;
    }
  if (near) qsort(near, (size_t)count, sizeof *near, rising);
  return count;
}

/* Sends the grains as they stand. */
static sim_status send_grains(const fluid_machine *m, fluid_device *d) {
  const fluid_grains *g = m->grains;
  fluid_ball_rooms *r = d->ball_rooms;
  const int64_t n = g->s.n;
  int64_t near = 0;
  fluid_bins_fill(g, &m->grid, &r->bins);
  for (int64_t i = 0; i < n; i++) near += find_near(g, &m->grid, &r->bins, i, NULL);
  SIM_TRY(reserve(r, bytes_for(n, near)));
  fluid_ball *ball = r->here;
  int32_t *first = (int32_t *)(ball + n), *list = first + n + 1;
  first[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    ball[i] = ball_of(g, i);
    first[i + 1] = first[i] + (int32_t)find_near(g, &m->grid, &r->bins, i, list + first[i]);
  }
  SIM_TRY(sim_backend_cuda.copy(r->there, r->here, bytes_for(n, near)));
  d->balls.ball = r->there;
  d->balls.first = (const int32_t *)(d->balls.ball + n);
  d->balls.near = d->balls.first + n + 1;
  return SIM_OK;
}

sim_status fluid_cuda_place_grains(const fluid_machine *m, fluid_device *d) {
  SIM_TRY(send_grains(m, d));
  fluid_cuda_mark_balls(d);
  return sim_queue_cuda.status();
}

sim_status fluid_cuda_move_grains(const fluid_machine *m, const fluid_device *d) {
  fluid_grains *g = m->grains;
  const fluid_numbers *k = g->numbers;
  const double unit = g->p->density * k->dx * k->dx * k->dx * k->dx / k->dt;
  SIM_TRY(sim_backend_cuda.copy(g->given, d->balls.given, 6 * (size_t)g->s.n * sizeof *g->given));
  for (int64_t i = 0; i < 6 * g->s.n; i++) g->given[i] *= i % 6 < 3 ? unit : unit * k->dx;
  return fluid_grains_move(m);
}

double fluid_cuda_mask_bytes(const fluid_parameters *p) {
  const grid_shape g = fluid_grid_of(p);
  return 2 * sizeof(uint32_t) * ceil((double)g.n[0] / FLUID_GROUP) * (double)g.n[1] * (double)g.n[2];
}
