#include "kernels/diffusion/cpu/forcing.h"

#include "kernels/diffusion/modes.cuh"
#include "kernels/diffusion/waves.h"

#include <math.h>
#include <stdlib.h>

typedef struct number {
  int64_t at, unit; /* unit: the row, or group, of columns; a unit belongs to one rank */
  double weight;
} number;

struct diffusion_shell {
  const diffusion_parameters *p;
  const sim_comm *comm;
  int64_t count[DIFFUSION_FIELDS];
  number *of[DIFFUSION_FIELDS]; /* [count], in the order of the coefficients; NULL: not forced */
  /* partial[units][fields]: sums over the numbers of a unit, the same for any number of ranks */
  int64_t units;
  double *partial;
  size_t ends[SIM_RANKS_MAX]; /* bytes of `partial` up to the end of each rank's units */
};

typedef struct finding {
  const diffusion_forcing *forcing;
  bool rows;  /* units are rows */
  number *to; /* NULL: the numbers are only counted */
  int64_t count;
} finding;

static void add(void *context, const diffusion_number *number_at) {
  finding *f = context;
  if (!diffusion_in_shell(f->forcing->k[0], f->forcing->k[1], number_at->k2)) return;
  if (f->to)
    f->to[f->count] =
        (number){number_at->at, f->rows ? number_at->column.middle : number_at->column.group, number_at->weight};
  f->count++;
}

static int64_t units_to(const diffusion_parameters *p, const sim_comm *comm, int rank) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_slab slab = diffusion_slab_of(&grid, diffusion_single(p), comm, rank);
  return grid.rank == 3 ? slab.middle_end : slab.group_end;
}

static sim_status create_sums(diffusion_shell *shell) {
  const sim_comm *comm = shell->comm;
  const size_t unit = (size_t)shell->p->fields.count * sizeof(double);
  for (int r = 0; r < comm->size; r++) shell->ends[r] = (size_t)units_to(shell->p, comm, r) * unit;
  shell->units = units_to(shell->p, comm, comm->size - 1);
  shell->partial = calloc((size_t)shell->units, unit);
  return shell->partial ? SIM_OK : sim_no_memory("the shell of the forcing");
}

sim_status diffusion_shell_create(const diffusion_parameters *p, const diffusion_spectral *spectral,
                                  const sim_comm *comm, diffusion_shell **out) {
  const unsigned forced = diffusion_forced(p);
  *out = NULL;
  if (forced == 0 || diffusion_stirred(p)) return SIM_OK;
  diffusion_shell *shell = *out = calloc(1, sizeof *shell);
  if (!shell) return sim_no_memory("the shell of the forcing");
  shell->p = p;
  shell->comm = comm;
  sim_status status = create_sums(shell);
  for (int f = 0; f < (int)p->fields.count && status == SIM_OK; f++) {
    finding all = {.forcing = &p->forcing, .rows = p->grid.n.rows == 3};
    if (!(forced >> f & 1)) continue;
    diffusion_each_number(spectral, f, add, &all);
    shell->of[f] = all.to = calloc((size_t)all.count + 1, sizeof(number));
    if (!all.to) {
      status = sim_no_memory("the shell of the forcing");
      continue;
    }
    shell->count[f] = all.count;
    all.count = 0;
    diffusion_each_number(spectral, f, add, &all);
  }
  if (status != SIM_OK) diffusion_shell_destroy(out);
  return status;
}

void diffusion_shell_destroy(diffusion_shell **shell) {
  if (!*shell) return;
  for (int f = 0; f < DIFFUSION_FIELDS; f++) free((*shell)->of[f]);
  free((*shell)->partial);
  free(*shell);
  *shell = NULL;
}

double diffusion_shell_numbers(const diffusion_parameters *p, int field) {
  const grid_shape grid = diffusion_shape_of(p, field);
  double numbers = 1;
  bool pairs = false; /* re and im */
  for (int axis = 0; axis < grid.rank; axis++) {
    const bool periodic = grid.boundary[axis] == GRID_PERIODIC;
    const double n = (double)grid.n[axis], highest = floor(p->forcing.k[1] * grid.size[axis] / DIFFUSION_PI + 1e-6);
    pairs = pairs || periodic;
    numbers *= periodic && axis == 0 ? fmin(floor(n / 2), floor(highest / 2)) + 1 /* k stands for -k too */
               : periodic            ? fmin(n, 2 * floor(highest / 2) + 1)
                                     : fmin(n, highest + 1);
  }
  return pairs ? 2 * numbers : numbers;
}

double diffusion_shell_received(const diffusion_parameters *p) {
  return (double)(units_to(p, &sim_comm_alone, 0) * (int64_t)(p->fields.count * sizeof(double)));
}

double diffusion_shell_bytes(const diffusion_parameters *p) {
  const unsigned forced = diffusion_forced(p);
  double bytes = diffusion_shell_received(p);
  for (int f = 0; f < (int)p->fields.count; f++)
    if (forced >> f & 1) bytes += sizeof(number) * (diffusion_shell_numbers(p, f) + 1);
  return bytes;
}

sim_status diffusion_shell_apply(const diffusion_shell *shell, const diffusion_arrays *arrays, double h, bool start,
                                 diffusion_stage *stage) {
  diffusion_set *set = &stage->set[0];
  diffusion_term *term = &set->term[set->terms - 1];
  const bool single = diffusion_single(shell->p);
  const int fields = (int)shell->p->fields.count;
  double sum = 0;
  for (int64_t i = 0; i < shell->units * fields; i++) shell->partial[i] = 0;
  for (int f = 0; f < fields; f++)
    for (int64_t i = 0; i < shell->count[f]; i++) {
      const number *of = &shell->of[f][i];
      const double c = grid_number(arrays->array[f][term->source], single, of->at);
      shell->partial[of->unit * fields + f] += of->weight * c * c;
    }
  if (shell->comm->size > 1) SIM_TRY(sim_comm_gather_parts(shell->comm, shell->partial, shell->ends));
  for (int64_t i = 0; i < shell->units * fields; i++) sum += shell->partial[i];
  return diffusion_force_factor(shell->p, sum / 2, h, start, &term->coefficient);
}
