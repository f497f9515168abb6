/* The way `fused`: two passes over memory a step. Supports one or two fields in single precision on a periodic grid
 * with axes of 256, 512 or 1024 cells, a split scheme, and a multiplier that is a product of one factor for each axis.
 * Between steps array [0] is mixed, in the order of fused/planes.cuh. Where all three axes have 1024 cells the way
 * `axes` is faster. */
#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/fused/fused.cuh"
#include "kernels/diffusion/cuda/product.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = 2 };

typedef struct diffusion_fused_work {
  int n[3], cluster, fields;
  diffusion_fused given[2][MOST_FIELDS]; /* parameters of a load, and of a step */
  diffusion_map map[MOST_FIELDS];
  void *once, *twice, *load, *store, *columns; /* cudaKernel_t */
  void *tables;
} diffusion_fused_work;

static bool supports(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  if (grid.rank != 3) return false;
  for (int a = 0; a < 3; a++)
    if (grid.boundary[a] != GRID_PERIODIC || (grid.n[a] != 256 && grid.n[a] != 512 && grid.n[a] != 1024)) return false;
  if (p->fields.count > 1 && grid.n[0] > 512) return false;    /* too few registers */
  if (grid.n[0] + grid.n[1] + grid.n[2] == 3072) return false; /* the way `axes` is faster there */
  return diffusion_product_supports(p);
}

/* ---- tables ---- */

/* Sizes in floats, all multiples of 4: twiddle factors, then for each field ex, ey, ez of a load and of a step. */
typedef struct layout {
  size_t factors, turns_y, turns_z, first, total;
} layout;

static layout layout_of(const int64_t n[3], int fields) {
  layout l = {.factors = (size_t)(n[0] / 2 + n[1] + n[2])};
  l.turns_z = 2 * (size_t)n[0]; /* 16 (n / 32) float4 */
  l.turns_y = l.turns_z + 2 * (size_t)n[2];
  l.first = l.turns_y + 2 * (size_t)n[1];
  l.total = l.first + 2 * (size_t)fields * l.factors;
  return l;
}

static void plan(const diffusion_parameters *p, sim_plan *out) {
  const grid_shape grid = diffusion_grid_of(p);
  diffusion_product_plan(p, (double)layout_of(grid.n, (int)p->fields.count).total * sizeof(float), out);
}

/* Computes the factors of the multiplier. The factor 1/2 makes up for the separation of rows, which omits it. */
static void factors_of(const diffusion_filling *filling, bool of_step, float *at) {
  const int64_t *n = filling->grid.n;
  const double whole = diffusion_product_whole(filling);
  for (int64_t k = 0; k < n[0] / 2; k++)
    *at++ = (float)(0.5 * (of_step ? whole * diffusion_product_factor(filling, 0, k) : filling->scale));
  for (int a = 1; a < 3; a++)
    for (int64_t k = 0; k < n[a]; k++)
      *at++ = of_step ? (float)diffusion_product_factor(filling, a, 2 * k > n[a] ? k - n[a] : k) : 1;
}

static sim_status field_tables(diffusion_fused_work *w, const diffusion_parameters *p, double dt, int field,
                               const layout *l, float *host) {
  diffusion_filling filling;
  SIM_TRY(diffusion_product_begin(p, field, dt, &filling));
  const grid_shape *grid = &filling.grid;
  const float *device = w->tables;
  for (int of_step = 0; of_step < 2; of_step++) {
    const size_t at = l->first + (size_t)(2 * field + of_step) * l->factors;
    diffusion_fused *given = &w->given[of_step][field];
    factors_of(&filling, of_step, host + at);
    given->turns_x = device;
    given->turns_z = device + l->turns_z;
    given->turns_y = device + l->turns_y;
    given->ex = device + at;
    given->ey = given->ex + grid->n[0] / 2;
    given->ez = given->ey + grid->n[1];
    given->nz = grid->n[2];
    given->field = grid->n[0] * grid->n[1] * grid->n[2];
    given->nyquist[0] = 1;
    for (int a = 0; a < 3; a++) given->size[a] = grid->size[a];
  }
  w->given[1][0].nyquist[field] = (float)diffusion_product_factor(&filling, 0, grid->n[0] / 2);
  diffusion_filling_end(&filling);
  return SIM_OK;
}

static sim_status make_tables(diffusion_fused_work *w, const diffusion_parameters *p, double dt) {
  const int64_t n[3] = {w->n[0], w->n[1], w->n[2]};
  const layout l = layout_of(n, w->fields);
  float *host = malloc(l.total * sizeof *host);
  if (!host) return sim_no_memory("the scheme's tables");
  sim_status status = sim_backend_cuda.alloc(l.total * sizeof *host, &w->tables);
  diffusion_line_turns(host, n[0]);
  diffusion_line_turns(host + l.turns_z, n[2]);
  for (int64_t k = 0; k < n[1]; k++) diffusion_turn(host + l.turns_y + 2 * k, k, n[1]);
  for (int f = 0; status == SIM_OK && f < w->fields; f++) status = field_tables(w, p, dt, f, &l, host);
  if (status == SIM_OK) status = sim_backend_cuda.copy(w->tables, host, l.total * sizeof *host);
  free(host);
  return status;
}

/* ---- tiles ---- */

/* Returns the number of thread blocks that hold a tile of columns: one where the tile is small, else enough for four
 * tiles on a multiprocessor, or 16. */
static int cluster_of(const int n[3]) {
  const int tile = n[1] / 32 * n[2] * COLUMNS_WIDE * 8;
  return tile <= 65536 ? 1 : tile <= 524288 ? tile / 32768 : 16;
}
static int columns_threads(const int n[3]) { return n[1] / 32 * COLUMNS_WIDE / cluster_of(n) * (n[2] / 32); }
static int pitch(int n) { return n + 64 + (n == 256 ? 8 : 0); } /* line_pitch() */
static size_t columns_bytes(const int n[3]) {
  const size_t lines = (size_t)(n[1] / 32 * COLUMNS_WIDE / cluster_of(n));
  return lines * (size_t)pitch(n[2]) * 8 + 8 * (size_t)n[2] + 4 * (size_t)n[2] + 8 * (size_t)n[1] / 32 + 32;
}
static size_t planes_bytes(const int n[3]) { return 16 * (size_t)pitch(n[0]) * 8; }

typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                              const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/* Makes the tensor map over x, z and the rows of a plane. */
static sim_status make_map(diffusion_fused_work *f, float *mixed, diffusion_map *out) {
  void *function = NULL;
  enum cudaDriverEntryPointQueryResult found;
  CUtensorMap map;
  const cuuint64_t dims[] = {(cuuint64_t)f->n[0], (cuuint64_t)f->n[2], (cuuint64_t)f->n[1]};
  const cuuint64_t strides[] = {dims[0] * dims[2] * 4, dims[0] * 4};
  const cuuint32_t box[] = {2 * COLUMNS_WIDE, (cuuint32_t)(f->n[2] / f->cluster), (cuuint32_t)(f->n[1] / 32)};
  const cuuint32_t steps[] = {1, 1, 1};
  _Static_assert(sizeof map == sizeof *out, "a diffusion_map is a CUtensorMap");
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found) !=
          cudaSuccess ||
      !function)
    return sim_fail(SIM_ERR_DEVICE, "the driver lacks cuTensorMapEncodeTiled");
  encode_tiled *encode;
  *(void **)&encode = function;
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, mixed, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) return sim_fail(SIM_ERR_DEVICE, "cuTensorMapEncodeTiled failed with %d", (int)result);
  memcpy(out, &map, sizeof map);
  return SIM_OK;
}

static sim_status create(diffusion_work *w) {
  diffusion_fused_work *f = NULL;
  if (posix_memalign((void **)&f, 64, sizeof *f) != 0) return sim_no_memory("the scheme's tables");
  w->own.fused = f;
  *f = (diffusion_fused_work){.fields = w->fields};
  SIM_TRY(diffusion_product_create(w, (int64_t[]){w->fields, w->grid.n[2], w->grid.n[1], w->grid.n[0]}));
  for (int a = 0; a < 3; a++) f->n[a] = (int)w->grid.n[a];
  f->cluster = cluster_of(f->n);
  SIM_TRY(make_tables(f, w->p, diffusion_dt(&w->p->integrate)));
  for (int i = 0; i < w->fields; i++) {
    const size_t at = (size_t)i * (size_t)w->natural.field;
    float *mixed = w->array[0].data, *real = w->real.data;
    for (int of_step = 0; of_step < 2; of_step++) {
      f->given[of_step][i].mixed = mixed + at;
      f->given[of_step][i].real = real + at;
    }
    SIM_TRY(make_map(f, mixed + at, &f->map[i]));
  }
  return SIM_OK;
}

static void destroy(diffusion_work *w) {
  if (!w->own.fused) return;
  sim_backend_cuda.free(w->own.fused->tables);
  free(w->own.fused);
}

/* ---- kernels ---- */

static void write(const diffusion_work *w, diffusion_programs *programs) {
  const diffusion_parameters *p = w->p;
  const grid_shape grid = diffusion_grid_of(p);
  const int n[3] = {(int)grid.n[0], (int)grid.n[1], (int)grid.n[2]}, columns = columns_threads(n);
  static const struct {
    const char *name, *rates, *mode;
    int times;
  } planes[] = {{"once", "scenario_rates", "STEP", 1},
                {"twice", "scenario_rates", "STEP", 2},
                {"load", "no_rates", "LOAD", 1},
                {"store", "no_rates", "STORE", 1}};
  /* two fields need twice the registers */
  const int step_blocks = p->fields.count > 1 ? 512 / n[0] : n[0] >= 1024 ? 1 : 1024 / n[0];
  for (int i = 0; i < 4; i++)
    if (i != 1 || p->integrate.scheme == DIFFUSION_STRANG)
      sim_bytes_format(diffusion_programs_add(programs, i < 2),
                       "#include \"kernels/diffusion/cuda/fused/planes.cuh\"\n"
                       "extern \"C\" __global__ void __launch_bounds__(%d, %d)\n"
                       "    diffusion_planes_%s(const diffusion_fused g, double t, double h) {\n"
                       "  planes_pass<%s, %d, %d, PLANES_%s, %d>(g, t, h);\n"
                       "}\n",
                       n[0] / 2, i < 2 ? step_blocks : 1, planes[i].name, planes[i].rates, n[0], n[1], planes[i].mode,
                       planes[i].times);
  sim_bytes_format(diffusion_programs_add(programs, false),
                   "#include \"kernels/diffusion/cuda/fused/columns.cuh\"\n"
                   "extern \"C\" __global__ void __launch_bounds__(%d, %d)\n"
                   "    diffusion_columns(const __grid_constant__ diffusion_map map, const diffusion_fused g) {\n"
                   "  columns_pass<%d, %d, %d>(&map, g);\n"
                   "}\n",
                   columns, 512 / columns, n[1], n[2], cluster_of(n));
}

static sim_status find(diffusion_work *w) {
  diffusion_fused_work *f = w->own.fused;
  const sim_module *m = w->module;
  const size_t bytes = planes_bytes(f->n);
  SIM_TRY(diffusion_programs_find(m, "diffusion_planes_once", bytes, 1, &f->once));
  if (w->p->integrate.scheme == DIFFUSION_STRANG)
    SIM_TRY(diffusion_programs_find(m, "diffusion_planes_twice", bytes, 1, &f->twice));
  SIM_TRY(diffusion_programs_find(m, "diffusion_planes_load", bytes, 1, &f->load));
  SIM_TRY(diffusion_programs_find(m, "diffusion_planes_store", bytes, 1, &f->store));
  return diffusion_programs_find(m, "diffusion_columns", columns_bytes(f->n), f->cluster, &f->columns);
}

/* ---- launches ---- */

static double cells(const diffusion_fused_work *f) { return (double)f->n[0] * f->n[1] * f->n[2]; }

static void planes(diffusion_fused_work *w, void *function, const diffusion_fused *given, int fields, double t,
                   double h) {
  static const sim_kernel kernel = {"diffusion_planes", "planes", SIM_LIMIT_BYTES};
  const unsigned grid[] = {(unsigned)(w->n[2] * (w->n[1] / 32)), 1, 1};
  void *arguments[] = {(void *)(uintptr_t)given, &t, &h};
  diffusion_cuda_launch(&kernel, 8 * fields * cells(w), function, grid, w->n[0] / 2, planes_bytes(w->n), arguments);
}

static void columns(diffusion_fused_work *w, bool of_step) {
  static const sim_kernel kernel = {"diffusion_columns", "columns", SIM_LIMIT_BYTES};
  cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeClusterDimension};
  attribute.val.clusterDim.x = (unsigned)w->cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  const cudaLaunchConfig_t config = {
      .gridDim = {(unsigned)(w->cluster * w->n[0] / 2 / COLUMNS_WIDE), 32, 1},
      .blockDim = {(unsigned)columns_threads(w->n), 1, 1},
      .dynamicSmemBytes = columns_bytes(w->n),
      .stream = sim_cuda_stream(),
      .attrs = &attribute,
      .numAttrs = 1,
  };
  for (int f = 0; f < w->fields; f++) {
    void *arguments[] = {&w->map[f], &w->given[of_step][f]};
    sim_cuda_begin(&kernel);
    sim_cuda_failed(cudaLaunchKernelExC(&config, w->columns, arguments), "cudaLaunchKernelExC", kernel.name);
    sim_cuda_end(&kernel, 8 * cells(w));
  }
}

static sim_status load(diffusion_work *w) {
  diffusion_fused_work *f = w->own.fused;
  for (int i = 0; i < w->fields; i++) planes(f, f->load, &f->given[0][i], 1, 0, 0);
  columns(f, false);
  return sim_queue_cuda.status();
}

static sim_status stage(diffusion_work *w, int index, const diffusion_step_context *context) {
  diffusion_fused_work *f = w->own.fused;
  (void)index; /* there is one stage */
  planes(f, context->substeps == 2 ? f->twice : f->once, &f->given[1][0], w->fields, context->t, context->h);
  columns(f, true);
  return sim_queue_cuda.status();
}

static sim_status store(diffusion_work *w) {
  diffusion_fused_work *f = w->own.fused;
  for (int i = 0; i < w->fields; i++) planes(f, f->store, &f->given[0][i], 1, 0, 0);
  return sim_queue_cuda.status();
}

const diffusion_way diffusion_way_fused = {.name = "two passes",
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
