/* Macros for the field tables of the parameters. */
#ifndef COLLISION_FIELDS_H
#define COLLISION_FIELDS_H

#include "kernels/collision/scenario/parameters.h"

#define LENGTH                                                                                                         \
  { 1, 0, 0 }
#define TIME                                                                                                           \
  { 0, 0, 1 }
#define SPEED                                                                                                          \
  { 1, 0, -1 }
#define PRESSURE                                                                                                       \
  { -1, 1, -2 }
#define FIELD SIM_FIELD
#define POSITIVE SIM_RANGE | SIM_MIN_OPEN
/* Field of an optional number > 0, or >= 0. */
#define OPTIONAL(T, member, flag, top, text, ...)                                                                      \
  {                                                                                                                    \
    FIELD(T, member), .type = SIM_REAL, .flags = flag, .max = top, .initial = "none", .keyword = "none", .doc = text,  \
                      __VA_ARGS__                                                                                      \
  }

/* Fields of a struct that has a collision_radii `size`. */
#define RADII(T)                                                                                                       \
  {.name = "radius",                                                                                                   \
   .offset = offsetof(T, size.radius),                                                                                 \
   .type = SIM_REAL,                                                                                                   \
   .flags = POSITIVE,                                                                                                  \
   .max = INFINITY,                                                                                                    \
   .initial = "none",                                                                                                  \
   .keyword = "none",                                                                                                  \
   .dimension = LENGTH,                                                                                                \
   .doc = "radius of all grains; or give `radii`"},                                                                    \
      {.name = "radii",                                                                                                \
       .offset = offsetof(T, size.radii),                                                                              \
       .type = SIM_NUMBERS,                                                                                            \
       .components = 1,                                                                                                \
       .flags = POSITIVE,                                                                                              \
       .max = INFINITY,                                                                                                \
       .dimension = LENGTH,                                                                                            \
       .doc = "list: assigned in turn; uniform: minimum and maximum; "                                                 \
              "lognormal: median, and standard deviation of the logarithm"},                                           \
  {                                                                                                                    \
    .name = "distribution", .offset = offsetof(T, size.distribution), .type = SIM_CHOICE, .initial = "auto",           \
    .choices = collision_distribution_names, .doc = "distribution of `radii`; auto: uniform for two radii, else list"  \
  }

/* Variants of the lists; end with NULL. */
extern const sim_schema *const collision_grain_variants[], *const collision_wall_variants[];
extern const sim_schema *const collision_inlet_variants[], *const collision_region_variants[],
                                                               *const collision_gate_variants[];
extern const sim_schema collision_box_schema, collision_group_schema, collision_profile_schema;
extern const sim_schema collision_hill_schema, collision_self_gravity_schema, collision_merge_schema;
extern const sim_schema collision_rolling_schema, collision_twisting_schema, collision_cohesion_schema,
    collision_rolling_of_pair, collision_twisting_of_pair, collision_cohesion_of_pair;
/* Fields of a struct that has `low` and `high`. */
#define REGION_CORNERS(T, what)                                                                                        \
  {FIELD(T, low), .type = SIM_NUMBERS, .components = 1, .dimension = LENGTH,                                           \
   .doc = "lower corner {x, y, z} of the region that contains the " what "; none: that of the box"},                   \
  {                                                                                                                    \
    FIELD(T, high), .type = SIM_NUMBERS, .components = 1, .dimension = LENGTH,                                         \
                    .doc = "upper corner of the region; none: that of the box"                                         \
  }

extern const char *const collision_distribution_names[], *const collision_tangential_names[];

/* Checks Hill's frame and self-gravity. */
void collision_check_hill(collision_parameters *p, sim_faults *faults);
/* Checks an item that is a clump: its spheres, mass and orientation. */
void collision_check_clump(const sim_item *item, const char *path, sim_faults *faults);
/* Adds the faults of options that clumps exclude. */
void collision_check_clumps(const collision_parameters *p, sim_faults *faults);
/* Sets the density of clumps that have neither density nor mass. */
void collision_clear_clumps(collision_parameters *p);
/* Checks the corners of a region. */
void collision_check_region(const sim_doubles *low, const sim_doubles *high, int line, const char *path,
                            sim_faults *faults);
/* Checks `merge`: grains that become one. */
void collision_check_merge(const collision_parameters *p, sim_faults *faults);
void collision_check_box(collision_box *box, sim_faults *faults);
void collision_check_grains(const collision_parameters *p, sim_faults *faults);
void collision_check_radii(const collision_radii *size, int line, const char *path, sim_faults *faults);
void collision_check_flow(collision_parameters *p, sim_faults *faults);
void collision_check_walls(const collision_parameters *p, sim_faults *faults);
/* Checks the ratio of radii, the periodic sides and the volume fraction, as far as they are known before grains exist.
 * The parameters must have no other faults. */
void collision_check_sizes(const collision_parameters *p, sim_faults *faults);
/* Makes the tables whose columns depend on walls, gates and bins. */
void collision_make_tables(collision_parameters *p);
/* Returns the values of a pair of materials: `own`, completed by those of `general`. */
collision_values collision_values_merged(const collision_values *general, const collision_values *own);

/* ---- model_fields.c ---- */

/* Sets the numbers of laws by name that are not in the scenario to NaN. */
void collision_models_clear(collision_values *v);
/* Completes the laws by name in `own` by those of `general`. */
void collision_models_merge(collision_values *own, const collision_values *general);
/* Checks the laws by name in `own`: those of `contact`, or of a pair; v: the completed values. */
void collision_check_models(const collision_contact *contact, const collision_values *own, const collision_values *v,
                            int line, const char *path, sim_faults *faults);
/* Checks the laws by name against the law of the contact. */
void collision_check_named(const collision_contact *contact, sim_faults *faults);

#endif
