/* Sums over all grains in the order of ids, as templates on the real type. CPU counterpart: cpu/sums.inc. */
#ifndef COLLISION_GENERAL_CUDA_SUMS_CUH
#define COLLISION_GENERAL_CUDA_SUMS_CUH

#include "kernels/collision/general/cuda/walls.cuh"

enum {
  SUM_MASS,
  SUM_KINETIC,
  SUM_ROTATIONAL,
  SUM_ELASTIC,
  SUM_GRAVITY,
  SUM_DISSIPATED,
  SUM_VIRIAL,
  SUM_WORK,
  SUM_COLLISIONS,
  SUM_MOMENTUM,
  SUM_ANGULAR = SUM_MOMENTUM + 3,
  SUM_FLUX = SUM_ANGULAR + 3,
  SUM_STRESS = SUM_FLUX + 6,
  SUM_TOUCHING = SUM_STRESS + 6,
  SUM_TOUCHING_WALLS,
  SUM_HEAT,
  SUM_WALL_HEAT,
  SUM_DISPERSION,
  SUM_HEIGHT = SUM_DISPERSION + 3,
  SUM_DRIFT,
  SUM_WALL,
  SUMS = SUM_WALL + 3 * COLLISION_WALLS_MAX
};

/* Replaces the motion of a sphere of a clump in `part`: by that of the clump for its first sphere, else by 0. */
static __device__ __forceinline__ void sum_body(const general_numbers &b, const general_bodies &bodies, uint32_t id,
                                                double *part) {
  const uint32_t number = bodies.of[id];
  if (number == 0) return;
  const collision_body &of = bodies.state[number - 1];
  const general_body &body = bodies.body[number - 1];
  const bool first = of.first == (double)id;
  part[SUM_MASS] = first ? of.mass : 0;
  part[SUM_KINETIC] = part[SUM_ROTATIONAL] = part[SUM_GRAVITY] = 0;
  for (int k = 0; k < 3; k++) {
    const int p = (k + 1) % 3, q = (k + 2) % 3;
    const double m = of.mass, *v = of.velocity, *x = of.position;
    const double angular = m * (x[p] * v[q] - x[q] * v[p]) + of.angular[k], *row = body.inverse[k];
    const double spin = row[0] * of.angular[0] + row[1] * of.angular[1] + row[2] * of.angular[2];
    part[SUM_KINETIC] += first ? 0.5 * m * v[k] * v[k] : 0;
    part[SUM_ROTATIONAL] += first ? 0.5 * of.angular[k] * spin : 0;
    part[SUM_GRAVITY] -= first ? m * b.gravity[k] * x[k] : 0;
    part[SUM_MOMENTUM + k] = first ? m * v[k] : 0;
    part[SUM_ANGULAR + k] = first ? angular : 0;
    part[SUM_FLUX + k] = first ? m * v[k] * v[k] : 0;
    part[SUM_FLUX + 3 + k] = first ? m * v[k] * v[(k + 1) % 3] : 0;
  }
}

/* partial [SUM_WALL + 3 forces][blocks]: sums over blocks of GENERAL_THREADS ids, so that the order of a sum is the
 * same on all devices; on several ranks the terms of own grains instead, see general_terms. deepest [2]: bits of the
 * largest overlap; and the largest pair of the overlap in single precision and the complement of the id. */
template <int SPRINGS, typename Law, int FEATURES, typename real>
static __device__ __forceinline__ void
sum_grains(const general_arrays<real> &a, const general_poses &poses, const general_shear<real> &shift, int forces,
           const general_terms &terms, double *partial, unsigned long long *deepest, unsigned k) {
  __shared__ double shared[GENERAL_THREADS / 32];
  const general_numbers &b = *a.numbers;
  const general_control now = a.control[k & 1];
  const general_grains<real> &g = a.grains[now.order];
  const general_records<real> &records = a.records[now.home];
  const uint32_t first = terms.first / GENERAL_THREADS, blocks = min(b.blocks - first, terms.count / GENERAL_THREADS);
  for (uint32_t block = first + blockIdx.x; block < first + blocks; block += gridDim.x) {
    const uint32_t id = block * GENERAL_THREADS + threadIdx.x;
    double part[SUM_WALL] = {}, wall[3 * COLLISION_WALLS_MAX];
    for (int q = 0; q < 3 * forces; q++) wall[q] = 0;
    const uint32_t i = id < b.n ? a.slot[id] : GENERAL_NONE;
    if (id < b.n && is_own(a.own, i)) {
      contact_sum<real> sum = {};
      contact_observables at = {};
      observe_pairs<SPRINGS, Law, FEATURES>(b, a, now, shift, i, &at);
      gather_walls<SPRINGS, Law, FEATURES, true, real>(b, a, poses, now, i, 0, 0, Law::named ? (real)b.reach : 0, &sum,
                                                       &at, wall);
      const vec4<real> position = g.position[i], velocity = g.velocity[i], spin = g.spin[i];
      const double m = (double)velocity.w, r = (double)position.w, inertia = 0.4 * m * r * r;
      const double x[3] = {(double)position.x, (double)position.y, (double)position.z};
      const double v[3] = {(double)velocity.x, (double)velocity.y, (double)velocity.z};
      const double s[3] = {(double)spin.x, (double)spin.y, (double)spin.z};
      double u[3] = {v[0], v[1], v[2]}; /* relative to the flow of a sheared box */
      if (a.box.turned)
        u[1] -= b.shear * (x[0] - b.low[0] - 0.5 * b.size[0]);
      else
        u[0] -= b.shear * (x[1] - b.low[1] - 0.5 * b.size[1]);
      if (shift.hill.omega > 0) {
        part[SUM_GRAVITY] = m * hill_potential(&shift.hill, x[0], x[2]);
        part[SUM_HEIGHT] = (x[2] - shift.hill.middle[1]) * (x[2] - shift.hill.middle[1]);
        for (int c = 0; c < 3; c++) part[SUM_DISPERSION + c] = u[c] * u[c];
      }
      for (int c = 0; c < 3; c++) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        part[SUM_KINETIC] += 0.5 * m * v[c] * v[c];
        part[SUM_ROTATIONAL] += 0.5 * inertia * s[c] * s[c];
        part[SUM_GRAVITY] -= m * b.gravity[c] * x[c];
        part[SUM_MOMENTUM + c] = m * v[c];
        part[SUM_ANGULAR + c] = m * (x[d] * v[e] - x[e] * v[d]) + inertia * s[c];
        part[SUM_FLUX + c] = m * u[c] * u[c];
        part[SUM_FLUX + 3 + c] = m * u[c] * u[d];
      }
      part[SUM_DRIFT] = m * (a.box.turned ? u[1] : u[0]);
      part[SUM_MASS] = m;
      if constexpr (general_clumps(FEATURES)) sum_body(b, a.bodies, id, part);
      for (int q = 0; q < 6; q++) part[SUM_STRESS + q] = at.stress[q];
      part[SUM_ELASTIC] = at.elastic;
      part[SUM_DISSIPATED] = records.dissipated[i];
      part[SUM_VIRIAL] = records.virial[i];
      part[SUM_WORK] = b.worked ? records.work[i] : 0;
      part[SUM_COLLISIONS] = (double)records.collisions[i];
      part[SUM_HEAT] = b.heated ? m * b.capacity * g.temperature[i] : 0;
      part[SUM_WALL_HEAT] = b.heated ? records.wall_heat[i] : 0;
      part[SUM_TOUCHING] = at.touching;
      part[SUM_TOUCHING_WALLS] = at.touching_walls;
      if (at.overlap > 0) {
        atomicMax(&deepest[0], (unsigned long long)__double_as_longlong(at.overlap));
        atomicMax(&deepest[1], (unsigned long long)__float_as_uint((float)at.overlap) << 32 | (uint32_t)~id);
      }
    }
    for (int q = 0; q < SUM_WALL + 3 * forces && terms.term != nullptr; q++)
      terms.term[(size_t)q * terms.count + (id - terms.first)] = q < SUM_WALL ? part[q] : wall[q - SUM_WALL];
    for (int q = 0; q < SUM_WALL + 3 * forces && terms.term == nullptr; q++) {
      const double all = block_sum<GENERAL_THREADS>(q < SUM_WALL ? part[q] : wall[q - SUM_WALL], shared);
      if (threadIdx.x == 0) partial[(size_t)q * b.blocks + block] = all;
    }
  }
}

template <int SPRINGS, typename Law, int FEATURES, typename real>
static __global__ void __launch_bounds__(GENERAL_THREADS)
    sum_blocks(general_arrays<real> a, const __grid_constant__ general_poses poses, general_shear<real> shift,
               int forces, general_terms terms, double *partial, unsigned long long *deepest, unsigned k) {
  after_previous();
  sum_grains<SPRINGS, Law, FEATURES>(a, poses, shift, forces, terms, partial, deepest, k);
}

/* Adds up the terms of all ranks: sums over blocks of ids, as sum_grains makes them on one rank. */
static __global__ void __launch_bounds__(GENERAL_THREADS)
    sum_terms(general_terms terms, uint32_t blocks, int quantities, double *partial) {
  __shared__ double shared[GENERAL_THREADS / 32];
  after_previous();
  const uint32_t first = terms.first / GENERAL_THREADS, here = min(blocks - first, terms.count / GENERAL_THREADS);
  for (uint32_t k = blockIdx.x; k < here; k += gridDim.x)
    for (int q = 0; q < quantities; q++) {
      const double all =
          block_sum<GENERAL_THREADS>(terms.term[(size_t)q * terms.count + k * GENERAL_THREADS + threadIdx.x], shared);
      if (threadIdx.x == 0) partial[(size_t)q * blocks + first + k] = all;
    }
}

static __global__ void __launch_bounds__(GENERAL_THREADS) sum_all(const double *partial, uint32_t blocks, double *out) {
  __shared__ double shared[GENERAL_THREADS / 32];
  after_previous();
  double sum = 0;
  for (uint32_t b = threadIdx.x; b < blocks; b += GENERAL_THREADS) sum += partial[(size_t)blockIdx.x * blocks + b];
  const double all = block_sum<GENERAL_THREADS>(sum, shared);
  if (threadIdx.x == 0) out[blockIdx.x] = all;
}

#endif
