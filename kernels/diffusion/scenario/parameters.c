/* The model's parameters: field tables, and what follows from them. The rules between fields: rules.c. */
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
    {SIM_FIELD(diffusion_grid_parameters, n), .type = SIM_NUMBERS, .flags = SIM_REQUIRED | SIM_RANGE, .min = 1,
     .max = FFT_LENGTH_MAX, .doc = "cells along x, or x, y, or x, y, z"},
    {SIM_FIELD(diffusion_grid_parameters, size), .type = SIM_NUMBERS, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .dimension = {1, 0, 0}, .doc = "lengths of the box; one for each axis"},
    {SIM_FIELD(diffusion_grid_parameters, boundary), .type = SIM_CHOICE, .initial = "periodic", .choices = boundaries,
     .doc = "periodic; no_flux: walls that let nothing through; fixed: walls that hold each field at 0, or at its "
            "`walls`"},
    ALONG("x", 0),
    ALONG("y", 1),
    ALONG("z", 2),
    {0}};
static const sim_schema grid_schema = {
    .doc = "cells; values stand at their centres", .fields = grid_fields, .size = sizeof(diffusion_grid_parameters)};

static const sim_signature initial_signature = {.inputs = (const char *const[]){"x", "y", "z", "file", "member", NULL},
                                                .outputs = {1},
                                                .returns = "the field at the start"};

static const char *const channels[] = {"auto", "grey", "red", "green", "blue", "alpha", NULL};

static const sim_field file_fields[] = {{SIM_FIELD(diffusion_file, path), .type = SIM_STRING, .flags = SIM_REQUIRED,
                                         .doc = "a PNG image of a pixel for each cell, its lowest row at y = 0, or an "
                                                "HDF5 file; relative to the scenario's folder"},
                                        {SIM_FIELD(diffusion_file, dataset), .type = SIM_STRING,
                                         .doc = "of HDF5: the path of a dataset of [nz][ny][nx] numbers, or the name "
                                                "of a field in a snapshot; none: the field's own name"},
                                        {SIM_FIELD(diffusion_file, channel), .type = SIM_CHOICE, .initial = "auto",
                                         .choices = channels, .doc = "of an image; auto: grey"},
                                        {SIM_FIELD(diffusion_file, range), .type = SIM_REAL, .components = 2,
                                         .initial = "{0, 1}",
                                         .doc = "what 0 and 1 in the file, of an image black and full, become"},
                                        {0}};
static const sim_schema file_schema = {
    .doc = "values from a file", .fields = file_fields, .size = sizeof(diffusion_file)};

static const sim_signature linear_signature = {.inputs = (const char *const[]){"k2", "kx", "ky", "kz", "member", NULL},
                                               .outputs = {1, 2},
                                               .returns =
                                                   "the rate of growth of a mode, or its real and imaginary parts"};

static const sim_field species_fields[] = {
    {SIM_FIELD(diffusion_species, name), .type = SIM_STRING, .flags = SIM_REQUIRED,
     .doc = "its name, in rates, tables and files"},
    {SIM_FIELD(diffusion_species, D), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = {2, 0, -1}, .doc = "diffusivity"},
    {SIM_FIELD(diffusion_species, axes), .type = SIM_REAL, .components = 3, .flags = SIM_RANGE, .max = INFINITY,
     .initial = "{1, 1, 1}", .doc = "factors of the diffusivity along x, y, z"},
    {SIM_FIELD(diffusion_species, tensor), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}",
     .dimension = {2, 0, -1},
     .doc = "diffusivities xy, xz, yz beside D times axes: D_xy stands for both D_xy and D_yx; along periodic axes"},
    {SIM_FIELD(diffusion_species, cross), .type = SIM_NUMBERS, .dimension = {2, 0, -1},
     .doc = "cross-diffusion: a diffusivity for each field, in their order, by which its Laplacian (times axes) is "
            "added here; 0 for the field itself. Together with D the matrix of the fluxes"},
    {SIM_FIELD(diffusion_species, hyper), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = {4, 0, -1}, .doc = "hyper-diffusion: -hyper |k|^4"},
    {SIM_FIELD(diffusion_species, decay), .type = SIM_REAL, .initial = "0", .dimension = {0, 0, -1},
     .doc = "rate of decay; growth where negative"},
    {SIM_FIELD(diffusion_species, drift), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}",
     .dimension = {1, 0, -1}, .doc = "velocity with which it is carried, along periodic axes"},
    {SIM_FIELD(diffusion_species, walls), .type = SIM_REAL, .components = 2, .initial = "{0, 0}",
     .doc = "values at the low and the high wall of the one axis whose boundary is fixed"},
    {SIM_FIELD(diffusion_species, linear), .type = SIM_FUNCTION, .signature = &linear_signature,
     .doc =
         "what is added to the linear part: a function of the angular wavenumbers kx, ky, kz, or of their square k2"},
    {SIM_FIELD(diffusion_species, conserved), .type = SIM_BOOL, .initial = "false",
     .doc = "its rate stands under a Laplacian: u_t = L u + lap N"},
    {SIM_FIELD(diffusion_species, fluctuation), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .doc = "amplitude a of white noise in space and time, with covariance a^2 delta(x - x') delta(t - t')"},
    {SIM_FIELD(diffusion_species, initial), .type = SIM_FUNCTION, .flags = SIM_OR_NUMBER, .initial = "0",
     .signature = &initial_signature,
     .doc = "the field at the start; the values of `file` are added to it, unless it takes them: function(file, x)"},
    {SIM_FIELD(diffusion_species, file), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &file_schema,
     .doc = "values at the start from a PNG image or an HDF5 file"},
    {SIM_FIELD(diffusion_species, noise), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .doc = "standard deviation of normal noise that is added to each cell at the start"},
    {0}};
const sim_schema diffusion_species_schema = {
    .name = "", .doc = "one field", .fields = species_fields, .size = sizeof(diffusion_species)};

static const char *const schemes[] = {"exact", "lie", "strang", "etd1", "etdrk2", "etdrk4", NULL};

static const sim_field integrate_fields[] = {
    {SIM_FIELD(diffusion_integrate, scheme), .type = SIM_CHOICE, .initial = "exact", .choices = schemes,
     .doc = "exact: without rates; lie, etd1: order 1; strang (1 with dealias), etdrk2: order 2; etdrk4: order 4"},
    {SIM_FIELD(diffusion_integrate, dt), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "auto", .keyword = "auto", .dimension = {0, 0, 1},
     .doc = "time step; shortened so that whole steps fill t_end. auto: a hundredth of t_end without rates, else "
            "powers of two as long as rtol and atol allow (etdrk2, etdrk4)"},
    {SIM_FIELD(diffusion_integrate, t_end), .type = SIM_REAL,
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN | SIM_MAY_CHANGE, .max = INFINITY, .dimension = {0, 0, 1},
     .doc = "time at which the run is over"},
    {SIM_FIELD(diffusion_integrate, rtol), .type = SIM_REAL, .flags = SIM_RANGE, .max = 1, .initial = "auto",
     .keyword = "auto",
     .doc = "dt = \"auto\": a step's error, as root mean square over the grid, is below atol + rtol times the field's; "
            "auto: 1e-5"},
    {SIM_FIELD(diffusion_integrate, atol), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "auto",
     .keyword = "auto", .doc = "see rtol; auto: 1e-8"},
    {SIM_FIELD(diffusion_integrate, dt_max), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "auto", .keyword = "auto", .dimension = {0, 0, 1},
     .doc = "dt = \"auto\": no step is longer, so that nothing short is stepped over; auto: t_end/64"},
    {SIM_FIELD(diffusion_integrate, dt_min), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = {0, 0, 1}, .doc = "dt = \"auto\": the run fails where rtol and atol ask for a shorter step"},
    {SIM_FIELD(diffusion_integrate, dealias), .type = SIM_REAL, .flags = SIM_RANGE | SIM_OR_BOOL, .max = 1,
     .initial = "false",
     .doc = "fields and rates keep the wavenumbers below this fraction of the highest one along each axis; true: 2/3, "
            "for products of two fields; 1/2 is for products of three, 2/(p + 1) for p; false, 0: they keep all"},
    {0}};
static const sim_schema integrate_schema = {
    .doc = "time stepping", .fields = integrate_fields, .size = sizeof(diffusion_integrate)};

static const sim_signature rates_signature = {.returns = "the rate of each field, in their order"};

static const sim_signature observe_signature = {.returns = "what is taken over the grid"};

static const sim_field parameter_fields[] = {
    {SIM_FIELD(diffusion_parameters, grid), .type = SIM_STRUCT, .flags = SIM_REQUIRED, .table = &grid_schema,
     .doc = "the grid"},
    {SIM_FIELD(diffusion_parameters, members), .type = SIM_INT, .flags = SIM_RANGE, .min = 1, .max = FFT_LENGTH_MAX,
     .initial = "1",
     .doc = "members of an ensemble of grids of one or two axes, all in one batch: functions take the value `member`, "
            "1 to members"},
    {SIM_FIELD(diffusion_parameters, fields), .type = SIM_LIST, .flags = SIM_REQUIRED,
     .variants = (const sim_schema *const[]){&diffusion_species_schema, NULL}, .doc = "1 to 8 fields"},
    {SIM_FIELD(diffusion_parameters, rates), .type = SIM_FUNCTION, .signature = &rates_signature,
     .doc = "what changes the fields at a point beside the linear terms; of the fields, x, y, z, t, and derivatives "
            "u_x, u_y, u_z of a field u along periodic axes"},
    {SIM_FIELD(diffusion_parameters, observe), .type = SIM_FUNCTION_MAP, .signature = &observe_signature,
     .doc = "columns of the table `observe`: functions as rates, over the grid by reduce = \"sum\" (the integral), "
            "\"mean\", \"min\" or \"max\""},
    {SIM_FIELD(diffusion_parameters, probes), .type = SIM_NUMBERS, .components = 3,
     .doc =
         "points {x, y, z}, 0 beyond the grid's axes: the table `probes` has each field in the cells that hold them"},
    {SIM_FIELD(diffusion_parameters, spectrum), .type = SIM_INT, .flags = SIM_RANGE, .max = SIM_COLUMNS_MAX,
     .initial = "0",
     .doc = "bins of |k| in the table `spectrum`: the power of each field, at 0, 1, 2, ... times the least wavenumber"},
    {SIM_FIELD(diffusion_parameters, integrate), .type = SIM_STRUCT, .flags = SIM_REQUIRED, .table = &integrate_schema,
     .doc = "time stepping"},
    {0}};
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

bool diffusion_takes(const sim_expr *expr, int input) {
  for (int i = 0; i < sim_expr_output_count(expr); i++)
    if (input < sim_expr_input_count(expr) && sim_expr_depends(expr, i, input)) return true;
  return false;
}

bool diffusion_unfolded(const diffusion_parameters *p) {
  for (int f = 0; f < (int)p->fields.count; f++) {
    const diffusion_species *s = diffusion_species_of(p, f);
    if (s->linear && sim_expr_output_count(s->linear) > 1) return true;
    for (int axis = 0; axis < 3; axis++)
      if (s->drift[axis] != 0 || s->tensor[axis] != 0 || (s->linear && diffusion_takes(s->linear, 1 + axis)))
        return true;
  }
  return false;
}

diffusion_gradients diffusion_gradients_of(const diffusion_parameters *p) {
  diffusion_gradients g = {0};
  const int fields = (int)p->fields.count;
  for (int i = 0; p->rates && i < 3 * fields; i++) {
    if (!diffusion_takes(p->rates, fields + 4 + i)) continue;
    g.of[g.count].field = i / 3;
    g.of[g.count++].axis = i % 3;
  }
  return g;
}

double diffusion_dealias(const diffusion_integrate *integrate) {
  return isnan(integrate->dealias) ? 2.0 / 3 : integrate->dealias;
}

bool diffusion_single(const diffusion_parameters *p) { return p->common.precision == SIM_SINGLE; }

bool diffusion_fluctuates(const diffusion_parameters *p) {
  for (int f = 0; f < (int)p->fields.count; f++)
    if (diffusion_species_of(p, f)->fluctuation > 0) return true;
  return false;
}

double diffusion_noise_of(const diffusion_parameters *p, int field) {
  const diffusion_grid grid = diffusion_grid_of(p);
  double volume = 1;
  for (int axis = 0; axis < grid.rank; axis++) volume *= grid.size[axis] / (double)grid.n[axis];
  return diffusion_species_of(p, field)->fluctuation / sqrt(volume);
}

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
