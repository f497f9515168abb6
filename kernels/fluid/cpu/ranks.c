#include "kernels/fluid/cpu/ranks.h"

#include "engine/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

fluid_part fluid_part_of(const grid_shape *grid, const sim_comm *comm) {
  fluid_part out = {.comm = comm, .planes = grid->n[grid->rank - 1], .rows = grid->rank == 3 ? grid->n[1] : 1};
  out.first = fluid_part_first(&out, comm->rank);
  out.end = fluid_part_first(&out, comm->rank + 1);
  return out;
}

double fluid_part_share(const grid_shape *grid, const sim_comm *comm, bool beside) {
  const double planes = (double)grid->n[grid->rank - 1];
  return comm->size > 1 ? (ceil(planes / comm->size) + (beside ? 2 : 0)) / planes : 1;
}

/* The rank that has a plane. */
static int owner_of(const fluid_part *part, int64_t plane) {
  int rank = 0;
  while (fluid_part_first(part, rank + 1) <= plane) rank++;
  return rank;
}

/* The first item that is not before a row. */
static int64_t first_of_row(const void *items, size_t size, size_t offset, int64_t count, int64_t row) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (*(const int64_t *)((const char *)items + (size_t)middle * size + offset) < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

grid_range fluid_items_of_rows(const void *items, size_t size, size_t offset, int64_t count, grid_range rows) {
  return (grid_range){first_of_row(items, size, offset, count, rows.first),
                      first_of_row(items, size, offset, count, rows.end)};
}

/* ---- memory ---- */

void *fluid_scratch_of(const fluid_part *part, fluid_scratch_use use, size_t bytes) {
  fluid_scratch *s = part->scratch;
  if (s->memory[use] != NULL && s->bytes[use] >= bytes) return s->memory[use];
  free(s->memory[use]);
  bytes += bytes / 2; /* cells at bodies that move become more and fewer */
  s->memory[use] = malloc(bytes);
  s->bytes[use] = s->memory[use] != NULL ? bytes : 0;
  return s->memory[use];
}

void fluid_scratch_free(fluid_scratch *scratch) {
  for (int i = 0; i < FLUID_SCRATCHES; i++) free(scratch->memory[i]);
  *scratch = (fluid_scratch){{NULL}, {0}};
}

/* Without memory in common a rank takes the pages that it writes. */
sim_status fluid_room_create(const fluid_part *part, size_t count, size_t each, size_t before, size_t plane,
                             fluid_room *out) {
  enum { LINE = 64 };
  void *memory = NULL;
  *out = (fluid_room){.each = (each + LINE - 1) / LINE * LINE};
  const size_t first = part->first > 0 ? before + (size_t)part->first * plane : 0;
  const size_t end = part->end < part->planes ? before + (size_t)part->end * plane : out->each;
  if (part->comm->size == 1) return SIM_OK;
  out->bytes = count * out->each;
  SIM_TRY(sim_comm_map(part->comm, count, out->each, first, end, &memory));
  out->shared = memory != NULL;
  if (!memory)
    memory = mmap(NULL, out->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return sim_no_memory("the fluid");
  out->memory = memory;
  return SIM_OK;
}

void fluid_room_destroy(fluid_room *room) {
  sim_comm_unmap(room->memory, room->bytes);
  *room = (fluid_room){0};
}

/* ---- exchanges ---- */

sim_status fluid_wait(const fluid_part *part, uint64_t word, uint64_t *most) {
  *most = word;
  return part->comm->size > 1 ? sim_comm_agree(part->comm, word, most) : SIM_OK;
}

/* Sends the plane at the upper or lower end of this rank's own to the rank that has the next one, around the box, and
 * gets the one beside the other end. Ranks without planes send and get none. */
static sim_status shift(const fluid_part *part, char *planes, size_t bytes, bool up) {
  const int64_t n = part->planes, above = part->end % n, below = (part->first - 1 + n) % n;
  sim_piece pieces[2];
  size_t count = 0;
  if (part->end > part->first) {
    const int to = owner_of(part, up ? above : below), from = owner_of(part, up ? below : above);
    const char *in = planes + (size_t)(up ? part->end - 1 : part->first) * bytes;
    char *out = planes + (size_t)(up ? below : above) * bytes;
    if (to != part->comm->rank) pieces[count++] = (sim_piece){.rank = to, .in = in, .in_bytes = bytes};
    if (from == to && count > 0) {
      pieces[0].out = out;
      pieces[0].out_bytes = bytes;
    } else if (from != part->comm->rank) {
      pieces[count++] = (sim_piece){.rank = from, .out = out, .out_bytes = bytes};
    }
  }
  return part->comm->ops->swap(part->comm, pieces, count);
}

sim_status fluid_swap_planes(const fluid_part *part, const fluid_room *room, void *first_plane, size_t plane) {
  if (part->comm->size == 1 || room->shared) return SIM_OK;
  SIM_TRY(shift(part, first_plane, plane, true));
  return shift(part, first_plane, plane, false);
}

sim_status fluid_gather_planes(const fluid_part *part, size_t bytes, void *planes) {
  size_t ends[SIM_RANKS_MAX];
  for (int r = 0; r < part->comm->size; r++) ends[r] = (size_t)fluid_part_first(part, r + 1) * bytes;
  return sim_comm_gather_parts(part->comm, planes, ends);
}

sim_status fluid_gather_items(const fluid_part *part, const int64_t *rows, int64_t count, size_t bytes, void *items) {
  size_t ends[SIM_RANKS_MAX] = {0}, next[SIM_RANKS_MAX];
  if (part->comm->size == 1 || count == 0) return SIM_OK;
  int *owner = fluid_scratch_of(part, FLUID_SCRATCH_ITEMS, (size_t)count * (sizeof *owner + bytes));
  if (!owner) return sim_no_memory("items of all ranks");
  char *packed = (char *)(owner + count);
  for (int64_t i = 0; i < count; i++) ends[owner[i] = owner_of(part, rows[i] / part->rows)] += bytes;
  for (int r = 0; r < part->comm->size; r++) {
    next[r] = r > 0 ? ends[r - 1] : 0;
    ends[r] += next[r];
  }
  for (int64_t i = 0; i < count; i++) {
    if (owner[i] == part->comm->rank) memcpy(packed + next[owner[i]], (char *)items + (size_t)i * bytes, bytes);
    next[owner[i]] += bytes;
  }
  const sim_status status = sim_comm_gather_parts(part->comm, packed, ends);
  for (int r = 0; r < part->comm->size; r++) next[r] = r > 0 ? ends[r - 1] : 0;
  for (int64_t i = 0; status == SIM_OK && i < count; i++) {
    memcpy((char *)items + (size_t)i * bytes, packed + next[owner[i]], bytes);
    next[owner[i]] += bytes;
  }
  return status;
}

/* ---- sums ---- */

sim_status fluid_sum_planes(const fluid_part *part, int threads, int columns, fluid_plane_sums *of_plane,
                            const void *context, double *out) {
  const int64_t planes = part->planes;
  double *sums = fluid_scratch_of(part, FLUID_SCRATCH_SUMS, (size_t)(planes * (columns + 1)) * sizeof *sums);
  if (!sums) return sim_no_memory("sums of planes");
  double *column = sums + planes * columns;
  memset(sums, 0, (size_t)(planes * columns) * sizeof *sums);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t plane = part->first; plane < part->end; plane++) of_plane(context, plane, sums + plane * columns);
  SIM_TRY(fluid_gather_planes(part, (size_t)columns * sizeof *sums, sums));
  for (int i = 0; i < columns; i++) {
    for (int64_t plane = 0; plane < planes; plane++) column[plane] = sums[plane * columns + i];
    out[i] = sim_reduce_tree(column, (size_t)planes);
  }
  return SIM_OK;
}
