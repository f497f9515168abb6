/* The way `axes`: one pass over memory for each axis of a step. Supports one or two fields on two or three axes of
 * 256, 512 or 1024 cells each, any boundaries, single precision, a split scheme, and a multiplier that is a product
 * of one factor an axis. Between steps array [0] holds the fields in the order of axes/passes.cuh. */
#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/axes/axes.cuh"
#include "kernels/diffusion/cuda/product.h"

#include <math.h>
#include <stdlib.h>

typedef struct diffusion_axes_work {
  diffusion_axes given;
  int n[3], rank;
  void *once, *twice, *columns[3], *load, *store; /* cudaKernel_t; columns[0] is unused */
  void *tables;
} diffusion_axes_work;

static bool serves(int64_t n) { return n == 256 || n == 512 || n == 1024; }

static bool supports(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  for (int a = 0; a < grid.rank; a++)
    if (!serves(grid.n[a])) return false;
  return grid.rank >= 2 && diffusion_product_supports(p);
}

/* ---- tables ---- */

static int64_t factors_of_axis(const grid_shape *grid, int axis) {
  return axis >= grid->rank ? 0 : grid->boundary[axis] == GRID_PERIODIC ? grid->n[axis] : 4 * grid->n[axis];
}

static int64_t all_factors(const grid_shape *grid) {
  int64_t sum = 0;
  for (int a = 0; a < 3; a++) sum += factors_of_axis(grid, a);
  return sum;
}

/* Padded to a multiple of 4, because tables are read as float4. */
static int64_t all_turns(const grid_shape *grid) {
  int64_t sum = 0;
  for (int a = 0; a < grid->rank; a++) sum += 2 * grid->n[a];
  return sum;
}

static double table_bytes(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  return sizeof(float) * ((double)all_turns(&grid) + (double)p->fields.count * (double)all_factors(&grid));
}

/* Factor of coefficient k; for sine transforms it belongs to wavenumber n - k. */
static double coefficient(const diffusion_filling *filling, int axis, int64_t k) {
  const grid_shape *grid = &filling->grid;
  const int64_t n = grid->n[axis];
  const double share =
      axis == 0 ? diffusion_product_whole(filling) * (double)grid->n[1] * (double)grid->n[2] : 1.0 / (double)n;
  const int64_t mode = grid->boundary[axis] == GRID_FIXED                   ? n - k
                       : grid->boundary[axis] == GRID_PERIODIC && 2 * k > n ? n - k
                                                                            : k;
  return share * diffusion_product_factor(filling, axis, mode);
}

static void put_factors(const diffusion_filling *filling, int axis, float *at) {
  const int64_t n = filling->grid.n[axis];
  for (int64_t k = 0; k < n; k++) {
    const double e = coefficient(filling, axis, k);
    if (filling->grid.boundary[axis] == GRID_PERIODIC) {
      *at++ = (float)e;
      continue;
    }
    const double mirrored = k > 0 ? coefficient(filling, axis, n - k) : e;
    const double angle = 3.14159265358979323846 * (double)k / (double)n;
    *at++ = (float)((e + mirrored) / 2);
    *at++ = (float)(cos(angle) * (e - mirrored) / 2);
    *at++ = (float)(sin(angle) * (e - mirrored) / 2);
    *at++ = 0;
  }
}

static sim_status fill(const diffusion_parameters *p, double dt, float *host) {
  const grid_shape grid = diffusion_grid_of(p);
  for (int a = 0; a < grid.rank; host += 2 * grid.n[a++]) diffusion_line_turns(host, grid.n[a]);
  for (int f = 0; f < (int)p->fields.count; f++) {
    diffusion_filling filling;
    SIM_TRY(diffusion_product_begin(p, f, dt, &filling));
    for (int a = 0; a < grid.rank; host += factors_of_axis(&grid, a++)) put_factors(&filling, a, host);
    diffusion_filling_end(&filling);
  }
  return SIM_OK;
}

static void plan(const diffusion_parameters *p, sim_plan *out) { diffusion_product_plan(p, table_bytes(p), out); }

static sim_status make_tables(diffusion_axes_work *a, const diffusion_parameters *p) {
  const size_t count = (size_t)table_bytes(p) / sizeof(float);
  float *host = calloc(count, sizeof *host);
  sim_status status = host ? fill(p, diffusion_dt(&p->integrate), host) : sim_no_memory("the scheme's tables");
  if (status == SIM_OK) status = diffusion_cuda_upload(host, count, &a->tables);
  free(host);
  return status;
}

static sim_status create(diffusion_work *w) {
  const grid_shape *grid = &w->grid;
  diffusion_axes_work *axes = w->own.axes = calloc(1, sizeof *axes);
  if (!axes) return sim_no_memory("the scheme's tables");
  SIM_TRY(diffusion_product_create(w));
  SIM_TRY(make_tables(axes, w->p));
  axes->rank = grid->rank;
  diffusion_axes *g = &axes->given;
  *g = (diffusion_axes){.field = w->array[0].data, .real = w->real.data, .cells = w->natural.field};
  const float *turns = axes->tables, *factors = turns + all_turns(grid);
  for (int a = 0; a < 3; a++) {
    axes->n[a] = (int)grid->n[a];
    g->n[a] = grid->n[a];
    g->size[a] = a < grid->rank ? grid->size[a] : 0;
    g->turns[a] = turns;
    g->factors[a] = factors;
    if (a < grid->rank) turns += 2 * grid->n[a];
    factors += factors_of_axis(grid, a);
  }
  g->all_factors = all_factors(grid);
  return SIM_OK;
}

static void destroy(diffusion_work *w) {
  if (!w->own.axes) return;
  sim_backend_cuda.free(w->own.axes->tables);
  free(w->own.axes);
}

/* ---- kernels ---- */

static int columns_threads(int n) { return n / 32 * AXES_WIDE(n / 32); }
static size_t columns_bytes(int n) { return (size_t)(AXES_WIDE(n / 32) * AXES_PITCH(n / 32)) * 8; }
static size_t rows_bytes(int n) {
  return (size_t)AXES_ROWS / ((size_t)n / 32) * (size_t)(n + 64 + (n == 256 ? 8 : 0)) * 8; /* line_pitch() */
}

static void write(const diffusion_work *w, diffusion_programs *programs) {
  const diffusion_parameters *p = w->p;
  static const char include[] = "#include \"kernels/diffusion/cuda/axes/passes.cuh\"\n";
  const grid_shape grid = diffusion_grid_of(p);
  const int n[3] = {(int)grid.n[0], (int)grid.n[1], (int)grid.n[2]};
  const int kind[3] = {(int)grid.boundary[0], (int)grid.boundary[1], (int)grid.boundary[2]};
  for (int times = 1; times <= (p->integrate.scheme == DIFFUSION_STRANG ? 2 : 1); times++)
    sim_bytes_format(diffusion_programs_add(programs, true),
                     "%sextern \"C\" __global__ void __launch_bounds__(AXES_ROWS, %d)\n"
                     "    diffusion_rows_%s(const diffusion_axes g, double t, double h) {\n"
                     "  axis_rows<scenario_rates, %d, %d, %d, %d, %d>(g, t, h);\n"
                     "}\n",
                     include, p->fields.count > 1 ? 2 : 4, times == 1 ? "once" : "twice", n[0], kind[0], kind[1],
                     kind[2], times);
  for (int a = 1; a < grid.rank; a++)
    sim_bytes_format(diffusion_programs_add(programs, false),
                     "%sextern \"C\" __global__ void __launch_bounds__(%d, %d)\n"
                     "    diffusion_columns_%c(const diffusion_axes g) {\n"
                     "  axis_columns<%d, %d, %d, %d, %d>(g);\n"
                     "}\n",
                     include, columns_threads(n[a]), 512 / columns_threads(n[a]), "xyz"[a], n[0], n[1], n[a], a,
                     kind[a]);
  sim_bytes *moves = diffusion_programs_add(programs, false);
  sim_bytes_text(moves, include);
  for (int loads = 0; loads < 2; loads++)
    sim_bytes_format(moves,
                     "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
                     "    diffusion_axes_%s(const diffusion_axes g) {\n"
                     "  axis_move<%d, %d, %d, %d, %s>(g);\n"
                     "}\n",
                     loads ? "load" : "store", n[0], kind[0], kind[1], kind[2], loads ? "true" : "false");
}

static sim_status find(diffusion_work *w) {
  diffusion_axes_work *a = w->own.axes;
  const sim_module *m = w->module;
  const size_t rows = rows_bytes(a->n[0]), y = columns_bytes(a->n[1]), z = columns_bytes(a->n[2]);
  SIM_TRY(diffusion_programs_find(m, "diffusion_rows_once", rows, 1, &a->once));
  if (w->p->integrate.scheme == DIFFUSION_STRANG)
    SIM_TRY(diffusion_programs_find(m, "diffusion_rows_twice", rows, 1, &a->twice));
  SIM_TRY(diffusion_programs_find(m, "diffusion_columns_y", y, 1, &a->columns[1]));
  if (a->rank > 2) SIM_TRY(diffusion_programs_find(m, "diffusion_columns_z", z, 1, &a->columns[2]));
  SIM_TRY(sim_module_kernel(m, "diffusion_axes_load", &a->load));
  return sim_module_kernel(m, "diffusion_axes_store", &a->store);
}

/* ---- launches ---- */

static double amount(const diffusion_work *w) { return 8 * w->fields * (double)w->natural.field; }

static sim_status move(diffusion_work *w, void *function) {
  static const sim_kernel kernel = {"diffusion_axes_move", "output", SIM_LIMIT_BYTES};
  enum { THREADS = 256 };
  void *arguments[] = {&w->own.axes->given};
  const unsigned grid[] = {(unsigned)((w->natural.field + THREADS - 1) / THREADS), (unsigned)w->fields, 1};
  diffusion_cuda_launch(&kernel, amount(w), function, grid, THREADS, 0, arguments);
  return sim_queue_cuda.status();
}

static sim_status load(diffusion_work *w) { return move(w, w->own.axes->load); }
static sim_status store(diffusion_work *w) { return move(w, w->own.axes->store); }

static sim_status stage(diffusion_work *w, int index, const diffusion_step_context *context) {
  static const sim_kernel rows = {"diffusion_rows", "rows", SIM_LIMIT_BYTES};
  static const sim_kernel columns = {"diffusion_columns", "columns", SIM_LIMIT_BYTES};
  diffusion_axes_work *axes = w->own.axes;
  const int *n = axes->n;
  diffusion_step_context m = *context;
  void *arguments[] = {&axes->given, &m.t, &m.h};
  (void)index; /* there is one stage */
  const unsigned blocks[] = {(unsigned)(w->natural.field / n[0] / 2 / (AXES_ROWS / (n[0] / 32))), 1, 1};
  diffusion_cuda_launch(&rows, amount(w), m.substeps == 2 ? axes->twice : axes->once, blocks, AXES_ROWS,
                        rows_bytes(n[0]), arguments);
  for (int a = 1; a < axes->rank; a++) {
    const unsigned grid[] = {(unsigned)(n[0] / 2 / AXES_WIDE(n[a] / 32)), (unsigned)n[3 - a], (unsigned)w->fields};
    diffusion_cuda_launch(&columns, amount(w), axes->columns[a], grid, columns_threads(n[a]), columns_bytes(n[a]),
                          arguments);
  }
  return sim_queue_cuda.status();
}

const diffusion_way diffusion_way_axes = {.name = "one pass an axis",
                                          .in_registers = true,
                                          .supports = supports,
                                          .plan = plan,
                                          .create = create,
                                          .destroy = destroy,
                                          .write = write,
                                          .find = find,
                                          .load = load,
                                          .stage = stage,
                                          .store = store};
