#include "kernels/diffusion/cuda/flat/flat.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/work.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- schemes ---- */

/* Four stages with three arrays: the stage between d and u' is not kept, for
 * d = e^(c/2) a + Q (2 N(b) - N(u)) = e^c u + R N(u) + 2 Q N(b), R = Q (e^(c/2) - 1). */
enum { NOW, U, N, M };
enum { E, HALF, Q, F1, F2, F3, R };
enum { NONE = -1 };
static const diffusion_method etdrk4 = {
    .name = "etdrk4",
    .arrays = 3,
    .tables = 7,
    .order = 4,
    .stages = 4,
    .stage = {{1, 1, 2, {{N, 1, {{0, NONE, NOW}}}, {NOW, 2, {{1, HALF, U}, {1, Q, N}}}}},
              {1, 1, 2, {{M, 1, {{0, NONE, NOW}}}, {NOW, 2, {{1, HALF, U}, {1, Q, M}}}}},
              {1,
               1,
               4,
               {{NOW, 1, {{0, NONE, NOW}}},
                {M, 2, {{1, NONE, M}, {1, NONE, NOW}}},
                {NOW, 3, {{1, E, U}, {1, R, N}, {2, Q, NOW}}},
                {U, 3, {{1, E, U}, {1, F1, N}, {2, F2, M}}}}},
              {1, 1, 3, {{NOW, 1, {{0, NONE, NOW}}}, {U, 2, {{1, NONE, U}, {1, F3, NOW}}}, {NOW, 1, {{1, NONE, U}}}}}},
};

static bool is_short(const diffusion_parameters *p) {
  return p->integrate.scheme == DIFFUSION_ETDRK4 && !diffusion_adaptive(p);
}
static const diffusion_method *method_of(const diffusion_parameters *p) {
  return is_short(p) ? &etdrk4 : diffusion_method_of(p);
}

/* Array [3] of it is not read after stage 2. */
static unsigned dropped(const diffusion_parameters *p, int stage) { return is_short(p) && stage == 2 ? 1u << M : 0; }

bool diffusion_flat_fits(const diffusion_parameters *p) {
  const diffusion_grid grid = diffusion_grid_of(p);
  const int fields = (int)p->fields.count;
  if (grid.rank != 2 || grid.apart || fields > DIFFUSION_FLAT_FIELDS || !p->rates || !diffusion_single(p) ||
      diffusion_unfolded(p) || diffusion_crossed(p) || diffusion_gradients_of(p).count > 0 || !sim_cuda_overlaps())
    return false;
  for (int f = 0; f < fields; f++)
    if (diffusion_species_of(p, f)->fluctuation > 0) return false;
  for (int a = 0; a < 2; a++)
    if (grid.kind[a] != FFT_PERIODIC || grid.n[a] < 256 || grid.n[a] > 4096 || (grid.n[a] & (grid.n[a] - 1)))
      return false;
  return true;
}

/* ---- sizes ---- */

static int64_t tiles_of(const diffusion_grid *grid) { return grid->n[0] / 2 / FLAT_WIDE + 1; }
static int64_t entries_of(const diffusion_grid *grid) { return (grid->n[1] / 512 + 1) * 256; }
/* Complex numbers of a field, and entries of one of its tables. */
static int64_t field_of(const diffusion_grid *grid) { return tiles_of(grid) * FLAT_WIDE * grid->n[1]; }
static int64_t table_of(const diffusion_grid *grid) { return tiles_of(grid) * FLAT_WIDE * entries_of(grid); }

void diffusion_flat_plan(const diffusion_parameters *p, sim_plan *out) {
  const diffusion_grid grid = diffusion_grid_of(p);
  const diffusion_method *method = method_of(p);
  const double fields = (double)p->fields.count, field = fields * 8 * (double)field_of(&grid);
  const double table = 4 * (double)table_of(&grid);
  sim_plan_add(out, "transformed fields", field);
  sim_plan_add(out, "arrays of the scheme", field * method->arrays);
  const int slots = diffusion_adaptive(p) ? DIFFUSION_SLOTS : 1;
  sim_plan_add(out, "tables of the scheme", fields * table * method->tables * slots);
  if (slots > 1) sim_plan_add(out, "errors", diffusion_cuda_norms_bytes(fields, (double)field_of(&grid)));
  sim_plan_add(out, "statistics",
               diffusion_cuda_measure_bytes((double)grid.n[0] * (double)grid.n[1]) +
                   diffusion_lines_bytes(&grid, true));
  out->checkpoint_bytes = field;
  out->work_rate_guess = 1e11 / method->stages;
}

/* Pairs of rows of a thread block: 256 or 512 threads of a step's registers. */
static int pairs_of(int nx, int fields) {
  const int threads = fields > 2 ? 256 : 512, pairs = threads * 16 / nx;
  return pairs > 4 ? 4 : pairs;
}
static int pitch_of(int n, int lines) { /* flat_line::PITCH */
  const int c = n / 256;
  return 16 * (16 * (c + 1) + c % 16) + 16 / lines % 16;
}
static size_t rows_bytes(const diffusion_flat_work *w, int pairs) {
  return 8 * (size_t)(pairs * pitch_of(w->n[0], pairs));
}
static size_t columns_bytes(const diffusion_flat_work *w) {
  return 8 * (size_t)(FLAT_WIDE * pitch_of(w->n[1], FLAT_WIDE));
}

/* ---- tables ---- */

static void put_turn(float *at, int64_t index, int64_t n) {
  const double angle = -2 * pi * (double)(index % n) / (double)n;
  at[0] = (float)cos(angle);
  at[1] = (float)sin(angle);
}

/* Floats: of flat_turn(). */
enum { TURNS = 6 };
static size_t turns_of(int64_t n) { return 2 * TURNS * (size_t)(n / 16 + n / 256); }
static void fill_turns(float *at, int64_t n) {
  static const int64_t powers[TURNS] = {1, 2, 3, 4, 8, 12};
  const int64_t threads = n / 16, c = n / 256;
  for (int a = 0; a < TURNS; a++) {
    for (int64_t j = 0; j < threads; j++) put_turn(at + 2 * (a * threads + j), powers[a] * j, n);
    for (int64_t i = 0; i < c; i++) put_turn(at + 2 * (TURNS * threads + a * c + i), powers[a] * i, threads);
  }
}

/* Sums of rows forward are twice the coefficients. */
static double scale_of(const diffusion_grid *grid) { return 0.5 / ((double)grid->n[0] * (double)grid->n[1]); }

/* On the device [slot][table][field]. */
static size_t tables_of(const diffusion_flat_work *w) { return (size_t)(w->fields * w->sums.tables); }

static sim_status make_tables(diffusion_flat_work *w, int slots) {
  const size_t count = (size_t)(slots * w->method.tables) * tables_of(w);
  SIM_TRY(sim_backend_cuda.alloc(count * sizeof(float), &w->tables));
  diffusion_flat_use(w, 0);
  return SIM_OK;
}

void diffusion_flat_use(diffusion_flat_work *w, int slot) {
  for (int t = 0; t < w->method.tables; t++)
    w->sums.table[t] = (float *)w->tables + (size_t)(slot * w->method.tables + t) * tables_of(w);
}

void diffusion_flat_making(const diffusion_flat_work *w, int slot, diffusion_making *m) {
  m->scale = w->sums.scale;
  m->tables = w->method.tables;
  m->numbers = w->sums.tables;
  m->entries[1] = (w->n[1] / 512 + 1) * 256;
  for (int t = 0; t < m->tables; t++)
    m->table[t] = (float *)w->tables + (size_t)(slot * w->method.tables + t) * tables_of(w);
}

static sim_status make_turns(diffusion_flat_work *w) {
  const size_t x = turns_of(w->n[0]), count = x + turns_of(w->n[1]);
  float *host = malloc(count * sizeof *host);
  if (!host) return sim_no_memory("the scheme's tables");
  fill_turns(host, w->n[0]);
  fill_turns(host + x, w->n[1]);
  sim_status status = sim_backend_cuda.alloc(count * sizeof *host, &w->turns);
  if (status == SIM_OK) status = sim_backend_cuda.copy(w->turns, host, count * sizeof *host);
  w->given.turns_x = w->turns;
  w->given.turns_y = (float *)w->turns + x;
  free(host);
  return status;
}

/* ---- creation ---- */

/* Of rank 4, the fields' numbers last but one: no checkpoint of the other forms has this shape. */
static sim_status make_arrays(diffusion_flat_work *w, const diffusion_grid *grid) {
  const int64_t shape[] = {w->fields, tiles_of(grid), FLAT_WIDE * grid->n[1], 2};
  for (int a = 0; a <= w->method.arrays; a++) {
    SIM_TRY(sim_buffer_create(&sim_backend_cuda, SIM_F32, 4, shape, &w->array[a]));
    w->sums.array[a] = w->array[a].data;
  }
  w->given.mixed = w->array[0].data;
  return SIM_OK;
}

sim_status diffusion_flat_create(const diffusion_parameters *p, int slots, float *real, diffusion_flat_work **out) {
  const diffusion_grid grid = diffusion_grid_of(p);
  diffusion_flat_work *w = *out = calloc(1, sizeof *w);
  if (!w) return sim_no_memory("the scheme");
  w->fields = (int)p->fields.count;
  w->method = *method_of(p);
  w->given = (diffusion_flat){.real = real, .field = field_of(&grid), .cells = grid.n[0] * grid.n[1]};
  w->sums = (diffusion_sums){.field = field_of(&grid), .tables = table_of(&grid), .scale = scale_of(&grid)};
  for (int a = 0; a < 2; a++) {
    w->n[a] = (int)grid.n[a];
    w->given.size[a] = grid.size[a];
  }
  sim_status status = make_arrays(w, &grid);
  if (status == SIM_OK) status = make_turns(w);
  if (status == SIM_OK) status = make_tables(w, slots);
  if (status != SIM_OK) diffusion_flat_destroy(out);
  return status;
}

void diffusion_flat_destroy(diffusion_flat_work **flat) {
  diffusion_flat_work *w = *flat;
  if (!w) return;
  for (int a = 0; a < DIFFUSION_ARRAYS; a++) sim_buffer_destroy(&w->array[a]);
  sim_backend_cuda.free(w->tables);
  sim_backend_cuda.free(w->turns);
  free(w);
  *flat = NULL;
}

const sim_buffer *diffusion_flat_state(const diffusion_flat_work *w) { return &w->array[w->method.arrays > 0 ? 1 : 0]; }

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
  diffusion_cuda_write_sums(stage, DIFFUSION_ALIKE, 1u << NOW, 1u << NOW | dropped_arrays, text);
  sim_bytes_format(text,
                   "  }\n};\n"
                   "extern \"C\" __global__ void __launch_bounds__(%d)\n"
                   "    diffusion_columns_%d(const diffusion_flat g, const diffusion_sums s) {\n"
                   "  columns_of<visit_%d, %d, %s, %s>(g, s);\n"
                   "}\n",
                   FLAT_WIDE * ny / 16, number, number, ny, stage->forward ? "true" : "false",
                   stage->inverse ? "true" : "false");
}

void diffusion_flat_write(const diffusion_parameters *p, diffusion_programs *programs) {
  const diffusion_grid grid = diffusion_grid_of(p);
  const diffusion_method *method = method_of(p);
  const int nx = (int)grid.n[0], ny = (int)grid.n[1], state = method->arrays > 0 ? U : NOW;
  diffusion_stage first = {1, 1, 1, {{state, 1, {{0, NONE, NOW}}}}};
  if (state) first.set[first.sets++] = (diffusion_set){NOW, 1, {{1, NONE, state}}};
  const diffusion_stage again = {0, 1, 1, {{NOW, 1, {{1, NONE, state}}}}};
  write_rows(p, nx, ny, programs);
  for (int s = 0; s < method->stages; s++) write_visit(&method->stage[s], s, dropped(p, s), ny, programs);
  write_visit(&first, DIFFUSION_FLAT_LOAD, 0, ny, programs);
  if (state) write_visit(&again, DIFFUSION_FLAT_RESUME, 0, ny, programs);
}

static sim_status find(const sim_module *module, const char *name, size_t bytes, void **out) {
  SIM_TRY(sim_module_kernel(module, name, out));
  const cudaError_t error = cudaFuncSetAttribute(*out, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  if (error == cudaSuccess) return SIM_OK;
  (void)cudaGetLastError();
  return sim_fail(SIM_ERR_DEVICE, "cudaFuncSetAttribute (%s): %s", name, cudaGetErrorString(error));
}

sim_status diffusion_flat_kernels(diffusion_flat_work *w, const sim_module *module) {
  const size_t rows = rows_bytes(w, pairs_of(w->n[0], w->fields)), columns = columns_bytes(w);
  SIM_TRY(find(module, "diffusion_rows_step", rows, &w->step));
  SIM_TRY(find(module, "diffusion_rows_load", rows, &w->load));
  SIM_TRY(find(module, "diffusion_rows_store", rows, &w->store));
  for (int v = 0; v < DIFFUSION_FLAT_VISITS; v++) {
    char name[] = "diffusion_columns_0";
    if (v < DIFFUSION_STAGES ? v >= w->method.stages : v == DIFFUSION_FLAT_RESUME && w->method.arrays == 0) continue;
    name[sizeof name - 2] = (char)('0' + v);
    SIM_TRY(find(module, name, columns, &w->visit[v]));
  }
  return SIM_OK;
}

static void rows(diffusion_flat_work *w, void *function, int fields, const diffusion_moment *moment) {
  static const sim_kernel kernel = {"diffusion_rows", "planes", SIM_LIMIT_BYTES};
  const int pairs = pairs_of(w->n[0], w->fields);
  const dim3 grid = {(unsigned)(w->n[1] / 2 / pairs), (unsigned)fields, 1};
  diffusion_moment m = *moment;
  void *arguments[] = {&w->given, &m.t, &m.h, &m.times};
  sim_cuda_begin(&kernel);
  sim_cuda_failed(cudaLaunchKernel(function, grid, (dim3){(unsigned)(pairs * w->n[0] / 16), 1, 1}, arguments,
                                   rows_bytes(w, pairs), sim_cuda_stream()),
                  "cudaLaunchKernel", kernel.name);
  sim_cuda_end(&kernel, 16.0 * w->fields * (double)w->given.field);
}

static void columns(diffusion_flat_work *w, int visit) {
  static const sim_kernel kernel = {"diffusion_columns", "columns", SIM_LIMIT_BYTES};
  const dim3 grid = {(unsigned)(w->given.field / ((long long)FLAT_WIDE * w->n[1])), (unsigned)w->fields, 1};
  void *arguments[] = {&w->given, &w->sums};
  sim_cuda_begin(&kernel);
  sim_cuda_failed(cudaLaunchKernel(w->visit[visit], grid, (dim3){(unsigned)(FLAT_WIDE * w->n[1] / 16), 1, 1}, arguments,
                                   columns_bytes(w), sim_cuda_stream()),
                  "cudaLaunchKernel", kernel.name);
  const double arrays = w->method.arrays + 2; /* about what is read and written */
  sim_cuda_end(&kernel, 8 * arrays * w->fields * (double)w->given.field);
}

void diffusion_flat_load(diffusion_flat_work *w) {
  rows(w, w->load, w->fields, &(diffusion_moment){0});
  columns(w, DIFFUSION_FLAT_LOAD);
}

void diffusion_flat_resume(diffusion_flat_work *w) {
  if (w->method.arrays > 0) columns(w, DIFFUSION_FLAT_RESUME);
}

void diffusion_flat_stage(diffusion_flat_work *w, int stage, const diffusion_moment *moment) {
  if (w->method.stage[stage].forward) rows(w, w->step, 1, moment);
  columns(w, stage);
}

void diffusion_flat_accept(diffusion_flat_work *w) {
  const sim_buffer old = w->array[U];
  w->array[U] = w->array[DIFFUSION_NEXT];
  w->array[DIFFUSION_NEXT] = old;
  w->sums.array[U] = w->array[U].data;
  w->sums.array[DIFFUSION_NEXT] = old.data;
}

void diffusion_flat_store(diffusion_flat_work *w) { rows(w, w->store, w->fields, &(diffusion_moment){0}); }
