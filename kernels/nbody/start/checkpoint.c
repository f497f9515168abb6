/* Checks a checkpoint's state before it is used, because the file may have been modified on purpose. */
#include "kernels/nbody/run.h"

#include <inttypes.h>
#include <math.h>

static sim_status refuse(const char *name, int64_t at, const char *why) {
  return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's %s[%" PRId64 "] %s", name, at, why);
}

static sim_status check_masses(const sim_array *mass, int64_t n) {
  const bool real = mass != NULL && (mass->dtype == SIM_F32 || mass->dtype == SIM_F64);
  if (!real || mass->rank != 1 || mass->shape[0] != n)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's mass is missing or has another type or shape");
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    const double m = mass->dtype == SIM_F32 ? (double)((const float *)mass->data)[i] : ((const double *)mass->data)[i];
    if (!(m >= 0 && isfinite(m))) return refuse("mass", i, "is negative or not finite");
    sum += m;
  }
  return sum > 0 ? SIM_OK : sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's masses are all 0");
}

static sim_status check_positions(const char *name, const sim_array *position, int64_t n, double box) {
  const bool real = position != NULL && (position->dtype == SIM_F32 || position->dtype == SIM_F64);
  if (!real || position->rank != 2 || position->shape[0] != 3 || position->shape[1] != n)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's %s is missing or has another type or shape", name);
  for (int64_t i = 0; i < 3 * n; i++) {
    const double x =
        position->dtype == SIM_F32 ? (double)((const float *)position->data)[i] : ((const double *)position->data)[i];
    if (!(x >= 0 && x < box)) return refuse(name, i, "is outside the box");
  }
  return SIM_OK;
}

/* Finds the number of bodies at the start of the run; some may have merged or escaped since. */
static sim_status bodies_at_start(const sim_frame *saved, int64_t n, uint64_t *out) {
  const sim_array *events = sim_frame_array(saved, "events");
  *out = (uint64_t)n;
  if (events == NULL) return SIM_OK;
  if (events->dtype != SIM_F64 || events->rank != 1 || events->shape[0] != NBODY_EVENTS)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's events have another type or shape");
  const double bodies = ((const double *)events->data)[NBODY_EVENT_BODIES];
  if (!(bodies >= (double)n && bodies < 0x1p40)) return refuse("events", NBODY_EVENT_BODIES, "is no number of bodies");
  *out = (uint64_t)bodies;
  return SIM_OK;
}

static sim_status check_radii(const sim_array *radius, int64_t n) {
  if (radius == NULL) return SIM_OK;
  if (radius->dtype != SIM_F64 || radius->rank != 1 || radius->shape[0] != n)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's radius has another type or shape");
  for (int64_t i = 0; i < n; i++)
    if (!(((const double *)radius->data)[i] >= 0)) return refuse("radius", i, "is negative");
  return SIM_OK;
}

/* Checks the positions of the last search and the displacements, with a cutoff. */
static sim_status check_lists(const sim_frame *saved, int64_t n, double box) {
  const sim_array *const searched = sim_frame_array(saved, "searched"), *const travelled =
                                                                            sim_frame_array(saved, "travelled");
  if (searched == NULL) return SIM_OK;
  SIM_TRY(check_positions("searched", searched, n, box));
  if (searched->dtype != SIM_F64 || travelled == NULL || travelled->dtype != SIM_F64 || travelled->rank != 2 ||
      travelled->shape[0] != 3 || travelled->shape[1] != n)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's travelled is missing or has another type or shape");
  for (int64_t i = 0; i < 3 * n; i++)
    if (!isfinite(((const double *)travelled->data)[i])) return refuse("travelled", i, "is not finite");
  return SIM_OK;
}

static bool is_between(double x, double least, double most) { return x >= least && x <= most; }

static sim_status check_method(const double *x) {
  for (int k = NBODY_LARGEST_MEDIAN; k <= NBODY_LARGEST_TAIL; k++)
    if (!(x[k] >= 0)) return refuse("controller", k, "is no error");
  const bool order = is_between(x[NBODY_ORDER], NBODY_FMM_ORDER_MIN, NBODY_FMM_ORDER_MAX);
  if (x[NBODY_METHOD] == NBODY_DIRECT) return SIM_OK;
  if (x[NBODY_METHOD] != NBODY_FMM) return refuse("controller", NBODY_METHOD, "is no method");
  if (!order || floor(x[NBODY_ORDER]) != x[NBODY_ORDER]) return refuse("controller", NBODY_ORDER, "is no order");
  if (!is_between(x[NBODY_ANGLE], 0.1, 1)) return refuse("controller", NBODY_ANGLE, "is no opening angle");
  if (!is_between(x[NBODY_WEIGHT], 1, 2)) return refuse("controller", NBODY_WEIGHT, "is no weight");
  if (!is_between(x[NBODY_LEAF], 8, 1024) || floor(x[NBODY_LEAF]) != x[NBODY_LEAF])
    return refuse("controller", NBODY_LEAF, "is no number of bodies");
  return SIM_OK;
}

void nbody_saved_method(const sim_frame *saved, nbody_options *out) {
  const sim_array *controller = sim_frame_array(saved, "controller");
  const double *x = controller->data;
  if (controller->shape[0] < NBODY_CONTROLS) return;
  out->begun = true;
  out->method = (nbody_method)x[NBODY_METHOD];
  if (out->method == NBODY_FMM)
    out->fmm = (nbody_fmm_settings){(int)x[NBODY_ORDER], x[NBODY_ANGLE], x[NBODY_WEIGHT], (int)x[NBODY_LEAF]};
}

sim_status nbody_saved_check(const nbody_integrate *integrate, double box, const sim_frame *saved, int64_t *n) {
  SIM_TRY(sim_frame_check_species(saved, n));
  if (*n < 1) return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has no list of bodies");
  const uint64_t *id = sim_frame_array(saved, "id")->data;
  uint64_t bodies;
  SIM_TRY(bodies_at_start(saved, *n, &bodies));
  for (int64_t i = 0; i < *n; i++)
    if (id[i] >= bodies) return refuse("id", i, "is not below the number of bodies");
  SIM_TRY(check_radii(sim_frame_array(saved, "radius"), *n));
  SIM_TRY(check_masses(sim_frame_array(saved, "mass"), *n));
  if (box > 0) SIM_TRY(check_positions("position", sim_frame_array(saved, "position"), *n, box));
  if (box > 0) SIM_TRY(check_lists(saved, *n, box));
  const sim_array *controller = sim_frame_array(saved, "controller");
  if (controller == NULL || controller->dtype != SIM_F64 || controller->rank != 1 ||
      (controller->shape[0] != NBODY_CONTROLS && controller->shape[0] != NBODY_CONTROLS_EARLIER))
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's controller has another type or shape");
  const double *x = controller->data;
  if (isnan(integrate->dt) && !(x[NBODY_NEXT_STEP] > 0))
    return refuse("controller", NBODY_NEXT_STEP, "is no length of a step");
  if (!(x[NBODY_SPREAD] >= 0)) return refuse("controller", NBODY_SPREAD, "is no size");
  return controller->shape[0] == NBODY_CONTROLS ? check_method(x) : SIM_OK;
}
