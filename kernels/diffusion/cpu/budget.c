/* Budgets by |k|: the effect of rates and linear terms on each bin of the spectrum. */
#include "kernels/common/fft/power.h"
#include "kernels/diffusion/cpu/work.h"
#include "kernels/diffusion/waves.h"

#include <string.h>

static void fill_linear(void *context, const double k[3], const int64_t mode[3], double (*values)[2]) {
  diffusion_filling_linear(context, k, mode, values[0]);
}

sim_status diffusion_budget_create(const diffusion_parameters *p, sim_isa isa, int threads, diffusion_work **out) {
  const sim_setup setup = {.backend = &sim_backend_cpu, .comm = &sim_comm_alone, .isa = isa, .threads = threads};
  const grid_shape grid = diffusion_grid_of(p);
  /* array [2]: N(u), or L u; array [1] is u */
  const diffusion_method method = {
      .name = "budget",
      .arrays = 2,
      .tables = 1,
      .stages = 2,
      .stage = {{1, 0, 1, {{2, 1, {{diffusion_scale(&grid), -1, 0}}}}}, {0, 0, 1, {{2, 1, {{1, 0, 1}}}}}}};
  SIM_TRY(diffusion_work_create(p, &setup, &method, out));
  diffusion_work *w = *out;
  for (int f = 0; f < w->fields; f++) {
    diffusion_filling filling;
    if (diffusion_tables_field(p, f) != f) continue;
    const sim_status status = diffusion_filling_begin(p, f, 1, 1, &filling);
    if (status == SIM_OK)
      diffusion_tables(w->spectral, f, 1, w->arrays.table[f], w->arrays.complex, fill_linear, &filling);
    diffusion_filling_end(&filling);
    if (status == SIM_OK) continue;
    diffusion_work_destroy(out);
    return status;
  }
  return SIM_OK;
}

void diffusion_budget_destroy(diffusion_work **work) { diffusion_work_destroy(work); }

void diffusion_budget_form(diffusion_parameters *p) {
  p->common.precision = SIM_DOUBLE;
  p->integrate.scheme = DIFFUSION_ETD1;
  p->integrate.dt = p->integrate.t_end;
  p->integrate.courant = 0;
  p->forcing.given = p->lyapunov.given = false;
}

sim_status diffusion_budget_rates(diffusion_work *w, double *const *fields, double t) {
  const diffusion_step_context context = {t, 0, 1, 0};
  for (int f = 0; f < w->fields; f++)
    memcpy(work_part(&w->real, f), fields[f], (size_t)w->real.shape[1] * sizeof(double));
  SIM_TRY(diffusion_ops_cpu.load(w, t));
  return diffusion_ops_cpu.stage(w, 0, &context);
}

/* Computes L of the fields in array [2]. */
static sim_status apply_linear(diffusion_work *w, double t) {
  return diffusion_ops_cpu.stage(w, 1, &(diffusion_step_context){t, 0, 1, 0});
}

sim_status diffusion_budget_of(diffusion_work *w, double *const *fields, double t, int bins, double *transfer,
                               double *dissipation) {
  SIM_TRY(diffusion_budget_rates(w, fields, t));
  for (int f = 0; f < w->fields; f++)
    diffusion_power(w->spectral, f, w->arrays.array[f][1], w->arrays.array[f][2], bins, transfer + f * bins);
  SIM_TRY(apply_linear(w, t));
  for (int f = 0; f < w->fields; f++)
    diffusion_power(w->spectral, f, w->arrays.array[f][1], w->arrays.array[f][2], bins, dissipation + f * bins);
  for (int i = 0; i < w->fields * bins; i++) dissipation[i] = 0 - dissipation[i]; /* no -0 */
  return SIM_OK;
}

/* Sums by bin over the numbers of one field. */
typedef struct summing {
  const diffusion_work *w;
  const double *u, *others[3]; /* coefficients */
  double least, *bins;
  int count;
} summing;

static void add_enstrophy(void *context, const diffusion_number *number) {
  const summing *s = context;
  s->bins[fft_bin(number->k2, s->least, s->count)] +=
      number->k2 * number->weight * s->u[number->at] * s->others[0][number->at];
}

/* Adds Re of (i k x u)* . v at one wavenumber. `u` is the array of component 0; the other components follow it. */
static void add_helicity(void *context, const diffusion_number *number) {
  const summing *s = context;
  const int64_t im = number->at + fft_group(false);
  double k[3], sum = 0;
  int vector[3];
  if (number->imaginary) return;
  (void)diffusion_vector_of(s->w->p, vector);
  for (int a = 0; a < 3; a++) { /* i k is 0 where k is its own mirror image, as in derivatives */
    const int64_t mode = number->mode[a];
    const bool mirrored = diffusion_mirrors_itself(mode, s->w->grid.n[a]);
    k[a] = mirrored ? 0 : diffusion_first_wave(s->w->grid.size[a]) * (double)mode;
  }
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    const double *ub = s->w->arrays.array[vector[b]][1], *uc = s->w->arrays.array[vector[c]][1];
    const double re = -(k[b] * uc[im] - k[c] * ub[im]), own = k[b] * uc[number->at] - k[c] * ub[number->at];
    sum += re * s->others[a][number->at] + own * s->others[a][im];
  }
  s->bins[fft_bin(number->k2, s->least, s->count)] += number->weight * sum;
}

/* out[bins]: half the enstrophy <k^2 u . v>, or the helicity <curl u . v>, of the vector u and the vector in array
 * `other`. */
static void vector_sums(const diffusion_work *w, diffusion_quantity quantity, int other, int bins, double *out) {
  int vector[3];
  const int axes = diffusion_vector_of(w->p, vector);
  for (int i = 0; i < bins; i++) out[i] = 0;
  for (int a = 0; a < (quantity == DIFFUSION_ENSTROPHY ? axes : 1); a++) {
    summing s = {.w = w,
                 .u = w->arrays.array[vector[a]][1],
                 .least = diffusion_least_wave(w->spectral),
                 .bins = out,
                 .count = bins};
    for (int c = 0; c < axes; c++)
      s.others[c] = w->arrays.array[vector[quantity == DIFFUSION_ENSTROPHY ? a : c]][other];
    diffusion_each_number(w->spectral, vector[a], quantity == DIFFUSION_ENSTROPHY ? add_enstrophy : add_helicity, &s);
  }
}

sim_status diffusion_vector_budget_of(diffusion_work *w, double *const *fields, double t, diffusion_quantity quantity,
                                      int bins, double *const out[3]) {
  const bool helicity = quantity == DIFFUSION_HELICITY;
  SIM_TRY(diffusion_budget_rates(w, fields, t));
  vector_sums(w, quantity, 1, bins, out[0]);
  vector_sums(w, quantity, 2, bins, out[1]);
  SIM_TRY(apply_linear(w, t));
  vector_sums(w, quantity, 2, bins, out[2]);
  for (int i = 0; i < bins; i++) { /* <omega^2>/2 grows by <omega . curl N>, <u . omega> by 2 <omega . N> */
    if (!helicity) out[0][i] /= 2;
    if (helicity) out[1][i] *= 2;
    out[2][i] = 0 - out[2][i] * (helicity ? 2 : 1);
  }
  return SIM_OK;
}
