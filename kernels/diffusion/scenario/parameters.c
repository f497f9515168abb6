/* Field tables of the parameters, and values derived from them. Rules between fields: rules.c. */
#include "kernels/diffusion/diffusion.h"

#include <math.h>

static const sim_signature linear_signature = {.inputs = (const char *const[]){"k2", "kx", "ky", "kz", "member", NULL},
                                               .outputs = {1, 2},
                                               .returns =
                                                   "the rate of growth of a mode, or its real and imaginary parts"};

static const sim_field mix_fields[] = {
    {SIM_FIELD(diffusion_mix, a), .type = SIM_REAL, .flags = SIM_REQUIRED, .doc = "factor of the value, above 0"},
    {SIM_FIELD(diffusion_mix, b), .type = SIM_REAL, .initial = "1",
     .doc = "factor of the derivative along the normal out of the box, above 0"},
    {SIM_FIELD(diffusion_mix, g), .type = SIM_REAL, .initial = "0", .doc = "right-hand side"},
    {0}};
static const sim_schema mix_schema = {
    .doc = "a wall that mixes value and slope: a u + b du/dn = g", .fields = mix_fields, .size = sizeof(diffusion_mix)};

static const sim_field side_fields[] = {
    {SIM_FIELD(diffusion_side, value), .type = SIM_REAL, .initial = "none", .keyword = "none",
     .doc = "value of the field at this wall"},
    {SIM_FIELD(diffusion_side, slope), .type = SIM_REAL, .initial = "none", .keyword = "none",
     .doc = "derivative of the field along the axis at this wall, as u_x: the flux through the wall is -D times it"},
    {SIM_FIELD(diffusion_side, robin), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &mix_schema,
     .doc = "a u + b du/dn = g at this wall, as where a body cools to air of the temperature g/a"},
    {0}};
static const sim_schema side_schema = {
    .doc = "a wall: a value, a slope, or a mixture", .fields = side_fields, .size = sizeof(diffusion_side)};
typedef struct sides {
  diffusion_side side[6];
} sides;
#define SIDE(word, i)                                                                                                  \
  {                                                                                                                    \
    .name = word, .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &side_schema, .doc = "this wall",                \
    .offset = offsetof(sides, side) + (i) * sizeof(diffusion_side)                                                     \
  }
static const sim_field sides_fields[] = {
    SIDE("x_low", 0), SIDE("x_high", 1), SIDE("y_low", 2), SIDE("y_high", 3), SIDE("z_low", 4), SIDE("z_high", 5), {0}};
static const sim_schema sides_schema = {.doc = "walls that treat this field otherwise than grid.boundary says",
                                        .fields = sides_fields,
                                        .size = sizeof(sides)};

static const sim_field forcing_fields[] = {
    {SIM_FIELD(diffusion_forcing, fields), .type = SIM_STRING, .flags = SIM_REQUIRED,
     .doc = "names of the fields, \"u, v, w\": all components of a solenoidal vector, or others"},
    {SIM_FIELD(diffusion_forcing, k), .type = SIM_REAL, .components = 2, .flags = SIM_REQUIRED, .dimension = {-1, 0, 0},
     .doc = "the shell: least and greatest angular wavenumber |k|, both included"},
    {SIM_FIELD(diffusion_forcing, power), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .doc = "what it adds to half the mean square of these fields, a unit of time"},
    {SIM_FIELD(diffusion_forcing, random), .type = SIM_BOOL, .initial = "false",
     .doc = "true: white noise in time in the shell, which adds `power` on average, whatever the fields are; false: "
            "along the fields, exactly `power`"},
    {SIM_FIELD(diffusion_forcing, helicity), .type = SIM_REAL, .flags = SIM_RANGE, .min = -1, .max = 1, .initial = "0",
     .doc = "of random forcing of a solenoidal vector on three periodic axes: share of the power in modes of positive "
            "helicity minus that in modes of negative helicity"},
    {0}};
static const sim_schema forcing_schema = {
    .doc = "forcing at a fixed power", .fields = forcing_fields, .size = sizeof(diffusion_forcing)};

static const sim_field species_fields[] = {
    {SIM_FIELD(diffusion_field, name), .type = SIM_STRING, .flags = SIM_REQUIRED,
     .doc = "its name, in rates, tables and files"},
    {SIM_FIELD(diffusion_field, D), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = {2, 0, -1}, .doc = "diffusivity"},
    {SIM_FIELD(diffusion_field, axes), .type = SIM_REAL, .components = 3, .flags = SIM_RANGE, .max = INFINITY,
     .initial = "{1, 1, 1}", .doc = "factors of the diffusivity along x, y, z"},
    {SIM_FIELD(diffusion_field, tensor), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}",
     .dimension = {2, 0, -1},
     .doc = "off-diagonal diffusivities xy, xz, yz (D_xy = D_yx), beside D times axes; along periodic axes"},
    {SIM_FIELD(diffusion_field, cross), .type = SIM_NUMBERS, .dimension = {2, 0, -1},
     .doc = "cross diffusion: one diffusivity for each field, in their order, that multiplies its Laplacian (times "
            "axes) in this equation; 0 for the field itself"},
    {SIM_FIELD(diffusion_field, hyper), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = {4, 0, -1}, .doc = "hyper-diffusion: -hyper |k|^4"},
    {SIM_FIELD(diffusion_field, decay), .type = SIM_REAL, .initial = "0", .dimension = {0, 0, -1},
     .doc = "decay rate; < 0: growth"},
    {SIM_FIELD(diffusion_field, drift), .type = SIM_REAL, .components = 3, .initial = "{0, 0, 0}",
     .dimension = {1, 0, -1}, .doc = "drift velocity (advection), along periodic axes"},
    {SIM_FIELD(diffusion_field, walls), .type = SIM_REAL, .components = 2, .initial = "{0, 0}",
     .doc = "values at the low and the high wall of the one axis whose boundary is fixed"},
    {SIM_FIELD(diffusion_field, sides), .type = SIM_STRUCT, .table = &sides_schema,
     .doc = "walls that treat this field otherwise than grid.boundary says: each holds its value, its slope, or a "
            "mixture of both"},
    {SIM_FIELD(diffusion_field, linear), .type = SIM_FUNCTION, .signature = &linear_signature,
     .doc =
         "addition to the linear part: a function of the angular wavenumbers kx, ky, kz, or of their square k2; a "
         "second "
         "result is dispersion, and counts as 0 for modes at n/2, the highest wavenumber of an even n, along any axis"},
    {SIM_FIELD(diffusion_field, conserved), .type = SIM_BOOL, .initial = "false",
     .doc = "conserved dynamics: the rate N is replaced by its Laplacian, u_t = L u + lap N"},
    {SIM_FIELD(diffusion_field, fluctuation), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .doc = "amplitude a of white noise in space and time, with covariance a^2 delta(x - x') delta(t - t')"},
    {SIM_FIELD(diffusion_field, initial), .type = SIM_FUNCTION, .flags = SIM_OR_NUMBER, .initial = "0",
     .signature = &grid_initial_signature,
     .doc = "initial value; the values of `file` are added, unless the function has the input `file`"},
    {SIM_FIELD(diffusion_field, file), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &grid_file_schema,
     .doc = "initial values from a PNG image or an HDF5 file"},
    {SIM_FIELD(diffusion_field, noise), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .doc = "standard deviation of the normal noise added to each cell at the start"},
    {0}};
const sim_schema diffusion_field_schema = {SIM_SCHEMA(diffusion_field, "", "one field", species_fields)};

static const char *const schemes[] = {"exact", "lie", "strang", "etd1", "etdrk2", "etdrk4", "rodas3", NULL};

static const char *const methods[] = {"auto", "axes", "cufft", "slabs", NULL};

static const sim_field integrate_fields[] = {
    {SIM_FIELD(diffusion_integrate, scheme), .type = SIM_CHOICE, .initial = "exact", .choices = schemes,
     .doc = "exact: without rates; lie, etd1: order 1; strang (1 with dealias), etdrk2: order 2; etdrk4: order 4; "
            "rodas3: order 3, implicit in rates and fluxes"},
    {SIM_FIELD(diffusion_integrate, dt), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "auto", .keyword = "auto", .dimension = {0, 0, 1},
     .doc = "time step, reduced so that t_end is a multiple. auto: t_end/100 without rates, else adaptive powers of "
            "two from rtol and atol (strang, etdrk2, etdrk4), or from courant"},
    {SIM_FIELD(diffusion_integrate, t_end), .type = SIM_REAL,
     .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN | SIM_MAY_CHANGE, .max = INFINITY, .dimension = {0, 0, 1},
     .doc = "end time; runs start at t = 0"},
    {SIM_FIELD(diffusion_integrate, rtol), .type = SIM_REAL, .flags = SIM_RANGE, .max = 1, .initial = "auto",
     .keyword = "auto",
     .doc = "dt = \"auto\": the root mean square error of a step is below atol + rtol times that of the field; auto: "
            "1e-5"},
    {SIM_FIELD(diffusion_integrate, atol), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "auto",
     .keyword = "auto", .doc = "see rtol; auto: 1e-8"},
    {SIM_FIELD(diffusion_integrate, dt_max), .type = SIM_REAL, .flags = SIM_RANGE | SIM_MIN_OPEN, .max = INFINITY,
     .initial = "auto", .keyword = "auto", .dimension = {0, 0, 1},
     .doc = "dt = \"auto\": longest step; auto: t_end/64"},
    {SIM_FIELD(diffusion_integrate, dt_min), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = {0, 0, 1},
     .doc = "dt = \"auto\": shortest step; the run fails if rtol and atol, or courant, require a shorter one"},
    {SIM_FIELD(diffusion_integrate, courant), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .doc =
         "dt = \"auto\": each step is the longest power of two for which dt times the sum over the axes of max "
         "|velocity|/cell is at most this as it begins, and at most twice the step before; a step that ends above "
         "twice "
         "this is repeated with a shorter one; rtol and atol then have no effect. 0: steps by rtol and atol; else at "
         "least 1e-3"},
    {SIM_FIELD(diffusion_integrate, velocity), .type = SIM_STRING, .initial = "",
     .doc = "names of the fields that are the velocity for courant, \"u, v\" or \"u, v, w\"; empty: those of "
            "solenoidal"},
    {SIM_FIELD(diffusion_integrate, dealias), .type = SIM_REAL, .flags = SIM_RANGE | SIM_OR_BOOL, .max = 1,
     .initial = "false", .keyword = "padding",
     .doc = "fraction of the highest wavenumber along each axis below which wavenumbers are kept; true: 2/3, for "
            "products of two fields; use 1/2 for products of three, 2/(p + 1) for p; false or 0: all are kept. "
            "padding: all wavenumbers of the grid are kept (but n/2), and rates are evaluated on 3/2 as many cells "
            "along each axis, for products of two fields"},
    {SIM_FIELD(diffusion_integrate, method), .type = SIM_CHOICE, .initial = "auto", .choices = methods,
     .doc =
         "on GPUs, auto: the fastest passes for one GPU; axes: a pass over memory for each axis, with which grids of "
         "256 and 512 cells an axis run on several GPUs too; cufft: transforms by cuFFT; slabs: by cuFFT along planes "
         "and then along z, with which other grids of three axes run on several GPUs. Results differ by rounding; the "
         "CPU has one method"},
    {0}};
static const sim_schema integrate_schema = {
    .doc = "time stepping", .fields = integrate_fields, .size = sizeof(diffusion_integrate)};

static const sim_field lyapunov_fields[] = {
    {SIM_FIELD(diffusion_lyapunov, every), .type = SIM_REAL, .flags = SIM_REQUIRED | SIM_RANGE | SIM_MIN_OPEN,
     .max = INFINITY, .dimension = {0, 0, 1},
     .doc = "time between two resets of the distance, rounded to steps: about the time in which it grows ten times"},
    {SIM_FIELD(diffusion_lyapunov, size), .type = SIM_REAL, .flags = SIM_RANGE, .min = 1e-9, .max = 1e-4,
     .initial = "1e-7", .doc = "distance to which the second run is reset, over the root mean square of all fields"},
    {SIM_FIELD(diffusion_lyapunov, start), .type = SIM_REAL, .flags = SIM_RANGE, .max = INFINITY, .initial = "0",
     .dimension = {0, 0, 1},
     .doc = "time from which intervals are averaged: when the flow, and the direction of the difference, have settled"},
    {0}};
static const sim_schema lyapunov_schema = {
    .doc = "largest Lyapunov exponent", .fields = lyapunov_fields, .size = sizeof(diffusion_lyapunov)};

static const sim_field structure_fields[] = {
    {SIM_FIELD(diffusion_structure, order), .type = SIM_INT, .flags = SIM_RANGE, .min = 1, .max = 12, .initial = "2",
     .doc = "power of the increments"},
    {SIM_FIELD(diffusion_structure, separations), .type = SIM_INT, .flags = SIM_RANGE, .min = 1, .max = 24,
     .initial = "4", .doc = "number of distances: 1, 2, 4, ... cells"},
    {0}};
static const sim_schema structure_schema = {
    .doc = "structure functions", .fields = structure_fields, .size = sizeof(diffusion_structure)};

static const sim_signature rates_signature = {.returns = "the rate of each field, in their order"};

static const sim_signature flux_signature = {.returns = "the flux of each field along each axis"};

static const sim_signature derived_signature = {.outputs = {1, 2},
                                                .returns = "the field, or its real and imaginary parts"};

static const sim_signature observe_signature = {.returns = "value reduced over the grid"};

static const sim_field parameter_fields[] = {
    {SIM_FIELD(diffusion_parameters, grid), .type = SIM_STRUCT, .flags = SIM_REQUIRED, .table = &grid_schema,
     .doc = "the grid"},
    {SIM_FIELD(diffusion_parameters, members), .type = SIM_INT, .flags = SIM_RANGE, .min = 1, .max = GRID_AXIS_MAX,
     .initial = "1",
     .doc = "size of an ensemble of independent grids with one or two axes, computed in one batch; functions may have "
            "the input `member`, from 1"},
    {SIM_FIELD(diffusion_parameters, fields), .type = SIM_LIST, .flags = SIM_REQUIRED,
     .variants = (const sim_schema *const[]){&diffusion_field_schema, NULL}, .doc = "1 to 8 fields"},
    {SIM_FIELD(diffusion_parameters, rates), .type = SIM_FUNCTION, .signature = &rates_signature,
     .doc = "nonlinear terms: a function of the fields, x, y, z, t, derivatives u_x, u_y, u_z of a field u, "
            "second ones u_xx, u_xy, ..., lap_u, and derived fields"},
    {SIM_FIELD(diffusion_parameters, flux), .type = SIM_FUNCTION, .signature = &flux_signature,
     .doc = "fluxes, in conservation form u_t = L u + N - div flux: a function as rates, with a "
            "result for each axis of the first field, then of the second one, ...; mass is then conserved to rounding"},
    {SIM_FIELD(diffusion_parameters, derived), .type = SIM_FUNCTION_MAP, .signature = &derived_signature,
     .doc = "fields that are linear in the fields at each wavenumber: functions of kx, ky, kz, k2 and the fields, such "
            "as psi = function(kx, ky, w) return -w/(kx^2 + ky^2) end; a second result is multiplied by i. Rates, flux "
            "and observe may take psi and its derivatives. Where a coefficient is not finite at k = 0 it is 0"},
    {SIM_FIELD(diffusion_parameters, solenoidal), .type = SIM_STRING, .initial = "",
     .doc = "names of the fields that are the components of a velocity without divergence, \"u, v\" or \"u, v, w\": "
            "the part with a divergence is removed from the start and from the rates; between walls the component "
            "through them has value = 0 there, and the others no flux"},
    {SIM_FIELD(diffusion_parameters, forcing), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &forcing_schema,
     .doc =
         "forcing of a shell of wavenumbers at a fixed power: adds to the rates P/(2 E) times the part of the fields "
         "in the shell, whose energy is E, so that their energy grows by P a unit of time, or white noise in time that "
         "does so on average; table `forcing`"},
    {SIM_FIELD(diffusion_parameters, lyapunov), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &lyapunov_schema,
     .doc = "the largest Lyapunov exponent, by a second run at a small distance; table `lyapunov`"},
    {SIM_FIELD(diffusion_parameters, observe), .type = SIM_FUNCTION_MAP, .signature = &observe_signature,
     .doc = "columns of the table `observe`: functions with the inputs of rates, reduced over the grid by reduce = "
            "\"sum\" (the integral), \"mean\", \"min\" or \"max\""},
    {SIM_FIELD(diffusion_parameters, probes), .type = SIM_NUMBERS, .components = 3,
     .doc = "points {x, y, z}, with 0 for axes beyond the grid's: the table `probes` has each field, and those of "
            "output.fields, in the cells that contain them"},
    {SIM_FIELD(diffusion_parameters, spectrum), .type = SIM_INT, .flags = SIM_RANGE, .max = SIM_COLUMNS_MAX,
     .initial = "0",
     .doc = "number of bins of |k| in the table `spectrum`: power of each field at 0, 1, 2, ... times the smallest "
            "wavenumber"},
    {SIM_FIELD(diffusion_parameters, transfer), .type = SIM_INT, .flags = SIM_RANGE, .max = SIM_COLUMNS_MAX,
     .initial = "0",
     .doc = "number of bins of |k| in the tables `transfer` and `dissipation`: what the rates (and fluxes) add to half "
            "the power of each field in each bin of `spectrum` in a unit of time, and what its linear terms take off"},
    {SIM_FIELD(diffusion_parameters, enstrophy), .type = SIM_INT, .flags = SIM_RANGE, .max = SIM_COLUMNS_MAX,
     .initial = "0",
     .doc = "number of bins of |k| in the tables `enstrophy`, `enstrophy_transfer` and `enstrophy_dissipation` of the "
            "solenoidal vector: half the mean square of its curl, and what rates add and linear terms take off"},
    {SIM_FIELD(diffusion_parameters, helicity), .type = SIM_INT, .flags = SIM_RANGE, .max = SIM_COLUMNS_MAX,
     .initial = "0",
     .doc = "the same of the tables `helicity`, `helicity_transfer` and `helicity_dissipation`: the mean of the "
            "solenoidal vector times its curl, on three periodic axes"},
    {SIM_FIELD(diffusion_parameters, structure), .type = SIM_STRUCT, .flags = SIM_OPTIONAL, .table = &structure_schema,
     .doc = "structure functions of the velocity (solenoidal, or integrate.velocity); table `structure`"},
    {SIM_FIELD(diffusion_parameters, integrate), .type = SIM_STRUCT, .flags = SIM_REQUIRED, .table = &integrate_schema,
     .doc = "time stepping"},
    {0}};
const sim_schema diffusion_schema = {
    SIM_SCHEMA(diffusion_parameters, "diffusion", "diffusion and reaction of fields on a grid", parameter_fields),
    .base = &sim_common_schema};

/* ---- derived values ---- */

const diffusion_field *diffusion_field_of(const diffusion_parameters *p, int field) {
  return p->fields.items[field].data;
}

grid_shape diffusion_grid_of(const diffusion_parameters *p) { return grid_shape_of(&p->grid, p->members); }

bool diffusion_takes(const sim_expr *expr, int input) {
  for (int i = 0; i < sim_expr_output_count(expr); i++)
    if (input < sim_expr_input_count(expr) && sim_expr_depends(expr, i, input)) return true;
  return false;
}

bool diffusion_unfolded(const diffusion_parameters *p) {
  for (int f = 0; f < (int)p->fields.count; f++) {
    const diffusion_field *s = diffusion_field_of(p, f);
    if (s->linear && sim_expr_output_count(s->linear) > 1) return true;
    for (int axis = 0; axis < 3; axis++)
      if (s->drift[axis] != 0 || s->tensor[axis] != 0 || (s->linear && diffusion_takes(s->linear, 1 + axis)))
        return true;
  }
  return false;
}

double diffusion_dealias(const diffusion_integrate *integrate) {
  return isnan(integrate->dealias) ? 2.0 / 3 : isinf(integrate->dealias) ? 1 : integrate->dealias;
}

bool diffusion_padded(const diffusion_parameters *p) { return isinf(p->integrate.dealias); }

void diffusion_refine(diffusion_parameters *p, double n[3]) {
  if (!diffusion_padded(p)) return;
  for (size_t i = 0; i < p->grid.n.rows && i < 3; i++) n[i] = 1.5 * p->grid.n.data[i];
  p->grid.n.data = n;
  p->integrate.dealias = NAN; /* 2/3 of the highest wavenumber of 3/2 as many cells */
}

bool diffusion_single(const diffusion_parameters *p) { return p->common.precision == SIM_SINGLE; }

bool diffusion_fluctuates(const diffusion_parameters *p) {
  for (int f = 0; f < (int)p->fields.count; f++)
    if (diffusion_field_of(p, f)->fluctuation > 0) return true;
  return false;
}

double diffusion_noise_of(const diffusion_parameters *p, int field) {
  const grid_shape grid = diffusion_grid_of(p);
  return diffusion_field_of(p, field)->fluctuation / sqrt(grid_cell_volume(&grid));
}

bool diffusion_crossed(const diffusion_parameters *p) {
  for (int f = 0; f < (int)p->fields.count; f++)
    for (size_t i = 0; i < diffusion_field_of(p, f)->cross.rows; i++)
      if (diffusion_field_of(p, f)->cross.data[i] != 0) return true;
  return false;
}

bool diffusion_adaptive(const diffusion_parameters *p) { return p->rates && isnan(p->integrate.dt); }
bool diffusion_by_courant(const diffusion_parameters *p) { return diffusion_adaptive(p) && p->integrate.courant > 0; }
bool diffusion_estimates(const diffusion_parameters *p) { return diffusion_adaptive(p) && p->integrate.courant == 0; }

int64_t diffusion_steps(const diffusion_integrate *integrate) {
  if (isnan(integrate->dt)) return 100;
  const double steps = integrate->t_end / integrate->dt;
  return (int64_t)fmax(1, ceil(steps * (1 - 0x1p-40))); /* 1/0.1 counts as 10 */
}
double diffusion_dt(const diffusion_integrate *integrate) {
  const double steps = (double)diffusion_steps(integrate), h = integrate->t_end / steps;
  /* returns dt itself, which is the same for every t_end that is a multiple of it */
  return fabs(h - integrate->dt) <= 0x1p-40 * h ? integrate->dt : h;
}
