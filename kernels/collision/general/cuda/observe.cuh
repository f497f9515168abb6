/* Kernels that bring the state into the order of ids, and contacts' history with it, as templates on the real type. */
#ifndef COLLISION_GENERAL_CUDA_OBSERVE_CUH
#define COLLISION_GENERAL_CUDA_OBSERVE_CUH

#include "kernels/collision/general/cuda/step.cuh"
#include "kernels/collision/general/cuda/lists.cuh"
#include "kernels/collision/general/cuda/sums.cuh"
#include "kernels/collision/gravity/predict.h"

template <typename real> static __global__ void invert_ids(general_arrays<real> a, unsigned k) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const uint32_t *const id = a.records[a.control[k & 1].home].id;
  for (uint32_t i = blockIdx.x * GENERAL_THREADS + threadIdx.x; i < b.n; i += gridDim.x * GENERAL_THREADS)
    a.slot[id[i]] = i;
}

/* Second half of the velocities' step. */
template <typename real> static __global__ void finish_step(general_arrays<real> a, real ended, unsigned k) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_grains<real> &g = a.grains[a.control[k & 1].order];
  const real rest = (real)0.5 * ended;
  for (uint32_t i = blockIdx.x * GENERAL_THREADS + threadIdx.x; i < b.n; i += gridDim.x * GENERAL_THREADS) {
    const vec4<real> da = g.acceleration[i], dw = g.angular_acceleration[i];
    vec4<real> v = g.velocity[i], s = g.spin[i];
    if (a.bodies.count > 0 && a.records[a.control[k & 1].home].mobility[i].body > 0) {
      g.v_pred[i] = v; /* see push_bodies */
      g.w_pred[i] = s;
      continue;
    }
    real as[3] = {da.x, da.y, da.z};
    if (a.pull != nullptr) add_pull(b, a, a.records[a.control[k & 1].home].id[i], as);
    v.x += rest * as[0], v.y += rest * as[1], v.z += rest * as[2];
    s.x += rest * dw.x, s.y += rest * dw.y, s.z += rest * dw.z;
    g.velocity[i] = g.v_pred[i] = v;
    g.spin[i] = g.w_pred[i] = s;
    if (b.heated) g.temperature[i] = a.warmed[i];
  }
}

/* Clears the grains' cached distances to meshes. */
template <typename real> static __global__ void clear_near(general_arrays<real> a) {
  after_previous();
  const uint64_t all = (uint64_t)a.numbers->n * (uint64_t)a.numbers->meshes;
  for (uint64_t i = blockIdx.x * GENERAL_THREADS + threadIdx.x; i < all; i += gridDim.x * GENERAL_THREADS)
    a.near[i] = {};
}

/* Copies the state in the order of ids into the other set. */
template <typename real> static __global__ void order_by_id(general_arrays<real> a, unsigned k) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const general_control now = a.control[k & 1];
  for (uint32_t id = blockIdx.x * GENERAL_THREADS + threadIdx.x; id < b.n; id += gridDim.x * GENERAL_THREADS) {
    move_grain(a.grains[now.order ^ 1], a.grains[now.order], id, a.slot[id], false);
    move_kept(b, a.records[now.home ^ 1], a.records[now.home], id, a.slot[id]);
  }
}

/* Restores the predicted velocities, which order_by_id has overwritten. */
template <typename real> static __global__ void reset_predicted(general_arrays<real> a, unsigned k) {
  after_previous();
  const general_grains<real> &g = a.grains[a.control[k & 1].order];
  const uint32_t n = a.numbers->n;
  for (uint32_t i = blockIdx.x * GENERAL_THREADS + threadIdx.x; i < n; i += gridDim.x * GENERAL_THREADS)
    set_predicted(g, i);
}

/* Writes masses [n] and positions [3][n] after some time without other forces, by ids. */
template <typename real>
static __global__ void predict_grains(general_arrays<real> a, unsigned k,
                                      const __grid_constant__ collision_prediction prediction, double *position,
                                      double *mass) {
  after_previous();
  const general_control now = a.control[k & 1];
  const general_grains<real> &g = a.grains[now.order];
  const uint32_t *const ids = a.records[now.home].id;
  const size_t n = a.numbers->n;
  for (uint32_t i = blockIdx.x * GENERAL_THREADS + threadIdx.x; i < n; i += gridDim.x * GENERAL_THREADS) {
    const vec4<real> at = g.position[i], moves = g.velocity[i];
    double x[3] = {(double)at.x, (double)at.y, (double)at.z},
           v[3] = {(double)moves.x, (double)moves.y, (double)moves.z};
    const uint32_t id = ids[i];
    collision_predict(&prediction, x, v);
    for (int c = 0; c < 3; c++) position[c * n + id] = x[c];
    mass[id] = (double)moves.w;
  }
}

/* Packs the history by ids, each contact once, into the other list, [springs][room]; rank[id]: where the contacts of an
 * id begin. A zero loses its sign, as on the CPU. */
template <typename real>
static __global__ void __launch_bounds__(GENERAL_THREADS) pack_history(general_arrays<real> a, unsigned k) {
  __shared__ uint32_t shared[33];
  const general_numbers &b = *a.numbers;
  const int home = a.control[k & 1].home;
  const general_list<real> &list = a.list[home], &out = a.list[home ^ 1];
  const uint32_t *const ids = a.records[home].id;
  const uint32_t first = blockIdx.x * GENERAL_THREADS + threadIdx.x, all = gridDim.x * GENERAL_THREADS;
  unsigned round = *(volatile unsigned *)(a.barrier + 1);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t id = first; id < b.n; id += all) {
      const uint32_t i = a.slot[id], base = list.base[i / 32] + i % 32;
      uint32_t count = 0;
      for (uint32_t e = 0; e < list.count[i]; e++) {
        const uint32_t from = base + 32 * e, partner = ids[list.neighbour[from]];
        bool any = false;
        for (int s = 0; s < b.springs; s++) any = any || list.spring[spring_at(b, from, s)] != 0;
        if (partner < id || !any) continue;
        if (pass == 1) {
          const uint32_t to = a.rank[id] + count;
          out.neighbour[to] = partner;
          for (int s = 0; s < b.springs; s++)
            out.spring[(size_t)s * b.room + to] = list.spring[spring_at(b, from, s)] + 0;
        }
        count++;
      }
      if (pass == 0) a.rank[id] = count;
    }
    wait_for_all(a.barrier, &round);
    if (pass == 0) scan(a.rank, b.n, a.partial, a.barrier, &round, shared);
  }
  if (first == 0) a.barrier[1] = round;
}

/* Writes the history of a contact, packed by ids, into the rows of both grains, where this rank has them. spring: value
 * s is at spring[s * stride]. */
template <typename real>
static __device__ void unpack_contact(const general_numbers &b, const general_arrays<real> &a,
                                      const general_list<real> &list, uint32_t id, uint32_t partner, const real *spring,
                                      size_t stride) {
  const uint32_t side[2] = {a.slot[id], a.slot[partner]};
  for (int t = 0; t < 2; t++) {
    const uint32_t i = side[t], base = list.base[i / 32] + i % 32;
    for (uint32_t e = 0; e < list.count[i]; e++) {
      if (list.neighbour[base + 32 * e] != side[1 - t]) continue;
      for (int s = 0; s < b.springs; s++) {
        const real value = spring[(size_t)s * stride];
        list.spring[spring_at(b, base + 32 * e, s)] =
            t == 0 || s == b.law_springs || contact_even(b.law_springs, s) ? value : -value;
      }
    }
  }
}

/* Unpacks the history from the other list, as pack_history left it. */
template <typename real> static __global__ void unpack_history(general_arrays<real> a, unsigned k) {
  after_previous();
  const general_numbers &b = *a.numbers;
  const int home = a.control[k & 1].home;
  const general_list<real> &list = a.list[home], &from = a.list[home ^ 1];
  for (uint32_t id = blockIdx.x * GENERAL_THREADS + threadIdx.x; id < b.n; id += gridDim.x * GENERAL_THREADS)
    for (uint32_t at = a.rank[id]; at < a.rank[id + 1]; at++)
      unpack_contact(b, a, list, id, from.neighbour[at], from.spring + at, b.room);
}

#endif
