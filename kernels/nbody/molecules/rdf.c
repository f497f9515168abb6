/* Rows of the tables `thermo` and `rdf`. */
#include "kernels/nbody/scenario/molecules.h"
#include "kernels/nbody/short/cpu/list.h"
#include "kernels/common/vector.h"

#include "engine/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

sim_status nbody_observe_thermo(nbody_run *run, const nbody_sums *sums, double *values) {
  const double volume = run->box > 0 ? run->box * run->box * run->box : NAN;
  nbody_pair_sums pairs = {NAN, NAN, NAN, NAN, NAN};
  if (run->options.cutoff > 0) run->forces.solver->pairs(run->forces.work, &pairs);
  const double pressure = (2 * sums->kinetic + pairs.virial) / (3 * volume);
  const double squares = sums->mass * sums->mass / volume;
  values[NBODY_THERMO_TEMPERATURE] = 2 * sums->kinetic / nbody_freedoms(run);
  values[NBODY_THERMO_PRESSURE] = pressure;
  values[NBODY_THERMO_CONSERVED] = sums->kinetic + sums->potential + nbody_bath_energy(run);
  values[NBODY_THERMO_FULL_POTENTIAL] = pairs.potential + pairs.shifted_by + run->tail.energy * squares;
  values[NBODY_THERMO_FULL_PRESSURE] = pressure + run->tail.pressure * squares / volume;
  values[NBODY_THERMO_DISPLACEMENT] = pairs.displacement2;
  return SIM_OK;
}

/* ---- g(r) ---- */

/* Copies the positions to the host, in fp64; the caller frees *out. */
static sim_status fetch_positions(const nbody_run *run, double **out) {
  const size_t count = 3 * (size_t)run->n;
  double *const to = *out = malloc(count * sizeof *to);
  if (to == NULL) return sim_no_memory("g(r) of %lld bodies", (long long)run->n);
  SIM_TRY(run->backend->copy(to, run->position.data, sim_buffer_bytes(&run->position)));
  if (run->ops->dtype == SIM_F32) /* backwards, because the floats are in the first half of the same memory */
    for (size_t k = count; k-- > 0;) {
      float x;
      memcpy(&x, (const char *)to + k * sizeof x, sizeof x);
      to[k] = x;
    }
  return SIM_OK;
}

static double radius_of(const nbody_rdf *rdf, double box) { return isnan(rdf->radius) ? 0.5 * box : rdf->radius; }

typedef struct count_work {
  double per_bin;
  int64_t bins;
  int64_t *count; /* [threads][SIM_COLUMNS_FEW] */
} count_work;

static void count_pairs(void *self, int thread, const double *r2, int64_t pairs) {
  const count_work *w = self;
  int64_t *const count = w->count + (size_t)thread * SIM_COLUMNS_FEW;
  for (int64_t k = 0; k < pairs; k++) {
    const double at = sqrt(r2[k]) * w->per_bin;
    if (at < (double)w->bins) count[(int64_t)at]++;
  }
}

sim_status nbody_observe_rdf(const nbody_run *run, double *values) {
  const nbody_rdf *rdf = &run->rdf;
  const double n = (double)run->n, radius = radius_of(rdf, run->box), width = radius / (double)rdf->bins;
  nbody_short_lists lists = {.n = run->n,
                             .box = run->box,
                             .reach = radius,
                             .threads = run->options.threads > 0 ? run->options.threads : 1,
                             .loops = &nbody_short_double_plain};
  double *positions = NULL;
  const int64_t threads = lists.threads;
  int64_t *const count = calloc((size_t)threads * SIM_COLUMNS_FEW, sizeof *count);
  sim_status status = count != NULL ? fetch_positions(run, &positions) : sim_no_memory("g(r)");
  if (status == SIM_OK) status = nbody_short_lists_create(&lists);
  if (status == SIM_OK)
    status = nbody_short_lists_visit(&lists, positions, count_pairs, &(count_work){1 / width, rdf->bins, count});
  nbody_short_lists_destroy(&lists);
  free(positions);
  for (int64_t t = 1; t < threads && status == SIM_OK; t++)
    for (int64_t k = 0; k < rdf->bins; k++) count[k] += count[t * SIM_COLUMNS_FEW + k];
  /* expected pairs in a unit volume: n (n - 1) / 2 pairs spread evenly over the box */
  const double pairs = 0.5 * n * (n - 1) / (run->box * run->box * run->box);
  for (int64_t k = 0; k < rdf->bins && status == SIM_OK; k++) {
    const double inner = (double)k * width, outer = (double)(k + 1) * width;
    values[k] = (double)count[k] / (pairs * (4 * pi / 3) * (outer * outer * outer - inner * inner * inner));
  }
  free(count);
  return status;
}

double nbody_rdf_bytes(const nbody_parameters *p, const sim_setup *setup, sim_dtype dtype, double n) {
  (void)dtype;
  if (!p->rdf.given) return 0;
  const double box = nbody_box_side(p), radius = radius_of(&p->rdf, box);
  return 3 * n * sizeof(double) + nbody_short_lists_bytes((int64_t)fmin(n, 0x1p30), box, radius, 0) +
         (1 + setup->threads) * n * sizeof(int32_t) + setup->threads * SIM_COLUMNS_FEW * sizeof(int64_t);
}

void nbody_rdf_warn(const nbody_parameters *p, double n) {
  const double most = 2e8; /* some 2 s on one thread */
  if (!p->rdf.given) return;
  const double part = radius_of(&p->rdf, nbody_box_side(p)) / nbody_box_side(p);
  const double pairs = 0.5 * n * n * (4 * pi / 3) * part * part * part;
  if (pairs > most)
    sim_log(
        SIM_LOG_WARN,
        "rdf: g(r) up to %.4g counts about %.1g pairs of bodies in each row of tables, some %.2g s on one thread: give "
        "a smaller rdf.radius",
        part * nbody_box_side(p), pairs, 1e-8 * pairs);
}
