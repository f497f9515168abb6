/* The way `axes`: one pass over memory for each axis of a step. Supports one or two fields on two or three axes of 256,
 * 512 or 1024 cells each, any boundaries, single precision, a split scheme, and a multiplier that is a product of one
 * factor for each axis. Between steps array [0] holds the fields in the order of axes/passes.cuh. */
#include "kernels/diffusion/cuda/axes/axes.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/product.h"
#include "kernels/diffusion/waves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Returns the factor of coefficient k. For sine transforms it belongs to wavenumber n - k. */
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
    const double angle = DIFFUSION_PI * (double)k / (double)n;
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

/* Bytes of both slabs of a rank. */
static void slab_bytes(const diffusion_parameters *p, const diffusion_axes_division *d, size_t bytes[AXES_SLABS]) {
  const grid_shape grid = diffusion_grid_of(p);
  const size_t line = (size_t)grid.n[0] * p->fields.count * sizeof(float);
  bytes[AXES_BY_PLANES] = (size_t)(d->z_end - d->z) * (size_t)grid.n[1] * line;
  bytes[AXES_BY_ROWS] = (size_t)grid.n[2] * (size_t)(d->y_end - d->y) * line;
}

/* One kernel takes lines of both axes, which are as long as each other. */
static int parts_of(const grid_shape *grid) {
  return grid->n[1] == AXES_PARTED && grid->n[2] == AXES_PARTED ? AXES_PARTS : 1;
}

static void plan_ranks(const diffusion_parameters *p, const sim_comm *comm, sim_plan *out) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_axes_division most = diffusion_axes_division_of(&grid, comm, 0);
  const double field = (double)p->fields.count * grid_cells_wanted(&grid) * sizeof(float);
  size_t bytes[AXES_SLABS];
  slab_bytes(p, &most, bytes);
  sim_plan_add(out, "transformed fields", sim_turn_bytes(comm, AXES_SLABS, bytes));
  /* needed where GPUs cannot store into each other's memory; only the start finds this out */
  sim_plan_add_host(out, "staged for other ranks, at most",
                    2 * diffusion_axes_sent_at_once(&grid, comm, (int)p->fields.count));
  sim_plan_add(out, "tables of the scheme", table_bytes(p));
  out->checkpoint_bytes = field;
  out->work_rate_guess = 1.4e11;
  out->most_ranks = out->parts = (int)(grid.n[1] / 2);
  out->bytes_received = (double)bytes[AXES_BY_ROWS] * (1 - (double)most.z_end / (double)grid.n[2]);
  out->exchanges = parts_of(&grid);
  out->beside = parts_of(&grid) > 1 ? 0.75 : 0.5; /* measured on two H200; the link limits passes of 1024 points */
}

static sim_status make_tables(diffusion_axes_work *a, const diffusion_parameters *p) {
  const size_t count = (size_t)table_bytes(p) / sizeof(float);
  float *host = calloc(count, sizeof *host);
  sim_status status = host ? fill(p, diffusion_dt(&p->integrate), host) : sim_no_memory("the scheme's tables");
  if (status == SIM_OK) status = diffusion_cuda_upload(host, count, &a->tables);
  free(host);
  return status;
}

/* Allocates the memory of both slabs, and creates the exchange between the ranks. */
static sim_status create_slabs(diffusion_work *w) {
  diffusion_axes_work *a = w->own.axes;
  const diffusion_axes_division d = a->own = diffusion_axes_division_of(&w->grid, w->comm, w->comm->rank);
  const int64_t *n = w->grid.n;
  a->slab[AXES_BY_PLANES] = (diffusion_axes_slab){.cells = (d.z_end - d.z) * n[1] * n[0], .rows = n[1], .z = d.z};
  a->slab[AXES_BY_ROWS] =
      (diffusion_axes_slab){.cells = n[2] * (d.y_end - d.y) * n[0], .rows = d.y_end - d.y, .y = d.y};
  if (w->comm->size == 1) {
    SIM_TRY(diffusion_product_create(w, (int64_t[]){w->fields, n[2], n[1] / 2, 2 * n[0]}));
    a->slab[AXES_BY_PLANES].field = w->array[0].data;
    return SIM_OK;
  }
  size_t bytes[AXES_SLABS];
  slab_bytes(w->p, &d, bytes);
  const double at_once = diffusion_axes_sent_at_once(&w->grid, w->comm, w->fields);
  SIM_TRY(sim_turn_create(w->comm, w->exchange, AXES_SLABS, bytes, (size_t)at_once, &a->turn));
  for (int i = 0; i < AXES_SLABS; i++) a->slab[i].field = sim_turn_array(a->turn, i);
  a->direct = sim_turn_peer(a->turn, 0, 0) && w->comm->size <= AXES_PEERS;
  a->chunks = a->direct ? AXES_DIRECT : diffusion_axes_chunks(&w->grid, w->comm, w->fields);
  a->parts = a->direct ? parts_of(&w->grid) : 1;
  a->turns[AXES_ONCE] = a->direct;
  a->turns[AXES_TWICE] = a->direct && w->p->integrate.scheme == DIFFUSION_STRANG;
  a->turns[AXES_AFTER] = a->parts > 1;
  a->unmet = true;
  w->method = *diffusion_method_of(w->p);
  w->array[0] = (sim_buffer){.dtype = SIM_F32, .rank = 4, .space = SIM_SPACE_DEVICE};
  w->array[0].shape[0] = w->fields;
  w->array[0].shape[3] = 2 * n[0];
  diffusion_axes_select(w, AXES_BY_PLANES);
  return SIM_OK;
}

static sim_status create(diffusion_work *w) {
  const grid_shape *grid = &w->grid;
  diffusion_axes_work *axes = w->own.axes = calloc(1, sizeof *axes);
  if (!axes) return sim_no_memory("the scheme's tables");
  axes->rank = grid->rank;
  diffusion_axes *g = &axes->given;
  for (int a = 0; a < 3; a++) {
    axes->n[a] = (int)grid->n[a];
    g->n[a] = grid->n[a];
    g->size[a] = a < grid->rank ? grid->size[a] : 0;
  }
  SIM_TRY(create_slabs(w));
  SIM_TRY(make_tables(axes, w->p));
  const float *turns = axes->tables, *factors = turns + all_turns(grid);
  for (int a = 0; a < 3; a++) {
    g->turns[a] = turns;
    g->factors[a] = factors;
    if (a < grid->rank) turns += 2 * grid->n[a];
    factors += factors_of_axis(grid, a);
  }
  g->all_factors = all_factors(grid);
  return SIM_OK;
}

static void destroy(diffusion_work *w) {
  diffusion_axes_work *a = w->own.axes;
  if (!a) return;
  sim_backend_cuda.free(a->tables);
  sim_turn_destroy(&a->turn);
  free(a);
}

/* ---- several ranks: the state as planes of the whole ---- */

static sim_status state_slab(diffusion_work *w, sim_array *out) {
  diffusion_axes_work *a = w->own.axes;
  a->unmet = true;
  *out = (sim_array){.field = out->field,
                     .dtype = SIM_F32,
                     .rank = 4,
                     .shape = {w->fields, a->own.z_end - a->own.z, a->n[1] / 2, 2LL * a->n[0]},
                     .global = {w->fields, a->n[2], a->n[1] / 2, 2LL * a->n[0]},
                     .offset = {0, a->own.z},
                     .data = a->slab[AXES_BY_PLANES].field,
                     .space = SIM_SPACE_DEVICE};
  return SIM_OK;
}

static sim_status restore_slab(diffusion_work *w, const sim_array *whole) {
  diffusion_axes_work *a = w->own.axes;
  const diffusion_axes_slab *slab = &a->slab[AXES_BY_PLANES];
  const int64_t plane = (int64_t)a->n[0] * a->n[1];
  for (int f = 0; f < w->fields && slab->cells > 0; f++)
    SIM_TRY(sim_backend_cuda.copy(slab->field + f * slab->cells,
                                  (const float *)whole->data + (f * a->n[2] + a->own.z) * plane,
                                  (size_t)slab->cells * sizeof(float)));
  a->unmet = true;
  diffusion_axes_select(w, AXES_BY_PLANES);
  return SIM_OK;
}

/* ---- kernels ---- */

static const char include[] = "#include \"kernels/diffusion/cuda/axes/passes.cuh\"\n";
static const char *const turn_names[AXES_TURNS] = {"once", "twice", "after"};

/* Kernels that store lines along `axis` into other slabs. */
static void write_turns(const diffusion_work *w, const diffusion_axes_division *most, int axis,
                        diffusion_programs *programs) {
  const diffusion_axes_work *a = w->own.axes;
  const int *n = a->n, threads = diffusion_axes_turn_threads(n[axis]);
  const int height = (int)(a->own.y_end - a->own.y), rows = axis == 2 ? height : n[1];
  const int kind[3] = {(int)w->grid.boundary[0], (int)w->grid.boundary[1], (int)w->grid.boundary[2]};
  const int share = (int)(axis == 1 ? most->y_end : most->z_end);
  for (int beside = 0; beside < AXES_TURNS; beside++) {
    sim_bytes *text;
    if (!a->turns[beside]) continue;
    text = diffusion_programs_add(programs, beside != AXES_AFTER);
    sim_bytes_format(text,
                     "%sextern \"C\" __global__ void __launch_bounds__(%d, %d)\n"
                     "    diffusion_turn_%c_%s(const diffusion_axes g, const diffusion_axes_slab s,\n"
                     "                     const diffusion_axes_part part, ",
                     include, threads, 512 / threads, "xyz"[axis], turn_names[beside]);
    if (beside == AXES_AFTER)
      sim_bytes_format(text,
                       "const diffusion_axes_slab next,\n"
                       "                     const diffusion_axes_part arrived, const diffusion_axes_blocks blocks,\n"
                       "                     const __grid_constant__ diffusion_axes_targets targets) {\n"
                       "  axis_turn_and_lines<%d, %d, %d, %d, %d, %d, %d, %d, %d, %d>(g, s, part, next, arrived,\n"
                       "                                                          blocks, targets);\n"
                       "}\n",
                       w->fields, n[0], n[1], rows, axis == 1 ? height : n[1], kind[1], kind[2], n[axis], axis, share);
    else
      sim_bytes_format(text,
                       "const diffusion_axes_part later,\n"
                       "                     const diffusion_axes_blocks blocks, double t, double h,\n"
                       "                     const __grid_constant__ diffusion_axes_targets targets) {\n"
                       "  axis_turn_and_rows<scenario_rates, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d>(g, s, part,\n"
                       "                                              later, blocks, t, h, targets);\n"
                       "}\n",
                       n[0], n[1], rows, kind[0], kind[1], kind[2], beside + 1, n[axis], axis, share);
  }
}

static void write(const diffusion_work *w, diffusion_programs *programs) {
  const diffusion_parameters *p = w->p;
  const grid_shape grid = diffusion_grid_of(p);
  const int n[3] = {(int)grid.n[0], (int)grid.n[1], (int)grid.n[2]};
  const int kind[3] = {(int)grid.boundary[0], (int)grid.boundary[1], (int)grid.boundary[2]};
  const diffusion_axes_division d = diffusion_axes_division_of(&grid, w->comm, w->comm->rank);
  const diffusion_axes_division most = diffusion_axes_division_of(&grid, w->comm, 0);
  const bool divided = w->comm->size > 1;
  for (int times = 1; times <= (p->integrate.scheme == DIFFUSION_STRANG ? 2 : 1); times++)
    sim_bytes_format(diffusion_programs_add(programs, true),
                     "%sextern \"C\" __global__ void __launch_bounds__(AXES_ROWS, %d)\n"
                     "    diffusion_rows_%s(const diffusion_axes g, const diffusion_axes_slab s,\n"
                     "                      const diffusion_axes_part part, double t, double h) {\n"
                     "  axis_rows<scenario_rates, %d, %d, %d, %d, %d>(g, s, part, t, h);\n"
                     "}\n",
                     include, p->fields.count > 1 ? 2 : 4, times == 1 ? "once" : "twice", n[0], kind[0], kind[1],
                     kind[2], times);
  for (int a = 1; a < grid.rank; a++)
    sim_bytes_format(diffusion_programs_add(programs, false),
                     "%sextern \"C\" __global__ void __launch_bounds__(%d, %d)\n"
                     "    diffusion_columns_%c(const diffusion_axes g, const diffusion_axes_slab s,\n"
                     "                        const diffusion_axes_part part, const diffusion_axes_slab next,\n"
                     "                        int first, int end) {\n"
                     "  axis_columns<%d, %d, %d, %d, %d, %d, %s>(g, s, part, next, first, end);\n"
                     "}\n",
                     include, diffusion_axes_columns_threads(n[a]), 512 / diffusion_axes_columns_threads(n[a]),
                     "xyz"[a], n[0], n[1], a == 2 && divided ? (int)(d.y_end - d.y) : n[1], n[a], a, kind[a],
                     divided ? "true" : "false");
  for (int axis = 1; axis < 3 && divided && w->own.axes->direct; axis++) write_turns(w, &most, axis, programs);
  sim_bytes *moves = diffusion_programs_add(programs, false);
  sim_bytes_text(moves, include);
  for (int loads = 0; loads < 2; loads++)
    sim_bytes_format(moves,
                     "extern \"C\" __global__ void __launch_bounds__(DIFFUSION_THREADS)\n"
                     "    diffusion_axes_%s(const diffusion_axes_slab s, float *real) {\n"
                     "  axis_move<%d, %d, %d, %d, %s>(s, real);\n"
                     "}\n",
                     loads ? "load" : "store", n[0], kind[0], kind[1], kind[2], loads ? "true" : "false");
}

static sim_status find(diffusion_work *w) {
  diffusion_axes_work *a = w->own.axes;
  const sim_module *m = w->module;
  const size_t rows = diffusion_axes_rows_bytes(a->n[0]);
  const size_t y = diffusion_axes_columns_bytes(a->n[1]), z = diffusion_axes_columns_bytes(a->n[2]);
  SIM_TRY(diffusion_programs_find(m, "diffusion_rows_once", rows, 1, &a->once));
  if (w->p->integrate.scheme == DIFFUSION_STRANG)
    SIM_TRY(diffusion_programs_find(m, "diffusion_rows_twice", rows, 1, &a->twice));
  SIM_TRY(diffusion_programs_find(m, "diffusion_columns_y", y, 1, &a->columns[1]));
  if (a->rank > 2) SIM_TRY(diffusion_programs_find(m, "diffusion_columns_z", z, 1, &a->columns[2]));
  for (int axis = 1; axis < 3; axis++)
    for (int beside = 0; beside < AXES_TURNS; beside++) {
      char name[32];
      if (!a->turns[beside]) continue;
      (void)snprintf(name, sizeof name, "diffusion_turn_%c_%s", "xyz"[axis], turn_names[beside]);
      SIM_TRY(diffusion_programs_find(m, name, diffusion_axes_turn_bytes(a->n[0], a->n[axis]), 1,
                                      &a->turning[axis][beside]));
    }
  SIM_TRY(sim_module_kernel(m, "diffusion_axes_load", &a->load));
  return sim_module_kernel(m, "diffusion_axes_store", &a->store);
}

const diffusion_way diffusion_way_axes = {.name = "one pass an axis",
                                          .in_registers = true,
                                          .supports = supports,
                                          .plan = plan,
                                          .create = create,
                                          .destroy = destroy,
                                          .write = write,
                                          .find = find,
                                          .load = diffusion_axes_load,
                                          .stage = diffusion_axes_stage,
                                          .store = diffusion_axes_store,
                                          .plan_ranks = plan_ranks,
                                          .state_slab = state_slab,
                                          .restore_slab = restore_slab};
