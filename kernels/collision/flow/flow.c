/* Inlets and outlets: memory, the grains that are removed, and sums over removed and inserted grains. */
#include "kernels/collision/flow/flow.h"
#include "kernels/collision/scenario/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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
  if (!run->varies) return SIM_OK; /* set with inlets and outlets, and where grains merge */
  collision_flow *f = run->flow = calloc(1, sizeof *f);
  if (f == NULL) return sim_no_memory("grains that come and go");
  f->outlet = malloc((run->parameters->remove.count + 6) * sizeof *f->outlet);
  if (f->outlet == NULL) return sim_no_memory("grains that come and go");
  make_outlets(run->parameters, f);
  return run->options.external != NULL ? collision_fields_create(&run->options, &f->fields) : SIM_OK;
}

void collision_flow_destroy(collision_run *run) {
  collision_flow *f = run->flow;
  if (f == NULL) return;
  free(f->going.at), free(f->come.at), free(f->near.at);
  free(f->move), free(f->obstacle), free(f->newcomer), free(f->outlet);
  collision_fields_destroy(&f->fields);
  free(f);
  run->flow = NULL;
}

/* Whether a grain may have to be removed or inserted in this step. Where the operations can test regions (`within`),
 * the state stays on the device. */
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

/* Enlarges the run's memory to `n` grains and half as many again. The state's arrays must hold the whole state. */
static sim_status grow(collision_run *run, int64_t n, double t) {
  const int64_t most = UINT32_MAX - 1, old = run->limit, limit = n + n / 2 < most ? n + n / 2 : most;
  double arrays = 0;
  if (n > most) return sim_fail(SIM_ERR_NO_MEMORY, "%" PRId64 " grains at once: at most 2^32 - 2 are possible", n);
  for (int which = 0; which < COLLISION_ARRAYS; which++) arrays += (double)sim_buffer_bytes(&run->array[which]);
  arrays *= (double)(limit - old) / (double)old;
  run->ops->destroy(&run->work);
  run->options.n = limit;
  const double work = run->ops->bytes(&run->options);
  if (arrays > (double)sim_backend_cpu.memory_free() || work > (double)run->backend->memory_free())
    return sim_no_memory("more than %" PRId64 " grains at t = %.9g", n, t);
  SIM_TRY(collision_grow_arrays(run, limit));
  return collision_create_work(run, t);
}

sim_status collision_flow_step(collision_run *run, const sim_clock *clock) {
  collision_flow *f = run->flow;
  double *controls = run->array[COLLISION_CONTROLLER].data;
  const uint64_t first_id = (uint64_t)controls[COLLISION_NEXT_ID];
  const collision_sums *sums;
  bool due, whole = run->ops->exchange == NULL || run->n == 0;
  SIM_TRY(is_due(run, clock, &due));
  if (!due) return SIM_OK;
  if (whole && run->n > 0) SIM_TRY(run->ops->store(run->work));
  f->newcomers = 0;
  SIM_TRY(collision_flow_find(run, f->outlet, f->outlets, &f->going));
  for (size_t k = 0; k < run->parameters->insert.count; k++) SIM_TRY(collision_inlet_come(run, (int)k, clock));
  if (f->going.count == 0 && f->newcomers == 0) return SIM_OK;
  run->sums_step = -1;
  SIM_TRY(collision_sums_at(run, clock, &sums));
  const double before = collision_energy(sums);
  for (int64_t k = 0; k < f->going.count; k++) take_account(run, f->going.at[k]);
  const int64_t n = run->n - f->going.count + f->newcomers;
  if (!whole && (n == 0 || n > run->limit)) {
    SIM_TRY(run->ops->store(run->work));
    whole = true;
  }
  if (n > run->limit) SIM_TRY(grow(run, n, clock->t));
  SIM_TRY(collision_flow_pack(run, whole, first_id, clock->t));
  run->sums_step = run->profile_step = -1;
  SIM_TRY(collision_sums_at(run, clock, &sums));
  controls[COLLISION_INITIAL_ENERGY] += collision_energy(sums) - before;
  controls[COLLISION_ENERGY_SCALE] = fmax(controls[COLLISION_ENERGY_SCALE], collision_energy_scale(sums));
  return SIM_OK;
}
