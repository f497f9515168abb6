/* Sides whose velocity or pressure changes with time: their links, found again before each step. */
#include "kernels/common/laws/scratch.h"
#include "kernels/fluid/start/maker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIME = 3 }; /* input of the functions of sides */

static bool depends_on_time(const sim_expr *expr) {
  bool out = false;
  for (int i = 0; expr && i < sim_expr_output_count(expr); i++) out = out || sim_expr_depends(expr, i, TIME);
  return out;
}

bool fluid_side_is_timed(const fluid_side *side) {
  return side->given && (depends_on_time(side->profile) || depends_on_time(side->push));
}

bool fluid_side_passes(const fluid_side *side, int s) {
  const int axis = s / 2;
  if (side->profile) return sim_expr_output_count(side->profile) <= axis || !sim_expr_always_zero(side->profile, axis);
  return side->given && side->velocity.rows > (size_t)axis && side->velocity.data[axis] != 0;
}

bool fluid_is_timed(const fluid_parameters *p) {
  bool out = false;
  for (int s = 0; s < FLUID_SIDES; s++) out = out || fluid_side_is_timed(&p->sides[s]);
  return out;
}

/* Points of a side at which its function is asked for, and the values there, in units of the lattice. */
typedef struct points {
  sim_expr_program *program; /* NULL: the values do not change with time or place */
  int64_t count, room[3];
  double *x[3], *value[3]; /* [count]; a pressure is value[0] */
  double unit;             /* one of them */
  bool open;               /* a pressure */
  bool same;               /* there is one point, as the value is the same for all */
  bool cells;              /* the first points are those of the cells of the side */
} points;

/* How the constant of a link changes with time: by points of up to three sides. Where fluid_link.entry is set (a body
 * with a side close behind the cell), the constant is base + share times that of the side. */
typedef struct recipe {
  int8_t arriving, count, side[3]; /* arriving: from the side */
  int32_t point[3];
  double base, share;
} recipe;

typedef struct fluid_timed {
  fluid_maker maker;
  points side[FLUID_SIDES];
  laws_scratch scratch;
  int32_t *link; /* numbers of the links of sides that change, rising */
  recipe *recipe;
  int64_t links, room[2];
  int threads;
} fluid_timed;

enum { CHUNK = 1024 }; /* points or links of a thread at a time */

/* Adds a point of a side; *out: its number. */
static sim_status add_point(points *of, const double x[3], int32_t *out) {
  *out = 0;
  if (of->same && of->count == 1) return SIM_OK;
  for (int a = 0; a < 3; a++) {
    if (!fluid_reserve(&of->x[a], &of->room[a], of->count, 1, sizeof *of->x[a])) return sim_no_memory("sides");
    of->x[a][of->count] = x[a];
  }
  *out = (int32_t)of->count++;
  return SIM_OK;
}

static bool depends_on_place(const sim_expr *expr) {
  bool out = false;
  for (int i = 0; i < 3 * sim_expr_output_count(expr); i++) out = out || sim_expr_depends(expr, i / 3, i % 3);
  return out;
}

/* Points of all cells of a side, in their order. */
static sim_status add_cells(const fluid_maker *m, int s, points *of) {
  const int axis = s / 2, b = axis == 0 ? 1 : 0, c = axis == 2 ? 1 : 2;
  const grid_shape *g = &m->grid;
  double x[3];
  int32_t number;
  x[axis] = s % 2 ? g->size[axis] : 0;
  for (int64_t j = 0; j < g->n[c]; j++)
    for (int64_t i = 0; i < g->n[b]; i++) {
      x[b] = grid_centre(g, b, i);
      x[c] = grid_centre(g, c, j);
      SIM_TRY(add_point(of, x, &number));
    }
  return SIM_OK;
}

static sim_status begin_side(fluid_timed *v, int s) {
  static const bool of_time[] = {false, false, false, true}, all[] = {true, true, true, true};
  const fluid_side *side = &v->maker.p->sides[s];
  const sim_expr *function = side->given && side->push ? side->push : side->given ? side->profile : NULL;
  const double unit = v->maker.numbers->dx / v->maker.numbers->dt;
  points *of = &v->side[s];
  of->unit = 1;
  of->open = side->given && !isnan(side->pressure);
  of->same = !function || !depends_on_place(function);
  if (!function) return SIM_OK;
  of->unit = of->open ? v->maker.p->density * unit * unit : unit;
  of->cells = !of->same && side->profile && fluid_side_is_timed(side);
  SIM_TRY(sim_expr_program_create(
      function, &(sim_expr_target){.isa = sim_isa_best(), .uniform = of->same ? all : of_time}, &of->program));
  return of->cells ? add_cells(&v->maker, s, of) : SIM_OK;
}

/* The point of a link on a side at x: that of the side's cell for a link across the side. */
static sim_status point_of(fluid_timed *v, const fluid_cell *cell, int s, int arriving, const double x[3],
                           int32_t *out) {
  const fluid_maker *m = &v->maker;
  const int64_t *n = m->grid.n, at[3] = {cell->x, cell->row % n[1], cell->row / n[1]};
  const int8_t *c = m->lattice->c[arriving];
  points *of = &v->side[s];
  if (!of->cells || abs(c[0]) + abs(c[1]) + abs(c[2]) > 1) return add_point(of, x, out);
  *out = (int32_t)fluid_side_cell(&m->grid, s, at);
  return SIM_OK;
}

static sim_status add_links(fluid_timed *v, const fluid_cell *cell) {
  const fluid_maker *m = &v->maker;
  for (int i = cell->first; i < cell->first + cell->count; i++) {
    const fluid_link *link = &m->out->link[i], *from = link->entry ? fluid_link_entry(m, cell, link) : link;
    recipe r = {.arriving = from->arriving, .share = 1};
    int side[3];
    double x[3];
    bool timed = false;
    if (link->entry) r.share = 1 - link->weight;
    if (link->entry) r.base = link->constant - r.share * from->constant;
    r.count = (int8_t)fluid_link_sides(m, cell, from, side, x);
    for (int k = 0; k < r.count; k++) timed = timed || fluid_side_is_timed(&m->p->sides[side[k]]);
    if (!timed) continue;
    for (int k = 0; k < r.count; k++) {
      r.side[k] = (int8_t)side[k];
      SIM_TRY(point_of(v, cell, side[k], r.arriving, x, &r.point[k]));
    }
    if (!fluid_reserve(&v->link, &v->room[0], v->links, 1, sizeof *v->link) ||
        !fluid_reserve(&v->recipe, &v->room[1], v->links, 1, sizeof *v->recipe))
      return sim_no_memory("sides");
    v->link[v->links] = i;
    v->recipe[v->links++] = r;
  }
  return SIM_OK;
}

void fluid_timed_destroy(fluid_timed **timed) {
  fluid_timed *v = *timed;
  if (!v) return;
  fluid_maker_end(&v->maker);
  for (int s = 0; s < FLUID_SIDES; s++) {
    sim_expr_program_free(&v->side[s].program);
    for (int a = 0; a < 3; a++) {
      free(v->side[s].x[a]);
      free(v->side[s].value[a]);
    }
  }
  laws_scratch_destroy(&v->scratch);
  free(v->link);
  free(v->recipe);
  free(v);
  *timed = NULL;
}

const int32_t *fluid_timed_links(const fluid_walls *w, int64_t *count) {
  *count = w->timed ? w->timed->links : 0;
  return w->timed ? w->timed->link : NULL;
}

/* Whether fluid_side_value refuses the value at a point. */
static bool is_refused(const fluid_maker *m, const points *of, int s, int64_t i, bool closed) {
  double square = 0;
  if (of->open) return !(3 * fabs(of->value[0][i] / of->unit) <= 0.3);
  for (int a = 0; a < 3; a++) square += of->value[a][i] * of->value[a][i];
  return !(sqrt(square) <= 1.01 * m->p->speed) || (closed && of->value[s / 2][i] != 0);
}

/* Finds the values at points [first, first + count), in the scenario's units. Returns the first of them that is
 * refused; -1: none. */
static int64_t find_values(const fluid_timed *v, int s, int64_t first, int64_t count, bool closed) {
  const fluid_maker *m = &v->maker;
  const points *of = &v->side[s];
  double *columns;
  void *scratch = laws_scratch_here(&v->scratch, &columns);
  sim_expr_program_run(of->program, (size_t)count,
                       (const void *const[]){of->x[0] + first, of->x[1] + first, of->x[2] + first, &m->time},
                       (void *const[]){of->value[0] + first, of->value[1] + first, of->value[2] + first}, scratch);
  for (int64_t i = first; i < first + count; i++)
    if (is_refused(m, of, s, i, closed)) return i;
  return -1;
}

static void scale_values(const points *of, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && of->count > CHUNK)
  for (int64_t i = 0; i < of->count; i++)
    for (int a = 0; a < (of->open ? 1 : 3); a++) of->value[a][i] /= of->unit;
}

/* Stores the velocities beside the cells of a side with a profile. */
static void store_profile(const fluid_timed *v, int s) {
  const points *of = &v->side[s];
  const grid_shape *g = &v->maker.grid;
  const int64_t cells = grid_cells(g) / g->n[s / 2];
  double *out = v->maker.out->profile[s];
  if (!out || !(of->same || of->cells)) return;
#pragma omp parallel for schedule(static) num_threads(v->threads) if (v->threads > 1 && cells > CHUNK)
  for (int64_t i = 0; i < cells; i++)
    for (int a = 0; a < 3; a++) out[3 * i + a] = of->value[a][of->same ? 0 : i];
}

/* The same of a whole chunk. */
static int64_t find_chunk(fluid_timed *v, int s, int64_t chunk, bool closed) {
  const int64_t first = chunk * CHUNK, rest = v->side[s].count - first;
  return find_values(v, s, first, rest < CHUNK ? rest : CHUNK, closed);
}

static sim_status set_side(fluid_timed *v, int s) {
  const points *of = &v->side[s];
  const int64_t chunks = (of->count + CHUNK - 1) / CHUNK;
  int64_t refused = -1; /* the first one */
  bool closed = true, wrong = false;
  for (int other = 0; other < FLUID_SIDES; other++) closed = closed && !v->side[other].open;
#pragma omp parallel for schedule(static) num_threads(v->threads) if (v->threads > 1 && chunks > 1)
  for (int64_t k = 0; k < chunks; k++)
    if (find_chunk(v, s, k, closed) >= 0) {
#pragma omp atomic write
      wrong = true;
    }
  for (int64_t k = 0; wrong && refused < 0; k++) refused = find_chunk(v, s, k, closed);
  if (refused >= 0) {
    double value[3]; /* says why */
    SIM_TRY(fluid_side_value(&v->maker, s, (const double[]){of->x[0][refused], of->x[1][refused], of->x[2][refused]},
                             value));
  }
  if (of->count > 0) store_profile(v, s);
  scale_values(of, v->threads);
  return SIM_OK;
}

static void set_links(fluid_timed *v) {
  fluid_link *link = v->maker.out->link;
#pragma omp parallel for schedule(static) num_threads(v->threads) if (v->threads > 1 && v->links > CHUNK)
  for (int64_t i = 0; i < v->links; i++) {
    const recipe *r = &v->recipe[i];
    int side[3] = {0};
    double value[3][3];
    for (int k = 0; k < r->count; k++) {
      side[k] = r->side[k];
      for (int a = 0; a < 3; a++) value[k][a] = v->side[side[k]].value[a][r->point[k]];
    }
    const double constant = fluid_side_constant(&v->maker, r->arriving, r->count, side, value);
    link[v->link[i]].constant = link[v->link[i]].entry ? r->base + r->share * constant : constant;
  }
}

/* Makes room for the values of a side, and sets those that do not change with time. */
static sim_status begin_values(fluid_timed *v, int s) {
  points *of = &v->side[s];
  for (int a = 0; a < 3 && of->count > 0; a++)
    if (!(of->value[a] = calloc((size_t)of->count, sizeof *of->value[a]))) return sim_no_memory("sides");
  if (of->count == 0 || fluid_side_is_timed(&v->maker.p->sides[s])) return SIM_OK;
  if (of->program) return set_side(v, s);
  double value[3];
  SIM_TRY(fluid_side_value(&v->maker, s, (const double[]){of->x[0][0], of->x[1][0], of->x[2][0]}, value));
  for (int a = 0; a < 3; a++) of->value[a][0] = value[a];
  return SIM_OK;
}

sim_status fluid_timed_create(const fluid_parameters *p, const fluid_numbers *numbers, int threads, fluid_walls *w) {
  fluid_timed *v = w->timed = calloc(1, sizeof *v);
  sim_expr_program *programs[FLUID_SIDES];
  if (!v) return sim_no_memory("sides");
  v->threads = threads;
  SIM_TRY(fluid_maker_begin(&v->maker, p, numbers, w));
  for (int s = 0; s < 2 * v->maker.grid.rank; s++) SIM_TRY(begin_side(v, s));
  for (int64_t i = 0; i < w->cells; i++) SIM_TRY(add_links(v, &w->cell[i]));
  for (int s = 0; s < FLUID_SIDES; s++) programs[s] = v->side[s].program;
  SIM_TRY(laws_scratch_create(programs, FLUID_SIDES, 0, threads, &v->scratch));
  for (int s = 0; s < FLUID_SIDES; s++) SIM_TRY(begin_values(v, s));
  return SIM_OK;
}

sim_status fluid_walls_time(fluid_walls *w, double t) {
  fluid_timed *v = w->timed;
  if (!v) return SIM_OK;
  v->maker.out = w; /* walls may have been copied since */
  v->maker.time = t;
  for (int s = 0; s < FLUID_SIDES; s++)
    if (fluid_side_is_timed(&v->maker.p->sides[s])) SIM_TRY(set_side(v, s));
  set_links(v);
  return SIM_OK;
}

/* What comes in by a profile of side s that changes with time, cells of volume a step; else 0. */
static double inflow(const fluid_walls *w, int s) {
  const fluid_maker *m = w->timed ? &w->timed->maker : NULL;
  const int axis = s / 2;
  double sum = 0;
  if (!m || !w->profile[s] || !fluid_side_is_timed(&m->p->sides[s])) return 0;
  const int64_t cells = grid_cells(&m->grid) / m->grid.n[axis], across = m->grid.n[axis == 0 ? 1 : 0];
  for (int64_t i = 0; i < cells; i++) {
    int64_t at[3] = {0};
    at[axis == 0 ? 1 : 0] = i % across;
    at[axis == 2 ? 1 : 2] = i / across;
    at[axis] = s % 2 ? m->grid.n[axis] - 1 : 0;
    if (w->solid && w->solid[(at[2] * m->grid.n[1] + at[1]) * m->grid.n[0] + at[0]]) continue;
    sum += w->profile[s][3 * fluid_side_cell(&m->grid, s, at) + axis];
  }
  return (s % 2 ? -sum : sum) * m->numbers->dt / m->numbers->dx;
}

sim_status fluid_walls_change(fluid_walls *w, double t, double more[FLUID_SIDES]) {
  for (int s = 0; s < FLUID_SIDES; s++) more[s] = -inflow(w, s);
  SIM_TRY(fluid_walls_time(w, t));
  for (int s = 0; s < FLUID_SIDES; s++) more[s] += inflow(w, s);
  return SIM_OK;
}

sim_status fluid_timed_check(const fluid_parameters *p, const fluid_numbers *numbers, fluid_walls *w) {
  if (!w->timed) return SIM_OK;
  const double steps = ceil(p->integrate.t_end / numbers->dt * (1 - 1e-12));
  const double times = fmin(fmin(steps, 1000), fmax(16, 1e6 / (double)(w->timed->links / 4 + 1)));
  for (double i = 0; i < times; i++) SIM_TRY(fluid_walls_time(w, (floor(i / times * steps) + 0.5) * numbers->dt));
  return SIM_OK;
}
