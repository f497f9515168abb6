/* Hill's equations and self-gravity in a scenario. */
#include "kernels/collision/scenario/fields.h"
#include "kernels/collision/scenario/options.h"
#include "kernels/collision/scenario/sizes.h"

#include <math.h>
#include <stdio.h>

static const sim_field hill_fields[] = {
    OPTIONAL(collision_hill, omega, POSITIVE, INFINITY, "angular frequency of the orbit", .dimension = {0, 0, -1}),
    {FIELD(collision_hill, kappa), .type = SIM_REAL, .flags = POSITIVE, .max = INFINITY, .initial = "omega",
     .keyword = "omega", .dimension = {0, 0, -1},
     .doc = "epicyclic frequency, at most 2 omega; omega: that of a Keplerian orbit"},
    {FIELD(collision_hill, vertical), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "omega",
     .keyword = "omega", .dimension = {0, 0, -1}, .doc = "vertical frequency; 0: no vertical force"},
    {0}};
const sim_schema collision_hill_schema = {
    SIM_SCHEMA(collision_hill, "hill", "frame that turns with a circular orbit", hill_fields)};

static const sim_field self_gravity_fields[] = {
    OPTIONAL(collision_self_gravity, G, POSITIVE, INFINITY, "constant of gravity", .dimension = {3, -1, -2}),
    {FIELD(collision_self_gravity, softening), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = LENGTH, .doc = "Plummer's softening length"},
    {FIELD(collision_self_gravity, error), .type = SIM_REAL, .flags = SIM_RANGE, .max = 0.1, .initial = "1e-3",
     .doc = "usual relative error of an acceleration by cells of grains; 0: direct sums"},
    {FIELD(collision_self_gravity, images), .type = SIM_INT, .flags = SIM_RANGE, .max = 16, .initial = "1",
     .doc = "images of the box on each side: a grain is attracted by all within images + 1/2 sides of the box from it"},
    {FIELD(collision_self_gravity, step), .type = SIM_REAL, .flags = POSITIVE, .max = INFINITY, .initial = "auto",
     .keyword = "auto", .dimension = TIME,
     .doc = "time for which accelerations are kept, rounded down to steps; auto: 0.01 / omega with `hill`, else one "
            "step"},
    {0}};
const sim_schema collision_self_gravity_schema = {
    SIM_SCHEMA(collision_self_gravity, "self_gravity", "attraction of the grains by each other", self_gravity_fields)};

/* The displacement of images at the start: only where there is a shear, and grains that are placed with it in mind. */
static void check_offset(const collision_parameters *p, sim_faults *faults) {
  bool placed = true;
  if (isnan(p->box.shear_offset) || p->box.shear_offset == 0) return;
  if (p->box.shear_rate == 0 && isnan(p->hill.omega))
    sim_faults_add(faults, 0, "box.shear_offset", "has no effect without box.shear_rate or hill");
  for (size_t i = 0; i < p->grains.count; i++) {
    const sim_schema *schema = p->grains.items[i].schema;
    placed = placed && schema != &collision_random_spheres_schema && schema != &collision_clumps_schema;
  }
  if (!placed)
    sim_faults_add(faults, 0, "box.shear_offset",
                   "expected grains from a file or by their positions: random ones are placed for images in line");
}

void collision_check_hill(collision_parameters *p, sim_faults *faults) {
  const collision_hill *h = &p->hill;
  const collision_self_gravity *g = &p->self_gravity;
  const int *s = p->box.sides;
  check_offset(p, faults);
  if (isnan(h->omega) && h->given) sim_faults_add(faults, 0, "hill.omega", "missing: hill needs it");
  if (!isnan(h->omega)) {
    if (h->kappa > 2 * h->omega)
      sim_faults_add(faults, 0, "hill.kappa", "expected at most 2 omega, %.9g, got %.9g", 2 * h->omega, h->kappa);
    if (s[0] != COLLISION_PERIODIC || s[2] != COLLISION_PERIODIC)
      sim_faults_add(faults, 0, "hill", "expected a box that is periodic in x (outwards) and in y (along the orbit)");
    if (p->box.shear_rate != 0)
      sim_faults_add(faults, 0, "box.shear_rate", "leave it out: hill gives the shear of the box");
    if (p->walls.count > 0) sim_faults_add(faults, 0, "walls", "not possible with hill, but for sides of the box");
    if (collision_flow_varies(p)) sim_faults_add(faults, 0, "hill", "expected neither insert nor remove nor an outlet");
  }
  if (isnan(g->G) && g->given) sim_faults_add(faults, 0, "self_gravity.G", "missing: self_gravity needs it");
  if (isnan(g->G)) return;
  if (g->images != 1 && isnan(h->omega))
    sim_faults_add(faults, 0, "self_gravity.images", "has no meaning without hill: an open box has no images");
  if (collision_flow_varies(p))
    sim_faults_add(faults, 0, "self_gravity", "expected neither insert nor remove nor an outlet");
  bool periodic = s[4] == COLLISION_PERIODIC;
  for (int c = 0; c < 2; c++) periodic = periodic || (isnan(h->omega) && s[2 * c] == COLLISION_PERIODIC);
  if (periodic)
    sim_faults_add(faults, 0, "self_gravity",
                   "expected a box without periodic sides, or hill and a z that is not periodic: only images in x and "
                   "y of a flat ring have a finite force");
}

int64_t collision_gravity_every(const collision_parameters *p, double dt) {
  const double step =
      isnan(p->self_gravity.step) ? (isnan(p->hill.omega) ? dt : 0.01 / p->hill.omega) : p->self_gravity.step;
  return (int64_t)fmax(1, fmin(floor(step / dt * (1 + 1e-9)), 1e9));
}

/* Opening for an error: the median errors of a flat patch of 1000 grains are 0.002, 3e-4 and 4e-5 at openings of 0.41,
 * 0.23 and 0.13. Below 1, so that a grain is in none of the cells that it takes as a whole. */
double collision_gravity_opening(double error) { return fmin(0.95, 1.8 * pow(error, 0.25)); }

sim_status collision_hill_check_step(const collision_options *o, double dt) {
  const double angle = 0.25 / fmax(o->omega, fmax(o->kappa, o->vertical));
  const double most = o->shear != 0 ? fmin(angle, o->size[1] / (fabs(o->shear) * o->size[0])) : angle;
  if (!o->hill || !(dt > most)) return SIM_OK;
  return sim_fail(
      SIM_ERR_SCENARIO,
      "integrate.dt: expected at most %.9g, got %.9g: hill needs 0.25 over its highest frequency, and grains "
      "that do not flow past half of the box in a step",
      most, dt);
}

void collision_hill_fill(const collision_parameters *p, collision_options *o) {
  const collision_hill *h = &p->hill;
  o->attracted = !isnan(p->self_gravity.G);
  o->pushed = p->pushed;
  o->across = 1;
  o->along = 0;
  if (isnan(h->omega)) return;
  o->hill = true;
  o->across = 0;
  o->along = 1;
  o->omega = h->omega;
  o->kappa = isnan(h->kappa) ? h->omega : h->kappa;
  o->vertical = isnan(h->vertical) ? h->omega : h->vertical;
  o->shear = -2 * o->omega + 0.5 * o->kappa * o->kappa / o->omega;
}
