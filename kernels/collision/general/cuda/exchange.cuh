/* Removal and insertion of grains, host part: only these grains are copied between host and device. */
#ifndef COLLISION_GENERAL_CUDA_EXCHANGE_CUH
#define COLLISION_GENERAL_CUDA_EXCHANGE_CUH

#include "kernels/collision/general/cuda/flow.cuh"
#include "kernels/collision/general/cuda/state.cuh"

/* Up to eight regions for one launch, from `first` on. */
static inline region_batch regions_from(const collision_region *regions, int count, int first) {
  region_batch batch = {count - first < 8 ? count - first : 8, {}, {}};
  for (int s = 0; s < batch.count; s++) {
    memcpy(batch.low[s], regions[first + s].low, sizeof batch.low[s]);
    memcpy(batch.high[s], regions[first + s].high, sizeof batch.high[s]);
  }
  return batch;
}

/* Operation `within`, on the positions of the last step. All ranks. */
template <typename real>
static sim_status within(general_work<real> *w, const collision_region *regions, int count, bool *out) {
  int any = 0;
  uint64_t all;
  SIM_TRY(sim_backend_cuda.copy(w->any, &any, sizeof any));
  for (int first = 0; first < count; first += 8)
    device_launch(&observe_launch, 0, grid_of(w->numbers.n), GENERAL_THREADS, find_within<real>, w->arrays,
                  regions_from(regions, count, first), w->launch, w->any);
  SIM_TRY(sim_backend_cuda.copy(&any, w->any, sizeof any));
  SIM_TRY(sim_comm_agree(w->domain.comm, (uint64_t)any, &all));
  *out = all != 0;
  return SIM_OK;
}

/* Downloads the first `count` numbers of a device array into out[ids[k]]. piece: host memory for them. */
template <typename From, typename To>
static sim_status download_picked(const From *device, const uint32_t *ids, uint32_t count, void *piece, To *out) {
  const From *const from = (const From *)piece;
  SIM_TRY(sim_backend_cuda.copy(piece, device, count * sizeof *from));
  for (uint32_t k = 0; k < count; k++) out[ids[k]] = (To)from[k];
  return SIM_OK;
}

template <typename real>
static sim_status download_picked_grains(const general_work<real> *w, uint32_t count, uint32_t *ids, void *piece,
                                         collision_indices *out) {
  const collision_state *s = &w->state;
  general_control now;
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  const general_records<real> *records = &w->arrays.records[now.home ^ 1];
  const vec4<real> *const position = (const vec4<real> *)piece;
  SIM_TRY(sim_backend_cuda.copy(ids, w->arrays.order, count * sizeof *ids));
  SIM_TRY(sim_backend_cuda.copy(piece, w->arrays.grains[now.order ^ 1].position, count * sizeof *position));
  for (uint32_t k = 0; k < count; k++) {
    if (!collision_indices_add(out, ids[k])) return sim_no_memory("grains that go");
    real *const x = (real *)s->position + ids[k];
    x[0] = position[k].x, x[s->n] = position[k].y, x[2 * s->n] = position[k].z;
  }
  SIM_TRY(download_picked(records->dissipated, ids, count, piece, s->dissipated));
  SIM_TRY(download_picked(records->virial, ids, count, piece, s->virial));
  SIM_TRY(download_picked(records->collisions, ids, count, piece, s->collisions));
  if (s->work != NULL) SIM_TRY(download_picked(records->work, ids, count, piece, s->work));
  for (int k = 0; k < w->numbers.gates; k++)
    SIM_TRY(download_picked(records->crossed + (size_t)k * (size_t)s->n, ids, count, piece, s->crossed + k * s->n));
  return SIM_OK;
}

template <typename real>
static sim_status pick(general_work<real> *w, const collision_region *regions, int count, collision_indices *out) {
  uint32_t picked = 0;
  SIM_TRY(complete_steps(w));
  SIM_TRY(gather_grains(w));
  for (int first = 0; first < count; first += 8)
    device_launch(&observe_launch, 0, grid_of(w->numbers.n), GENERAL_THREADS, mark_within<real>, w->arrays,
                  regions_from(regions, count, first), first > 0, w->launch);
  launch_cooperative(w, &observe_launch, pick_marked<real>, w->arrays, w->launch);
  SIM_TRY(sim_backend_cuda.copy(&picked, w->arrays.rank + w->numbers.n, sizeof picked));
  if (picked == 0) return SIM_OK;
  char *piece = (char *)malloc(picked * (sizeof(vec4<real>) + sizeof(uint32_t)));
  if (piece == NULL) return sim_no_memory("grains on their way from the GPU");
  const sim_status status =
      download_picked_grains(w, picked, (uint32_t *)(piece + picked * sizeof(vec4<real>)), piece, out);
  free(piece);
  return status;
}

/* ---- exchange ---- */

template <typename real>
static sim_status upload_moves(general_work<real> *w, const collision_move *moves, int64_t count, grain_moves *out) {
  uint32_t *const piece = (uint32_t *)malloc(3 * (size_t)count * sizeof *piece + 1);
  if (piece == NULL) return sim_no_memory("grains that stay");
  for (int64_t k = 0; k < count; k++) {
    piece[k] = (uint32_t)moves[k].from;
    piece[count + k] = (uint32_t)moves[k].count;
    piece[2 * count + k] = (uint32_t)moves[k].to;
  }
  const sim_status status = sim_backend_cuda.copy(w->moves, piece, 3 * (size_t)count * sizeof *piece);
  free(piece);
  *out = {(uint32_t)count, w->numbers.n, (uint32_t)*w->state.live, w->moves, w->moves + count, w->moves + 2 * count};
  return status;
}

/* Uploads the new grains into the other set, and their indices into `order`. */
template <typename real>
static sim_status upload_new_grains(const general_work<real> *w, const general_control *now,
                                    const collision_indices *come) {
  const collision_state *s = &w->state;
  const int64_t n = *s->live, count = come->count;
  const general_grains<real> *g = &w->arrays.grains[now->order ^ 1];
  const void *const vectors[] = {s->position, s->velocity, s->acceleration}, *const fourth[] = {s->radius, s->mass,
                                                                                                NULL};
  vec4<real> *const to[] = {g->position, g->velocity, g->spin};
  vec4<real> *const piece = (vec4<real> *)malloc((size_t)count * sizeof *piece);
  if (piece == NULL) return sim_no_memory("grains on their way to the GPU");
  uint32_t *const words = (uint32_t *)piece;
  sim_status status = SIM_OK;
  for (int a = 0; a < 3 && status == SIM_OK; a++) {
    const real *const v = (const real *)vectors[a], *const f = (const real *)fourth[a];
    for (int64_t k = 0; k < count; k++) {
      const int64_t i = come->at[k];
      piece[k] = {v[i], v[n + i], v[2 * n + i], f != NULL ? f[i] : 0};
    }
    status = sim_backend_cuda.copy(to[a], piece, (size_t)count * sizeof *piece);
  }
  for (int64_t k = 0; k < count; k++) words[k] = (uint32_t)s->material[come->at[k]];
  if (status == SIM_OK)
    status = sim_backend_cuda.copy(w->arrays.records[now->home ^ 1].material, words, (size_t)count * sizeof *words);
  for (int64_t k = 0; k < count; k++) words[k] = (uint32_t)come->at[k];
  if (status == SIM_OK) status = sim_backend_cuda.copy(w->arrays.order, words, (size_t)count * sizeof *words);
  free(piece);
  return status;
}

/* Gives every rank the history of the others' contacts: their `counts`, packed in the other list. All ranks. */
template <typename real> static sim_status share_history(general_work<real> *w, const uint32_t *counts) {
  const general_domain *d = &w->domain;
  const int ranks = d->comm->size, rank = d->comm->rank;
  const size_t size = contact_bytes<real>(w->options.springs);
  const uint32_t each = (uint32_t)(d->slot / size);
  uint32_t most = 0;
  for (int r = 0; r < ranks; r++) most = counts[r] > most ? counts[r] : most;
  for (uint64_t from = 0; from < most; from += each) {
    uint32_t here[SIM_RANKS_MAX];
    size_t bytes[SIM_RANKS_MAX];
    for (int r = 0; r < ranks; r++) {
      const uint64_t left = counts[r] > from ? counts[r] - from : 0;
      here[r] = left < each ? (uint32_t)left : each;
    }
    for (int r = 0; r < ranks; r++) bytes[r] = here[rank] * size;
    sim_turn_begin(d->turn);
    if (here[rank] > 0)
      device_launch(&migrants_launch, 0, grid_of(here[rank]), GENERAL_THREADS, send_history<real>, w->arrays,
                    (uint32_t)from, here[rank], (char *const *)d->to, ranks, rank, w->launch);
    send_messages(d, 0, bytes);
    sim_turn_end(d->turn);
    for (int r = 0; r < ranks; r++)
      if (r != rank && here[r] > 0)
        device_launch(&migrants_launch, 0, grid_of(here[r]), GENERAL_THREADS, receive_history<real>, w->arrays,
                      message_from(d, r), here[r], w->launch);
  }
  return sim_queue_cuda.status();
}

template <typename real>
static sim_status exchange(general_work<real> *w, const collision_move *moves, int64_t move_count,
                           const collision_indices *come) {
  const int springs = w->options.springs;
  general_control now;
  grain_moves to = {};
  uint32_t contacts = 0, counts[SIM_RANKS_MAX];
  uint64_t all = 0;
  SIM_TRY(complete_steps(w));
  SIM_TRY(gather_grains(w));
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  SIM_TRY(upload_moves(w, moves, move_count, &to));
  device_launch(&observe_launch, 0, grid_of(to.before), GENERAL_THREADS, order_by_id<real>, w->arrays, w->launch);
  if (springs > 0) launch_cooperative(w, &observe_launch, pack_history<real>, w->arrays, w->launch);
  device_launch(&observe_launch, 0, grid_of(to.before), GENERAL_THREADS, move_staying<real>, w->arrays, to, w->launch);
  if (springs > 0) {
    launch_cooperative(w, &observe_launch, move_history<real>, w->arrays, to, w->start, w->launch);
    SIM_TRY(sim_backend_cuda.copy(&contacts, w->start + to.after, sizeof contacts));
    SIM_TRY(gather_words(&w->domain, &contacts, sizeof contacts, counts));
    for (int r = 0; r < w->domain.comm->size; r++) all += counts[r];
    if (all > (uint64_t)collision_contact_room(to.after, springs))
      return sim_fail(SIM_ERR_DIVERGED, "more than %lld contacts have a history: grains are pressed into each other",
                      (long long)collision_contact_room(to.after, springs));
  }
  if (come->count > 0) {
    SIM_TRY(upload_new_grains(w, &now, come));
    device_launch(&observe_launch, 0, grid_of((uint64_t)come->count), GENERAL_THREADS, insert_grains<real>, w->arrays,
                  to, w->arrays.order, (uint32_t)come->count, w->launch);
  }
  w->exchanged = true;
  SIM_TRY(update_count(w));
  SIM_TRY(begin_lists(w, now.order, now.home));
  if (all == 0) return SIM_OK;
  SIM_TRY(sim_backend_cuda.copy(w->arrays.rank, w->start, ((size_t)to.after + 1) * sizeof *w->start));
  device_launch(&observe_launch, 0, grid_of(to.after), GENERAL_THREADS, unpack_history<real>, w->arrays, w->launch);
  return w->domain.comm->size > 1 ? share_history(w, counts) : sim_queue_cuda.status();
}

#endif
