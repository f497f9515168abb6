/* A run of the model: its state, and the functions that start, check and advance it. */
#ifndef NBODY_RUN_H
#define NBODY_RUN_H

#include "kernels/nbody/cosmos/spectrum.h"
#include "kernels/nbody/ops.h"
#include "kernels/nbody/short/short.h"
#include "kernels/nbody/start/bodies.h"

/* Indices into the state array `controller`: numbers kept from step to step beside the bodies. The method is
 * NBODY_DIRECT or NBODY_FMM, and a resumed run continues with it; order, angle, weight and leaf are nbody_fmm_settings.
 * Earlier checkpoints have only the first NBODY_CONTROLS_EARLIER numbers. */
enum {
  NBODY_INITIAL_ENERGY, /* total energy at the start; with expansion the Layzer-Irvine constant */
  NBODY_NEXT_STEP,
  NBODY_SPREAD,
  NBODY_KINETIC_NOW,      /* expansion: kinetic energy of the momenta a^2 dx/dt */
  NBODY_KINETIC_INTEGRAL, /* expansion: integral over a of the peculiar kinetic energy since the start */
  NBODY_METHOD,
  NBODY_ORDER,
  NBODY_ANGLE,
  NBODY_WEIGHT,
  NBODY_LEAF,
  NBODY_LARGEST_MEDIAN, /* largest of the force errors in nbody_watch_force_error; 0: none */
  NBODY_LARGEST_TAIL,
  NBODY_CONTROLS,
  NBODY_CONTROLS_EARLIER = NBODY_KINETIC_NOW
};

/* Relative error |da| / |a| of the solver's acceleration, without external forces, on at most NBODY_SAMPLES bodies
 * drawn by step number. Measured in some steps, and for rows of the table `force_error`. */
typedef struct nbody_force_error {
  double asked, asked_tail; /* error asked for; INFINITY: any */
  double median, tail;      /* of the last measurement; tail: error that 99.9 % of the bodies stay below */
  double largest_median, largest_tail;
  double potential; /* relative error of the potential energy in the last row of the table; NaN: not measured */
  int64_t step;     /* step of the last measurement */
  bool measured, warned;
} nbody_force_error;

/* Counts of individual steps since the start, or since the run was resumed. */
typedef struct nbody_step_counts {
  double forces;    /* forces on one body by all bodies */
  double steps;     /* steps of the engine, which are the longest steps */
  double substeps;  /* computations of forces at one time, on all or on some bodies */
  double at_finest; /* forces of a run in which all bodies make the shortest step of each step of the engine */
  int deepest;      /* deepest level with bodies */
  bool warned;      /* a warning of bodies that want a shorter step than the shortest has been logged */
} nbody_step_counts;

/* Indices into the state array `events`, of runs with `merge` or `escape`: numbers of events; of the last event the
 * time, the id of the body, the id of the body that merged into it (-1: an escape) and the relative speed; the energy
 * that all events have taken away; the number of bodies at the start. */
enum {
  NBODY_MERGERS,
  NBODY_ESCAPERS,
  NBODY_EVENT_TIME,
  NBODY_EVENT_BODY,
  NBODY_EVENT_OTHER,
  NBODY_EVENT_SPEED,
  NBODY_EVENT_ENERGY,
  NBODY_EVENT_BODIES,
  NBODY_EVENTS
};

/* Indices into the state array `thermostat`: energy that the thermostat has given to the bodies (langevin); positions
 * and velocities of the chain (nose_hoover). */
enum { NBODY_CHAIN = 3 };
enum { NBODY_HEAT, NBODY_CHAIN_POSITION, NBODY_CHAIN_VELOCITY = 1 + NBODY_CHAIN, NBODY_BATH = 1 + 2 * NBODY_CHAIN };

struct nbody_few;
struct nbody_few_work;

typedef struct nbody_run {
  const sim_backend *backend;
  const nbody_ops *ops;
  nbody_work *work;
  nbody_forces forces;
  nbody_choice choice;
  nbody_force_error force_error;
  nbody_integrate integrate;
  double box, softening; /* as in nbody_options */
  nbody_expansion expansion;
  int level_table, spectrum_table, orbit_table; /* indices of `levels`, `spectrum` and `orbits`; -1: none */
  int orbit_count;
  int orbit_species[NBODY_ORBITS_MAX], primary; /* of the table `orbits`: indices into species */
  nbody_spectrum *spectrum;                     /* NULL: no table `spectrum` */
  void *staged;                                 /* for the spectrum on a GPU: masses and positions on the host */
  nbody_step_counts counts;
  bool warned_of_speed;
  nbody_thermostat thermostat;
  uint64_t seed;
  double bath[NBODY_BATH];
  nbody_rdf rdf;
  int thermo_table, rdf_table;    /* indices of `thermo` and `rdf`; -1: none */
  bool cut;                       /* the pair law has a cutoff */
  sim_buffer searched, travelled; /* with a cutoff: see nbody_state; else empty */
  nbody_tail tail;                /* with a cutoff: contribution of pairs beyond it */
  int64_t n;
  int64_t massive; /* number of bodies with a mass; 0 where no table needs it */
  sim_buffer id, mass, position, velocity, acceleration, jerk;
  sim_buffer kept;             /* schemes for few bodies: their state between steps (few/few.h) */
  const struct nbody_few *few; /* NULL: a scheme of steps.c */
  struct nbody_few_work *few_work;
  sim_buffer radius;      /* with `merge`; else empty */
  bool merge, encounters; /* encounters: `merge` or `escape` is given */
  double escape;          /* distance from the centre of mass beyond which bodies escape; 0: none do */
  double events[NBODY_EVENTS];
  int64_t most;          /* number of bodies when the run began, or was resumed */
  nbody_options options; /* options of solver and operations */
  double few_time;       /* time of the integrator's state, which the arrays of bodies have where few_shown */
  bool few_shown;
  double G;
  const sim_output *output; /* of the scenario */
  double controller[NBODY_CONTROLS];
  double crowd; /* nbody_options.crowd; known only in a run that was not resumed */
  sim_species species[SIM_SPECIES_MAX];
  size_t species_count;
  nbody_sums sums; /* sums over the bodies at step sums_step */
  int64_t sums_step;
  nbody_laws laws;
  const sim_table *const *tables; /* tables of the run, in the order of `observe` */
  sim_graph *step;                /* captured step of length integrate.dt; NULL before the capture */
  bool may_stop;                  /* there is stop_when: t_end may be out of reach */
} nbody_run;

/* Checks the ranges of the values in a checkpoint's state; *n: its number of bodies. box: as in nbody_options.
 * SIM_ERR_INCOMPATIBLE. */
sim_status nbody_saved_check(const nbody_integrate *integrate, double box, const sim_frame *saved,
                             int64_t *n) SIM_MUST_CHECK;
/* Fills in the method and settings of a checked checkpoint; leaves `out` unchanged where it has none. */
void nbody_saved_method(const sim_frame *saved, nbody_options *out);
/* Chooses the method where the scenario leaves it open, the same on all ranks; counts lists where the estimate may be
 * wrong. All ranks call it. SIM_ERR_NO_MEMORY; SIM_ERR_SCENARIO as nbody_solver_choose. */
sim_status nbody_settle_method(nbody_run *run) SIM_MUST_CHECK;
/* Host memory in bytes that nbody_settle_method needs for a while to count the lists of n bodies. */
double nbody_settle_bytes(double n);
/* Creates the state's arrays for run->n bodies, zeroed, on the run's device (ids on the host). SIM_ERR_NO_MEMORY. */
sim_status nbody_create_arrays(nbody_run *run, const sim_setup *setup) SIM_MUST_CHECK;
/* Creates and fills the state's arrays with the bodies of `groups`, sorted by species. SIM_ERR_SCENARIO where a value
 * does not fit the precision. */
sim_status nbody_begin(nbody_run *run, const nbody_parameters *p, const sim_setup *setup,
                       const nbody_groups *groups) SIM_MUST_CHECK;
/* Checks that single precision separates the bodies. SIM_ERR_SCENARIO, naming two bodies, where the state or the pair
 * terms round two positions to one point, and the distance of these matters relative to the softening. Warns where the
 * rounding of positions is not small compared with the distances. */
sim_status nbody_check_positions(const nbody_run *run, const nbody_parameters *p,
                                 const nbody_bodies *bodies) SIM_MUST_CHECK;
/* Sets run->massive. SIM_ERR_NO_MEMORY. */
sim_status nbody_count_massive(nbody_run *run) SIM_MUST_CHECK;
/* Finds the largest magnitude of a component in a state array of [n] or [3][n]; *at: its body. SIM_ERR_NO_MEMORY. */
sim_status nbody_find_greatest(const nbody_run *run, const sim_buffer *buffer, int64_t *at,
                               double *value) SIM_MUST_CHECK;
/* Checks the first force. SIM_ERR_SCENARIO, naming two bodies that the pair terms cannot separate, a body with a force
 * that is not finite, or a distance at which the force of a custom law is out of the range of fp32 terms. */
sim_status nbody_check_force(const nbody_run *run, const nbody_options *options) SIM_MUST_CHECK;
/* Checks that the energies at the start are finite. SIM_ERR_SCENARIO, naming the fastest or the heaviest body. */
sim_status nbody_check_energy(const nbody_run *run, const nbody_sums *sums) SIM_MUST_CHECK;
/* Computes the shortest time in which the external force on a body changes, from its first two time derivatives j and
 * s: |a|/|j|, (|a|/|s|)^(1/2), |j|/|s|. The laws must have been created with jerk. SIM_ERR_NO_MEMORY. */
sim_status nbody_external_start(const nbody_run *run, double *out) SIM_MUST_CHECK;

/* Creates solver and operations for the bodies that the run has now; destroys earlier ones. SIM_ERR_NO_MEMORY.
 */
sim_status nbody_create_forces(nbody_run *run) SIM_MUST_CHECK;
/* Fills in steps, work and rate of work of the plan for n bodies, for the solver and the scenario's functions together.
 * Warns of steps that may be too long. */
sim_status nbody_estimate(const nbody_parameters *p, const nbody_options *options, const nbody_solver *solver,
                          sim_backend_kind kind, double n, sim_plan *out) SIM_MUST_CHECK;
/* Number of steps of a run; NaN for adaptive steps. */
double nbody_step_count(const nbody_parameters *p);
/* Warns once where a body crosses more than half of the periodic box in a step of length dt from time t. */
sim_status nbody_watch_speeds(nbody_run *run, double t, double dt) SIM_MUST_CHECK;
/* Computes the length of the first step, after the first force; with adaptive steps stores it in run->controller. */
sim_status nbody_plan_first_step(nbody_run *run) SIM_MUST_CHECK;
/* SIM_ERR_DIVERGED where adaptive steps have been so short, in the mean of 20000 steps or more, that 2^53 of them do
 * not reach t_end, and there is no stop_when. */
sim_status nbody_check_pace(const nbody_run *run, const sim_clock *clock) SIM_MUST_CHECK;
/* Length of the first step, at most t_end. */
double nbody_first_dt(const nbody_run *run);
/* Creates run->spectrum where the scenario has the table `spectrum`. SIM_ERR_NO_MEMORY. */
sim_status nbody_create_spectrum(nbody_run *run, const nbody_parameters *p, const sim_setup *setup) SIM_MUST_CHECK;
/* Host memory in bytes that nbody_create_spectrum allocates for n bodies whose state has type `dtype`. */
double nbody_run_spectrum_bytes(const nbody_parameters *p, const sim_setup *setup, sim_dtype dtype, double n);
/* Fills in a row of the table `spectrum` at scale factor a. */
sim_status nbody_observe_spectrum(nbody_run *run, double a, double *values) SIM_MUST_CHECK;
/* Finds the bodies of the table `orbits` in the state's arrays. SIM_ERR_SCENARIO where their primary has no mass. */
sim_status nbody_find_orbits(nbody_run *run, const nbody_parameters *p) SIM_MUST_CHECK;
/* Fills in a row of the table `orbits`. SIM_ERR_DEVICE. */
sim_status nbody_observe_orbits(const nbody_run *run, double *values) SIM_MUST_CHECK;
/* Measures run->force_error at the present state, whose force has been computed; warns once where it exceeds what the
 * scenario asks for. Does nothing for direct sums. SIM_ERR_NO_MEMORY. */
sim_status nbody_measure_force_error(nbody_run *run, const sim_clock *clock) SIM_MUST_CHECK;
/* Measures run->force_error.potential on the same bodies, after the solver's potential of this step.
 * SIM_ERR_NO_MEMORY. */
sim_status nbody_measure_potential_error(nbody_run *run, int64_t step) SIM_MUST_CHECK;
/* Measures the force error in every 64th step, with or without table rows; keeps the largest errors in the state. */
sim_status nbody_watch_force_error(nbody_run *run, const sim_clock *clock) SIM_MUST_CHECK;
/* Returns the first error of the solver since the last check: SIM_ERR_NO_MEMORY, SIM_ERR_DIVERGED. */
sim_status nbody_check_solver(const nbody_run *run, int64_t step) SIM_MUST_CHECK;
/* SIM_ERR_DIVERGED, naming the first body whose position is not finite; SIM_OK: all are finite. */
sim_status nbody_name_infinite(const nbody_run *run, int64_t step) SIM_MUST_CHECK;
/* Checks the bodies at the start of a run with a thermostat: masses above 0 and, for nose_hoover, kinetic energy and no
 * total momentum. SIM_ERR_SCENARIO. */
sim_status nbody_bath_check(const nbody_parameters *p, const nbody_bodies *bodies) SIM_MUST_CHECK;
/* Degrees of freedom of the velocities; the total momentum has none where nothing changes it. */
double nbody_freedoms(const nbody_run *run);
/* The energy that the thermostat conserves, without the energy of the bodies. */
double nbody_bath_energy(const nbody_run *run);
/* Makes a step of length dt from `clock` with the thermostat. */
void nbody_bathed_step(nbody_run *run, const sim_clock *clock, double dt);
/* Fill in a row of the table `thermo`, and of the table `rdf`. SIM_ERR_NO_MEMORY. */
sim_status nbody_observe_thermo(nbody_run *run, const nbody_sums *sums, double *values) SIM_MUST_CHECK;
sim_status nbody_observe_rdf(const nbody_run *run, double *values) SIM_MUST_CHECK;
/* Host memory in bytes that nbody_observe_rdf needs for a while, for n bodies whose state has type `dtype`. */
double nbody_rdf_bytes(const nbody_parameters *p, const sim_setup *setup, sim_dtype dtype, double n);
/* Warns where a row of the table `rdf` of n bodies takes seconds: `sim check` counts only steps. */
void nbody_rdf_warn(const nbody_parameters *p, double n);
/* Operations of this scenario on this device; edge of its periodic box, 0 in open space; median of the force errors
 * that it asks for. */
const nbody_ops *nbody_ops_for(const nbody_parameters *p, const sim_setup *setup);
double nbody_box_of(const nbody_parameters *p);
double nbody_asked_error(const nbody_parameters *p);
/* Options of solver and operations for n bodies; `spread` as in nbody_options. Borrows the graphs in `laws`. */
nbody_options nbody_options_for(const nbody_parameters *p, const nbody_laws *laws, const sim_setup *setup, int64_t n,
                                double spread);
/* Creates the state's arrays and fills them from the checkpoint. SIM_ERR_INCOMPATIBLE, SIM_ERR_NO_MEMORY. */
sim_status nbody_restore(nbody_run *run, const sim_setup *setup) SIM_MUST_CHECK;
/* Sums over the bodies at the clock's step, computed once a step. */
const nbody_sums *nbody_sums_at(nbody_run *run, const sim_clock *clock);
/* sim_model.state, .plan, .view, .observe, .step */
extern const sim_field nbody_state_fields[];
sim_status nbody_plan(const void *parameters, const sim_setup *setup, sim_plan *out);
sim_status nbody_view(void *self, sim_array *arrays, sim_species *species, sim_frame *frame);
sim_status nbody_observe(void *self, const sim_clock *clock, int table, double *values);
sim_status nbody_step(void *self, sim_clock *clock);

#endif
