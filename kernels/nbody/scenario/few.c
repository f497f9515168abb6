#include "kernels/nbody/scenario/few.h"

#include <math.h>
#include <stdio.h>

static const sim_field escape_fields[] = {
    {SIM_FIELD(nbody_escape, radius), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .dimension = {1, 0, 0},
     .doc = "distance from the centre of mass of all bodies beyond which a body is taken out"},
    {0}};
const sim_schema nbody_escape_schema = {
    .name = "escape", .doc = "bodies that are taken out", .fields = escape_fields, .size = sizeof(nbody_escape)};

void nbody_check_encounters(const nbody_parameters *p, sim_faults *faults) {
  bool any = false;
  for (size_t i = 0; i < p->bodies.count; i++) {
    const sim_item *item = &p->bodies.items[i];
    char path[64];
    snprintf(path, sizeof path, "bodies[%zu].radius", i + 1);
    bool here = item->schema == &nbody_body_schema && ((const nbody_body *)item->data)->radius > 0;
    if (item->schema == &nbody_each_schema) {
      const sim_doubles *radius = &((const nbody_each *)item->data)->radius;
      here = radius->rows > 0;
      for (size_t k = 0; k < radius->rows; k++)
        if (!(radius->data[k] >= 0 && isfinite(radius->data[k]))) {
          sim_faults_add(faults, item->line, path, "expected radii >= 0, got %.9g for body %zu", radius->data[k],
                         k + 1);
          break;
        }
    }
    if (here && !p->merge) sim_faults_add(faults, item->line, path, "has no effect without merge = true");
    any = any || here;
  }
  if (p->merge && !any) sim_faults_add(faults, 0, "merge", "expected bodies with a radius, got none");
  if ((p->merge || p->escape.given) && p->integrate.scheme != NBODY_IAS15)
    sim_faults_add(faults, 0, p->merge ? "merge" : "escape", "expected integrate.scheme = \"ias15\", got \"%s\"",
                   nbody_scheme_names[p->integrate.scheme]);
}

void nbody_check_few(const nbody_parameters *p, sim_faults *faults) {
  const char *name = nbody_scheme_names[p->integrate.scheme];
  const bool law = p->pair != NULL || p->pair_force != NULL;
  if (p->common.precision != SIM_DOUBLE)
    sim_faults_add(faults, 0, "precision", "expected \"double\" with %s, got \"%s\"", name,
                   sim_precision_name((sim_precision)p->common.precision));
  if (p->box.given) sim_faults_add(faults, 0, "integrate.scheme", "%s is for open space: expected no box", name);
  if (p->gravity.solver == NBODY_FMM)
    sim_faults_add(faults, 0, "gravity.solver", "expected \"direct\" or \"auto\" with %s, got \"fmm\"", name);
  if (p->integrate.scheme != NBODY_WHFAST) return;
  if (law)
    sim_faults_add(faults, 0, "integrate.scheme",
                   "whfast moves bodies along Kepler orbits, which %s does not give: expected \"ias15\"",
                   p->pair != NULL ? "pair" : "pair_force");
  if (p->gravity.softening > 0)
    sim_faults_add(faults, 0, "gravity.softening",
                   "expected 0 with whfast, which moves bodies along Kepler orbits, got %.9g", p->gravity.softening);
}
