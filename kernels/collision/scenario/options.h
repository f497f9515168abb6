/* Options of a solver, from a scenario: contact laws of material pairs, walls, and limits of the step, in fp64. */
#ifndef COLLISION_OPTIONS_H
#define COLLISION_OPTIONS_H

#include "engine/comm/comm.h"
#include "kernels/collision/scenario/parameters.h"
#include "kernels/common/geometry/types.h"

#include <math.h>

/* Contact law of a pair of materials, for a contact of reduced mass m and reduced radius R.
 * Linear: stiffness k = k0 + km m, damping g = g0 + gh sqrt(m) + gm m, tangential kt = tangential k, gt = tangential g.
 * Hertz: force 4/3 E sqrt(R) d^(3/2), tangential stiffness 8 G sqrt(R d), damping by beta. */
typedef struct collision_law {
  double k0, km, g0, gh, gm, tangential;
  double E, G, beta; /* reduced Young's modulus and shear modulus; damping ratio */
  double friction, rolling, twisting;
  double pull;                       /* attractive force in contact, over R */
  double limited;                    /* 1: the dashpot never pulls; 0: it may */
  double roll[2], twist[2], bond[3]; /* see contact_law */
} collision_law;

typedef struct collision_options {
  int64_t n; /* number of grains; with inlets the number that memory has room for */
  int threads;
  const sim_comm *comm; /* ranks of the run; never NULL */
  double low[3], size[3];
  bool periodic[3];
  double gravity[3];
  int force; /* collision_force */
  int materials;
  collision_law law[COLLISION_MATERIALS_MAX][COLLISION_MATERIALS_MAX];
  int walls;
  geometry_wall wall[COLLISION_WALLS_MAX]; /* sides of the box first */
  int springs; /* values of history of a contact under its law: 0, 3 (tangential) or 7 (with rolling and twist); named:
                  4, 7 or 8 */
  bool named;  /* a law of general/models.inc is used */
  collision_models models;
  bool heated;        /* grains have temperatures */
  double conductance; /* conducted heat over time, radius of contact and difference of temperatures */
  double capacity;    /* heat over mass and temperature */
  double wall_temperature[COLLISION_WALLS_MAX];                              /* NaN: an insulator */
  int servos;                                                                /* number of walls that hold a force */
  double servo_force[COLLISION_WALLS_MAX], servo_speed[COLLISION_WALLS_MAX]; /* NaN: no servo */
  double overlap_limit; /* over the smaller radius: largest at the start; later with a warning */
  double reach;         /* largest gap at which a contact may last, for radii up to radius_most */
  bool damped;          /* some pair has a dashpot */
  bool turning;         /* some grain rotates at the start */
  bool varies;          /* grains are inserted, removed or merged */
  int merge;            /* collision_merge_when */
  bool clumps;          /* some grains are the spheres of rigid bodies */
  double skin;          /* of the neighbour lists; NaN: automatic */
  sim_isa isa;
  double dt;          /* length of all steps but a shortened last one */
  double before;      /* length of the step before the first */
  double shear;       /* rate of a box sheared by Lees and Edwards; 0: none */
  double shear_start; /* displacement along the shear of the image above across it, at the start */
  int across, along;  /* axes of the shear: velocity along the second one changes across the first */
  bool hill;          /* Hill's equations with the frequencies below, see hill_motion.h */
  double omega, kappa, vertical;
  bool attracted;              /* self-gravity */
  bool pushed;                 /* accelerations by the model that has the grains: coupled.h */
  const sim_expr *restitution; /* COLLISION_SPEED_INPUTS -> coefficient of restitution; NULL: none */
  int law_springs;             /* values of history that the law has: all but one with `restitution` */
  bool worked;                 /* the work of walls, shear or gravity along a periodic axis is counted */
  const sim_expr *custom;      /* custom law: COLLISION_FORCE_INPUTS -> force; NULL: none */
  const sim_expr *external;    /* x y z t -> potential, or three components of the acceleration; NULL: none */
  bool timed;                  /* `external` depends on t */
  sim_expr *gradient;          /* derivatives of the potential; owned */
  int gates;
  const collision_gate *gate; /* [gates], borrowed from the parameters */
  /* radius_least: smallest radius of grains that come later; radius_most: largest radius of all grains */
  double radius_least, radius_most;
  int wall_numbers; /* values of history a grain for all walls */
  int forces;       /* rows of the table of forces on walls */
  int meshes;       /* walls that are meshes */
} collision_options;

/* Lists the materials in order of appearance: of groups, inlets, then walls. SIM_ERR_SCENARIO: too many. */
sim_status collision_materials(const collision_parameters *p, const char *names[COLLISION_MATERIALS_MAX], int *count);
/* Index of a material; -1: absent. */
int collision_material_index(const char *const *names, int count, const char *name);
/* Displacement along the shear of the image above across it at time t, within a side of the box: of the sign of the
 * shear, or of the displacement at the start. */
static inline double collision_image_offset(const collision_options *o, double t) {
  return fmod(o->shear_start + o->shear * o->size[o->across] * t, o->size[o->along]);
}
/* Derives all options but n, threads, isa, for one rank. Free with collision_options_free, after failures too. */
sim_status collision_options_fill(const collision_parameters *p, collision_options *out) SIM_MUST_CHECK;
void collision_options_free(collision_options *options);
/* Sets radius_least and radius_most from the scenario, or from a checkpoint's frame `saved`, as far as they are known
 * before grains are made. */
void collision_options_bound(const collision_parameters *p, const sim_frame *saved, collision_options *o);

/* Sets Hill's frame, the shear of its box, and whether there is self-gravity. */
void collision_hill_fill(const collision_parameters *p, collision_options *o);
/* Refuses a step in which grains would move far along their epicycles or past the box. SIM_ERR_SCENARIO. */
sim_status collision_hill_check_step(const collision_options *o, double dt) SIM_MUST_CHECK;
/* Number of steps of length dt for which accelerations of self-gravity are kept; opening angle for an error. */
int64_t collision_gravity_every(const collision_parameters *p, double dt);
double collision_gravity_opening(double error);

/* Returns the duration of the shortest contact among n grains and with walls; *most: the longest stable step of springs
 * and dashpots. Hertz: 5 times the time of a Rayleigh wave over a grain (C. Thornton and C. W. Randall, 1988). */
double collision_contact_time(const collision_options *o, int64_t n, const double *mass, const double *radius,
                              const uint64_t *material, double *most);
/* *guess: the automatic step for the smallest grains of all groups and inlets, before grains exist; NaN: a file has the
 * radii. *limit: longest stable step, whatever radii are drawn. SIM_ERR_NO_MEMORY. */
sim_status collision_step_guess(const collision_parameters *p, const collision_options *o, double *guess,
                                double *limit) SIM_MUST_CHECK;
/* Checks that a step is short enough for the heat of these grains (start/heat.c). SIM_ERR_SCENARIO. Temperatures follow
 * C T' = sum h (T_j - T), with rates below 2 sum h/C (Gershgorin): in steps up to C/(2 sum h) a grain never passes the
 * mean temperature of the grains that it touches. most: radius of the largest grain, if it is not in the list. */
sim_status collision_heat_check_step(const collision_options *o, double dt, int64_t n, const double *mass,
                                     const double *radius, double most) SIM_MUST_CHECK;
/* As collision_heat_check_step, for the grains that certainly occur. */
sim_status collision_heat_check_plan(const collision_parameters *p, const collision_options *o,
                                     double dt) SIM_MUST_CHECK;
/* Laws by name: numbers of a pair, after its other numbers (fill); options of the run, from all pairs (choose). */
void collision_models_fill(const collision_values *v, collision_law *law);
void collision_models_choose(const collision_contact *contact, collision_options *o);
/* Sets `reach` from radius_most. */
void collision_reach_set(collision_options *o);
/* Checks that contacts do not reach farther than the smallest radius. SIM_ERR_SCENARIO. */
sim_status collision_reach_check(const collision_options *o, double smallest) SIM_MUST_CHECK;
/* Returns the duration of the fastest spring or neck of these laws, for a reduced mass m and a reduced radius; lowers
 * *most to the longest stable step. */
double collision_named_time(const collision_options *o, const collision_law *law, double m, double radius,
                            double *most);

/* Checks that a step is stable. SIM_ERR_SCENARIO. */
sim_status collision_step_check(double dt, double most) SIM_MUST_CHECK;
/* Checks that an automatic step is not so short that t_end is out of reach, as by contacts that are far too stiff.
 * SIM_ERR_SCENARIO. */
sim_status collision_step_check_count(const collision_parameters *p, double dt) SIM_MUST_CHECK;

#endif
