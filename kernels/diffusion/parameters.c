#include "kernels/diffusion/diffusion.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const boundaries[] = {"periodic", "no_flux", "fixed", "as others", NULL};

#define ALONG(axis, i)                                                                                                 \
  {                                                                                                                    \
    .name = axis, .type = SIM_CHOICE, .doc = "boundary along " axis, .choices = boundaries, .initial = "as others",    \
    .offset = offsetof(diffusion_grid_parameters, along) + (i) * sizeof(int)                                           \
  }

static const sim_field grid_fields[] = {
    {.name = "n",
     .type = SIM_ARRAY,
     .doc = "cells along x, or x, y, or x, y, z",
     .offset = offsetof(diffusion_grid_parameters, n),
     .flags = SIM_REQUIRED | SIM_RANGE,
     .min = 1,
     .max = FFT_LENGTH_MAX},
    {.name = "size",
     .type = SIM_ARRAY,
     .doc = "lengths of the box; one for each axis",
     .offset = offsetof(diffusion_grid_parameters, size),
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .min = 0,
     .max = INFINITY,
     .dimension = {1, 0, 0}},
    {.name = "boundary",
     .type = SIM_CHOICE,
     .doc = "periodic; no_flux: walls that let nothing through; fixed: walls where all fields are 0",
     .choices = boundaries,
     .initial = "periodic",
     .offset = offsetof(diffusion_grid_parameters, boundary)},
    ALONG("x", 0),
    ALONG("y", 1),
    ALONG("z", 2),
    {.name = NULL},
};
static const sim_schema grid_schema = {
    .doc = "cells; values stand at their centres", .fields = grid_fields, .size = sizeof(diffusion_grid_parameters)};

static const sim_signature initial_signature = {
    .inputs = (const char *const[]){"x", "y", "z", NULL}, .outputs = {1}, .returns = "the field at the start"};

static const sim_field species_fields[] = {
    {.name = "name",
     .type = SIM_STRING,
     .doc = "its name, in rates, tables and files",
     .offset = offsetof(diffusion_species, name),
     .flags = SIM_REQUIRED},
    {.name = "D",
     .type = SIM_REAL,
     .doc = "diffusivity",
     .offset = offsetof(diffusion_species, D),
     .flags = SIM_RANGE,
     .min = 0,
     .max = INFINITY,
     .initial = "0",
     .dimension = {2, 0, -1}},
    {.name = "axes",
     .type = SIM_REAL,
     .doc = "factors of the diffusivity along x, y, z",
     .components = 3,
     .offset = offsetof(diffusion_species, axes),
     .flags = SIM_RANGE,
     .min = 0,
     .max = INFINITY,
     .initial = "{1, 1, 1}"},
    {.name = "hyper",
     .type = SIM_REAL,
     .doc = "hyper-diffusion: -hyper |k|^4",
     .offset = offsetof(diffusion_species, hyper),
     .flags = SIM_RANGE,
     .min = 0,
     .max = INFINITY,
     .initial = "0",
     .dimension = {4, 0, -1}},
    {.name = "decay",
     .type = SIM_REAL,
     .doc = "rate of decay; growth where negative",
     .offset = offsetof(diffusion_species, decay),
     .initial = "0",
     .dimension = {0, 0, -1}},
    {.name = "drift",
     .type = SIM_REAL,
     .doc = "velocity with which it is carried, along periodic axes",
     .components = 3,
     .offset = offsetof(diffusion_species, drift),
     .initial = "{0, 0, 0}",
     .dimension = {1, 0, -1}},
    {.name = "initial",
     .type = SIM_FUNCTION,
     .doc = "the field at the start",
     .offset = offsetof(diffusion_species, initial),
     .flags = SIM_OR_NUMBER,
     .initial = "0",
     .signature = &initial_signature},
    {.name = "noise",
     .type = SIM_REAL,
     .doc = "standard deviation of normal noise that is added to each cell at the start",
     .offset = offsetof(diffusion_species, noise),
     .flags = SIM_RANGE,
     .min = 0,
     .max = INFINITY,
     .initial = "0"},
    {.name = NULL},
};
const sim_schema diffusion_species_schema = {
    .name = "", .doc = "one field", .fields = species_fields, .size = sizeof(diffusion_species)};

static const char *const schemes[] = {"exact", "lie", "strang", "etd1", "etdrk2", "etdrk4", NULL};

static const sim_field integrate_fields[] = {
    {.name = "scheme",
     .type = SIM_CHOICE,
     .doc = "exact: without rates; lie, etd1: order 1; strang, etdrk2: order 2; etdrk4: order 4",
     .choices = schemes,
     .initial = "exact",
     .offset = offsetof(diffusion_integrate, scheme)},
    {.name = "dt",
     .type = SIM_REAL,
     .doc = "time step; shortened so that whole steps fill t_end. auto: a hundredth of t_end, without rates",
     .keyword = "auto",
     .initial = "auto",
     .offset = offsetof(diffusion_integrate, dt),
     .flags = SIM_RANGE | SIM_MIN_OPEN,
     .min = 0,
     .max = INFINITY,
     .dimension = {0, 0, 1}},
    {.name = "t_end",
     .type = SIM_REAL,
     .doc = "time at which the run is over",
     .offset = offsetof(diffusion_integrate, t_end),
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .min = 0,
     .max = INFINITY,
     .dimension = {0, 0, 1}},
    {.name = "dealias",
     .type = SIM_BOOL,
     .doc = "rates keep the lower two thirds of the wavenumbers along each axis alone",
     .initial = "false",
     .offset = offsetof(diffusion_integrate, dealias)},
    {.name = NULL},
};
static const sim_schema integrate_schema = {
    .doc = "time stepping", .fields = integrate_fields, .size = sizeof(diffusion_integrate)};

static const sim_signature rates_signature = {.returns = "the rate of each field, in their order"};

static const sim_field parameter_fields[] = {
    {.name = "grid",
     .type = SIM_TABLE,
     .doc = "the grid",
     .offset = offsetof(diffusion_parameters, grid),
     .flags = SIM_REQUIRED,
     .table = &grid_schema},
    {.name = "fields",
     .type = SIM_LIST,
     .doc = "1 to 8 fields",
     .offset = offsetof(diffusion_parameters, fields),
     .flags = SIM_REQUIRED,
     .variants = (const sim_schema *const[]){&diffusion_species_schema, NULL}},
    {.name = "rates",
     .type = SIM_FUNCTION,
     .doc = "what changes the fields at a point beside the linear terms; of the fields, x, y, z and t",
     .offset = offsetof(diffusion_parameters, rates),
     .signature = &rates_signature},
    {.name = "integrate",
     .type = SIM_TABLE,
     .doc = "time stepping",
     .offset = offsetof(diffusion_parameters, integrate),
     .flags = SIM_REQUIRED,
     .table = &integrate_schema},
    {.name = NULL},
};
const sim_schema diffusion_schema = {.name = "diffusion",
                                     .doc = "diffusion and reaction of fields on a grid",
                                     .fields = parameter_fields,
                                     .base = &sim_common_schema,
                                     .size = sizeof(diffusion_parameters)};

/* ---- what follows from them ---- */

const diffusion_species *diffusion_species_of(const diffusion_parameters *p, int field) {
  return p->fields.items[field].data;
}

diffusion_grid diffusion_grid_of(const diffusion_parameters *p) {
  static const fft_kind kinds[] = {FFT_PERIODIC, FFT_COSINE, FFT_SINE};
  diffusion_grid grid = {.rank = (int)p->grid.n.rows, .n = {1, 1, 1}, .size = {1, 1, 1}};
  for (int axis = 0; axis < grid.rank; axis++) {
    const int own = p->grid.along[axis];
    grid.n[axis] = (int64_t)p->grid.n.data[axis];
    grid.size[axis] = p->grid.size.data[axis];
    grid.kind[axis] = kinds[own == DIFFUSION_AS_OTHERS ? p->grid.boundary : own];
  }
  return grid;
}

bool diffusion_drifts(const diffusion_parameters *p) {
  for (int f = 0; f < (int)p->fields.count; f++)
    for (int axis = 0; axis < 3; axis++)
      if (diffusion_species_of(p, f)->drift[axis] != 0) return true;
  return false;
}

bool diffusion_single(const diffusion_parameters *p) { return p->common.precision == SIM_SINGLE; }

int64_t diffusion_steps(const diffusion_integrate *integrate) {
  if (isnan(integrate->dt)) return 100;
  const double steps = integrate->t_end / integrate->dt;
  return (int64_t)fmax(1, ceil(steps * (1 - 0x1p-40))); /* 1/0.1 is 10 */
}
double diffusion_dt(const diffusion_integrate *integrate) {
  return integrate->t_end / (double)diffusion_steps(integrate);
}

/* ---- rules ---- */

static const char *const taken[] = {"x", "y", "z", "t", "h", "spectrum"};

static bool good_name(const char *name) {
  if (!name || !(isalpha((unsigned char)name[0]) || name[0] == '_')) return false;
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (strcmp(name, taken[i]) == 0) return false;
  return strlen(name) <= SIM_EXPR_NAME_MAX - 10;
}

static bool check_grid(const diffusion_parameters *p, sim_faults *faults) {
  const sim_doubles *n = &p->grid.n, *size = &p->grid.size;
  const size_t before = faults->count;
  if (n->rows < 1 || n->rows > 3)
    sim_faults_add(faults, 0, "grid.n", "expected 1 to 3 numbers of cells, got %zu", n->rows);
  if (size->rows != n->rows)
    sim_faults_add(faults, 0, "grid.size", "expected as many lengths as grid.n has numbers, %zu, got %zu", n->rows,
                   size->rows);
  for (size_t i = 0; i < n->rows && i < 3; i++)
    if (n->data[i] != floor(n->data[i]))
      sim_faults_add(faults, 0, "grid.n", "expected whole numbers, got %g", n->data[i]);
  if (p->grid.boundary == DIFFUSION_AS_OTHERS)
    sim_faults_add(faults, 0, "grid.boundary", "expected \"periodic\", \"no_flux\" or \"fixed\", got \"as others\"");
  return faults->count == before;
}

static void check_species(const diffusion_parameters *p, sim_faults *faults) {
  char path[64];
  const diffusion_grid grid = diffusion_grid_of(p);
  for (int f = 0; f < (int)p->fields.count; f++) {
    const diffusion_species *s = diffusion_species_of(p, f);
    const int line = p->fields.items[f].line;
    snprintf(path, sizeof path, "fields[%d].name", f + 1);
    if (!good_name(s->name))
      sim_faults_add(faults, line, path, "expected a name of letters, digits and _ other than x, y, z, t, h, spectrum");
    for (int other = 0; other < f; other++)
      if (s->name && diffusion_species_of(p, other)->name && !strcmp(s->name, diffusion_species_of(p, other)->name))
        sim_faults_add(faults, line, path, "expected a name of its own, got that of fields[%d]", other + 1);
    snprintf(path, sizeof path, "fields[%d].drift", f + 1);
    for (int axis = 0; axis < 3; axis++)
      if (s->drift[axis] != 0 && (axis >= grid.rank || grid.kind[axis] != FFT_PERIODIC))
        sim_faults_add(faults, line, path, "expected 0 along %c, which is not a periodic axis", "xyz"[axis]);
  }
}

static sim_status check_rates(diffusion_parameters *p, sim_faults *faults) {
  const char *inputs[DIFFUSION_FIELDS + 5];
  int count = 0;
  if (!p->rates) return SIM_OK;
  for (; count < (int)p->fields.count; count++) {
    inputs[count] = diffusion_species_of(p, count)->name;
    if (!inputs[count]) return SIM_OK;
  }
  for (int i = 0; i < 4; i++) inputs[count++] = taken[i];
  inputs[count] = NULL;
  const sim_signature signature = {
      .inputs = inputs, .outputs = {(int)p->fields.count}, .returns = "the rate of each field, in their order"};
  return sim_function_bind(&p->rates, &signature, faults, 0, "rates");
}

static void check_steps(const diffusion_parameters *p, sim_faults *faults) {
  const diffusion_integrate *i = &p->integrate;
  if (p->rates && i->scheme == DIFFUSION_EXACT)
    sim_faults_add(faults, 0, "integrate.scheme",
                   "expected lie, strang, etd1, etdrk2 or etdrk4, for there are rates, got exact");
  if (!p->rates && i->scheme != DIFFUSION_EXACT)
    sim_faults_add(faults, 0, "integrate.scheme", "expected exact, for there are no rates, got %s", schemes[i->scheme]);
  if (p->rates && isnan(i->dt))
    sim_faults_add(faults, 0, "integrate.dt", "expected a number, for there are rates, got \"auto\"");
  if (!isnan(i->dt) && !(i->t_end / i->dt < 0x1p53))
    sim_faults_add(faults, 0, "integrate.dt", "expected fewer than 2^53 steps until t_end");
}

static void name_columns(diffusion_parameters *p) {
  static const char *const kinds[DIFFUSION_STATISTICS] = {"mean", "variance", "min", "max", "mass"};
  static const char *const docs[DIFFUSION_STATISTICS] = {"mean over the grid", "variance over the grid", "least value",
                                                         "greatest value", "integral over the box"};
  sim_field *column = p->columns;
  for (int f = 0; f < (int)p->fields.count; f++) {
    const char *name = diffusion_species_of(p, f)->name;
    p->state[f] = (sim_field){.name = name, .type = SIM_REAL, .doc = "field", .flags = SIM_OUTPUT | SIM_NO_CHECKPOINT};
    for (int k = 0; k < DIFFUSION_STATISTICS; k++, column++) {
      snprintf(p->names[f][k], sizeof p->names[f][k], "%s_%s", name, kinds[k]);
      *column = (sim_field){.name = p->names[f][k], .type = SIM_REAL, .doc = docs[k]};
    }
  }
  column->name = NULL;
  p->table = (sim_table){.name = "fields", .doc = "statistics of each field", .columns = p->columns};
  p->tables[0] = &p->table;
}

sim_status diffusion_validate(void *parameters, sim_faults *faults) {
  diffusion_parameters *p = parameters;
  if (p->fields.count < 1 || p->fields.count > DIFFUSION_FIELDS) {
    sim_faults_add(faults, 0, "fields", "expected 1 to %d fields, got %zu", DIFFUSION_FIELDS, p->fields.count);
    return SIM_OK;
  }
  if (!check_grid(p, faults)) return SIM_OK;
  check_species(p, faults);
  check_steps(p, faults);
  if (faults->count == 0) SIM_TRY(check_rates(p, faults));
  if (faults->count == 0) name_columns(p);
  return SIM_OK;
}

const sim_table *const *diffusion_tables_of(const void *parameters) {
  const diffusion_parameters *p = parameters;
  return p->tables;
}
