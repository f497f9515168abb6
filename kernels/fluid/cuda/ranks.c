/* Several GPUs: each has the planes of its rank, and beside them those of other ranks that its cells need, which come
 * after every step. Sums are gathered, and added in the order of one rank.
 *
 *   step:  links | masses of all ranks, what patches get back | planes at both ends | send them | inner planes | wait
 *
 * Where forces that are functions, sponges or bodies that move change cells after that, all planes are made and changed
 * before those at the ends are sent.
 *
 * Twin: cpu/ranks.c. */
#include "kernels/fluid/cpu/push.h"
#include "kernels/fluid/cuda/host.h"
#include "kernels/fluid/start/start.h"

#include "engine/device/cuda.h"
#include "engine/comm/cuda/turn.h"

#include <stdlib.h>
#include <string.h>

struct fluid_exchange {
  sim_exchange *exchange;
  sim_turn *turn; /* its arrays are the two states */
  char *joined;   /* join_fields; NULL: nothing */
};

/* ---- planes ---- */

bool fluid_cuda_divided(const fluid_machine *m) { return m->part.comm->size > 1; }

/* Whether ranks divide a periodic axis; numbers of populations are around the box behind walls, too (slots.cuh). */
static bool goes_around(const fluid_machine *m) {
  return fluid_cuda_divided(m) && (m->populations || grid_is_periodic(&m->grid, m->grid.rank - 1));
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
/* Numbers of a slot of populations on a rank. */
static size_t slot_numbers(const fluid_work *w, int rank) {
  return (size_t)(planes_of(w->m, rank) + 2) * plane_numbers(w);
}
static size_t number_size(const fluid_work *w) { return w->d.single ? sizeof(float) : sizeof(double); }

/* ---- memory ---- */

double fluid_cuda_exchange_bytes(const sim_comm *comm, int states, double state, double members) {
  const size_t bytes[2] = {(size_t)state, (size_t)state};
  const size_t n = members > 1 ? (size_t)members : 1;
  const sim_columns columns = {1, n, sim_comm_share(comm, n)};
  return comm->size > 1 ? sim_turn_bytes(comm, states, bytes) + sim_exchange_bytes(comm, &columns) : 0;
}

sim_status fluid_cuda_join(fluid_work *w, int states, const int64_t shape[2]) {
  const sim_comm *comm = w->m->part.comm;
  const size_t number = number_size(w), bytes = (size_t)(shape[0] * shape[1]) * number;
  const size_t most = (size_t)fluid_cuda_exchanged(w->m, &w->d);
  const sim_columns columns = {1, most, sim_comm_share(comm, most)};
  fluid_exchange *x = w->exchange = calloc(1, sizeof *x);
  if (!x) return sim_no_memory("the exchange");
  SIM_TRY(sim_exchange_create(comm, &columns, &x->exchange));
  SIM_TRY(sim_turn_create(comm, x->exchange, states, (size_t[]){bytes, bytes}, plane_numbers(w) * number, &x->turn));
  for (int i = 0; i < states; i++)
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
  free(w->exchange->joined);
  free(w->exchange);
  w->exchange = NULL;
}

/* ---- a step ---- */

/* Sends the plane of `bytes` at the upper end of this rank's own, or at the lower one, to the rank that needs it.
 * Planes stand from byte first[rank] of the state of each rank on. */
static void send_plane(fluid_work *w, int state, size_t (*first)(const fluid_work *, int rank, int field), int field,
                       size_t bytes, bool up) {
  const fluid_machine *m = w->m;
  const sim_comm *comm = m->part.comm;
  const int to = (comm->rank + (up ? 1 : comm->size - 1)) % comm->size;
  const size_t own = (size_t)w->d.l.first + (up ? (size_t)w->d.l.own - 1 : 0);
  const bool around = goes_around(m);
  const size_t there = up ? around : around ? 0 : (size_t)has_below(m, to) + (size_t)planes_of(m, to);
  sim_box boxes[SIM_RANKS_MAX] = {{.rows = 0}};
  if (up ? has_above(m, comm->rank) : has_below(m, comm->rank))
    boxes[to] = (sim_box){.from = (char *)w->state[state].data + first(w, comm->rank, field) + own * bytes,
                          .from_pitch = bytes,
                          .to_pitch = bytes,
                          .to = first(w, to, field) + there * bytes,
                          .width = bytes,
                          .rows = 1};
  sim_turn_send(w->exchange->turn, state, boxes);
}

/* Where the cells of a state begin, and the fields behind them. */
static size_t first_of_cells(const fluid_work *w, int rank, int field) { return (void)w, (void)rank, (void)field, 0; }
static size_t first_of_field(const fluid_work *w, int rank, int field) {
  const fluid_machine *m = w->m;
  const size_t planes = (size_t)(planes_of(m, rank) + has_below(m, rank) + has_above(m, rank));
  const size_t cells = planes * (size_t)(m->part.rows * w->d.l.n[0]);
  return (planes * plane_numbers(w) + (size_t)w->listed + (size_t)field * cells) * number_size(w);
}

static void send_ends(fluid_work *w, int state) {
  const size_t bytes = plane_numbers(w) * number_size(w);
  send_plane(w, state, first_of_cells, 0, bytes, true);
  send_plane(w, state, first_of_cells, 0, bytes, false);
}

static sim_status swap(fluid_work *w, int state) {
  sim_turn_begin(w->exchange->turn);
  send_ends(w, state);
  sim_turn_end(w->exchange->turn);
  return sim_queue_cuda.status();
}
sim_status fluid_cuda_swap(fluid_work *w) { return swap(w, w->d.now); }
sim_status fluid_cuda_swap_made(fluid_work *w) { return swap(w, 1 - w->d.now); }

/* The forces in the planes beside this rank's own, for fields: steps do not read them. */
sim_status fluid_cuda_swap_push(fluid_work *w) {
  const size_t plane = (size_t)(w->m->part.rows * w->d.l.n[0]) * number_size(w);
  if (!w->exchange || w->d.push == 0) return SIM_OK;
  sim_turn_begin(w->exchange->turn);
  for (int i = 0; i < 2 * w->d.rank; i++) send_plane(w, w->d.now, first_of_field, i / 2, plane, i % 2);
  sim_turn_end(w->exchange->turn);
  return sim_queue_cuda.status();
}

void fluid_cuda_damp(fluid_work *w, fluid_damping what) {
  for (int i = 0; i < w->d.layers; i++) {
    fluid_cuda_sum_layer(&w->d, i, what);
    if (w->exchange && !w->d.damped[i].across) sim_exchange_add(w->exchange->exchange, (int64_t *)(void *)w->d.through);
    fluid_cuda_damp_layer(&w->d, i, what);
  }
}

/* What is done to the cells of a step after all of them have been made, as by one GPU; sends the planes at the ends. */
static sim_status finish_step(fluid_work *w, int64_t number) {
  fluid_device *d = &w->d;
  if (w->m->push) w->m->push->t = (double)number * w->numbers->dt;
  if (w->m->motion) SIM_TRY(fluid_cuda_move(w, number));
  if (!d->heat) fluid_cuda_push(d);
  fluid_cuda_damp(w, FLUID_DAMP_STEP);
  fluid_cuda_warm(d);
  if (d->heat) fluid_cuda_push(d);
  if (w->m->motion) sim_turn_begin(w->exchange->turn); /* bodies have read the planes of others */
  send_ends(w, 1 - d->now);
  return SIM_OK;
}

/* The end of the last exchange has told the others that this rank has read the planes into which they store now. */
sim_status fluid_cuda_step_divided(fluid_work *w, int64_t number) {
  fluid_device *d = &w->d;
  fluid_cuda_step_links(d);
  if (d->packed) sim_exchange_add(w->exchange->exchange, (int64_t *)(void *)d->packed);
  fluid_cuda_give_back(d);
  if (d->push > 0 || d->layers > 0 || w->m->motion) {
    fluid_cuda_step_ends(d);
    fluid_cuda_step_inner(d);
    SIM_TRY(finish_step(w, number));
  } else {
    fluid_cuda_warm(d);
    fluid_cuda_step_ends(d);
    send_ends(w, 1 - d->now);
    fluid_cuda_step_inner(d);
  }
  sim_turn_end(w->exchange->turn);
  d->now = 1 - d->now;
  return sim_queue_cuda.status();
}

/* ---- a step of populations ---- */

/* Sends plane `from` of a slot to plane `to` of the rank above, or below. */
static void send_slot(fluid_work *w, int slot, size_t from, bool up, size_t to) {
  const sim_comm *comm = w->m->part.comm;
  const int other = (comm->rank + (up ? 1 : comm->size - 1)) % comm->size;
  const size_t plane = plane_numbers(w) * number_size(w), size = number_size(w);
  sim_box boxes[SIM_RANKS_MAX] = {{.rows = 0}};
  boxes[other] =
      (sim_box){.from = (char *)w->state[0].data + (size_t)slot * slot_numbers(w, comm->rank) * size + from * plane,
                .from_pitch = plane,
                .to_pitch = plane,
                .to = (size_t)slot * slot_numbers(w, other) * size + to * plane,
                .width = plane,
                .rows = 1};
  sim_turn_send(w->exchange->turn, 0, boxes);
}

/* After a step of parity P a number of slot c + P, c odd, has been written by the cell from which c leads to its own,
 * and is read there in the next step; one of slot c + 1 - P the other way about. Planes 0 and 1 here are those above
 * and below this rank's own. */
static sim_status send_slots(fluid_work *w) {
  const fluid_lattice *lattice = w->m->lattice;
  const sim_comm *comm = w->m->part.comm;
  const int parity = w->d.now, below = (comm->rank + comm->size - 1) % comm->size;
  const size_t first = (size_t)w->d.l.first, last = first + (size_t)w->d.l.own - 1;
  enum { ABOVE, BELOW, FIRST };
  sim_turn_begin(w->exchange->turn); /* the others have read the planes into which this rank stores now */
  for (int c = 1; c < lattice->directions; c += 2) {
    const int along = lattice->c[c][w->d.rank - 1];
    if (along > 0) {
      send_slot(w, c + parity, ABOVE, true, FIRST);
      send_slot(w, c + 1 - parity, first, false, ABOVE);
    } else if (along < 0) {
      send_slot(w, c + parity, BELOW, false, FIRST + (size_t)planes_of(w->m, below) - 1);
      send_slot(w, c + 1 - parity, last, true, BELOW);
    }
  }
  sim_turn_end(w->exchange->turn);
  return sim_queue_cuda.status();
}
sim_status fluid_cuda_swap_slots(fluid_work *w) { return send_slots(w); }

sim_status fluid_cuda_step_slots(fluid_work *w) {
  fluid_device *d = &w->d;
  fluid_trt_step_links(d);
  if (d->packed) sim_exchange_add(w->exchange->exchange, (int64_t *)(void *)d->packed);
  fluid_trt_step_cells(d);
  d->now = 1 - d->now;
  return send_slots(w);
}

/* Sends one of two parts of `bytes` to the rank above, or below, and gets one from the other side. */
static sim_status pass(const sim_comm *comm, const char *own, char *other, size_t bytes, bool up) {
  const int above = (comm->rank + 1) % comm->size, below = (comm->rank + comm->size - 1) % comm->size;
  const int to = up ? above : below, from = up ? below : above;
  sim_piece pieces[2] = {{.rank = to, .in = own, .in_bytes = bytes}, {.rank = from, .out = other, .out_bytes = bytes}};
  if (to == from) {
    pieces[0].out = other;
    pieces[0].out_bytes = bytes;
  }
  return comm->ops->swap(comm, pieces, to == from ? 1 : 2);
}

/* The velocities in the planes beside this rank's own, for derivatives. */
sim_status fluid_cuda_swap_velocities(fluid_work *w) {
  const fluid_machine *m = w->m;
  const size_t part = (size_t)(m->part.rows * m->grid.n[0]) * (size_t)m->grid.rank * sizeof(double);
  char *own = malloc(4 * part), *other = own + 2 * part;
  if (!own) return sim_no_memory("velocities of ranks");
  fluid_trt_find_ends(&w->d);
  sim_status status = sim_backend_cuda.copy(own, w->d.own_velocity, 2 * part);
  /* the last plane goes up and comes from below, to plane 1 here */
  if (status == SIM_OK) status = pass(m->part.comm, own, other + part, part, true);
  if (status == SIM_OK) status = pass(m->part.comm, own + part, other, part, false);
  if (status == SIM_OK) status = sim_backend_cuda.copy(w->d.end_velocity, other, 2 * part);
  free(own);
  return status;
}

/* ---- sums ---- */

/* In one exchange: planes[planes][columns][each] are gathered. */
sim_status fluid_cuda_gather_sums(fluid_work *w, int columns) {
  const fluid_part *part = &w->m->part;
  const size_t own = (size_t)w->d.sum_blocks, each = own / (size_t)w->d.l.own, all = each * (size_t)part->planes;
  const size_t row = each * sizeof *w->sums;
  if (!fluid_cuda_divided(w->m))
    return sim_backend_cuda.copy(w->sums, w->d.sum, (size_t)columns * own * sizeof *w->sums);
  double *here = malloc(((size_t)columns * (own + all)) * sizeof *here), *planes = here + (size_t)columns * own;
  if (!here) return sim_no_memory("sums of cells");
  sim_status status = sim_backend_cuda.copy(here, w->d.sum, (size_t)columns * own * sizeof *here);
  for (int k = 0; k < columns; k++)
    for (int64_t i = 0; i < w->d.l.own; i++)
      memcpy(planes + ((size_t)(part->first + i) * (size_t)columns + (size_t)k) * each,
             here + (size_t)k * own + (size_t)i * each, row);
  if (status == SIM_OK) status = fluid_gather_planes(part, (size_t)columns * row, planes);
  for (int k = 0; k < columns; k++)
    for (int64_t i = 0; i < part->planes; i++)
      memcpy(w->sums + (size_t)k * all + (size_t)i * each, planes + ((size_t)i * (size_t)columns + (size_t)k) * each,
             row);
  free(here);
  return status;
}

/* The number of a cell of the grid, by its number here, modulo 2^32. */
static uint32_t whole_cell(const fluid_machine *m, const fluid_device *d, uint32_t cell) {
  return cell + (uint32_t)((int64_t)d->from * m->part.rows * m->grid.n[0]);
}
static unsigned long long whole_key(const fluid_machine *m, const fluid_device *d, unsigned long long key) {
  const uint32_t cell = whole_cell(m, d, ~(uint32_t)(key >> 32));
  return (unsigned long long)(uint32_t)~cell << 32 | (key & UINT32_MAX);
}

/* Keeps what was told first, of the same step the greater keys. */
static void keep_first(unsigned long long step, const unsigned long long *key, int keys, unsigned long long *first,
                       unsigned long long *kept) {
  for (int k = 0; k < keys; k++)
    if (step < *first || (step == *first && key[k] > kept[k])) kept[k] = key[k];
  if (step < *first) *first = step;
}

sim_status fluid_cuda_gather_guards(const fluid_work *w, fluid_guard *guard) {
  const sim_comm *comm = w->m->part.comm;
  if (!fluid_cuda_divided(w->m)) return SIM_OK;
  fluid_guard *all = malloc((size_t)comm->size * sizeof *all);
  if (!all) return sim_no_memory("guards");
  for (int kind = 0; kind < FLUID_TOLD; kind++) {
    const unsigned long long key = guard->key[kind];
    const bool high = kind == FLUID_TOLD_DENSE || kind == FLUID_TOLD_HOT;
    guard->key[kind] = high ? whole_key(w->m, &w->d, key)
                            : (key & ~0xffffffffull) | (uint32_t)~whole_cell(w->m, &w->d, ~(uint32_t)key);
  }
  const sim_status status = comm->ops->gather(comm, guard, sizeof *guard, all);
  for (int r = 0; r < comm->size && status == SIM_OK; r++)
    for (int kind = 0; kind < FLUID_TOLD; kind++)
      keep_first(all[r].step[kind], &all[r].key[kind], 1, &guard->step[kind], &guard->key[kind]);
  free(all);
  return status;
}

sim_status fluid_cuda_gather_laws(const fluid_machine *m, const fluid_device *d, fluid_law_guard *told) {
  const sim_comm *comm = m->part.comm;
  if (!fluid_cuda_divided(m)) return SIM_OK;
  fluid_law_guard *all = malloc((size_t)comm->size * sizeof *all);
  if (!all) return sim_no_memory("guards");
  for (int a = 0; a < 3; a++) told->push_key[a] = whole_key(m, d, told->push_key[a]);
  told->tau_key = whole_key(m, d, told->tau_key);
  const sim_status status = comm->ops->gather(comm, told, sizeof *told, all);
  for (int r = 0; r < comm->size && status == SIM_OK; r++) {
    keep_first(all[r].push_step, all[r].push_key, 3, &told->push_step, told->push_key);
    keep_first(all[r].tau_step, &all[r].tau_key, 1, &told->tau_step, &told->tau_key);
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
  const fluid_device *d = &w->d;
  if (d->pulls == 0) return SIM_OK;
  (d->populations ? fluid_trt_pull_terms : fluid_cuda_pull_terms)(d);
  SIM_TRY(gather_items(w, d->pull_row, d->pulls, 6 * sizeof(double), d->terms));
  fluid_cuda_sum_terms(d);
  return sim_queue_cuda.status();
}

sim_status fluid_cuda_pull_warm_divided(fluid_work *w) {
  const fluid_warm *warm = &w->d.warm;
  if (warm->pulls == 0) return SIM_OK;
  SIM_TRY(gather_items(w, warm->pull_row, warm->pulls, 2 * sizeof(double), warm->terms));
  fluid_cuda_sum_warm_terms(&w->d);
  return sim_queue_cuda.status();
}

sim_status fluid_cuda_gather_probes(const fluid_work *w, double *values) {
  int64_t rows[FLUID_PROBES];
  for (size_t i = 0; i < w->p->probes.rows; i++) rows[i] = fluid_probe_cell(w->p, i) / w->m->grid.n[0];
  return fluid_gather_items(&w->m->part, rows, (int64_t)w->p->probes.rows, (size_t)(w->d.rank + 1) * sizeof *values,
                            values);
}

/* ---- what frames have ---- */

/* A state of one rank has behind its cells numbers of listed cells, which each rank has of all, and then fields: forces
 * that are functions, and rates of relaxation. A rank has the fields of its planes. */
static int fields_behind(const fluid_work *w) { return (w->d.push > 0 ? w->d.rank : 0) + (w->d.rates > 0); }
/* This rank's planes of field k, or of a slot of populations, in device memory. */
static char *own_field(const fluid_work *w, int k) {
  const size_t numbers = plane_numbers(w) * number_size(w);
  if (w->d.populations)
    return (char *)w->state[0].data + (size_t)k * slot_numbers(w, w->m->part.comm->rank) * number_size(w) +
           (size_t)w->d.l.first * numbers;
  const size_t plane = (size_t)(w->m->part.rows * w->d.l.n[0]) * number_size(w);
  return (char *)w->state[w->d.now].data + first_of_field(w, w->m->part.comm->rank, k) + (size_t)w->d.l.first * plane;
}
static size_t field_bytes(const fluid_work *w, int rank) {
  if (w->d.populations) return (size_t)planes_of(w->m, rank) * plane_numbers(w) * number_size(w);
  return (size_t)(planes_of(w->m, rank) * w->m->part.rows * w->d.l.n[0]) * number_size(w);
}

static char *listed_numbers(const fluid_work *w) {
  return (char *)w->state[w->d.populations ? 0 : w->d.now].data + w->d.numbers * number_size(w);
}

/* What rounding has kept of the mass of each member, and rates of relaxation of listed cells: all, on every rank. */
static sim_status gather_listed(const fluid_work *w) {
  const fluid_walls *walls = &w->m->walls;
  const int64_t members = w->m->motion ? 0 : walls->members;
  int64_t *rows = malloc((size_t)w->listed * sizeof *rows + 1), next = 0;
  if (!rows) return sim_no_memory("links of ranks");
  for (int64_t i = 0; i < members; i++) rows[next++] = walls->cell[walls->member[i]].row;
  for (int64_t i = 0; i < walls->cells && next < w->listed; i++) rows[next++] = walls->cell[i].row;
  if (next < w->listed) fluid_cuda_damped_rows(w->m, rows + next);
  const sim_status status =
      w->listed == 0 ? SIM_OK : gather_items(w, rows, w->listed, number_size(w), listed_numbers(w));
  free(rows);
  return status;
}

/* Sends this rank's planes of field k to the last rank, which gets those of all, to[planes]. */
static sim_status send_field(const fluid_work *w, int k, char *to) {
  const sim_comm *comm = w->m->part.comm;
  const int last = comm->size - 1;
  const size_t bytes = field_bytes(w, comm->rank);
  sim_piece pieces[SIM_RANKS_MAX];
  if (comm->rank == last) {
    for (int r = 0; r < last; r++) {
      pieces[r] = (sim_piece){.rank = r, .out = to, .out_bytes = field_bytes(w, r)};
      to += field_bytes(w, r);
    }
    SIM_TRY(sim_backend_cuda.copy(to, own_field(w, k), bytes));
    return comm->ops->swap(comm, pieces, (size_t)last);
  }
  char *own = malloc(bytes + 1);
  if (!own) return sim_no_memory("fields of ranks");
  pieces[0] = (sim_piece){.rank = last, .in = own, .in_bytes = bytes};
  sim_status status = sim_backend_cuda.copy(own, own_field(w, k), bytes);
  if (status == SIM_OK) status = comm->ops->swap(comm, pieces, 1);
  free(own);
  return status;
}

/* The running means of sponges: all, on every rank. */
static sim_status gather_sponge(const fluid_work *w) {
  const fluid_sponge *sponge = &w->m->sponge;
  const size_t bytes = (size_t)sponge->means * sizeof *sponge->mean;
  if (bytes == 0) return SIM_OK;
  SIM_TRY(sim_backend_cuda.copy(sponge->mean, w->d.mean, bytes));
  SIM_TRY(fluid_sponge_gather(w->m));
  return sim_backend_cuda.copy(w->d.mean, sponge->mean, bytes);
}

/* The array of the state of one rank; its own part: the planes, and on the last rank what is behind the cells. */
static void divide_rows(const fluid_work *w, sim_array *array) {
  const fluid_part *part = &w->m->part;
  const int64_t each = part->rows * w->d.l.groups, row = array->global[1];
  const int64_t numbers = w->listed + fields_behind(w) * part->planes * part->rows * w->d.l.n[0];
  const int64_t behind = (numbers + row - 1) / row;
  array->global[0] = part->planes * each + behind;
  array->offset[0] = part->first * each;
  array->shape[0] = w->d.l.own * each + (part->comm->rank == part->comm->size - 1 ? behind : 0);
}

/* With fields the part of the last rank is made in host memory, until the next call. */
static sim_status join_fields(fluid_work *w, sim_array *array) {
  const bool last = w->m->part.comm->rank == w->m->part.comm->size - 1;
  const size_t size = number_size(w), row = (size_t)array->global[1] * size;
  const size_t own = (size_t)w->d.l.own * plane_numbers(w) * size, listed = (size_t)w->listed * size;
  const size_t field = (size_t)(w->m->part.planes * w->m->part.rows * w->d.l.n[0]) * size;
  char *to = NULL;
  if (last) {
    free(w->exchange->joined);
    to = w->exchange->joined = calloc((size_t)array->shape[0], row);
    if (!to) return sim_no_memory("fields of ranks");
    SIM_TRY(sim_backend_cuda.copy(to, array->data, own));
    SIM_TRY(sim_backend_cuda.copy(to + own, (char *)w->state[w->d.now].data + w->d.numbers * size, listed));
    array->data = to;
    array->space = SIM_SPACE_HOST;
    to += own + listed;
  }
  for (int k = 0; k < fields_behind(w); k++) SIM_TRY(send_field(w, k, last ? to + (size_t)k * field : NULL));
  return SIM_OK;
}

/* Of populations the last rank gets the state of all in host memory, until the next call: planes are within slots. */
sim_status fluid_cuda_divide_slots(fluid_work *w, bool read, sim_array *array) {
  const fluid_part *part = &w->m->part;
  const int slots = w->m->lattice->directions;
  const size_t size = number_size(w), slot = (size_t)part->planes * plane_numbers(w) * size;
  const int64_t row = array->global[1], numbers = (int64_t)(slot / size) * slots + w->listed;
  const bool last = part->comm->rank == part->comm->size - 1;
  char *to = NULL;
  array->global[0] = fluid_cuda_slot_rows(w);
  array->offset[0] = 0;
  array->shape[0] = last ? array->global[0] : 0;
  if (numbers > array->global[0] * row) return sim_fail(SIM_ERR_INTERNAL, "a state of populations has no room");
  if (!read) return SIM_OK;
  SIM_TRY(gather_listed(w));
  if (last) {
    free(w->exchange->joined);
    array->data = to = w->exchange->joined = calloc((size_t)array->global[0], (size_t)row * size);
    array->space = SIM_SPACE_HOST;
    if (!to) return sim_no_memory("populations of ranks");
    SIM_TRY(sim_backend_cuda.copy(to + (size_t)slots * slot, listed_numbers(w), (size_t)w->listed * size));
  }
  for (int k = 0; k < slots; k++) SIM_TRY(send_field(w, k, last ? to + (size_t)k * slot : NULL));
  return SIM_OK;
}

/* The planes of others as well: steps before have left numbers there. */
sim_status fluid_cuda_restore_slots(fluid_work *w, const sim_array *whole, const sim_array *own) {
  const size_t size = number_size(w), plane = plane_numbers(w) * size;
  const int slots = w->m->lattice->directions;
  const char *from = whole->data;
  char *to = w->state[0].data;
  (void)own;
  for (int slot = 0; slot < slots; slot++)
    for (int64_t k = 0; k < w->d.l.n[w->d.rank - 1]; k++) {
      const size_t there = (size_t)slot * (size_t)w->m->part.planes + (size_t)fluid_cuda_plane(w->m, &w->d, k);
      SIM_TRY(sim_backend_cuda.copy(to + ((size_t)slot * (size_t)w->d.l.n[w->d.rank - 1] + (size_t)k) * plane,
                                    from + there * plane, plane));
    }
  return sim_backend_cuda.copy(listed_numbers(w), from + (size_t)slots * (size_t)w->m->part.planes * plane,
                               (size_t)w->listed * size);
}

sim_status fluid_cuda_divide(fluid_work *w, bool read, sim_array *array) {
  divide_rows(w, array);
  array->data = (char *)array->data + (size_t)w->d.l.first * plane_numbers(w) * number_size(w);
  if (!read) return SIM_OK;
  SIM_TRY(gather_sponge(w));
  SIM_TRY(gather_listed(w));
  return fields_behind(w) > 0 ? join_fields(w, array) : SIM_OK;
}

sim_status fluid_cuda_restore(fluid_work *w, const sim_array *whole, const sim_array *own) {
  const fluid_part *part = &w->m->part;
  const size_t size = number_size(w), row = (size_t)own->global[1] * size;
  const int64_t cells = part->planes * part->rows;
  const size_t field = (size_t)(cells * w->d.l.n[0]) * size, first = (size_t)(part->first * part->rows * w->d.l.n[0]);
  const char *from = whole->data, *behind = from + (size_t)(cells * w->d.l.groups) * row;
  char *to = w->state[w->d.now].data;
  SIM_TRY(sim_backend_cuda.copy(to + (size_t)w->d.l.first * plane_numbers(w) * size,
                                from + (size_t)own->offset[0] * row, (size_t)w->d.l.own * plane_numbers(w) * size));
  SIM_TRY(sim_backend_cuda.copy(to + w->d.numbers * size, behind, (size_t)w->listed * size));
  for (int k = 0; k < fields_behind(w); k++)
    SIM_TRY(sim_backend_cuda.copy(own_field(w, k), behind + (size_t)w->listed * size + (size_t)k * field + first * size,
                                  field_bytes(w, part->comm->rank)));
  return SIM_OK;
}
