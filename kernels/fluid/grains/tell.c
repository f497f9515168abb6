/* What a user is told of grains: before a run, and in the table `grains`. */
#include "kernels/fluid/grains/points.h"

#include "engine/log.h"

#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846;

#define C(word, text, ...)                                                                                             \
  { .name = word, .type = SIM_REAL, .doc = text, __VA_ARGS__ }
#define ENERGY .dimension = {2, 1, -2}
#define MOMENTUM .dimension = {1, 1, -1}
enum {
  KINETIC,
  ROTATIONAL,
  ELASTIC,
  DISSIPATED,
  LUBRICATED,
  DRAGGED,
  WORK_FLUID,
  WORK_GRAVITY,
  MOMENTUM_X,
  MEAN_X = MOMENTUM_X + 3,
  MEAN_VX = MEAN_X + 3,
  MEAN_WX = MEAN_VX + 3,
  SPEED = MEAN_WX + 3,
  CONTACTS,
  OVERLAP
};
const sim_field fluid_grains_columns[] = {
    C("kinetic", "kinetic energy of the grains' motion", ENERGY),
    C("rotational", "kinetic energy of their rotation", ENERGY),
    C("elastic", "elastic energy of contacts", ENERGY),
    C("dissipated", "energy that contacts have dissipated since the start", ENERGY),
    C("lubricated", "energy that films below a cell have dissipated since the start", ENERGY),
    C("dragged",
      "energy that drag has dissipated since the start, as points move through the fluid: what it took from the grains "
      "less what it gave to the fluid; 0 without `drag`",
      ENERGY),
    C("work_fluid", "work of the fluid on the grains since the start", ENERGY),
    C("work_gravity", "work of gravity less buoyancy on the grains since the start", ENERGY),
    C("momentum_x",
      "momentum of the grains, with cells that resolve them less that of the fluid which they displace; with that of "
      "`flow` it is the whole, which the box keeps but for sides and weight",
      MOMENTUM),
    C("momentum_y", "the same along y", MOMENTUM),
    C("momentum_z", "the same along z", MOMENTUM),
    C("x", "mean position along x", .dimension = {1, 0, 0}, .display = SIM_DISPLAY_NUMBER),
    C("y", "mean position along y", .dimension = {1, 0, 0}, .display = SIM_DISPLAY_NUMBER),
    C("z", "mean position along z", .dimension = {1, 0, 0}),
    C("velocity_x", "mean velocity along x", .dimension = {1, 0, -1}),
    C("velocity_y", "mean velocity along y", .dimension = {1, 0, -1}),
    C("velocity_z", "mean velocity along z", .dimension = {1, 0, -1}),
    C("spin_x", "mean angular velocity about x", .dimension = {0, 0, -1}),
    C("spin_y", "mean angular velocity about y", .dimension = {0, 0, -1}),
    C("spin_z", "mean angular velocity about z", .dimension = {0, 0, -1}),
    C("speed", "greatest speed of a grain", .dimension = {1, 0, -1}),
    C("contacts", "contacts of grains with each other", .display = SIM_DISPLAY_NUMBER),
    C("overlap", "largest overlap over the smaller radius", .display = SIM_DISPLAY_NUMBER),
    {0}};

static void add_grain(const fluid_grains *g, int64_t i, double *values) {
  const int64_t n = g->s.n;
  const double fluid = g->points ? 0 : fluid_displaced(g, i); /* cells have no fluid in place of a point */
  double square = 0;
  for (int a = 0; a < 3; a++) {
    const double v = g->s.velocity[a * n + i];
    square += v * v;
    values[MOMENTUM_X + a] += g->s.mass[i] * v - fluid * g->before[a * n + i];
    values[MEAN_X + a] += g->s.position[a * n + i] / (double)n;
    values[MEAN_VX + a] += v / (double)n;
    values[MEAN_WX + a] += g->s.spin[a * n + i] / (double)n;
  }
  values[SPEED] = sqrt(square) > values[SPEED] || isnan(square) ? sqrt(square) : values[SPEED];
}

sim_status fluid_grains_row(fluid_grains *g, double *values) {
  collision_coupled_sums s;
  SIM_TRY(collision_coupled_sums_of(g->coupled, &s));
  for (int i = 0; i <= OVERLAP; i++) values[i] = 0;
  for (int64_t i = 0; i < g->s.n; i++) add_grain(g, i, values);
  values[KINETIC] = s.kinetic;
  values[ROTATIONAL] = s.rotational;
  values[ELASTIC] = s.elastic;
  values[DISSIPATED] = s.dissipated;
  values[DRAGGED] = g->budget[FLUID_DRAGGED];
  values[LUBRICATED] = g->budget[FLUID_LUBRICATED];
  values[WORK_FLUID] = g->budget[FLUID_WORK_FLUID];
  values[WORK_GRAVITY] = g->budget[FLUID_WORK_GRAVITY];
  values[CONTACTS] = s.touching / 2;
  values[OVERLAP] = s.overlap;
  if (s.overlap > g->p->contact.overlap_limit && !g->told_overlap) {
    g->told_overlap = true;
    sim_log(SIM_LOG_WARN,
            "grains: one overlaps another or a wall by %.3g of its radius, more than overlap_limit: "
            "contacts are too soft for these speeds",
            s.overlap);
  }
  return SIM_OK;
}

/* ---- before a run ---- */

/* Terminal speed of a sphere in a fluid without walls, by the drag of Schiller and Naumann, or of Stokes where points
 * have it. */
static double terminal_speed(int law, double radius, double ratio, double gravity, double viscosity) {
  const int alone = law == FLUID_STOKES ? FLUID_STOKES : FLUID_SCHILLER_NAUMANN;
  const double stokes = 2.0 / 9 * (ratio - 1) * gravity * radius * radius / viscosity;
  double speed = stokes;
  for (int i = 0; i < 200; i++) {
    const double reynolds = 2 * radius * speed / viscosity;
    speed = (speed + stokes / fluid_drag_factor(alone, reynolds, 0)) / 2;
  }
  return speed;
}

static double length_of(const double *v, int64_t n, int64_t i) {
  return sqrt(v[i] * v[i] + v[n + i] * v[n + i] + v[2 * n + i] * v[2 * n + i]);
}

/* Density above that at rest, as a part of it, of the fluid in the last cell between a wall and a grain that comes with
 * a speed in cells per step: 3 p in units of the lattice, of the pressure 3 mu u r/h^2 of a film (Cox and Brenner, see
 * grains.h) as thick as a cell. On the way from a radius to half a cell the film has slowed the grain by
 * 6 pi mu r^2/mass ln(2 r). */
static double film_density(const fluid_grains *g, int64_t i, double speed) {
  const fluid_numbers *k = g->numbers;
  const double dx = k->dx, r = g->s.radius[i] / dx, nu = (k->tau - 0.5) / 3;
  const double mass = g->s.mass[i] / (g->p->density * dx * dx * dx);
  return 9 * nu * r * fmax(0, speed - 6 * pi * nu * r * r / mass * log(2 * r));
}

/* A run ends where this is 0.5. In units of the lattice viscosity and speeds grow with the step. */
static void tell_films(const fluid_grains *g, const grid_shape *grid, double fastest) {
  const fluid_parameters *p = g->p;
  const double unit = g->numbers->dt / g->numbers->dx;
  double most = 0, speed = 0;
  for (int64_t i = 0; i < g->s.n; i++) {
    const double v = fmin(fmax(length_of(g->s.velocity, g->s.n, i), fastest), p->speed);
    const double density = film_density(g, i, unit * v);
    if (!(density > most)) continue;
    most = density;
    speed = v;
  }
  bool alone = g->s.n == 1;
  for (int a = 0; a < 3; a++) alone = alone && grid_is_periodic(grid, a);
  if (most > 0.35 && !alone)
    sim_log(SIM_LOG_WARN,
            "grains: one that meets a wall or another with %.3g presses the fluid in the last cell to some %.2g times "
            "its density, and at 1.5 times the run ends: expected mach = %.2g, or more cells",
            speed, 1 + most, g->numbers->mach * sqrt(0.3 / most));
}

/* What it means that grains are points. least: density over that of the fluid; part: of the box's volume; reynolds:
 * the greatest number of one that settles alone. */
static void tell_points(const fluid_grains *g, double least, double part, double reynolds) {
  static const char *const laws[] = {
      [FLUID_STOKES] = "Stokes, of a slow sphere alone",
      [FLUID_SCHILLER_NAUMANN] = "Schiller and Naumann, of a sphere alone",
      [FLUID_DI_FELICE] = "Di Felice, larger by the part of the volume that others take",
  };
  sim_log(SIM_LOG_INFO,
          "grains: below %d cells across they are points: their drag is that of %s, and the flow around each, films "
          "between them, lift, added mass and the fluid's torque are left out",
          FLUID_GRAIN_LEAST, laws[g->p->drag]);
  if (least < 20)
    sim_log(least < 2 ? SIM_LOG_WARN : SIM_LOG_INFO,
            "grains: points of %.3g times the density of the fluid have no added mass: they change their speeds some "
            "%.2g %% too fast; speeds of steady settling are right",
            least, 50 / least);
  if (part > 0.01 && g->p->drag != FLUID_DI_FELICE)
    sim_log(SIM_LOG_WARN,
            "grains: they take %.3g %% of the box, and this law is of a sphere alone: slow ones settle some %.2g %% "
            "slower together; expected drag = \"di_felice\"",
            100 * part, 100 * (1 - pow(1 - part, 4.65)));
  if (g->p->drag == FLUID_STOKES && reynolds > 0.1)
    sim_log(SIM_LOG_WARN,
            "grains: at a Reynolds number of %.3g the drag is some %.2g %% above that of Stokes: expected drag = "
            "\"schiller_naumann\"",
            reynolds, 100 * (fluid_drag_factor(FLUID_SCHILLER_NAUMANN, reynolds, 0) - 1));
  if (reynolds > 1000)
    sim_log(SIM_LOG_WARN, "grains: above a Reynolds number of 1000 the coefficient of drag is taken as 0.44");
}

static void tell(const fluid_grains *g, const grid_shape *grid) {
  const fluid_parameters *p = g->p;
  const double nu = p->viscosity, dt = g->numbers->dt;
  double least = INFINITY, most = 0, volume = 0, ratio = 0, light = INFINITY, fastest = 0, gravity = 0,
         relaxation = INFINITY;
  for (int a = 0; a < 3; a++) gravity += p->gravity[a] * p->gravity[a];
  for (int64_t i = 0; i < g->s.n; i++) {
    const double r = g->s.radius[i], own = 4.0 / 3 * pi * r * r * r, density = g->s.mass[i] / (own * p->density);
    least = fmin(least, r);
    most = fmax(most, r);
    volume += own;
    ratio = fmax(ratio, density);
    light = fmin(light, density);
    relaxation = fmin(relaxation, 2.0 / 9 * (density + (g->points ? 0 : 0.5)) * r * r / nu);
    fastest = fmax(fastest, terminal_speed(p->drag, r, density, sqrt(gravity), nu));
  }
  char across[64];
  if (most > least * (1 + 1e-9))
    snprintf(across, sizeof across, "%.4g to %.4g", 2 * least / g->numbers->dx, 2 * most / g->numbers->dx);
  else
    snprintf(across, sizeof across, "%.4g", 2 * most / g->numbers->dx);
  sim_log(SIM_LOG_INFO,
          "grains: %lld, %s cells across, %.3g %% of the box, density up to %.4g times that of the fluid; "
          "%lld substeps a step",
          (long long)g->s.n, across, 100 * volume / (grid->size[0] * grid->size[1] * grid->size[2]), ratio,
          (long long)collision_coupled_substeps(g->coupled));
  sim_log(SIM_LOG_INFO,
          "grains: their velocities follow the fluid's within %.3g, %.3g steps; the fastest alone would settle with "
          "%.3g, Reynolds number %.3g, Mach number %.3g",
          relaxation, relaxation / dt, fastest, 2 * most * fastest / nu, sqrt(3) * fastest * dt / g->numbers->dx);
  if (fastest > 1.01 * p->speed)
    sim_log(SIM_LOG_WARN,
            "grains: one alone would settle with %.3g, more than `speed`, %.3g, which sets the time step: set speed = "
            "%.2g unless others or walls slow it",
            fastest, p->speed, 1.1 * fastest);
  if (relaxation < 2 * dt && !g->points)
    sim_log(SIM_LOG_WARN,
            "grains: the fluid changes their velocities within %.3g steps: expected at least 2; take more cells or a "
            "shorter dt",
            relaxation / dt);
  if (g->points)
    tell_points(g, light, volume / (grid->size[0] * grid->size[1] * grid->size[2]), 2 * most * fastest / nu);
  else
    tell_films(g, grid, fastest);
}

/* Seconds of a step in cells, about: some 0.8 us for each cell that a grain covers on the CPU and 1 ns on a GPU, and 30
 * ns for each cell of a point's kernel; measured with 31 grains of 6 to 8 cells across, and 512 of 16. */
static double seconds_of(const fluid_grains *g, const sim_setup *setup) {
  const double covered = 0.7 * (double)g->room[g->s.n];
  if (g->points) return (double)g->s.n * 3e-8 * pow(g->points->widest, 3) / setup->threads;
  return setup->backend->space == SIM_SPACE_HOST ? 0.8e-6 * covered / setup->threads : 1e-9 * covered;
}

/* What ranks exchange in a step: what the fluid gives a grain in each plane of z; with points the velocity about them
 * and the parts of others, their drag, the cell that is dragged most, and the energy of planes. */
static void count_exchanges(const fluid_grains *g, const grid_shape *grid, double layers, fluid_grains_plan *out) {
  const double n = (double)g->s.n;
  out->exchanges = 1;
  out->received = 6 * sizeof(double) * layers;
  if (!g->points) return;
  const bool crowd = g->p->drag == FLUID_DI_FELICE;
  out->exchanges = crowd ? 5 : 4;
  out->received =
      sizeof(double) * (n * (g->points->widest * (crowd ? 4 : 3) + FLUID_POINT_NUMBERS) + 3 * (double)grid->n[2]);
}

sim_status fluid_grains_check(const fluid_parameters *p, const fluid_numbers *numbers, const sim_setup *setup,
                              fluid_grains_plan *out) {
  const grid_shape grid = fluid_grid_of(p);
  const fluid_part whole = fluid_part_of(&grid, &sim_comm_alone); /* nothing is exchanged before a run */
  const double ranks = setup->comm->size, planes = (double)grid.n[2], own = ceil(planes / ranks) / planes;
  fluid_grains g;
  const sim_status status = fluid_grains_create(p, numbers, &grid, &whole, setup, &g);
  if (status == SIM_OK) {
    const double n = (double)g.s.n, room = (double)g.room[g.s.n];
    if (!setup->saved) tell(&g, &grid);
    const bool host = setup->backend->space == SIM_SPACE_HOST;
    double boxes = 0, layers = 0;
    for (int64_t i = 0; i < g.s.n; i++) {
      boxes += (double)fluid_box_cells(fluid_cover_radius(&g, i));
      layers += floor(2 * fluid_cover_radius(&g, i)) + 2;
    }
    *out = (fluid_grains_plan){.cells = g.points ? fluid_points_bytes(&g, &grid, own)
                                        : host   ? own * grid_cells_wanted(&grid) * sizeof *g.head +
                                                     room * (sizeof *g.share + sizeof *g.blend + sizeof *g.of)
                                               : boxes * sizeof(double),
                               .grains = n * 2000 + layers * (FLUID_LAYER_NUMBERS + 1) * sizeof(double),
                               .snapshot = n * 14 * sizeof(double),
                               .checkpoint = n * 60 * sizeof(double),
                               .seconds = seconds_of(&g, setup),
                               .undivided = 0.7e-6 * n * (double)collision_coupled_substeps(g.coupled)};
    if (setup->comm->size > 1) count_exchanges(&g, &grid, layers, out);
  }
  fluid_grains_destroy(&g);
  return status;
}
