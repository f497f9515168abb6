/* Fixed-point solver on several GPUs: memory that ranks share, division of the layers, grains that change ranks,
 * ghosts, and what the host brings where kernels do not reach the other ranks. CPU counterpart: cpu/ranks.c. */
#include "kernels/collision/fixed_point/cuda/ranks.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static const sim_comm *comm_of(const collision_work *w) { return w->options.comm; }

static uint64_t slots_of(uint64_t n) { return (uint64_t)tiles_of((uint32_t)n) * FIXED_TILE + FIXED_TILE; }

static size_t align(size_t bytes) { return (bytes + 255) / 256 * 256; }

static size_t shared_bytes(uint64_t n, size_t grain) {
  const size_t slots = (size_t)slots_of(n);
  return align(sizeof(fixed_mail)) + 2 * (align(slots * grain) + 2 * align(slots * sizeof(uint32_t)));
}

static sim_columns columns_of(const sim_comm *comm, uint64_t n) {
  return {FIXED_WHOLE, (size_t)n, sim_comm_share(comm, (size_t)n)};
}

double collision_fixed_cuda_ranks_bytes(const collision_options *options, size_t grain) {
  const sim_comm *comm = options->comm;
  if (comm->size == 1) return 0;
  const sim_columns columns = columns_of(comm, (uint64_t)options->n);
  const size_t bytes = shared_bytes((uint64_t)options->n, grain);
  return sim_exchange_bytes(comm, &columns) + sim_turn_bytes(comm, 1, &bytes);
}

sim_status collision_fixed_cuda_ranks_create(collision_work *w, size_t grain) {
  fixed_arrays *a = &w->arrays;
  fixed_ranks *ranks = &a->ranks;
  const sim_comm *comm = comm_of(w);
  const size_t n = a->n, slots = (size_t)slots_of(n), bytes = shared_bytes(n, grain);
  const sim_columns columns = columns_of(comm, n);
  if (comm->size == 1) return SIM_OK;
  w->census = (fixed_census *)calloc((size_t)comm->size, sizeof *w->census);
  if (w->census == NULL) return sim_no_memory("the exchange");
  SIM_TRY(sim_exchange_create(comm, &columns, &w->exchange));
  SIM_TRY(sim_turn_create(comm, w->exchange, 1, &bytes, n * grain, &w->turn));
  const sim_peers *peers = sim_exchange_peers(w->exchange);
  ranks->rank = comm->rank;
  ranks->size = comm->size;
  ranks->peers = peers != NULL;
  if (peers != NULL) {
    ranks->words = peers->words;
    ranks->delay = peers->delay;
  }
  for (int r = 0; r < comm->size && peers != NULL; r++) ranks->memory[r] = (char *)sim_turn_peer(w->turn, r, 0);
  char *at = (char *)sim_turn_array(w->turn, 0);
  ranks->mail = (fixed_mail *)at;
  at += align(sizeof(fixed_mail));
  for (int k = 0; k < 2; k++) {
    a->grain[k] = at, at += align(slots * grain);
    a->id[k] = (uint32_t *)at, at += align(slots * sizeof(uint32_t));
    a->collisions[k] = (uint32_t *)at, at += align(slots * sizeof(uint32_t));
  }
  ranks->out = a->whole; /* 40 bytes a grain */
  ranks->out_id = (uint32_t *)((char *)a->whole + n * grain);
  ranks->out_collisions = ranks->out_id + n;
  return SIM_OK;
}

void collision_fixed_cuda_ranks_destroy(collision_work *w) {
  sim_turn_destroy(&w->turn);
  sim_exchange_destroy(&w->exchange);
  free(w->census);
}

/* ---- division of the layers ---- */

enum { LAYERS_MIN = 2 }; /* of a rank: so no grain has two ghosts at one neighbour */

static uint32_t layer_of_state(const collision_work *w, int64_t i) {
  return (uint32_t)((uint64_t)(uint32_t)w->state.quanta[w->state.n + i] * w->arrays.cells.count[1] >> 32);
}

bool collision_fixed_cuda_owns(const collision_work *w, int64_t i) {
  return w->exchange == NULL || layer_of_state(w, i) - w->arrays.cells.first < w->arrays.cells.layers;
}

/* Cuts the layers into ranges of about equal numbers of grains: rank r has those from cut[r] on. count [layers]:
 * grains. Returns the number of ranks that have layers. */
static int cut_layers(const collision_work *w, const int64_t *count, uint32_t *cut) {
  const int64_t layers = w->arrays.cells.count[1];
  const int size = comm_of(w)->size, most = (int)(layers / LAYERS_MIN), owners = size < most ? size : most;
  int64_t before = 0, at = 0;
  cut[0] = 0;
  for (int r = 1; r < owners; r++) {
    const int64_t aim = w->state.n * r / owners;
    while (at < layers && 2 * (aim - before) > count[at]) before += count[at++];
    const int64_t low = cut[r - 1] + LAYERS_MIN, high = layers - LAYERS_MIN * (owners - r);
    cut[r] = (uint32_t)(at < low ? low : at > high ? high : at);
  }
  for (int r = owners; r <= size; r++) cut[r] = (uint32_t)layers;
  return owners;
}

/* Divides the own layers into blocks of cells. */
static sim_status choose_blocks(collision_work *w, bool divided) {
  fixed_cells *c = &w->arrays.cells;
  const uint64_t most = fixed_cells_most(w->arrays.n) + FIXED_SCAN;
  const uint64_t rows = (uint64_t)(c->layers + 2) * c->count[0] * c->count[2] + 1;
  uint64_t all;
  if (divided && c->block[1] > c->layers / 2) c->block[1] = c->layers / 2;
  for (;; c->block[1] /= 2) {
    c->blocks[0] = (c->layers + c->block[1] - 1) / c->block[1];
    all = (uint64_t)c->blocks[0] * c->block[1] * c->blocks[1] * c->block[2] * c->count[0];
    if (all < rows && divided) all = rows;
    all = (all + FIXED_SCAN - 1) / FIXED_SCAN * FIXED_SCAN;
    if (all <= most || c->block[1] == 1) break;
  }
  if (all > most) return sim_fail(SIM_ERR_INTERNAL, "more cells of a rank than memory was counted for");
  c->all = all > 0 ? (uint32_t)all : (uint32_t)FIXED_SCAN;
  c->edge = divided ? c->block[1] : 0;
  c->row[0] = divided ? c->count[2] : c->count[1] * c->count[2];
  c->row[1] = divided ? c->count[0] * c->count[2] : c->count[2];
  return SIM_OK;
}

/* Writes the share and the mail before the first launch, whose number is 0. grains [size]: of each rank. */
static sim_status begin_share(collision_work *w, const int64_t *grains) {
  const fixed_ranks *ranks = &w->arrays.ranks;
  fixed_share share = {};
  share.n = (uint32_t)grains[ranks->rank];
  share.tiles = tiles_of(share.n);
  for (int s = 0; s < FIXED_SIDES; s++) share.there[s] = (uint32_t)grains[ranks->neighbour[s]];
  fixed_mail *mail = (fixed_mail *)calloc(1, sizeof *mail);
  if (mail == NULL) return sim_no_memory("the exchange");
  for (int r = 0; r < ranks->size; r++) mail->word[3][r] = fixed_word(0, 0, (unsigned)-1);
  sim_status status = sim_backend_cuda.copy(ranks->mail, mail, sizeof *mail);
  free(mail);
  if (status == SIM_OK) status = sim_backend_cuda.copy(ranks->share, &share, sizeof share);
  uint64_t any;
  return status == SIM_OK ? sim_comm_agree(comm_of(w), 0, &any) : status; /* no rank writes mail before */
}

sim_status collision_fixed_cuda_ranks_load(collision_work *w) {
  fixed_cells *c = &w->arrays.cells;
  fixed_ranks *ranks = &w->arrays.ranks;
  uint32_t cut[SIM_RANKS_MAX + 1];
  int64_t grains[SIM_RANKS_MAX] = {};
  if (w->exchange == NULL) return SIM_OK;
  int64_t *const count = (int64_t *)calloc(c->count[1], sizeof *count);
  if (count == NULL) return sim_no_memory("the layers of the ranks");
  for (int64_t i = 0; i < w->state.n; i++) count[layer_of_state(w, i)]++;
  const int owners = cut_layers(w, count, cut);
  for (int r = 0; r < ranks->size; r++)
    for (uint32_t layer = cut[r]; layer < cut[r + 1]; layer++) grains[r] += count[layer];
  free(count);
  c->first = cut[ranks->rank];
  c->layers = cut[ranks->rank + 1] - c->first;
  ranks->divided = owners > 1 && ranks->rank < owners;
  ranks->neighbour[FIXED_LOWER] = ranks->divided ? (ranks->rank + owners - 1) % owners : 0;
  ranks->neighbour[FIXED_UPPER] = ranks->divided ? (ranks->rank + 1) % owners : 0;
  ranks->beyond = ranks->divided ? (ranks->rank + 2) % owners : 0;
  SIM_TRY(choose_blocks(w, ranks->divided));
  return begin_share(w, grains);
}

/* ---- grains that change ranks ---- */

template <typename Grain> static __global__ void migrate(fixed_arrays a, unsigned k) {
  after_previous();
  const fixed_control now = a.control[k & 1];
  const fixed_ranks &ranks = a.ranks;
  if (!now.rebuild) return;
  fixed_share *const share = ranks.share;
  const Grain *const grain = (const Grain *)a.grain[now.buffer ^ 1];
  const uint32_t n = ranks.divided ? min(share->boundary, share->n) : 0, all = a.cells.count[1];
  for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const Grain one = grain[i];
    const uint32_t layer = layer_of(a.cells, one.x);
    if (layer < a.cells.layers) continue;
    const uint32_t y = fixed_cell_of(one.x[1], all), end = a.cells.first + a.cells.layers;
    const int side = y == (end < all ? end : 0) ? FIXED_UPPER : FIXED_LOWER, to = ranks.neighbour[side];
    if (side == FIXED_LOWER && y != (a.cells.first > 0 ? a.cells.first : all) - 1) atomicOr(a.fault, FIXED_LOST);
    uint32_t at;
    if (ranks.peers)
      at = share->there[side] + atomicAdd_system(&at_rank(a, to, ranks.mail)->arrived, 1u);
    else if (side == FIXED_LOWER)
      at = atomicAdd(&share->sent[side], 1u);
    else
      at = a.n - 1 - atomicAdd(&share->sent[side], 1u);
    const int buffer = now.buffer ^ 1, order = now.order ^ 1;
    (ranks.peers ? at_rank(a, to, (Grain *)a.grain[buffer]) : (Grain *)ranks.out)[at] = one;
    (ranks.peers ? at_rank(a, to, a.id[order]) : ranks.out_id)[at] = a.id[order][i];
    (ranks.peers ? at_rank(a, to, a.collisions[order]) : ranks.out_collisions)[at] = a.collisions[order][i];
  }
  if (last_block(a)) tell_meeting(a, fixed_meeting(now.rebuilds, FIXED_MIGRATED));
}

/* Puts the ghosts into the order of rows, behind the own grains; they came in the order of their cells. */
template <typename Grain> static __global__ void place_ghosts(fixed_arrays a, fixed_point_constants g, unsigned k) {
  after_previous();
  const fixed_control now = a.control[k & 1];
  const fixed_share *const share = a.ranks.share;
  const fixed_cells &c = a.cells;
  if (!now.rebuild || !a.ranks.divided) return;
  await_meeting(a, fixed_meeting(now.rebuilds, FIXED_PUSHED));
  const Grain *const ghost = (const Grain *)a.grain[now.buffer] + (size_t)share->tiles * FIXED_TILE;
  const uint32_t upper = share->ghosts[0], all = upper + share->ghosts[1], n = share->n;
  const uint32_t first = c.layers * c.row[1], end = (c.layers + 2) * c.row[1];
  const auto cell_at = [&](uint32_t i) { return straight_cell_of(c, ghost[i].x, i < upper ? c.layers : c.layers + 1); };
  const uint32_t from = blockIdx.x * 256 + threadIdx.x, step = gridDim.x * 256;
  for (uint32_t i = from; i < all; i += step) {
    const Grain one = ghost[i];
    const uint32_t cell = straight_cell_of(c, one.x, i < upper ? c.layers : c.layers + 1);
    ((float4 *)a.scratch)[n + i] = sphere_of(a, g, one, now.reach_long);
    a.slot[n + i] = share->tiles * FIXED_TILE + i;
    for (uint32_t empty = i > 0 ? cell_at(i - 1) + 1 : first; empty <= cell; empty++) a.row[empty] = n + i;
  }
  for (uint32_t empty = (all > 0 ? cell_at(all - 1) + 1 : first) + from; empty <= end; empty += step)
    a.row[empty] = n + all;
}

template <typename Grain> static void launch_migrate(collision_work *w) {
  static const sim_kernel kernel = {"collision_fixed_point_migrate", "search", SIM_LIMIT_BYTES};
  device_launch(&kernel, 0, collision_cuda_grid(2, w->arrays.n), 256, migrate<Grain>, w->arrays, w->launch);
}
template <typename Grain> static void launch_place(collision_work *w) {
  static const sim_kernel kernel = {"collision_fixed_point_ghosts", "search", SIM_LIMIT_BYTES};
  device_launch(&kernel, 0, collision_cuda_grid(4, w->arrays.n), 256, place_ghosts<Grain>, w->arrays, w->numbers,
                w->launch);
}

void collision_fixed_cuda_migrate(collision_work *w) {
  if (w->system.equal)
    launch_migrate<fixed_grain>(w);
  else
    launch_migrate<fixed_mixed_grain>(w);
  collision_fixed_cuda_bring(w, FIXED_MIGRATED);
}

void collision_fixed_cuda_ghosts(collision_work *w) {
  if (w->system.equal)
    launch_place<fixed_grain>(w);
  else
    launch_place<fixed_mixed_grain>(w);
}

/* ---- what the host brings ---- */

/* Whether an exchange succeeded; a failure of another rank becomes one of the queue. */
static bool agreed(sim_status status) {
  if (status != SIM_OK) sim_cuda_failed_by(status, sim_error_last()->message);
  return status == SIM_OK;
}

static bool copied(void *to, const void *from, size_t bytes) { return agreed(sim_backend_cuda.copy(to, from, bytes)); }

/* Sends `count` items of `out` from `first` on to a neighbour: to place `at` of its array, here `array`. */
static void send_items(collision_work *w, int side, const void *out, size_t first, size_t count, void *array, size_t at,
                       size_t size) {
  sim_box boxes[SIM_RANKS_MAX] = {};
  const char *const shared = (const char *)sim_turn_array(w->turn, 0);
  if (w->arrays.ranks.divided && count > 0) {
    sim_box *const box = &boxes[w->arrays.ranks.neighbour[side]];
    box->from = (const char *)out + first * size;
    box->to = (size_t)((const char *)array - shared) + at * size;
    box->width = box->from_pitch = box->to_pitch = count * size;
    box->rows = 1;
  }
  sim_turn_send(w->turn, 0, boxes);
}

static size_t grain_bytes(const collision_work *w) {
  return w->system.equal ? sizeof(fixed_grain) : sizeof(fixed_mixed_grain);
}

static void bring_migrants(collision_work *w, const fixed_control *now) {
  const fixed_arrays *a = &w->arrays;
  const fixed_ranks *ranks = &a->ranks;
  uint32_t sent[SIM_RANKS_MAX][FIXED_SIDES], arrived[SIM_RANKS_MAX] = {}, place[FIXED_SIDES] = {};
  fixed_share share;
  int to[SIM_RANKS_MAX][FIXED_SIDES];
  if (!copied(&share, ranks->share, sizeof share)) return;
  if (!agreed(comm_of(w)->ops->gather(comm_of(w), share.sent, sizeof share.sent, sent))) return;
  if (!agreed(comm_of(w)->ops->gather(comm_of(w), ranks->neighbour, sizeof ranks->neighbour, to))) return;
  for (int r = 0; r < ranks->size; r++)
    for (int s = 0; s < FIXED_SIDES; s++) {
      if (r == ranks->rank) place[s] = share.there[s] + arrived[to[r][s]];
      arrived[to[r][s]] += sent[r][s];
    }
  for (int s = 0; s < FIXED_SIDES; s++) {
    const size_t count = share.sent[s], first = s == FIXED_LOWER ? 0 : a->n - count;
    send_items(w, s, ranks->out, first, count, a->grain[now->buffer ^ 1], place[s], grain_bytes(w));
    send_items(w, s, ranks->out_id, first, count, a->id[now->order ^ 1], place[s], sizeof(uint32_t));
    send_items(w, s, ranks->out_collisions, first, count, a->collisions[now->order ^ 1], place[s], sizeof(uint32_t));
  }
  const uint32_t none[FIXED_SIDES] = {};
  (void)(copied(&ranks->mail->arrived, &arrived[ranks->rank], sizeof(uint32_t)) &&
         copied(ranks->share->sent, none, sizeof none));
}

static void bring_census(collision_work *w) {
  fixed_mail *const mail = w->arrays.ranks.mail;
  fixed_census own;
  if (!copied(&own, &mail->census[comm_of(w)->rank], sizeof own)) return;
  if (!agreed(comm_of(w)->ops->gather(comm_of(w), &own, sizeof own, w->census))) return;
  (void)copied(mail->census, w->census, (size_t)comm_of(w)->size * sizeof own);
}

/* Ghosts with their ids, or their new states alone. */
static void bring_ghosts(collision_work *w, const fixed_control *now, bool ids) {
  const fixed_arrays *a = &w->arrays;
  const fixed_ranks *ranks = &a->ranks;
  const uint32_t *const edge = w->census[ranks->rank].edge;
  for (int s = 0; s < FIXED_SIDES; s++) {
    const size_t first = s == FIXED_LOWER ? 0 : edge[FIXED_LOWER];
    const size_t there = (size_t)tiles_of(w->census[ranks->neighbour[s]].n) * FIXED_TILE +
                         (s == FIXED_LOWER ? 0 : w->census[ranks->beyond].edge[FIXED_LOWER]);
    send_items(w, s, ranks->out, first, edge[s], a->grain[now->buffer], there, grain_bytes(w));
    if (ids) send_items(w, s, ranks->out_id, first, edge[s], a->id[now->order], there, sizeof(uint32_t));
  }
}

static void bring_word(collision_work *w) {
  fixed_mail *const mail = w->arrays.ranks.mail;
  unsigned long long words[SIM_RANKS_MAX], own, *const at = mail->word[(w->launch - 1) & 3];
  if (!copied(&own, at + comm_of(w)->rank, sizeof own)) return;
  if (!agreed(comm_of(w)->ops->gather(comm_of(w), &own, sizeof own, words))) return;
  (void)copied(at, words, (size_t)comm_of(w)->size * sizeof own);
}

void collision_fixed_cuda_bring(collision_work *w, fixed_stage stage) {
  fixed_control now;
  if (w->exchange == NULL || w->arrays.ranks.peers || sim_queue_cuda.status() != SIM_OK) return;
  if (!copied(&now, &w->arrays.control[w->launch & 1], sizeof now)) return;
  const bool stepped = stage == FIXED_STEPPED && now.done != w->brought;
  w->brought = now.done;
  if (stage == FIXED_MIGRATED && now.rebuild) bring_migrants(w, &now);
  if (stage == FIXED_COUNTED && now.rebuild) bring_census(w);
  if (stepped || (stage == FIXED_PUSHED && now.rebuild)) bring_ghosts(w, &now, !stepped);
  if (stage == FIXED_STEPPED || stage == FIXED_LISTED) bring_word(w);
}

/* ---- observations and faults ---- */

template <typename Grain> static __global__ void write_whole(fixed_arrays a, unsigned k) {
  after_previous();
  const fixed_control now = a.control[k & 1];
  const Grain *const grain = (const Grain *)a.grain[now.buffer];
  for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < a.ranks.share->n; i += gridDim.x * 256) {
    const Grain one = grain[i];
    const uint4 impulse = a.scratch[i];
    const uint32_t word[2 * FIXED_WHOLE] = {
        one.x[0],           one.x[1],  one.x[2],  (uint32_t)one.p[0], (uint32_t)one.p[1],
        (uint32_t)one.p[2], impulse.x, impulse.y, impulse.z,          a.collisions[now.order][i]};
    for (int row = 0; row < FIXED_WHOLE; row++)
      a.whole[(size_t)row * a.n + a.id[now.order][i]] = (unsigned long long)word[2 * row + 1] << 32 | word[2 * row];
  }
}

void collision_fixed_cuda_gather(collision_work *w) {
  static const sim_kernel kernel = {"collision_fixed_point_whole", "observe", SIM_LIMIT_BYTES};
  const fixed_arrays &a = w->arrays;
  if (w->exchange == NULL) return;
  sim_cuda_failed(
      cudaMemsetAsync(a.whole, 0, (size_t)FIXED_WHOLE * a.n * sizeof *a.whole, (cudaStream_t)sim_cuda_stream()),
      "cudaMemsetAsync", "grains of all ranks");
  device_launch(&kernel, 0, collision_cuda_grid(8, a.n), 256,
                w->system.equal ? write_whole<fixed_grain> : write_whole<fixed_mixed_grain>, a, w->launch);
  sim_exchange_add(w->exchange, (int64_t *)a.whole);
}

struct fixed_numbers {
  long long pair_sums[FIXED_CONTACT_SUMS];
  unsigned long long tally[4];
};

sim_status collision_fixed_cuda_add(const collision_work *w, long long *pair_sums, unsigned long long tally[4]) {
  fixed_numbers own = {}, *all;
  const sim_comm *comm = comm_of(w);
  if (w->exchange == NULL) return SIM_OK;
  if ((all = (fixed_numbers *)calloc((size_t)comm->size, sizeof *all)) == NULL)
    return sim_no_memory("sums of the ranks");
  if (pair_sums != NULL) memcpy(own.pair_sums, pair_sums, sizeof own.pair_sums);
  memcpy(own.tally, tally, sizeof own.tally);
  const sim_status status = comm->ops->gather(comm, &own, sizeof own, all);
  memset(tally, 0, sizeof own.tally);
  for (int s = 0; s < FIXED_OVERLAP && pair_sums != NULL; s++) pair_sums[s] = 0;
  for (int r = 0; r < comm->size && status == SIM_OK; r++) {
    for (int s = 0; s < FIXED_OVERLAP && pair_sums != NULL; s++) pair_sums[s] += all[r].pair_sums[s];
    if (pair_sums != NULL && all[r].pair_sums[FIXED_OVERLAP] > pair_sums[FIXED_OVERLAP])
      pair_sums[FIXED_OVERLAP] = all[r].pair_sums[FIXED_OVERLAP];
    for (int t = 0; t < 4; t++) tally[t] += all[r].tally[t];
  }
  for (int t = 0; t < 4; t += 2) {
    tally[t + 1] += tally[t] >> 32;
    tally[t] &= 0xffffffffu;
  }
  free(all);
  return status;
}

sim_status collision_fixed_cuda_agree_fault(const collision_work *w, int *fault) {
  int all[SIM_RANKS_MAX];
  if (w->exchange == NULL) return SIM_OK;
  SIM_TRY(comm_of(w)->ops->gather(comm_of(w), fault, sizeof *fault, all));
  for (int r = 0; r < comm_of(w)->size; r++) *fault |= all[r];
  return SIM_OK;
}

/* All ranks have agreed on the fault, so the words of the last launch have come. */
sim_status collision_fixed_cuda_clear_fault(const collision_work *w) {
  unsigned long long words[SIM_RANKS_MAX];
  if (w->exchange == NULL) return SIM_OK;
  for (int r = 0; r < comm_of(w)->size; r++) words[r] = fixed_word(0, 0, w->launch - 1);
  return sim_backend_cuda.copy(w->arrays.ranks.mail->word[(w->launch - 1) & 3], words,
                               (size_t)comm_of(w)->size * sizeof *words);
}

sim_status collision_fixed_cuda_outdate(collision_work *w) {
  fixed_control now;
  uint64_t any;
  if (w->exchange == NULL) return SIM_OK;
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  now.moved = now.moved_short = INFINITY;
  SIM_TRY(sim_backend_cuda.copy(&w->arrays.control[w->launch & 1], &now, sizeof now));
  w->undecided = w->chunk;
  return sim_comm_agree(comm_of(w), 0, &any); /* no rank sends grains while another one reads ghosts */
}
