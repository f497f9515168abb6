/* Checks a checkpoint's state before it is used: the file may have been modified on purpose. */
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
    if (!(m >= 0)) return refuse("mass", i, "is negative");
    sum += m;
  }
  return sum > 0 ? SIM_OK : sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's masses are all 0");
}

static sim_status check_positions(const sim_array *position, int64_t n, double box) {
  const bool real = position != NULL && (position->dtype == SIM_F32 || position->dtype == SIM_F64);
  if (!real || position->rank != 2 || position->shape[0] != 3 || position->shape[1] != n)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's position is missing or has another type or shape");
  for (int64_t i = 0; i < 3 * n; i++) {
    const double x =
        position->dtype == SIM_F32 ? (double)((const float *)position->data)[i] : ((const double *)position->data)[i];
    if (!(x >= 0 && x < box)) return refuse("position", i, "is outside the box");
  }
  return SIM_OK;
}

sim_status nbody_saved_check(const nbody_integrate *integrate, double box, const sim_frame *saved, int64_t *n) {
  SIM_TRY(sim_frame_check_species(saved, n));
  if (*n < 1) return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint has no list of bodies");
  const uint64_t *id = sim_frame_array(saved, "id")->data;
  for (int64_t i = 0; i < *n; i++)
    if (id[i] >= (uint64_t)*n) return refuse("id", i, "is not below the number of bodies");
  SIM_TRY(check_masses(sim_frame_array(saved, "mass"), *n));
  if (box > 0) SIM_TRY(check_positions(sim_frame_array(saved, "position"), *n, box));
  const sim_array *controller = sim_frame_array(saved, "controller");
  if (controller == NULL || controller->dtype != SIM_F64 || controller->rank != 1 ||
      controller->shape[0] != NBODY_CONTROLS)
    return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's controller has another type or shape");
  const double *x = controller->data;
  if (isnan(integrate->dt) && !(x[NBODY_NEXT_STEP] > 0))
    return refuse("controller", NBODY_NEXT_STEP, "is no length of a step");
  return x[NBODY_SPREAD] >= 0 ? SIM_OK : refuse("controller", NBODY_SPREAD, "is no size");
}
