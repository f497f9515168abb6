/* Operations `load` and `store`: the state from the host to the device's arrays and back. CPU: cpu/state.inc. */
#ifndef COLLISION_GENERAL_CUDA_STATE_CUH
#define COLLISION_GENERAL_CUDA_STATE_CUH

#include "kernels/collision/general/cuda/ranks.cuh"

enum { PIECE = 1 << 18 };

/* Copies vectors [3][n] and a fourth number [n] (or NULL) on the host to vec4 [n] on the device, or back (`out`:
 * without the fourth). */
template <typename real>
static sim_status copy_vectors(vec4<real> *device, void *vectors, void *fourth, int64_t n, bool out) {
  vec4<real> *piece = (vec4<real> *)malloc(PIECE * sizeof *piece);
  if (piece == NULL) return sim_no_memory("the grains on their way to or from the GPU");
  real *const v = (real *)vectors, *const f = (real *)fourth;
  sim_status status = SIM_OK;
  for (int64_t first = 0; first < n && status == SIM_OK; first += PIECE) {
    const int64_t here = n - first < PIECE ? n - first : (int64_t)PIECE;
    const size_t size = (size_t)here * sizeof *piece;
    if (out) status = sim_backend_cuda.copy(piece, device + first, size);
    for (int64_t k = 0; k < here && status == SIM_OK; k++) {
      const int64_t i = first + k;
      if (out)
        v[i] = piece[k].x, v[n + i] = piece[k].y, v[2 * n + i] = piece[k].z;
      else
        piece[k] = {v[i], v[n + i], v[2 * n + i], f != NULL ? f[i] : 0};
    }
    if (!out) status = sim_backend_cuda.copy(device + first, piece, size);
  }
  free(piece);
  return status;
}

/* Uploads 64-bit integers [n] as 32-bit ones; `from` NULL: 0, 1, 2 ... */
static inline sim_status upload_integers(uint32_t *device, const uint64_t *from, int64_t n) {
  uint32_t *piece = (uint32_t *)malloc(PIECE * sizeof *piece);
  if (piece == NULL) return sim_no_memory("the grains on their way to the GPU");
  sim_status status = SIM_OK;
  for (int64_t first = 0; first < n && status == SIM_OK; first += PIECE) {
    const int64_t here = n - first < PIECE ? n - first : (int64_t)PIECE;
    for (int64_t k = 0; k < here; k++) piece[k] = (uint32_t)(from != NULL ? from[first + k] : (uint64_t)(first + k));
    status = sim_backend_cuda.copy(device + first, piece, (size_t)here * sizeof *piece);
  }
  free(piece);
  return status;
}

static inline sim_status download_integers(const uint32_t *device, uint64_t *to, int64_t n) {
  uint32_t *piece = (uint32_t *)malloc(PIECE * sizeof *piece);
  if (piece == NULL) return sim_no_memory("the grains on their way from the GPU");
  sim_status status = SIM_OK;
  for (int64_t first = 0; first < n && status == SIM_OK; first += PIECE) {
    const int64_t here = n - first < PIECE ? n - first : (int64_t)PIECE;
    status = sim_backend_cuda.copy(piece, device + first, (size_t)here * sizeof *piece);
    for (int64_t k = 0; k < here && status == SIM_OK; k++) to[first + k] = piece[k];
  }
  free(piece);
  return status;
}

/* Uploads the history of contacts, which stand in the order of ids. */
template <typename real> static sim_status load_history(general_work<real> *w) {
  const collision_state *s = &w->state;
  const int64_t n = s->n;
  const int spare = 1; /* a load uses the first list */
  general_control now;
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  const general_list<real> *list = &w->arrays.list[now.home ^ spare];
  uint64_t *first = (uint64_t *)calloc((size_t)n + 1, sizeof *first), last = 0;
  if (first == NULL) return sim_no_memory("the history of contacts");
  int64_t count = 0;
  bool good = true;
  for (; count < s->room && s->contact_grain[count] != UINT64_MAX && good; count++) {
    const uint64_t grain = s->contact_grain[count];
    good = grain < (uint64_t)n && s->contact_partner[count] < (uint64_t)n && grain >= last;
    last = grain;
    if (good) first[grain + 1]++;
  }
  for (int64_t i = 0; i < n; i++) first[i + 1] += first[i];
  sim_status status = SIM_OK;
  if (!good || (uint64_t)count > w->numbers.room)
    status = sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint's contacts are not those of its grains");
  if (status == SIM_OK) status = upload_integers(w->arrays.rank, first, n + 1);
  if (status == SIM_OK) status = upload_integers(list->neighbour, s->contact_partner, count);
  for (int c = 0; c < w->options.springs && status == SIM_OK; c++)
    status =
        sim_backend_cuda.copy(list->spring + (size_t)c * w->numbers.room,
                              (const real *)s->contact_spring + (int64_t)c * s->room, (size_t)count * sizeof(real));
  free(first);
  if (status == SIM_OK && count > 0)
    device_launch(&observe_launch, 0, grid_of((uint64_t)n), GENERAL_THREADS, unpack_history<real>, w->arrays,
                  w->launch);
  return status;
}

template <typename real>
static sim_status copy_crossed(const general_work<real> *w, const general_records<real> *records, bool out) {
  const int64_t count = w->state.n * w->numbers.gates;
  int32_t *piece = (int32_t *)malloc((size_t)count * sizeof *piece + 1);
  if (piece == NULL) return sim_no_memory("the grains on their way to or from the GPU");
  for (int64_t k = 0; k < count && !out; k++) piece[k] = (int32_t)w->state.crossed[k];
  sim_status status = out ? sim_backend_cuda.copy(piece, records->crossed, (size_t)count * sizeof *piece)
                          : sim_backend_cuda.copy(records->crossed, piece, (size_t)count * sizeof *piece);
  for (int64_t k = 0; k < count && out && status == SIM_OK; k++) w->state.crossed[k] = piece[k];
  free(piece);
  return status;
}

/* Takes the present number of grains from the state, where grains are inserted or removed. */
template <typename real> static sim_status update_count(general_work<real> *w) {
  if (w->state.live != NULL) {
    w->state.n = *w->state.live;
    w->state.room = collision_contact_room(w->state.n, w->options.springs);
    set_grain_count(w, w->state.n);
    lay_cells(w);
  }
  if (w->domain.comm->size > 1) divide_grains(w);
  if (w->state.live == NULL) return SIM_OK;
  return sim_backend_cuda.copy((void *)w->arrays.numbers, &w->numbers, sizeof w->numbers);
}

/* Uploads the kept accelerations by self-gravity. */
template <typename real> static sim_status upload_pull(general_work<real> *w) {
  if (w->state.pull == NULL) return SIM_OK;
  return sim_backend_cuda.copy((void *)w->arrays.pull, w->state.pull, 4 * (size_t)w->state.n * sizeof(double));
}

/* Uploads the clumps; kernels compute the levers of their spheres. */
template <typename real> static sim_status load_bodies(general_work<real> *w) {
  const collision_state *s = &w->state;
  const general_bodies *to = &w->arrays.bodies;
  if (to->count == 0) return SIM_OK;
  SIM_TRY(upload_integers(to->of, s->body_of, s->n));
  SIM_TRY(sim_backend_cuda.copy(to->member, s->member, 3 * (size_t)s->n * sizeof *to->member));
  SIM_TRY(sim_backend_cuda.copy(to->state, s->body, (size_t)to->count * sizeof *to->state));
  launch_bodies(w, turn_bodies<real>);
  return sim_queue_cuda.status();
}

/* Downloads the clumps, and fills the array "orientation". */
template <typename real> static sim_status store_bodies(general_work<real> *w) {
  const collision_state *s = &w->state;
  const general_bodies *from = &w->arrays.bodies;
  if (from->count == 0) return SIM_OK;
  SIM_TRY(sim_backend_cuda.copy(s->body, from->state, (size_t)from->count * sizeof *s->body));
  real *const out = (real *)s->orientation;
  memset(out, 0, 3 * (size_t)s->n * sizeof *out);
  for (int64_t b = 0; b < s->bodies; b++) {
    const int64_t first = (int64_t)s->body[b].first, end = first + (int64_t)s->body[b].count;
    double turn[3];
    rigid_vector(&s->body[b], turn);
    for (int64_t id = first; id < end; id++)
      for (int c = 0; c < 3; c++) out[c * s->n + id] = (real)turn[c];
  }
  return SIM_OK;
}

/* Begins lists and predicted velocities for the grains in these sets. */
template <typename real> static sim_status begin_lists(general_work<real> *w, int order, int home) {
  general_control control[2] = {};
  for (int k = 0; k < 2; k++) control[k] = {INFINITY, 0, w->numbers.reach + w->numbers.skin, order, home, 0};
  const unsigned long long none[4] = {0};
  w->launch = 0;
  w->ended = w->due = 0;
  w->domain.known = false;
  SIM_TRY(sim_backend_cuda.copy(w->arrays.control, control, sizeof control));
  SIM_TRY(sim_backend_cuda.copy(w->arrays.motion, none, sizeof none));
  SIM_TRY(sim_backend_cuda.copy(w->arrays.fault, none, sizeof(int)));
  SIM_TRY(sim_backend_cuda.copy(w->arrays.barrier, none, 2 * sizeof(unsigned)));
  if (w->numbers.meshes > 0)
    device_launch(&observe_launch, 0, grid_of(w->numbers.n), GENERAL_THREADS, clear_near<real>, w->arrays);
  const general_own own = w->arrays.own;
  w->arrays.own = {1, w->numbers.n, {{0, 0, w->numbers.n}}}; /* every rank has all grains now */
  launch_drift(w, 0);
  w->arrays.own = own;
  if (w->domain.comm->size > 1) {
    w->domain.listed = w->domain.pending = false;
    SIM_TRY(rebuild(w, false, true));
  } else {
    launch_search(w, 0);
  }
  return complete_steps(w);
}

template <typename real> static sim_status load(general_work<real> *w) {
  SIM_TRY(update_count(w));
  const collision_state *s = &w->state;
  const general_grains<real> *g = &w->arrays.grains[0];
  const general_records<real> *records = &w->arrays.records[0];
  const int64_t n = s->n;
  for (int64_t i = 0; i < n; i++)
    if (s->material[i] >= (uint64_t)w->options.materials)
      return sim_fail(SIM_ERR_INCOMPATIBLE, "the checkpoint names a material that is not there");
  SIM_TRY(copy_vectors(g->position, s->position, s->radius, n, false));
  SIM_TRY(copy_vectors(g->velocity, s->velocity, s->mass, n, false));
  SIM_TRY(copy_vectors(g->spin, s->spin, NULL, n, false));
  SIM_TRY(copy_vectors(g->acceleration, s->acceleration, NULL, n, false));
  SIM_TRY(copy_vectors(g->angular_acceleration, s->angular_acceleration, NULL, n, false));
  SIM_TRY(upload_integers(records->id, NULL, n));
  SIM_TRY(upload_integers(records->material, s->material, n));
  SIM_TRY(upload_integers(records->collisions, s->collisions, n));
  SIM_TRY(sim_backend_cuda.copy(records->dissipated, s->dissipated, (size_t)n * sizeof(double)));
  SIM_TRY(sim_backend_cuda.copy(records->virial, s->virial, (size_t)n * sizeof(double)));
  if (w->numbers.wall_numbers > 0)
    SIM_TRY(sim_backend_cuda.copy(records->wall_spring, s->wall_spring,
                                  (size_t)w->numbers.wall_numbers * (size_t)n * sizeof(real)));
  if (s->work != NULL) SIM_TRY(sim_backend_cuda.copy(records->work, s->work, (size_t)n * sizeof(double)));
  if (s->temperature != NULL) {
    SIM_TRY(sim_backend_cuda.copy(g->temperature, s->temperature, (size_t)n * sizeof(double)));
    SIM_TRY(sim_backend_cuda.copy(records->wall_heat, s->wall_heat, (size_t)n * sizeof(double)));
  }
  if (w->numbers.gates > 0) SIM_TRY(copy_crossed(w, records, false));
  SIM_TRY(upload_pull(w));
  SIM_TRY(load_bodies(w));
  SIM_TRY(begin_lists(w, 0, 0));
  return w->options.springs > 0 ? load_history(w) : SIM_OK;
}

/* Contacts with history, packed in the order of the ids of their grains. On several ranks: of one rank's grains. */
template <typename real> struct packed_contact {
  uint32_t grain, partner;
  real spring[COLLISION_SPRINGS_MAX];
};

/* Empties the places of contacts from `count` on; those that are empty already are left alone, but not after an
 * exchange of grains. */
template <typename real> static void clear_contacts(general_work<real> *w, int64_t count) {
  const collision_state *s = &w->state;
  for (int64_t k = 0; k < s->room && w->exchanged; k++) s->contact_grain[k] = s->contact_partner[k] = UINT64_MAX;
  if (w->exchanged) memset(s->contact_spring, 0, (size_t)w->options.springs * (size_t)s->room * sizeof(real));
  w->exchanged = false;
  for (int64_t k = count; k < s->room && s->contact_grain[k] != UINT64_MAX; k++) {
    s->contact_grain[k] = s->contact_partner[k] = UINT64_MAX;
    for (int c = 0; c < w->options.springs; c++) ((real *)s->contact_spring)[c * s->room + k] = 0;
  }
}

static inline sim_status too_many_contacts(int64_t room) {
  return sim_fail(SIM_ERR_DIVERGED, "more than %lld contacts have a history: grains are pressed into each other",
                  (long long)room);
}

/* Stores the contacts of all ranks in the order of ids; this rank's are in the state, `own` of them. All ranks. */
template <typename real> static sim_status merge_contacts(general_work<real> *w, uint32_t own) {
  const collision_state *s = &w->state;
  const sim_comm *comm = w->domain.comm;
  const size_t n = (size_t)s->n, springs = (size_t)w->options.springs;
  size_t ends[SIM_RANKS_MAX], bytes = own * sizeof(packed_contact<real>);
  SIM_TRY(gather_words(&w->domain, &bytes, sizeof bytes, ends));
  for (int r = 1; r < comm->size; r++) ends[r] += ends[r - 1];
  const size_t total = ends[comm->size - 1] / sizeof(packed_contact<real>);
  if (total > (size_t)s->room) return too_many_contacts(s->room);
  packed_contact<real> *const all = (packed_contact<real> *)calloc(total + 1, sizeof *all);
  uint64_t *const next = (uint64_t *)calloc(n + 1, sizeof *next);
  sim_status status = all == NULL || next == NULL ? sim_no_memory("the history of contacts") : SIM_OK;
  packed_contact<real> *const mine = all != NULL ? all + ends[comm->rank] / sizeof *all - own : NULL;
  for (size_t k = 0; k < own && status == SIM_OK; k++) {
    mine[k].grain = (uint32_t)s->contact_grain[k];
    mine[k].partner = (uint32_t)s->contact_partner[k];
    for (size_t c = 0; c < springs; c++) mine[k].spring[c] = ((const real *)s->contact_spring)[c * (size_t)s->room + k];
  }
  if (status == SIM_OK) status = sim_comm_gather_parts(comm, all, ends);
  if (status == SIM_OK) clear_contacts(w, (int64_t)total);
  for (size_t k = 0; k < total && status == SIM_OK; k++) next[all[k].grain + 1]++;
  for (size_t i = 0; i < n && status == SIM_OK; i++) next[i + 1] += next[i];
  for (size_t k = 0; k < total && status == SIM_OK; k++) {
    const uint64_t to = next[all[k].grain]++;
    s->contact_grain[to] = all[k].grain;
    s->contact_partner[to] = all[k].partner;
    for (size_t c = 0; c < springs; c++) ((real *)s->contact_spring)[c * (size_t)s->room + to] = all[k].spring[c];
  }
  free(all), free(next);
  return status;
}

template <typename real> static sim_status store_history(general_work<real> *w) {
  const collision_state *s = &w->state;
  const int64_t n = s->n;
  const bool many = w->domain.comm->size > 1;
  general_control now;
  uint32_t total = 0;
  launch_cooperative(w, &observe_launch, pack_history<real>, w->arrays, w->launch);
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  SIM_TRY(sim_backend_cuda.copy(&total, w->arrays.rank + n, sizeof total));
  if (total > s->room && !many) return too_many_contacts(s->room);
  const general_list<real> *list = &w->arrays.list[now.home ^ 1];
  if (!many) clear_contacts(w, total);
  const uint32_t here = total < s->room ? total : (uint32_t)s->room; /* more of one rank: found by merge_contacts */
  uint32_t *first = (uint32_t *)malloc(((size_t)n + 1) * sizeof *first);
  if (first == NULL) return sim_no_memory("the history of contacts");
  sim_status status = sim_backend_cuda.copy(first, w->arrays.rank, ((size_t)n + 1) * sizeof *first);
  for (int64_t id = 0; id < n && status == SIM_OK; id++)
    for (uint32_t k = first[id]; k < first[id + 1] && k < here; k++) s->contact_grain[k] = (uint64_t)id;
  free(first);
  if (status == SIM_OK) status = download_integers(list->neighbour, s->contact_partner, here);
  for (int c = 0; c < w->options.springs && status == SIM_OK; c++)
    status = sim_backend_cuda.copy((real *)s->contact_spring + (int64_t)c * s->room,
                                   list->spring + (size_t)c * w->numbers.room, (size_t)here * sizeof(real));
  return status == SIM_OK && many ? merge_contacts(w, total) : status;
}

/* Downloads the grains, by id. */
template <typename real> static sim_status store_grains(general_work<real> *w) {
  const collision_state *s = &w->state;
  const int64_t n = s->n;
  general_control now;
  SIM_TRY(gather_grains(w));
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  device_launch(&observe_launch, 0, grid_of((uint64_t)n), GENERAL_THREADS, order_by_id<real>, w->arrays, w->launch);
  const general_grains<real> *g = &w->arrays.grains[now.order ^ 1];
  const general_records<real> *records = &w->arrays.records[now.home ^ 1];
  SIM_TRY(copy_vectors(g->position, s->position, NULL, n, true));
  SIM_TRY(copy_vectors(g->velocity, s->velocity, NULL, n, true));
  SIM_TRY(copy_vectors(g->spin, s->spin, NULL, n, true));
  SIM_TRY(copy_vectors(g->acceleration, s->acceleration, NULL, n, true));
  SIM_TRY(copy_vectors(g->angular_acceleration, s->angular_acceleration, NULL, n, true));
  device_launch(&observe_launch, 0, grid_of((uint64_t)n), GENERAL_THREADS, reset_predicted<real>, w->arrays, w->launch);
  SIM_TRY(sim_backend_cuda.copy(s->dissipated, records->dissipated, (size_t)n * sizeof(double)));
  SIM_TRY(sim_backend_cuda.copy(s->virial, records->virial, (size_t)n * sizeof(double)));
  SIM_TRY(download_integers(records->collisions, s->collisions, n));
  if (s->work != NULL) SIM_TRY(sim_backend_cuda.copy(s->work, records->work, (size_t)n * sizeof(double)));
  if (s->temperature != NULL) {
    SIM_TRY(sim_backend_cuda.copy(s->temperature, g->temperature, (size_t)n * sizeof(double)));
    SIM_TRY(sim_backend_cuda.copy(s->wall_heat, records->wall_heat, (size_t)n * sizeof(double)));
  }
  if (w->numbers.gates > 0) SIM_TRY(copy_crossed(w, records, true));
  SIM_TRY(store_bodies(w));
  if (w->options.attracted) SIM_TRY(sim_backend_cuda.copy(s->pull, w->arrays.pull, 4 * (size_t)n * sizeof *s->pull));
  return w->numbers.wall_numbers > 0 ? sim_backend_cuda.copy(s->wall_spring, records->wall_spring,
                                                             (size_t)w->numbers.wall_numbers * (size_t)n * sizeof(real))
                                     : SIM_OK;
}

/* After SIM_ERR_DIVERGED the host has the grains, so that the model finds the grain that is not finite. */
template <typename real> static sim_status store(general_work<real> *w) {
  const sim_status status = complete_steps(w);
  if (status == SIM_ERR_DIVERGED) {
    const sim_error cause = *sim_error_last();
    SIM_TRY(store_grains(w));
    return sim_fail_at(cause.status, cause.file, cause.line, "%s", cause.message);
  }
  SIM_TRY(status);
  SIM_TRY(store_grains(w));
  return w->options.springs > 0 ? store_history(w) : SIM_OK;
}

#endif
