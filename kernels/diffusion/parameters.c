#include "kernels/diffusion/diffusion.h"

#include <math.h>

static const char *const boundaries[] = {"periodic", "no_flux", "fixed", NULL};
static const char *const own_boundaries[] = {"periodic", "no_flux", "fixed", "as others", NULL};

#define ALONG(axis, i)                                                                                                 \
  {                                                                                                                    \
    .name = axis, .type = SIM_CHOICE, .doc = "boundary along " axis, .choices = own_boundaries,                        \
    .initial = "as others", .offset = offsetof(diffusion_grid_parameters, along) + (i) * sizeof(int)                   \
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

static const sim_signature initial_signature = {.inputs = (const char *const[]){"x", "y", "z", "file", "member", NULL},
                                                .outputs = {1},
                                                .returns = "the field at the start"};

static const char *const channels[] = {"auto", "grey", "red", "green", "blue", "alpha", NULL};

static const sim_field file_fields[] = {
    {.name = "path",
     .type = SIM_STRING,
     .doc = "a PNG image of a pixel for each cell, its lowest row at y = 0, or an HDF5 file; relative to the "
            "scenario's folder",
     .offset = offsetof(diffusion_file, path),
     .flags = SIM_REQUIRED},
    {.name = "dataset",
     .type = SIM_STRING,
     .doc = "of HDF5: the path of a dataset of [nz][ny][nx] numbers, or the name of a field in a snapshot; none: the "
            "field's own name",
     .offset = offsetof(diffusion_file, dataset)},
    {.name = "channel",
     .type = SIM_CHOICE,
     .doc = "of an image; auto: grey",
     .choices = channels,
     .offset = offsetof(diffusion_file, channel),
     .initial = "auto"},
    {.name = "range",
     .type = SIM_REAL,
     .doc = "what 0 and 1 in the file, of an image black and full, become",
     .components = 2,
     .offset = offsetof(diffusion_file, range),
     .initial = "{0, 1}"},
    {.name = NULL},
};
static const sim_schema file_schema = {
    .doc = "values from a file", .fields = file_fields, .size = sizeof(diffusion_file)};

static const sim_signature linear_signature = {.inputs = (const char *const[]){"k2", "kx", "ky", "kz", "member", NULL},
                                               .outputs = {1, 2},
                                               .returns =
                                                   "the rate of growth of a mode, or its real and imaginary parts"};

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
    {.name = "tensor",
     .type = SIM_REAL,
     .doc = "diffusivities xy, xz, yz beside D times axes: D_xy stands for both D_xy and D_yx; along periodic axes",
     .components = 3,
     .offset = offsetof(diffusion_species, tensor),
     .initial = "{0, 0, 0}",
     .dimension = {2, 0, -1}},
    {.name = "cross",
     .type = SIM_ARRAY,
     .doc =
         "cross-diffusion: a diffusivity for each field, in their order, by which its Laplacian (times axes) is added "
         "here; 0 for the field itself. Together with D the matrix of the fluxes",
     .offset = offsetof(diffusion_species, cross),
     .dimension = {2, 0, -1}},
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
    {.name = "walls",
     .type = SIM_REAL,
     .doc = "values at the low and the high wall of the one axis whose boundary is fixed",
     .components = 2,
     .offset = offsetof(diffusion_species, walls),
     .initial = "{0, 0}"},
    {.name = "linear",
     .type = SIM_FUNCTION,
     .doc = "what is added to the linear part: a function of the angular wavenumbers kx, ky, kz, or of their square k2",
     .offset = offsetof(diffusion_species, linear),
     .signature = &linear_signature},
    {.name = "conserved",
     .type = SIM_BOOL,
     .doc = "its rate stands under a Laplacian: u_t = L u + lap N",
     .offset = offsetof(diffusion_species, conserved),
     .initial = "false"},
    {.name = "fluctuation",
     .type = SIM_REAL,
     .doc = "amplitude a of white noise in space and time, with covariance a^2 delta(x - x') delta(t - t')",
     .offset = offsetof(diffusion_species, fluctuation),
     .flags = SIM_RANGE,
     .min = 0,
     .max = INFINITY,
     .initial = "0"},
    {.name = "initial",
     .type = SIM_FUNCTION,
     .doc = "the field at the start; the values of `file` are added to it, unless it takes them: function(file, x)",
     .offset = offsetof(diffusion_species, initial),
     .flags = SIM_OR_NUMBER,
     .initial = "0",
     .signature = &initial_signature},
    {.name = "file",
     .type = SIM_TABLE,
     .doc = "values at the start from a PNG image or an HDF5 file",
     .offset = offsetof(diffusion_species, file),
     .flags = SIM_OPTIONAL,
     .table = &file_schema},
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
     .doc =
         "time step; shortened so that whole steps fill t_end. auto: a hundredth of t_end without rates, else powers "
         "of two as long as rtol and atol allow (etdrk2, etdrk4)",
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
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN | SIM_MAY_CHANGE,
     .min = 0,
     .max = INFINITY,
     .dimension = {0, 0, 1}},
    {.name = "rtol",
     .type = SIM_REAL,
     .doc = "dt = \"auto\": a step's error, as root mean square over the grid, is below atol + rtol times the field's; "
            "auto: 1e-5",
     .offset = offsetof(diffusion_integrate, rtol),
     .flags = SIM_RANGE,
     .min = 0,
     .max = 1,
     .keyword = "auto",
     .initial = "auto"},
    {.name = "atol",
     .type = SIM_REAL,
     .doc = "see rtol; auto: 1e-8",
     .offset = offsetof(diffusion_integrate, atol),
     .flags = SIM_RANGE,
     .min = 0,
     .max = INFINITY,
     .keyword = "auto",
     .initial = "auto"},
    {.name = "dt_max",
     .type = SIM_REAL,
     .doc = "dt = \"auto\": no step is longer, so that nothing short is stepped over; auto: t_end/64",
     .offset = offsetof(diffusion_integrate, dt_max),
     .flags = SIM_RANGE | SIM_MIN_OPEN,
     .min = 0,
     .max = INFINITY,
     .keyword = "auto",
     .initial = "auto",
     .dimension = {0, 0, 1}},
    {.name = "dt_min",
     .type = SIM_REAL,
     .doc = "dt = \"auto\": the run fails where rtol and atol ask for a shorter step",
     .offset = offsetof(diffusion_integrate, dt_min),
     .flags = SIM_RANGE,
     .min = 0,
     .max = INFINITY,
     .initial = "0",
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

static const sim_signature observe_signature = {.returns = "what is taken over the grid"};

static const sim_field parameter_fields[] = {
    {.name = "grid",
     .type = SIM_TABLE,
     .doc = "the grid",
     .offset = offsetof(diffusion_parameters, grid),
     .flags = SIM_REQUIRED,
     .table = &grid_schema},
    {.name = "members",
     .type = SIM_INT,
     .doc =
         "members of an ensemble of grids of one or two axes, all in one batch: functions take the value `member`, 1 "
         "to members",
     .offset = offsetof(diffusion_parameters, members),
     .flags = SIM_RANGE,
     .min = 1,
     .max = FFT_LENGTH_MAX,
     .initial = "1"},
    {.name = "fields",
     .type = SIM_LIST,
     .doc = "1 to 8 fields",
     .offset = offsetof(diffusion_parameters, fields),
     .flags = SIM_REQUIRED,
     .variants = (const sim_schema *const[]){&diffusion_species_schema, NULL}},
    {.name = "rates",
     .type = SIM_FUNCTION,
     .doc =
         "what changes the fields at a point beside the linear terms; of the fields, x, y, z, t, and derivatives u_x, "
         "u_y, u_z of a field u along periodic axes",
     .offset = offsetof(diffusion_parameters, rates),
     .signature = &rates_signature},
    {.name = "observe",
     .type = SIM_FUNCTION_MAP,
     .doc = "columns of the table `observe`: functions as rates, over the grid by reduce = \"sum\" (the integral), "
            "\"mean\", \"min\" or \"max\"",
     .offset = offsetof(diffusion_parameters, observe),
     .signature = &observe_signature},
    {.name = "probes",
     .type = SIM_ARRAY,
     .doc = "points {x, y, z}, 0 beyond the grid's axes: the table `probes` has each field in the cells that hold them",
     .components = 3,
     .offset = offsetof(diffusion_parameters, probes)},
    {.name = "spectrum",
     .type = SIM_INT,
     .doc = "bins of |k| in the table `spectrum`: the power of each field, at 0, 1, 2, ... times the least wavenumber",
     .offset = offsetof(diffusion_parameters, spectrum),
     .flags = SIM_RANGE,
     .min = 0,
     .max = SIM_COLUMNS_MAX,
     .initial = "0"},
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
  if (p->members > 1) { /* member m stands at m - 1/2 of a further axis; its coefficients are not mixed */
    grid.apart = grid.rank++;
    grid.n[grid.apart] = p->members;
    grid.size[grid.apart] = (double)p->members;
    grid.kind[grid.apart] = FFT_COSINE;
  }
  return grid;
}

double diffusion_member(const diffusion_grid *grid, int64_t row) {
  return grid->apart == 0 ? 1 : 1 + (double)(grid->apart == 1 ? row % grid->n[1] : row / grid->n[1]);
}

diffusion_lift diffusion_lift_of(const diffusion_parameters *p, int field) {
  const double *walls = diffusion_species_of(p, field)->walls;
  const diffusion_grid grid = diffusion_grid_of(p);
  for (int axis = 0; axis < grid.rank && (walls[0] != 0 || walls[1] != 0); axis++)
    if (grid.kind[axis] == FFT_SINE)
      return (diffusion_lift){.axis = axis, .low = walls[0], .slope = (walls[1] - walls[0]) / grid.size[axis]};
  return (diffusion_lift){.axis = -1};
}

static bool takes(const sim_expr *expr, int input) {
  for (int i = 0; i < sim_expr_output_count(expr); i++)
    if (input < sim_expr_input_count(expr) && sim_expr_depends(expr, i, input)) return true;
  return false;
}

bool diffusion_unfolded(const diffusion_parameters *p) {
  for (int f = 0; f < (int)p->fields.count; f++) {
    const diffusion_species *s = diffusion_species_of(p, f);
    if (s->linear && sim_expr_output_count(s->linear) > 1) return true;
    for (int axis = 0; axis < 3; axis++)
      if (s->drift[axis] != 0 || s->tensor[axis] != 0 || (s->linear && takes(s->linear, 1 + axis))) return true;
  }
  return false;
}

diffusion_gradients diffusion_gradients_of(const diffusion_parameters *p) {
  diffusion_gradients g = {0};
  const int fields = (int)p->fields.count;
  for (int i = 0; p->rates && i < 3 * fields; i++) {
    if (!takes(p->rates, fields + 4 + i)) continue;
    g.of[g.count].field = i / 3;
    g.of[g.count++].axis = i % 3;
  }
  return g;
}

bool diffusion_single(const diffusion_parameters *p) { return p->common.precision == SIM_SINGLE; }

bool diffusion_crossed(const diffusion_parameters *p) {
  for (int f = 0; f < (int)p->fields.count; f++)
    for (size_t i = 0; i < diffusion_species_of(p, f)->cross.rows; i++)
      if (diffusion_species_of(p, f)->cross.data[i] != 0) return true;
  return false;
}

bool diffusion_adaptive(const diffusion_parameters *p) { return p->rates && isnan(p->integrate.dt); }

int64_t diffusion_steps(const diffusion_integrate *integrate) {
  if (isnan(integrate->dt)) return 100;
  const double steps = integrate->t_end / integrate->dt;
  return (int64_t)fmax(1, ceil(steps * (1 - 0x1p-40))); /* 1/0.1 is 10 */
}
double diffusion_dt(const diffusion_integrate *integrate) {
  const double steps = (double)diffusion_steps(integrate), h = integrate->t_end / steps;
  return fabs(h - integrate->dt) <= 0x1p-40 * h ? integrate->dt : h; /* the same for any t_end that it fills */
}
