/* Fields on a grid: u_t = L u + N(u). L is linear with constant coefficients, and exact by Fourier, cosine and sine
 * transforms; N is the scenario's function of all fields at a point. */
#ifndef DIFFUSION_DIFFUSION_H
#define DIFFUSION_DIFFUSION_H

#include "engine/model.h"
#include "kernels/diffusion/spectral.h"

extern const sim_model diffusion_model;

/* One field: L_k = -D sum_a axes_a k_a^2 - hyper |k|^4 - decay - i drift . k */
typedef struct diffusion_species {
  char *name;
  double D, axes[3], hyper, decay, drift[3];
  sim_expr *initial; /* of x, y, z; NULL: 0 */
  double noise;      /* standard deviation of what is added to each cell at the start */
} diffusion_species;
extern const sim_schema diffusion_species_schema;

typedef enum diffusion_scheme {
  DIFFUSION_EXACT, /* no rates: the solution itself, whatever dt */
  DIFFUSION_LIE,   /* u + dt N(u), then exp(L dt): order 1, one array */
  DIFFUSION_STRANG,
  DIFFUSION_ETD1,
  DIFFUSION_ETDRK2,
  DIFFUSION_ETDRK4,
  DIFFUSION_SCHEMES
} diffusion_scheme;

typedef enum diffusion_boundary {
  DIFFUSION_PERIODIC,
  DIFFUSION_NO_FLUX,
  DIFFUSION_FIXED,
  DIFFUSION_AS_OTHERS
} diffusion_boundary;

typedef struct diffusion_grid_parameters {
  sim_doubles n, size;
  int boundary, along[3]; /* diffusion_boundary */
} diffusion_grid_parameters;

typedef struct diffusion_integrate {
  int scheme;
  double dt, t_end; /* dt NaN: chosen, for DIFFUSION_EXACT */
  bool dealias;
} diffusion_integrate;

enum { DIFFUSION_STATISTICS = 5 }; /* mean, variance, min, max, mass */

typedef struct diffusion_parameters {
  sim_common common;
  diffusion_grid_parameters grid;
  sim_list fields; /* of diffusion_species */
  sim_expr *rates; /* of the fields, x, y, z, t -> one number a field; NULL: none */
  diffusion_integrate integrate;
  /* filled by validate: the table's columns, and the state's fields, by the names of the scenario */
  char names[DIFFUSION_FIELDS][DIFFUSION_STATISTICS][96];
  sim_field columns[DIFFUSION_FIELDS * DIFFUSION_STATISTICS + 1], state[DIFFUSION_FIELDS];
  sim_table table;
  const sim_table *tables[2];
} diffusion_parameters;
extern const sim_schema diffusion_schema;

const diffusion_species *diffusion_species_of(const diffusion_parameters *p, int field);
diffusion_grid diffusion_grid_of(const diffusion_parameters *p);
bool diffusion_drifts(const diffusion_parameters *p); /* L is complex */
bool diffusion_single(const diffusion_parameters *p);
int64_t diffusion_steps(const diffusion_integrate *integrate);
double diffusion_dt(const diffusion_integrate *integrate);

/* sim_model.validate and its tables_of */
sim_status diffusion_validate(void *parameters, sim_faults *faults);
const sim_table *const *diffusion_tables_of(const void *parameters);

/* ---- schemes.c ---- */

/* What a scheme needs: arrays beside [0], tables, and its stages; before each stage the rates are taken at t + at dt.
 */
enum { DIFFUSION_STAGES = 4 };
typedef struct diffusion_method {
  const char *name;
  int arrays, tables, stages, order;
  double at[DIFFUSION_STAGES];
  diffusion_stage stage[DIFFUSION_STAGES];
} diffusion_method;
extern const diffusion_method diffusion_methods[DIFFUSION_SCHEMES];
/* The method's stages with the grid's scale in them. */
diffusion_method diffusion_method_for(diffusion_scheme scheme, double scale);
/* Tables of one field for a step dt. */
void diffusion_method_tables(diffusion_spectral *spectral, const diffusion_parameters *p, int field, double dt,
                             void *const *tables);

/* ---- rates.c: the scenario's function over pieces of planes ---- */

typedef struct diffusion_rates diffusion_rates;
typedef enum diffusion_form {
  DIFFUSION_RATE,    /* u becomes N(u) */
  DIFFUSION_EULER,   /* u + h N(u) */
  DIFFUSION_MIDPOINT /* u + h N(u + h/2 N(u)) */
} diffusion_form;
sim_status diffusion_rates_create(const diffusion_parameters *p, diffusion_form form, sim_isa isa, int threads,
                                  diffusion_rates **out) SIM_MUST_CHECK;
void diffusion_rates_destroy(diffusion_rates **rates);
double diffusion_rates_bytes(const diffusion_parameters *p, int threads);
/* What the next pass does: `times` steps of h each, the first one at time t. */
void diffusion_rates_set(diffusion_rates *rates, double t, double h, int times);
void diffusion_rates_apply(void *rates, const diffusion_piece *piece); /* a diffusion_pointwise */

/* ---- fields.c ---- */

/* The first state, real[fields] of [nz][ny][nx] numbers. */
sim_status diffusion_initial(const diffusion_parameters *p, sim_isa isa, void *const *real_fields) SIM_MUST_CHECK;
/* SIM_ERR_SCENARIO where the rates of that state are not finite. */
sim_status diffusion_check_rates(const diffusion_parameters *p, sim_isa isa,
                                 const void *const *real_fields) SIM_MUST_CHECK;
/* mean, variance, min, max, mass of count numbers; cell: the volume of one. partial[count blocks]. */
typedef struct diffusion_statistics {
  double mean, variance, least, greatest, mass;
} diffusion_statistics;
diffusion_statistics diffusion_measure(const void *values, bool single, int64_t count, double cell, double *partial,
                                       int threads);

#endif
