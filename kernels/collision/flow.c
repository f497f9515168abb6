/* Grains that come and go during a run: what that takes, who goes, and the account of both. */
#include "kernels/collision/flow.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

double collision_flow_limit(const collision_parameters *p, double n) {
  for (size_t i = 0; i < p->insert.count; i++) n += collision_inlet_total(p->insert.items[i].data, p->integrate.t_end);
  return n;
}

bool collision_flow_varies(const collision_parameters *p) {
  bool varies = p->insert.count > 0 || p->remove.count > 0;
  for (int s = 0; s < 6; s++) varies = varies || p->box.sides[s] == COLLISION_OUTLET;
  return varies;
}

/* Of one number a grain in the widest array. */
static double widest(const collision_options *o, int real) {
  const double history = fmax(8.1 * fmax(o->springs, 1), o->wall_numbers) * real;
  return fmax(fmax(history, 66), 8.0 * o->gates);
}

double collision_flow_bytes(const collision_parameters *p, double limit, int real) {
  collision_options o;
  if (!collision_flow_varies(p) || collision_options_fill(p, &o) != SIM_OK) return 0;
  const double bytes = limit * (widest(&o, real) + 16 + sizeof(collision_newcomer) + 2 * sizeof(collision_obstacle));
  collision_options_free(&o);
  return bytes + sizeof(collision_flow);
}

static void make_outlets(const collision_parameters *p, collision_flow *f) {
  for (size_t k = 0; k < p->remove.count; k++)
    f->outlet[f->outlets++] = *(const collision_region *)p->remove.items[k].data;
  for (int s = 0; s < 6; s++) {
    if (p->box.sides[s] != COLLISION_OUTLET) continue;
    collision_region *beyond = &f->outlet[f->outlets++];
    for (int c = 0; c < 3; c++) {
      beyond->low[c] = -INFINITY;
      beyond->high[c] = INFINITY;
    }
    const int c = s / 2;
    if (s % 2 == 0)
      beyond->high[c] = p->box.origin[c];
    else
      beyond->low[c] = p->box.origin[c] + p->box.size[c];
  }
}

sim_status collision_flow_create(collision_run *run) {
  const size_t limit = (size_t)run->limit;
  const int real = (int)sim_dtype_size(run->ops->dtype);
  if (!run->varies) return SIM_OK;
  collision_flow *f = run->flow = calloc(1, sizeof *f);
  if (f == NULL) return sim_fail(SIM_ERR_NO_MEMORY, "no memory for grains that come and go");
  f->most = (int32_t)fmin(2.0 * (double)limit + 1024, 2e9);
  f->order = malloc(limit * sizeof *f->order);
  f->place = malloc(limit * sizeof *f->place);
  f->room = malloc(limit * (size_t)ceil(widest(&run->options, real)) + 4096);
  f->newcomer = malloc(limit * sizeof *f->newcomer);
  f->obstacle = malloc((size_t)f->most * sizeof *f->obstacle);
  f->outlet = malloc((run->parameters->remove.count + 6) * sizeof *f->outlet);
  if (f->outlet != NULL) make_outlets(run->parameters, f);
  if (run->options.external != NULL) SIM_TRY(collision_fields_create(&run->options, &f->fields));
  if (f->outlet && f->order && f->place && f->room && f->newcomer && f->obstacle) return SIM_OK;
  return sim_fail(SIM_ERR_NO_MEMORY, "no memory for grains that come and go");
}

void collision_flow_destroy(collision_run *run) {
  collision_flow *f = run->flow;
  if (f == NULL) return;
  free(f->order), free(f->place), free(f->room), free(f->newcomer), free(f->obstacle), free(f->outlet);
  collision_fields_destroy(&f->fields);
  free(f);
  run->flow = NULL;
}

/* ---- going ---- */

static bool leaves(const collision_run *run, int64_t i) {
  const collision_flow *f = run->flow;
  double x[3];
  for (int c = 0; c < 3; c++) x[c] = collision_get(run, COLLISION_POSITION, c, i);
  for (int k = 0; k < f->outlets; k++) {
    bool in = true;
    for (int c = 0; c < 3; c++) in = in && x[c] >= f->outlet[k].low[c] && x[c] < f->outlet[k].high[c];
    if (in) return true;
  }
  return false;
}

/* Whether somebody may go or come now: where that is found without the state, it is left where it is. */
static sim_status is_due(const collision_run *run, const sim_clock *clock, bool *out) {
  const double *brought = (const double *)run->array[COLLISION_CONTROLLER].data + COLLISION_OF_INLET;
  *out = run->ops->within == NULL && run->n > 0;
  for (size_t k = 0; k < run->parameters->insert.count && !*out; k++)
    *out = brought[k] < collision_inlet_total(run->parameters->insert.items[k].data, clock->t);
  return *out || run->n == 0 ? SIM_OK : run->ops->within(run->work, run->flow->outlet, run->flow->outlets, out);
}

static void take_account(collision_run *run, int64_t i) {
  double *controls = run->array[COLLISION_CONTROLLER].data;
  const double mass = collision_get(run, COLLISION_MASS, 0, i);
  controls[COLLISION_REMOVED]++;
  controls[COLLISION_REMOVED_MASS] += mass;
  controls[COLLISION_CARRIED_DISSIPATED] += ((const double *)run->array[COLLISION_DISSIPATED].data)[i];
  controls[COLLISION_CARRIED_VIRIAL] += ((const double *)run->array[COLLISION_VIRIAL].data)[i];
  controls[COLLISION_CARRIED_COLLISIONS] += (double)((const uint64_t *)run->array[COLLISION_COLLISIONS].data)[i];
  if (run->options.worked) controls[COLLISION_CARRIED_WORK] += ((const double *)run->array[COLLISION_WORK].data)[i];
  for (int b = 0; b < run->options.gates; b++) {
    const double times = (double)((const int64_t *)run->array[COLLISION_CROSSED].data)[b * run->n + i];
    controls[COLLISION_CARRIED_GRAINS + b] += times;
    controls[COLLISION_CARRIED_MASS + b] += times * mass;
  }
}

sim_status collision_flow_step(collision_run *run, const sim_clock *clock) {
  collision_flow *f = run->flow;
  double *controls = run->array[COLLISION_CONTROLLER].data;
  const uint64_t first_id = (uint64_t)controls[COLLISION_NEXT_ID];
  const collision_sums *sums;
  int64_t going = 0;
  bool due;
  SIM_TRY(is_due(run, clock, &due));
  if (!due) return SIM_OK;
  if (run->n > 0) SIM_TRY(run->ops->store(run->work));
  f->newcomers = 0;
  for (int64_t i = 0; i < run->n; i++) {
    const bool gone = leaves(run, i);
    f->place[i] = gone ? -1 : 0;
    going += gone;
  }
  for (size_t k = 0; k < run->parameters->insert.count; k++) collision_inlet_come(run, (int)k, clock);
  if (going == 0 && f->newcomers == 0) return SIM_OK;
  run->sums_step = -1;
  SIM_TRY(collision_sums_at(run, clock, &sums));
  const double before = collision_energy(sums);
  for (int64_t i = 0; i < run->n && going > 0; i++)
    if (f->place[i] < 0) take_account(run, i);
  SIM_TRY(collision_flow_pack(run, first_id, clock->t));
  run->sums_step = run->profile_step = -1;
  SIM_TRY(collision_sums_at(run, clock, &sums));
  controls[COLLISION_INITIAL_ENERGY] += collision_energy(sums) - before;
  controls[COLLISION_ENERGY_SCALE] = fmax(controls[COLLISION_ENERGY_SCALE], collision_energy_scale(sums));
  return SIM_OK;
}
