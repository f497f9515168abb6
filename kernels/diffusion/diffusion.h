/* Fields on a grid: u_t = L u + N(u). L is linear with constant coefficients; Fourier, cosine and sine transforms solve
 * it exactly. N is the scenario's pointwise function of all fields. */
#ifndef DIFFUSION_DIFFUSION_H
#define DIFFUSION_DIFFUSION_H

#include "engine/model.h"
#include "kernels/diffusion/cpu/spectral/robin.h"
#include "kernels/diffusion/cpu/spectral/spectral.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const sim_model diffusion_model;
extern const sim_bench diffusion_bench[]; /* bench.c */

/* One field: L_k = -D sum_a axes_a k_a^2 - 2 (tensor_0 k_x k_y + tensor_1 k_x k_z + tensor_2 k_y k_z) - hyper |k|^4 -
 * decay - i drift . k + linear(k). The field obeys u_t = L u + N, or L u + lap N where it is conserved. */
/* Condition of one wall on one field: its value, its derivative along the axis, or a u + b du/dn = g with the
 * derivative du/dn along the normal out of the box. One of the three is given. NaN: not given. */
typedef struct diffusion_mix {
  bool given;
  double a, b, g;
} diffusion_mix;
typedef struct diffusion_side {
  bool given;
  double value, slope;
  diffusion_mix robin;
} diffusion_side;

typedef struct diffusion_field {
  char *name;
  double D, axes[3], tensor[3], hyper, decay, drift[3], walls[2];
  sim_expr *linear;  /* of k2, kx, ky, kz -> real part, or real and imaginary parts; NULL: none */
  sim_doubles cross; /* diffusivities of the other fields in this one: adds -cross_j sum_a axes_a k_a^2 times field j */
  bool conserved;
  diffusion_side sides[6]; /* x_low, x_high, y_low, ...; not given: grid.boundary holds */
  double fluctuation;
  sim_expr *initial; /* initial value: see grid_start */
  grid_file file;
  double noise; /* standard deviation of the normal number that is added to each cell at the start */
} diffusion_field;
extern const sim_schema diffusion_field_schema;

typedef enum diffusion_scheme {
  DIFFUSION_EXACT, /* no rates: the exact solution for any dt */
  DIFFUSION_LIE,   /* u + dt N(u), then exp(L dt): order 1, one array */
  DIFFUSION_STRANG,
  DIFFUSION_ETD1,
  DIFFUSION_ETDRK2,
  DIFFUSION_ETDRK4,
  DIFFUSION_RODAS3, /* linearly implicit in L, N and the fluxes: order 3 (implicit/) */
  DIFFUSION_SCHEMES
} diffusion_scheme;

/* Method of steps on a GPU: the fastest one, a pass over memory for each axis, cuFFT, or cuFFT along planes and then
 * along z, which several GPUs share. */
typedef enum diffusion_way_asked {
  DIFFUSION_FASTEST,
  DIFFUSION_AXES,
  DIFFUSION_CUFFT,
  DIFFUSION_SLABS
} diffusion_way_asked;

typedef struct diffusion_integrate {
  int scheme, method;                /* method: diffusion_way_asked */
  double dt, t_end;                  /* dt NaN: t_end/100 without rates, adaptive with rates */
  double rtol, atol, dt_max, dt_min; /* dt_max NaN: t_end/64 */
  double dealias;                    /* NaN: `true` in the scenario, INFINITY: "padding"; see diffusion_dealias */
  double courant;                    /* 0: error estimates choose the steps */
  /* names of the fields whose velocity gives the Courant number; "": the solenoidal fields */
  char *velocity;
} diffusion_integrate;

/* Adds to the rates of the fields P/(2 E) times their part with wavenumbers k[0] <= |k| <= k[1]; E is the energy of
 * that part. Random forcing adds white noise in time in that shell instead. */
typedef struct diffusion_forcing {
  bool given, random;
  char *fields; /* names */
  double k[2], power, helicity;
} diffusion_forcing;

/* The largest Lyapunov exponent, from a second run (the twin) at a small distance, which is restored at intervals. */
typedef struct diffusion_lyapunov {
  bool given;
  double every, size, start; /* size: distance over the root mean square of all fields */
} diffusion_lyapunov;

/* Moments of a velocity's increments over separations of 1, 2, 4, ... cells. */
typedef struct diffusion_structure {
  bool given;
  int64_t order, separations;
} diffusion_structure;

enum { DIFFUSION_SCRATCH = 16384 }; /* bytes of scratch for `linear` */
enum { DIFFUSION_STATISTICS = 5 };  /* mean, variance, min, max, mass */
enum { DIFFUSION_DRAWN = 16 };      /* most names in output.fields */
/* Names that `solenoidal` gives: three components of the curl, and the pressure. */
enum { DIFFUSION_PRESSURE = 3, DIFFUSION_VECTOR_NAMES };

typedef struct diffusion_parameters {
  sim_common common;
  grid_parameters grid;
  int64_t members;
  sim_list fields; /* of diffusion_field */
  /* Function of the fields, x, y, z, t, the fields' derivatives by x, y, z, and the member; returns one number for each
   * field. NULL: none. */
  sim_expr *rates;
  diffusion_integrate integrate;
  /* Function with the inputs of rates; returns the flux of each field along each axis: u_t = L u + N - div flux. NULL:
   * none. */
  sim_expr *flux;
  /* functions of kx, ky, kz, k2, member and the fields (linear in the fields): re, or re and im */
  sim_function_map derived;
  /* Filled by validation: the coefficient of a field in a derived field at k = 0, and half its second derivatives by
   * kx, ky, kz. 0 where the field has no lift. */
  double origin[DIFFUSION_DERIVED][DIFFUSION_FIELDS][4];
  diffusion_forcing forcing;
  diffusion_lyapunov lyapunov;
  char *solenoidal;         /* names of the fields that are a vector without divergence; "": none */
  sim_function_map observe; /* inputs as of rates; one result each */
  sim_doubles probes;       /* [count][rank] */
  int64_t spectrum;         /* number of bins of |k| */
  int64_t transfer;         /* number of bins of the tables `transfer` and `dissipation` */
  int64_t enstrophy;        /* number of bins of the budget tables of enstrophy and helicity */
  int64_t helicity;
  diffusion_structure structure;
  char vector_names[DIFFUSION_VECTOR_NAMES][SIM_EXPR_NAME_MAX]; /* filled by validation; "": no such name */
  /* Filled by validation: tables and the state's fields, with the names of the scenario's fields. */
  struct diffusion_table_columns *columns;                  /* of the tables; freed by diffusion_release */
  sim_field state[(int)DIFFUSION_FIELDS + DIFFUSION_DRAWN]; /* then drawn fields */
  sim_table table[SIM_TABLES_MAX];
  const sim_table *tables[SIM_TABLES_MAX + 1];
  int kinds[SIM_TABLES_MAX]; /* diffusion_tables_kind of each table */
} diffusion_parameters;
extern const sim_schema diffusion_schema;

const diffusion_field *diffusion_field_of(const diffusion_parameters *p, int field);
grid_shape diffusion_grid_of(const diffusion_parameters *p);
/* Number of the input `member` of rates and observed functions. It follows the fields, x, y, z, t and all derivatives.
 */
static inline int diffusion_member_input(int fields) { return 4 * fields + 4; }
/* Whether any result of a function depends on this input. The function may lack the input. */
bool diffusion_takes(const sim_expr *expr, int input);
/* Whether tables have separate entries for k and -k: L is complex, or not even in k. */
bool diffusion_unfolded(const diffusion_parameters *p);

/* ---- scenario/walls.c ---- */

extern const char *const diffusion_side_names[6];
grid_shape diffusion_shape_of(const diffusion_parameters *p, int field); /* the grid with this field's boundaries */
bool diffusion_same_walls(const diffusion_parameters *p, int a, int b);  /* whether two fields have the same walls */
bool diffusion_mixes(const diffusion_parameters *p); /* whether some wall mixes value and slope of a field (robin) */
/* Returns the series of one field, as source 0. */
diffusion_series diffusion_own_series(const diffusion_parameters *p, int field);
/* Whether each field has series of its own: its walls differ from the grid's, or functions join series of different
 * kinds. See spectral.h. */
bool diffusion_aligned(const diffusion_parameters *p, const diffusion_gradients *read);
void diffusion_all_series(const diffusion_parameters *p, diffusion_series *out); /* of fields and derived fields */
/* Returns the series in *out; NULL where fields have no series of their own. */
const diffusion_series *diffusion_series_of(const diffusion_parameters *p, const diffusion_gradients *read,
                                            diffusion_series *out);

/* Between walls that hold a field at given values or slopes, the field is v + lift. v is transformed; its values or
 * slopes are 0 at the walls. lift = low + sum over the axes of (slopes x + curves x^2) + growth t. `growth` is L of the
 * lift, so that v_t = L v + N. */
typedef struct diffusion_lift {
  int axis; /* -1: no lift; else the first axis that it depends on */
  double low, slopes[3], curves[3], growth;
} diffusion_lift;
/* Returns the lift of a field, or of a derived field, which is a function of -lap of fields: its lift is the same
 * function of the lifts of these fields. */
diffusion_lift diffusion_lift_of(const diffusion_parameters *p, int source);
double diffusion_lift_at(const diffusion_lift *lift, const double x[3], double t);
/* Returns a derivative of the lift. kind: diffusion_kind below DIFFUSION_VALUE; x: position along its axis. */
double diffusion_lift_slope(const diffusion_lift *lift, int kind, double x);
void diffusion_check_walls(const diffusion_parameters *p, sim_faults *faults);
/* Whether a wall has a slope, or no flux, which is the slope 0. */
bool diffusion_wall_lets(const diffusion_parameters *p, int field, int axis, int end, double *slope);
void diffusion_say_walls(const diffusion_parameters *p); /* warns of budgets that lack what walls fix */
void diffusion_say_idle(const diffusion_parameters *p);  /* idle.c: warns of what has no effect */

/* ---- scenario/inputs.c: inputs of rates, fluxes and observed functions ---- */

enum { DIFFUSION_INPUTS = 11 * (int)DIFFUSION_FIELDS + 6 + (int)DIFFUSION_KINDS * (int)DIFFUSION_DERIVED };
/* Returns the number of the input that is a derivative of a source. Sources are the fields, then the derived fields. */
int diffusion_input(const diffusion_parameters *p, int source, int kind);
int diffusion_input_count(const diffusion_parameters *p);
bool diffusion_has_kind(const diffusion_parameters *p, int source, int kind); /* whether this input exists */
const char *diffusion_source_name(const diffusion_parameters *p, int source);
void diffusion_input_name(const diffusion_parameters *p, int source, int kind, char out[SIM_EXPR_NAME_MAX]);
/* Adds one derivative unless it is there; or what a function (may be NULL) reads. out->count may exceed DIFFUSION_READ,
 * which is a fault. */
void diffusion_add_gradient(diffusion_gradients *out, int source, int kind);
void diffusion_find_gradients(const diffusion_parameters *p, const sim_expr *expr, diffusion_gradients *out);
void diffusion_sort_gradients(diffusion_gradients *gradients);
/* Returns what the rates and fluxes read, and how fields are joined at a wavenumber. */
diffusion_gradients diffusion_gradients_of(const diffusion_parameters *p);
/* whether rates or fluxes read any derivative or derived field */
bool diffusion_has_gradients(const diffusion_parameters *p);
/* Returns the number of names in `solenoidal`, and in vector[] the first three fields; -1: no such field. The other
 * function does the same for the velocity of the Courant number. */
int diffusion_vector_of(const diffusion_parameters *p, int vector[3]);
int diffusion_velocity_of(const diffusion_parameters *p, int vector[3]);
/* Does the same for any list of names, and returns the first `most` fields. */
int diffusion_named_fields(const diffusion_parameters *p, const char *names, int most, int *fields);
bool diffusion_twice(const int *fields, int count); /* whether a field is there twice */

/* ---- scenario/forcing.c ---- */

unsigned diffusion_forced(const diffusion_parameters *p); /* bit f: field f is forced, at fixed power or at random */
bool diffusion_stirred(const diffusion_parameters *p);    /* whether forcing is random */
bool diffusion_held(const diffusion_parameters *p);       /* whether there is forcing in proportion to the fields */
/* Returns the degrees of freedom of the shell: the number of real numbers that determine the forced fields there. */
double diffusion_shell_freedom(const diffusion_parameters *p);
void diffusion_check_forcing(const diffusion_parameters *p, sim_faults *faults);
/* Computes the factor P/(2 E) of a shell of energy E. A step of h is not accurate where P h > 2 E: SIM_ERR_SCENARIO at
 * the `start`, SIM_ERR_DIVERGED later. */
sim_status diffusion_force_factor(const diffusion_parameters *p, double energy, double h, bool start,
                                  double *out) SIM_MUST_CHECK;

/* ---- scenario/lyapunov.c ---- */

/* Returns the number of steps of h between two resets of the distance, at least 1. */
int64_t diffusion_growth_steps(const diffusion_lyapunov *lyapunov, double h);
void diffusion_check_lyapunov(const diffusion_parameters *p, sim_faults *faults);

/* ---- scenario/implicit.c ---- */

sim_status diffusion_check_implicit(const diffusion_parameters *p, sim_faults *faults) SIM_MUST_CHECK;

/* ---- scenario/vector.c: names that follow from others ---- */

/* Sets p->vector_names: "curl_u", "curl_v", "curl_w" on three axes, "vorticity" on two, and "pressure". A field or
 * derived field of such a name keeps it. */
void diffusion_name_vector(diffusion_parameters *p);
/* Returns the two derivatives whose difference is a component of the curl. */
void diffusion_curl_of(const diffusion_parameters *p, int component, int source[2], int kind[2]);
/* Replaces inputs of a function: a component of the curl by its derivatives, and u_yx by u_xy. */
sim_status diffusion_spell_out(const diffusion_parameters *p, sim_expr **expr) SIM_MUST_CHECK;
int diffusion_pressure_input(const diffusion_parameters *p);  /* number of the input `pressure` of observed functions */
bool diffusion_needs_pressure(const diffusion_parameters *p); /* whether an observed function or an output has it */

/* ---- scenario/drawn.c: the fields that output.fields names: derived fields, functions of `observe` with their value
 * in each cell, components of the curl and the pressure ---- */

/* Numbers of drawn fields: d is derived field d, derived.count + i is function i of `observe`, and after these
 * component c of the curl; DIFFUSION_PRESSURE stands for a fourth component. */
int diffusion_drawn(const diffusion_parameters *p, int drawn[DIFFUSION_DRAWN]); /* returns how many there are */
bool diffusion_is_drawn(const diffusion_parameters *p, int number);
const char *diffusion_drawn_name(const diffusion_parameters *p, int number);
int diffusion_drawn_names(const void *parameters, const char *names[SIM_DERIVED_MAX]); /* sim_model.derived */
void diffusion_check_drawn(const diffusion_parameters *p, sim_faults *faults);
/* Adds derived fields that are drawn, and derivatives of curls that are drawn, to what `observe` reads. */
void diffusion_find_drawn(const diffusion_parameters *p, diffusion_gradients *out);

/* ---- scenario/functions.c: checks the functions and binds their inputs ---- */

/* Sets rates that are 0, for a scenario that has only fluxes. */
sim_status diffusion_no_rates(diffusion_parameters *p) SIM_MUST_CHECK;
sim_status diffusion_bind_rates(diffusion_parameters *p, sim_faults *faults) SIM_MUST_CHECK; /* binds the flux too */
/* Binds the functions of `observe`, and checks what a run measures. */
sim_status diffusion_bind_observed(diffusion_parameters *p, sim_faults *faults) SIM_MUST_CHECK;
void diffusion_check_solenoidal(const diffusion_parameters *p, sim_faults *faults);
const char *diffusion_not_periodic(const grid_shape *grid, int axis); /* why an axis is not periodic, for a message */

/* ---- scenario/symbols.c: whether functions of the wavenumber are coefficients of real fields ---- */

enum { DIFFUSION_SYMBOL_SAMPLES = 36 };
/* Sets k to a wavenumber to test, 0 <= number < DIFFUSION_SYMBOL_SAMPLES: along each axis alone, and in all directions;
 * the lowest ones, and others up to a half and to all of the highest. Returns false where k is 0. */
bool diffusion_symbol_sample(const grid_shape *grid, int number, double k[3]);
bool diffusion_symbols_near(const double a[2], const double b[2]); /* equal but for rounding */
/* Computes the real and imaginary part of a coefficient. */
typedef void diffusion_symbol(const void *context, const double k[3], double member, double out[2]);
enum { DIFFUSION_SYMBOL_GOOD = -3, DIFFUSION_SYMBOL_COMPLEX, DIFFUSION_SYMBOL_INFINITE };
/* Returns whether a coefficient at k is that of a real field: _COMPLEX where its value at -k is not the conjugate of
 * that at k, _INFINITE where it is not finite, or the axis with walls along which it is not even. */
int diffusion_symbol_parity(const grid_shape *grid, diffusion_symbol *symbol, const void *context, const double k[3],
                            double member);

/* ---- scenario/derived.c ---- */

/* Adds faults of derived fields, and binds their functions. */
sim_status diffusion_check_derived_fields(diffusion_parameters *p, sim_faults *faults) SIM_MUST_CHECK;
/* Builds a program for the coefficient of a field, a function of the wavenumbers. */
sim_status diffusion_symbol_program(const diffusion_parameters *p, int derived, int field,
                                    sim_expr_program **out) SIM_MUST_CHECK;
/* Returns whether the coefficient of a field is real, imaginary or both. */
diffusion_parts diffusion_symbol_parts(const sim_expr *expr, int field);
/* Computes the value of a coefficient program, re and im. grid: that of p, with any walls. At k = 0 a value that is not
 * finite becomes 0; elsewhere it returns false. Where a mode is its own mirror image along an axis, the value is the
 * mean of both signs. */
bool diffusion_symbol_at(const diffusion_parameters *p, const grid_shape *grid, const sim_expr_program *program,
                         const double k[3], const int64_t mode[3], double out[2]);
/* Returns the failure for a coefficient that is not finite at k, SIM_ERR_SCENARIO. */
sim_status diffusion_symbol_fault(const diffusion_parameters *p, int derived, int field, const double k[3]);

/* Returns the fraction of the highest wavenumber along each axis below which wavenumbers are kept; 0: all are kept. */
double diffusion_dealias(const diffusion_integrate *integrate);
/* Whether rates are evaluated on a finer grid (`dealias = "padding"`). diffusion_refine makes of the parameters of such
 * a run those of the same run on 3/2 as many cells with `dealias = true`, which keeps the same wavenumbers; n[3]:
 * memory for the numbers of cells. It changes no other parameters. Operations of a backend get refined parameters. */
bool diffusion_padded(const diffusion_parameters *p);
void diffusion_refine(diffusion_parameters *p, double n[3]);
bool diffusion_single(const diffusion_parameters *p);
int64_t diffusion_steps(const diffusion_integrate *integrate);
double diffusion_dt(const diffusion_integrate *integrate);
bool diffusion_fluctuates(const diffusion_parameters *p); /* whether some field has white noise in each step */
bool diffusion_has_noise(const diffusion_parameters *p);  /* the same, or random forcing */
bool diffusion_crossed(const diffusion_parameters *p);    /* whether fields have cross diffusion */
/* Whether the length of steps is adaptive, and whether by error estimates or by a Courant number. */
bool diffusion_adaptive(const diffusion_parameters *p);
bool diffusion_estimates(const diffusion_parameters *p);
bool diffusion_by_courant(const diffusion_parameters *p);

/* Whether a field may have this name. */
bool diffusion_good_name(const char *name);
/* sim_model.validate and sim_model.tables_of. */
sim_status diffusion_validate(void *parameters, sim_faults *faults);
const sim_table *const *diffusion_tables_of(const void *parameters);
/* Fills p->tables for diffusion_tables_of. SIM_ERR_NO_MEMORY. */
sim_status diffusion_name_tables(diffusion_parameters *p) SIM_MUST_CHECK;
void diffusion_release(void *parameters);            /* sim_model.release */
extern const sim_table *const diffusion_described[]; /* sim_model.described */

/* ---- scenario/linear.c ---- */

bool diffusion_same_linear(const diffusion_field *a, const diffusion_field *b); /* whether two fields have the same L */
/* Adds a fault where L is not finite, or so large that the scheme's tables overflow. */
sim_status diffusion_check_linear(const diffusion_parameters *p, sim_faults *faults) SIM_MUST_CHECK;

/* ---- schemes.c ---- */

/* A scheme: number of arrays beyond [0], number of tables, and the stages. Before stage s the rates are evaluated at t
 * + at[s] dt. */
enum { DIFFUSION_STAGES = 7 };
typedef struct diffusion_method {
  const char *name;
  int arrays, tables, stages, order;
  double at[DIFFUSION_STAGES];
  diffusion_stage stage[DIFFUSION_STAGES];
} diffusion_method;
extern const diffusion_method diffusion_methods[DIFFUSION_SCHEMES];

/* An embedded scheme estimates the error of a step. Stage 0 evaluates the rates of the state unless they are known
 * (`whole`: they never are); the other stages make a step. Then array [DIFFUSION_NEXT] is the new state,
 * [DIFFUSION_ERROR] its difference from the scheme of one order less, and [DIFFUSION_BETWEEN] the error of the rates'
 * interpolation between the stages' times. */
enum { DIFFUSION_NEXT = 3, DIFFUSION_ERROR = 4, DIFFUSION_BETWEEN = 5 };
typedef struct diffusion_embedded {
  diffusion_method method;
  bool kept;    /* the last stage stores the rates of the new state over those of the old one */
  bool whole;   /* stage 0 is a part of the step, so that it is made again after a rejected one */
  double part;  /* length of the rates' substep of a stage, over that of the step */
  double power; /* order p of the error, which is proportional to dt^p */
} diffusion_embedded;
/* The embedded form of DIFFUSION_STRANG, DIFFUSION_ETDRK2 or DIFFUSION_ETDRK4; NULL for other schemes. */
const diffusion_embedded *diffusion_embedded_of(diffusion_scheme scheme);
/* Returns the method of the scenario. */
const diffusion_method *diffusion_method_of(const diffusion_parameters *p);
/* Returns the same method with a scale. Scale 0 stands for the scale in the source of GPU kernels. Where fields
 * fluctuate, or forcing is random, the last stage adds array [DIFFUSION_NOISE] (transformed normal numbers, or the
 * coefficients of random forcing) times an additional table. Other forcing: the second term of each stage's first set
 * adds the stage's state times an additional table that is 1 in the shell; its coefficient is NaN, which stands for
 * P/(2 E) of that state. */
diffusion_method diffusion_method_with(const diffusion_parameters *p, double scale);
int diffusion_table_count(const diffusion_parameters *p); /* number of tables of that method */
/* Parameters of the tables of one field for steps dt; the context of diffusion_method_fill. `scale`: scale of the
 * transforms, by which split schemes of fixed steps multiply. */
typedef struct diffusion_filling {
  const diffusion_field *species;
  grid_shape grid;
  diffusion_scheme scheme;
  double dt, scale, dealias, noise; /* noise: fluctuation / sqrt(volume of a cell) */
  const diffusion_forcing *forcing; /* of this field; NULL: none */
  sim_expr_program *linear;         /* of the field `species`; NULL: none */
} diffusion_filling;
sim_status diffusion_filling_begin(const diffusion_parameters *p, int field, double dt, double scale,
                                   diffusion_filling *out) SIM_MUST_CHECK;
void diffusion_filling_end(diffusion_filling *filling);
/* Returns the first field whose tables are those of this field. */
int diffusion_tables_field(const diffusion_parameters *p, int field);
int diffusion_distinct_tables(const diffusion_parameters *p); /* number of fields that are the first one */
diffusion_fill diffusion_method_fill;
void diffusion_filling_linear(const diffusion_filling *filling, const double k[3], const int64_t mode[3],
                              double out[2]); /* re, im of the field's L */
/* Returns the factor of `noise` at a wavenumber: 1, but along walls with robin. There normal numbers are transformed by
 * cosines, which are orthogonal, and the factor gives them the norm of the series' own function. */
double diffusion_filling_norm(const diffusion_filling *filling, const double k[3], const int64_t mode[3]);
/* whether dealiasing keeps the mode */
bool diffusion_filling_keeps(const diffusion_filling *filling, const int64_t mode[3]);

/* ---- rates.c: the scenario's rates on pieces of planes ---- */

/* `substeps` steps of the rates, each of length h, from time t. `step` numbers the step and keys its noise. */
typedef struct diffusion_step_context {
  double t, h;
  int substeps;
  int64_t step;
} diffusion_step_context;

typedef struct diffusion_rates diffusion_rates;
typedef enum diffusion_form {
  DIFFUSION_RATE,    /* u is replaced by N(u) */
  DIFFUSION_EULER,   /* u + h N(u) */
  DIFFUSION_MIDPOINT /* u + h N(u + h/2 N(u)) */
} diffusion_form;
diffusion_form diffusion_form_of(diffusion_scheme scheme);
/* Builds the expression of a form of the rates. Inputs: the fields without their lifts, x, y, z, t, h, and the
 * derivatives of diffusion_gradients_of. The caller frees *out. */
sim_status diffusion_rates_graph(const diffusion_parameters *p, diffusion_form form, sim_expr **out) SIM_MUST_CHECK;
sim_status diffusion_rates_create(const diffusion_parameters *p, diffusion_form form, sim_isa isa, int threads,
                                  diffusion_rates **out) SIM_MUST_CHECK;
/* Compiles another function of the inputs of diffusion_rates_graph, which the caller frees. */
sim_status diffusion_rates_compile(const diffusion_parameters *p, const sim_expr *expr, sim_isa isa, int threads,
                                   diffusion_rates **out) SIM_MUST_CHECK;
void diffusion_rates_destroy(diffusion_rates **rates);
double diffusion_rates_bytes(const diffusion_parameters *p, int threads);
/* sets the context of the next pass */
void diffusion_rates_set(diffusion_rates *rates, const diffusion_step_context *context);
void diffusion_rates_apply(void *rates, const diffusion_piece *piece); /* pointwise work (diffusion_pointwise) */
/* Evaluates all results of the function, results[results][piece->count], and leaves the piece as it is. */
void diffusion_rates_evaluate(diffusion_rates *rates, const diffusion_piece *piece, void *const *results);

/* ---- jacobian.c: derivatives of rates and fluxes, for implicit schemes ---- */

/* The derivatives that are not 0: of result `result` (a rate, or fields + flux) by input `input` (a field, or fields +
 * gradient of diffusion_gradients_of), sorted by result. */
enum { DIFFUSION_ENTRIES = 256 };
typedef struct diffusion_jacobian {
  int count;
  struct {
    int result, input;
  } of[DIFFUSION_ENTRIES];
} diffusion_jacobian;
/* Builds the derivatives as functions of the inputs of diffusion_rates_graph: the entries, and the derivatives of all
 * results by t. *entries is NULL where there are none, *by_time where no result depends on t. The caller frees both.
 * SIM_ERR_SCENARIO where they are too many or too long. */
sim_status diffusion_jacobian_graph(const diffusion_parameters *p, diffusion_jacobian *out, sim_expr **entries,
                                    sim_expr **by_time) SIM_MUST_CHECK;
bool diffusion_implicit(const diffusion_parameters *p); /* whether the scheme solves for rates and fluxes */

/* ---- start/: the initial state. real_fields[fields]: host memory, the run's precision, [nz][ny][nx] each, or this
 * rank's slab of it ---- */

/* Draws of sim_rng_normal(seed, cell, step, draw): step 0 is the initial state, s + 1 is step s. */
enum diffusion_draw {
  DIFFUSION_DRAW_FIELD, /* + field: `noise` at step 0, `fluctuation` later */
  /* + field: random forcing at a wavenumber, whose number takes the place of the cell */
  DIFFUSION_DRAW_FORCING = DIFFUSION_DRAW_FIELD + (int)DIFFUSION_FIELDS,
  DIFFUSION_DRAW_TWIN =
      DIFFUSION_DRAW_FORCING + (int)DIFFUSION_FIELDS /* + field: the twin's first difference, at step 0 */
};

/* Computes the initial state and checks it. SIM_ERR_SCENARIO where values or rates are not finite, or dt is too long.
 */
sim_status diffusion_start(const diffusion_parameters *p, const sim_setup *setup,
                           void *const *real_fields) SIM_MUST_CHECK;
/* Reads the fields' files into real_fields. NULL: only checks that the files can be read. */
sim_status diffusion_read_files(const diffusion_parameters *p, const sim_setup *setup,
                                void *const *real_fields) SIM_MUST_CHECK;
bool diffusion_has_files(const diffusion_parameters *p);
/* Removes the wavenumbers that `dealias` cuts, in place; does nothing where it is off. */
sim_status diffusion_cut(const diffusion_parameters *p, const sim_setup *setup,
                         void *const *real_fields) SIM_MUST_CHECK;
double diffusion_cut_bytes(const diffusion_parameters *p, const sim_setup *setup);
/* SIM_ERR_SCENARIO where the rates of the initial state are not finite, or where dt is surely above the scheme's
 * stability limit there. diffusion_check_derived (observe.h) checks rates with derivatives. */
sim_status diffusion_check_rates(const diffusion_parameters *p, const sim_setup *setup,
                                 const void *const *real_fields) SIM_MUST_CHECK;
sim_status diffusion_check_step(const diffusion_parameters *p, const sim_setup *setup,
                                const void *const *real_fields) SIM_MUST_CHECK;
/* SIM_ERR_SCENARIO where strang's tolerances are below the rounding errors of single precision. */
sim_status diffusion_check_tolerance(const diffusion_parameters *p, const sim_setup *setup,
                                     const void *const *real_fields) SIM_MUST_CHECK;

/* ---- cpu/pointwise.c, cpu/measure.c ---- */

/* Computes the normal numbers of a step for cells first <= i < end of the grid, real_fields[fields][end - first]. They
 * are 0 for a field that does not fluctuate. */
void diffusion_white_noise(const diffusion_parameters *p, int64_t step, int64_t first, int64_t end, int threads,
                           void *const *real_fields);
double diffusion_noise_of(const diffusion_parameters *p, int field); /* diffusion_filling.noise of a field */
/* Adds `sign` times the field's lift at time t to cells first <= i < end of the grid. values[end - first]: the run's
 * precision, host memory. */
void diffusion_add_lift(const diffusion_parameters *p, int field, double sign, double t, int64_t first, int64_t end,
                        void *values, int threads);
/* Mean, variance, min, max and mass of a field. */
typedef struct diffusion_statistics {
  double mean, variance, least, greatest, mass;
} diffusion_statistics;
/* A field's shape, the ranks that divide it, and scratch: partial[blocks of the whole field], and
 * block[SIM_REDUCE_BLOCK] in the run's precision. Both together take at most diffusion_measure_bytes. */
typedef struct diffusion_measured {
  grid_shape grid;
  bool single;
  const sim_comm *comm;
  double *partial;
  void *block;
  int threads;
} diffusion_measured;
double diffusion_measure_bytes(const grid_shape *grid);
/* values[cells of the slab]: host memory. All ranks call it and get the same result. */
sim_status diffusion_measure(const diffusion_measured *measured, const void *values,
                             diffusion_statistics *out) SIM_MUST_CHECK;

/* ---- structure.c ---- */

/* Computes moments of increments. values[2][separations]: along the axis of the increment, and across it, averaged over
 * axes and components; on one axis values[1][separations]. real[fields][cells]: host memory. partial[rows of cells]:
 * scratch. */
void diffusion_structure_row(const diffusion_parameters *p, double *const *real, int threads, double *partial,
                             double *values);

/* ---- resolution.c: whether the grid resolves the fields ---- */

enum {
  DIFFUSION_LINES = 32,
  DIFFUSION_LINE_CELLS = 16384
}; /* sampled lines along an axis: the larger of 32 and the number that has 16384 cells */
int64_t diffusion_line_count(const grid_shape *grid, int axis);    /* over all members */
double diffusion_lines_bytes(const grid_shape *grid, bool single); /* host bytes of the longest call of `lines` */
double diffusion_resolution_bytes(const diffusion_parameters *p);  /* host bytes of the check */
typedef struct diffusion_resolution diffusion_resolution;
typedef sim_status diffusion_take_lines(void *context, int field, int axis, int64_t count, void *out);
/* Creates the check. *out is NULL where a field fluctuates, because white noise has power at all wavenumbers. */
sim_status diffusion_resolution_create(const diffusion_parameters *p, sim_isa isa,
                                       diffusion_resolution **out) SIM_MUST_CHECK;
void diffusion_resolution_destroy(diffusion_resolution **resolution);
/* Reads sampled lines of the fields with `take`. Warns, once for each field, where the share of power at the highest
 * wavenumbers is above the limit and has not fallen since the last check; at the `end`, wherever it is above. In the
 * initial state it only stores the share. */
sim_status diffusion_resolution_check(diffusion_resolution *resolution, double t, bool end, diffusion_take_lines *take,
                                      void *context) SIM_MUST_CHECK;

/* ---- adaptive.c: steps of length 2^level, as long as the error or the Courant number allows ---- */

typedef struct diffusion_controller {
  int level;  /* the step is 2^level */
  bool known; /* the array of rates belongs to the current state */
} diffusion_controller;
typedef struct diffusion_ops diffusion_ops;
typedef struct diffusion_work diffusion_work;
int diffusion_first_level(const diffusion_integrate *integrate);
/* Whether a power of two lies between dt_min and dt_max. */
bool diffusion_any_level(const diffusion_integrate *integrate);
/* SIM_ERR_DIVERGED where no step is short enough, or the error is too large at dt_min. */
sim_status diffusion_adaptive_step(const diffusion_parameters *p, const diffusion_ops *ops, diffusion_work *work,
                                   diffusion_controller *controller, sim_clock *clock) SIM_MUST_CHECK;

/* Computes the sum over the axes of the largest velocity divided by the length of a cell, from the real fields
 * (`show`). The sum is NaN where a field is. */
sim_status diffusion_courant_rate(const diffusion_parameters *p, const diffusion_ops *ops, diffusion_work *work,
                                  double *out) SIM_MUST_CHECK;
/* Makes a step by the Courant number of the state, whose rate is `rate`. The step is at most 2^most long; INT_MAX: no
 * limit. */
sim_status diffusion_courant_step(const diffusion_parameters *p, const diffusion_ops *ops, diffusion_work *work,
                                  diffusion_controller *controller, double rate, int most,
                                  sim_clock *clock) SIM_MUST_CHECK;
/* Returns INT_MAX where a step of h that ended with this rate had at most twice the Courant number. Otherwise returns
 * the level of the longest step with which to repeat it. */
int diffusion_courant_shorter(const diffusion_parameters *p, double rate, double h);

/* ---- the operations of a backend ---- */

/* Systems of linear equations that implicit steps have solved, their iterations, and the largest number of a system. */
typedef struct diffusion_solved {
  int64_t systems, iterations, most;
} diffusion_solved;

/* On a backend with a queue, operations that return no numbers are only enqueued. A real field has [nz][ny][nx] numbers
 * of the run's precision, in the backend's memory. */
struct diffusion_ops {
  void (*plan)(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out);
  /* creates the run's memory, and the tables for steps of diffusion_dt unless steps are adaptive */
  sim_status (*create)(const diffusion_parameters *p, const sim_setup *setup, diffusion_work **out);
  void (*destroy)(diffusion_work **work);
  const sim_buffer *(*real)(const diffusion_work *work);  /* [fields][cells], for the initial state and outputs */
  const sim_buffer *(*state)(const diffusion_work *work); /* [fields][numbers], the arrays of a checkpoint */
  sim_status (*load)(diffusion_work *work, double t);     /* computes the state from the real fields of time t */
  sim_status (*resume)(diffusion_work *work);             /* computes the other arrays from the restored state */
  /* Makes one stage of the method: rates, forward transforms, and sums of products. */
  sim_status (*stage)(diffusion_work *work, int stage, const diffusion_step_context *context);
  sim_status (*jump)(diffusion_work *work, double t); /* DIFFUSION_EXACT: jumps from the start to time t */
  /* Computes the real fields of time t. `half` (may be NULL) adds a further substep of rates, for split schemes. */
  sim_status (*show)(diffusion_work *work, double t, const diffusion_step_context *half);
  /* of the real field */
  sim_status (*measure)(diffusion_work *work, int field, double cell, diffusion_statistics *out);
  const char *(*name)(const diffusion_work *work); /* description of the transforms, for messages */
  /* Copies `count` sampled lines of a real field (modes.cuh) along an axis to the host: out[count][n of the axis]. */
  sim_status (*lines)(diffusion_work *work, int field, int axis, int64_t count, void *out);
  /* Sets *field to the first field whose state is not finite, or to -1. NULL: no check. */
  sim_status (*broken)(diffusion_work *work, int *field);
  /* Adaptive steps; NULL: not supported. Selects tables for steps of h, in a slot. DIFFUSION_SLOTS slots keep the
   * tables of the last lengths. */
  sim_status (*use)(diffusion_work *work, double h, int slot);
  /* Computes root mean squares over the grid, [fields] each: of the larger of the two errors (NaN counts as largest),
   * and of the new state. */
  sim_status (*error)(diffusion_work *work, double *errors, double *sizes);
  void (*accept)(diffusion_work *work); /* makes the new state the current one */
  /* NULL: not supported. Sets *distance to the root of the sum over the fields of their mean squared differences
   * between two states, and *magnitude to the same of the first state. Then moves the twin along the difference to
   * `size` times *magnitude from the first state. All ranks call it. For methods with arrays, in double. */
  sim_status (*twin)(diffusion_work *work, diffusion_work *twin, double size, double *distance, double *magnitude);
  /* Checks whether this backend has what the run asks for, on these ranks; SIM_ERR_SCENARIO, SIM_ERR_USAGE. NULL: it
   * has. */
  sim_status (*check)(const diffusion_parameters *p, const sim_setup *setup);
  /* For several ranks. Then `real` is this rank's slab (cpu/spectral/slabs.h), [fields][cells of the slab], and all
   * ranks call all operations. `whole` describes the slab of the state as a part of the whole array: data, shape and
   * offset of *out, and the global shape, which is that of `state` on one rank. The next operation sets the slab from
   * the whole state, whose shape `whole` gives. */
  void (*whole)(const diffusion_work *work, sim_array *out);
  sim_status (*state_slab)(diffusion_work *work, sim_array *out);
  sim_status (*restore_slab)(diffusion_work *work, const sim_array *whole);
  /* of implicit schemes, else NULL: the solutions since the work was created */
  void (*solved)(const diffusion_work *work, diffusion_solved *out);
};
enum { DIFFUSION_SLOTS = 4 };
extern const diffusion_ops diffusion_ops_cpu, diffusion_ops_cuda;

#ifdef __cplusplus
}
#endif

#endif
