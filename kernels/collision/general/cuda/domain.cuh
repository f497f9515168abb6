/* Division of the grains among GPUs: kernels, as templates on the real type. CPU counterpart: cpu/domain.h.
 *
 * All ranks have all grains in the same order, that of the cells, in which each class of radii has a range of its own.
 * A rank owns a part of each range, with as many grains as the other ranks (general_own). It computes the contacts of
 * these grains and moves them, and it alone has the history of their contacts. Of other ranks' grains it has ids and
 * materials, positions as of the last rebuilding, and positions, velocities and spins of the neighbours of its own
 * grains (the halo), which are renewed in each step. Positions are never shifted: all ranks use the same images.
 *
 * When lists are rebuilt, all ranks get all positions and sort the grains alike. Grains that have another owner then,
 * and the history of their contacts, are sent to it (migrants). */
#ifndef COLLISION_GENERAL_CUDA_DOMAIN_CUH
#define COLLISION_GENERAL_CUDA_DOMAIN_CUH

#include "kernels/collision/general/cuda/lists.cuh"

#include "engine/comm/comm.h"
#include "engine/comm/cuda/exchange.cuh"

/* The classes of radii in the order of the cells: class l has the grains first[l] up to first[l + 1] - 1. */
struct general_cuts {
  int ranks, rank, levels;
  uint32_t first[GENERAL_LEVELS + 1];
};

/* First grain of rank r in a class. */
static inline __host__ __device__ uint32_t first_of_rank(const general_cuts &c, int level, int r) {
  const uint64_t count = c.first[level + 1] - c.first[level];
  return c.first[level] + (uint32_t)(count * (uint64_t)r / (uint64_t)c.ranks);
}

/* The rank that owns grain i. */
static __device__ __forceinline__ int owner_of(const general_cuts &c, uint32_t i) {
  int level = 0;
  while (level + 1 < c.levels && i >= c.first[level + 1]) level++;
  const uint64_t from = i - c.first[level], count = c.first[level + 1] - c.first[level];
  return (int)(((from + 1) * (uint64_t)c.ranks - 1) / count);
}

/* Grains that other ranks need, by rank: grain[first[r]] up to grain[first[r + 1] - 1] for rank r. */
struct general_sent {
  const uint32_t *grain;
  uint32_t first[SIM_RANKS_MAX + 1];
};

/* What a rank sends of a grain of the halo through the host. */
template <typename real> struct alignas(4 * sizeof(real)) halo_record {
  vec4<real> position, velocity, v_pred, w_pred;
  double temperature;
  uint32_t grain;
};

/* A grain that changes its owner; its values for walls [wall_numbers] and passages of gates [gates] follow. */
template <typename real> struct alignas(4 * sizeof(real)) migrant_record {
  vec4<real> velocity, spin, v_pred, w_pred;
  double dissipated, virial, work, wall_heat, temperature;
  uint32_t grain, collisions;
};
template <typename real> static inline __host__ __device__ size_t migrant_bytes(int wall_numbers, int gates) {
  const size_t bytes = sizeof(migrant_record<real>) + (size_t)wall_numbers * sizeof(real) + (size_t)gates * 4;
  return (bytes + sizeof(vec4<real>) - 1) / sizeof(vec4<real>) * sizeof(vec4<real>);
}
/* The history of one of its contacts: uint32_t grain, uint32_t id of the partner, springs. */
template <typename real> static inline __host__ __device__ size_t contact_bytes(int springs) {
  return (8 + (size_t)springs * sizeof(real) + 7) / 8 * 8;
}

/* Counters in device memory. COUNT_EDGES: for each range of own grains [2], the grains of the halo in its first half
 * end before the first number; the second number is the complement of the first one in its second half. */
enum {
  COUNT_MIGRANTS,
  COUNT_LONGEST, /* row with history of a migrant */
  COUNT_EDGES,
  COUNT_RANKS = COUNT_EDGES + 2 * GENERAL_LEVELS /* from here on [2][ranks] */
};

/* Messages of migrants: to[r]: where this rank's message to rank r begins; records first, from `contacts` on history.
 */
struct general_mail {
  char *const *to;
  size_t contacts;
};

/* The decision of a step, in pinned host memory. */
struct general_decision {
  volatile int rebuild;
  volatile unsigned long long step;
};

/* ---- each step ---- */

/* Stores the halo into the other ranks' memory, which is at shift[r] bytes from this rank's. moved: all ranks have
 * moved the spheres of clumps otherwise, and may still do so; else these are stored too. */
template <typename real>
static __global__ void __launch_bounds__(GENERAL_THREADS)
    push_halo(general_arrays<real> a, const __grid_constant__ general_sent sent, int ranks, const long long *shift,
              bool moved, unsigned k) {
  after_previous();
  const general_control now = a.control[k & 1];
  const general_grains<real> &g = a.grains[now.order];
  const general_mobility *const mobility = moved ? a.records[now.home].mobility : nullptr;
  const uint32_t first = blockIdx.x * GENERAL_THREADS + threadIdx.x;
  for (uint32_t t = first; t < sent.first[ranks]; t += gridDim.x * GENERAL_THREADS) {
    int r = 0;
    while (t >= sent.first[r + 1]) r++;
    const uint32_t i = sent.grain[t];
    const long long there = shift[r];
    if (g.temperature != nullptr) *(double *)((char *)(g.temperature + i) + there) = g.temperature[i];
    if (mobility != nullptr && mobility[i].body > 0) continue;
    *(vec4<real> *)((char *)(g.position + i) + there) = g.position[i];
    *(vec4<real> *)((char *)(g.velocity + i) + there) = g.velocity[i];
    *(vec4<real> *)((char *)(g.v_pred + i) + there) = g.v_pred[i];
    *(vec4<real> *)((char *)(g.w_pred + i) + there) = g.w_pred[i];
  }
}

/* Stores forces and torques on own spheres of clumps into the memory of the other ranks. other: they stand in the other
 * set, as the contacts have moved loose grains. */
template <typename real>
static __global__ void __launch_bounds__(GENERAL_THREADS)
    push_forces(general_arrays<real> a, int ranks, int rank, const long long *shift, bool other, unsigned k) {
  after_previous();
  const general_control now = a.control[k & 1];
  const general_grains<real> &g = a.grains[now.order ^ (int)other];
  for (uint32_t t = blockIdx.x * GENERAL_THREADS + threadIdx.x; t < a.own.threads; t += gridDim.x * GENERAL_THREADS) {
    const uint32_t i = own_grain(a.own, t);
    if (i == GENERAL_NONE || a.records[now.home].mobility[i].body == 0) continue;
    const vec4<real> force = g.acceleration[i], torque = g.angular_acceleration[i];
    for (int r = 0; r < ranks; r++) {
      if (r == rank) continue;
      *(vec4<real> *)((char *)(g.acceleration + i) + shift[r]) = force;
      *(vec4<real> *)((char *)(g.angular_acceleration + i) + shift[r]) = torque;
    }
  }
}

/* The halo into messages: of each rank's grains `count` from `skip` on. */
template <typename real>
static __global__ void pack_halo(general_arrays<real> a, const __grid_constant__ general_sent sent, int ranks,
                                 char *const *to, uint32_t skip, uint32_t count, unsigned k) {
  after_previous();
  const general_grains<real> &g = a.grains[a.control[k & 1].order];
  for (int r = 0; r < ranks; r++) {
    const uint32_t from = min(sent.first[r] + skip, sent.first[r + 1]), end = min(from + count, sent.first[r + 1]);
    for (uint32_t t = from + blockIdx.x * GENERAL_THREADS + threadIdx.x; t < end; t += gridDim.x * GENERAL_THREADS) {
      const uint32_t i = sent.grain[t];
      halo_record<real> record = {g.position[i], g.velocity[i], g.v_pred[i], g.w_pred[i], 0, i};
      if (g.temperature != nullptr) record.temperature = g.temperature[i];
      ((halo_record<real> *)to[r])[t - from] = record;
    }
  }
}

template <typename real>
static __global__ void unpack_halo(general_arrays<real> a, const char *from, uint32_t count, unsigned k) {
  after_previous();
  const general_grains<real> &g = a.grains[a.control[k & 1].order];
  for (uint32_t t = blockIdx.x * GENERAL_THREADS + threadIdx.x; t < count; t += gridDim.x * GENERAL_THREADS) {
    const halo_record<real> record = ((const halo_record<real> *)from)[t];
    const uint32_t i = record.grain;
    g.position[i] = record.position;
    g.velocity[i] = record.velocity;
    g.v_pred[i] = record.v_pred;
    g.w_pred[i] = record.w_pred;
    if (g.temperature != nullptr) g.temperature[i] = record.temperature;
  }
}

/* Decides, on all ranks alike, whether the lists still hold. words [ranks]: the ranks' greatest speeds, of launch k
 * - 1. meets: the ranks are peers, tell each other these speeds here, and meet: the halo has come then. A thread for
 * each rank; shift: see push_halo. */
template <bool SHEAR, typename real>
static __global__ void decide(general_arrays<real> a, const __grid_constant__ sim_peers peers, bool meets,
                              const long long *shift, unsigned long long *words, int ranks, real dt, unsigned k,
                              general_decision *out, unsigned long long step) {
  after_previous();
  if (meets) {
    *(volatile unsigned long long *)((char *)(words + peers.rank) + shift[threadIdx.x]) = a.motion[(k - 1) & 3];
    exchange_meet(peers);
  }
  if (threadIdx.x > 0) return;
  const general_numbers &b = *a.numbers;
  general_control now = a.control[k & 1];
  unsigned long long most = 0;
  for (int r = 0; r < ranks; r++) {
    const unsigned long long word = ((const volatile unsigned long long *)words)[r];
    most = word > most ? word : most;
  }
  bool wild;
  const bool rebuild = lists_are_old<SHEAR>(b, most, dt, &now, &wild);
  a.control[(k + 1) & 1] = now;
  a.motion[(k + 1) & 3] = 0;
  if (wild) *a.fault |= GENERAL_DIVERGED;
  out->rebuild = rebuild;
  __threadfence_system();
  out->step = step;
}

/* ---- rebuilding ---- */

/* As the launch `search`, in two: grains are sorted here. known: this rank has all data of all grains. */
template <typename real>
static __global__ void __launch_bounds__(GENERAL_THREADS)
    sort_all(general_arrays<real> a, bool step, bool known, unsigned k) {
  __shared__ uint32_t shared[33];
  const general_numbers &b = *a.numbers;
  const bool leads = blockIdx.x == 0 && threadIdx.x == 0;
  const general_control now = a.control[k & 1], next = rebuilt(b, now);
  unsigned round = *(volatile unsigned *)(a.barrier + 1);
  sort_grains(b, a, now, next, step, true, known, &round, shared);
  if (leads) {
    a.control[(k + 1) & 1] = next;
    a.motion[(k + 1) & 3] = 0;
    a.barrier[1] = round;
  }
}

/* Lists the neighbours of own grains, with a reach of at most `limit`. listed: there were lists before. */
template <bool SHEAR, typename real>
static __global__ void __launch_bounds__(GENERAL_THREADS)
    list_all(general_arrays<real> a, real offset, double limit, bool listed, bool known, unsigned k) {
  __shared__ uint32_t shared[33];
  const general_numbers &b = *a.numbers;
  const bool leads = blockIdx.x == 0 && threadIdx.x == 0;
  general_control next = a.control[k & 1], before = next;
  unsigned round = *(volatile unsigned *)(a.barrier + 1);
  before.order ^= 1;
  before.home ^= 1;
  before.listed = listed;
  next.cutoff = fmin(next.cutoff, limit);
  wait_for_all(a.barrier, &round); /* all have read `control` */
  list_neighbours<SHEAR>(b, a, before, &next, offset, true, known, &round, shared);
  if (leads) {
    a.control[k & 1].cutoff = next.cutoff;
    a.barrier[1] = round;
  }
}

template <typename real>
static __device__ bool has_history(const general_numbers &b, const general_list<real> &list, uint32_t e) {
  bool any = false;
  for (int s = 0; s < b.springs; s++) any = any || list.spring[spring_at(b, e, s)] != 0;
  return any;
}

/* Lists own grains that other ranks own after sorting, in `rank`. home: set of the old lists. */
template <typename real>
static __global__ void list_migrants(general_arrays<real> a, int home, bool listed, uint32_t *counts) {
  after_previous();
  const general_numbers &b = *a.numbers;
  for (uint32_t i = blockIdx.x * GENERAL_THREADS + threadIdx.x; i < b.n; i += gridDim.x * GENERAL_THREADS) {
    if (!is_own(a.own, a.order[i]) || is_own(a.own, i)) continue;
    a.rank[atomicAdd(&counts[COUNT_MIGRANTS], 1u)] = i;
    if (b.springs > 0 && listed) atomicMax(&counts[COUNT_LONGEST], (uint32_t)a.list[home].count[a.order[i]]);
  }
}

/* Writes migrants `from` ... from + count - 1 of the list, and counts records and contacts for each rank. home: set of
 * the new records. */
template <typename real>
static __global__ void pack_migrants(general_arrays<real> a, const __grid_constant__ general_cuts cuts, int order,
                                     int home, bool listed, uint32_t from, uint32_t count, general_mail mail,
                                     uint32_t *counts) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_grains<real> &g = a.grains[order];
  const general_records<real> &records = a.records[home];
  const general_list<real> &old = a.list[home ^ 1];
  const uint32_t *const old_id = a.records[home ^ 1].id;
  const size_t record_size = migrant_bytes<real>(b.wall_numbers, b.gates), size = contact_bytes<real>(b.springs);
  for (uint32_t t = blockIdx.x * GENERAL_THREADS + threadIdx.x; t < count; t += gridDim.x * GENERAL_THREADS) {
    const uint32_t i = a.rank[from + t], k = a.order[i];
    const int r = owner_of(cuts, i);
    char *const to = mail.to[r];
    uint32_t *const entries = &counts[COUNT_RANKS + cuts.ranks + r];
    char *const at = to + record_size * atomicAdd(&counts[COUNT_RANKS + r], 1u);
    *(migrant_record<real> *)at = {g.velocity[i],
                                   g.spin[i],
                                   g.v_pred[i],
                                   g.w_pred[i],
                                   records.dissipated[i],
                                   records.virial[i],
                                   b.worked ? records.work[i] : 0,
                                   b.heated ? records.wall_heat[i] : 0,
                                   b.heated ? g.temperature[i] : 0,
                                   i,
                                   records.collisions[i]};
    real *const walls = (real *)(at + sizeof(migrant_record<real>));
    int32_t *const crossed = (int32_t *)(walls + b.wall_numbers);
    for (int s = 0; s < b.wall_numbers; s++) walls[s] = records.wall_spring[(size_t)s * b.n + i];
    for (int s = 0; s < b.gates; s++) crossed[s] = records.crossed[(size_t)s * b.n + i];
    for (uint32_t e = 0; b.springs > 0 && listed && e < old.count[k]; e++) {
      const uint32_t there = old.base[k / 32] + k % 32 + 32 * e;
      if (!has_history(b, old, there)) continue;
      char *const contact = to + mail.contacts + size * atomicAdd(entries, 1u);
      ((uint32_t *)contact)[0] = i;
      ((uint32_t *)contact)[1] = old_id[old.neighbour[there]];
      for (int s = 0; s < b.springs; s++) ((real *)(contact + 8))[s] = old.spring[spring_at(b, there, s)];
    }
  }
}

/* Copies received migrants into the new sets. */
template <typename real>
static __global__ void unpack_migrants(general_arrays<real> a, int order, int home, const char *from, uint32_t count) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_grains<real> &g = a.grains[order];
  const general_records<real> &records = a.records[home];
  const size_t size = migrant_bytes<real>(b.wall_numbers, b.gates);
  for (uint32_t t = blockIdx.x * GENERAL_THREADS + threadIdx.x; t < count; t += gridDim.x * GENERAL_THREADS) {
    const migrant_record<real> &m = *(const migrant_record<real> *)(from + size * t);
    const uint32_t i = m.grain;
    g.velocity[i] = m.velocity;
    g.spin[i] = m.spin;
    g.v_pred[i] = m.v_pred;
    g.w_pred[i] = m.w_pred;
    records.dissipated[i] = m.dissipated;
    records.virial[i] = m.virial;
    records.collisions[i] = m.collisions;
    if (b.worked) records.work[i] = m.work;
    if (b.heated) records.wall_heat[i] = m.wall_heat;
    if (b.heated) g.temperature[i] = m.temperature;
    const real *const walls = (const real *)(from + size * t + sizeof m);
    const int32_t *const crossed = (const int32_t *)(walls + b.wall_numbers);
    for (int s = 0; s < b.wall_numbers; s++) records.wall_spring[(size_t)s * b.n + i] = walls[s];
    for (int s = 0; s < b.gates; s++) records.crossed[(size_t)s * b.n + i] = crossed[s];
    for (int s = 0; s < b.meshes; s++) a.near[(size_t)records.id[i] * (size_t)b.meshes + s] = {};
  }
}

/* Copies the history of received migrants into their rows, where partners are still neighbours. */
template <typename real>
static __global__ void unpack_contacts(general_arrays<real> a, int home, const char *from, uint32_t count) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_list<real> &list = a.list[home];
  const uint32_t *const id = a.records[home].id;
  const size_t size = contact_bytes<real>(b.springs);
  for (uint32_t t = blockIdx.x * GENERAL_THREADS + threadIdx.x; t < count; t += gridDim.x * GENERAL_THREADS) {
    const char *const contact = from + size * t;
    const uint32_t i = ((const uint32_t *)contact)[0], partner = ((const uint32_t *)contact)[1];
    for (uint32_t e = 0; e < list.count[i]; e++) {
      const uint32_t at = list.base[i / 32] + i % 32 + 32 * e;
      if (id[list.neighbour[at]] != partner) continue;
      for (int s = 0; s < b.springs; s++) list.spring[spring_at(b, at, s)] = ((const real *)(contact + 8))[s];
    }
  }
}

/* Notes that grain i is in the halo, in edges [parts][2]. */
static __device__ void note_edge(const general_own &own, uint32_t i, uint32_t *edges) {
  for (uint32_t p = 0; p < own.parts; p++) {
    if (i < own.part[p].first || i >= own.part[p].end) continue;
    const bool low = i - own.part[p].first < (own.part[p].end - own.part[p].first) / 2;
    uint32_t *const edge = &edges[2 * p + !low], value = low ? i + 1 : ~i;
    if (*(volatile uint32_t *)edge < value) atomicMax(edge, value);
  }
}

/* Visits the grains that other ranks need. sent NULL: counts them by rank from counts[COUNT_RANKS] on, and after these
 * the grains that this rank needs of each rank, which are marked in `rank` (0 before). Else stores them, from
 * counts[COUNT_RANKS + r] on. */
template <typename real>
static __global__ void list_halo(general_arrays<real> a, const __grid_constant__ general_cuts cuts, uint32_t *sent,
                                 uint32_t *counts, unsigned k) {
  after_previous();
  const general_list<real> &list = a.list[a.control[k & 1].home];
  uint32_t *const own = counts + COUNT_RANKS, *const others = own + cuts.ranks;
  for (uint32_t t = blockIdx.x * GENERAL_THREADS + threadIdx.x; t < a.own.threads; t += gridDim.x * GENERAL_THREADS) {
    const uint32_t i = own_grain(a.own, t);
    if (i == GENERAL_NONE) continue;
    const uint32_t base = list.base[i / 32] + i % 32, count = list.count[i];
    uint32_t seen[SIM_RANKS_MAX / 32];
    bool any = false;
    for (uint32_t e = 0; e < count; e++) {
      const uint32_t j = list.neighbour[base + 32 * e];
      if (is_own(a.own, j)) continue;
      const int r = owner_of(cuts, j);
      if (sent == nullptr && atomicExch(&a.rank[j], 1u) == 0) atomicAdd(&others[r], 1u);
      for (int s = 0; s < SIM_RANKS_MAX / 32 && !any; s++) seen[s] = 0;
      any = true;
      if (seen[r / 32] >> (r % 32) & 1u) continue;
      seen[r / 32] |= 1u << (r % 32);
      const uint32_t at = atomicAdd(&own[r], 1u);
      if (sent != nullptr) sent[at] = i;
    }
    if (any && sent == nullptr) note_edge(a.own, i, counts + COUNT_EDGES);
  }
}

#endif
