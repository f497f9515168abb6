/* Bodies that move on the GPU: the host finds their walls, as for the CPU, and the device fills and clears cells. Twin:
 * cpu/cover.c, fluid_sweep of cpu/sweep.c. */
#include "kernels/fluid/cpu/push.h"
#include "kernels/fluid/cuda/host.h"

#include "engine/device/cuda.h"

#include <stdlib.h>

/* Host memory, and as much in device memory. */
typedef struct pair {
  void *here, *there;
} pair;
static sim_status pair_create(size_t bytes, pair *out) {
  *out = (pair){.here = malloc(bytes + 1)};
  return out->here ? sim_backend_cuda.alloc(bytes + 1, &out->there) : sim_no_memory("bodies that move");
}
static void pair_free(pair *p) {
  free(p->here);
  sim_backend_cuda.free(p->there);
}

/* Moments A of members. */
typedef struct masses {
  double *A;
  bool single;
} masses;
static double add_mass(void *context, int64_t member, double mass) {
  const masses *to = context;
  double *A = &to->A[member];
  const double now = to->single ? (double)(float)(*A + mass) : *A + mass, added = now - *A;
  *A = now;
  return added;
}

/* On several ranks: what links have taken from the members of all, and their moments A. */
static sim_status gather_masses(const fluid_machine *m, double *A) {
  const fluid_walls *w = &m->walls;
  const size_t members = (size_t)w->members;
  if (!fluid_cuda_divided(m)) return SIM_OK;
  int64_t *row = malloc(members * (sizeof *row + 2 * sizeof *A));
  if (!row) return sim_no_memory("bodies that move");
  double *both = (double *)(row + members);
  for (size_t i = 0; i < members; i++) {
    row[i] = w->cell[w->member[i]].row;
    both[2 * i] = w->lost[i];
    both[2 * i + 1] = A[i];
  }
  const sim_status status = fluid_gather_items(&m->part, row, w->members, 2 * sizeof *both, both);
  for (size_t i = 0; i < members && status == SIM_OK; i++) {
    w->lost[i] = both[2 * i];
    A[i] = both[2 * i + 1];
  }
  free(row);
  return status;
}

static sim_status share_mass(const fluid_machine *m, const fluid_device *d, const pair *mass) {
  const size_t bytes = (size_t)m->walls.members * sizeof(double);
  fluid_cuda_get_mass(d, mass->there);
  SIM_TRY(sim_backend_cuda.copy(mass->here, mass->there, bytes));
  SIM_TRY(gather_masses(m, mass->here));
  fluid_share_mass(&m->walls, add_mass, &(masses){mass->here, m->single});
  SIM_TRY(sim_backend_cuda.copy(mass->there, mass->here, bytes));
  fluid_cuda_set_mass(d, mass->there);
  return sim_queue_cuda.finish(); /* before the caller frees it */
}

static sim_status return_mass(const fluid_machine *m, const fluid_device *d) {
  pair mass = {0};
  if (m->walls.members == 0) return SIM_OK;
  sim_status status = pair_create((size_t)m->walls.members * sizeof(double), &mass);
  if (status == SIM_OK) status = share_mass(m, d, &mass);
  pair_free(&mass);
  return status;
}

/* What links of this rank's cells have taken in the step. */
static sim_status find_lost(const fluid_machine *m, const fluid_device *d) {
  const fluid_walls *w = &m->walls;
  if (w->members == 0) return SIM_OK;
  double *lost = malloc((size_t)w->cells * sizeof *lost);
  if (!lost) return sim_no_memory("bodies that move");
  const sim_status status = sim_backend_cuda.copy(lost, d->lost, (size_t)w->cells * sizeof *lost);
  for (int64_t i = 0; status == SIM_OK && i < w->members; i++)
    w->lost[i] = lost[w->member[i]] + fluid_pushed(m, &w->cell[w->member[i]]);
  free(lost);
  return status;
}

/* at: in the planes that are here. */
static fluid_changed changed_of(const fluid_machine *m, const fluid_device *d, const bool *old, int64_t cell) {
  const int64_t *n = m->grid.n;
  const bool *solid = m->walls.solid;
  fluid_changed out = {.at = {(int32_t)(cell % n[0]), (int32_t)(cell / n[0] % n[1]), (int32_t)(cell / n[0] / n[1])},
                       .solid = solid[cell]};
  out.at[m->grid.rank - 1] -= d->from;
  if (out.solid) return out;
  for (int c = 1; c < m->lattice->directions; c++) {
    const int64_t from = fluid_neighbour(&m->grid, cell, m->lattice->c[c]);
    if (from >= 0 && !old[from] && !solid[from]) out.from |= (uint32_t)1 << c;
  }
  double g[3];
  fluid_surface_velocity(m, cell, out.u);
  fluid_push_at(m, cell, out.u, g); /* a force that is a function is added later on */
  for (int a = 0; a < 3; a++) out.u[a] -= g[a] / 2;
  return out;
}

/* What this rank's cells of w->changed take from the fluid, or leave: mass[count]. changed, there: room for as many. */
static sim_status cover_own(const fluid_machine *m, const fluid_device *d, const bool *old, int64_t count,
                            const pair *changed, const pair *there, double *mass) {
  const fluid_walls *w = &m->walls;
  const int64_t nx = m->grid.n[0];
  int own = 0;
  for (int64_t i = 0; i < count; i++)
    if (fluid_part_has_row(&m->part, w->changed[i] / nx))
      ((fluid_changed *)changed->here)[own++] = changed_of(m, d, old, w->changed[i]);
  if (own == 0) return SIM_OK;
  SIM_TRY(sim_backend_cuda.copy(changed->there, changed->here, (size_t)own * sizeof(fluid_changed)));
  fluid_cuda_cover(d, changed->there, own, there->there);
  fluid_cuda_clear_rates(d, changed->there, own);
  SIM_TRY(sim_backend_cuda.copy(there->here, there->there, (size_t)own * sizeof(double)));
  const double *next = there->here;
  for (int64_t i = 0; i < count; i++)
    if (fluid_part_has_row(&m->part, w->changed[i] / nx)) mass[i] = *next++;
  return SIM_OK;
}

static sim_status cover(const fluid_machine *m, const fluid_device *d, const bool *old, int64_t count,
                        const pair *changed, const pair *there) {
  const fluid_walls *w = &m->walls;
  int32_t *member = w->scratch[0];
  int64_t *row = malloc((size_t)count * (sizeof *row + sizeof(double)));
  if (!row) return sim_no_memory("cells that bodies leave");
  double *mass = (double *)(row + count);
  for (int64_t i = 0; i < count; i++) row[i] = w->changed[i] / m->grid.n[0];
  fluid_number_members(m, member);
  sim_status status = cover_own(m, d, old, count, changed, there, mass);
  if (status == SIM_OK) status = fluid_gather_items(&m->part, row, count, sizeof *mass, mass);
  for (int64_t i = 0; i < count && status == SIM_OK; i++) fluid_give(m, member, w->changed[i], mass[i]);
  free(row);
  return status == SIM_OK ? return_mass(m, d) : status;
}

sim_status fluid_cuda_move(fluid_work *work, int64_t step) {
  fluid_machine *m = work->m;
  fluid_device *d = &work->d;
  const bool *old;
  int64_t count;
  pair changed = {0}, mass = {0};
  SIM_TRY(find_lost(m, d));
  SIM_TRY(return_mass(m, d));
  SIM_TRY(fluid_move_walls(m, step, &old, &count));
  SIM_TRY(fluid_cuda_build_walls(m, work->p, work->numbers, d));
  work->old_pulls = work->old_cuts = true;
  if (count == 0) return SIM_OK;
  if (fluid_cuda_divided(m)) SIM_TRY(fluid_cuda_swap_made(work));
  sim_status status = pair_create((size_t)count * sizeof(fluid_changed), &changed);
  if (status == SIM_OK) status = pair_create((size_t)count * sizeof(double), &mass);
  if (status == SIM_OK) status = cover(m, d, old, count, &changed, &mass);
  pair_free(&changed);
  pair_free(&mass);
  return status;
}
