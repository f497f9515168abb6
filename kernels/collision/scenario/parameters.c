/* The model's parameters: field tables, and the rules between fields. */
#include "kernels/collision/scenario/fields.h"
#include "kernels/collision/scenario/options.h"
#include "kernels/collision/scenario/sizes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- contacts ---- */

static const sim_field value_fields[] = {
    OPTIONAL(collision_values, stiffness, POSITIVE, INFINITY, "linear: force over overlap", .dimension = {0, 1, -2}),
    OPTIONAL(collision_values, contact_time, POSITIVE, INFINITY, "linear: duration of a contact, instead of stiffness",
             .dimension = TIME),
    OPTIONAL(collision_values, young, POSITIVE, INFINITY, "hertz: Young's modulus", .dimension = PRESSURE),
    {FIELD(collision_values, poisson), .type = SIM_REAL, .flags = SIM_RANGE, .min = 0, .max = 0.5, .initial = "none",
     .keyword = "none", .doc = "hertz: Poisson's ratio; none: 0.3"},
    OPTIONAL(
        collision_values, restitution, POSITIVE, 1,
        "coefficient of restitution: speed after a head-on collision over the speed before; 1 without this and damping",
        .dimension = {0}),
    OPTIONAL(collision_values, damping, SIM_RANGE, INFINITY, "linear: damping force over speed, instead of restitution",
             .dimension = {0, 1, -1}),
    OPTIONAL(collision_values, tangential_stiffness, POSITIVE, INFINITY,
             "linear: ratio of tangential to normal stiffness, and of damping; none: 2/7", .dimension = {0}),
    OPTIONAL(collision_values, friction, SIM_RANGE, INFINITY, "Coulomb's coefficient of friction; none: 0",
             .dimension = {0}),
    OPTIONAL(collision_values, rolling_friction, SIM_RANGE, INFINITY,
             "largest rolling torque over normal force and reduced radius; none: 0", .dimension = {0}),
    OPTIONAL(collision_values, twisting_friction, SIM_RANGE, INFINITY,
             "the same for the twisting torque about the normal; none: 0", .dimension = {0}),
    OPTIONAL(collision_values, surface_energy, SIM_RANGE, INFINITY,
             "cohesion: attraction 4 pi surface_energy R while two grains touch (DMT); none: 0",
             .dimension = {0, 1, -2}),
    {0}};
static const sim_schema values_schema = {
    SIM_SCHEMA(collision_values, "values", "constants of a pair of materials", value_fields)};

/* Tables of laws by name. For a pair there is no word for "none", because a pair keeps the models of `contact`. */
#define NAMED(T, what)                                                                                                 \
  {.name = "rolling",                                                                                                  \
   .offset = offsetof(T, values.rolling),                                                                              \
   .type = SIM_STRUCT,                                                                                                 \
   .flags = SIM_OPTIONAL,                                                                                              \
   .table = &collision_rolling_##what,                                                                                 \
   .doc = "friction against rolling by name, instead of rolling_friction"},                                            \
      {.name = "twisting",                                                                                             \
       .offset = offsetof(T, values.twisting),                                                                         \
       .type = SIM_STRUCT,                                                                                             \
       .flags = SIM_OPTIONAL,                                                                                          \
       .table = &collision_twisting_##what,                                                                            \
       .doc = "friction against twist by name, instead of twisting_friction"},                                         \
  {                                                                                                                    \
    .name = "cohesion", .offset = offsetof(T, values.cohesion), .type = SIM_STRUCT, .flags = SIM_OPTIONAL,             \
    .table = &collision_cohesion_##what, .doc = "attraction by name, instead of surface_energy"                        \
  }

static const sim_field pair_fields[] = {
    {FIELD(collision_pair, a), .type = SIM_STRING, .flags = SIM_REQUIRED, .doc = "a material of grains or walls"},
    {FIELD(collision_pair, b), .type = SIM_STRING, .flags = SIM_REQUIRED, .doc = "the other material, or the same"},
    NAMED(collision_pair, of_pair),
    {0}};
static const sim_schema pair_schema = {
    SIM_SCHEMA(collision_pair, "", "constants of two materials; those not given are those of `contact`", pair_fields),
    .base = &values_schema};
static const sim_schema *const pair_variants[] = {&pair_schema, NULL};

static const sim_signature force_signature = {.inputs = (const char *const[]){COLLISION_FORCE_INPUTS, NULL},
                                              .outputs = {1},
                                              .must_depend = (const char *const[]){"overlap", NULL}};
static const sim_signature external_signature = {.inputs = (const char *const[]){"x", "y", "z", "t", NULL},
                                                 .outputs = {1, 3},
                                                 .returns = "potential, or acceleration ax, ay, az"};
static const sim_signature speed_signature = {
    .inputs = (const char *const[]){COLLISION_SPEED_INPUTS, NULL}, .outputs = {1}, .returns = "restitution"};
static const char *const law_names[] = {"linear", "hertz", "own", NULL};
static const sim_field contact_fields[] = {
    NAMED(collision_contact, schema),
    {FIELD(collision_contact, law), .type = SIM_CHOICE, .initial = "linear", .choices = law_names,
     .doc = "linear: spring and dashpot; hertz: Hertz and Mindlin; own: custom law `force`"},
    {FIELD(collision_contact, limit_damping), .type = SIM_BOOL, .initial = "false",
     .doc = "limits the dashpot so that a contact never attracts. The effective restitution is then larger than "
            "`restitution`: 0.9 gives 0.902, 0.6 gives 0.632, 0.3 gives 0.397"},
    {FIELD(collision_contact, tangential), .type = SIM_CHOICE, .initial = "conserving",
     .choices = collision_tangential_names,
     .doc = "tangential spring; conserving: gains no energy while its stiffness changes; others: as in LAMMPS, "
            "linear_history with law = \"linear\", the others with \"hertz\""},
    {FIELD(collision_contact, overlap_limit), .type = SIM_REAL, .flags = POSITIVE, .max = 1, .initial = "0.05",
     .doc = "largest overlap at the start, over the smaller radius, and the one of which a run warns; more than 0.05 "
            "with law = \"own\" alone, whose step then follows the force up to there"},
    {FIELD(collision_contact, force), .type = SIM_FUNCTION, .signature = &force_signature,
     .doc = "own: normal force (> 0: repulsive) as a function of overlap, its rate (> 0: approaching), reduced radius "
            "and mass; stiffness or contact_time sets time step and tangential springs"},
    {FIELD(collision_contact, restitution_law), .type = SIM_FUNCTION, .signature = &speed_signature,
     .doc = "linear: coefficient of restitution as a function of the speed of the impact along the normal, instead of "
            "restitution; above 0 and at most 1"},
    {FIELD(collision_contact, pairs), .type = SIM_LIST, .variants = pair_variants,
     .doc = "pairs of materials with their own constants"},
    {0}};
const sim_schema collision_contact_schema = {SIM_SCHEMA(collision_contact, "contact", "contact law", contact_fields),
                                             .base = &values_schema};

static const sim_field integrate_fields[] = {
    {FIELD(collision_integrate, dt), .type = SIM_REAL, .flags = POSITIVE, .max = INFINITY, .initial = "auto",
     .keyword = "auto", .dimension = TIME,
     .doc = "time step; auto: duration of the shortest contact (hertz: 5 Rayleigh times) over steps_per_contact"},
    {FIELD(collision_integrate, steps_per_contact), .type = SIM_REAL, .flags = SIM_RANGE, .min = 10, .max = 1e6,
     .initial = "50", .doc = "time steps in the shortest contact, for dt = \"auto\""},
    {FIELD(collision_integrate, skin), .type = SIM_REAL, .flags = POSITIVE, .max = INFINITY, .initial = "auto",
     .keyword = "auto", .dimension = LENGTH, .doc = "gap up to which neighbours are listed; does not change results"},
    {FIELD(collision_integrate, t_end), .type = SIM_REAL, .flags = SIM_REQUIRED | POSITIVE | SIM_MAY_CHANGE,
     .max = INFINITY, .dimension = TIME, .doc = "end time; runs start at t = 0"},
    {0}};
static const sim_schema integrate_schema = {
    SIM_SCHEMA(collision_integrate, "integrate", "time stepping", integrate_fields)};

static const sim_signature temperature_signature = {
    .inputs = (const char *const[]){"x", "y", "z", NULL}, .outputs = {1}, .returns = "temperature"};
static const sim_field heat_fields[] = {
    OPTIONAL(collision_heat, conductivity, POSITIVE, INFINITY,
             "of the grains: two that touch in a disc of radius a conduct 2 conductivity a times the difference of "
             "their temperatures",
             .dimension = {1, 1, -3}),
    OPTIONAL(collision_heat, capacity, POSITIVE, INFINITY, "heat of a mass over its temperature",
             .dimension = {2, 0, -2}),
    {FIELD(collision_heat, temperature), .type = SIM_FUNCTION, .signature = &temperature_signature,
     .doc = "temperature of a grain at the start by its place; none: 0"},
    {0}};
static const sim_schema heat_schema = {
    SIM_SCHEMA(collision_heat, "heat", "heat that touching grains conduct", heat_fields)};

static const sim_field fields[] = {
    {FIELD(collision_parameters, box), .type = SIM_STRUCT, .flags = SIM_REQUIRED, .table = &collision_box_schema,
     .doc = "the box"},
    {FIELD(collision_parameters, grains), .type = SIM_LIST, .variants = collision_grain_variants,
     .doc = "groups of grains, or single ones as { radius = , position = , velocity = }"},
    {FIELD(collision_parameters, walls), .type = SIM_LIST, .variants = collision_wall_variants,
     .doc = "walls other than those of the box"},
    {FIELD(collision_parameters, contact), .type = SIM_STRUCT, .flags = SIM_REQUIRED,
     .table = &collision_contact_schema, .doc = "contact law"},
    {FIELD(collision_parameters, gravity), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}",
     .dimension = {1, 0, -2}, .doc = "acceleration of all grains"},
    {FIELD(collision_parameters, external), .type = SIM_FUNCTION, .signature = &external_signature,
     .doc = "external field: acceleration, or potential whose negative gradient is the acceleration"},
    {FIELD(collision_parameters, hill), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &collision_hill_schema,
     .doc = "Hill's equations: a patch near a circular orbit, x outwards, y along it, with images that shear"},
    {FIELD(collision_parameters, self_gravity), .type = SIM_STRUCT, .flags = SIM_OPTIONAL,
     .table = &collision_self_gravity_schema,
     .doc = "attraction of the grains by each other, and by images of a patch with `hill`"},
    {FIELD(collision_parameters, heat), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &heat_schema,
     .doc = "heat that touching grains conduct: temperatures of grains"},
    {FIELD(collision_parameters, merge), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &collision_merge_schema,
     .doc = "grains that become one where they touch: masses, momenta, angular momenta and volumes add"},
    {FIELD(collision_parameters, insert), .type = SIM_LIST, .variants = collision_inlet_variants,
     .doc = "grains inserted during the run"},
    {FIELD(collision_parameters, remove), .type = SIM_LIST, .variants = collision_region_variants,
     .doc = "boxes whose grains are removed"},
    {FIELD(collision_parameters, gates), .type = SIM_LIST, .variants = collision_gate_variants,
     .doc = "planes or discs through which grains are counted, in the table `flow`"},
    {FIELD(collision_parameters, profile), .type = SIM_STRUCT, .flags = SIM_OPTIONAL,
     .table = &collision_profile_schema, .doc = "means over slices of the box"},
    {FIELD(collision_parameters, integrate), .type = SIM_STRUCT, .flags = SIM_REQUIRED, .table = &integrate_schema,
     .doc = "time stepping"},
    {0}};
const sim_schema collision_schema = {SIM_SCHEMA(collision_parameters, "collision",
                                                "collisions and flow of spherical grains (discrete element method)",
                                                fields),
                                     .base = &sim_common_schema};

/* ---- rules ---- */

/* Returns the values of `own`, completed by those of `general`. */
collision_values collision_values_merged(const collision_values *general, const collision_values *own) {
  collision_values v = *own;
  if (isnan(v.stiffness) && isnan(v.contact_time)) {
    v.stiffness = general->stiffness;
    v.contact_time = general->contact_time;
  }
  if (isnan(v.restitution) && isnan(v.damping)) {
    v.restitution = general->restitution;
    v.damping = general->damping;
  }
#define TAKE(member)                                                                                                   \
  if (isnan(v.member)) v.member = general->member
  TAKE(young);
  TAKE(poisson);
  TAKE(tangential_stiffness);
  TAKE(friction);
  if (v.rolling.model == COLLISION_NO_TURNING) TAKE(rolling_friction);
  if (v.twisting.model == COLLISION_NO_TURNING) TAKE(twisting_friction);
  if (v.cohesion.model == COLLISION_NO_COHESION) TAKE(surface_energy);
#undef TAKE
  collision_models_merge(&v, general);
  return v;
}

static bool rubs(const collision_values *v) {
  return v->friction > 0 || v->rolling_friction > 0 || v->twisting_friction > 0 || v->rolling.coefficient > 0 ||
         v->twisting.coefficient > 0;
}

/* Checks the values of a contact law. `rough`: some pair has friction. */
static void check_values(const collision_values *v, int law, bool rough, int line, const char *path,
                         sim_faults *faults) {
  char at[96];
#define FAULT(key, ...)                                                                                                \
  do {                                                                                                                 \
    snprintf(at, sizeof at, "%s.%s", path, key);                                                                       \
    sim_faults_add(faults, line, at, __VA_ARGS__);                                                                     \
  } while (0)
  if (law != COLLISION_HERTZ) {
    if (isnan(v->stiffness) && isnan(v->contact_time))
      FAULT("stiffness", "missing: the law needs stiffness or contact_time");
    if (!isnan(v->stiffness) && !isnan(v->contact_time))
      FAULT("contact_time", "expected one of stiffness and contact_time, got both");
    if (!isnan(v->young) || !isnan(v->poisson)) FAULT("young", "has a meaning with law = \"hertz\" alone");
  } else {
    if (isnan(v->young)) FAULT("young", "missing: the law of Hertz needs Young's modulus");
    const struct {
      const char *key;
      double value;
    } none[] = {{"stiffness", v->stiffness},
                {"contact_time", v->contact_time},
                {"damping", v->damping},
                {"tangential_stiffness", v->tangential_stiffness}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
      if (!isnan(none[i].value))
        FAULT(none[i].key, "has no meaning with law = \"hertz\", which takes young, poisson and restitution");
  }
  if (!isnan(v->restitution) && !isnan(v->damping))
    FAULT("damping", "expected one of restitution and damping, got both");
  if (!isnan(v->damping) && !isnan(v->contact_time))
    FAULT("damping", "expected restitution beside contact_time, got damping");
  if (law == COLLISION_CUSTOM && v->surface_energy > 0)
    FAULT("surface_energy", "has no effect with law = \"own\": put the pull into contact.force");
  if (law == COLLISION_CUSTOM && !rough && (!isnan(v->restitution) || !isnan(v->damping)))
    FAULT(isnan(v->damping) ? "restitution" : "damping",
          "acts on friction alone with law = \"own\", and there is none: put the dashpot into contact.force");
#undef FAULT
}

/* Checks contact.restitution_law, which replaces all dashpots. */
static void check_restitution_law(const collision_contact *contact, sim_faults *faults) {
  const char *const path = "contact.restitution_law";
  collision_options o = {0};
  collision_models_choose(contact, &o);
  bool number = !isnan(contact->values.restitution) || !isnan(contact->values.damping);
  for (size_t i = 0; i < contact->pairs.count; i++) {
    const collision_values *v = &((const collision_pair *)contact->pairs.items[i].data)->values;
    number = number || !isnan(v->restitution) || !isnan(v->damping);
  }
  if (contact->law != COLLISION_LINEAR) sim_faults_add(faults, 0, path, "needs law = \"linear\"");
  if (number) sim_faults_add(faults, 0, path, "expected no restitution and no damping beside it");
  if (contact->limit_damping)
    sim_faults_add(faults, 0, path, "expected limit_damping = false, with which restitution would be another one");
  if (o.named) sim_faults_add(faults, 0, path, "not possible with rolling, twisting, cohesion or tangential by name");
}

static void check_contact(const collision_parameters *p, sim_faults *faults) {
  const char *names[COLLISION_MATERIALS_MAX];
  int count;
  bool rough = rubs(&p->contact.values);
  for (size_t i = 0; i < p->contact.pairs.count; i++)
    rough = rough || rubs(&((const collision_pair *)p->contact.pairs.items[i].data)->values);
  check_values(&p->contact.values, p->contact.law, rough, 0, "contact", faults);
  collision_check_models(&p->contact, &p->contact.values, &p->contact.values, 0, "contact", faults);
  collision_check_named(&p->contact, faults);
  if ((p->contact.law == COLLISION_CUSTOM) != (p->contact.force != NULL))
    sim_faults_add(faults, 0, "contact.force",
                   p->contact.force == NULL ? "missing: law = \"own\" needs it" : "needs law = \"own\"");
  if (p->contact.law == COLLISION_CUSTOM && p->contact.limit_damping)
    sim_faults_add(faults, 0, "contact.limit_damping",
                   "has no effect with law = \"own\": contact.force contains the damping");
  if (p->contact.restitution_law != NULL) check_restitution_law(&p->contact, faults);
  if (p->contact.law != COLLISION_CUSTOM && p->contact.overlap_limit > 0.05)
    sim_faults_add(faults, 0, "contact.overlap_limit", "expected at most 0.05 with law = \"linear\" or \"hertz\"");
  if (collision_materials(p, names, &count) != SIM_OK) {
    sim_faults_add(faults, 0, "grains", "expected at most %d materials", COLLISION_MATERIALS_MAX);
    return;
  }
  for (size_t i = 0; i < p->contact.pairs.count; i++) {
    const sim_item *item = &p->contact.pairs.items[i];
    const collision_pair *pair = item->data;
    const collision_values v = collision_values_merged(&p->contact.values, &pair->values);
    char path[64];
    snprintf(path, sizeof path, "contact.pairs[%zu]", i + 1);
    check_values(&v, p->contact.law, rough, item->line, path, faults);
    collision_check_models(&p->contact, &pair->values, &v, item->line, path, faults);
    for (size_t k = 0; k < i; k++) {
      const collision_pair *other = p->contact.pairs.items[k].data;
      const bool same = strcmp(pair->a, other->a) == 0 && strcmp(pair->b, other->b) == 0;
      if (same || (strcmp(pair->a, other->b) == 0 && strcmp(pair->b, other->a) == 0))
        sim_faults_add(faults, item->line, path, "\"%s\" and \"%s\" already have constants in contact.pairs[%zu]",
                       pair->a, pair->b, k + 1);
    }
    for (int k = 0; k < 2; k++) {
      const char *name = k ? pair->b : pair->a, *nearest;
      if (collision_material_index(names, count, name) >= 0) continue;
      nearest = sim_nearest(name, names, (size_t)count);
      snprintf(path, sizeof path, "contact.pairs[%zu].%c", i + 1, "ab"[k]);
      sim_faults_add(faults, item->line, path, "no grain or wall is of material \"%s\"%s%s%s", name,
                     nearest ? ", nearest is '" : "", nearest ? nearest : "", nearest ? "'" : "");
    }
  }
}

static void check_heat(const collision_parameters *p, sim_faults *faults) {
  const collision_heat *h = &p->heat;
  if (isnan(h->capacity) && h->given) sim_faults_add(faults, 0, "heat.capacity", "missing: heat needs it");
  if (isnan(h->capacity)) return;
  if (isnan(h->conductivity)) sim_faults_add(faults, 0, "heat.conductivity", "missing: heat needs it");
  if (p->contact.law == COLLISION_CUSTOM)
    sim_faults_add(faults, 0, "heat", "needs contact.law = \"linear\" or \"hertz\", which have a radius of contact");
  if (collision_flow_varies(p)) sim_faults_add(faults, 0, "heat", "expected neither insert nor remove nor an outlet");
}

const sim_table *const *collision_tables_of(const void *parameters) {
  return ((const collision_parameters *)parameters)->tables;
}

/* Tables that the scenario does not have are still zero: sets their numbers to NaN. */
static void clear_absent(collision_parameters *p) {
  collision_models_clear(&p->contact.values);
  collision_clear_clumps(p);
  for (size_t i = 0; i < p->contact.pairs.count; i++)
    collision_models_clear(&((collision_pair *)p->contact.pairs.items[i].data)->values);
  if (!p->heat.given && !(p->heat.capacity > 0)) p->heat.capacity = p->heat.conductivity = NAN;
  if (!p->hill.given && !(p->hill.omega > 0)) p->hill.omega = NAN;
  if (!p->self_gravity.given && !(p->self_gravity.G > 0)) p->self_gravity.G = NAN;
  if (!p->merge.given && p->merge.when == COLLISION_MERGE_NEVER) p->merge.speed = NAN;
  for (size_t i = 0; i < p->walls.count; i++) {
    collision_plane *plane = p->walls.items[i].data;
    if (p->walls.items[i].schema != &collision_plane_schema || plane->servo.given || plane->servo.speed > 0) continue;
    plane->servo.force = plane->servo.pressure = plane->servo.speed = NAN;
  }
}

sim_status collision_validate(void *parameters, sim_faults *faults) {
  collision_parameters *p = parameters;
  clear_absent(p);
  collision_check_box(&p->box, faults);
  collision_check_grains(p, faults);
  collision_check_walls(p, faults);
  collision_check_flow(p, faults);
  check_contact(p, faults);
  check_heat(p, faults);
  collision_check_hill(p, faults);
  collision_check_merge(p, faults);
  collision_check_clumps(p, faults);
  const collision_integrate *integrate = &p->integrate;
  if (integrate->t_end / integrate->dt > 0x1p62)
    sim_faults_add(faults, 0, "integrate.dt", "expected at most 2^62 steps, got t_end/dt = %.9g",
                   integrate->t_end / integrate->dt);
  if (faults->count == 0) collision_check_sizes(p, faults);
  collision_make_tables(p);
  return SIM_OK;
}
