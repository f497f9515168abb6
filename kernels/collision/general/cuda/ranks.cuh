/* Exchange of grains between the GPUs of a run, host part: the halo in each step, rebuilding, and the data of all
 * grains for outputs. Nothing of it is called with one rank. CPU counterpart: cpu/exchange.inc. */
#ifndef COLLISION_GENERAL_CUDA_RANKS_CUH
#define COLLISION_GENERAL_CUDA_RANKS_CUH

#include "kernels/collision/general/cuda/memory.cuh"
#include "kernels/collision/general/cuda/queue.cuh"

static const sim_kernel halo_launch = {"collision_general_halo", "exchange", SIM_LIMIT_BYTES};
static const sim_kernel migrants_launch = {"collision_general_migrants", "exchange", SIM_LIMIT_BYTES};
static const sim_kernel decide_launch = {"collision_general_decide", "search", SIM_LIMIT_BYTES};

static inline sim_status gather_words(const general_domain *d, const void *own, size_t bytes, void *all) {
  return d->comm->ops->gather(d->comm, own, bytes, all);
}

/* ---- beginning and end ---- */

static inline void destroy_domain(general_domain *d) {
  if (d->beside != NULL) (void)cudaStreamDestroy((cudaStream_t)d->beside);
  if (d->begun != NULL) (void)cudaEventDestroy((cudaEvent_t)d->begun);
  if (d->done != NULL) (void)cudaEventDestroy((cudaEvent_t)d->done);
  sim_turn_destroy(&d->turn);
  sim_exchange_destroy(&d->exchange);
  sim_backend_cuda.free(d->out);
  sim_backend_cuda.free_host(d->decision);
}

/* Creates a stream whose kernels go before those of the stream of steps. */
static inline sim_status create_beside(general_domain *d) {
  int least, greatest;
  cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
  if (!error) error = cudaStreamCreateWithPriority((cudaStream_t *)&d->beside, cudaStreamNonBlocking, greatest);
  if (!error) error = cudaEventCreateWithFlags((cudaEvent_t *)&d->begun, cudaEventDisableTiming);
  if (!error) error = cudaEventCreateWithFlags((cudaEvent_t *)&d->done, cudaEventDisableTiming);
  return sim_cuda_failed(error, "cudaStreamCreate", halo_launch.name) ? sim_queue_cuda.status() : SIM_OK;
}

/* Creates the exchange, and the work's memory as a part of it. All ranks. */
template <typename real> static sim_status create_domain(general_work<real> *w) {
  general_domain *d = &w->domain;
  const int ranks = d->comm->size;
  const sim_columns columns = domain_columns(&w->options);
  const size_t bytes[2] = {lay_out(w), d->slot * (size_t)ranks};
  char *to[SIM_RANKS_MAX];
  long long shift[SIM_RANKS_MAX] = {0};
  void *out = NULL, *decision = NULL;
  SIM_TRY(sim_exchange_create(d->comm, &columns, &d->exchange));
  SIM_TRY(sim_turn_create(d->comm, d->exchange, 2, bytes, bytes[1], &d->turn));
  w->memory = sim_turn_array(d->turn, 0);
  (void)lay_out(w);
  d->peers = sim_turn_peer(d->turn, d->comm->rank, 0) != NULL;
  if (d->peers) SIM_TRY(create_beside(d));
  if (!d->peers) SIM_TRY(sim_backend_cuda.alloc(bytes[1], &out));
  d->out = (char *)out;
  SIM_TRY(sim_backend_cuda.alloc_host(sizeof(general_decision), &decision));
  d->decision = (general_decision *)decision;
  d->decision->step = 0;
  for (int r = 0; r < ranks; r++) {
    const size_t mine = (size_t)d->comm->rank * d->slot;
    to[r] = d->peers ? (char *)sim_turn_peer(d->turn, r, 1) + mine : d->out + (size_t)r * d->slot;
    if (d->peers) shift[r] = (char *)sim_turn_peer(d->turn, r, 0) - (char *)w->memory;
  }
  SIM_TRY(sim_backend_cuda.copy(d->to, to, (size_t)ranks * sizeof *to));
  return sim_backend_cuda.copy(d->shift, shift, (size_t)ranks * sizeof *shift);
}

static inline void add_range(general_own *own, uint32_t first, uint32_t end) {
  if (first >= end) return;
  own->part[own->parts++] = {own->threads, first, end};
  own->threads += (end - (first & ~31u) + 31) / 32 * 32;
}

/* Divides the grains: sets the cuts and own grains from the radii in the state. */
template <typename real> static void divide_grains(general_work<real> *w) {
  const general_numbers *b = &w->numbers;
  general_cuts *cuts = &w->domain.cuts;
  general_own *own = &w->arrays.own;
  const real *const radius = (const real *)w->state.radius;
  *cuts = {w->domain.comm->size, w->domain.comm->rank, b->levels, {0}};
  *own = {};
  for (int64_t i = 0; i < w->state.n; i++) {
    int level = 0;
    while (level + 1 < b->levels && (double)radius[i] <= b->level[level + 1].radius) level++;
    cuts->first[level + 1]++;
  }
  for (int l = 0; l < b->levels; l++) {
    cuts->first[l + 1] += cuts->first[l];
    const uint32_t first = first_of_rank(*cuts, l, cuts->rank), end = first_of_rank(*cuts, l, cuts->rank + 1);
    add_range(own, first, end);
  }
  if (own->parts == 0) own->parts = 1; /* without grains */
}

/* ---- arrays of all grains ---- */

/* Sends this rank's grains of an array [n] to all ranks; between sim_turn_begin and sim_turn_end. */
template <typename real> static void send_array(const general_work<real> *w, void *array, size_t item) {
  const general_domain *d = &w->domain;
  const general_cuts *cuts = &d->cuts;
  const int ranks = cuts->ranks;
  const size_t base = (size_t)((char *)array - (char *)w->memory);
  if (array == NULL) return;
  for (int l = 0; l < cuts->levels; l++) {
    const uint64_t first = first_of_rank(*cuts, l, cuts->rank), end = first_of_rank(*cuts, l, cuts->rank + 1);
    const uint64_t most = (cuts->first[l + 1] - cuts->first[l]) / (uint64_t)ranks + 1;
    const uint64_t piece = d->peers ? most : d->slot / item; /* the host has room for messages */
    for (uint64_t skip = 0; skip < most; skip += piece) {
      const uint64_t at = first + skip < end ? first + skip : end, here = end - at < piece ? end - at : piece;
      sim_box boxes[SIM_RANKS_MAX] = {};
      for (int r = 0; r < ranks; r++)
        if (r != cuts->rank && here > 0)
          boxes[r] = {(char *)array + at * item, here * item, here * item, base + at * item, here * item, 1};
      sim_turn_send(d->turn, 0, boxes);
    }
  }
}

/* Gives every rank the data of all grains, but for predicted velocities and spins; accelerations are in their place in
 * the other set. All ranks, after complete_steps. */
template <typename real> static sim_status gather_grains(general_work<real> *w) {
  const general_numbers *b = &w->numbers;
  const uint64_t n = b->n;
  general_control now;
  if (w->domain.comm->size == 1 || w->domain.known) return SIM_OK;
  w->domain.known = true;
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  const general_grains<real> *g = &w->arrays.grains[now.order];
  const general_records<real> *records = &w->arrays.records[now.home];
  vec4<real> *const vectors[] = {g->position, g->velocity, g->spin, g->acceleration, g->angular_acceleration};
  sim_turn_begin(w->domain.turn);
  for (vec4<real> *vector : vectors) send_array(w, vector, sizeof *vector);
  send_array(w, g->temperature, sizeof(double));
  send_array(w, records->dissipated, sizeof(double));
  send_array(w, records->virial, sizeof(double));
  if (b->worked) send_array(w, records->work, sizeof(double));
  if (b->heated) send_array(w, records->wall_heat, sizeof(double));
  send_array(w, records->collisions, sizeof(uint32_t));
  for (int k = 0; k < b->wall_numbers; k++) send_array(w, records->wall_spring + (size_t)k * n, sizeof(real));
  for (int k = 0; k < b->gates; k++) send_array(w, records->crossed + (size_t)k * n, sizeof(int32_t));
  sim_turn_end(w->domain.turn);
  return sim_queue_cuda.status();
}

/* Gives every rank positions and masses of all grains, for functions of the scenario. */
template <typename real> static sim_status gather_places(general_work<real> *w) {
  general_control now;
  if (w->domain.comm->size == 1) return SIM_OK;
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  sim_turn_begin(w->domain.turn);
  send_array(w, w->arrays.grains[now.order].position, sizeof(vec4<real>));
  send_array(w, w->arrays.grains[now.order].velocity, sizeof(vec4<real>));
  sim_turn_end(w->domain.turn);
  return sim_queue_cuda.status();
}

/* ---- messages ---- */

/* Without peers: sends the first bytes[r] bytes from `offset` on of each message, and receives those of the others. */
static inline void send_messages(const general_domain *d, size_t offset, const size_t *bytes) {
  sim_box boxes[SIM_RANKS_MAX] = {};
  const int ranks = d->comm->size, rank = d->comm->rank;
  if (d->peers) return;
  for (int r = 0; r < ranks; r++)
    if (r != rank && bytes[r] > 0)
      boxes[r] = {d->out + (size_t)r * d->slot + offset, bytes[r], bytes[r],
                  (size_t)rank * d->slot + offset,       bytes[r], 1};
  sim_turn_send(d->turn, 1, boxes);
}

static inline const char *message_from(const general_domain *d, int rank) {
  return (const char *)sim_turn_array(d->turn, 1) + (size_t)rank * d->slot;
}

/* Sends the halo in pieces, each through a message. */
template <typename real> static void send_halo_by_messages(const general_work<real> *w) {
  const general_domain *d = &w->domain;
  const int ranks = d->comm->size;
  const uint32_t room = (uint32_t)(d->slot / sizeof(halo_record<real>));
  for (uint32_t skip = 0; skip < d->most; skip += room) {
    size_t bytes[SIM_RANKS_MAX] = {0};
    device_launch(&halo_launch, 0, grid_of(room), GENERAL_THREADS, pack_halo<real>, w->arrays, d->sent, ranks,
                  (char *const *)d->to, skip, room, w->launch);
    for (int r = 0; r < ranks; r++) {
      const uint32_t all = d->sent.first[r + 1] - d->sent.first[r], left = all > skip ? all - skip : 0;
      bytes[r] = (left < room ? left : room) * sizeof(halo_record<real>);
    }
    send_messages(d, 0, bytes);
    for (int r = 0; r < ranks; r++) {
      const uint32_t left = d->received[r] > skip ? d->received[r] - skip : 0, here = left < room ? left : room;
      if (here > 0)
        device_launch(&halo_launch, 0, grid_of(here), GENERAL_THREADS, unpack_halo<real>, w->arrays, message_from(d, r),
                      here, w->launch);
    }
  }
}

/* Enqueues a kernel without names and profiles, on any stream. */
template <typename... Parameters, typename... Arguments>
static void launch_on(cudaStream_t stream, unsigned blocks, unsigned threads, const char *name,
                      void (*function)(Parameters...), Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  sim_cuda_failed(cudaLaunchKernelEx(&config, function, (Parameters)arguments...), "cudaLaunchKernelEx", name);
}

/* Contacts and the move of the next step, as launch_contacts: first of the grains at the edges, whose halo is sent
 * while the other grains are computed. */
template <typename real> static void launch_split_contacts(general_work<real> *w, double dt, double next) {
  const general_domain *d = &w->domain;
  const cudaStream_t steps = (cudaStream_t)sim_cuda_stream(), beside = (cudaStream_t)d->beside;
  const general_own own = w->arrays.own;
  const unsigned k = w->launch;
  launch_external(w);
  sim_cuda_failed(cudaEventRecord((cudaEvent_t)d->begun, steps), "cudaEventRecord", contacts_launch.name);
  sim_cuda_failed(cudaStreamWaitEvent(beside, (cudaEvent_t)d->begun, 0), "cudaStreamWaitEvent", contacts_launch.name);
  w->arrays.own = d->edge;
  launch_on(beside, d->edge.threads / CONTACT_THREADS + 1, CONTACT_THREADS, contacts_launch.name, contacts_of(w),
            w->arrays, w->poses, (real)dt, (real)next, k, w->shift);
  launch_on(beside, grid_of(d->sent.first[d->comm->size] + 1), GENERAL_THREADS, halo_launch.name, push_halo<real>,
            w->arrays, d->sent, d->comm->size, (const long long *)d->shift, true, k + 1);
  sim_cuda_failed(cudaEventRecord((cudaEvent_t)d->done, beside), "cudaEventRecord", halo_launch.name);
  w->arrays.own = d->inner;
  device_launch(&contacts_launch, 14.0 * sizeof(vec4<real>) * (double)own.threads,
                d->inner.threads / CONTACT_THREADS + 1, CONTACT_THREADS, contacts_of(w), w->arrays, w->poses, (real)dt,
                (real)next, w->launch++, w->shift);
  w->arrays.own = own;
  sim_cuda_failed(cudaStreamWaitEvent(steps, (cudaEvent_t)d->done, 0), "cudaStreamWaitEvent", halo_launch.name);
}

/* Sends the halo; between ranks that are peers, it has come when they have met. These may store once no rank reads the
 * halo any more. moved: the grains have moved (push_halo); without peers also tells the greatest speed of launch
 * w->launch - 1, in words[d->steps & 1]. */
template <typename real> static sim_status send_halo(general_work<real> *w, bool moved) {
  const general_domain *d = &w->domain;
  const int ranks = d->comm->size;
  unsigned long long *const words = d->words + (d->steps & 1) * (unsigned)ranks, own = 0, all[SIM_RANKS_MAX];
  if (d->peers) {
    const uint32_t count = d->sent.first[ranks];
    device_launch(&halo_launch, (double)count * 8 * sizeof(vec4<real>), grid_of(count + 1), GENERAL_THREADS,
                  push_halo<real>, w->arrays, d->sent, ranks, (const long long *)d->shift, moved, w->launch);
    return sim_queue_cuda.status();
  }
  send_halo_by_messages(w);
  if (!moved) return sim_queue_cuda.status();
  SIM_TRY(sim_backend_cuda.copy((void *)&own, &w->arrays.motion[(w->launch - 1) & 3], sizeof own));
  SIM_TRY(gather_words(d, &own, sizeof own, all));
  return sim_backend_cuda.copy(words, all, (size_t)ranks * sizeof *all);
}

/* Renews the halo where no grain has moved. */
template <typename real> static sim_status exchange_halo(general_work<real> *w) {
  SIM_TRY(send_halo(w, false));
  if (w->domain.peers) sim_turn_begin(w->domain.turn); /* what all ranks have stored before, all can read after it */
  return sim_queue_cuda.status();
}

/* Gives every rank the forces and torques on all spheres of clumps, after contacts; other: see push_forces. */
template <typename real> static void share_forces(general_work<real> *w, bool other) {
  const general_domain *d = &w->domain;
  if (d->comm->size == 1 || w->arrays.bodies.count == 0) return;
  sim_turn_begin(d->turn);
  if (d->peers) {
    device_launch(&halo_launch, (double)w->arrays.own.threads * 2 * sizeof(vec4<real>),
                  grid_of(w->arrays.own.threads + 1), GENERAL_THREADS, push_forces<real>, w->arrays, d->comm->size,
                  d->comm->rank, (const long long *)d->shift, other, w->launch);
  } else {
    general_control now = {};
    (void)sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now); /* the queue keeps failures */
    const general_grains<real> *g = &w->arrays.grains[now.order ^ (int)other];
    send_array(w, g->acceleration, sizeof(vec4<real>));
    send_array(w, g->angular_acceleration, sizeof(vec4<real>));
  }
  sim_turn_end(d->turn);
}

/* ---- rebuilding ---- */

/* What ranks tell each other of their lists. */
struct list_report {
  double cutoff;
  uint32_t migrants, longest;
  int full;
};

template <typename real> static sim_status clear_counts(const general_work<real> *w) {
  static const uint32_t none[COUNT_RANKS + 2 * SIM_RANKS_MAX] = {0};
  return sim_backend_cuda.copy(w->domain.counts, none, (COUNT_RANKS + 2 * (size_t)w->domain.comm->size) * sizeof *none);
}

template <typename real> static void launch_list(general_work<real> *w, double limit, bool known) {
  launch_cooperative(w, &search_launch, w->options.shear != 0 ? list_all<true, real> : list_all<false, real>, w->arrays,
                     w->shift.offset, limit, w->domain.listed, known, w->launch);
}

/* Lists neighbours with a reach that all ranks have room for. */
template <typename real>
static sim_status list_alike(general_work<real> *w, bool known, list_report reports[SIM_RANKS_MAX]) {
  general_domain *d = &w->domain;
  double limit = INFINITY;
  for (;;) {
    general_control now;
    uint32_t counts[COUNT_RANKS];
    int fault = 0;
    bool same = true, full = false;
    launch_list(w, limit, known);
    SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
    SIM_TRY(sim_backend_cuda.copy(counts, d->counts, sizeof counts));
    SIM_TRY(sim_backend_cuda.copy(&fault, w->arrays.fault, sizeof fault));
    const list_report own = {now.cutoff, counts[COUNT_MIGRANTS], counts[COUNT_LONGEST], fault & GENERAL_LIST_FULL};
    SIM_TRY(gather_words(d, &own, sizeof own, reports));
    for (int r = 0; r < d->comm->size; r++) {
      same = same && reports[r].cutoff == own.cutoff;
      full = full || reports[r].full;
      limit = fmin(limit, reports[r].cutoff);
    }
    if (full) return lists_are_full();
    if (same) return SIM_OK;
  }
}

/* Sends the migrants with their history. All ranks. */
template <typename real> static sim_status send_migrants(general_work<real> *w, const list_report *reports) {
  general_domain *d = &w->domain;
  const general_numbers *b = &w->numbers;
  const int ranks = d->comm->size, rank = d->comm->rank;
  const size_t record = migrant_bytes<real>(b->wall_numbers, b->gates), contact = contact_bytes<real>(b->springs);
  uint32_t rounds = 0, each = 0;
  general_control now;
  for (int r = 0; r < ranks; r++) {
    const uint32_t longest = reports[r].longest, most = longest > 0 ? d->contacts / longest : d->migrants;
    const uint32_t here = most < d->migrants ? most : d->migrants, times = (reports[r].migrants + here - 1) / here;
    if (r == rank) each = here;
    rounds = times > rounds ? times : rounds;
  }
  if (rounds == 0) return SIM_OK;
  uint32_t *const all = (uint32_t *)calloc((size_t)ranks, 2 * (size_t)ranks * sizeof *all);
  if (all == NULL) return sim_no_memory("the exchange of grains");
  sim_status status = sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now);
  const general_mail mail = {d->to, (size_t)d->migrants * record};
  for (uint32_t k = 0; k < rounds && status == SIM_OK; k++) {
    const uint32_t sent = reports[rank].migrants, from = k * each < sent ? k * each : sent;
    const uint32_t count = sent - from < each ? sent - from : each;
    uint32_t own[2 * SIM_RANKS_MAX];
    size_t bytes[SIM_RANKS_MAX];
    status = clear_counts(w);
    sim_turn_begin(d->turn);
    if (count > 0)
      device_launch(&migrants_launch, 0, grid_of(count), GENERAL_THREADS, pack_migrants<real>, w->arrays, d->cuts,
                    now.order, now.home, d->listed, from, count, mail, d->counts);
    if (status == SIM_OK) status = sim_backend_cuda.copy(own, d->counts + COUNT_RANKS, 2 * (size_t)ranks * sizeof *own);
    if (status == SIM_OK) status = gather_words(d, own, 2 * (size_t)ranks * sizeof *own, all);
    if (status != SIM_OK) break;
    for (int r = 0; r < ranks; r++) bytes[r] = own[r] * record;
    send_messages(d, 0, bytes);
    for (int r = 0; r < ranks; r++) bytes[r] = own[ranks + r] * contact;
    send_messages(d, mail.contacts, bytes);
    sim_turn_end(d->turn);
    for (int r = 0; r < ranks; r++) {
      const uint32_t grains = all[2 * ranks * r + rank], contacts = all[2 * ranks * r + ranks + rank];
      if (grains > 0)
        device_launch(&migrants_launch, 0, grid_of(grains), GENERAL_THREADS, unpack_migrants<real>, w->arrays,
                      now.order, now.home, message_from(d, r), grains);
      if (contacts > 0)
        device_launch(&migrants_launch, 0, grid_of(contacts), GENERAL_THREADS, unpack_contacts<real>, w->arrays,
                      now.home, message_from(d, r) + mail.contacts, contacts);
    }
  }
  free(all);
  return status == SIM_OK ? sim_queue_cuda.status() : status;
}

/* Divides the ranges of own grains into their edges and the rest; edges: of COUNT_EDGES. */
template <typename real> static void split_own(general_work<real> *w, const uint32_t *edges) {
  general_domain *d = &w->domain;
  const general_own *own = &w->arrays.own;
  d->split = d->peers && 2 * own->parts <= GENERAL_LEVELS && w->arrays.bodies.count == 0;
  d->edge = d->inner = {};
  for (uint32_t p = 0; p < own->parts && d->split; p++) {
    const uint32_t first = own->part[p].first, end = own->part[p].end;
    const uint32_t low = edges[2 * p] > 0 ? edges[2 * p] : first, high = edges[2 * p + 1] > 0 ? ~edges[2 * p + 1] : end;
    add_range(&d->edge, first, low);
    add_range(&d->inner, low, high);
    add_range(&d->edge, high, end);
  }
  d->split = d->split && d->edge.parts > 0 && d->inner.threads > d->edge.threads;
}

/* Lists the halo. Being neighbours is symmetric to the bit, so that the grains that a rank sends are those that the
 * receiver needs. All ranks. */
template <typename real> static sim_status find_halo(general_work<real> *w) {
  general_domain *d = &w->domain;
  const int ranks = d->comm->size, rank = d->comm->rank;
  uint32_t counts[2 * SIM_RANKS_MAX], edges[2 * GENERAL_LEVELS];
  SIM_TRY(clear_counts(w));
  SIM_TRY(sim_cuda_failed(cudaMemsetAsync(w->arrays.rank, 0, (size_t)w->numbers.n * sizeof *w->arrays.rank,
                                          (cudaStream_t)sim_cuda_stream()),
                          "cudaMemsetAsync", halo_launch.name)
              ? sim_queue_cuda.status()
              : SIM_OK);
  device_launch(&halo_launch, 0, grid_of(w->arrays.own.threads + 1), GENERAL_THREADS, list_halo<real>, w->arrays,
                d->cuts, NULL, d->counts, w->launch);
  SIM_TRY(sim_backend_cuda.copy(counts, d->counts + COUNT_RANKS, 2 * (size_t)ranks * sizeof *counts));
  SIM_TRY(sim_backend_cuda.copy(edges, d->counts + COUNT_EDGES, sizeof edges));
  split_own(w, edges);
  uint32_t *const all = (uint32_t *)calloc((size_t)ranks, (size_t)ranks * sizeof *all);
  if (all == NULL) return sim_no_memory("the exchange of grains");
  const sim_status status = gather_words(d, counts, (size_t)ranks * sizeof *counts, all);
  d->most = 0;
  for (int r = 0; r < ranks && status == SIM_OK; r++) {
    d->received[r] = all[ranks * r + rank];
    d->sent.first[r + 1] = d->sent.first[r] + counts[r];
    for (int s = 0; s < ranks; s++) d->most = all[ranks * r + s] > d->most ? all[ranks * r + s] : d->most;
  }
  free(all);
  SIM_TRY(status);
  for (int r = 0; r < ranks; r++)
    if (d->received[r] != counts[ranks + r])
      return sim_fail(SIM_ERR_INTERNAL, "rank %d sends %u grains, and rank %d needs %u of it", r, d->received[r], rank,
                      counts[ranks + r]);
  SIM_TRY(sim_backend_cuda.copy(d->counts + COUNT_RANKS, d->sent.first, (size_t)ranks * sizeof *d->sent.first));
  device_launch(&halo_launch, 0, grid_of(w->arrays.own.threads + 1), GENERAL_THREADS, list_halo<real>, w->arrays,
                d->cuts, d->list, d->counts, w->launch);
  return sim_queue_cuda.status();
}

/* Sorts the grains anew and rebuilds all lists. known: every rank has all data of all grains. All ranks. */
template <typename real> static sim_status rebuild(general_work<real> *w, bool step, bool known) {
  general_domain *d = &w->domain;
  list_report reports[SIM_RANKS_MAX];
  general_control now;
  SIM_TRY(sim_backend_cuda.copy(&now, &w->arrays.control[w->launch & 1], sizeof now));
  if (!known) {
    sim_turn_begin(d->turn);
    send_array(w, w->arrays.grains[now.order].position, sizeof(vec4<real>));
    sim_turn_end(d->turn);
  }
  SIM_TRY(clear_counts(w));
  launch_cooperative(w, &search_launch, sort_all<real>, w->arrays, step, known, w->launch++);
  if (!known)
    device_launch(&migrants_launch, 0, grid_of(w->numbers.n), GENERAL_THREADS, list_migrants<real>, w->arrays, now.home,
                  d->listed, d->counts);
  SIM_TRY(list_alike(w, known, reports));
  if (!known) SIM_TRY(send_migrants(w, reports));
  d->listed = true;
  SIM_TRY(find_halo(w));
  return known ? SIM_OK : exchange_halo(w);
}

/* ---- steps ---- */

/* After grains have moved: renews the halo, and begins the decision whether the lists hold. drifted: by launch_drift,
 * so that a rank may still read the halo that is replaced. */
template <typename real> static sim_status begin_decision(general_work<real> *w, double dt, bool drifted) {
  general_domain *d = &w->domain;
  const int ranks = d->comm->size;
  if (drifted) sim_turn_begin(d->turn);
  d->steps++;
  if (!d->split || drifted) SIM_TRY(send_halo(w, true)); /* else launch_split_contacts has */
  const sim_peers *peers = sim_exchange_peers(d->exchange), none = {};
  device_launch(&decide_launch, 0, 1, d->peers ? (unsigned)ranks : 1,
                w->options.shear != 0 ? decide<true, real> : decide<false, real>, w->arrays, peers ? *peers : none,
                d->peers, (const long long *)d->shift, d->words + (d->steps & 1) * (unsigned)ranks, ranks, (real)dt,
                w->launch++, d->decision, d->steps);
  d->pending = true;
  return sim_queue_cuda.status();
}

/* Waits for the decision of the last step, and rebuilds the lists where they do not hold. All ranks. */
template <typename real> static sim_status follow_decision(general_work<real> *w) {
  general_domain *d = &w->domain;
  if (!d->pending) return SIM_OK;
  d->pending = false;
  for (unsigned polls = 1; d->decision->step != d->steps; polls++) {
    if (polls % 4096 != 0) continue;
    const bool ended = cudaStreamQuery((cudaStream_t)sim_cuda_stream()) != cudaErrorNotReady;
    SIM_TRY(sim_queue_cuda.status());
    if (ended && d->decision->step != d->steps) return sim_fail(SIM_ERR_INTERNAL, "the decision of a step is missing");
  }
  return d->decision->rebuild ? rebuild(w, true, false) : SIM_OK;
}

#endif
