/* What grains that are points and the fluid give each other in a step. Each thread has the planes of z of its own and
 * adds what grains give in their order, so that no result depends on the number of threads. */
#include "kernels/fluid/grains/points.h"
#include "kernels/fluid/cpu/measure.h"

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

/* Calls `visit` for each cell of a kernel's plane k of z, with its weight. */
typedef void visit_cell(void *context, int64_t cell, double weight);
static void each_cell(const fluid_points *p, const grid_shape *grid, int64_t i, int64_t k, visit_cell *visit,
                      void *context) {
  const int64_t *n = grid->n;
  const double *weight = p->weight + 3 * i * p->widest;
  const int32_t *first = p->first + 3 * i, *count = p->count + 3 * i;
  const int64_t z = p->layers.row[p->layers.first[i] + k] / n[1];
  for (int32_t l = 0; l < count[1]; l++) {
    const int64_t y = ((first[1] + l) % n[1] + n[1]) % n[1];
    const double row = weight[2 * p->widest + k] * weight[p->widest + l];
    for (int32_t m = 0; m < count[0]; m++)
      visit(context, (z * n[1] + y) * n[0] + ((first[0] + m) % n[0] + n[0]) % n[0], row * weight[m]);
  }
}

static void find_kernels(const fluid_grains *g, const grid_shape *grid, int threads) {
  fluid_points *p = g->points;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < g->s.n; i++) find_kernel(g, grid, i);
  for (int64_t i = 0; i < g->s.n; i++)
    fluid_layers_set(&p->layers, &g->part, i, p->first[3 * i + 2], p->count[3 * i + 2]);
}

/* What a grain reads in cells. */
typedef struct reading {
  const fluid_machine *m; /* NULL: it reads `cells` */
  const sim_buffer *state;
  const double *cells; /* [cells of this rank][4], from cell `from` on */
  int64_t from;
  double *value; /* [numbers] */
} reading;

/* Sums over each grain's kernel, out[n][numbers]; `visit` adds what a cell has to value[numbers] of a reading. */
static sim_status sum_kernels(const fluid_grains *g, const grid_shape *grid, int threads, int numbers,
                              visit_cell *visit, reading with, double *out) {
  fluid_layers *l = &g->points->layers;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = 0; i < g->s.n; i++)
    for (int64_t k = l->first[i]; k < l->first[i + 1]; k++) {
      reading r = with;
      r.value = l->value + k * numbers;
      for (int c = 0; c < numbers; c++) r.value[c] = 0;
      if (fluid_layer_is_own(l, &g->part, k)) each_cell(g->points, grid, i, k - l->first[i], visit, &r);
    }
  return fluid_layers_sum(&g->part, l, g->s.n, numbers, out);
}

/* ---- spreading ---- */

typedef struct spreading {
  double *cells; /* [cells of this rank][4], from cell `from` on */
  int64_t from;
  const double *amount;
} spreading;

static void add_amount(void *context, int64_t cell, double weight) {
  const spreading *s = context;
  for (int a = 0; a < 4; a++) s->cells[4 * (cell - s->from) + a] += weight * s->amount[a];
}

/* The number of the first cell of a plane. */
static int64_t cell_of_plane(const grid_shape *grid, int64_t plane) { return plane * grid->n[0] * grid->n[1]; }

/* Spreads the first four amounts over `cells` by the kernels; a thread the cells of its planes. */
static void spread(const fluid_grains *g, const grid_shape *grid, int threads) {
  fluid_points *p = g->points;
  const fluid_layers *l = &p->layers;
  const int64_t from = g->part.first, planes = g->part.end - from;
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; t++) {
    const int64_t low = from + planes * t / threads, high = from + planes * (t + 1) / threads;
    for (int64_t i = 0; i < g->s.n; i++) {
      spreading s = {p->cells, cell_of_plane(grid, from), p->amount + FLUID_POINT_NUMBERS * i};
      for (int64_t k = l->first[i]; k < l->first[i + 1]; k++)
        if (l->row[k] >= low * grid->n[1] && l->row[k] < high * grid->n[1])
          each_cell(p, grid, i, k - l->first[i], add_amount, &s);
    }
  }
  for (int64_t k = 0; k < l->first[g->s.n]; k++) p->used[l->row[k] / grid->n[1]] = true;
}

/* Empties `cells`. */
static void clear(const fluid_grains *g, const grid_shape *grid, int threads) {
  fluid_points *p = g->points;
  const int64_t each = 4 * cell_of_plane(grid, 1);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t z = g->part.first; z < g->part.end; z++)
    for (int64_t k = 0; k < each && p->used[z]; k++) p->cells[(z - g->part.first) * each + k] = 0;
  for (int64_t z = 0; z < grid->n[2]; z++) p->used[z] = false;
}

/* ---- solid fractions ---- */

static double volume_of(const fluid_grains *g, int64_t i) {
  const double r = g->s.radius[i] / g->numbers->dx;
  return 4 * pi / 3 * r * r * r;
}

static void read_first(void *context, int64_t cell, double weight) {
  const reading *r = context;
  *r->value += weight * r->cells[4 * (cell - r->from)];
}

/* The part of the weight of two kernels that lies nearer than two radii, where the others' centres cannot be. */
static double excluded(const fluid_grains *g, int64_t i) {
  const double deviation = sqrt(2) * DEVIATION * width_of(g, i), t = 2 * g->s.radius[i] / g->numbers->dx / deviation;
  return erf(t / sqrt(2)) - sqrt(2 / pi) * t * exp(-t * t / 2);
}

static sim_status find_solid(const fluid_grains *g, const grid_shape *grid, int threads) {
  fluid_points *p = g->points;
  for (int64_t i = 0; i < g->s.n; i++) {
    double *amount = p->amount + FLUID_POINT_NUMBERS * i;
    for (int a = 1; a < 4; a++) amount[a] = 0;
    amount[0] = volume_of(g, i);
  }
  spread(g, grid, threads);
  const reading with = {.cells = p->cells, .from = cell_of_plane(grid, g->part.first)};
  SIM_TRY(sum_kernels(g, grid, threads, 1, read_first, with, p->solid));
  for (int64_t i = 0; i < g->s.n; i++)
    p->solid[i] = fmax(0, p->solid[i] - volume_of(g, i) * own_weight(p, i)) / (1 - excluded(g, i));
  clear(g, grid, threads);
  return SIM_OK;
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

static void add_velocity(void *context, int64_t cell, double weight) {
  const reading *r = context;
  double u[3];
  (void)fluid_cell_velocity(r->m, r->state, cell / r->m->grid.n[0], cell % r->m->grid.n[0], u);
  for (int a = 0; a < 3; a++) r->value[a] += weight * u[a];
}

/* Sets a grain's amounts. The velocity follows m dv/dt = friction (u - v) + weight exactly, at a constant u. */
static void drag_grain(const fluid_grains *g, int64_t i) {
  const fluid_numbers *k = g->numbers;
  const int64_t n = g->s.n;
  const double unit = k->dx / k->dt, dt = k->dt, mass = g->s.mass[i], cell = g->p->density * k->dx * k->dx * k->dx;
  double *amount = g->points->amount + FLUID_POINT_NUMBERS * i, apart[3], square = 0;
  for (int a = 0; a < 3; a++) {
    apart[a] = unit * g->points->mean[3 * i + a] - g->s.velocity[a * n + i];
    square += apart[a] * apart[a];
  }
  const double friction = friction_of(g, i, sqrt(square)), part = -expm1(-friction * dt / mass);
  for (int a = 0; a < 3; a++) {
    const double weight = (mass - fluid_displaced(g, i)) * g->p->gravity[a];
    const double change = part * (apart[a] + weight / friction); /* of the velocity */
    amount[a] = -(mass * change - weight * dt) / (cell * unit);
    amount[4 + a] = change / dt;
  }
  amount[3] = friction * dt / cell;
}

/* The amounts of all grains, and their accelerations; each rank finds those of its share. */
static sim_status drag_grains(const fluid_grains *g, int threads) {
  const sim_comm *comm = g->part.comm;
  const int64_t n = g->s.n;
  const size_t each = FLUID_POINT_NUMBERS * sizeof *g->points->amount;
  size_t ends[SIM_RANKS_MAX];
  for (int r = 0; r < comm->size; r++) ends[r] = (size_t)(n * (r + 1) / comm->size) * each;
  const int64_t first = n * comm->rank / comm->size, end = n * (comm->rank + 1) / comm->size;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t i = first; i < end; i++) drag_grain(g, i);
  SIM_TRY(sim_comm_gather_parts(comm, g->points->amount, ends));
  for (int64_t i = 0; i < n; i++)
    for (int a = 0; a < 3; a++) g->s.push[a * n + i] = g->points->amount[FLUID_POINT_NUMBERS * i + 4 + a];
  return SIM_OK;
}

/* ---- the fluid ---- */

/* Gives the cells of a plane what grains give them; returns the energy that they get, in units of the lattice. */
static double kick_plane(const fluid_machine *m, const sim_buffer *state, int64_t z) {
  const double *all = m->grains->points->cells;
  const int64_t from = cell_of_plane(&m->grid, m->part.first);
  double energy = 0;
  for (int64_t cell = cell_of_plane(&m->grid, z); cell < cell_of_plane(&m->grid, z + 1); cell++) {
    const double *push = all + 4 * (cell - from);
    double u[3];
    if (!(push[3] > 0)) continue;
    const double rho = 1 + fluid_cell_velocity(m, state, cell / m->grid.n[0], cell % m->grid.n[0], u);
    for (int a = 0; a < 3; a++) energy += push[a] * (u[a] + push[a] / (2 * rho));
    fluid_kick(m, fluid_first(state), cell, 0, push);
  }
  return energy;
}

static sim_status kick(const fluid_machine *m, const sim_buffer *state) {
  const fluid_grains *g = m->grains;
  fluid_points *p = g->points;
  const double unit = g->numbers->dx / g->numbers->dt, dx = g->numbers->dx;
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t z = m->part.first; z < m->part.end; z++) p->plane[z] = p->used[z] ? kick_plane(m, state, z) : 0;
  SIM_TRY(fluid_gather_planes(&m->part, sizeof *p->plane, p->plane));
  p->gained = 0;
  for (int64_t z = 0; z < m->grid.n[2]; z++) p->gained += p->plane[z];
  p->gained *= g->p->density * dx * dx * dx * unit * unit;
  return SIM_OK;
}

/* A part of 2 and more of its relative velocity would be taken and given back with a larger one. */
static sim_status check_most(const fluid_grains *g, const grid_shape *grid, sim_status kind) {
  const int64_t each = cell_of_plane(grid, 1);
  double *of_plane = g->points->plane; /* the greatest part in a plane, and its cell there */
  for (int64_t z = g->part.first; z < g->part.end; z++) {
    const double *cells = g->points->cells + 4 * (z - g->part.first) * each;
    int64_t worst = 0;
    for (int64_t k = 1; k < each && g->points->used[z]; k++)
      if (cells[4 * k + 3] > cells[4 * worst + 3]) worst = k;
    of_plane[2 * z] = cells[4 * worst + 3];
    of_plane[2 * z + 1] = (double)worst;
  }
  SIM_TRY(fluid_gather_planes(&g->part, 2 * sizeof *of_plane, of_plane));
  int64_t plane = 0;
  for (int64_t z = 1; z < grid->n[2]; z++)
    if (of_plane[2 * z] > of_plane[2 * plane]) plane = z;
  const double most = of_plane[2 * plane];
  const int64_t worst = plane * each + (int64_t)of_plane[2 * plane + 1], row = worst / grid->n[0];
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
  find_kernels(g, grid, 1);
  if (g->p->drag == FLUID_DI_FELICE) SIM_TRY(find_solid(g, grid, 1));
  const double dx = g->numbers->dx, share = g->numbers->dt / (g->p->density * dx * dx * dx);
  for (int64_t i = 0; i < g->s.n; i++) {
    double *amount = p->amount + FLUID_POINT_NUMBERS * i;
    for (int a = 0; a < 3; a++) amount[a] = 0;
    amount[3] = share * friction_of(g, i, 0);
  }
  spread(g, grid, 1);
  const sim_status status = check_most(g, grid, SIM_ERR_SCENARIO);
  clear(g, grid, 1);
  return status;
}

sim_status fluid_points_act(const fluid_machine *m, const sim_buffer *to) {
  fluid_grains *g = m->grains;
  const int threads = m->threads;
  find_kernels(g, &m->grid, threads);
  if (g->p->drag == FLUID_DI_FELICE) SIM_TRY(find_solid(g, &m->grid, threads));
  SIM_TRY(sum_kernels(g, &m->grid, threads, 3, add_velocity, (reading){.m = m, .state = to}, g->points->mean));
  SIM_TRY(drag_grains(g, threads));
  spread(g, &m->grid, threads);
  SIM_TRY(check_most(g, &m->grid, SIM_ERR_DIVERGED));
  SIM_TRY(kick(m, to));
  clear(g, &m->grid, threads);
  return SIM_OK;
}

/* ---- memory ---- */

static int widest_of(const fluid_grains *g) {
  double width = 0;
  for (int64_t i = 0; i < g->s.n; i++) width = fmax(width, width_of(g, i));
  return 2 * (int)ceil(width) + 1;
}

double fluid_points_bytes(const fluid_grains *g, const grid_shape *grid, double part) {
  const double each = 3 * (widest_of(g) * sizeof(double) + 2 * sizeof(int32_t)) + 12 * sizeof(double) +
                      widest_of(g) * (FLUID_LAYER_NUMBERS + 1) * sizeof(double);
  return grid_cells_wanted(grid) * part * 4 * sizeof(double) + (double)g->s.n * each;
}

sim_status fluid_points_create(const fluid_grains *g, const grid_shape *grid, fluid_points **out) {
  const size_t n = (size_t)g->s.n, cells = (size_t)cell_of_plane(grid, g->part.end - g->part.first);
  const size_t planes = (size_t)grid->n[2];
  fluid_points *p = *out = calloc(1, sizeof *p);
  if (!p) return sim_no_memory("the model");
  p->widest = widest_of(g);
  p->weight = malloc(3 * n * (size_t)p->widest * sizeof *p->weight);
  p->first = malloc(3 * n * sizeof *p->first);
  p->count = malloc(3 * n * sizeof *p->count);
  p->solid = calloc(n, sizeof *p->solid);
  p->amount = malloc(FLUID_POINT_NUMBERS * n * sizeof *p->amount);
  p->mean = malloc(3 * n * sizeof *p->mean);
  p->cells = calloc(4 * cells + 1, sizeof *p->cells);
  p->used = calloc(planes, sizeof *p->used);
  p->plane = malloc(2 * planes * sizeof *p->plane);
  if (!p->weight || !p->first || !p->count || !p->solid || !p->amount || !p->mean || !p->cells || !p->used || !p->plane)
    return sim_no_memory("%zu grains", n);
  return fluid_layers_create(g->s.n, g->s.n * p->widest, &p->layers);
}

void fluid_points_destroy(fluid_points **points) {
  fluid_points *p = *points;
  if (!p) return;
  free(p->weight), free(p->first), free(p->count), free(p->solid);
  free(p->amount), free(p->mean), free(p->cells), free(p->used), free(p->plane);
  fluid_layers_destroy(&p->layers);
  free(p);
  *points = NULL;
}
