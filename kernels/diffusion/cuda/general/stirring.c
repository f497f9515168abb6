/* Random forcing of grids whose axes are periodic: the numbers of cpu/stirring.c, drawn on the host for the modes of
 * the shell, and copied in each step. */
#include "kernels/diffusion/cpu/forcing.h"
#include "kernels/diffusion/cuda/general/passes.h"
#include "kernels/diffusion/modes.cuh"

#include "engine/device/cuda.h"
#include "engine/rng.h"

#include <math.h>
#include <stdlib.h>

typedef struct stirred_mode {
  uint64_t number; /* the same for k and -k */
  bool mirrored;   /* as diffusion_mode_number */
  double k[3];     /* unit vector */
} stirred_mode;

struct diffusion_stirred_modes {
  long long count;
  double deviation; /* of re and of im */
  stirred_mode *mode;
  double (*number)[2]; /* [fields][count] */
  void *at, *numbers;  /* device memory: places of the coefficients, and a copy of the numbers */
};

/* The wavenumber's integer along axis i of the layout. */
static int64_t mode_along(const diffusion_layout *layout, int i, long long entry) {
  return i > 0 && 2 * entry > layout->n[i] ? entry - layout->n[i] : entry;
}

/* Adds the coefficient at entry[3] of the layout if the shell has it. at: NULL: only counts. */
static void add_mode(const diffusion_work *w, const long long entry[3], long long *at) {
  const diffusion_layout *layout = &w->layout;
  const diffusion_forcing *forcing = &w->p->forcing;
  diffusion_stirred_modes *s = w->own.general->stirred;
  int64_t mode[3] = {0};
  stirred_mode m = {0};
  double k2 = 0;
  bool own; /* never: the shell is below the highest wavenumbers (scenario/forcing.c) */
  for (int i = 0; i < 3; i++) {
    const int axis = layout->axis[i];
    if (axis >= w->grid.rank) continue;
    mode[axis] = mode_along(layout, i, entry[i]);
    m.k[axis] = 2 * 3.14159265358979323846 / w->grid.size[axis] * (double)mode[axis];
    k2 += m.k[axis] * m.k[axis];
  }
  if (!diffusion_in_shell(forcing->k[0], forcing->k[1], k2)) return;
  m.number = diffusion_mode_number(&w->grid, mode, &m.mirrored, &own);
  for (int a = 0; a < 3; a++) m.k[a] /= sqrt(k2);
  if (at) {
    const long long block = entry[1] / layout->wide, row = entry[1] % layout->wide; /* as layout_wave */
    at[s->count] = ((block * layout->n[2] + entry[2]) * layout->wide + row) * (layout->row / 2) + entry[0];
    s->mode[s->count] = m;
  }
  s->count++;
}

static void find_modes(const diffusion_work *w, long long *at) {
  const diffusion_layout *layout = &w->layout;
  w->own.general->stirred->count = 0;
  for (long long c = 0; c < layout->n[2]; c++)
    for (long long b = 0; b < layout->n[1]; b++)
      for (long long a = 0; a <= layout->n[0] / 2; a++) add_mode(w, (const long long[]){a, b, c}, at);
}

sim_status diffusion_stirred_create(diffusion_work *w) {
  diffusion_stirred_modes *s = w->own.general->stirred = calloc(1, sizeof *s);
  if (!s) return sim_no_memory("the random forcing");
  find_modes(w, NULL);
  const size_t count = (size_t)s->count, bytes = count * (size_t)w->fields * sizeof *s->number;
  long long *at = calloc(count + 1, sizeof *at);
  s->mode = calloc(count + 1, sizeof *s->mode);
  s->number = calloc(count * (size_t)w->fields + 1, sizeof *s->number);
  sim_status status = at && s->mode && s->number ? SIM_OK : sim_no_memory("the random forcing");
  if (status == SIM_OK) {
    find_modes(w, at);
    s->deviation = sqrt(w->p->forcing.power / diffusion_shell_freedom(w->p));
    status = sim_backend_cuda.alloc(count * sizeof *at, &s->at);
  }
  if (status == SIM_OK) status = sim_backend_cuda.copy(s->at, at, count * sizeof *at);
  if (status == SIM_OK) status = sim_backend_cuda.alloc(bytes, &s->numbers);
  free(at);
  return status;
}

void diffusion_stirred_destroy(diffusion_work *w) {
  diffusion_stirred_modes *s = w->own.general->stirred;
  if (!s) return;
  sim_backend_cuda.free(s->at);
  sim_backend_cuda.free(s->numbers);
  free(s->mode);
  free(s->number);
  free(s);
}

double diffusion_stirred_bytes(const diffusion_parameters *p) {
  double numbers = 0;
  for (int f = 0; f < (int)p->fields.count; f++)
    if (diffusion_forced(p) >> f & 1) numbers = fmax(numbers, diffusion_shell_numbers(p, f));
  return numbers / 2 * (sizeof(long long) + 2 * sizeof(double) * (double)p->fields.count);
}

/* Removes the part along k from the vector of a mode, whose components are axes[]; then gives it the helicity. */
static void shape_vector(const diffusion_work *w, const int *vector, int axes, long long i) {
  const diffusion_stirred_modes *s = w->own.general->stirred;
  const stirred_mode *m = &s->mode[i];
  double v[3][2] = {{0}}, along[2] = {0};
  for (int a = 0; a < axes; a++)
    for (int part = 0; part < 2; part++) {
      v[a][part] = s->number[vector[a] * s->count + i][part];
      along[part] += m->k[a] * v[a][part];
    }
  for (int a = 0; a < axes; a++)
    for (int part = 0; part < 2; part++) v[a][part] -= m->k[a] * along[part];
  if (axes == 3 && w->p->forcing.helicity != 0) diffusion_twist(m->k, w->p->forcing.helicity, v);
  for (int a = 0; a < axes; a++)
    for (int part = 0; part < 2; part++) s->number[vector[a] * s->count + i][part] = v[a][part];
}

sim_status diffusion_stirred_fill(diffusion_work *w, int64_t step) {
  const diffusion_parameters *p = w->p;
  const diffusion_stirred_modes *s = w->own.general->stirred;
  const unsigned forced = diffusion_forced(p);
  int vector[3];
  const int axes = diffusion_vector_of(p, vector);
  for (int f = 0; f < w->fields; f++)
    for (long long i = 0; i < s->count && (forced >> f & 1); i++) {
      const stirred_mode *m = &s->mode[i];
      double normal[2];
      sim_rng_normal(p->common.seed, m->number, (uint64_t)step + 1, (uint32_t)(DIFFUSION_DRAW_FORCING + f), normal);
      s->number[f * s->count + i][0] = s->deviation * normal[0];
      s->number[f * s->count + i][1] = (m->mirrored ? -s->deviation : s->deviation) * normal[1];
    }
  for (long long i = 0; i < s->count && axes > 0 && (forced >> vector[0] & 1); i++) shape_vector(w, vector, axes, i);
  SIM_TRY(sim_backend_cuda.copy(s->numbers, s->number, (size_t)(w->fields * s->count) * sizeof *s->number));
  diffusion_general_stir(w, s->at, s->numbers, s->count);
  return sim_queue_cuda.status();
}
