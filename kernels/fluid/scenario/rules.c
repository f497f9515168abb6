/* Rules between parameters. */
#include "kernels/fluid/gates.h"
#include "kernels/fluid/heat.h"
#include "kernels/fluid/scenario/rules.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const fluid_side_names[FLUID_SIDES] = {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"};

/* Cells along the other axes that make cubes of the cells along x. */
static void check_cubes(const grid_shape *grid, sim_faults *faults) {
  const double dx = grid->size[0] / (double)grid->n[0];
  char right[96] = "";
  bool cubes = true;
  for (int axis = 0; axis < grid->rank; axis++) {
    const double n = grid->size[axis] / dx;
    cubes = cubes && fabs(n - (double)grid->n[axis]) <= 1e-9 * n;
    snprintf(right + strlen(right), sizeof right - strlen(right), "%s%.9g", axis ? ", " : "", fmax(1, round(n)));
  }
  if (cubes) return;
  char size[128] = "";
  for (int axis = 0; axis < grid->rank; axis++)
    snprintf(size + strlen(size), sizeof size - strlen(size), "%s%.9g", axis ? ", " : "",
             dx * fmax(1, round(grid->size[axis] / dx)));
  sim_faults_add(faults, 0, "grid.n",
                 "expected cells that are as wide along all axes: with %lld along x, n = {%s} and size = {%s}",
                 (long long)grid->n[0], right, size);
}

static void check_vector(const sim_doubles *v, int rank, const char *path, sim_faults *faults) {
  if (v->rows != 0 && v->rows != (size_t)rank)
    sim_faults_add(faults, 0, path, "expected %d numbers, one for each axis of the grid, got %zu", rank, v->rows);
}

static double length_of(const sim_doubles *v) {
  double square = 0;
  for (size_t i = 0; i < v->rows; i++) square += v->data[i] * v->data[i];
  return sqrt(square);
}

static void check_side(const fluid_parameters *p, const grid_shape *grid, int s, sim_faults *faults) {
  const fluid_side *side = &p->sides[s];
  char path[64], at[80];
  snprintf(path, sizeof path, "sides.%s", fluid_side_names[s]);
  if (!side->given) return;
  if (s / 2 >= grid->rank) {
    sim_faults_add(faults, 0, path, "the grid has no axis %c: grid.n has %d numbers", "xyz"[s / 2], grid -> rank);
    return;
  }
  if (grid->boundary[s / 2] != GRID_FIXED)
    sim_faults_add(faults, 0, path, "expected grid.%c = \"wall\", got \"%s\"", "xyz"[s / 2],
                   grid -> boundary[s / 2] == GRID_PERIODIC ? "periodic" : "slip");
  const int kinds = (side->velocity.rows > 0) + (side->profile != NULL) + !isnan(side->pressure);
  if (kinds == 0)
    sim_faults_add(faults, 0, path, "expected velocity, profile or pressure; a wall at rest needs no entry");
  if (kinds > 1) sim_faults_add(faults, 0, path, "expected one of velocity, profile and pressure");
  snprintf(at, sizeof at, "%s.straight", path);
  if (side->straight && isnan(side->pressure)) sim_faults_add(faults, 0, at, "has an effect with a pressure alone");
  snprintf(at, sizeof at, "%s.velocity", path);
  check_vector(&side->velocity, grid->rank, at, faults);
  if (length_of(&side->velocity) > 1.01 * p->speed)
    sim_faults_add(faults, 0, at,
                   "is faster, %.6g, than `speed`, %.6g, which sets the time step: expected a larger "
                   "speed",
                   length_of(&side->velocity), p->speed);
  snprintf(at, sizeof at, "%s.profile", path);
  if (side->profile && sim_expr_output_count(side->profile) != grid->rank)
    sim_faults_add(faults, 0, at, "expected %d numbers, one for each axis of the grid, got %d", grid->rank,
                   sim_expr_output_count(side->profile));
}

/* A sponge stands before a side that the fluid may pass, and sponges at both ends of an axis do not meet. */
static void check_sponge(const fluid_parameters *p, const grid_shape *grid, int s, sim_faults *faults) {
  const fluid_side *side = &p->sides[s], *other = &p->sides[s ^ 1];
  const double dx = grid->size[0] / (double)grid->n[0], size = grid->size[s / 2];
  char path[64];
  if (!side->given || s / 2 >= grid->rank || isnan(side->sponge)) return;
  snprintf(path, sizeof path, "sides.%s.sponge", fluid_side_names[s]);
  const bool moves = side->profile || side->velocity.rows == (size_t)grid->rank;
  if (isnan(side->pressure) && moves && !fluid_side_passes(side, s))
    sim_faults_add(faults, 0, path,
                   "expected a side that the fluid passes: a pressure, a profile, or a velocity "
                   "through the side");
  if (side->sponge < FLUID_SPONGE_LEAST * dx * (1 - 1e-9))
    sim_faults_add(faults, 0, path, "is %.3g cells wide: expected at least %d, %.6g", side->sponge / dx,
                   FLUID_SPONGE_LEAST, FLUID_SPONGE_LEAST * dx);
  const double both = side->sponge + (other->given && !isnan(other->sponge) ? other->sponge : 0);
  if (both > size * (1 + 1e-9) && (s % 2 == 0 || both == side->sponge))
    sim_faults_add(faults, 0, path, "sponges along %c are %.6g wide, expected at most the box, %.6g", "xyz"[s / 2],
                   both, size);
}

/* On a grid of two axes a function has no input z; `depth`: the one along z of a velocity, 0: there is none. */
static void check_flat(const sim_expr *f, int depth, const char *path, sim_faults *faults) {
  enum { Z = 2 };
  for (int a = 0; f && a < sim_expr_output_count(f); a++) {
    const int input = sim_expr_depends(f, a, Z) ? Z : depth > 0 && sim_expr_depends(f, a, depth) ? depth : 0;
    if (input == 0) continue;
    sim_faults_add(faults, 0, path, "is a function of %s, which is 0 on a grid of two axes: expected %s alone",
                   input == Z ? "z" : "uz", input == Z ? "x and y" : "ux and uy");
    return;
  }
}

static void check_functions(const fluid_parameters *p, sim_faults *faults) {
  enum { UZ = 6 };
  check_flat(p->initial, 0, "initial", faults);
  check_flat(p->force, UZ, "force", faults);
  check_flat(p->resistance, 0, "resistance", faults);
  check_flat(p->heat.initial, 0, "heat.initial", faults);
  for (int s = 0; s < 4; s++) {
    char path[64];
    snprintf(path, sizeof path, "sides.%s.profile", fluid_side_names[s]);
    check_flat(p->sides[s].profile, 0, path, faults);
    snprintf(path, sizeof path, "sides.%s.pressure", fluid_side_names[s]);
    check_flat(p->sides[s].push, 0, path, faults);
  }
}

/* What comes in has to go out. */
static void check_flow_through(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  bool open = false;
  char path[64];
  for (int s = 0; s < 2 * grid->rank; s++) open = open || (p->sides[s].given && !isnan(p->sides[s].pressure));
  for (int s = 0; s < 2 * grid->rank && !open; s++) {
    const fluid_side *side = &p->sides[s];
    if (!side->given || side->velocity.rows != (size_t)grid->rank || side->velocity.data[s / 2] == 0) continue;
    snprintf(path, sizeof path, "sides.%s.velocity", fluid_side_names[s]);
    sim_faults_add(faults, 0, path,
                   "the fluid passes this side, and no side has a pressure at which it can leave or enter: expected "
                   "pressure = 0 at another side");
  }
}

bool fluid_is_name(const char *name) {
  if (!(isalpha((unsigned char)name[0]) || name[0] == '_')) return false;
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  return strlen(name) <= 40;
}

/* A body of a grid of two axes has no z; one of three, if it is a tilted cylinder, has to meet its own images. */
static void check_third_axis(const fluid_body *body, bool block, int rank, const char *path, int line,
                             sim_faults *faults) {
  const double z[2] = {block ? body->low[2] : body->point[2], block ? body->high[2] : 0};
  if (rank == 2 && (z[0] != 0 || z[1] != 0))
    sim_faults_add(faults, line, path, "expected z = 0 on a grid of two axes, got %g", z[0] != 0 ? z[0] : z[1]);
}

static void check_tilt(const fluid_parameters *p, const grid_shape *grid, int b, sim_faults *faults) {
  const geometry_wall w = fluid_body_shape(p, NULL, b, NULL).wall;
  char path[64];
  bool closes = true, periodic = false;
  double length = 0;
  for (int a = 0; a < 3 && fluid_body_tilted(&w); a++) {
    if (!(fabs(w.axis[a]) > 1e-12)) continue;
    const double boxes = fabs(w.axis[a]) / grid->size[a];
    closes = closes && grid_is_periodic(grid, a) && (length == 0 || fabs(boxes - length) <= 1e-9 * length);
    periodic = periodic || grid_is_periodic(grid, a);
    length = boxes;
  }
  snprintf(path, sizeof path, "bodies[%d].axis", b + 1);
  if (periodic && !closes)
    sim_faults_add(faults, p->bodies.items[b].line, path,
                   "the tilted cylinder does not meet its images across periodic sides: expected a direction along an "
                   "axis or a diagonal of the periodic box, or a boundary that is not periodic");
}

/* One way to give each velocity, and no motion out of the plane of a grid of two axes. */
static void check_motion(const fluid_body *body, bool turns, int rank, int b, int line, sim_faults *faults) {
  const double *u = body->velocity;
  char path[64];
  snprintf(path, sizeof path, "bodies[%d].velocity", b + 1);
  if (rank == 2 && u[2] != 0) sim_faults_add(faults, line, path, "expected 0 along z on a grid of two axes");
  snprintf(path, sizeof path, "bodies[%d].motion", b + 1);
  if (body->motion && (u[0] != 0 || u[1] != 0 || u[2] != 0))
    sim_faults_add(faults, line, path, "expected one of velocity and motion, got both");
  if (body->motion && sim_expr_output_count(body->motion) != rank)
    sim_faults_add(faults, line, path, "expected %d numbers, one for each axis of the grid, got %d", rank,
                   sim_expr_output_count(body->motion));
  snprintf(path, sizeof path, "bodies[%d].turning", b + 1);
  if (body->turning && body->spin != 0)
    sim_faults_add(faults, line, path, "expected one of spin and turning, got both");
  snprintf(path, sizeof path, "bodies[%d].pivot", b + 1);
  if (body->pivot.rows != 0 && body->pivot.rows != 3)
    sim_faults_add(faults, line, path, "expected a point {x, y, z}, got %zu numbers", body->pivot.rows);
  if (body->pivot.rows == 3 && body->spin == 0 && !body->turning)
    sim_faults_add(faults, line, path, "has an effect with spin or turning alone");
  if (rank == 2 && turns && (body->axis[0] != 0 || body->axis[1] != 0 || !(body->axis[2] > 0))) {
    snprintf(path, sizeof path, "bodies[%d].axis", b + 1);
    sim_faults_add(faults, line, path, "expected {0, 0, 1} on a grid of two axes");
  } else if (turns &&
             !(body->axis[0] * body->axis[0] + body->axis[1] * body->axis[1] + body->axis[2] * body->axis[2] > 0)) {
    snprintf(path, sizeof path, "bodies[%d].axis", b + 1);
    sim_faults_add(faults, line, path, "expected a direction, got {0, 0, 0}");
  }
}

static void check_body(const fluid_parameters *p, const grid_shape *grid, int b, sim_faults *faults) {
  const fluid_body *body = fluid_body_of(p, b);
  const sim_schema *shape = p->bodies.items[b].schema;
  const int line = p->bodies.items[b].line;
  char path[64];
  snprintf(path, sizeof path, "bodies[%d].name", b + 1);
  if (body->name && !fluid_is_name(body->name))
    sim_faults_add(faults, line, path, "expected at most 40 letters, digits and _, no digit first, got \"%.60s\"",
                   body->name);
  char own[FLUID_BODY_NAME], taken[FLUID_BODY_NAME];
  fluid_body_name(p, b, own);
  for (int other = 0; other < b; other++) {
    fluid_body_name(p, other, taken);
    if (strcmp(own, taken) == 0)
      sim_faults_add(faults, line, path, "expected a name of its own, got that of bodies[%d]", other + 1);
  }
  check_motion(body, shape == &fluid_block_schema || fluid_is_mesh(p, b), grid->rank, b, line, faults);
  snprintf(path, sizeof path, "bodies[%d]", b + 1);
  if (fluid_is_mesh(p, b)) {
    if (grid->rank != 3) sim_faults_add(faults, line, path, "a body from an STL file needs a grid of three axes");
    return;
  }
  check_third_axis(body, shape == &fluid_block_schema, grid->rank, path, line, faults);
  if (shape == &fluid_block_schema) {
    snprintf(path, sizeof path, "bodies[%d].high", b + 1);
    for (int a = 0; a < grid->rank; a++)
      if (!(body->high[a] > body->low[a]))
        sim_faults_add(faults, line, path, "expected more than `low` along %c, %g, got %g", "xyz"[a], body -> low[a],
                       body -> high[a]);
    return;
  }
  const double *axis = body->axis;
  snprintf(path, sizeof path, "bodies[%d].axis", b + 1);
  if (!(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2] > 0))
    sim_faults_add(faults, line, path, "expected a direction, got {0, 0, 0}");
  else if (grid->rank == 2 && (axis[0] != 0 || axis[1] != 0))
    sim_faults_add(faults, line, path, "expected {0, 0, 1} on a grid of two axes");
  else if (shape == &fluid_cylinder_schema)
    check_tilt(p, grid, b, faults);
  snprintf(path, sizeof path, "bodies[%d].spin", b + 1);
  if (fabs(body->spin) * body->radius > 1.01 * p->speed)
    sim_faults_add(faults, line, path, "its surface is faster, %.6g, than `speed`, %.6g, which sets the time step",
                   fabs(body->spin) * body->radius, p->speed);
}

static void check_probes(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  if (p->probes.rows > FLUID_PROBES)
    sim_faults_add(faults, 0, "probes", "expected at most %d points, got %zu", FLUID_PROBES, p->probes.rows);
  for (size_t i = 0; i < p->probes.rows; i++)
    for (int a = 0; a < 3; a++) {
      const double at = p->probes.data[3 * i + (size_t)a], most = a < grid->rank ? grid->size[a] : 0;
      if (!(at >= 0 && at <= most))
        sim_faults_add(faults, 0, "probes", "point %zu: expected %c from 0 to %g, got %g", i + 1, "xyz"[a], most, at);
    }
}

double fluid_round_up(double x, int digits) {
  const double unit = pow(10, floor(log10(x)) + 1 - digits);
  return ceil(x / unit * (1 - 1e-12)) * unit;
}

double fluid_round_down(double x, int digits) {
  const double unit = pow(10, floor(log10(x)) + 1 - digits);
  return floor(x / unit * (1 + 1e-12)) * unit;
}

/* The least number of cells along x from n on with which those along all axes are whole. */
static double cubes_from(const grid_shape *grid, double n) {
  int64_t common = grid->n[0];
  for (int axis = 1; axis < grid->rank; axis++)
    for (int64_t b = grid->n[axis], rest; b > 0; b = rest) rest = common % b, common = b;
  const double whole = (double)(grid->n[0] / common);
  return ceil(n / whole * (1 - 1e-12)) * whole;
}

/* A relaxation time too near to 1/2: tau - 1/2 = 3 viscosity dt/dx^2 is below 1/shortest. */
static void fault_of_tau(const fluid_parameters *p, const fluid_numbers *k, double shortest, sim_faults *faults) {
  const grid_shape grid = fluid_grid_of(p);
  const bool given = !isnan(p->integrate.dt);
  const double by = k->dx / (shortest * 3 * p->viscosity) * (k->dx / k->dt); /* times too small */
  /* A step that is not given is one of two digits, rounded down by up to a tenth. */
  const double most = given ? by : 1.1 * by * k->dt / (p->mach / sqrt(3) * k->dx / p->speed);
  char more[128] = "";
  if (most * p->mach <= 0.1 && !given && !k->viscous) /* a longer step is possible without much compression */
    snprintf(more, sizeof more, "a mach of at least %.2g, ", fluid_round_up(most * p->mach, 2));
  else if (by * k->mach <= 0.1 && given)
    snprintf(more, sizeof more, "integrate.dt of at least %.3g, ", fluid_round_up(by * k->dt, 3));
  else if (!k->viscous && by < 1e3) /* else the diffusivity bounds the step, and more cells change nothing */
    snprintf(more, sizeof more, "at least %.0f cells along x, ",
             cubes_from(&grid, (double)grid.n[0] * (given ? sqrt(most) : most))); /* by mach dt ~ dx */
  sim_faults_add(faults, 0, "viscosity",
                 "the relaxation time %.6g is too near to 1/2 (cell Reynolds number %.3g), and the run would be "
                 "unstable: expected %sa viscosity of at least %.3g, or `turbulence` with smagorinsky of at least "
                 "0.05",
                 k->tau, k->cell_reynolds, more, fluid_round_up(p->viscosity * by, 3));
}

/* The Mach number and the relaxation time: what cannot be right. */
static void check_numbers(const fluid_parameters *p, sim_faults *faults) {
  enum { SHORTEST = 500 }; /* 1/(tau - 1/2) */
  const fluid_numbers k = fluid_numbers_of(p, 0);
  if (!(k.dt > 0) || !isfinite(k.tau)) {
    sim_faults_add(faults, 0, "integrate.dt", "is out of range: speed, viscosity and cells give %g", k.dt);
    return;
  }
  if (k.mach > 0.3 * (1 + 1e-9))
    sim_faults_add(faults, 0, "integrate.dt",
                   "speed = %.6g has the Mach number %.3g with dt = %.6g: expected at most 0.3, so dt of at most %.3g",
                   p->speed, k.mach, k.dt, fluid_round_down(k.dt * 0.3 / k.mach, 3));
  if (fluid_has_law(p))
    fluid_check_relaxation(p, &k, faults);
  else if (k.tau - 0.5 < 1.0 / SHORTEST && !fluid_damps_eddies(p))
    fault_of_tau(p, &k, SHORTEST, faults);
  if (k.tau > 3 && !fluid_has_law(p) && p->collision != FLUID_TRT)
    sim_faults_add(faults, 0, "integrate.dt",
                   "the relaxation time is %.4g with dt = %.6g, and walls are wrong above 3: expected dt = \"auto\", "
                   "or at most %.3g",
                   k.tau, k.dt, fluid_round_down(k.dt * 2.5 / (k.tau - 0.5), 3));
  fluid_check_pressures(p, &k, faults);
  if (p->integrate.t_end / k.dt > 1e15)
    sim_faults_add(faults, 0, "integrate.t_end", "takes %.3g steps of %.6g", p->integrate.t_end / k.dt, k.dt);
}

/* Heat: what is not built, and what cannot be right. */
static void check_heat(const fluid_parameters *p, const grid_shape *grid, sim_faults *faults) {
  const fluid_heat *h = &p->heat;
  for (int b = 0; b < (int)p->bodies.count && b < FLUID_BODIES && !h->given; b++) {
    char path[64];
    snprintf(path, sizeof path, "bodies[%d].temperature", b + 1);
    if (!isnan(fluid_body_of(p, b)->temperature))
      sim_faults_add(faults, p->bodies.items[b].line, path, "has an effect in a fluid with `heat` alone");
    snprintf(path, sizeof path, "bodies[%d].flux", b + 1);
    if (!isnan(fluid_body_of(p, b)->flux))
      sim_faults_add(faults, p->bodies.items[b].line, path, "has an effect in a fluid with `heat` alone");
  }
  if (!h->given) return;
  fluid_check_fluxes(p, grid, faults);
  for (int s = 0; s < FLUID_SIDES; s++) {
    const fluid_side *side = &p->sides[s];
    char path[64];
    for (int b = 0; b < (int)p->bodies.count && b < FLUID_BODIES; b++) {
      const fluid_body *body = fluid_body_of(p, b);
      snprintf(path, sizeof path, "bodies[%d].name", b + 1);
      if (body->name && strcmp(body->name, fluid_side_names[s]) == 0)
        sim_faults_add(faults, p->bodies.items[b].line, path, "is that of a side in the table `heat`: \"%s\"",
                       body->name);
    }
    snprintf(path, sizeof path, "heat.%s", fluid_side_names[s]);
    if (!isnan(h->side[s]) && s / 2 >= grid->rank)
      sim_faults_add(faults, 0, path, "the grid has no axis %c: grid.n has %d numbers", "xyz"[s / 2], grid -> rank);
    else if (!isnan(h->side[s]) && grid_is_periodic(grid, s / 2))
      sim_faults_add(faults, 0, path, "expected grid.%c = \"wall\" or \"slip\", got \"periodic\"", "xyz"[s / 2]);
    const bool in = (side->profile && s / 2 < grid->rank && fluid_side_passes(side, s)) ||
                    (s / 2 < grid->rank && side->velocity.rows == (size_t)grid->rank &&
                     (s % 2 ? -1 : 1) * side->velocity.data[s / 2] > 0);
    const bool out = side->given && s / 2 < grid->rank && side->velocity.rows == (size_t)grid->rank &&
                     (s % 2 ? -1 : 1) * side->velocity.data[s / 2] < 0;
    if (out && !isnan(h->side[s]))
      sim_faults_add(faults, 0, path, "has no effect: the fluid leaves through sides.%s", fluid_side_names[s]);
    if (side->given && in && isnan(h->side[s]))
      sim_faults_add(faults, 0, path, "expected the temperature of the fluid that comes in through sides.%s",
                     fluid_side_names[s]);
  }
  check_vector(&h->gravity, grid->rank, "heat.gravity", faults);
  if ((h->expansion != 0) != (length_of(&h->gravity) > 0))
    sim_faults_add(faults, 0, "heat", "buoyancy needs both `expansion` and `gravity`, got one of them");
  if (fluid_moves(p))
    sim_faults_add(faults, 0, "heat",
                   "bodies that move in a fluid with `heat` are not supported; a ball or a cylinder may have a `spin`");
}

static void check_heat_numbers(const fluid_parameters *p, sim_faults *faults) {
  const fluid_numbers k = fluid_numbers_of(p, 0);
  enum { SHORTEST = 500 }; /* 1/(tau - 1/2) */
  double low, high;
  if (!p->heat.given) return;
  if (fluid_heat_far(p, &low, &high) > FLUID_HEAT_FAR)
    sim_faults_add(faults, 0, "heat.reference",
                   "is %.6g, far from the temperatures of sides and bodies, %.6g to %.6g: where the fluid passes a "
                   "side, compression changes temperatures by parts of what they are from there: expected one of "
                   "these, such as %.6g, and `initial` for a start with others",
                   p->heat.reference, low, high, p->heat.reference < low ? low : high);
  for (size_t a = 0; a < p->heat.gravity.rows; a++)
    if (!isfinite(p->heat.expansion * p->heat.gravity.data[a] * FLUID_HEAT_MOST))
      sim_faults_add(faults, 0, "heat.expansion", "times gravity is %g, out of range",
                     p->heat.expansion * p->heat.gravity.data[a]);
  if (k.heat_tau - 0.5 < 1.0 / SHORTEST && !(fluid_damps_eddies(p) && p->turbulence.prandtl <= 1))
    sim_faults_add(faults, 0, "heat.diffusivity",
                   "the relaxation time of heat %.6g is too near to 1/2, and the run would be unstable: expected a "
                   "diffusivity of at least %.3g%s",
                   k.heat_tau, fluid_round_up(p->heat.diffusivity / (SHORTEST * (k.heat_tau - 0.5)), 3),
                   k.viscous ? "" : ", or more cells"); /* a step that the viscosity bounds keeps it */
  if (k.heat_tau > 3)
    sim_faults_add(faults, 0, "integrate.dt",
                   "the relaxation time of heat is %.4g with dt = %.6g, and sides are wrong above 3: expected "
                   "dt = \"auto\", or at most %.3g",
                   k.heat_tau, k.dt, fluid_round_down(k.dt * 2.5 / (k.heat_tau - 0.5), 3));
}

sim_status fluid_validate(void *parameters, sim_faults *faults) {
  fluid_parameters *p = parameters;
  sim_output_check_fields(&p->common.output, false, faults);
  if (!grid_check(&p->grid, faults)) return SIM_OK;
  const grid_shape grid = fluid_grid_of(p);
  if (grid.rank == 1) {
    sim_faults_add(faults, 0, "grid.n", "expected 2 or 3 numbers of cells, got 1");
    return SIM_OK;
  }
  const size_t before = faults->count;
  if (!fluid_find_viscosity(p, &grid, faults)) return SIM_OK;
  fluid_find_pressures(p, &grid);
  fluid_check_timed(p, faults);
  fluid_check_force(p, &grid, faults);
  fluid_check_viscosity(p, faults);
  check_cubes(&grid, faults);
  check_vector(&p->acceleration, grid.rank, "acceleration", faults);
  if (p->initial && sim_expr_output_count(p->initial) != grid.rank &&
      sim_expr_output_count(p->initial) != grid.rank + 1)
    sim_faults_add(faults, 0, "initial",
                   "expected %d numbers, the velocity, or %d, with the pressure behind it, got %d", grid.rank,
                   grid.rank + 1, sim_expr_output_count(p->initial));
  for (int s = 0; s < FLUID_SIDES; s++) {
    check_side(p, &grid, s, faults);
    check_sponge(p, &grid, s, faults);
  }
  if (grid.rank == 2) check_functions(p, faults);
  check_flow_through(p, &grid, faults);
  if (p->bodies.count > FLUID_BODIES)
    sim_faults_add(faults, 0, "bodies", "expected at most %d, got %zu", FLUID_BODIES, p->bodies.count);
  for (int b = 0; b < (int)p->bodies.count && b < FLUID_BODIES; b++) check_body(p, &grid, b, faults);
  fluid_check_references(p, &grid, faults);
  check_probes(p, &grid, faults);
  fluid_check_gates(p, &grid, faults);
  fluid_check_spectrum(p, &grid, faults);
  check_heat(p, &grid, faults);
  fluid_check_collision(p, faults);
  fluid_check_porous(p, &grid, faults);
  fluid_check_grains(p, &grid, faults);
  if (faults->count == before) fluid_check_force_values(p, &grid, faults);
  if (faults->count == before) check_numbers(p, faults);
  if (faults->count == before) check_heat_numbers(p, faults);
  fluid_check_average(p, faults);
  SIM_TRY(fluid_check_steady(p, faults));
  if (faults->count == before) fluid_name_tables(p);
  return SIM_OK;
}
