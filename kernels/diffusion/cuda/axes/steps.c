/* Steps of the way `axes`, on one rank and on several. */
#include "kernels/diffusion/cuda/axes/axes.h"

#include "engine/device/cuda.h"

#include <math.h>

int diffusion_axes_columns_threads(int n) { return n / 32 * AXES_WIDE(n / 32); }
size_t diffusion_axes_columns_bytes(int n) { return (size_t)(AXES_WIDE(n / 32) * AXES_PITCH(n / 32)) * 8; }
size_t diffusion_axes_rows_bytes(int n) {
  return (size_t)AXES_ROWS / ((size_t)n / 32) * (size_t)(n + 64 + (n == 256 ? 8 : 0)) * 8; /* line_pitch() */
}
int diffusion_axes_turn_threads(int n) { return n / 32 * AXES_TURN_WIDE; }
size_t diffusion_axes_turn_bytes(int nx, int n) {
  const size_t rows = diffusion_axes_rows_bytes(nx) / AXES_ROWS * (size_t)diffusion_axes_turn_threads(n);
  const size_t columns = (size_t)(AXES_TURN_WIDE * AXES_PITCH(n / 32)) * 8;
  return rows > columns ? rows : columns;
}

/* ---- division among ranks ---- */

diffusion_axes_division diffusion_axes_division_of(const grid_shape *grid, const sim_comm *comm, int rank) {
  const sim_comm of = {.rank = rank, .size = comm->size};
  diffusion_axes_division d;
  size_t end;
  d.z = (int64_t)sim_comm_first(&of, (size_t)grid->n[2], &end);
  d.z_end = (int64_t)end > d.z ? (int64_t)end : d.z;
  d.y = 2 * (int64_t)sim_comm_first(&of, (size_t)grid->n[1] / 2, &end);
  d.y_end = 2 * (int64_t)end > d.y ? 2 * (int64_t)end : d.y;
  return d;
}

int diffusion_axes_chunks(const grid_shape *grid, const sim_comm *comm, int fields) {
  const double ranks = comm->size, sent = 4.0 * fields * grid_cells_wanted(grid) * (ranks - 1) / (ranks * ranks);
  return (int)fmin(16, fmax(4, sent / 50e6));
}

/* Returns the planes or rows of a slab before chunk `chunk`. `all`: of this rank; `most`: of the rank with most. Pairs
 * of rows are not separated. */
static int64_t chunk_begin(int64_t all, int64_t most, int chunk, int chunks) {
  const int64_t begin = 2 * ((most + 1) / 2 * chunk / chunks);
  return begin < all ? begin : all;
}

double diffusion_axes_sent_at_once(const grid_shape *grid, const sim_comm *comm, int fields) {
  const diffusion_axes_division most = diffusion_axes_division_of(grid, comm, 0);
  const int chunks = diffusion_axes_chunks(grid, comm, fields);
  double bytes = 0;
  for (int c = 0; c < chunks; c++) {
    const int64_t planes =
        chunk_begin(most.z_end, most.z_end, c + 1, chunks) - chunk_begin(most.z_end, most.z_end, c, chunks);
    const int64_t rows =
        chunk_begin(most.y_end, most.y_end, c + 1, chunks) - chunk_begin(most.y_end, most.y_end, c, chunks);
    const double lines = fmax((double)(planes * most.y_end), (double)(rows * most.z_end)) * comm->size;
    bytes = fmax(bytes, lines * 4.0 * (double)grid->n[0]);
  }
  return bytes;
}

void diffusion_axes_select(diffusion_work *w, int slab) {
  diffusion_axes_work *a = w->own.axes;
  const bool planes = slab == AXES_BY_PLANES;
  a->at = slab;
  if (!a->turn) return;
  w->array[0].data = a->slab[slab].field;
  w->array[0].shape[1] = planes ? a->own.z_end - a->own.z : a->n[2];
  w->array[0].shape[2] = (planes ? a->n[1] : a->own.y_end - a->own.y) / 2;
}

/* ---- launches ---- */

/* A part of a slab: its planes, and pairs of lines along y or z of a plane or row. */
typedef struct chunk {
  diffusion_axes_part part;
  int64_t planes, pairs;
} chunk;

/* Bytes read and written in rows of cells of all fields. */
static double amount(const diffusion_work *w, int64_t rows) {
  return 8.0 * w->fields * (double)rows * (double)w->own.axes->n[0];
}

/* The same in the lines of a chunk. */
static double amount_of(const diffusion_work *w, const chunk *c) {
  return 16.0 * w->fields * (double)(c->part.rows * c->planes * c->pairs);
}

static sim_status move(diffusion_work *w, void *function) {
  static const sim_kernel kernel = {"diffusion_axes_move", "output", SIM_LIMIT_BYTES};
  enum { THREADS = 256 };
  diffusion_axes_slab *slab = &w->own.axes->slab[AXES_BY_PLANES];
  void *arguments[] = {slab, &w->real.data};
  const unsigned grid[] = {(unsigned)((slab->cells + THREADS - 1) / THREADS), (unsigned)w->fields, 1};
  if (slab->cells > 0)
    diffusion_cuda_launch(&kernel, amount(w, slab->cells / w->own.axes->n[0]), function, grid, THREADS, 0, arguments);
  return sim_queue_cuda.status();
}

/* Applies rates and the filter along x to a chunk. */
static void pass_rows(diffusion_work *w, int slab, const chunk *c, const diffusion_step_context *context) {
  static const sim_kernel kernel = {"diffusion_rows", "rows", SIM_LIMIT_BYTES};
  diffusion_axes_work *a = w->own.axes;
  diffusion_step_context m = *context;
  const int64_t rows = c->part.rows * c->planes;
  void *arguments[] = {&a->given, &a->slab[slab], (void *)&c->part, &m.t, &m.h};
  const unsigned grid[] = {(unsigned)(rows / 2 / (AXES_ROWS / (a->n[0] / 32))), 1, 1};
  if (rows > 0)
    diffusion_cuda_launch(&kernel, amount(w, rows), m.substeps == 2 ? a->twice : a->once, grid, AXES_ROWS,
                          diffusion_axes_rows_bytes(a->n[0]), arguments);
}

/* Planes of a chunk for lines along y (axis 1), or rows for lines along z (2). */
static int64_t others_of(const chunk *c, int axis) { return axis == 1 ? c->planes : c->part.rows; }

/* Filters y or z of a chunk. `turns`: points of this rank's other slab are stored there. */
static void pass_columns(diffusion_work *w, int slab, const chunk *c, int axis, bool turns) {
  static const sim_kernel kernel = {"diffusion_columns", "columns", SIM_LIMIT_BYTES};
  diffusion_axes_work *a = w->own.axes;
  const int n = a->n[axis];
  int first = (int)(axis == 1 ? a->own.y : a->own.z), end = (int)(axis == 1 ? a->own.y_end : a->own.z_end);
  if (!turns) end = first;
  void *arguments[] = {&a->given, &a->slab[slab], (void *)&c->part, &a->slab[!slab], &first, &end};
  const unsigned grid[] = {(unsigned)(c->pairs / AXES_WIDE(n / 32)), (unsigned)others_of(c, axis), (unsigned)w->fields};
  if (grid[1] > 0)
    diffusion_cuda_launch(&kernel, amount_of(w, c), a->columns[axis], grid, diffusion_axes_columns_threads(n),
                          diffusion_axes_columns_bytes(n), arguments);
}

/* ---- turns ---- */

static int64_t planes_of(const diffusion_axes_work *a, int slab) {
  return slab == AXES_BY_PLANES ? a->own.z_end - a->own.z : a->n[2];
}

static chunk whole_slab(const diffusion_axes_work *a, int slab) {
  return (chunk){{.rows = a->slab[slab].rows}, planes_of(a, slab), a->n[0] / 2};
}

static chunk chunk_of(const diffusion_work *w, int slab, int i) {
  const diffusion_axes_work *a = w->own.axes;
  const diffusion_axes_division most = diffusion_axes_division_of(&w->grid, w->comm, 0);
  const bool planes = slab == AXES_BY_PLANES;
  const int64_t all = planes ? planes_of(a, slab) : a->slab[slab].rows, fullest = planes ? most.z_end : most.y_end;
  const int64_t first = chunk_begin(all, fullest, i, a->chunks), end = chunk_begin(all, fullest, i + 1, a->chunks);
  chunk c = whole_slab(a, slab);
  if (planes) {
    c.part.z = first;
    c.planes = end - first;
  } else {
    c.part.y = first;
    c.part.rows = end - first;
  }
  return c;
}

/* Sends a chunk of a slab to the ranks that have it in their other slabs. `all`: to this rank too. */
static void send(diffusion_work *w, int slab, const chunk *c, bool all) {
  diffusion_axes_work *a = w->own.axes;
  const diffusion_axes_slab *from = &a->slab[slab];
  const size_t line = (size_t)a->n[0] * sizeof(float);
  sim_box boxes[SIM_RANKS_MAX];
  for (int f = 0; f < w->fields; f++) {
    const float *field = from->field + f * from->cells;
    for (int r = 0; r < w->comm->size; r++) {
      const diffusion_axes_division d = diffusion_axes_division_of(&w->grid, w->comm, r);
      const size_t height = (size_t)(d.y_end - d.y), depth = (size_t)(d.z_end - d.z);
      boxes[r] = slab == AXES_BY_PLANES
                     ? (sim_box){.from = field + (c->part.z * a->n[1] + d.y) * a->n[0],
                                 .from_pitch = (size_t)a->n[1] * line,
                                 .to = ((size_t)f * (size_t)a->n[2] + (size_t)(a->own.z + c->part.z)) * height * line,
                                 .to_pitch = height * line,
                                 .width = height * line,
                                 .rows = (size_t)c->planes}
                     : (sim_box){.from = field + (d.z * from->rows + c->part.y) * a->n[0],
                                 .from_pitch = (size_t)from->rows * line,
                                 .to = ((size_t)f * depth * (size_t)a->n[1] + (size_t)(a->own.y + c->part.y)) * line,
                                 .to_pitch = (size_t)a->n[1] * line,
                                 .width = (size_t)c->part.rows * line,
                                 .rows = depth};
      if ((r == w->comm->rank && !all) || boxes[r].width == 0) boxes[r] = (sim_box){0};
    }
    sim_turn_send(a->turn, !slab, boxes);
  }
}

/* Copies the state to the other slab. */
static void copy_state(diffusion_work *w, int slab) {
  sim_turn_begin(w->own.axes->turn);
  for (int i = 0; i < w->own.axes->chunks; i++) {
    const chunk c = chunk_of(w, slab, i);
    send(w, slab, &c, true);
  }
  sim_turn_end(w->own.axes->turn);
}

/* Returns a chunk without the lines of other parts. */
static chunk part_of(const diffusion_work *w, chunk c, int part) {
  c.pairs /= w->own.axes->parts;
  c.part.x = c.pairs * part;
  return c;
}

/* Where lines along `axis` of a slab are in the other slabs of all ranks. */
static diffusion_axes_targets targets_of(const diffusion_work *w, int slab, int axis) {
  const diffusion_axes_work *a = w->own.axes;
  diffusion_axes_targets targets = {0};
  for (int r = 0; r < w->comm->size; r++) {
    const diffusion_axes_division d = diffusion_axes_division_of(&w->grid, w->comm, r);
    const int64_t height = d.y_end - d.y, depth = d.z_end - d.z, nx = a->n[0];
    targets.slab[r] = sim_turn_peer(a->turn, r, !slab);
    if (axis == 1) { /* to rows: line `other` is plane z + other there */
      targets.fields[r] = a->n[2] * height * nx;
      targets.lines[r] = height * nx;
      targets.start[r] = (a->own.z * height - d.y) * nx;
    } else { /* to planes: line `other` is row y + other of each there */
      targets.fields[r] = depth * a->n[1] * nx;
      targets.lines[r] = nx;
      targets.start[r] = (a->own.y - d.z * a->n[1]) * nx;
    }
  }
  return targets;
}

/* The pass over `axis` of a chunk, which stores its points in the other slabs of all ranks. In the same kernel rates
 * and x of chunk `later`, or the pass over the third axis of chunk `arrived` of this rank's other slab, unless NULL. */
static void pass_turn(diffusion_work *w, int slab, const chunk *now, const chunk *later, const chunk *arrived, int axis,
                      const diffusion_step_context *context) {
  static const sim_kernel with_rows = {"diffusion_turn", "columns and rows", SIM_LIMIT_BYTES};
  static const sim_kernel with_lines = {"diffusion_turn_after", "columns before and after", SIM_LIMIT_BYTES};
  diffusion_axes_work *a = w->own.axes;
  diffusion_step_context m = *context;
  const int n = a->n[axis], threads = diffusion_axes_turn_threads(n);
  diffusion_axes_targets targets = targets_of(w, slab, axis);
  const int64_t rows = later ? later->part.rows * later->planes : 0;
  diffusion_axes_blocks blocks = {.across = (unsigned)(now->pairs / AXES_TURN_WIDE), .across_beside = 1};
  blocks.turned = blocks.across * (unsigned)(others_of(now, axis) * w->fields);
  blocks.beside = (unsigned)(rows / 2 / (threads / (a->n[0] / 32)));
  if (arrived) {
    blocks.across_beside = (unsigned)(arrived->pairs / AXES_TURN_WIDE);
    blocks.beside = blocks.across_beside * (unsigned)(others_of(arrived, 3 - axis) * w->fields);
  }
  const unsigned grid[] = {blocks.turned + blocks.beside, 1, 1};
  const diffusion_axes_part none = {.rows = 1};
  const diffusion_axes_part *part = later ? &later->part : &none;
  void *beside_rows[] = {&a->given, &a->slab[slab], (void *)&now->part, (void *)part, &blocks, &m.t, &m.h, &targets};
  void *beside_lines[] = {&a->given, &a->slab[slab], (void *)&now->part, &a->slab[!slab], NULL, &blocks, &targets};
  if (arrived) beside_lines[4] = (void *)&arrived->part;
  if (grid[0] > 0)
    diffusion_cuda_launch(arrived ? &with_lines : &with_rows,
                          amount_of(w, now) + amount(w, rows) + (arrived ? amount_of(w, arrived) : 0),
                          a->turning[axis][arrived           ? AXES_AFTER
                                           : m.substeps == 2 ? AXES_TWICE
                                                             : AXES_ONCE],
                          grid, threads, diffusion_axes_turn_bytes(a->n[0], n), arrived ? beside_lines : beside_rows);
}

/* Rates, x and `axis` in a slab, which stores into the other slabs of all ranks. Lines are turned in parts: the first
 * part chunk by chunk beside rates and x of the next chunk, the others beside the pass over the third axis of the part
 * that has arrived, which leaves the last part for later. */
static void turn_directly(diffusion_work *w, int slab, int axis, const diffusion_step_context *context) {
  diffusion_axes_work *a = w->own.axes;
  const bool apart = w->fields > 1; /* rates take the registers of a thread */
  for (int i = 0; i < a->chunks; i++) {
    const chunk c = chunk_of(w, slab, i), next = chunk_of(w, slab, i + 1 < a->chunks ? i + 1 : i);
    const chunk now = part_of(w, c, 0);
    if (apart || i == 0) pass_rows(w, slab, &c, context);
    pass_turn(w, slab, &now, apart || i + 1 == a->chunks ? NULL : &next, NULL, axis, context);
  }
  for (int i = 1; i < a->parts; i++) {
    const chunk now = part_of(w, whole_slab(a, slab), i), arrived = part_of(w, whole_slab(a, !slab), i - 1);
    sim_turn_begin(a->turn); /* all ranks have stored the part before */
    pass_turn(w, slab, &now, NULL, &arrived, axis, context);
  }
}

/* The same through copies of chunks, one of which is sent while the next one is computed. */
static void turn_by_copies(diffusion_work *w, int slab, int axis, const diffusion_step_context *context) {
  for (int i = 0; i < w->own.axes->chunks; i++) {
    const chunk c = chunk_of(w, slab, i);
    pass_rows(w, slab, &c, context);
    pass_columns(w, slab, &c, axis, true);
    send(w, slab, &c, false);
  }
}

/* ---- operations ---- */

sim_status diffusion_axes_load(diffusion_work *w) {
  diffusion_axes_select(w, AXES_BY_PLANES);
  w->own.axes->unmet = true;
  return move(w, w->own.axes->load);
}

sim_status diffusion_axes_store(diffusion_work *w) {
  if (w->own.axes->at != AXES_BY_PLANES) copy_state(w, w->own.axes->at);
  w->own.axes->unmet = true;
  return move(w, w->own.axes->store);
}

/* A step of an even number: x, y, turn, z. A step of an odd number: x, z, turn, y. */
sim_status diffusion_axes_stage(diffusion_work *w, int index, const diffusion_step_context *context) {
  diffusion_axes_work *a = w->own.axes;
  const bool odd = a->rank > 2 && context->step % 2 != 0;
  const int begin = odd ? AXES_BY_ROWS : AXES_BY_PLANES, before = odd ? 2 : 1, after = odd ? 1 : 2;
  (void)index; /* there is one stage */
  if (!a->turn) {
    const chunk all = whole_slab(a, AXES_BY_PLANES);
    pass_rows(w, AXES_BY_PLANES, &all, context);
    pass_columns(w, AXES_BY_PLANES, &all, before, false);
    if (a->rank > 2) pass_columns(w, AXES_BY_PLANES, &all, after, false);
    return sim_queue_cuda.status();
  }
  if (a->at != begin) copy_state(w, a->at); /* after a restart */
  /* The end of the last turn tells the others that this rank has read the slab into which they store now. */
  if (a->unmet) sim_turn_begin(a->turn);
  a->unmet = false;
  if (a->direct)
    turn_directly(w, begin, before, context);
  else
    turn_by_copies(w, begin, before, context);
  sim_turn_end(a->turn);
  diffusion_axes_select(w, !begin);
  const chunk last = part_of(w, whole_slab(a, !begin), a->parts - 1);
  pass_columns(w, !begin, &last, after, false);
  return sim_queue_cuda.status();
}
