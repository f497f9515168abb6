/* Transforms of grids of three axes that several ranks share, in the way `general`. A rank has planes of z of real
 * fields, and of coefficients some blocks of rows of all planes (diffusion_layout). A forward transform goes along the
 * planes; then a turn gives each rank its blocks, in which it goes along z. Inverse transforms go back. cuFFT gets
 * planes and blocks of sizes that follow from the grid, so that no bit depends on the number of ranks.
 *
 * Periodic z is transformed in place. In all other cases the turn goes to memory of its own, the landing, which the
 * transform along z reads or writes. */
#include "kernels/diffusion/cuda/general/passes.h"

#include "engine/comm/cuda/turn.h"
#include "engine/device/cuda.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

enum { PLANES, ROWS, LANDING, MEMORIES };

/* Transforms along z of the columns of a block: complex ones; the same in Makhoul's order; series of each field; and of
 * real numbers, where x and y have walls. */
typedef enum slow_pass { IN_PLACE, FOLDED, SERIES, ACROSS } slow_pass;

struct diffusion_slabs {
  sim_turn *turn; /* several ranks; NULL: one */
  slow_pass pass;
  diffusion_fourier *slow;
  char *memory[MEMORIES]; /* columns of planes, and of blocks of rows */
  int columns;            /* of planes: fields, and inputs of the rates or fluxes */
};

const char *diffusion_slabs_lack(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  if (p->members > 1) return "one member";
  if (grid.rank < 3) return "three axes";
  const diffusion_layout layout = diffusion_cuda_layout(&grid, NULL, false, true);
  for (int blocks = 2; blocks <= 16; blocks++)
    if (layout.n[1] % blocks == 0 && layout.n[0] > 1 && layout.n[2] > 1) return NULL;
  return "more than one cell along each axis, and along y (along x, if x has walls and y has none) a number of cells "
         "with a factor from 2 to 16";
}

static slow_pass pass_of(const diffusion_layout *layout) {
  if (layout->axis[0] == 2) return ACROSS;
  if (layout->kind[2] != (int)GRID_PERIODIC) return FOLDED;
  return layout->series[2] != (int)GRID_PERIODIC ? SERIES : IN_PLACE;
}

/* ---- memory ---- */

static size_t number_size(const diffusion_work *w) { return w->single ? sizeof(float) : sizeof(double); }
/* Numbers of the rows of a plane that a block has, of a block in the turn, and of a block of coefficients. */
static long long strip_of(const diffusion_work *w) { return w->layout.wide * w->planes.row; }
static long long landed_of(const diffusion_work *w) { return strip_of(w) * w->grid.n[2]; }
static long long block_of(const diffusion_work *w) { return 2 * w->parts.numbers; }
static size_t strip_bytes(const diffusion_work *w) { return (size_t)strip_of(w) * number_size(w); }
static size_t landed_bytes(const diffusion_work *w) { return (size_t)landed_of(w) * number_size(w); }
static size_t plane_bytes(const diffusion_work *w) { return (size_t)(w->planes.n[1] * w->planes.row) * number_size(w); }

static grid_range planes_of(const diffusion_work *w, int rank) {
  const diffusion_slab slab = diffusion_slab_of(&w->grid, w->single, w->comm, rank);
  return (grid_range){slab.first, slab.end};
}

static grid_range blocks_of(const diffusion_work *w, int rank) {
  const sim_comm of = {.rank = rank, .size = w->comm->size};
  size_t end;
  const size_t first = sim_comm_first(&of, (size_t)w->parts.all, &end);
  return (grid_range){(int64_t)first, (int64_t)(end > first ? end : first)};
}

double diffusion_slabs_sent(const diffusion_parameters *p, const sim_comm *comm, const diffusion_layout *layout,
                            const diffusion_layout *planes) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_slab most = diffusion_slab_of(&grid, diffusion_single(p), comm, 0);
  return (double)most.end * comm->size * (double)(layout->wide * planes->row) * diffusion_cuda_number_size(p);
}

/* Few calls on large grids, and whole batches on as many ranks as there are blocks. */
long long diffusion_slabs_batch(const diffusion_layout *p) {
  enum { NUMBERS = 1 << 23, RANKS = 16 };
  long long planes = NUMBERS / (p->row * p->n[1]);
  if (planes > p->all / RANKS) planes = p->all / RANKS;
  while (planes > 1 && p->all % planes != 0) planes--;
  return planes > 0 ? planes : 1;
}

/* The columns that one turn sends. */
static int landing_columns(const diffusion_parameters *p) {
  const int fields = (int)p->fields.count, slopes = diffusion_general_slopes(p);
  return fields > slopes ? fields : slopes;
}

double diffusion_slabs_landing_bytes(const diffusion_parameters *p, const diffusion_layout *layout,
                                     const diffusion_layout *planes, const diffusion_share *parts) {
  const double landed = (double)(layout->wide * planes->row) * (double)planes->all * diffusion_cuda_number_size(p);
  return pass_of(layout) == IN_PLACE ? 0 : landing_columns(p) * (double)parts->own * landed;
}

/* Those of planes take a batch, and a second one for a batch that is not full; of blocks a block. */
double diffusion_slabs_fourier_bytes(const diffusion_parameters *p, const diffusion_layout *layout,
                                     const diffusion_layout *planes) {
  const double batch = planes->series[0] != (int)GRID_PERIODIC && planes->kind[0] == (int)GRID_PERIODIC
                           ? 0
                           : 2 * (double)(diffusion_slabs_batch(planes) * planes->n[1] * planes->row);
  const double block = (double)(layout->wide * layout->row * layout->n[2]);
  return diffusion_cuda_number_size(p) * (batch + block);
}

static sim_status create_memory(diffusion_work *w, const size_t bytes[MEMORIES]) {
  diffusion_slabs *s = w->own.general->slabs;
  const int count = s->pass == IN_PLACE ? LANDING : MEMORIES;
  if (w->comm->size > 1) {
    const double most = diffusion_slabs_sent(w->p, w->comm, &w->layout, &w->planes);
    SIM_TRY(sim_turn_create(w->comm, w->exchange, count, bytes, (size_t)most, &s->turn));
    for (int m = 0; m < count; m++) s->memory[m] = sim_turn_array(s->turn, m);
    return SIM_OK;
  }
  for (int m = 0; m < count; m++) {
    void *memory = NULL;
    SIM_TRY(sim_backend_cuda.alloc(bytes[m], &memory));
    s->memory[m] = memory;
  }
  return SIM_OK;
}

/* Along the axes of planes without a series of their own. */
static sim_status create_planes(diffusion_work *w) {
  const diffusion_layout *p = &w->planes;
  const bool fast = p->series[0] == (int)GRID_PERIODIC || !w->aligned;
  const bool both = fast && (p->series[1] == (int)GRID_PERIODIC || !w->aligned);
  const long long batch = diffusion_slabs_batch(p) * (both ? 1 : p->n[1]);
  const long long n[2] = {both ? p->n[1] : p->n[0], p->n[0]};
  w->own.general->grids = both ? 1 : p->n[1];
  return diffusion_fourier_create((int)fast + (int)both, n, batch, w->own.general->grids * p->n[2] % batch != 0,
                                  w->single, &w->own.general->fourier);
}

sim_status diffusion_slabs_create(diffusion_work *w, int columns, int rows) {
  const diffusion_layout *p = &w->layout;
  diffusion_slabs *s = w->own.general->slabs = calloc(1, sizeof *s);
  if (!s) return sim_no_memory("the model");
  s->columns = columns;
  s->pass = pass_of(p);
  const size_t own = (size_t)w->parts.own, blocks = own * (size_t)block_of(w) * number_size(w);
  const size_t bytes[MEMORIES] = {(size_t)columns * (size_t)w->planes.n[2] * plane_bytes(w), (size_t)rows * blocks,
                                  (size_t)landing_columns(w->p) * own * landed_bytes(w)};
  SIM_TRY(create_memory(w, bytes));
  SIM_TRY(create_planes(w));
  if (s->pass == ACROSS) return diffusion_fourier_create(1, p->n, p->n[2] * p->wide, false, w->single, &s->slow);
  return diffusion_fourier_lines(p->n[2], p->wide * p->row / 2, w->single, &s->slow);
}

void diffusion_slabs_destroy(diffusion_work *w) {
  diffusion_slabs *s = w->own.general->slabs;
  if (!s) return;
  diffusion_fourier_destroy(&s->slow);
  for (int m = 0; m < MEMORIES && !s->turn; m++) sim_backend_cuda.free(s->memory[m]);
  sim_turn_destroy(&s->turn);
  free(s);
}

void *diffusion_slabs_planes(const diffusion_work *w, int column) {
  return w->own.general->slabs->memory[PLANES] + (size_t)column * (size_t)w->planes.field * number_size(w);
}

void *diffusion_slabs_rows(const diffusion_work *w, int column) {
  return w->own.general->slabs->memory[ROWS] + (size_t)column * (size_t)w->layout.field * number_size(w);
}

static char *landing(const diffusion_work *w, int column) {
  return w->own.general->slabs->memory[LANDING] + (size_t)column * (size_t)w->parts.own * landed_bytes(w);
}

/* ---- turns ---- */

/* Sends boxes[ranks] to the memories of all ranks. On one rank the copy is made at once. */
static void send(diffusion_work *w, int memory, const sim_box *boxes) {
  const diffusion_slabs *s = w->own.general->slabs;
  if (s->turn) {
    sim_turn_send(s->turn, memory, boxes);
    return;
  }
  (void)sim_cuda_failed((int)cudaMemcpy2DAsync(s->memory[memory] + boxes->to, boxes->to_pitch, boxes->from,
                                               boxes->from_pitch, boxes->width, boxes->rows, cudaMemcpyDeviceToDevice,
                                               sim_cuda_stream()),
                        "cudaMemcpy2DAsync", "turn");
}

/* Sends planes first <= i < first + count of this rank's, `from` on, to the blocks of all ranks, column `to` there. */
static void send_planes(diffusion_work *w, const char *from, long long first, long long count, int to) {
  const size_t strip = strip_bytes(w), block = landed_bytes(w), at = (size_t)(w->planes.first + first) * strip;
  const int memory = w->own.general->slabs->pass == IN_PLACE ? ROWS : LANDING;
  sim_box boxes[SIM_RANKS_MAX];
  for (int64_t j = 0; j < w->parts.most; j++) {
    for (int r = 0; r < w->comm->size; r++) {
      const grid_range own = blocks_of(w, r);
      const size_t number = (size_t)(own.first + j), blocks = (size_t)(own.end - own.first);
      boxes[r] = (sim_box){.from = from + number * strip,
                           .from_pitch = plane_bytes(w),
                           .to = ((size_t)to * blocks + (size_t)j) * block + at,
                           .to_pitch = strip,
                           .width = strip,
                           .rows = (size_t)count};
      if (own.first + j >= own.end || count == 0) boxes[r] = (sim_box){0};
    }
    send(w, memory, boxes);
  }
}

/* Sends block number j of this rank, where it has that many, to the planes of all ranks, column `to` there. */
static void send_rows(diffusion_work *w, const char *from, int64_t j, int to) {
  const size_t strip = strip_bytes(w), plane = plane_bytes(w);
  sim_box boxes[SIM_RANKS_MAX];
  for (int r = 0; r < w->comm->size; r++) {
    const grid_range z = planes_of(w, r);
    const size_t planes = (size_t)(z.end - z.first);
    boxes[r] = (sim_box){.from = from + (size_t)z.first * strip,
                         .from_pitch = strip,
                         .to = (size_t)to * planes * plane + (size_t)(w->parts.first + j) * strip,
                         .to_pitch = plane,
                         .width = strip,
                         .rows = planes};
    if (j >= w->parts.own || planes == 0) boxes[r] = (sim_box){0};
  }
  send(w, PLANES, boxes);
}

/* ---- transforms ---- */

/* Transforms `count` planes of a column. */
static sim_status along_planes(diffusion_work *w, void *planes, long long count, int number, diffusion_pass pass) {
  const bool forward = pass != DIFFUSION_INVERSE;
  const diffusion_general *g = w->own.general;
  const long long grids = g->grids * count;
  diffusion_layout p = w->planes;
  p.n[2] = count;
  if (forward) SIM_TRY(diffusion_fourier_forward(g->fourier, planes, grids));
  if (w->aligned)
    diffusion_general_series_of(w, planes, &p, number, pass);
  else
    diffusion_general_fold(w, planes, &p, 1, forward);
  return forward ? SIM_OK : diffusion_fourier_inverse(g->fourier, planes, grids);
}

/* How blocks of a column are transformed along z: in Makhoul's order also where the series of each field is a whole
 * wave. */
static slow_pass pass_along_z(const diffusion_work *w, int kind) {
  const slow_pass pass = w->own.general->slabs->pass;
  return pass == SERIES && (kind == (int)GRID_NO_FLUX || kind == (int)GRID_FIXED) ? FOLDED : pass;
}

/* Transforms blocks of a column along z, from the landing (IN_PLACE: from the rows) to rows of coefficients. */
static sim_status forward_z(diffusion_work *w, void *landed, void *rows, int number, diffusion_pass pass) {
  const diffusion_slabs *s = w->own.general->slabs;
  const long long own = w->parts.own;
  const int kind = diffusion_general_series_kind(w, number, 2, pass);
  switch (pass_along_z(w, kind)) {
  case SERIES: diffusion_general_series_z(w, landed, rows, own, number, pass); return SIM_OK;
  case ACROSS:
    diffusion_turned_across(w, landed, rows, own, true);
    return diffusion_fourier_forward(s->slow, rows, own * w->layout.n[2] * w->layout.wide);
  case FOLDED:
    diffusion_turned_order(w, landed, rows, own, kind, true);
    SIM_TRY(diffusion_fourier_forward(s->slow, rows, own));
    diffusion_turned_fold(w, rows, own, w->aligned && kind == (int)GRID_FIXED, true);
    return SIM_OK;
  case IN_PLACE: break;
  }
  return diffusion_fourier_forward(s->slow, rows, own);
}

/* Transforms one block back, from rows of coefficients, which are overwritten, to the landing (IN_PLACE: to the rows).
 */
static sim_status inverse_z(diffusion_work *w, void *rows, void *landed, int number) {
  const diffusion_slabs *s = w->own.general->slabs;
  const int kind = diffusion_general_series_kind(w, number, 2, DIFFUSION_INVERSE);
  switch (pass_along_z(w, kind)) {
  case SERIES: diffusion_general_series_z(w, rows, landed, 1, number, DIFFUSION_INVERSE); return SIM_OK;
  case ACROSS:
    SIM_TRY(diffusion_fourier_inverse(s->slow, rows, w->layout.n[2] * w->layout.wide));
    diffusion_turned_across(w, rows, landed, 1, false);
    return SIM_OK;
  case FOLDED:
    diffusion_turned_fold(w, rows, 1, w->aligned && kind == (int)GRID_FIXED, false);
    SIM_TRY(diffusion_fourier_inverse(s->slow, rows, 1));
    diffusion_turned_order(w, rows, landed, 1, kind, false);
    return SIM_OK;
  case IN_PLACE: break;
  }
  return diffusion_fourier_inverse(s->slow, rows, 1);
}

/* Returns the planes that are sent while the next ones are transformed: whole batches, a quarter of the fullest rank's.
 */
static long long chunk_of(const diffusion_work *w) {
  enum { CHUNKS = 4, SMALL = 1 << 19 }; /* SMALL: numbers of planes that are sent at once */
  const grid_range most = planes_of(w, 0);
  const long long planes = most.end - most.first, batch = diffusion_slabs_batch(&w->planes);
  const long long batches = (planes + batch - 1) / batch;
  if (w->comm->size == 1 || planes * w->planes.row * w->planes.n[1] < SMALL) return batches * batch;
  return (batches + CHUNKS - 1) / CHUNKS * batch;
}

/* Transforms the planes of a column chunk by chunk, and sends them. All ranks send as many chunks. */
static sim_status forward_planes(diffusion_work *w, char *planes, int number, diffusion_pass pass, int to) {
  const grid_range most = planes_of(w, 0);
  const long long chunk = chunk_of(w), own = w->planes.n[2];
  for (long long first = 0; first < most.end - most.first; first += chunk) {
    const long long left = own > first ? own - first : 0, count = left < chunk ? left : chunk;
    char *from = planes + (size_t)(left > 0 ? first : 0) * plane_bytes(w);
    SIM_TRY(along_planes(w, from, count, number, pass));
    send_planes(w, from, first, count, to);
  }
  return SIM_OK;
}

sim_status diffusion_slabs_forward(diffusion_work *w, int first, int number, int count, diffusion_pass pass) {
  const diffusion_slabs *s = w->own.general->slabs;
  const bool in_place = s->pass == IN_PLACE;
  if (s->turn) sim_turn_begin(s->turn);
  for (int c = 0; c < count; c++)
    SIM_TRY(forward_planes(w, diffusion_slabs_planes(w, (first + c) % s->columns), number + c, pass,
                           in_place ? first + c : c));
  if (s->turn) sim_turn_end(s->turn);
  for (int c = 0; c < count; c++)
    SIM_TRY(forward_z(w, in_place ? NULL : landing(w, c), diffusion_slabs_rows(w, first + c), number + c, pass));
  return sim_queue_cuda.status();
}

sim_status diffusion_slabs_inverse(diffusion_work *w, void *from, int number, int count) {
  const diffusion_slabs *s = w->own.general->slabs;
  const size_t block = (size_t)block_of(w) * number_size(w);
  const bool in_place = s->pass == IN_PLACE;
  if (s->turn) sim_turn_begin(s->turn);
  for (int c = 0; c < count; c++)
    for (int64_t j = 0; j < w->parts.most; j++) {
      char *rows = (char *)from + ((size_t)c * (size_t)w->parts.own + (size_t)j) * block;
      char *landed = in_place ? rows : landing(w, c) + (size_t)j * landed_bytes(w);
      if (j < w->parts.own) SIM_TRY(inverse_z(w, rows, landed, number + c));
      send_rows(w, landed, j, number + c);
    }
  if (s->turn) sim_turn_end(s->turn);
  for (int c = number; c < number + count; c++)
    SIM_TRY(along_planes(w, diffusion_slabs_planes(w, c), w->planes.n[2], c, DIFFUSION_INVERSE));
  return sim_queue_cuda.status();
}
