#include "kernels/diffusion/cuda/axes/axes.h"

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/axes/product.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

static bool serves(int64_t n) { return n == 256 || n == 512 || n == 1024; }

bool diffusion_axes_fit(const diffusion_parameters *p) {
  const diffusion_grid grid = diffusion_grid_of(p);
  const int fields = (int)p->fields.count;
  if (grid.rank < 2 || grid.apart || fields > DIFFUSION_AXES_FIELDS || !p->rates || !diffusion_single(p) ||
      diffusion_unfolded(p) || diffusion_crossed(p) ||
      (p->integrate.scheme != DIFFUSION_LIE && p->integrate.scheme != DIFFUSION_STRANG) ||
      diffusion_gradients_of(p).count > 0 || !sim_cuda_overlaps())
    return false;
  for (int f = 0; f < fields; f++)
    if (diffusion_species_of(p, f)->fluctuation > 0) return false;
  for (int a = 0; a < grid.rank; a++)
    if (!serves(grid.n[a])) return false;
  return diffusion_is_product(p);
}

/* ---- tables ---- */

static int64_t factors_of_axis(const diffusion_grid *grid, int axis) {
  return axis >= grid->rank ? 0 : grid->kind[axis] == FFT_PERIODIC ? grid->n[axis] : 4 * grid->n[axis];
}

static int64_t all_factors(const diffusion_grid *grid) {
  int64_t sum = 0;
  for (int a = 0; a < 3; a++) sum += factors_of_axis(grid, a);
  return sum;
}

/* Like all_factors a multiple of 4, for they are read by four. */
static int64_t all_turns(const diffusion_grid *grid) {
  int64_t sum = 0;
  for (int a = 0; a < grid->rank; a++) sum += 2 * grid->n[a];
  return sum;
}

double diffusion_axes_bytes(const diffusion_parameters *p) {
  const diffusion_grid grid = diffusion_grid_of(p);
  return sizeof(float) * ((double)all_turns(&grid) + (double)p->fields.count * (double)all_factors(&grid));
}

/* Of coefficient k: the sine one is of wavenumber n - k. */
static double coefficient(const diffusion_filling *filling, int axis, int64_t k) {
  const diffusion_grid *grid = &filling->grid;
  const int64_t n = grid->n[axis];
  const double share =
      axis == 0 ? diffusion_product_whole(filling) * (double)grid->n[1] * (double)grid->n[2] : 1.0 / (double)n;
  const int64_t mode = grid->kind[axis] == FFT_SINE ? n - k : grid->kind[axis] == FFT_PERIODIC && 2 * k > n ? n - k : k;
  return share * diffusion_product_factor(filling, axis, mode);
}

static void put_factors(const diffusion_filling *filling, int axis, float *at) {
  const int64_t n = filling->grid.n[axis];
  for (int64_t k = 0; k < n; k++) {
    const double e = coefficient(filling, axis, k);
    if (filling->grid.kind[axis] == FFT_PERIODIC) {
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
  const diffusion_grid grid = diffusion_grid_of(p);
  for (int a = 0; a < grid.rank; host += 2 * grid.n[a++]) diffusion_line_turns(host, grid.n[a]);
  for (int f = 0; f < (int)p->fields.count; f++) {
    diffusion_filling filling;
    SIM_TRY(diffusion_product_begin(p, f, dt, &filling));
    for (int a = 0; a < grid.rank; host += factors_of_axis(&grid, a++)) put_factors(&filling, a, host);
    diffusion_filling_end(&filling);
  }
  return SIM_OK;
}

sim_status diffusion_axes_create(const diffusion_parameters *p, double dt, float *field, float *real,
                                 diffusion_by_axes **out) {
  const diffusion_grid grid = diffusion_grid_of(p);
  const size_t bytes = (size_t)diffusion_axes_bytes(p);
  diffusion_by_axes *w = *out = calloc(1, sizeof *w);
  float *host = calloc(1, bytes);
  sim_status status = w && host ? fill(p, dt, host) : sim_no_memory("the scheme's tables");
  if (status == SIM_OK) status = sim_backend_cuda.alloc(bytes, &w->tables);
  if (status == SIM_OK) status = sim_backend_cuda.copy(w->tables, host, bytes);
  free(host);
  if (status != SIM_OK) {
    diffusion_axes_destroy(out);
    return status;
  }
  w->rank = grid.rank;
  w->fields = (int)p->fields.count;
  diffusion_axes *g = &w->given;
  *g = (diffusion_axes){.field = field, .real = real, .cells = grid.n[0] * grid.n[1] * grid.n[2]};
  const float *turns = w->tables, *factors = turns + all_turns(&grid);
  for (int a = 0; a < 3; a++) {
    w->n[a] = (int)grid.n[a];
    g->n[a] = grid.n[a];
    g->size[a] = a < grid.rank ? grid.size[a] : 0;
    g->turns[a] = turns;
    g->factors[a] = factors;
    if (a < grid.rank) turns += 2 * grid.n[a];
    factors += factors_of_axis(&grid, a);
  }
  g->all_factors = all_factors(&grid);
  return SIM_OK;
}

void diffusion_axes_destroy(diffusion_by_axes **axes) {
  if (!*axes) return;
  sim_backend_cuda.free((*axes)->tables);
  free(*axes);
  *axes = NULL;
}

/* ---- kernels ---- */

static int columns_threads(int n) { return n / 32 * AXES_WIDE(n / 32); }
static size_t columns_bytes(int n) { return (size_t)(AXES_WIDE(n / 32) * AXES_PITCH(n / 32)) * 8; }
static size_t rows_bytes(int n) {
  return (size_t)AXES_ROWS / ((size_t)n / 32) * (size_t)(n + 64 + (n == 256 ? 8 : 0)) * 8; /* line_pitch() */
}

void diffusion_axes_write(const diffusion_parameters *p, diffusion_programs *programs) {
  static const char include[] = "#include \"kernels/diffusion/cuda/axes/passes.cuh\"\n";
  const diffusion_grid grid = diffusion_grid_of(p);
  const int n[3] = {(int)grid.n[0], (int)grid.n[1], (int)grid.n[2]};
  const int kind[3] = {(int)grid.kind[0], (int)grid.kind[1], (int)grid.kind[2]};
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

static sim_status find(const sim_module *module, const char *name, size_t bytes, void **out) {
  SIM_TRY(sim_module_kernel(module, name, out));
  const cudaError_t error = cudaFuncSetAttribute(*out, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  if (error == cudaSuccess) return SIM_OK;
  (void)cudaGetLastError();
  return sim_fail(SIM_ERR_DEVICE, "cudaFuncSetAttribute (%s): %s", name, cudaGetErrorString(error));
}

sim_status diffusion_axes_kernels(diffusion_by_axes *w, const sim_module *module, bool twice) {
  SIM_TRY(find(module, "diffusion_rows_once", rows_bytes(w->n[0]), &w->once));
  if (twice) SIM_TRY(find(module, "diffusion_rows_twice", rows_bytes(w->n[0]), &w->twice));
  SIM_TRY(find(module, "diffusion_columns_y", columns_bytes(w->n[1]), &w->columns[1]));
  if (w->rank > 2) SIM_TRY(find(module, "diffusion_columns_z", columns_bytes(w->n[2]), &w->columns[2]));
  SIM_TRY(sim_module_kernel(module, "diffusion_axes_load", &w->load));
  return sim_module_kernel(module, "diffusion_axes_store", &w->store);
}

/* ---- launches ---- */

static void launch(const diffusion_by_axes *w, const sim_kernel *kernel, void *function, dim3 grid, int threads,
                   size_t shared, void **arguments) {
  sim_cuda_begin(kernel);
  sim_cuda_failed(
      cudaLaunchKernel(function, grid, (dim3){(unsigned)threads, 1, 1}, arguments, shared, sim_cuda_stream()),
      "cudaLaunchKernel", kernel->name);
  sim_cuda_end(kernel, 8 * w->fields * (double)w->given.cells);
}

static void move(diffusion_by_axes *w, void *function) {
  static const sim_kernel kernel = {"diffusion_axes_move", "output", SIM_LIMIT_BYTES};
  enum { THREADS = 256 };
  void *arguments[] = {&w->given};
  launch(w, &kernel, function, (dim3){(unsigned)((w->given.cells + THREADS - 1) / THREADS), (unsigned)w->fields, 1},
         THREADS, 0, arguments);
}

void diffusion_axes_load(diffusion_by_axes *w) { move(w, w->load); }
void diffusion_axes_store(diffusion_by_axes *w) { move(w, w->store); }

void diffusion_axes_step(diffusion_by_axes *w, const diffusion_moment *moment) {
  static const sim_kernel rows = {"diffusion_rows", "rows", SIM_LIMIT_BYTES};
  static const sim_kernel columns = {"diffusion_columns", "columns", SIM_LIMIT_BYTES};
  const int *n = w->n;
  diffusion_moment m = *moment;
  void *arguments[] = {&w->given, &m.t, &m.h};
  launch(w, &rows, m.times == 2 ? w->twice : w->once,
         (dim3){(unsigned)(w->given.cells / n[0] / 2 / (AXES_ROWS / (n[0] / 32))), 1, 1}, AXES_ROWS, rows_bytes(n[0]),
         arguments);
  for (int a = 1; a < w->rank; a++)
    launch(w, &columns, w->columns[a],
           (dim3){(unsigned)(n[0] / 2 / AXES_WIDE(n[a] / 32)), (unsigned)n[3 - a], (unsigned)w->fields},
           columns_threads(n[a]), columns_bytes(n[a]), arguments);
}
