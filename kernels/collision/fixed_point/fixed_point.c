/* The scenarios that the fixed-point solver supports, and its units. */
#include "kernels/collision/fixed_point/fixed_point.h"

#include <math.h>
#include <string.h>

enum { RADII_MOST = 4 }; /* largest over smallest radius: all grains share one grid of cells and one quantum */

const char *collision_fixed_point_excludes(const collision_options *o, int64_t n, const float *mass,
                                           const float *radius, fixed_point_system *out) {
  if (o->force != COLLISION_LINEAR) return "Hertz contacts";
  if (o->named) return "laws by name";
  if (o->law_springs > 0 || o->turning) return "friction or rotation";
  if (o->walls > 0) return "walls";
  if (!o->periodic[0] || !o->periodic[1] || !o->periodic[2]) return "a box that is not periodic";
  if (o->hill || o->attracted) return "hill and self_gravity";
  if (o->restitution != NULL) return "restitution_law";
  if (o->merge != COLLISION_MERGE_NEVER) return "merge";
  if (o->clumps) return "clumps";
  if (o->shear != 0 || o->external != NULL || o->gates > 0) return "shear, other forces or gates";
  if (o->gravity[0] != 0 || o->gravity[1] != 0 || o->gravity[2] != 0) return "gravity";
  for (int a = 0; a < o->materials; a++)
    for (int b = 0; b < o->materials; b++)
      if (memcmp(&o->law[a][b], &o->law[0][0], sizeof o->law[0][0]) != 0) return "several materials";
  if (o->law[0][0].pull != 0) return "cohesion";
  *out = (fixed_point_system){.equal = true, .radius = {INFINITY, 0}, .damped = o->damped, .law = o->law[0][0]};
  for (int64_t i = 0; i < n; i++) {
    out->equal = out->equal && mass[i] == mass[0] && radius[i] == radius[0];
    out->radius[0] = fmin(out->radius[0], (double)radius[i]);
    out->radius[1] = fmax(out->radius[1], (double)radius[i]);
    out->mass = fmax(out->mass, (double)mass[i]);
  }
  if (out->radius[1] > RADII_MOST * out->radius[0]) return "radii of more than 1 to 4";
  for (int c = 0; c < 3; c++) {
    out->low[c] = o->low[c];
    out->size[c] = o->size[c];
    if (o->size[c] < 8 * out->radius[1]) return "a box of less than 4 diameters";
  }
  /* A step that resolves contacts moves a grain by less than 1/32 of its radius: that speed is the largest
   * representable one. */
  const double fastest = exp2(ceil(log2(out->radius[0] / (32 * o->dt))));
  out->quantum = out->mass * fastest / FIXED_POINT_MOMENTUM_MAX;
  out->virial_unit = out->quantum * 2 * out->radius[1];
  out->dissipated_unit = out->quantum * out->quantum / out->mass * 0x1p20;
  return NULL;
}

bool collision_fixed_point_possible(const collision_parameters *p, const sim_frame *saved) {
  collision_options options;
  fixed_point_system system;
  if (p->insert.count > 0 || p->remove.count > 0 || collision_options_fill(p, &options) != SIM_OK) return false;
  const bool fits = collision_fixed_point_excludes(&options, 0, NULL, NULL, &system) == NULL;
  collision_options_free(&options);
  return fits && (saved == NULL || sim_frame_array(saved, "quanta") != NULL);
}

bool collision_fixed_point_in_range(const fixed_point_system *system, int64_t n, const float *mass,
                                    const float *velocity) {
  const double most = 0.5 * FIXED_POINT_MOMENTUM_MAX * system->quantum;
  bool holds = true;
  for (int64_t k = 0; k < 3 * n; k++) holds = holds && fabs((double)velocity[k] * (double)mass[k % n]) < most;
  return holds;
}

fixed_point_constants collision_fixed_point_constants(const fixed_point_system *system, double before, double dt) {
  const double q = system->quantum, kick = 0.5 * (before + dt), m = system->mass, mu = 0.5 * m;
  const collision_law *law = &system->law;
  fixed_point_constants out = {.stiffness = (float)((law->k0 + law->km * mu) * kick / q),
                               .k0 = (float)(law->k0 * kick / q),
                               .km = (float)(law->km * m * kick / q),
                               .damping = (float)((law->g0 + law->gh * sqrt(mu) + law->gm * mu) * kick / m),
                               .g0 = (float)(law->g0 * kick / m),
                               .gh = (float)(law->gh * sqrt(m) * kick / m),
                               .gm = (float)(law->gm * kick),
                               .limited = (float)law->limited,
                               .displacement = (float)(q / m * before),
                               .virial = (float)(q / system->virial_unit),
                               .dissipated = (float)(q * q / m / system->dissipated_unit)};
  for (int c = 0; c < 3; c++) {
    out.length[c] = (float)(system->size[c] * 0x1p-32);
    out.drift[c] = (float)(q / m * dt / system->size[c] * 0x1p32);
  }
  return out;
}

uint64_t collision_fixed_point_encode(const fixed_point_system *system, int c, double position, double momentum) {
  const double x = (position - system->low[c]) / system->size[c];
  const uint32_t fraction = (uint32_t)(int64_t)llrint((x - floor(x)) * 0x1p32);
  const double most = FIXED_POINT_MOMENTUM_MAX;
  const int32_t p = (int32_t)llrint(fmax(-most, fmin(most, momentum / system->quantum)));
  return (uint64_t)(uint32_t)p << 32 | fraction;
}
