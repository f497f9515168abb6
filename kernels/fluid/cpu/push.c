/* Forces that are functions: push.h. No result depends on how rows are dealt out. */
#include "kernels/fluid/cpu/push.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { CHUNK = 128, INPUTS = 8, VELOCITY = 4 }; /* cells at a time; inputs of the force, and the first velocity */

static sim_status compile(const sim_expr *expr, sim_isa isa, fluid_push *v, sim_expr_program **out) {
  static const bool uniform[INPUTS] = {false, true, true, true};
  SIM_TRY(sim_expr_program_create(expr, &(sim_expr_target){.uniform = uniform, .isa = isa, .block = CHUNK}, out));
  const size_t bytes = (sim_expr_program_scratch(*out) + 63) / 64 * 64 + 64;
  if (bytes > v->scratch) v->scratch = bytes;
  return SIM_OK;
}

sim_status fluid_push_slopes(const sim_expr *force, int rank, sim_expr *slope[3], bool *linear) {
  *linear = !sim_expr_may_jump(force); /* a jump has the slope 0 */
  for (int b = 0; b < 3; b++) slope[b] = NULL;
  for (int b = 0; b < rank; b++) {
    bool depends = false;
    for (int a = 0; a < rank; a++) depends = depends || sim_expr_depends(force, a, VELOCITY + b);
    if (!depends) continue;
    SIM_TRY(sim_expr_derivative(force, VELOCITY + b, &slope[b]));
    for (int a = 0; a < rank * rank; a++)
      *linear = *linear && !sim_expr_depends(slope[b], a / rank, VELOCITY + a % rank);
  }
  return SIM_OK;
}

/* Compiles the force and its derivatives by the velocities that it depends on. */
static sim_status compile_all(const fluid_parameters *p, int rank, sim_isa isa, fluid_push *v) {
  sim_expr *slope[3];
  SIM_TRY(compile(p->force, isa, v, &v->force));
  sim_status status = fluid_push_slopes(p->force, rank, slope, &v->linear);
  for (int b = 0; b < rank; b++) {
    if (status == SIM_OK && slope[b]) status = compile(slope[b], isa, v, &v->slope[b]);
    v->depends = v->depends || slope[b];
    sim_expr_free(&slope[b]);
  }
  return status;
}

sim_status fluid_push_create(const fluid_parameters *p, const fluid_numbers *k, const fluid_machine *m, sim_isa isa,
                             fluid_push **out) {
  const int64_t n = m->grid.n[0];
  *out = NULL;
  if (!p->force) return SIM_OK;
  fluid_push *v = *out = calloc(1, sizeof *v);
  if (!v) return sim_no_memory("the force");
  *v = (fluid_push){.kernels = fluid_heat_kernels_of(m->single, isa), .dt = k->dt, .unit = k->dx / k->dt};
  for (int i = 0; i < 2; i++) {
    v->law[i] = (fluid_heat_law){
        .lattice = m->populations ? m->lattice : NULL, .share = (i + 1) / 2.0, .force = (int)m->rows.force};
    for (int a = 0; a < 3; a++) v->law[i].g[a] = m->collision.g[a];
  }
  SIM_TRY(compile_all(p, m->lattice->rank, isa, v));
  v->memory = aligned_alloc(64, (size_t)m->threads * v->scratch);
  v->x = malloc((size_t)n * sizeof *v->x);
  if (!v->memory || !v->x) return sim_no_memory("the force");
  for (int64_t i = 0; i < n; i++) v->x[i] = grid_centre(&m->grid, 0, i);
  return SIM_OK;
}

void fluid_push_destroy(fluid_push **push) {
  fluid_push *v = *push;
  if (!v) return;
  sim_expr_program_free(&v->force);
  for (int b = 0; b < 3; b++) sim_expr_program_free(&v->slope[b]);
  free(v->memory);
  free(v->x);
  free(v);
  *push = NULL;
}

/* Cells side by side, in units of the scenario. */
typedef struct chunk {
  const double *x;
  double y, z, T[CHUNK];
  int n, rank;
  double star[3][CHUNK], u[3][CHUNK], f[3][CHUNK]; /* u*, the velocity and the force */
  double slope[3][3][CHUNK];                       /* [by u_b][of f_a] */
  bool known[CHUNK];                               /* no fluid is there, or u is found */
} chunk;

static void evaluate(const fluid_push *v, chunk *c, bool slopes) {
  const void *const in[INPUTS] = {c->x, &c->y, &c->z, &v->t, c->u[0], c->u[1], c->u[2], c->T};
  void *scratch = v->memory + (size_t)omp_get_thread_num() * v->scratch;
  sim_expr_program_run(v->force, (size_t)c->n, in, (void *const[]){c->f[0], c->f[1], c->f[2]}, scratch);
  for (int b = 0; b < c->rank && slopes; b++)
    if (v->slope[b])
      sim_expr_program_run(v->slope[b], (size_t)c->n, in,
                           (void *const[]){c->slope[b][0], c->slope[b][1], c->slope[b][2]}, scratch);
}

/* Steps of Newton's method, share times, for all cells, by Cramer's rule; where the derivatives are of no use steps of
 * iteration. Sets `known` where a step is small. */
static void improve(const fluid_push *v, chunk *c, double share) {
  const double half = v->dt / 2;
  for (int i = 0; i < c->n; i++) {
    double a[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, miss[3] = {0}, step[3], size = 0, change = 0;
    if (c->known[i]) continue;
    for (int k = 0; k < c->rank; k++) {
      miss[k] = c->star[k][i] + half * c->f[k][i] - c->u[k][i];
      for (int b = 0; b < c->rank; b++) a[k][b] -= v->slope[b] ? half * c->slope[b][k][i] : 0;
    }
    if (miss[0] == 0 && miss[1] == 0 && miss[2] == 0) { /* as where no force acts */
      c->known[i] = true;
      continue;
    }
    double minor[3][3]; /* [k][b]: of a[k][b], with its sign */
    for (int k = 0; k < 3; k++)
      for (int b = 0; b < 3; b++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3, r = (b + 1) % 3, s = (b + 2) % 3;
        minor[k][b] = a[p][r] * a[q][s] - a[p][s] * a[q][r];
      }
    const double det = a[0][0] * minor[0][0] + a[0][1] * minor[0][1] + a[0][2] * minor[0][2];
    const bool useful = isfinite(det) && fabs(det) > 1e-12;
    for (int k = 0; k < c->rank; k++) {
      step[k] = (minor[0][k] * miss[0] + minor[1][k] * miss[1] + minor[2][k] * miss[2]) / det;
      if (!useful) step[k] = miss[k];
      c->u[k][i] += share * step[k];
      size = fmax(size, fabs(c->star[k][i]) + fabs(half * c->f[k][i]));
      change = isnan(step[k]) ? NAN : fmax(change, fabs(step[k]));
    }
    c->known[i] = change <= 8e-15 * size || (v->linear && useful && isfinite(change));
  }
}

/* Finds u and f of all cells; f is NaN where there is none. */
static void solve(const fluid_push *v, chunk *c) {
  enum { ROUNDS = 60, WHOLE = 20 }; /* later steps are halved: they may go to and fro */
  const double half = v->dt / 2;
  bool all = !v->depends;
  if (all) evaluate(v, c, false);
  for (int round = 0; round < ROUNDS && !all; round++) {
    all = true;
    evaluate(v, c, true);
    improve(v, c, round < WHOLE ? 1 : 0.5);
    for (int i = 0; i < c->n; i++) all = all && c->known[i];
  }
  for (int i = 0; i < c->n && v->depends; i++)
    for (int a = 0; a < c->rank; a++) c->f[a][i] = c->known[i] ? (c->u[a][i] - c->star[a][i]) / half : NAN;
}

static bool is_solid(const fluid_machine *m, int64_t cell) { return m->walls.solid && m->walls.solid[cell]; }

static int64_t force_at(const fluid_machine *m, int64_t row, int64_t x) {
  return fluid_row_at(&m->rows, row) + m->rows.force * m->rows.stride + x;
}

/* The first number of the cell x of a row. */
static char *flow_of(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t x) {
  const size_t number = m->single ? sizeof(float) : sizeof(double);
  return (char *)fluid_first(state) + (size_t)(fluid_row_at(&m->rows, row) + x) * number;
}

/* Cells [first, first + n) of a row, with the velocities that they have without the force; warm: as of fluid_push_row,
 * with half of their buoyancy if `pushed`. */
static void load(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t first, const double *warm,
                 bool pushed, chunk *c) {
  const fluid_push *v = m->push;
  const int64_t left = m->grid.n[0] - first;
  c->x = v->x + first;
  c->y = grid_centre(&m->grid, 1, row % m->grid.n[1]);
  c->z = grid_centre(&m->grid, 2, row / m->grid.n[1]);
  c->n = left < CHUNK ? (int)left : CHUNK;
  c->rank = m->lattice->rank;
  v->kernels->velocity(c->rank, &v->law[1], flow_of(m, state, row, first), m->rows.stride, c->n,
                       (double *const[]){c->star[0], c->star[1], c->star[2]});
  for (int i = 0; i < c->n; i++) {
    double buoyancy[3] = {0};
    if (warm && pushed) fluid_buoyancy(m->warmth, warm[first + i], buoyancy);
    for (int a = 0; a < c->rank; a++) c->u[a][i] = c->star[a][i] = (c->star[a][i] + buoyancy[a] / 2) * v->unit;
    if (c->rank == 2) c->u[2][i] = 0;
    c->T[i] = warm ? m->warmth->shift + warm[first + i] : 0;
    c->known[i] = is_solid(m, row * m->grid.n[0] + first + i);
  }
}

/* Adds a force to the cells of a chunk, half of it or all, and stores it. */
static void add(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t first, bool whole, chunk *c) {
  fluid_push *v = m->push;
  const int64_t nx = m->grid.n[0];
  bool lost[CHUNK], any = false;
  for (int i = 0; i < c->n; i++) {
    const bool solid = is_solid(m, row * nx + first + i);
    bool finite = true;
    for (int a = 0; a < c->rank; a++) {
      c->f[a][i] *= v->dt / v->unit;
      finite = finite && isfinite(c->f[a][i]);
    }
    lost[i] = !solid && !finite;
    any = any || lost[i];
    for (int a = 0; a < c->rank; a++)
      if (solid || lost[i]) c->f[a][i] = 0;
  }
  v->kernels->add(c->rank, &v->law[whole], flow_of(m, state, row, first), m->rows.stride, c->n,
                  (const double *const[]){c->f[0], c->f[1], c->f[2]});
  for (int i = 0; i < c->n && any; i++)
    for (int a = 0; a < c->rank; a++)
      if (lost[i])
        grid_set_number(fluid_first(state), m->single, force_at(m, row, first + i) + a * m->rows.stride, NAN);
  if (!any) return;
#pragma omp atomic write
  v->failed = 1;
}

void fluid_push_row(const fluid_machine *m, const sim_buffer *state, int64_t row, const double *warm) {
  chunk c;
  for (int64_t first = 0; first < m->grid.n[0]; first += CHUNK) {
    load(m, state, row, first, warm, true, &c);
    solve(m->push, &c);
    add(m, state, row, first, true, &c);
  }
  fluid_copy_ends(m, flow_of(m, state, row, 0), m->single ? sizeof(float) : sizeof(double));
}

void fluid_push_rows(const fluid_machine *m, const sim_buffer *state) {
  const grid_range rows = fluid_part_rows(&m->part);
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++) fluid_push_row(m, state, row, NULL);
}

void fluid_push_start(const fluid_machine *m, const sim_buffer *state) {
  const grid_range rows = fluid_part_rows(&m->part);
  m->push->t = 0;
#pragma omp parallel for schedule(static) num_threads(m->threads) if (m->threads > 1)
  for (int64_t row = rows.first; row < rows.end; row++) {
    const double *warm = m->warmth ? m->warmth->heat[0] + fluid_heat_at(m, row, 0) : NULL;
    chunk c;
    for (int64_t first = 0; first < m->grid.n[0]; first += CHUNK) {
      load(m, state, row, first, warm, false, &c);
      evaluate(m->push, &c, false);
      add(m, state, row, first, false, &c);
    }
    fluid_copy_ends(m, flow_of(m, state, row, 0), m->single ? sizeof(float) : sizeof(double));
  }
}

void fluid_push_at(const fluid_machine *m, int64_t cell, const double u[3], double g[3]) {
  const fluid_push *v = m->push;
  const int64_t nx = m->grid.n[0], row = cell / nx;
  for (int a = 0; a < 3; a++) g[a] = 0;
  if (!v) return;
  chunk c = {.x = v->x + cell % nx,
             .y = grid_centre(&m->grid, 1, row % m->grid.n[1]),
             .z = grid_centre(&m->grid, 2, row / m->grid.n[1]),
             .n = 1,
             .rank = m->lattice->rank};
  for (int a = 0; a < c.rank; a++) c.u[a][0] = u[a] * v->unit;
  evaluate(v, &c, false);
  for (int a = 0; a < c.rank; a++)
    if (isfinite(c.f[a][0])) g[a] = c.f[a][0] * v->dt / v->unit; /* else the step finds it */
}

void fluid_push_of(const fluid_machine *m, const sim_buffer *state, int64_t row, int64_t x, double g[3]) {
  for (int a = 0; a < 3; a++)
    g[a] = m->push && a < m->lattice->rank
               ? grid_number(fluid_first(state), m->single, force_at(m, row, x) + a * m->rows.stride)
               : 0;
}

/* A cell without a force; -1: none. */
typedef struct lost_cell {
  int64_t cell;
  double u[3];
} lost_cell;

static lost_cell find_lost(const fluid_machine *m, const sim_buffer *state) {
  const grid_range rows = fluid_part_rows(&m->part);
  const int64_t nx = m->grid.n[0];
  lost_cell out = {.cell = -1};
  for (int64_t cell = rows.first * nx; cell < rows.end * nx && out.cell < 0; cell++) {
    double g[3], j[3];
    if (is_solid(m, cell)) continue;
    fluid_push_of(m, state, cell / nx, cell % nx, g);
    if (!isnan(g[0])) continue;
    const double rho = 1 + fluid_cell_momentum(m, fluid_first(state), fluid_row_at(&m->rows, cell / nx) + cell % nx, j);
    out.cell = cell;
    for (int a = 0; a < 3; a++) out.u[a] = j[a] / (3 * rho) * m->push->unit;
  }
  return out;
}

sim_status fluid_push_fail(const grid_shape *g, int64_t cell, const double u[3], double t, int64_t step) {
  return sim_fail(SIM_ERR_DIVERGED,
                  "force: is not finite, or jumps with the velocity so that a step has no solution, at x = %.6g, y = "
                  "%.6g, z = %.6g, velocity %.4g, %.4g, %.4g, t = %.6g (step %lld): expected a smooth function of the "
                  "velocity, such as ux/math.sqrt(ux^2 + 1e-6) in place of its sign",
                  grid_centre(g, 0, cell % g->n[0]), grid_centre(g, 1, cell / g->n[0] % g->n[1]),
                  g->rank == 3 ? grid_centre(g, 2, cell / g->n[0] / g->n[1]) : 0, u[0], u[1], u[2], t, (long long)step);
}

sim_status fluid_push_guard(const fluid_machine *m, const sim_buffer *state, int64_t step) {
  lost_cell own = find_lost(m, state), all[SIM_RANKS_MAX];
  SIM_TRY(m->part.comm->ops->gather(m->part.comm, &own, sizeof own, all));
  for (int r = 0; r < m->part.comm->size; r++)
    if (all[r].cell >= 0) return fluid_push_fail(&m->grid, all[r].cell, all[r].u, m->push->t, step);
  return SIM_OK;
}
