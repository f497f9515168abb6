#include "kernels/diffusion/cpu/forcing.h"

#include "kernels/diffusion/modes.cuh"

#include <math.h>
#include <stdlib.h>

typedef struct number {
  int64_t at;
  double weight;
} number;

struct diffusion_shell {
  const diffusion_parameters *p;
  int64_t count[DIFFUSION_FIELDS];
  number *of[DIFFUSION_FIELDS]; /* [count], in the order of the coefficients; NULL: not forced */
};

typedef struct finding {
  const diffusion_forcing *forcing;
  number *to; /* NULL: only counts */
  int64_t count;
} finding;

static void add(void *context, int64_t at, double k2, double weight) {
  finding *f = context;
  if (!diffusion_in_shell(f->forcing->k[0], f->forcing->k[1], k2)) return;
  if (f->to) f->to[f->count] = (number){at, weight};
  f->count++;
}

sim_status diffusion_shell_create(const diffusion_parameters *p, const diffusion_spectral *spectral,
                                  diffusion_shell **out) {
  const unsigned forced = diffusion_forced(p);
  *out = NULL;
  if (forced == 0) return SIM_OK;
  diffusion_shell *shell = *out = calloc(1, sizeof *shell);
  if (!shell) return sim_no_memory("the shell of the forcing");
  shell->p = p;
  for (int f = 0; f < (int)p->fields.count; f++) {
    finding all = {.forcing = &p->forcing};
    if (!(forced >> f & 1)) continue;
    diffusion_each_number(spectral, f, add, &all);
    shell->of[f] = all.to = calloc((size_t)all.count + 1, sizeof(number));
    if (!all.to) {
      diffusion_shell_destroy(out);
      return sim_no_memory("the shell of the forcing");
    }
    shell->count[f] = all.count;
    all.count = 0;
    diffusion_each_number(spectral, f, add, &all);
  }
  return SIM_OK;
}

void diffusion_shell_destroy(diffusion_shell **shell) {
  if (!*shell) return;
  for (int f = 0; f < DIFFUSION_FIELDS; f++) free((*shell)->of[f]);
  free(*shell);
  *shell = NULL;
}

/* Of the numbers of the box of wavenumbers around the shell, which are not fewer. */
double diffusion_shell_bytes(const diffusion_parameters *p) {
  const double pi = 3.14159265358979323846;
  const unsigned forced = diffusion_forced(p);
  double bytes = 0;
  for (int f = 0; f < (int)p->fields.count; f++) {
    const grid_shape grid = diffusion_shape_of(p, f);
    double numbers = 1;
    bool pairs = false; /* re and im */
    if (!(forced >> f & 1)) continue;
    for (int axis = 0; axis < grid.rank; axis++) {
      const bool periodic = grid.boundary[axis] == GRID_PERIODIC;
      const double n = (double)grid.n[axis], highest = floor(p->forcing.k[1] * grid.size[axis] / pi + 1e-6);
      pairs = pairs || periodic;
      numbers *= periodic && axis == 0 ? fmin(floor(n / 2), floor(highest / 2)) + 1 /* k stands for -k too */
                 : periodic            ? fmin(n, 2 * floor(highest / 2) + 1)
                                       : fmin(n, highest + 1);
    }
    if (pairs) numbers *= 2;
    bytes += sizeof(number) * (numbers + 1);
  }
  return bytes;
}

sim_status diffusion_shell_apply(const diffusion_shell *shell, const diffusion_arrays *arrays, double h,
                                 diffusion_stage *stage) {
  diffusion_set *set = &stage->set[0];
  diffusion_term *term = &set->term[set->terms - 1];
  const bool single = diffusion_single(shell->p);
  double sum = 0;
  for (int f = 0; f < DIFFUSION_FIELDS; f++)
    for (int64_t i = 0; i < shell->count[f]; i++) {
      const double c = grid_number(arrays->array[f][term->source], single, shell->of[f][i].at);
      sum += shell->of[f][i].weight * c * c;
    }
  return diffusion_force_factor(shell->p, sum / 2, h, &term->coefficient);
}
