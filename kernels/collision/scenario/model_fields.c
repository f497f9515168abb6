/* Laws of contacts by name in a scenario (rolling, twisting, cohesion, tangential): field tables, rules, and the
 * numbers that solvers need. */
#include "kernels/collision/scenario/fields.h"
#include "kernels/collision/scenario/options.h"

#include <math.h>
#include <stdio.h>

#define ROLLING "spring_dashpot", "sds", "constant_torque", "viscous"
#define COHESION "dmt", "jkr", "square_well", "liquid_bridge"
static const char *const rolling_names[] = {"none", ROLLING, NULL}, *const rolling_pair[] = {"contact", ROLLING, NULL};
static const char *const twisting_names[] = {"none", ROLLING, "marshall", NULL}, *const twisting_pair[] = {
                                                                                     "contact", ROLLING, "marshall",
                                                                                     NULL};
static const char *const cohesion_names[] = {"none", COHESION, NULL}, *const cohesion_pair[] = {"contact", COHESION,
                                                                                                NULL};
const char *const collision_tangential_names[] = {
    "conserving", "linear_history", "mindlin", "mindlin/force", "mindlin_rescale", "mindlin_rescale/force", NULL};

#define MODEL(T, first, list, text)                                                                                    \
  { FIELD(T, model), .type = SIM_CHOICE, .initial = first, .choices = list, .doc = text }
#define TURNING(first, list, more)                                                                                     \
  MODEL(collision_turning_values, first, list,                                                                         \
        "spring_dashpot: stiffness and damping of the tangential spring times the reduced radius squared; sds: its "   \
        "own; constant_torque: against the turning, without a spring; viscous: in proportion to its rate" more),       \
      OPTIONAL(collision_turning_values, coefficient, SIM_RANGE, INFINITY,                                             \
               "largest torque over normal force and reduced radius R; viscous: torque over normal force, R^2 and "    \
               "rate, in time over length",                                                                            \
               .dimension = {0}),                                                                                      \
      OPTIONAL(collision_turning_values, stiffness, POSITIVE, INFINITY, "sds: torque over relative angle and R^2",     \
               .dimension = {0, 1, -2}),                                                                               \
      OPTIONAL(collision_turning_values, damping, SIM_RANGE, INFINITY,                                                 \
               "sds: torque over relative angular velocity and R^2; none: 0", .dimension = {0, 1, -1})

#define ATTRACTION(first, list)                                                                                        \
  MODEL(collision_cohesion_values, first, list,                                                                        \
        "dmt: a constant pull while they touch; jkr: with hertz, a contact that lasts until it is torn off; "          \
        "square_well: a well about each grain; liquid_bridge: from the first touch to rupture"),                       \
      OPTIONAL(collision_cohesion_values, surface_energy, POSITIVE, INFINITY,                                          \
               "dmt, jkr: energy of each of the two surfaces; the force that parts them is 4 pi (dmt) or 3 pi (jkr) "  \
               "surface_energy R",                                                                                     \
               .dimension = {0, 1, -2}),                                                                               \
      OPTIONAL(collision_cohesion_values, energy, SIM_RANGE, INFINITY, "square_well: depth", .dimension = {2, 1, -2}), \
      OPTIONAL(collision_cohesion_values, range, POSITIVE, INFINITY, "square_well: gap up to which it reaches",        \
               .dimension = LENGTH),                                                                                   \
      OPTIONAL(                                                                                                        \
          collision_cohesion_values, edge, POSITIVE, INFINITY,                                                         \
          "square_well: width of its edge, within `range`, in which the force 6 energy/edge u (1 - u) acts; none: a "  \
          "fourth of range",                                                                                           \
          .dimension = LENGTH),                                                                                        \
      OPTIONAL(collision_cohesion_values, surface_tension, SIM_RANGE, INFINITY, "liquid_bridge: of the liquid",        \
               .dimension = {0, 1, -2}),                                                                               \
      {FIELD(collision_cohesion_values, contact_angle),                                                                \
       .type = SIM_REAL,                                                                                               \
       .flags = SIM_RANGE,                                                                                             \
       .min = 0,                                                                                                       \
       .max = COLLISION_PI / 2,                                                                                        \
       .initial = "none",                                                                                              \
       .keyword = "none",                                                                                              \
       .doc = "liquid_bridge: of liquid and grain, in radians; none: 0"},                                              \
      OPTIONAL(collision_cohesion_values, volume, POSITIVE, INFINITY, "liquid_bridge: of each bridge",                 \
               .dimension = {3, 0, 0})

#define MORE "; marshall: of a disc of contact that slips with `friction`, without numbers of its own"
#define KEPT ", as `contact` has it"
static const sim_field rolling_fields[] = {TURNING("none", rolling_names, ""), {0}};
static const sim_field rolling_pair_fields[] = {TURNING("contact", rolling_pair, ""), {0}};
static const sim_field twisting_fields[] = {TURNING("none", twisting_names, MORE), {0}};
static const sim_field twisting_pair_fields[] = {TURNING("contact", twisting_pair, MORE), {0}};
static const sim_field cohesion_fields[] = {ATTRACTION("none", cohesion_names), {0}};
static const sim_field cohesion_pair_fields[] = {ATTRACTION("contact", cohesion_pair), {0}};
const sim_schema collision_rolling_schema = {
    SIM_SCHEMA(collision_turning_values, "rolling", "friction against rolling, by name", rolling_fields)};
const sim_schema collision_rolling_of_pair = {
    SIM_SCHEMA(collision_turning_values, "rolling", "friction of a pair against rolling" KEPT, rolling_pair_fields)};
const sim_schema collision_twisting_schema = {
    SIM_SCHEMA(collision_turning_values, "twisting", "friction against twist, by name", twisting_fields)};
const sim_schema collision_twisting_of_pair = {
    SIM_SCHEMA(collision_turning_values, "twisting", "friction of a pair against twist" KEPT, twisting_pair_fields)};
const sim_schema collision_cohesion_schema = {
    SIM_SCHEMA(collision_cohesion_values, "cohesion", "attraction of grains, by name", cohesion_fields)};
const sim_schema collision_cohesion_of_pair = {
    SIM_SCHEMA(collision_cohesion_values, "cohesion", "attraction of a pair of materials" KEPT, cohesion_pair_fields)};

/* ---- rules ---- */

void collision_models_clear(collision_values *v) {
  collision_turning_values *turning[2] = {&v->rolling, &v->twisting};
  collision_cohesion_values *c = &v->cohesion;
  for (int k = 0; k < 2; k++)
    if (!turning[k]->given && turning[k]->model == COLLISION_NO_TURNING)
      turning[k]->coefficient = turning[k]->stiffness = turning[k]->damping = NAN;
  if (c->given || c->model != COLLISION_NO_COHESION) return;
  c->surface_energy = c->energy = c->range = c->edge = c->surface_tension = c->contact_angle = c->volume = NAN;
}

static bool has_numbers(const collision_turning_values *v) {
  return !isnan(v->coefficient) || !isnan(v->stiffness) || !isnan(v->damping);
}

static bool attracts(const collision_cohesion_values *c) {
  return !isnan(c->surface_energy) || !isnan(c->energy) || !isnan(c->range) || !isnan(c->edge) ||
         !isnan(c->surface_tension) || !isnan(c->contact_angle) || !isnan(c->volume);
}

static void merge_turning(collision_turning_values *own, const collision_turning_values *general) {
  if (own->model == COLLISION_NO_TURNING) own->model = general->model;
  if (isnan(own->coefficient)) own->coefficient = general->coefficient;
  if (isnan(own->stiffness)) own->stiffness = general->stiffness;
  if (isnan(own->damping)) own->damping = general->damping;
}

void collision_models_merge(collision_values *own, const collision_values *general) {
  collision_cohesion_values *c = &own->cohesion;
  const collision_cohesion_values *from = &general->cohesion;
  if (isnan(own->rolling_friction)) merge_turning(&own->rolling, &general->rolling);
  if (isnan(own->twisting_friction)) merge_turning(&own->twisting, &general->twisting);
  if (!isnan(own->surface_energy)) return;
  if (c->model == COLLISION_NO_COHESION) c->model = from->model;
  if (isnan(c->surface_energy)) c->surface_energy = from->surface_energy;
  if (isnan(c->energy)) c->energy = from->energy;
  if (isnan(c->range)) c->range = from->range;
  if (isnan(c->edge)) c->edge = from->edge;
  if (isnan(c->surface_tension)) c->surface_tension = from->surface_tension;
  if (isnan(c->contact_angle)) c->contact_angle = from->contact_angle;
  if (isnan(c->volume)) c->volume = from->volume;
}

typedef struct fault_place {
  const char *path;
  int line;
  sim_faults *faults;
} fault_place;

#define FAULT(place, key, ...)                                                                                         \
  do {                                                                                                                 \
    char whole[128];                                                                                                   \
    snprintf(whole, sizeof whole, "%s.%s", (place)->path, key);                                                        \
    sim_faults_add((place)->faults, (place)->line, whole, __VA_ARGS__);                                                \
  } while (0)

static void check_turning(const fault_place *at, const collision_turning_values *v, const char *table, double friction,
                          double sliding) {
  char key[48];
#define KEY(name) (snprintf(key, sizeof key, "%s.%s", table, name), key)
  const bool sds = v->model == COLLISION_SDS, given = !isnan(v->coefficient);
  if (!isnan(friction) && (v->model != COLLISION_NO_TURNING || given))
    FAULT(at, table, "expected one of %s_friction and %s, got both", table, table);
  if (v->model == COLLISION_NO_TURNING && (given || !isnan(v->stiffness) || !isnan(v->damping)))
    FAULT(at, KEY("model"), "missing: the numbers beside it need a model");
  if (v->model == COLLISION_NO_TURNING) return;
  if (v->model == COLLISION_MARSHALL) {
    if (given) FAULT(at, KEY("coefficient"), "has no meaning with model = \"marshall\": it follows `friction`");
    if (!(sliding > 0)) FAULT(at, KEY("model"), "\"marshall\" needs friction above 0");
  } else if (!given) {
    FAULT(at, KEY("coefficient"), "missing: the model needs it");
  }
  if (sds && isnan(v->stiffness)) FAULT(at, KEY("stiffness"), "missing: model = \"sds\" needs it");
  if (!sds && (!isnan(v->stiffness) || !isnan(v->damping)))
    FAULT(at, KEY(isnan(v->stiffness) ? "damping" : "stiffness"), "has a meaning with model = \"sds\" alone");
#undef KEY
}

static void check_cohesion(const fault_place *at, const collision_values *v, int law, bool limited) {
  const collision_cohesion_values *c = &v->cohesion;
  const struct {
    const char *key;
    double value;
    int models; /* set of models, as bits */
    bool needed;
  } keys[] = {{"surface_energy", c->surface_energy, 1 << COLLISION_DMT | 1 << COLLISION_JKR, true},
              {"energy", c->energy, 1 << COLLISION_SQUARE_WELL, true},
              {"range", c->range, 1 << COLLISION_SQUARE_WELL, true},
              {"edge", c->edge, 1 << COLLISION_SQUARE_WELL, false},
              {"surface_tension", c->surface_tension, 1 << COLLISION_BRIDGE, true},
              {"contact_angle", c->contact_angle, 1 << COLLISION_BRIDGE, false},
              {"volume", c->volume, 1 << COLLISION_BRIDGE, true}};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    char key[48];
    const bool fits = keys[k].models >> c->model & 1;
    snprintf(key, sizeof key, "cohesion.%s", keys[k].key);
    if (!isnan(keys[k].value) && !fits) FAULT(at, key, "has no meaning with model = \"%s\"", cohesion_names[c->model]);
    if (isnan(keys[k].value) && fits && keys[k].needed)
      FAULT(at, key, "missing: model = \"%s\" needs it", cohesion_names[c->model]);
  }
  if (c->model != COLLISION_NO_COHESION && !isnan(v->surface_energy))
    FAULT(at, "cohesion", "expected one of surface_energy and cohesion, got both");
  if (c->model == COLLISION_JKR && law != COLLISION_HERTZ) FAULT(at, "cohesion.model", "\"jkr\" needs law = \"hertz\"");
  if (c->model == COLLISION_JKR && limited)
    FAULT(at, "cohesion.model", "\"jkr\" pulls, which limit_damping = true excludes");
  if (c->edge > c->range) FAULT(at, "cohesion.edge", "expected at most range, %.9g, got %.9g", c->range, c->edge);
}

void collision_check_models(const collision_contact *contact, const collision_values *own, const collision_values *v,
                            int line, const char *path, sim_faults *faults) {
  const fault_place at = {path, line, faults};
  const collision_values *general = &contact->values;
  check_turning(&at, &v->rolling, "rolling", v->rolling_friction, v->friction);
  check_turning(&at, &v->twisting, "twisting", v->twisting_friction, v->friction);
  check_cohesion(&at, v, contact->law, contact->limit_damping);
  if (own != general) { /* in a pair nothing can be switched off by name, or given in two ways */
    if (!isnan(own->rolling_friction) && general->rolling.model)
      FAULT(&at, "rolling_friction", "contact.rolling has a model: expected rolling = { coefficient = ... }");
    if (!isnan(own->twisting_friction) && general->twisting.model)
      FAULT(&at, "twisting_friction", "contact.twisting has a model: expected twisting = { coefficient = ... }");
    if (!isnan(own->surface_energy) && general->cohesion.model)
      FAULT(&at, "surface_energy", "contact.cohesion has a model: expected the numbers of cohesion = { ... }");
  }
  if (own != general && own->rolling.given && !own->rolling.model && !has_numbers(&own->rolling))
    FAULT(&at, "rolling", "a pair keeps the model of `contact`: expected coefficient = 0 for no rolling friction");
  if (own != general && own->twisting.given && !own->twisting.model && !has_numbers(&own->twisting))
    FAULT(&at, "twisting", "a pair keeps the model of `contact`: expected coefficient = 0 for no twisting friction");
  if (own != general && own->cohesion.given && !own->cohesion.model && !attracts(&own->cohesion))
    FAULT(&at, "cohesion", "a pair keeps the model of `contact`: expected numbers of its own");
  const int models[3][2] = {{own->rolling.model, general->rolling.model},
                            {own->twisting.model, general->twisting.model},
                            {own->cohesion.model, general->cohesion.model}};
  static const char *const names[3] = {"rolling.model", "twisting.model", "cohesion.model"};
  for (int k = 0; k < 3; k++)
    if (models[k][0] != 0 && models[k][0] != models[k][1])
      FAULT(&at, names[k], "expected the model of `contact`: a run has one");
}

void collision_check_named(const collision_contact *contact, sim_faults *faults) {
  const collision_values *v = &contact->values;
  const bool own = contact->law == COLLISION_CUSTOM;
  const int t = contact->tangential;
  if (own && (v->rolling.model || v->twisting.model))
    sim_faults_add(faults, 0, v->rolling.model ? "contact.rolling" : "contact.twisting",
                   "needs law = \"linear\" or \"hertz\"; rolling_friction and twisting_friction act with \"own\" too");
  if (own && v->cohesion.model)
    sim_faults_add(faults, 0, "contact.cohesion", "has no effect with law = \"own\": put the pull into contact.force");
  const int needed = t >= COLLISION_MINDLIN ? COLLISION_HERTZ : COLLISION_LINEAR;
  bool rough = v->friction > 0;
  for (size_t i = 0; i < contact->pairs.count; i++)
    rough = rough || ((const collision_pair *)contact->pairs.items[i].data)->values.friction > 0;
  if (t != COLLISION_CONSERVING && contact->law != needed)
    sim_faults_add(faults, 0, "contact.tangential", "\"%s\" needs law = \"%s\"", collision_tangential_names[t],
                   needed == COLLISION_HERTZ ? "hertz" : "linear");
  else if (t != COLLISION_CONSERVING && !rough)
    sim_faults_add(faults, 0, "contact.tangential",
                   "has no effect without friction: expected contact.friction above 0");
}

/* ---- for solvers ---- */

static double or_none(double x) { return isnan(x) ? 0 : x; }

void collision_models_fill(const collision_values *v, collision_law *law) {
  const collision_cohesion_values *c = &v->cohesion;
  if (v->rolling.model != COLLISION_NO_TURNING) law->rolling = or_none(v->rolling.coefficient);
  if (v->twisting.model != COLLISION_NO_TURNING) law->twisting = or_none(v->twisting.coefficient);
  law->roll[0] = or_none(v->rolling.stiffness), law->roll[1] = or_none(v->rolling.damping);
  law->twist[0] = or_none(v->twisting.stiffness), law->twist[1] = or_none(v->twisting.damping);
  switch (c->model) {
  case COLLISION_DMT: law->pull = 4 * COLLISION_PI * c->surface_energy; break;
  case COLLISION_JKR:
    law->bond[0] = 4 * COLLISION_PI * c->surface_energy;
    law->bond[1] = cbrt(law->bond[0] / law->E);
    law->bond[2] = sqrt(law->bond[1]);
    break;
  case COLLISION_SQUARE_WELL:
    law->bond[0] = c->energy;
    law->bond[1] = c->range;
    law->bond[2] = isnan(c->edge) ? c->range / 4 : c->edge;
    break;
  case COLLISION_BRIDGE: {
    /* rupture: G. Lian, C. Thornton and M. J. Adams, J. Colloid Interface Sci. 161 (1993) 138 */
    const double angle = or_none(c->contact_angle);
    law->bond[0] = 4 * COLLISION_PI * c->surface_tension * cos(angle);
    law->bond[1] = sqrt(2 / c->volume);
    law->bond[2] = (1 + 0.5 * angle) * cbrt(c->volume);
    break;
  }
  default: break;
  }
}

/* Whether a model of rolling or twist stores an angle. */
static bool stores(int model) {
  return model == COLLISION_SPRING_DASHPOT || model == COLLISION_SDS || model == COLLISION_MARSHALL;
}

void collision_models_choose(const collision_contact *contact, collision_options *o) {
  const collision_values *v = &contact->values;
  collision_models *m = &o->models;
  *m = (collision_models){contact->tangential, v->rolling.model, v->twisting.model, v->cohesion.model};
  o->named = m->tangential != COLLISION_CONSERVING || m->rolling > COLLISION_SPRING_DASHPOT ||
             m->twisting > COLLISION_SPRING_DASHPOT || m->cohesion > COLLISION_DMT || o->heated;
  if (!o->named) return;
  for (int a = 0; a < o->materials; a++)
    for (int b = 0; b < o->materials; b++) {
      if (m->rolling == COLLISION_NO_TURNING && o->law[a][b].rolling > 0) m->rolling = COLLISION_SPRING_DASHPOT;
      if (m->twisting == COLLISION_NO_TURNING && o->law[a][b].twisting > 0) m->twisting = COLLISION_SPRING_DASHPOT;
    }
  const bool bond =
      m->cohesion == COLLISION_JKR || m->cohesion == COLLISION_BRIDGE || m->tangential >= COLLISION_MINDLIN;
  o->springs = !stores(m->rolling) && !stores(m->twisting) ? 4 : bond ? 8 : 7;
}

void collision_reach_set(collision_options *o) {
  o->reach = 0;
  for (int a = 0; a < o->materials && o->named; a++)
    for (int b = 0; b < o->materials; b++) {
      const double *bond = o->law[a][b].bond;
      double reach = 0;
      if (o->models.cohesion == COLLISION_JKR) reach = 0.4724703937105774 * cbrt(o->radius_most) * bond[1] * bond[1];
      if (o->models.cohesion == COLLISION_SQUARE_WELL) reach = bond[1];
      if (o->models.cohesion == COLLISION_BRIDGE) reach = bond[2];
      o->reach = fmax(o->reach, reach * (1 + 1e-6)); /* margin for single precision */
    }
}

sim_status collision_reach_check(const collision_options *o, double smallest) {
  if (!(o->reach > smallest)) return SIM_OK;
  const char *key = o->models.cohesion == COLLISION_JKR           ? "surface_energy"
                    : o->models.cohesion == COLLISION_SQUARE_WELL ? "range"
                                                                  : "volume";
  return sim_fail(SIM_ERR_SCENARIO,
                  "contact.cohesion.%s: expected a bond that reaches at most the smallest radius, %.9g, beyond the "
                  "surfaces, got %.9g",
                  key, smallest, o->reach);
}

/* Duration of a contact under JKR for which a step is short enough for the neck. Where two grains touch, the force
 * jumps by 2/3 P, and where they part by 5/12 P, P = E c R = 4 pi gamma R. Steps know the position of a jump to v dt,
 * so that the energy errs by at most half of that, (1/3 + 5/24) P v dt, while a contact loses 0.331 P d, d = (R
 * c^2)^(1/3) (see models.inc). At twice the speed of two grains that barely part, m v^2/2 = 0.331 P d, the error is
 * 2.66 dt root(P/(m d)) of the loss; at higher speeds a smaller share of the kinetic energy. An error of
 * 2.5/steps_per_contact needs a duration of 2.5/2.66 root(m d/P). */
static double neck_time(const collision_law *law, double m, double radius) {
  const double d = cbrt(radius) * law->bond[1] * law->bond[1];
  return 0.94 * sqrt(m * d / (law->bond[0] * radius));
}

double collision_named_time(const collision_options *o, const collision_law *law, double m, double radius,
                            double *most) {
  double least = INFINITY;
  const int models[2] = {o->models.rolling, o->models.twisting};
  const double inertia = 0.4 * m; /* over R^2; for two spheres it is larger */
  for (int k = 0; k < 2 && o->named; k++) {
    const double *of = k ? law->twist : law->roll;
    if (models[k] != COLLISION_SDS) continue;
    if (of[0] > 0) least = fmin(least, COLLISION_PI * sqrt(inertia / of[0]));
    if (of[1] > 0) *most = fmin(*most, inertia / (3 * of[1]));
  }
  if (o->models.cohesion == COLLISION_SQUARE_WELL && law->bond[0] > 0)
    least = fmin(least, COLLISION_PI * law->bond[2] * sqrt(m / (6 * law->bond[0])));
  if (o->models.cohesion == COLLISION_JKR && law->bond[0] > 0) least = fmin(least, neck_time(law, m, radius));
  *most = fmin(*most, 0.1 * least);
  return least;
}
