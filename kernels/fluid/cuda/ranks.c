/* Several GPUs: each has the planes of its rank, and beside them those of other ranks that its cells need, which come
 * after every step. Sums are gathered, and added in the order of one rank.
 *
 *   step:  links | masses of all ranks, what patches get back | planes at both ends | send them | inner planes | wait
 *
 * Twin: cpu/ranks.c. */
#include "kernels/fluid/cuda/host.h"
#include "kernels/fluid/start/start.h"

#include "engine/device/cuda.h"
#include "engine/comm/cuda/turn.h"

#include <stdlib.h>

struct fluid_exchange {
  sim_exchange *exchange;
  sim_turn *turn; /* its arrays are the two states */
};

/* ---- planes ---- */

bool fluid_cuda_divided(const fluid_machine *m) { return m->part.comm->size > 1; }

/* Whether ranks divide a periodic axis. */
static bool goes_around(const fluid_machine *m) {
  return fluid_cuda_divided(m) && grid_is_periodic(&m->grid, m->grid.rank - 1);
}

/* Whether a rank has a plane of others below its own, or above. */
static bool has_below(const fluid_machine *m, int rank) { return rank > 0 || goes_around(m); }
static bool has_above(const fluid_machine *m, int rank) { return rank + 1 < m->part.comm->size || goes_around(m); }
static int64_t planes_of(const fluid_machine *m, int rank) {
  return fluid_part_first(&m->part, rank + 1) - fluid_part_first(&m->part, rank);
}

/* Along a periodic axis plane 0 here is the one above this rank's own, as around a box, and plane 1 the one below: what
 * is behind the cells of a state then follows this rank's own. Else the one below comes first, and the one above last.
 */
void fluid_cuda_choose_planes(const fluid_machine *m, fluid_device *d) {
  const int rank = m->part.comm->rank, axis = m->grid.rank - 1;
  d->l.first = goes_around(m) ? 2 : has_below(m, rank);
  d->l.own = (int)planes_of(m, rank);
  d->l.n[axis] = d->l.own + has_below(m, rank) + has_above(m, rank);
  d->from = (int)m->part.first - d->l.first;
}

int64_t fluid_cuda_plane(const fluid_machine *m, const fluid_device *d, int64_t plane) {
  const int64_t n = m->part.planes;
  return ((plane == 0 && goes_around(m) ? m->part.end : d->from + plane) + n) % n;
}

int64_t fluid_cuda_first_plane(const fluid_work *w) { return w->d.l.first; }
int64_t fluid_cuda_plane_of(const fluid_work *w, int64_t k) { return fluid_cuda_plane(w->m, &w->d, k); }

/* Numbers of a plane of a state. */
static size_t plane_numbers(const fluid_work *w) {
  return (size_t)w->m->part.rows * (size_t)w->d.l.groups * (size_t)(FLUID_GROUP * w->d.l.numbers);
}
static size_t number_size(const fluid_work *w) { return w->d.single ? sizeof(float) : sizeof(double); }

/* ---- memory ---- */

double fluid_cuda_exchange_bytes(const sim_comm *comm, double state, double members) {
  const size_t bytes[2] = {(size_t)state, (size_t)state};
  const size_t n = members > 1 ? (size_t)members : 1;
  const sim_columns columns = {1, n, sim_comm_share(comm, n)};
  return comm->size > 1 ? sim_turn_bytes(comm, 2, bytes) + sim_exchange_bytes(comm, &columns) : 0;
}

sim_status fluid_cuda_join(fluid_work *w, const int64_t shape[2]) {
  const sim_comm *comm = w->m->part.comm;
  const size_t number = number_size(w), bytes = (size_t)(shape[0] * shape[1]) * number;
  const int64_t members = w->m->walls.members > 0 ? w->m->walls.members : 1;
  const sim_columns columns = {1, (size_t)members, sim_comm_share(comm, (size_t)members)};
  fluid_exchange *x = w->exchange = calloc(1, sizeof *x);
  if (!x) return sim_no_memory("the exchange");
  SIM_TRY(sim_exchange_create(comm, &columns, &x->exchange));
  SIM_TRY(sim_turn_create(comm, x->exchange, 2, (size_t[]){bytes, bytes}, plane_numbers(w) * number, &x->turn));
  for (int i = 0; i < 2; i++)
    w->state[i] = (sim_buffer){.data = sim_turn_array(x->turn, i),
                               .dtype = w->d.single ? SIM_F32 : SIM_F64,
                               .rank = 2,
                               .shape = {shape[0], shape[1]},
                               .space = SIM_SPACE_DEVICE};
  return SIM_OK;
}

void fluid_cuda_leave(fluid_work *w) {
  if (!w->exchange) return;
  for (int i = 0; i < 2; i++) w->state[i] = (sim_buffer){.data = NULL};
  sim_turn_destroy(&w->exchange->turn);
  sim_exchange_destroy(&w->exchange->exchange);
  free(w->exchange);
  w->exchange = NULL;
}

/* ---- a step ---- */

/* Sends the plane at the upper end of this rank's own, or at the lower one, to the rank that needs it. */
static void send_plane(fluid_work *w, int state, bool up) {
  const fluid_machine *m = w->m;
  const sim_comm *comm = m->part.comm;
  const size_t bytes = plane_numbers(w) * number_size(w);
  const int to = (comm->rank + (up ? 1 : comm->size - 1)) % comm->size;
  const size_t own = (size_t)w->d.l.first + (up ? (size_t)w->d.l.own - 1 : 0);
  const bool around = goes_around(m);
  const size_t there = up ? around : around ? 0 : (size_t)has_below(m, to) + (size_t)planes_of(m, to);
  sim_box boxes[SIM_RANKS_MAX] = {{.rows = 0}};
  if (up ? has_above(m, comm->rank) : has_below(m, comm->rank))
    boxes[to] = (sim_box){.from = (char *)w->state[state].data + own * bytes,
                          .from_pitch = bytes,
                          .to_pitch = bytes,
                          .to = there * bytes,
                          .width = bytes,
                          .rows = 1};
  sim_turn_send(w->exchange->turn, state, boxes);
}

static void send_ends(fluid_work *w, int state) {
  send_plane(w, state, true);
  send_plane(w, state, false);
}

sim_status fluid_cuda_swap(fluid_work *w) {
  sim_turn_begin(w->exchange->turn);
  send_ends(w, w->d.now);
  sim_turn_end(w->exchange->turn);
  return sim_queue_cuda.status();
}

/* The end of the last exchange has told the others that this rank has read the planes into which they store now. */
sim_status fluid_cuda_step_divided(fluid_work *w) {
  fluid_device *d = &w->d;
  fluid_cuda_step_links(d);
  if (d->packed) sim_exchange_add(w->exchange->exchange, (int64_t *)d->packed);
  fluid_cuda_give_back(d);
  fluid_cuda_step_ends(d);
  send_ends(w, 1 - d->now);
  fluid_cuda_step_inner(d);
  sim_turn_end(w->exchange->turn);
  d->now = 1 - d->now;
  return sim_queue_cuda.status();
}

/* ---- sums ---- */

sim_status fluid_cuda_gather_sums(fluid_work *w, int columns) {
  const fluid_part *part = &w->m->part;
  const size_t own = (size_t)w->d.sum_blocks, each = own / (size_t)w->d.l.own, all = each * (size_t)part->planes;
  for (int k = 0; k < columns; k++) {
    double *sums = w->sums + (size_t)k * all;
    SIM_TRY(sim_backend_cuda.copy(sums + (size_t)part->first * each, w->d.sum + (size_t)k * own, own * sizeof *sums));
    if (fluid_cuda_divided(w->m)) SIM_TRY(fluid_gather_planes(part, each * sizeof *sums, sums));
  }
  return SIM_OK;
}

/* The keys of the guards with numbers of cells of the whole grid. */
static void count_whole(const fluid_work *w, fluid_guard *guard) {
  const uint32_t before = (uint32_t)((int64_t)w->d.from * w->m->part.rows * w->m->grid.n[0]); /* modulo 2^32 */
  for (int kind = 0; kind < FLUID_TOLD; kind++) {
    const bool high = kind == FLUID_TOLD_DENSE || kind == FLUID_TOLD_HOT;
    const unsigned long long key = guard->key[kind];
    const uint32_t here = (uint32_t)(high ? key >> 32 : key), cell = ~(~here + before);
    guard->key[kind] = high ? (unsigned long long)cell << 32 | (key & UINT32_MAX) : (key & ~0xffffffffull) | cell;
  }
}

sim_status fluid_cuda_gather_guards(const fluid_work *w, fluid_guard *guard) {
  const sim_comm *comm = w->m->part.comm;
  if (!fluid_cuda_divided(w->m)) return SIM_OK;
  fluid_guard *all = malloc((size_t)comm->size * sizeof *all);
  if (!all) return sim_no_memory("guards");
  count_whole(w, guard);
  const sim_status status = comm->ops->gather(comm, guard, sizeof *guard, all);
  if (status == SIM_OK) *guard = all[0];
  for (int r = 1; r < comm->size && status == SIM_OK; r++)
    for (int kind = 0; kind < FLUID_TOLD; kind++) {
      const bool earlier = all[r].step[kind] < guard->step[kind];
      if (earlier || (all[r].step[kind] == guard->step[kind] && all[r].key[kind] > guard->key[kind]))
        guard->key[kind] = all[r].key[kind];
      if (earlier) guard->step[kind] = all[r].step[kind];
    }
  free(all);
  return status;
}

/* Items of `bytes` in device memory, of which each rank has those of its rows: all of them, on every rank. */
static sim_status gather_items(const fluid_work *w, const int64_t *rows, int64_t count, size_t bytes, void *there) {
  void *here = malloc((size_t)count * bytes);
  sim_status status =
      here ? sim_backend_cuda.copy(here, there, (size_t)count * bytes) : sim_no_memory("links of ranks");
  if (status == SIM_OK) status = fluid_gather_items(&w->m->part, rows, count, bytes, here);
  if (status == SIM_OK) status = sim_backend_cuda.copy(there, here, (size_t)count * bytes);
  free(here);
  return status;
}

sim_status fluid_cuda_pull_divided(fluid_work *w) {
  const fluid_walls *walls = &w->m->walls;
  int64_t links = 0, next = 0;
  for (int64_t i = 0; i < walls->links; i++) links += walls->link[i].body >= 0;
  if (links == 0) return SIM_OK;
  int64_t *rows = malloc((size_t)links * sizeof *rows);
  if (!rows) return sim_no_memory("links of ranks");
  for (int body = 0; body < (int)w->p->bodies.count; body++) /* as send_pulls of build.c */
    for (int64_t i = 0; i < walls->cells; i++)
      for (int64_t j = walls->cell[i].first; j < walls->cell[i].first + walls->cell[i].count; j++)
        if (walls->link[j].body == body) rows[next++] = walls->cell[i].row;
  fluid_cuda_pull_terms(&w->d);
  const sim_status status = gather_items(w, rows, links, 6 * sizeof(double), w->d.terms);
  free(rows);
  if (status == SIM_OK) fluid_cuda_sum_terms(&w->d);
  return status;
}

sim_status fluid_cuda_gather_probes(const fluid_work *w, double *values) {
  int64_t rows[FLUID_PROBES];
  for (size_t i = 0; i < w->p->probes.rows; i++) rows[i] = fluid_probe_cell(w->p, i) / w->m->grid.n[0];
  return fluid_gather_items(&w->m->part, rows, (int64_t)w->p->probes.rows, (size_t)(w->d.rank + 1) * sizeof *values,
                            values);
}

/* ---- what frames have ---- */

/* What rounding has kept of the mass of each member. */
static sim_status gather_rests(const fluid_work *w) {
  const fluid_walls *walls = &w->m->walls;
  const size_t size = number_size(w);
  if (walls->members == 0) return SIM_OK;
  int64_t *rows = malloc((size_t)walls->members * sizeof *rows);
  if (!rows) return sim_no_memory("links of ranks");
  for (int64_t i = 0; i < walls->members; i++) rows[i] = walls->cell[walls->member[i]].row;
  const sim_status status =
      gather_items(w, rows, walls->members, size, (char *)w->state[w->d.now].data + w->d.numbers * size);
  free(rows);
  return status;
}

/* The array of the state of one rank; its own part: the planes, and on the last rank what is behind the cells. */
static void divide_rows(const fluid_work *w, sim_array *array) {
  const fluid_part *part = &w->m->part;
  const int64_t each = part->rows * w->d.l.groups, here = array->global[0];
  const bool last = part->comm->rank == part->comm->size - 1;
  const int64_t behind = here - (int64_t)w->d.numbers / array->global[1];
  array->global[0] = part->planes * each + behind;
  array->offset[0] = part->first * each;
  array->shape[0] = w->d.l.own * each + (last ? behind : 0);
}

sim_status fluid_cuda_divide(fluid_work *w, sim_array *array) {
  divide_rows(w, array);
  array->data = (char *)array->data + (size_t)w->d.l.first * plane_numbers(w) * number_size(w);
  return gather_rests(w);
}

sim_status fluid_cuda_restore(fluid_work *w, const sim_array *whole, const sim_array *own) {
  const size_t row = (size_t)own->global[1] * number_size(w);
  const int64_t cells = w->m->part.planes * w->m->part.rows * w->d.l.groups;
  const char *from = whole->data;
  SIM_TRY(sim_backend_cuda.copy(own->data, from + (size_t)own->offset[0] * row,
                                (size_t)w->d.l.own * plane_numbers(w) * number_size(w)));
  return sim_backend_cuda.copy((char *)w->state[w->d.now].data + w->d.numbers * number_size(w),
                               from + (size_t)cells * row, (size_t)(own->global[0] - cells) * row);
}
