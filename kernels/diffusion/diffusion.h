/* Fields on a grid: u_t = L u + N(u). L is linear with constant coefficients, and exact by Fourier, cosine and sine
 * transforms; N is the scenario's function of all fields at a point. */
#ifndef DIFFUSION_DIFFUSION_H
#define DIFFUSION_DIFFUSION_H

#include "engine/model.h"
#include "kernels/diffusion/cpu/spectral.h"

extern const sim_model diffusion_model;
extern const sim_bench diffusion_bench[]; /* bench.c */

/* One field: L_k = -D sum_a axes_a k_a^2 - 2 (tensor_0 k_x k_y + tensor_1 k_x k_z + tensor_2 k_y k_z) - hyper |k|^4
 * - decay - i drift . k + linear(k); u_t = L u + N, or L u + lap N where it is conserved. */
typedef struct diffusion_field {
  char *name;
  double D, axes[3], tensor[3], hyper, decay, drift[3], walls[2];
  sim_expr *linear;  /* of k2, kx, ky, kz -> real part, or real and imaginary parts; NULL: none */
  sim_doubles cross; /* diffusivities of the other fields in this one: -cross_j sum_a axes_a k_a^2 of field j */
  bool conserved;
  double fluctuation;
  sim_expr *initial; /* see grid_start */
  grid_file file;
  double noise; /* standard deviation of what is added to each cell at the start */
} diffusion_field;
extern const sim_schema diffusion_field_schema;

typedef enum diffusion_scheme {
  DIFFUSION_EXACT, /* no rates: the solution itself, whatever dt */
  DIFFUSION_LIE,   /* u + dt N(u), then exp(L dt): order 1, one array */
  DIFFUSION_STRANG,
  DIFFUSION_ETD1,
  DIFFUSION_ETDRK2,
  DIFFUSION_ETDRK4,
  DIFFUSION_SCHEMES
} diffusion_scheme;

typedef struct diffusion_integrate {
  int scheme;
  double dt, t_end;                  /* dt NaN: chosen, for DIFFUSION_EXACT; with rates, by the error of each step */
  double rtol, atol, dt_max, dt_min; /* dt_max NaN: t_end/64 */
  double dealias;                    /* NaN: true; see diffusion_dealias */
} diffusion_integrate;

enum { DIFFUSION_SCRATCH = 16384 }; /* bytes, for `linear` */
enum { DIFFUSION_STATISTICS = 5 };  /* mean, variance, min, max, mass */

typedef struct diffusion_parameters {
  sim_common common;
  grid_parameters grid;
  int64_t members;
  sim_list fields; /* of diffusion_field */
  /* Of the fields, x, y, z, t, all fields' derivatives by x, y, z and the member -> one number a field; or NULL. */
  sim_expr *rates;
  diffusion_integrate integrate;
  sim_function_map observe; /* as rates, one number */
  sim_doubles probes;       /* [count][rank] */
  int64_t spectrum;         /* bins of |k| */
  /* filled by validate: tables and their columns, and the state's fields, by the names of the scenario */
  char names[DIFFUSION_FIELDS][DIFFUSION_STATISTICS][96], extra[3][SIM_COLUMNS_MAX][96];
  sim_field columns[(int)DIFFUSION_FIELDS * DIFFUSION_STATISTICS + 1], more[4][SIM_COLUMNS_MAX + 1],
      state[DIFFUSION_FIELDS];
  sim_table table[5];
  const sim_table *tables[6];
  int kinds[5]; /* of the tables: diffusion_tables_kind */
} diffusion_parameters;
extern const sim_schema diffusion_schema;

const diffusion_field *diffusion_field_of(const diffusion_parameters *p, int field);
grid_shape diffusion_grid_of(const diffusion_parameters *p);
/* Input of rates and observed functions that is the member: after the fields, x, y, z, t and all derivatives. */
static inline int diffusion_member_input(int fields) { return 4 * fields + 4; }
/* Whether some result of a function depends on this input, which the function need not have. */
bool diffusion_takes(const sim_expr *expr, int input);
/* Whether the tables distinguish k from -k: L is complex, or differs between both. */
bool diffusion_unfolded(const diffusion_parameters *p);
/* Between walls that hold a field at given values the field is v + low + slope * position along that axis. v is
 * transformed and 0 at the walls; L vanishes on the rest, the lift. */
typedef struct diffusion_lift {
  int axis; /* -1: the field itself is transformed */
  double low, slope;
} diffusion_lift;
diffusion_lift diffusion_lift_of(const diffusion_parameters *p, int field);
/* Derivatives of fields on which the rates depend. */
diffusion_gradients diffusion_gradients_of(const diffusion_parameters *p);
/* Wavenumbers below this fraction of the highest one are kept along each axis; 0: all. */
double diffusion_dealias(const diffusion_integrate *integrate);
bool diffusion_single(const diffusion_parameters *p);
int64_t diffusion_steps(const diffusion_integrate *integrate);
double diffusion_dt(const diffusion_integrate *integrate);
bool diffusion_fluctuates(const diffusion_parameters *p); /* some field has white noise in each step */
bool diffusion_crossed(const diffusion_parameters *p);    /* fields diffuse across each other */
/* Whether the length of steps follows from their error. */
bool diffusion_adaptive(const diffusion_parameters *p);

/* sim_model.validate and its tables_of */
sim_status diffusion_validate(void *parameters, sim_faults *faults);
const sim_table *const *diffusion_tables_of(const void *parameters);
void diffusion_name_tables(diffusion_parameters *p); /* what diffusion_tables_of gives */
extern const sim_table *const diffusion_described[]; /* sim_model.described */

/* ---- scenario/linear.c ---- */

/* A fault where L is not finite, or so large that no table of the scheme is. */
sim_status diffusion_check_linear(const diffusion_parameters *p, sim_faults *faults) SIM_MUST_CHECK;

/* ---- schemes.c ---- */

/* A scheme: arrays beside [0], tables, and stages. Before stage s the rates are evaluated at t + at[s] dt. */
enum { DIFFUSION_STAGES = 7 };
typedef struct diffusion_method {
  const char *name;
  int arrays, tables, stages, order;
  double at[DIFFUSION_STAGES];
  diffusion_stage stage[DIFFUSION_STAGES];
} diffusion_method;
extern const diffusion_method diffusion_methods[DIFFUSION_SCHEMES];
/* The method's stages with the grid's scale in them. */
diffusion_method diffusion_method_for(diffusion_scheme scheme, double scale);

/* A scheme with an estimate of a step's error. Stage 0 evaluates the rates of the state where they are not known yet;
 * the others make a step. Then array [DIFFUSION_NEXT] is the new state, [DIFFUSION_ERROR] its difference to the
 * embedded scheme of one order less, and [DIFFUSION_BETWEEN] the error of rates interpolated between the stages' times.
 */
enum { DIFFUSION_NEXT = 3, DIFFUSION_ERROR = 4, DIFFUSION_BETWEEN = 5 };
typedef struct diffusion_embedded {
  diffusion_method method;
  bool kept;    /* the last stage has left the rates of the new state, and those of the old one are lost */
  double power; /* of dt, as which the error grows */
} diffusion_embedded;
/* Of DIFFUSION_ETDRK2 and DIFFUSION_ETDRK4. */
const diffusion_embedded *diffusion_embedded_of(diffusion_scheme scheme);
/* What the parameters ask for. */
const diffusion_method *diffusion_method_of(const diffusion_parameters *p);
/* With the scale in it, 0 standing for it in the terms of a device. Where fields fluctuate, the last stage adds array
 * [DIFFUSION_NOISE], normal numbers of each cell that were transformed, times a table more than the method has. */
diffusion_method diffusion_method_with(const diffusion_parameters *p, double scale);
int diffusion_table_count(const diffusion_parameters *p); /* of that */
/* What fills the tables of one field for a step dt, `scale` being that of the transforms; context for
 * diffusion_method_fill. */
typedef struct diffusion_filling {
  const diffusion_field *species;
  grid_shape grid;
  diffusion_scheme scheme;
  double dt, scale, dealias, noise; /* noise: fluctuation over the root of a cell's volume */
  sim_expr_program *linear;         /* of the species; NULL: none */
} diffusion_filling;
sim_status diffusion_filling_begin(const diffusion_parameters *p, int field, double dt, double scale,
                                   diffusion_filling *out) SIM_MUST_CHECK;
void diffusion_filling_end(diffusion_filling *filling);
diffusion_fill diffusion_method_fill;
void diffusion_filling_linear(const diffusion_filling *filling, const double k[3], const int64_t mode[3],
                              double out[2]);                                          /* the species' own L: re, im */
bool diffusion_filling_keeps(const diffusion_filling *filling, const int64_t mode[3]); /* not cut by `dealias` */

/* ---- rates.c: the scenario's function over pieces of planes ---- */

/* `substeps` steps of rates, of h each, the first one at time t; `step` numbers the step, for its noise. */
typedef struct diffusion_step_context {
  double t, h;
  int substeps;
  int64_t step;
} diffusion_step_context;

typedef struct diffusion_rates diffusion_rates;
typedef enum diffusion_form {
  DIFFUSION_RATE,    /* u becomes N(u) */
  DIFFUSION_EULER,   /* u + h N(u) */
  DIFFUSION_MIDPOINT /* u + h N(u + h/2 N(u)) */
} diffusion_form;
diffusion_form diffusion_form_of(diffusion_scheme scheme);
/* The graph that a form makes of the rates: of the fields, without their lifts, x, y, z, t, h and
 * diffusion_gradients_of. */
sim_status diffusion_rates_graph(const diffusion_parameters *p, diffusion_form form, sim_expr **out) SIM_MUST_CHECK;
sim_status diffusion_rates_create(const diffusion_parameters *p, diffusion_form form, sim_isa isa, int threads,
                                  diffusion_rates **out) SIM_MUST_CHECK;
void diffusion_rates_destroy(diffusion_rates **rates);
double diffusion_rates_bytes(const diffusion_parameters *p, int threads);
void diffusion_rates_set(diffusion_rates *rates, const diffusion_step_context *context); /* what the next pass does */
void diffusion_rates_apply(void *rates, const diffusion_piece *piece);                   /* a diffusion_pointwise */

/* ---- start/: the first state; real_fields[fields] are of the run's precision, [nz][ny][nx], on the host ---- */

/* Normal numbers of sim_rng_normal(seed, cell, step, draw): step 0 is that of the first state, s + 1 that of step s. */
enum diffusion_draw { DIFFUSION_DRAW_FIELD /* + field: of `noise` at step 0, of `fluctuation` at the others */ };

/* Makes the first state and checks it. SIM_ERR_SCENARIO where values or rates are not finite, or dt is too long. */
sim_status diffusion_start(const diffusion_parameters *p, const sim_setup *setup,
                           void *const *real_fields) SIM_MUST_CHECK;
/* Puts the values of files into real_fields; NULL: checks only that they can be read. */
sim_status diffusion_read_files(const diffusion_parameters *p, const sim_setup *setup,
                                void *const *real_fields) SIM_MUST_CHECK;
bool diffusion_has_files(const diffusion_parameters *p);
/* Fields without the wavenumbers that `dealias` cuts, in place. Nothing where it is off. */
sim_status diffusion_cut(const diffusion_parameters *p, sim_isa isa, int threads,
                         void *const *real_fields) SIM_MUST_CHECK;
double diffusion_cut_bytes(const diffusion_parameters *p, int threads);
/* SIM_ERR_SCENARIO where the rates of that state are not finite, or, as far as that is sure, where dt is above the
 * scheme's limit of stability there. Rates that take derivatives: diffusion_check_derived (observe.h). */
sim_status diffusion_check_rates(const diffusion_parameters *p, sim_isa isa, int threads,
                                 const void *const *real_fields) SIM_MUST_CHECK;
sim_status diffusion_check_step(const diffusion_parameters *p, sim_isa isa, int threads,
                                const void *const *real_fields) SIM_MUST_CHECK;

/* ---- cpu/pointwise.c, cpu/measure.c ---- */

/* The normal numbers of a step: real_fields[fields] of [nz][ny][nx], 0 of a field that does not fluctuate. */
void diffusion_white_noise(const diffusion_parameters *p, int64_t step, int threads, void *const *real_fields);
double diffusion_noise_of(const diffusion_parameters *p, int field); /* as in diffusion_filling */
/* Adds `sign` times the field's lift to values[nz][ny][nx] of the run's precision. */
void diffusion_add_lift(const diffusion_parameters *p, int field, double sign, void *values, int threads);
/* mean, variance, min, max, mass of count numbers; cell: the volume of one. partial[count blocks]. */
typedef struct diffusion_statistics {
  double mean, variance, least, greatest, mass;
} diffusion_statistics;
diffusion_statistics diffusion_measure(const void *values, bool single, int64_t count, double cell, double *partial,
                                       int threads);

/* ---- resolution.c: whether the grid resolves the fields ---- */

enum { DIFFUSION_LINES = 32, DIFFUSION_LINE_CELLS = 16384 };       /* lines along an axis: the more of the two */
int64_t diffusion_line_count(const grid_shape *grid, int axis);    /* of all members together */
double diffusion_lines_bytes(const grid_shape *grid, bool single); /* of the longest call of `lines` */
double diffusion_resolution_bytes(const diffusion_parameters *p);  /* on the host */
typedef struct diffusion_resolution diffusion_resolution;
typedef sim_status diffusion_take_lines(void *context, int field, int axis, int64_t count, void *out);
/* *out is NULL where a field fluctuates: white noise is at all wavenumbers. */
sim_status diffusion_resolution_create(const diffusion_parameters *p, sim_isa isa,
                                       diffusion_resolution **out) SIM_MUST_CHECK;
void diffusion_resolution_destroy(diffusion_resolution **resolution);
/* Takes lines of the fields by `take` and warns, once a field, where the share of power at the highest wavenumbers is
 * above the limit and has not fallen since the last check; at the `end` wherever it is above. Of the first state the
 * share is only stored. */
sim_status diffusion_resolution_check(diffusion_resolution *resolution, double t, bool end, diffusion_take_lines *take,
                                      void *context) SIM_MUST_CHECK;

/* ---- adaptive.c: steps of powers of two, as long as their error allows ---- */

typedef struct diffusion_controller {
  int level;  /* a step is 2^level */
  bool known; /* the rates of the state are there */
} diffusion_controller;
typedef struct diffusion_ops diffusion_ops;
typedef struct diffusion_work diffusion_work;
int diffusion_first_level(const diffusion_integrate *integrate);
/* Whether a power of two lies between dt_min and dt_max. */
bool diffusion_any_level(const diffusion_integrate *integrate);
/* SIM_ERR_DIVERGED where no step is short enough, or dt_min is too long. */
sim_status diffusion_adaptive_step(const diffusion_parameters *p, const diffusion_ops *ops, diffusion_work *work,
                                   diffusion_controller *controller, sim_clock *clock) SIM_MUST_CHECK;

/* ---- the operations of a backend ---- */

/* Where the backend has a queue, operations that give no numbers to the host are only queued. A real field is
 * [nz][ny][nx] numbers of the run's precision, in the backend's memory. */
struct diffusion_ops {
  void (*plan)(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out);
  /* With tables for steps of diffusion_dt, where there are steps. */
  sim_status (*create)(const diffusion_parameters *p, const sim_setup *setup, diffusion_work **out);
  void (*destroy)(diffusion_work **work);
  const sim_buffer *(*real)(const diffusion_work *work);  /* [fields][cells], for the start and for outputs */
  const sim_buffer *(*state)(const diffusion_work *work); /* [fields][numbers], what the scheme keeps */
  sim_status (*load)(diffusion_work *work);               /* the state from the real fields */
  sim_status (*resume)(diffusion_work *work);             /* the other arrays, from a state that was restored */
  /* One stage of the method: rates, the passes forward, and its sums of products. */
  sim_status (*stage)(diffusion_work *work, int stage, const diffusion_step_context *context);
  sim_status (*jump)(diffusion_work *work, double t); /* DIFFUSION_EXACT: to time t from the start */
  /* The real fields; `half` (may be NULL): with these rates added. */
  sim_status (*show)(diffusion_work *work, const diffusion_step_context *half);
  sim_status (*measure)(diffusion_work *work, int field, double cell, diffusion_statistics *out); /* of the real one */
  const char *(*name)(const diffusion_work *work); /* of the way to transform, for messages */
  /* Cells of `count` lines of a real field (modes.cuh) along an axis, to the host: out[count][n of the axis]. */
  sim_status (*lines)(diffusion_work *work, int field, int axis, int64_t count, void *out);
  /* The first field whose state is not finite, or -1. NULL: no check. */
  sim_status (*broken)(diffusion_work *work, int *field);
  /* Where steps adapt; NULL: they cannot here. Tables for steps of h, in one of DIFFUSION_SLOTS that hold the last h
   * they were asked for. */
  sim_status (*use)(diffusion_work *work, double h, int slot);
  /* Root mean squares over the grid: of each field the greater one of its two errors, where NaN is the greatest, and
   * of the new state. */
  sim_status (*error)(diffusion_work *work, double *errors, double *sizes);
  void (*accept)(diffusion_work *work); /* the new state is the state */
};
enum { DIFFUSION_SLOTS = 4 };
extern const diffusion_ops diffusion_ops_cpu, diffusion_ops_cuda;

#endif
