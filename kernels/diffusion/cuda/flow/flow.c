/* The ways for flows: rates that read derivatives and derived fields, and vectors without divergence. A stage takes two
 * passes over memory on two axes and four on three. Supports up to four fields and eight inputs of the rates on
 * periodic axes of 256 to 4096 cells (three axes: 1024, along z 512, as 1024 there has not been seen to work), powers
 * of two, in single precision, with a real linear part that is even in each wavenumber, and steps that no error
 * estimate chooses. */
#include "kernels/diffusion/cuda/flow/flow.cuh"

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/work.h"
#include "kernels/diffusion/modes.cuh"

#include <stdlib.h>

enum { MOST_FIELDS = 4, MOST_INPUTS = 8 };
enum { PART_BYTES = 40 << 20 }; /* of the numbers of a part of planes; INT_MAX: one part */
enum { VISIT_LOAD = DIFFUSION_STAGES, VISIT_RESUME, VISIT_STORE, VISITS }; /* passes beyond the method's stages */
enum { STEP, LOAD, STORE, ROWS };                                          /* modes of flow/rows.cuh */

/* Constants of flow/flow.cuh, and the threads of a block. */
typedef struct shape {
  int axes, n[3], kx, wide, tx, ky, ky_low, deep, ty, slab, planes, low, group;
  int fields, values, value[DIFFUSION_FIELDS]; /* value: fields whose values the rates read */
  int reads;                                   /* inputs of the rates */
  int rows, columns;                           /* rows, and columns, of a thread block */
  int64_t rowed, deeped;                       /* complex numbers of a field by rows and by columns */
} shape;

typedef struct diffusion_flow_work {
  shape shape;
  diffusion_flow given;
  sim_buffer other; /* by rows: on two axes the rates, on three the inputs and the rates of a part of planes */
  void *turns;      /* device memory, twiddle factors */
  void *rows[ROWS], *forward, *inverse, *visit[VISITS]; /* cudaKernel_t */
} diffusion_flow_work;

/* ---- sizes ---- */

/* Returns the number of wavenumbers 0, 1, ... of an axis that dealiasing keeps. */
static int kept_of(const diffusion_parameters *p, int64_t n) {
  int kept = 1;
  while (kept <= n / 2 && diffusion_mode_kept(kept, n, 1, diffusion_dealias(&p->integrate))) kept++;
  return kept;
}

/* The most numbers of a cell between two passes. */
static int most_of(const shape *s) { return s->reads > s->fields ? s->reads : s->fields; }

/* Numbers of the threads' lines in registers: of rows, two inputs or rates are one. */
static int lines_of(const shape *s) { return (most_of(s) + 1) / 2; }

/* Sets the tiles: as many neighbouring numbers as the registers of a thread block allow. */
static void set_tiles(shape *s) {
  const int last = s->n[s->axes - 1];
  if (s->axes == 2) {
    const bool long_rows = s->n[0] > 2048 && lines_of(s) <= 2;
    s->wide = last <= 1024 ? 4 : last <= 2048 || s->fields <= 2 ? 2 : 1;
    s->deep = s->slab = 1;
    s->rows = (long_rows ? 512 : 256) * 16 / s->n[0];
  } else {
    s->wide = 4;
    s->deep = last <= 256 ? 2 : 1;
    s->slab = s->n[1] <= 512 ? 4 : 2; /* lines along y for which a thread block has registers */
    s->rows = 128 * 16 / s->n[0];
  }
  s->columns = s->wide * s->deep;
}

/* Returns the planes of a part: the passes along x and y go from part to part, so that what they give each other stays
 * in the level 2 cache. */
static int planes_of(const shape *s) {
  const int64_t plane = 8LL * most_of(s) * s->tx * s->n[1] * s->wide;
  int planes = s->n[2];
  while (planes > s->slab && planes * plane > PART_BYTES) planes /= 2;
  return planes;
}

static shape shape_of(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  shape s = {.axes = grid.rank, .fields = (int)p->fields.count, .ky = 1, .ky_low = 1};
  for (int a = 0; a < 3; a++) s.n[a] = (int)grid.n[a];
  for (int f = 0; f < s.fields; f++)
    if (diffusion_cuda_reads_values(p, f)) s.value[s.values++] = f;
  s.reads = s.values + diffusion_gradients_of(p).count;
  s.group = s.axes == 2 && s.reads > 1 ? 2 : 1;
  set_tiles(&s);
  s.kx = kept_of(p, s.n[0]);
  s.low = kept_of(p, s.n[s.axes - 1]);
  if (s.axes == 3) {
    s.ky_low = kept_of(p, s.n[1]);
    s.ky = 2 * s.ky_low > s.n[1] ? s.n[1] : 2 * s.ky_low - 1;
  }
  s.tx = (s.kx + s.wide - 1) / s.wide;
  s.ty = (s.ky + s.deep - 1) / s.deep;
  s.planes = planes_of(&s);
  s.rowed = (int64_t)s.planes * s.tx * s.n[1] * s.wide;
  s.deeped = (int64_t)s.tx * s.ty * s.n[s.axes - 1] * s.columns;
  return s;
}

/* Return the complex numbers of array [0] and of the other one. */
static int64_t first_of(const shape *s) {
  const int inputs = (s->reads + s->group - 1) / s->group * s->group;
  return s->axes == 3 ? most_of(s) * s->deeped : (inputs > s->fields ? inputs : s->fields) * s->rowed;
}
static int64_t other_of(const shape *s) { return (s->axes == 3 ? most_of(s) : s->fields) * s->rowed; }

static int64_t entries_of(const shape *s) { return (s->n[s->axes - 1] / 512 + 1) * 256; }
static int64_t table_of(const shape *s) { return (int64_t)s->tx * s->ty * s->columns * entries_of(s); }

static bool supports(const diffusion_parameters *p, int axes) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_gradients read = diffusion_gradients_of(p);
  if (grid.rank != axes || !p->rates || (int)p->fields.count > MOST_FIELDS || p->members > 1 || !diffusion_single(p) ||
      !sim_cuda_overlaps())
    return false;
  if ((read.count == 0 && !read.solenoidal) || read.fluxes > 0 || diffusion_unfolded(p) || diffusion_crossed(p) ||
      diffusion_fluctuates(p) || diffusion_forced(p) != 0 || diffusion_estimates(p) ||
      diffusion_method_of(p)->arrays == 0 || diffusion_method_of(p)->stages == 0)
    return false;
  for (int a = 0; a < axes; a++)
    if (grid.boundary[a] != GRID_PERIODIC || grid.n[a] < 256 ||
        grid.n[a] > (axes == 2 ? 4096
                     : a == 2  ? 512
                               : 1024) ||
        (grid.n[a] & (grid.n[a] - 1)))
      return false;
  const shape s = shape_of(p);
  return s.reads > 0 && s.reads <= MOST_INPUTS;
}
static bool supports_planes(const diffusion_parameters *p) { return supports(p, 2); }
static bool supports_boxes(const diffusion_parameters *p) { return supports(p, 3); }

static void plan(const diffusion_parameters *p, sim_plan *out) {
  const shape s = shape_of(p);
  const diffusion_method *method = diffusion_cuda_method_of(p);
  const double field = 8.0 * (double)s.deeped, slots = diffusion_adaptive(p) ? DIFFUSION_SLOTS : 1;
  sim_plan_add(out, "fields and derivatives, transformed", 8.0 * (double)(first_of(&s) + other_of(&s)));
  sim_plan_add(out, "arrays of the scheme", s.fields * field * method->arrays);
  sim_plan_add(out, "tables of the scheme", s.fields * 4.0 * (double)table_of(&s) * method->tables * slots);
  out->checkpoint_bytes = s.fields * field;
  out->work_rate_guess = 5e10 / method->stages;
}

/* ---- memory ---- */

static sim_status create(diffusion_work *w) {
  diffusion_flow_work *f = w->own.flow = calloc(1, sizeof *f);
  if (!f) return sim_no_memory("the scheme's tables");
  const shape s = f->shape = shape_of(w->p);
  /* rank 4, with the 2 of complex numbers before the last: no checkpoint of another way has this shape */
  const int64_t state[] = {s.fields, s.tx * s.ty, 2, s.n[s.axes - 1] * s.columns};
  w->method = *diffusion_cuda_method_of(w->p);
  w->scale = diffusion_cuda_scale(&w->grid);
  w->spectrum = (diffusion_spectrum){.n = {s.columns, s.n[s.axes - 1], state[1]},
                                     .field = s.deeped,
                                     .table = {s.columns, entries_of(&s), state[1]},
                                     .tables = table_of(&s),
                                     .wide = s.wide,
                                     .across = s.ty,
                                     .kept = s.ky,
                                     .low = s.ky_low};
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, SIM_F32, 2, (int64_t[]){first_of(&s), 2}, &w->array[0]));
  SIM_TRY(sim_buffer_create(&sim_backend_cuda, SIM_F32, 2, (int64_t[]){other_of(&s), 2}, &f->other));
  for (int a = 1; a <= w->method.arrays; a++)
    SIM_TRY(sim_buffer_create(&sim_backend_cuda, SIM_F32, 4, state, &w->array[a]));
  f->given = (diffusion_flow){.real = w->real.data, .rowed = s.rowed, .deep = s.deeped, .cells = w->natural.field};
  for (int a = 0; a < 3; a++) f->given.size[a] = a < s.axes ? w->grid.size[a] : 0;
  SIM_TRY(diffusion_flat_turns(s.axes, w->grid.n, &f->turns, f->given.turns));
  return diffusion_cuda_take_tables(w);
}

static void destroy(diffusion_work *w) {
  if (!w->own.flow) return;
  sim_buffer_destroy(&w->own.flow->other);
  sim_backend_cuda.free(w->own.flow->turns);
  free(w->own.flow);
}

/* ---- kernels ---- */

static int row_threads(const shape *s) { return s->rows * s->n[0] / 16; }
static int column_threads(const shape *s) { return s->columns * s->n[s->axes - 1] / 16; }
static int middle_threads(const shape *s) { return s->wide * s->slab * s->n[1] / 16; }

/* Writes the launch bounds: blocks of a multiprocessor that have `registers` a thread. */
static void write_bounds(int threads, int registers, sim_bytes *text) {
  const int blocks = 65536 / (threads * registers);
  sim_bytes_format(text, "extern \"C\" __global__ void __launch_bounds__(%d, %d)\n", threads, blocks > 1 ? blocks : 1);
}

static void write_shape(const shape *s, sim_bytes *text) {
  sim_bytes_format(text,
                   "struct scenario_shape {\n"
                   "  enum { NX = %d, NY = %d, NZ = %d, KX = %d, WIDE = %d, TX = %d, KY = %d, KY_LOW = %d, DEEP = %d,\n"
                   "         TY = %d, SLAB = %d, LOW = %d, GROUP = %d };\n"
                   "};\n",
                   s->n[0], s->n[1], s->n[2], s->kx, s->wide, s->tx, s->ky, s->ky_low, s->deep, s->ty, s->slab, s->low,
                   s->group);
}

static void write_rows(const shape *s, int mode, diffusion_programs *programs) {
  static const char *const names[] = {"step", "load", "store"}, *const modes[] = {"STEP", "LOAD", "STORE"};
  sim_bytes *text = diffusion_programs_add(programs, mode == STEP);
  sim_bytes_text(text, "#include \"kernels/diffusion/cuda/flow/rows.cuh\"\n");
  write_shape(s, text);
  sim_bytes_format(text,
                   "struct scenario_reads {\n"
                   "  enum { FIELDS = %d, READS = %d };\n"
                   "  __device__ static constexpr int value(int field) {\n",
                   s->fields, s->reads);
  for (int i = 0; i < s->values; i++) sim_bytes_format(text, "    if (field == %d) return %d;\n", s->value[i], i);
  sim_bytes_text(text, "    return -1;\n  }\n};\n");
  write_bounds(row_threads(s), mode == STEP && lines_of(s) > 3 ? 255 : 128, text);
  sim_bytes_format(
      text,
      "    diffusion_rows_%s(const diffusion_flow g, const float2 *from, float2 *to, double t, double h) {\n"
      "  flow_rows_of<scenario_shape, %s, ",
      names[mode], mode == STEP ? "scenario_rates" : "no_rates");
  if (mode == STEP)
    sim_bytes_text(text, "scenario_reads");
  else
    sim_bytes_format(text, "flow_fields_alone<%d>", s->fields);
  sim_bytes_format(text, ", %d, %d, FLOW_%s>(g, from, to, t, h);\n}\n", s->fields, s->rows, modes[mode]);
}

static void write_middle(const shape *s, diffusion_programs *programs) {
  sim_bytes *text = diffusion_programs_add(programs, false);
  sim_bytes_text(text, "#include \"kernels/diffusion/cuda/flow/middle.cuh\"\n");
  write_shape(s, text);
  for (int forward = 0; forward < 2; forward++)
    sim_bytes_format(text,
                     "extern \"C\" __global__ void __launch_bounds__(%d)\n"
                     "    diffusion_%s(const diffusion_flow g, const float2 *from, float2 *to) {\n"
                     "  flow_middle_of<scenario_shape, %s>(g, from, to);\n"
                     "}\n",
                     middle_threads(s), forward ? "forward" : "inverse", forward ? "true" : "false");
}

static sim_status write_visit(const diffusion_work *w, const diffusion_stage *stage, int number, unsigned dropped,
                              const shape *s, diffusion_programs *programs) {
  const bool shows = number == VISIT_STORE;
  sim_bytes *text = diffusion_programs_add(programs, false);
  SIM_TRY(sim_expr_emit_prelude(text));
  sim_bytes_text(text, "#include \"kernels/diffusion/cuda/general/flows.cuh\"\n");
  write_shape(s, text);
  SIM_TRY(diffusion_cuda_write_inputs(w, s->value, s->values, text));
  sim_bytes_format(text, "#include \"kernels/diffusion/cuda/flow/columns.cuh\"\nstruct visit_%d {\n", number);
  diffusion_cuda_write_split_sums(stage, dropped, text);
  sim_bytes_text(text, "};\n");
  write_bounds(column_threads(s), s->fields <= 2 ? 128 : s->fields == 3 ? 168 : 255, text);
  sim_bytes_format(text,
                   "    diffusion_columns_%d(const diffusion_flow g, const diffusion_sums s, const float2 *from,\n"
                   "                         float2 *to) {\n"
                   "  flow_columns_of<scenario_shape, %s, visit_%d, %d, %s, %s>(g, s, from, to);\n"
                   "}\n",
                   number, shows ? "flow_shown<scenario_flow>" : "scenario_flow", number, shows ? 1 : s->group,
                   stage->forward ? "true" : "false", stage->inverse ? "true" : "false");
  return SIM_OK;
}

static void write(const diffusion_work *w, diffusion_programs *programs) {
  const shape s = shape_of(w->p);
  const diffusion_method *method = diffusion_cuda_method_of(w->p);
  const diffusion_stage load = diffusion_cuda_load_stage(1), resume = diffusion_cuda_resume_stage(1);
  sim_status status = SIM_OK;
  for (int mode = 0; mode < ROWS; mode++) write_rows(&s, mode, programs);
  if (s.axes == 3) write_middle(&s, programs);
  for (int i = 0; i < method->stages && status == SIM_OK; i++)
    status = write_visit(w, &method->stage[i], i, diffusion_cuda_dropped(w->p, i), &s, programs);
  if (status == SIM_OK) status = write_visit(w, &load, VISIT_LOAD, 0, &s, programs);
  if (status == SIM_OK) status = write_visit(w, &resume, VISIT_RESUME, 0, &s, programs);
  if (status == SIM_OK) status = write_visit(w, &resume, VISIT_STORE, 0, &s, programs);
  if (status != SIM_OK) programs->plain.failed = true;
}

static size_t row_bytes(const shape *s) { return 8 * (size_t)(s->rows * diffusion_flat_pitch(s->n[0], s->rows)); }
static size_t middle_bytes(const shape *s) {
  const int lines = s->wide * s->slab;
  return 8 * (size_t)(lines * diffusion_flat_pitch(s->n[1], lines));
}
static size_t column_bytes(const shape *s) {
  return 8 * (size_t)(s->columns * diffusion_flat_pitch(s->n[s->axes - 1], s->columns));
}

static sim_status find(diffusion_work *w) {
  static const char *const rows[] = {"diffusion_rows_step", "diffusion_rows_load", "diffusion_rows_store"};
  diffusion_flow_work *f = w->own.flow;
  const shape *s = &f->shape;
  for (int mode = 0; mode < ROWS; mode++)
    SIM_TRY(diffusion_programs_find(w->module, rows[mode], row_bytes(s), 1, &f->rows[mode]));
  if (s->axes == 3) {
    SIM_TRY(diffusion_programs_find(w->module, "diffusion_forward", middle_bytes(s), 1, &f->forward));
    SIM_TRY(diffusion_programs_find(w->module, "diffusion_inverse", middle_bytes(s), 1, &f->inverse));
  }
  for (int v = 0; v < VISITS; v++) {
    char name[] = "diffusion_columns_0";
    if (v >= w->method.stages && v < VISIT_LOAD) continue;
    name[sizeof name - 2] = (char)('0' + v);
    SIM_TRY(diffusion_programs_find(w->module, name, column_bytes(s), 1, &f->visit[v]));
  }
  return diffusion_cuda_derives(w) ? diffusion_cuda_check_derived(w) : SIM_OK;
}

/* ---- launches ---- */

/* Array [0] has the inputs of the rates; on three axes by columns, and the rates take their places. */
static void rows(diffusion_work *w, int mode, int plane, const diffusion_step_context *context) {
  static const sim_kernel kernel = {"diffusion_rows", "rows", SIM_LIMIT_BYTES};
  diffusion_flow_work *f = w->own.flow;
  const shape *s = &f->shape;
  void *from = s->axes == 3 ? f->other.data : w->array[0].data, *to = f->other.data;
  const unsigned grid[] = {(unsigned)((int64_t)s->n[1] * s->planes / s->rows), 1, 1};
  const double columns = (mode == STEP ? s->reads : mode == STORE ? s->fields : 0) + (mode == STORE ? 0 : s->fields);
  diffusion_flow given = f->given;
  diffusion_step_context m = *context;
  void *arguments[] = {&given, &from, &to, &m.t, &m.h};
  given.plane = plane;
  diffusion_cuda_launch_early(&kernel, 8 * columns * (double)s->rowed, f->rows[mode], grid, row_threads(s),
                              row_bytes(s), arguments);
}

static void middle(diffusion_work *w, bool forward, int plane, int fields) {
  static const sim_kernel kernels[] = {{"diffusion_inverse", "middle", SIM_LIMIT_BYTES},
                                       {"diffusion_forward", "middle", SIM_LIMIT_BYTES}};
  diffusion_flow_work *f = w->own.flow;
  const shape *s = &f->shape;
  void *columns = w->array[0].data, *rows = f->other.data;
  const unsigned grid[] = {(unsigned)(s->planes / s->slab), (unsigned)s->tx, (unsigned)fields};
  const double numbers = s->rowed + (double)s->deeped * s->planes / s->n[2];
  diffusion_flow given = f->given;
  void *arguments[] = {&given, forward ? &rows : &columns, forward ? &columns : &rows};
  given.plane = plane;
  diffusion_cuda_launch_early(&kernels[forward], 8.0 * fields * numbers, forward ? f->forward : f->inverse, grid,
                              middle_threads(s), middle_bytes(s), arguments);
}

/* The passes along x, and on three axes along y, of all parts: from inputs to rates by columns, from real fields
 * (LOAD), or to them (STORE). */
static void parts(diffusion_work *w, int mode, const diffusion_step_context *context) {
  const shape *s = &w->own.flow->shape;
  for (int plane = 0; plane < s->n[2]; plane += s->planes) {
    if (s->axes == 3 && mode != LOAD) middle(w, false, plane, mode == STEP ? s->reads : s->fields);
    rows(w, mode, plane, context);
    if (s->axes == 3 && mode != STORE) middle(w, true, plane, s->fields);
  }
}

static sim_status columns(diffusion_work *w, int visit) {
  static const sim_kernel kernel = {"diffusion_columns", "columns", SIM_LIMIT_BYTES};
  diffusion_flow_work *f = w->own.flow;
  const shape *s = &f->shape;
  const int reads = visit == VISIT_STORE ? s->fields : s->reads;
  void *to = w->array[0].data, *from = s->axes == 3 ? to : f->other.data;
  diffusion_sums sums = diffusion_cuda_sums(w);
  const unsigned grid[] = {(unsigned)(s->tx * s->ty), 1, 1};
  void *arguments[] = {&f->given, &sums, &from, &to};
  const double arrays = w->method.arrays + 1; /* estimate of the arrays read and written */
  diffusion_cuda_launch_early(&kernel, 8 * ((arrays + 1) * s->fields + reads) * (double)s->deeped, f->visit[visit],
                              grid, column_threads(s), column_bytes(s), arguments);
  return sim_queue_cuda.status();
}

static sim_status load(diffusion_work *w) {
  parts(w, LOAD, &(diffusion_step_context){0});
  return columns(w, VISIT_LOAD);
}

static sim_status resume(diffusion_work *w) { return columns(w, VISIT_RESUME); }

static sim_status stage(diffusion_work *w, int index, const diffusion_step_context *context) {
  if (w->method.stage[index].forward) parts(w, STEP, context);
  return columns(w, index);
}

/* Writes the real fields over the inputs of the next rates, which the state gives again. */
static sim_status store(diffusion_work *w) {
  SIM_TRY(columns(w, VISIT_STORE));
  parts(w, STORE, &(diffusion_step_context){0});
  return resume(w);
}

/* The two ways, which differ in their number of axes. */
#define FLOW_WAY(title, serves)                                                                                        \
  {                                                                                                                    \
    .name = (title), .fill = "fill_flow", .in_registers = true, .supports = (serves), .plan = plan, .create = create,  \
    .destroy = destroy, .write = write, .find = find, .load = load, .resume = resume, .stage = stage, .store = store   \
  }
const diffusion_way diffusion_way_flow_planes = FLOW_WAY("two passes a stage of a flow", supports_planes);
const diffusion_way diffusion_way_flow_boxes = FLOW_WAY("four passes a stage of a flow", supports_boxes);
