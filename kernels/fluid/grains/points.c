/* What grains that are points and the fluid give each other in a step. Each thread has the planes of z of its own and
 * adds what grains give in their order, so that no result depends on the number of threads. */
#include "kernels/fluid/grains/points.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;
#define DEVIATION 0.36151232 /* of the kernel by its width: sqrt(1/3 - 2/pi^2) */
#define FARTHER 2.5          /* radius of a sphere that drags as a kernel does, by the grain's */
#define SHAPE 1.0243 /* the same radius by that of a Gaussian of the kernel's variance: its sum of |w(k)|^2/k^2 */
/* Velocity that a kernel's force does not add in cells, over F sum(weight^2)/(mu dx): the steady answer of the cells to
 * a force, summed over wave vectors, less that of a fluid. 0.084 to 0.094 in D3Q19 and D3Q27 at relaxation times of
 * 0.56 to 1, 0.10 and 0.12 at 0.51, wherever between cells a grain stands. The velocity is that before the step's
 * force. */
#define CELLS 0.088
#define NARROWEST 3.0 /* least width in cells */

/* ---- kernels ---- */

/* Width of a grain's kernel, in cells: sqrt(pi) times the deviation, the radius of a sphere that drags as the kernel
 * does, is FARTHER times the grain's radius, and the width at least NARROWEST. */
static double width_of(const fluid_grains *g, int64_t i) {
  return fmax(NARROWEST, FARTHER * g->s.radius[i] / g->numbers->dx / (sqrt(pi) * DEVIATION));
}

/* Makes weights at distances d = first, first + 1, ... add up to 1, and their first moment 0, so that a linear velocity
 * is averaged exactly: by a factor of 1 + lean d. Near a wall, where a weight would be negative, as nearly as can be.
 */
static void lean(double *weight, int64_t count, double first, double sum) {
  double one = 0, two = 0;
  for (int64_t k = 0; k < count; k++) {
    const double d = first + (double)k;
    weight[k] /= sum;
    one += weight[k] * d;
    two += weight[k] * d * d;
  }
  const double farthest = fmax(fabs(first), fabs(first + (double)(count - 1)));
  const double by = fmin(fmax(-one / two, -1 / farthest), 1 / farthest);
  for (int64_t k = 0; k < count; k++) weight[k] *= (1 + by * (first + (double)k)) / (1 + by * one);
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
    lean(weight, last - first + 1, (double)first - x, sum);
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

/* Calls `visit` for each cell of a kernel in planes [low, high) of z, with its weight. */
typedef void visit_cell(void *context, int64_t cell, double weight);
static void each_cell(const fluid_points *p, const grid_shape *grid, int64_t i, int64_t low, int64_t high,
                      visit_cell *visit, void *context) {
  const int64_t *n = grid->n;
  const double *weight = p->weight + 3 * i * p->widest;
  const int32_t *first = p->first + 3 * i, *count = p->count + 3 * i;
  for (int32_t k = 0; k < count[2]; k++) {
    const int64_t z = ((first[2] + k) % n[2] + n[2]) % n[2];
    if (z < low || z >= high) continue;
    for (int32_t l = 0; l < count[1]; l++) {
      const int64_t y = ((first[1] + l) % n[1] + n[1]) % n[1];
      const double row = weight[2 * p->widest + k] * weight[p->widest + l];
      for (int32_t m = 0; m < count[0]; m++)
        visit(context, (z * n[1] + y) * n[0] + ((first[0] + m) % n[0] + n[0]) % n[0], row * weight[m]);
    }
  }
}

static void in_all(const fluid_points *p, const grid_shape *grid, int64_t i, visit_cell *visit, void *context) {
  each_cell(p, grid, i, 0, grid->n[2], visit, context);
}

/* ---- spreading ---- */

typedef struct spreading {
  double *cells; /* [cells][4] */
  const double *amount;
} spreading;

static void add_amount(void *context, int64_t cell, double weight) {
  const spreading *s = context;
  for (int a = 0; a < 4; a++) s->cells[4 * cell + a] += weight * s->amount[a];
}

/* Spreads amount[n][4] over `cells` by the kernels. */
static void spread(const fluid_grains *g, const grid_shape *grid, int threads) {
  fluid_points *p = g->points;
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; t++)
    for (int64_t i = 0; i < g->s.n; i++)
      each_cell(p, grid, i, grid->n[2] * t / threads, grid->n[2] * (t + 1) / threads, add_amount,
                &(spreading){p->cells, p->amount + 4 * i});
  for (int64_t i = 0; i < g->s.n; i++)
    for (int32_t k = 0; k < p->count[3 * i + 2]; k++)
      p->used[((p->first[3 * i + 2] + k) % grid->n[2] + grid->n[2]) % grid->n[2]] = true;
}

/* Empties `cells`. */
static void clear(fluid_points *p, const grid_shape *grid, int threads) {
  const int64_t each = 4 * grid->n[0] * grid->n[1];
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t z = 0; z < grid->n[2]; z++) {
    for (int64_t k = 0; k < each && p->used[z]; k++) p->cells[z * each + k] = 0;
    p->used[z] = false;
  }
}

/* ---- solid fractions ---- */

static double volume_of(const fluid_grains *g, int64_t i) {
  const double r = g->s.radius[i] / g->numbers->dx;
  return 4 * pi / 3 * r * r * r;
}

typedef struct reading {
  const double *cells;
  double sum;
} reading;

static void read_first(void *context, int64_t cell, double weight) {
  reading *r = context;
  r->sum += weight * r->cells[4 * cell];
}

/* The part of the weight of two kernels that lies nearer than two radii, where the others' centres cannot be. */
static double excluded(const fluid_grains *g, int64_t i) {
  const double deviation = sqrt(2) * DEVIATION * width_of(g, i), t = 2 * g->s.radius[i] / g->numbers->dx / deviation;
  return erf(t / sqrt(2)) - sqrt(2 / pi) * t * exp(-t * t / 2);
}

static void find_solid(const fluid_grains *g, const grid_shape *grid, int threads) {
  fluid_points *p = g->points;
  for (int64_t i = 0; i < g->s.n; i++) {
    for (int a = 1; a < 4; a++) p->amount[4 * i + a] = 0;
    p->amount[4 * i] = volume_of(g, i);
  }
  spread(g, grid, threads);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < g->s.n; i++) {
    reading all = {.cells = p->cells};
    in_all(p, grid, i, read_first, &all);
    p->solid[i] = fmax(0, all.sum - volume_of(g, i) * own_weight(p, i)) / (1 - excluded(g, i));
  }
  clear(p, grid, threads);
}

/* ---- drag ---- */

/* Force over the velocity of the fluid about a grain relative to it, at a size `apart` of this velocity; in the
 * scenario's units. The relative velocity w without the grain is found by repetition: own < 1 falls with w. Oseen's
 * flow is carried by w far away and by `apart` nearby: their mean is taken. */
static double friction_of(const fluid_grains *g, int64_t i, double apart) {
  const fluid_parameters *p = g->p;
  const double nu = p->viscosity, mu = nu * p->density, dx = g->numbers->dx, r = g->s.radius[i],
               solid = g->points->solid[i];
  const double s = DEVIATION * width_of(g, i) * dx, stokes = 6 * pi * mu * r;
  const double wide = SHAPE * sqrt(pi) * s;
  const double cells = CELLS * own_weight(g->points, i) / (mu * dx);
  const double crowd = p->drag == FLUID_DI_FELICE ? fluid_crowd_share(solid) : 1;
  double w = apart, factor = 1, own = 0;
  for (int k = 0; k < 60; k++) {
    factor = fluid_drag_factor(p->drag, 2 * r * w / nu, solid);
    own = fluid_own_share(s * (w + apart) / (2 * nu)) / (6 * pi * mu * wide) - cells;
    own = fmin(0.9, stokes * factor * crowd * own);
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

/* Sets a grain's acceleration, and its amount: the momentum that the fluid gets in a step, and the share of its
 * velocity that the grain takes from it, in units of the lattice. The velocity follows
 * m dv/dt = friction (u - v) + weight exactly, at a constant u. */
static void drag_grain(const fluid_grains *g, const fluid_machine *m, const sim_buffer *state, int64_t i) {
  const fluid_numbers *k = g->numbers;
  const int64_t n = g->s.n;
  const double unit = k->dx / k->dt, dt = k->dt, mass = g->s.mass[i], cell = g->p->density * k->dx * k->dx * k->dx;
  double *amount = g->points->amount + 4 * i, apart[3], square = 0;
  averaging s = {.m = m, .state = state};
  in_all(g->points, &m->grid, i, add_velocity, &s);
  for (int a = 0; a < 3; a++) {
    apart[a] = unit * s.velocity[a] - g->s.velocity[a * n + i];
    square += apart[a] * apart[a];
  }
  const double friction = friction_of(g, i, sqrt(square)), part = -expm1(-friction * dt / mass);
  for (int a = 0; a < 3; a++) {
    const double weight = (mass - fluid_displaced(g, i)) * g->p->gravity[a];
    const double change = part * (apart[a] + weight / friction); /* of the velocity */
    amount[a] = -(mass * change - weight * dt) / (cell * unit);
    g->s.push[a * n + i] = change / dt;
  }
  amount[3] = friction * dt / cell;
}

/* ---- the fluid ---- */

/* Gives the cells of a plane what grains give them; returns the energy that they get, in units of the lattice. */
static double kick_plane(const fluid_machine *m, const sim_buffer *state, int64_t z) {
  const double *all = m->grains->points->cells;
  const int64_t each = m->grid.n[0] * m->grid.n[1];
  double energy = 0;
  for (int64_t cell = z * each; cell < (z + 1) * each; cell++) {
    const double *push = all + 4 * cell;
    double u[3];
    if (!(push[3] > 0)) continue;
    const double rho = 1 + fluid_cell_velocity(m, state, cell / m->grid.n[0], cell % m->grid.n[0], u);
    for (int a = 0; a < 3; a++) energy += push[a] * (u[a] + push[a] / (2 * rho));
    fluid_kick(m, fluid_first(state), cell, 0, push);
  }
  return energy;
}

static void kick(const fluid_machine *m, const sim_buffer *state) {
  const fluid_grains *g = m->grains;
  fluid_points *p = g->points;
  const double unit = g->numbers->dx / g->numbers->dt, dx = g->numbers->dx;
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t z = 0; z < m->grid.n[2]; z++) p->energy[z] = p->used[z] ? kick_plane(m, state, z) : 0;
  p->gained = 0;
  for (int64_t z = 0; z < m->grid.n[2]; z++) p->gained += p->energy[z];
  p->gained *= g->p->density * dx * dx * dx * unit * unit;
}

/* A part of 2 and more of its relative velocity would be taken and given back with a larger one. */
static sim_status check_most(const fluid_grains *g, const grid_shape *grid, sim_status kind) {
  const double *cells = g->points->cells;
  int64_t worst = 0;
  for (int64_t z = 0; z < grid->n[2]; z++)
    for (int64_t k = z * grid->n[0] * grid->n[1]; k < (z + 1) * grid->n[0] * grid->n[1] && g->points->used[z]; k++)
      if (cells[4 * k + 3] > cells[4 * worst + 3]) worst = k;
  const double most = cells[4 * worst + 3];
  const int64_t row = worst / grid->n[0];
  if (!(most > 1)) return SIM_OK;
  return sim_fail(
      kind,
      "grains: those about cell {%lld, %lld, %lld} drag %.3g times as much fluid in a step of %.4g as is there: "
      "expected integrate.dt of at most %.3g, or fewer of them",
      (long long)(worst % grid->n[0]), (long long)(row % grid->n[1]), (long long)(row / grid->n[1]), most,
      g->numbers->dt, g->numbers->dt / most);
}

/* ---- before a run ---- */

/* A kernel that meets itself around the box, or two walls, has no flow around it. */
static sim_status check_box(const fluid_grains *g, const grid_shape *grid) {
  for (int64_t i = 0; i < g->s.n; i++)
    for (int a = 0; a < 3; a++) {
      const double wide = 2 * width_of(g, i);
      if (wide > (double)grid->n[a])
        return sim_fail(SIM_ERR_SCENARIO,
                        "grains: %llu (id, from 0) is a point whose force is spread over %.3g cells along each axis: "
                        "expected a grid of at least as many along %c, got %lld",
                        (unsigned long long)g->s.id[i], wide, "xyz"[a], (long long)grid -> n[a]);
    }
  return SIM_OK;
}

sim_status fluid_points_check(const fluid_grains *g, const grid_shape *grid) {
  fluid_points *p = g->points;
  SIM_TRY(check_box(g, grid));
  for (int64_t i = 0; i < g->s.n; i++) find_kernel(g, grid, i);
  if (g->p->drag == FLUID_DI_FELICE) find_solid(g, grid, 1);
  const double dx = g->numbers->dx, share = g->numbers->dt / (g->p->density * dx * dx * dx);
  for (int64_t i = 0; i < g->s.n; i++) {
    for (int a = 0; a < 3; a++) p->amount[4 * i + a] = 0;
    p->amount[4 * i + 3] = share * friction_of(g, i, 0);
  }
  spread(g, grid, 1);
  const sim_status status = check_most(g, grid, SIM_ERR_SCENARIO);
  clear(p, grid, 1);
  return status;
}

sim_status fluid_points_act(const fluid_machine *m, const sim_buffer *to) {
  fluid_grains *g = m->grains;
  const int threads = m->threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < g->s.n; i++) find_kernel(g, &m->grid, i);
  if (g->p->drag == FLUID_DI_FELICE) find_solid(g, &m->grid, threads);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < g->s.n; i++) drag_grain(g, m, to, i);
  spread(g, &m->grid, threads);
  const sim_status status = check_most(g, &m->grid, SIM_ERR_DIVERGED);
  if (status == SIM_OK) kick(m, to);
  clear(g->points, &m->grid, threads);
  return status;
}

/* ---- memory ---- */

static int widest_of(const fluid_grains *g) {
  double width = 0;
  for (int64_t i = 0; i < g->s.n; i++) width = fmax(width, width_of(g, i));
  return 2 * (int)ceil(width) + 1;
}

double fluid_points_bytes(const fluid_grains *g, const grid_shape *grid) {
  const double each = 3 * (widest_of(g) * sizeof(double) + 2 * sizeof(int32_t)) + 5 * sizeof(double);
  return grid_cells_wanted(grid) * 4 * sizeof(double) + (double)g->s.n * each;
}

sim_status fluid_points_create(const fluid_grains *g, const grid_shape *grid, fluid_points **out) {
  const size_t n = (size_t)g->s.n, cells = (size_t)grid_cells(grid), planes = (size_t)grid->n[2];
  fluid_points *p = *out = calloc(1, sizeof *p);
  if (!p) return sim_no_memory("the model");
  p->widest = widest_of(g);
  p->weight = malloc(3 * n * (size_t)p->widest * sizeof *p->weight);
  p->first = malloc(3 * n * sizeof *p->first);
  p->count = malloc(3 * n * sizeof *p->count);
  p->solid = calloc(n, sizeof *p->solid);
  p->amount = malloc(4 * n * sizeof *p->amount);
  p->cells = calloc(4 * cells, sizeof *p->cells);
  p->used = calloc(planes, sizeof *p->used);
  p->energy = malloc(planes * sizeof *p->energy);
  return p->weight && p->first && p->count && p->solid && p->amount && p->cells && p->used && p->energy
             ? SIM_OK
             : sim_no_memory("%zu grains", n);
}

void fluid_points_destroy(fluid_points **points) {
  fluid_points *p = *points;
  if (!p) return;
  free(p->weight), free(p->first), free(p->count), free(p->solid);
  free(p->amount), free(p->cells), free(p->used), free(p->energy);
  free(p);
  *points = NULL;
}
