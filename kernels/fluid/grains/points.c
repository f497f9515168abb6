/* What grains that are points and the fluid give each other in a step. No result depends on the number of threads. */
#include "kernels/fluid/grains/points.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;
#define DEVIATION 0.36151232 /* of the kernel by its width: sqrt(1/3 - 2/pi^2) */
#define FARTHER 2.5          /* radius of a sphere that drags as a kernel does, by the grain's */
#define CELLS 0.04    /* of the deviation squared: cells drag less by it; fitted at relaxation times of 0.56 to 0.95 */
#define NARROWEST 3.0 /* least width in cells */
#define DENSEST 0.7   /* greatest solid fraction of the law: that of spheres at random is 0.64 */

/* ---- the law ---- */

double fluid_drag_factor(int law, double reynolds, double solid) {
  const double alone = reynolds <= 1000 ? 1 + 0.15 * pow(reynolds, 0.687) : 0.44 / 24 * reynolds;
  if (law != FLUID_DI_FELICE || !(solid > 0)) return alone;
  const double far = reynolds > 0 ? 1.5 - log10(reynolds) : INFINITY;
  return alone * pow(1 - fmin(solid, DENSEST), -(4.7 - 0.65 * exp(-far * far / 2)));
}

/* 1 - sqrt(pi) x erfcx(x); above 6 by its asymptotic series, whose next term is below 1e-6 of it. */
static double screened(double x) {
  const double y = 1 / (2 * x * x);
  return x < 6 ? 1 - sqrt(pi) * x * exp(x * x) * erfc(x) : y * (1 - y * (3 - y * (15 - 105 * y)));
}

double fluid_own_share(double still, double moving) {
  enum { POINTS = 8 }; /* of Gauss and Legendre, in c^2 = a: they lie closer where x is small */
  static const double at[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  static const double by[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  double sum = 0;
  for (int i = 0; i < POINTS; i++) {
    const double root = (1 + (i % 2 ? at[i / 2] : -at[i / 2])) / 2, c = root * root;
    sum += by[i / 2] * root * (1 - c * c) * screened(sqrt(still * still + c * c * moving * moving));
  }
  return 1.5 * sum;
}

/* ---- kernels ---- */

/* Of a grain, in cells: the width of its kernel, so that sqrt(pi) times the deviation, the radius of a sphere that
 * drags as the kernel does, is FARTHER times its own; or that of the narrowest. */
static double width_of(const fluid_grains *g, int64_t i) {
  return fmax(NARROWEST, FARTHER * g->s.radius[i] / g->numbers->dx / (sqrt(pi) * DEVIATION));
}

static void find_kernel(const fluid_grains *g, const grid_shape *grid, int64_t i) {
  fluid_points *p = g->points;
  const double width = width_of(g, i);
  for (int a = 0; a < 3; a++) {
    double *weight = p->weight + (3 * i + a) * p->widest, sum = 0;
    const double x = g->s.position[a * g->s.n + i] / g->numbers->dx - 0.5;
    int64_t first = (int64_t)ceil(x - width), last = (int64_t)floor(x + width);
    if (!grid_is_periodic(grid, a)) {
      first = first < 0 ? 0 : first;
      last = last >= grid->n[a] ? grid->n[a] - 1 : last;
    }
    for (int64_t k = first; k <= last; k++) sum += weight[k - first] = 1 + cos(pi * ((double)k - x) / width);
    for (int64_t k = first; k <= last; k++) weight[k - first] /= sum;
    p->first[3 * i + a] = (int32_t)first;
    p->count[3 * i + a] = (int32_t)(last - first + 1);
  }
}

/* The sum of the squares of a kernel's weights. */
static double own_weight(const fluid_points *p, int64_t i) {
  double out = 1;
  for (int a = 0; a < 3; a++) {
    double sum = 0;
    const double *weight = p->weight + (3 * i + a) * p->widest;
    for (int32_t k = 0; k < p->count[3 * i + a]; k++) sum += weight[k] * weight[k];
    out *= sum;
  }
  return out;
}

/* Calls `visit` for each cell of a kernel with its weight. */
typedef void visit_cell(void *context, int64_t cell, double weight);
static void each_cell(const fluid_points *p, const grid_shape *grid, int64_t i, visit_cell *visit, void *context) {
  const int64_t *n = grid->n;
  const double *weight = p->weight + 3 * i * p->widest;
  const int32_t *first = p->first + 3 * i, *count = p->count + 3 * i;
  for (int32_t z = 0; z < count[2]; z++)
    for (int32_t y = 0; y < count[1]; y++)
      for (int32_t x = 0; x < count[0]; x++) {
        const int32_t at[3] = {first[0] + x, first[1] + y, first[2] + z};
        int64_t inside[3];
        for (int a = 0; a < 3; a++) inside[a] = (at[a] % n[a] + n[a]) % n[a];
        visit(context, (inside[2] * n[1] + inside[1]) * n[0] + inside[0],
              weight[x] * weight[p->widest + y] * weight[2 * p->widest + z]);
      }
}

static void touch(fluid_points *p, int64_t cell) {
  if (p->mark[cell]) return;
  p->mark[cell] = true;
  p->touched[p->count_touched++] = cell;
}

/* ---- solid fractions ---- */

static double volume_of(const fluid_grains *g, int64_t i) {
  const double r = g->s.radius[i] / g->numbers->dx;
  return 4 * pi / 3 * r * r * r;
}

typedef struct spreading {
  fluid_points *points;
  double amount[4];
  double sum;
} spreading;

static void add_volume(void *context, int64_t cell, double weight) {
  spreading *s = context;
  touch(s->points, cell);
  s->points->volume[cell] += weight * s->amount[0];
}

static void read_volume(void *context, int64_t cell, double weight) {
  spreading *s = context;
  s->sum += weight * s->points->volume[cell];
}

/* The part of the weight of two kernels that lies nearer than two radii: there the others' centres cannot be. */
static double excluded(const fluid_grains *g, int64_t i) {
  const double deviation = sqrt(2) * DEVIATION * width_of(g, i), t = 2 * g->s.radius[i] / g->numbers->dx / deviation;
  return erf(t / sqrt(2)) - sqrt(2 / pi) * t * exp(-t * t / 2);
}

static void find_solid(fluid_grains *g, const grid_shape *grid, int threads) {
  fluid_points *p = g->points;
  (void)threads;
  for (int64_t i = 0; i < g->s.n; i++)
    each_cell(p, grid, i, add_volume, &(spreading){.points = p, .amount = {volume_of(g, i)}});
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < g->s.n; i++) {
    spreading all = {.points = p};
    each_cell(p, grid, i, read_volume, &all);
    p->solid[i] = fmax(0, all.sum - volume_of(g, i) * own_weight(p, i)) / (1 - excluded(g, i));
  }
  for (int64_t k = 0; k < p->count_touched; k++) {
    p->volume[p->touched[k]] = 0;
    p->mark[p->touched[k]] = false;
  }
  p->count_touched = 0;
}

/* ---- drag ---- */

/* Force over the velocity of the fluid about a grain relative to it, at a size `apart` of this velocity; in the
 * scenario's units. The relative velocity w without the grain is found by repetition: own < 1 falls with w. */
static double friction_of(const fluid_grains *g, int64_t i, double apart) {
  const fluid_parameters *p = g->p;
  const double nu = p->viscosity, mu = nu * p->density, dx = g->numbers->dx, r = g->s.radius[i],
               solid = g->points->solid[i];
  const double s = DEVIATION * width_of(g, i) * dx, stokes = 6 * pi * mu * r;
  const double wide = sqrt(pi) * (s - CELLS * dx * dx / s);
  const double half = g->numbers->dt * own_weight(g->points, i) / (2 * p->density * dx * dx * dx);
  double w = apart, factor = 1, own = 0;
  for (int k = 0; k < 60; k++) {
    factor = fluid_drag_factor(p->drag, 2 * r * w / nu, solid);
    const double still = p->drag == FLUID_DI_FELICE ? s / r * sqrt(4.5 * factor * solid) : 0;
    own = fmin(0.9, stokes * factor * (fluid_own_share(still, s * w / nu) / (6 * pi * mu * wide) - half));
    const double next = apart / (1 - own), change = fabs(next - w);
    w = next;
    if (change <= 1e-14 * w) break;
  }
  return stokes * factor / (1 - own);
}

typedef struct averaging {
  const fluid_machine *m;
  const sim_buffer *state;
  double velocity[3]; /* in units of the lattice */
} averaging;

static void add_velocity(void *context, int64_t cell, double weight) {
  averaging *s = context;
  double u[3];
  (void)fluid_cell_velocity(s->m, s->state, cell / s->m->grid.n[0], cell % s->m->grid.n[0], u);
  for (int a = 0; a < 3; a++) s->velocity[a] += weight * u[a];
}

/* Sets given[0..2] of a grain to the momentum that it gets by drag, given[3] to the friction, and its acceleration. The
 * velocity follows m dv/dt = friction (u - v) + weight exactly, at a constant u. */
static void drag_grain(fluid_grains *g, const fluid_machine *m, const sim_buffer *state, int64_t i) {
  const int64_t n = g->s.n;
  const double unit = g->numbers->dx / g->numbers->dt, dt = g->numbers->dt, mass = g->s.mass[i];
  averaging s = {.m = m, .state = state};
  double apart[3], square = 0;
  each_cell(g->points, &m->grid, i, add_velocity, &s);
  for (int a = 0; a < 3; a++) {
    apart[a] = unit * s.velocity[a] - g->s.velocity[a * n + i];
    square += apart[a] * apart[a];
  }
  const double friction = friction_of(g, i, sqrt(square)), x = friction * dt / mass, part = -expm1(-x);
  for (int a = 0; a < 3; a++) {
    const double weight = (mass - fluid_displaced(g, i)) * g->p->gravity[a];
    const double change = part * (apart[a] + weight / friction); /* of the velocity */
    g->given[6 * i + a] = mass * change - weight * dt;
    g->s.push[a * n + i] = change / dt;
  }
  g->given[6 * i + 3] = friction;
}

static void add_force(void *context, int64_t cell, double weight) {
  spreading *s = context;
  touch(s->points, cell);
  for (int a = 0; a < 4; a++) s->points->force[4 * cell + a] += weight * s->amount[a];
}

/* Spreads the drag of all grains. */
static void spread(const fluid_grains *g, const grid_shape *grid) {
  const fluid_numbers *k = g->numbers;
  const double mass = g->p->density * k->dx * k->dx * k->dx, unit = k->dt / (mass * k->dx);
  for (int64_t i = 0; i < g->s.n; i++) {
    const double *given = g->given + 6 * i;
    spreading s = {.points = g->points,
                   .amount = {-unit * given[0], -unit * given[1], -unit * given[2], given[3] * k->dt / mass}};
    each_cell(g->points, grid, i, add_force, &s);
  }
}

/* Empties `force`; returns the cell whose fluid grains change most in a step, and by what part of its velocity. */
static int64_t clear(fluid_points *p, double *most) {
  int64_t worst = -1;
  *most = 0;
  for (int64_t k = 0; k < p->count_touched; k++) {
    const int64_t cell = p->touched[k];
    if (p->force[4 * cell + 3] > *most) {
      *most = p->force[4 * cell + 3];
      worst = cell;
    }
    for (int a = 0; a < 4; a++) p->force[4 * cell + a] = 0;
    p->mark[cell] = false;
  }
  p->count_touched = 0;
  return worst;
}

/* A part of 2 and more of its relative velocity would be taken and given back with a larger one. */
static sim_status check_most(const fluid_grains *g, const grid_shape *grid, sim_status kind, double most,
                             int64_t cell) {
  const int64_t row = cell / grid->n[0];
  if (!(most > 1)) return SIM_OK;
  return sim_fail(
      kind,
      "grains: those about cell {%lld, %lld, %lld} drag %.3g times as much fluid in a step of %.4g as is there: "
      "expected integrate.dt of at most %.3g, or fewer of them",
      (long long)(cell % grid->n[0]), (long long)(row % grid->n[1]), (long long)(row / grid->n[1]), most,
      g->numbers->dt, g->numbers->dt / most);
}

sim_status fluid_points_check(const fluid_grains *g, const grid_shape *grid) {
  double most;
  for (int64_t i = 0; i < g->s.n; i++) find_kernel(g, grid, i);
  if (g->p->drag == FLUID_DI_FELICE) find_solid((fluid_grains *)g, grid, 1);
  for (int64_t i = 0; i < g->s.n; i++) {
    for (int a = 0; a < 3; a++) g->given[6 * i + a] = 0;
    g->given[6 * i + 3] = friction_of(g, i, 0);
  }
  spread(g, grid);
  const int64_t cell = clear(g->points, &most);
  return check_most(g, grid, SIM_ERR_SCENARIO, most, cell);
}

sim_status fluid_points_act(const fluid_machine *m, const sim_buffer *to) {
  fluid_grains *g = m->grains;
  fluid_points *p = g->points;
  const int threads = m->threads;
  double most;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < g->s.n; i++) find_kernel(g, &m->grid, i);
  if (g->p->drag == FLUID_DI_FELICE) find_solid(g, &m->grid, threads);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < g->s.n; i++) drag_grain(g, m, to, i);
  spread(g, &m->grid);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t k = 0; k < p->count_touched; k++)
    fluid_kick(m, fluid_first(to), p->touched[k], 0, p->force + 4 * p->touched[k]);
  const int64_t cell = clear(p, &most);
  return check_most(g, &m->grid, SIM_ERR_DIVERGED, most, cell);
}

/* ---- memory ---- */

static int widest_of(const fluid_grains *g) {
  double width = 0;
  for (int64_t i = 0; i < g->s.n; i++) width = fmax(width, width_of(g, i));
  return 2 * (int)ceil(width) + 1;
}

double fluid_points_bytes(const fluid_grains *g, const grid_shape *grid) {
  const double each = 3 * (widest_of(g) * sizeof(double) + 2 * sizeof(int32_t)) + sizeof(double);
  return grid_cells_wanted(grid) * (5 * sizeof(double) + sizeof(bool) + sizeof(int64_t)) + (double)g->s.n * each;
}

sim_status fluid_points_create(const fluid_grains *g, const grid_shape *grid, fluid_points **out) {
  const size_t n = (size_t)g->s.n, cells = (size_t)grid_cells(grid);
  fluid_points *p = *out = calloc(1, sizeof *p);
  if (!p) return sim_no_memory("the model");
  p->widest = widest_of(g);
  p->weight = malloc(3 * n * (size_t)p->widest * sizeof *p->weight);
  p->first = malloc(3 * n * sizeof *p->first);
  p->count = malloc(3 * n * sizeof *p->count);
  p->solid = calloc(n, sizeof *p->solid);
  p->volume = calloc(cells, sizeof *p->volume);
  p->force = calloc(4 * cells, sizeof *p->force);
  p->mark = calloc(cells, sizeof *p->mark);
  p->touched = malloc(cells * sizeof *p->touched);
  return p->weight && p->first && p->count && p->solid && p->volume && p->force && p->mark && p->touched
             ? SIM_OK
             : sim_no_memory("%zu grains", n);
}

void fluid_points_destroy(fluid_points **points) {
  fluid_points *p = *points;
  if (!p) return;
  free(p->weight), free(p->first), free(p->count), free(p->solid);
  free(p->volume), free(p->force), free(p->mark), free(p->touched);
  free(p);
  *points = NULL;
}
