/* Transforms of grids of three axes that several ranks share, in the way `general`. A rank has planes of real fields,
 * and of coefficients some blocks of rows of all planes (diffusion_layout). A forward transform goes along the planes;
 * then a turn gives each rank its blocks, in which it goes along the slow axis. Inverse transforms go back. cuFFT gets
 * planes and blocks of sizes that follow from the grid, so that no bit depends on the number of ranks. */
#include "kernels/diffusion/cuda/general/passes.h"

#include "engine/comm/cuda/turn.h"
#include "engine/device/cuda.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

enum { PLANES, ROWS, MEMORIES };

struct diffusion_slabs {
  sim_turn *turn; /* several ranks; NULL: one */
  diffusion_fourier *slow;
  char *memory[MEMORIES]; /* columns of planes, and of blocks of rows */
  int columns;            /* of planes: fields, and inputs of the rates or fluxes */
};

const char *diffusion_slabs_lack(const diffusion_parameters *p) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_gradients read = diffusion_gradients_of(p);
  if (p->members > 1) return "one member";
  if (grid.rank < 3) return "three axes";
  if (grid.boundary[2] != GRID_PERIODIC || (grid.boundary[0] != GRID_PERIODIC && grid.boundary[1] != GRID_PERIODIC))
    return "z and one of x and y periodic";
  if (diffusion_aligned(p, &read))
    return "walls of one kind for all fields, and no fluxes or mixed derivatives at walls";
  if (read.count > 0 && (grid.boundary[0] != GRID_PERIODIC || grid.boundary[1] != GRID_PERIODIC))
    return "periodic axes where rates have derivatives";
  const diffusion_layout layout = diffusion_cuda_layout(&grid, NULL, false);
  for (int blocks = 2; blocks <= 16; blocks++)
    if (layout.n[1] % blocks == 0 && layout.n[0] > 1 && layout.n[2] > 1) return NULL;
  return "more than one cell along each axis, and along y a number of cells with a factor from 2 to 16";
}

/* ---- memory ---- */

static size_t number_size(const diffusion_work *w) { return w->single ? sizeof(float) : sizeof(double); }
/* Bytes of the rows of a plane that a block has, and of a block. */
static size_t strip_bytes(const diffusion_work *w) { return (size_t)(w->layout.wide * w->layout.row) * number_size(w); }
static size_t block_bytes(const diffusion_work *w) { return strip_bytes(w) * (size_t)w->layout.n[2]; }
static size_t plane_bytes(const diffusion_work *w) { return (size_t)(w->layout.n[1] * w->layout.row) * number_size(w); }

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

double diffusion_slabs_sent(const diffusion_parameters *p, const sim_comm *comm, const diffusion_layout *layout) {
  const grid_shape grid = diffusion_grid_of(p);
  const diffusion_slab most = diffusion_slab_of(&grid, diffusion_single(p), comm, 0);
  const double planes = (double)most.end * comm->size;
  return planes * (double)(layout->wide * layout->row) * diffusion_cuda_number_size(p);
}

/* Few calls on large grids, and whole batches on as many ranks as there are blocks. */
long long diffusion_slabs_batch(const diffusion_layout *layout) {
  enum { NUMBERS = 1 << 23, RANKS = 16 };
  long long planes = NUMBERS / (layout->row * layout->n[1]);
  if (planes > layout->n[2] / RANKS) planes = layout->n[2] / RANKS;
  while (planes > 1 && layout->n[2] % planes != 0) planes--;
  return planes > 0 ? planes : 1;
}

static sim_status create_memory(diffusion_work *w, const size_t bytes[MEMORIES]) {
  diffusion_slabs *s = w->own.general->slabs;
  if (w->comm->size > 1) {
    const double most = diffusion_slabs_sent(w->p, w->comm, &w->layout);
    SIM_TRY(sim_turn_create(w->comm, w->exchange, MEMORIES, bytes, (size_t)most, &s->turn));
    for (int m = 0; m < MEMORIES; m++) s->memory[m] = sim_turn_array(s->turn, m);
    return SIM_OK;
  }
  for (int m = 0; m < MEMORIES; m++) {
    void *memory = NULL;
    SIM_TRY(sim_backend_cuda.alloc(bytes[m], &memory));
    s->memory[m] = memory;
  }
  return SIM_OK;
}

sim_status diffusion_slabs_create(diffusion_work *w, int columns, int rows, diffusion_fourier **along_planes) {
  const diffusion_layout *p = &w->layout;
  diffusion_slabs *s = w->own.general->slabs = calloc(1, sizeof *s);
  if (!s) return sim_no_memory("the model");
  s->columns = columns;
  const size_t bytes[MEMORIES] = {(size_t)columns * (size_t)w->planes.n[2] * plane_bytes(w),
                                  (size_t)rows * (size_t)w->parts.own * block_bytes(w)};
  SIM_TRY(create_memory(w, bytes));
  const long long batch = diffusion_slabs_batch(p), n[2] = {p->n[1], p->n[0]};
  SIM_TRY(diffusion_fourier_create(2, n, batch, w->planes.n[2] % batch != 0, w->single, along_planes));
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

/* Sends the planes of a field to the blocks of all ranks, column `to` there. */
static void send_planes(diffusion_work *w, const char *from, int to) {
  const size_t strip = strip_bytes(w), block = block_bytes(w);
  sim_box boxes[SIM_RANKS_MAX];
  for (int64_t j = 0; j < w->parts.most; j++) {
    for (int r = 0; r < w->comm->size; r++) {
      const grid_range own = blocks_of(w, r);
      const size_t number = (size_t)(own.first + j), blocks = (size_t)(own.end - own.first);
      boxes[r] = (sim_box){.from = from + number * strip,
                           .from_pitch = plane_bytes(w),
                           .to = ((size_t)to * blocks + (size_t)j) * block + (size_t)w->planes.first * strip,
                           .to_pitch = strip,
                           .width = strip,
                           .rows = (size_t)w->planes.n[2]};
      if (own.first + j >= own.end || w->planes.n[2] == 0) boxes[r] = (sim_box){0};
    }
    send(w, ROWS, boxes);
  }
}

/* Sends the blocks of a field to the planes of all ranks, column `to` there. */
static void send_rows(diffusion_work *w, const char *from, int to) {
  const size_t strip = strip_bytes(w), plane = plane_bytes(w);
  sim_box boxes[SIM_RANKS_MAX];
  for (int64_t j = 0; j < w->parts.most; j++) {
    for (int r = 0; r < w->comm->size; r++) {
      const grid_range z = planes_of(w, r);
      const size_t planes = (size_t)(z.end - z.first);
      boxes[r] = (sim_box){.from = from + (size_t)j * block_bytes(w) + (size_t)z.first * strip,
                           .from_pitch = strip,
                           .to = (size_t)to * planes * plane + (size_t)(w->parts.first + j) * strip,
                           .to_pitch = plane,
                           .width = strip,
                           .rows = planes};
      if (j >= w->parts.own || planes == 0) boxes[r] = (sim_box){0};
    }
    send(w, PLANES, boxes);
  }
}

/* ---- transforms ---- */

sim_status diffusion_slabs_forward(diffusion_work *w, int first, int count) {
  diffusion_general *g = w->own.general;
  diffusion_slabs *s = g->slabs;
  if (s->turn) sim_turn_begin(s->turn);
  for (int c = first; c < first + count; c++) {
    char *planes = diffusion_slabs_planes(w, c % s->columns);
    SIM_TRY(diffusion_fourier_forward(g->fourier, planes, w->planes.n[2]));
    diffusion_general_fold(w, planes, 1, true);
    send_planes(w, planes, c);
  }
  if (s->turn) sim_turn_end(s->turn);
  return diffusion_fourier_forward(s->slow, diffusion_slabs_rows(w, first), count * w->parts.own);
}

sim_status diffusion_slabs_inverse(diffusion_work *w, void *from, int first, int count) {
  diffusion_general *g = w->own.general;
  diffusion_slabs *s = g->slabs;
  const size_t field = (size_t)w->layout.field * number_size(w);
  if (s->turn) sim_turn_begin(s->turn);
  for (int c = 0; c < count; c++) {
    char *rows = (char *)from + (size_t)c * field;
    SIM_TRY(diffusion_fourier_inverse(s->slow, rows, w->parts.own));
    send_rows(w, rows, first + c);
  }
  if (s->turn) sim_turn_end(s->turn);
  for (int c = first; c < first + count; c++) {
    diffusion_general_fold(w, diffusion_slabs_planes(w, c), 1, false);
    SIM_TRY(diffusion_fourier_inverse(g->fourier, diffusion_slabs_planes(w, c), w->planes.n[2]));
  }
  return sim_queue_cuda.status();
}
