/* The way `flat`: two passes over memory a stage. Supports up to four fields on a periodic grid of two axes of 256 to
 * 4096 cells, powers of two, in single precision, any scheme with rates, and a real linear part. */
#include "kernels/diffusion/cuda/work.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/flat/flat.cuh"

#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = 4 };
enum { VISIT_LOAD = DIFFUSION_STAGES, VISIT_RESUME, VISITS }; /* passes over columns beyond the method's stages */

typedef struct diffusion_flat_work {
  int n[2];
  diffusion_flat given;
  void *turns;                               /* device memory, twiddle factors */
  void *step, *load, *store, *visit[VISITS]; /* cudaKernel_t */
} diffusion_flat_work;

static bool supports(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  if (grid.rank != 2 || !diffusion_cuda_in_registers(p, MOST_FIELDS)) return false;
  for (int a = 0; a < 2; a++)
    if (grid.boundary[a] != GRID_PERIODIC || grid.n[a] < 256 || grid.n[a] > 4096 || (grid.n[a] & (grid.n[a] - 1)))
      return false;
  return true;
}

/* ---- sizes ---- */

static int64_t tiles_of(const grid_shape *grid) { return grid->n[0] / 2 / FLAT_WIDE + 1; }
static int64_t entries_of(const grid_shape *grid) { return (grid->n[1] / 512 + 1) * 256; }
/* Complex numbers of a field; entries of one of its tables. */
static int64_t field_of(const grid_shape *grid) { return tiles_of(grid) * FLAT_WIDE * grid->n[1]; }
static int64_t table_of(const grid_shape *grid) { return tiles_of(grid) * FLAT_WIDE * entries_of(grid); }

static void plan(const diffusion_parameters *p, sim_plan *out) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_method *method = diffusion_cuda_method_of(p);
  const double fields = (double)p->fields.count, field = fields * 8 * (double)field_of(&grid);
  const double table = 4 * (double)table_of(&grid);
  sim_plan_add(out, "transformed fields", field);
  sim_plan_add(out, "arrays of the scheme", field * method->arrays);
  const int slots = diffusion_adaptive(p) ? DIFFUSION_SLOTS : 1;
  sim_plan_add(out, "tables of the scheme", fields * table * method->tables * slots);
  if (diffusion_estimates(p))
    sim_plan_add(out, "errors",
                 diffusion_cuda_norms_bytes(&(diffusion_share){.all = 1, .numbers = field_of(&grid)}, fields));
  out->checkpoint_bytes = field;
  out->work_rate_guess = 1e11 / method->stages;
}

/* Returns the pairs of rows of a thread block: 256 or 512 threads, depending on the registers of a step. */
static int pairs_of(int nx, int fields) {
  const int threads = fields > 2 ? 256 : 512, pairs = threads * 16 / nx;
  return pairs > 4 ? 4 : pairs;
}
static size_t rows_bytes(const diffusion_flat_work *w, int pairs) {
  return 8 * (size_t)(pairs * diffusion_flat_pitch(w->n[0], pairs));
}
static size_t columns_bytes(const diffusion_flat_work *w) {
  return 8 * (size_t)(FLAT_WIDE * diffusion_flat_pitch(w->n[1], FLAT_WIDE));
}

/* ---- tables ---- */

/* The forward transform of rows gives twice the coefficients. */
static double scale_of(const grid_shape *grid) { return 0.5 / ((double)grid->n[0] * (double)grid->n[1]); }

static sim_status create(diffusion_work *w) {
  const grid_shape *grid = &w->grid;
  diffusion_flat_work *f = w->own.flat = calloc(1, sizeof *f);
  if (!f) return sim_no_memory("the scheme's tables");
  /* rank 4, shape [fields][tiles][FLAT_WIDE ny][2]: no checkpoint of another way has this shape */
  const int64_t shape[] = {w->fields, tiles_of(grid), FLAT_WIDE * grid->n[1], 2};
  w->method = *diffusion_cuda_method_of(w->p);
  w->scale = scale_of(grid);
  w->spectrum = (diffusion_spectrum){.n = {tiles_of(grid) * FLAT_WIDE, grid->n[1], 1},
                                     .field = field_of(grid),
                                     .table = {tiles_of(grid) * FLAT_WIDE, entries_of(grid), 1},
                                     .tables = table_of(grid),
                                     .column_threads = (int)(grid->n[1] / 16)};
  for (int a = 0; a <= w->method.arrays; a++)
    SIM_TRY(sim_buffer_create(&sim_backend_cuda, SIM_F32, 4, shape, &w->array[a]));
  f->given = (diffusion_flat){
      .mixed = w->array[0].data, .real = w->real.data, .field = field_of(grid), .cells = w->natural.field};
  for (int a = 0; a < 2; a++) {
    f->n[a] = (int)grid->n[a];
    f->given.size[a] = grid->size[a];
  }
  const void *turns[2];
  SIM_TRY(diffusion_flat_turns(2, grid->n, &f->turns, turns));
  f->given.turns_x = turns[0];
  f->given.turns_y = turns[1];
  return diffusion_cuda_take_tables(w);
}

static void destroy(diffusion_work *w) {
  if (!w->own.flat) return;
  sim_backend_cuda.free(w->own.flat->turns);
  free(w->own.flat);
}

/* ---- kernels ---- */

static void write_rows(const diffusion_parameters *p, int nx, int ny, diffusion_programs *programs) {
  static const struct {
    const char *name, *rates, *mode;
  } rows[] = {{"step", "scenario_rates", "STEP"}, {"load", "no_rates", "LOAD"}, {"store", "no_rates", "STORE"}};
  const int pairs = pairs_of(nx, (int)p->fields.count);
  for (int i = 0; i < 3; i++)
    sim_bytes_format(diffusion_programs_add(programs, i == 0),
                     "#include \"kernels/diffusion/cuda/flat/rows.cuh\"\n"
                     "extern \"C\" __global__ void __launch_bounds__(%d)\n"
                     "    diffusion_rows_%s(const diffusion_flat g, double t, double h, int times) {\n"
                     "  rows_of<%s, %d, %d, %d, FLAT_%s>(g, t, h, times);\n"
                     "}\n",
                     pairs * nx / 16, rows[i].name, rows[i].rates, nx, ny, pairs, rows[i].mode);
}

static void write_visit(const diffusion_stage *stage, int number, unsigned dropped_arrays, int ny,
                        diffusion_programs *programs) {
  sim_bytes *text = diffusion_programs_add(programs, false);
  sim_bytes_format(text,
                   "#include \"kernels/diffusion/cuda/flat/columns.cuh\"\n"
                   "struct visit_%d {\n"
                   "  __device__ static __forceinline__ void at(const diffusion_sums &s, pair &a0, long long i,\n"
                   "                                            long long k) {\n",
                   number);
  diffusion_cuda_write_sums(stage, DIFFUSION_ALIKE, 1, 1 | dropped_arrays, text);
  sim_bytes_format(text,
                   "  }\n};\n"
                   "extern \"C\" __global__ void __launch_bounds__(%d)\n"
                   "    diffusion_columns_%d(const diffusion_flat g, const diffusion_sums s) {\n"
                   "  columns_of<visit_%d, %d, %s, %s>(g, s);\n"
                   "}\n",
                   FLAT_WIDE * ny / 16, number, number, ny, stage->forward ? "true" : "false",
                   stage->inverse ? "true" : "false");
}

static void write(const diffusion_work *w, diffusion_programs *programs) {
  const diffusion_parameters *p = w->p;
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_method *method = diffusion_cuda_method_of(p);
  const int nx = (int)grid.n[0], ny = (int)grid.n[1], state = method->arrays > 0 ? 1 : 0;
  const diffusion_stage first = diffusion_cuda_load_stage(state), again = diffusion_cuda_resume_stage(state);
  write_rows(p, nx, ny, programs);
  for (int s = 0; s < method->stages; s++)
    write_visit(&method->stage[s], s, diffusion_cuda_dropped(p, s), ny, programs);
  write_visit(&first, VISIT_LOAD, 0, ny, programs);
  if (state) write_visit(&again, VISIT_RESUME, 0, ny, programs);
}

static sim_status find(diffusion_work *w) {
  diffusion_flat_work *f = w->own.flat;
  const size_t rows = rows_bytes(f, pairs_of(f->n[0], w->fields)), columns = columns_bytes(f);
  SIM_TRY(diffusion_programs_find(w->module, "diffusion_rows_step", rows, 1, &f->step));
  SIM_TRY(diffusion_programs_find(w->module, "diffusion_rows_load", rows, 1, &f->load));
  SIM_TRY(diffusion_programs_find(w->module, "diffusion_rows_store", rows, 1, &f->store));
  for (int v = 0; v < VISITS; v++) {
    char name[] = "diffusion_columns_0";
    if (v < DIFFUSION_STAGES ? v >= w->method.stages : v == VISIT_RESUME && w->method.arrays == 0) continue;
    name[sizeof name - 2] = (char)('0' + v);
    SIM_TRY(diffusion_programs_find(w->module, name, columns, 1, &f->visit[v]));
  }
  return SIM_OK;
}

/* ---- launches ---- */

static void rows(diffusion_work *w, void *function, int fields, const diffusion_step_context *context) {
  static const sim_kernel kernel = {"diffusion_rows", "planes", SIM_LIMIT_BYTES};
  diffusion_flat_work *f = w->own.flat;
  const int pairs = pairs_of(f->n[0], w->fields);
  const unsigned grid[] = {(unsigned)(f->n[1] / 2 / pairs), (unsigned)fields, 1};
  diffusion_step_context m = *context;
  void *arguments[] = {&f->given, &m.t, &m.h, &m.substeps};
  diffusion_cuda_launch(&kernel, 16.0 * w->fields * (double)f->given.field, function, grid, pairs * f->n[0] / 16,
                        rows_bytes(f, pairs), arguments);
}

static sim_status columns(diffusion_work *w, int visit) {
  static const sim_kernel kernel = {"diffusion_columns", "columns", SIM_LIMIT_BYTES};
  diffusion_flat_work *f = w->own.flat;
  diffusion_sums sums = diffusion_cuda_sums(w);
  const unsigned grid[] = {(unsigned)(f->given.field / ((long long)FLAT_WIDE * f->n[1])), (unsigned)w->fields, 1};
  void *arguments[] = {&f->given, &sums};
  const double arrays = w->method.arrays + 2; /* estimate of the arrays read and written */
  diffusion_cuda_launch(&kernel, 8 * arrays * w->fields * (double)f->given.field, f->visit[visit], grid,
                        FLAT_WIDE * f->n[1] / 16, columns_bytes(f), arguments);
  return sim_queue_cuda.status();
}

static sim_status load(diffusion_work *w) {
  rows(w, w->own.flat->load, w->fields, &(diffusion_step_context){0});
  return columns(w, VISIT_LOAD);
}

static sim_status resume(diffusion_work *w) { return columns(w, VISIT_RESUME); }

static sim_status stage(diffusion_work *w, int index, const diffusion_step_context *context) {
  if (w->method.stage[index].forward) rows(w, w->own.flat->step, 1, context);
  return columns(w, index);
}

static sim_status store(diffusion_work *w) {
  rows(w, w->own.flat->store, w->fields, &(diffusion_step_context){0});
  return sim_queue_cuda.status();
}

const diffusion_way diffusion_way_flat = {.name = "two passes a stage",
                                          .fill = "fill_flat",
                                          .in_registers = true,
                                          .supports = supports,
                                          .plan = plan,
                                          .create = create,
                                          .destroy = destroy,
                                          .write = write,
                                          .find = find,
                                          .load = load,
                                          .resume = resume,
                                          .stage = stage,
                                          .store = store};
