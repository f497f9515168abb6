/* Order of grains and neighbour lists, as templates on the real type: one launch, whose thread blocks wait for each
 * other, and which ends at once where the lists are still valid. CPU counterpart: cpu/lists.inc. */
#ifndef COLLISION_GENERAL_CUDA_LISTS_CUH
#define COLLISION_GENERAL_CUDA_LISTS_CUH

#include "kernels/collision/general/cuda/search.cuh"

#include <float.h>

/* Copies grain k to index i of the other set; `step`: with predicted velocities, else with the accelerations that share
 * their memory. */
template <typename real>
static __device__ void move_grain(const general_grains<real> &to, const general_grains<real> &from, uint32_t i,
                                  uint32_t k, bool step) {
  to.position[i] = from.position[k];
  to.velocity[i] = from.velocity[k];
  to.spin[i] = from.spin[k];
  if (to.temperature != nullptr) to.temperature[i] = from.temperature[k];
  if (step) {
    to.v_pred[i] = from.v_pred[k];
    to.w_pred[i] = from.w_pred[k];
  } else {
    to.acceleration[i] = from.acceleration[k];
    to.angular_acceleration[i] = from.angular_acceleration[k];
  }
}

template <typename real>
static __device__ void move_kept(const general_numbers &b, const general_records<real> &to,
                                 const general_records<real> &from, uint32_t i, uint32_t k) {
  to.dissipated[i] = from.dissipated[k];
  to.virial[i] = from.virial[k];
  to.collisions[i] = from.collisions[k];
  to.id[i] = from.id[k];
  to.material[i] = from.material[k];
  if (b.worked) to.work[i] = from.work[k];
  if (b.heated) to.wall_heat[i] = from.wall_heat[k];
  for (int s = 0; s < b.gates; s++) to.crossed[(size_t)s * b.n + i] = from.crossed[(size_t)s * b.n + k];
  if (to.mobility != nullptr) to.mobility[i] = from.mobility[k];
  for (int s = 0; s < b.wall_numbers; s++) to.wall_spring[(size_t)s * b.n + i] = from.wall_spring[(size_t)s * b.n + k];
}

/* Sets the predicted velocities to the present ones. */
template <typename real> static __device__ void set_predicted(const general_grains<real> &g, uint32_t i) {
  g.v_pred[i] = g.velocity[i];
  g.w_pred[i] = g.spin[i];
}

/* Whether two grains are spheres of one clump, which are no neighbours. */
static __device__ __forceinline__ bool same_clump(const general_mobility *mobility, uint32_t i, uint32_t j) {
  return mobility != nullptr && mobility[i].body != 0 && mobility[i].body == mobility[j].body;
}

/* Builds the row of grain i, which stood at k before, and moves its history from the old row, if this rank has it
 * (`moved`); both are in the order of ids. */
template <bool SHEAR, typename real>
static __device__ void build_row(const general_numbers &b, const general_arrays<real> &a, const general_control &now,
                                 const general_control &next, uint32_t i, real offset, bool moved) {
  const general_list<real> &list = a.list[next.home], &old = a.list[now.home];
  const uint32_t *const id = a.records[next.home].id, *const old_id = a.records[now.home].id;
  const uint32_t base = list.base[i / 32] + i % 32, k = a.order[i];
  uint32_t count = 0;
  neighbours_of<SHEAR>(b, a, a.grains[next.order].position, i, next.cutoff, offset, [&](uint32_t j) {
    const uint32_t own = id[j];
    if (same_clump(a.records[next.home].mobility, i, j)) return;
    uint32_t at = count++;
    for (; at > 0; at--) {
      const uint32_t before = list.neighbour[base + 32 * (at - 1)];
      if (id[before] < own) break;
      list.neighbour[base + 32 * at] = before;
    }
    list.neighbour[base + 32 * at] = j;
  });
  list.count[i] = (uint16_t)count;
  if (b.springs == 0) return;
  const bool known = now.listed && moved;
  const uint32_t old_base = known ? old.base[k / 32] + k % 32 : 0, old_count = known ? old.count[k] : 0;
  uint32_t at = 0;
  for (uint32_t e = 0; e < count; e++) {
    const uint32_t to = base + 32 * e, partner = id[list.neighbour[to]];
    uint32_t there = UINT32_MAX;
    for (; at < old_count; at++) {
      there = old_id[old.neighbour[old_base + 32 * at]];
      if (there >= partner) break;
    }
    const bool same = at < old_count && there == partner;
    const uint32_t kept = old_base + 32 * at;
    const vec4<real> none = {}, *const from = (const vec4<real> *)old.spring;
    for (int q = 0; q < b.springs / 4; q++)
      ((vec4<real> *)list.spring)[(size_t)q * b.room + to] = same ? from[(size_t)q * b.room + kept] : none;
    for (int s = b.springs / 4 * 4; s < b.springs; s++)
      list.spring[rest_at(b, to, s)] = same ? old.spring[rest_at(b, kept, s)] : 0;
  }
}

/* Restores a heap of `count` numbers, the greatest on top, by moving item `at` down. */
static __device__ void sink(uint32_t *item, uint32_t at, uint32_t count) {
  const uint32_t own = item[at];
  for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && item[child + 1] > item[child]) child++;
    if (item[child] <= own) break;
    item[at] = item[child];
    at = child;
  }
  item[at] = own;
}

/* Sorts numbers by size, by one thread; many by a heap. */
static __device__ void sort_up(uint32_t *item, uint32_t count) {
  if (count > 32) {
    for (uint32_t at = count / 2; at-- > 0;) sink(item, at, count);
    for (uint32_t end = count - 1; end > 0; end--) {
      const uint32_t top = item[0];
      item[0] = item[end];
      item[end] = top;
      sink(item, 0, end);
    }
    return;
  }
  for (uint32_t k = 1; k < count; k++) {
    const uint32_t own = item[k];
    uint32_t at = k;
    for (; at > 0 && item[at - 1] > own; at--) item[at] = item[at - 1];
    item[at] = own;
  }
}

/* Advances *now by a step of dt whose greatest squared speed has these bits, and returns whether the lists hold no
 * longer; *wild: speeds are not finite, or a grain is outside a periodic box. */
template <bool SHEAR, typename real>
static __device__ bool lists_are_old(const general_numbers &b, unsigned long long bits, real dt, general_control *now,
                                     bool *wild) {
  double fastest = sqrt(__longlong_as_double((long long)bits));
  /* Neighbours in a sheared box also differ by the flow over their distance. */
  if (SHEAR) fastest += 0.5 * fabs(b.shear) * (2 * b.level[0].radius + now->cutoff);
  fastest *= 1 + b.turn * (double)dt; /* velocities turn in the step */
  const double step = 2 * fastest * (double)dt, edge = b.damped ? step : 0;
  *wild = !(fastest < (double)FLT_MAX);
  now->moved += step * (1 + 1e-6);
  now->step = step;
  return !*wild && !(now->moved + edge + b.reach < now->cutoff * (1 - 1e-3));
}

/* Returns the state after lists are rebuilt. */
static __device__ general_control rebuilt(const general_numbers &b, const general_control &now) {
  general_control next = now;
  const double edge = b.damped ? now.step : 0;
  /* Grains that are faster than the skin allows get a wider list, at least for this step. */
  next.cutoff = b.reach + (edge * 2 >= b.skin ? edge * 2 + b.skin : b.skin);
  next.moved = 0;
  next.order = now.order ^ 1;
  next.home = now.home ^ 1;
  next.listed = 1;
  return next;
}

/* Moves grains into the other sets, in the order of the cells. `divided`: all ranks need the same order, so that the
 * grains of a cell keep their old order; and this rank has only positions, ids and materials of other ranks' grains,
 * unless it has all data (`known`). */
template <typename real>
static __device__ void sort_grains(const general_numbers &b, const general_arrays<real> &a, const general_control &now,
                                   const general_control &next, bool step, bool divided, bool known, unsigned *round,
                                   uint32_t *shared) {
  const uint32_t first = blockIdx.x * GENERAL_THREADS + threadIdx.x, all = gridDim.x * GENERAL_THREADS;
  const general_grains<real> &from = a.grains[now.order], &to = a.grains[next.order];
  for (uint32_t c = first; c <= b.cells; c += all) a.cell[c] = 0;
  wait_for_all(a.barrier, round);
  for (uint32_t i = first; i < b.n; i += all) {
    const uint32_t cell = cell_at(b, from.position[i]);
    a.cell_of[i] = cell;
    a.rank[i] = atomicAdd(&a.cell[cell], 1u);
  }
  wait_for_all(a.barrier, round);
  scan(a.cell, b.cells, a.partial, a.barrier, round, shared);
  for (uint32_t i = first; i < b.n; i += all) a.order[a.cell[a.cell_of[i]] + a.rank[i]] = i;
  wait_for_all(a.barrier, round);
  if (divided) {
    for (uint32_t c = first; c < b.cells; c += all) sort_up(a.order + a.cell[c], a.cell[c + 1] - a.cell[c]);
    wait_for_all(a.barrier, round);
  }
  for (uint32_t i = first; i < b.n; i += all) {
    const uint32_t k = a.order[i];
    if (!divided || known || is_own(a.own, k)) {
      move_grain(to, from, i, k, step);
      move_kept(b, a.records[next.home], a.records[now.home], i, k);
    } else {
      to.position[i] = from.position[k];
      a.records[next.home].id[i] = a.records[now.home].id[k];
      a.records[next.home].material[i] = a.records[now.home].material[k];
      if (a.bodies.count > 0) { /* all ranks move all clumps: they have their spheres' masses and mobilities */
        to.velocity[i] = from.velocity[k];
        a.records[next.home].mobility[i] = a.records[now.home].mobility[k];
      }
    }
    if (a.bodies.count > 0) a.slot[a.records[next.home].id[i]] = i;
  }
  wait_for_all(a.barrier, round);
  for (uint32_t i = first; i < b.n && !step; i += all) set_predicted(to, i);
}

/* Builds the rows of own grains in the other list, for sorted grains; *next is of sort_grains, and gets the reach that
 * the list has room for. */
template <bool SHEAR, typename real>
static __device__ void list_neighbours(const general_numbers &b, const general_arrays<real> &a,
                                       const general_control &now, general_control *next, real offset, bool divided,
                                       bool known, unsigned *round, uint32_t *shared) {
  const uint32_t first = blockIdx.x * GENERAL_THREADS + threadIdx.x, all = gridDim.x * GENERAL_THREADS;
  const general_grains<real> &to = a.grains[next->order];
  const general_list<real> &list = a.list[next->home];
  const double edge = b.damped ? now.step : 0;
  /* Where grains are so dense that the list has no room for the usual reach, the reach is halved; the list is rebuilt
   * sooner. */
  const double least = b.reach + (edge * 2 >= b.skin / 64 ? edge * 2 : b.skin / 64);
  for (;;) {
    for (uint32_t i = first; i < 32 * b.slices; i += all) {
      uint32_t count = 0;
      const general_mobility *const mobility = a.records[next->home].mobility;
      if (i < b.n && (!divided || is_own(a.own, i)))
        neighbours_of<SHEAR>(b, a, to.position, i, next->cutoff, offset,
                             [&](uint32_t j) { count += !same_clump(mobility, i, j); });
      count = warp_max_all(count);
      if (i % 32 == 0) list.base[i / 32] = 32 * count;
    }
    wait_for_all(a.barrier, round);
    scan(list.base, b.slices, a.partial, a.barrier, round, shared);
    if (list.base[b.slices] <= b.room || !(next->cutoff > least)) break;
    wait_for_all(a.barrier, round); /* all have read the sum */
    next->cutoff = next->cutoff / 2 > least ? next->cutoff / 2 : least;
  }
  const bool full = list.base[b.slices] > b.room;
  if (full && first == 0) *a.fault |= GENERAL_LIST_FULL;
  for (uint32_t i = first; i < b.n; i += all)
    if (full || (divided && !is_own(a.own, i)))
      list.count[i] = 0;
    else
      build_row<SHEAR>(b, a, now, *next, i, offset, !divided || known || is_own(a.own, a.order[i]));
}

template <bool SHEAR, typename real>
static __global__ void __launch_bounds__(GENERAL_THREADS)
    search(general_arrays<real> a, real dt, unsigned k, real offset) {
  __shared__ uint32_t shared[33];
  const general_numbers &b = *a.numbers;
  const bool leads = blockIdx.x == 0 && threadIdx.x == 0;
  general_control now = a.control[k & 1];
  bool wild;
  const bool rebuild = lists_are_old<SHEAR>(b, a.motion[(k - 1) & 3], dt, &now, &wild) && *a.fault == 0;
  general_control next = rebuild ? rebuilt(b, now) : now;
  if (leads) {
    a.control[(k + 1) & 1] = next;
    a.motion[(k + 1) & 3] = 0;
    if (wild) *a.fault |= GENERAL_DIVERGED;
  }
  if (!rebuild) return;
  unsigned round = *(volatile unsigned *)(a.barrier + 1);
  sort_grains(b, a, now, next, dt > 0, false, true, &round, shared);
  list_neighbours<SHEAR>(b, a, now, &next, offset, false, true, &round, shared);
  if (leads) {
    a.control[(k + 1) & 1].cutoff = next.cutoff;
    a.barrier[1] = round;
  }
}

#endif
