/* Sums over bodies, radii that hold shares of the mass, and the length of an adaptive step. */
#include "kernels/nbody/cuda/observe.cuh"

#include "engine/device/cuda.h"
#include "kernels/nbody/cuda/functions.cuh"
#include "kernels/nbody/cuda/partials.cuh"
#include "kernels/nbody/cuda/steps.cuh"
#include "kernels/nbody/physics.h"

#include <string.h>

enum { THREADS = NBODY_PARTIAL_BODIES, BODY_SUMS = NBODY_LEAST, PASSES = 8 };

static cudaStream_t stream() { return (cudaStream_t)sim_cuda_stream(); }

/* Copies a result to the host. The backend keeps an error, which ends the run. */
static void read_back(void *out, const void *from, size_t bytes) {
  if (sim_backend_cuda.copy(out, from, bytes) != SIM_OK) memset(out, 0, bytes);
}

/* ---- sums ---- */

template <typename real>
static __global__ void __launch_bounds__(THREADS)
    sum_bodies(int n, const real *mass, const real *position, const real *velocity, double *partial) {
  __shared__ double shared[32];
  const int i = blockIdx.x * THREADS + threadIdx.x;
  double terms[BODY_SUMS] = {0};
  if (i < n) {
    double x[3], v[3];
    const double m = mass[i];
    for (int c = 0; c < 3; c++) x[c] = position[(size_t)c * n + i], v[c] = velocity[(size_t)c * n + i];
    terms[NBODY_MASS] = m;
    terms[NBODY_KINETIC] = 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int c = 0; c < 3; c++) {
      const int p = (c + 1) % 3, q = (c + 2) % 3;
      terms[NBODY_MOMENT + c] = m * x[c];
      terms[NBODY_MOMENTUM + c] = m * v[c];
      terms[NBODY_ANGULAR_MOMENTUM + c] = m * (x[p] * v[q] - x[q] * v[p]);
    }
  }
  for (int k = 0; k < BODY_SUMS; k++) {
    const double sum = over_block<reduce_sum>(terms[k], shared);
    if (threadIdx.x == 0) partial[(size_t)k * gridDim.x + blockIdx.x] = sum;
  }
}

/* Enqueues the sums over bodies, into w->result. */
template <typename real> static void enqueue_sums(nbody_work *w) {
  static const sim_kernel kernel = {"nbody_sum_bodies", "observe", SIM_LIMIT_BYTES};
  const nbody_state *s = &w->state;
  sim_cuda_begin(&kernel);
  sum_bodies<real><<<(unsigned)nbody_partials(s->n), THREADS, 0, stream()>>>(
      (int)s->n, (const real *)s->mass, (const real *)s->position, (const real *)s->velocity, w->partial);
  sim_cuda_end(&kernel, 7.0 * sizeof(real) * (double)s->n);
  nbody_reduce_partials<reduce_sum>(w->partial, BODY_SUMS, nbody_partials(s->n), w->result);
}

template <typename real> double nbody_cuda_kinetic(nbody_work *w) {
  double kinetic;
  enqueue_sums<real>(w);
  read_back(&kinetic, w->result + NBODY_KINETIC, sizeof kinetic);
  return kinetic;
}

/* ---- shares of the mass ---- */

/* Squared distances are searched by their bits, one byte a pass, most significant first: non-negative floating-point
 * numbers have the order of their bits. Masses are summed as integers, so that the order of additions does not
 * matter. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    weigh(int n, const real *mass, const real *position, const double *result, double to_integer, int pass,
          nbody_search *search) {
  __shared__ unsigned long long bins[NBODY_RADII][256];
  for (int k = threadIdx.x; k < NBODY_RADII * 256; k += THREADS) (&bins[0][0])[k] = 0;
  const double all = result[NBODY_MASS];
  const double cx = result[NBODY_MOMENT] / all, cy = result[NBODY_MOMENT + 1] / all,
               cz = result[NBODY_MOMENT + 2] / all;
  __syncthreads();
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += (long long)gridDim.x * THREADS) {
    const double dx = position[i] - cx, dy = position[(size_t)n + i] - cy, dz = position[2 * (size_t)n + i] - cz;
    const unsigned long long key = (unsigned long long)__double_as_longlong(dx * dx + dy * dy + dz * dz);
    const unsigned long long weight = (unsigned long long)__double2ll_rn(mass[i] * to_integer);
    for (int q = 0; q < NBODY_RADII; q++)
      if (pass == 0 || key >> (64 - 8 * pass) == search->prefix[q])
        atomicAdd(&bins[q][key >> (56 - 8 * pass) & 255], weight);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < NBODY_RADII * 256; k += THREADS)
    if ((&bins[0][0])[k] != 0) atomicAdd(&search->mass[0][0] + k, (&bins[0][0])[k]);
}

struct fractions {
  double of[NBODY_RADII];
};

/* Finds the byte at which the requested mass is reached; one warp a radius, eight bytes a lane. The last pass gives the
 * radius. */
static __global__ void narrow(int pass, fractions wanted, nbody_search *search, double *radius) {
  typedef unsigned long long u64;
  const int q = blockIdx.x, lane = threadIdx.x;
  u64 *bins = search->mass[q] + 8 * lane, here[8], within = 0;
  for (int b = 0; b < 8; b++) within += here[b] = bins[b], bins[b] = 0;
  const u64 upto = warp_prefix_sum(within), all = warp_read(upto, 31);
  u64 below = upto - within; /* mass in the lanes before this one */
  u64 target = pass == 0 ? (u64)ceil(wanted.of[q] * (double)all) : search->wanted[q];
  if (target > all) target = all; /* rounding of the masses */
  if (target < 1) target = 1;
  warp_barrier();
  if (below >= target || below + within < target) return; /* one lane continues, none where there is no mass */
  int byte = 0;
  while (below + here[byte] < target) below += here[byte++];
  const u64 prefix = (pass == 0 ? 0 : search->prefix[q]) << 8 | (unsigned)(8 * lane + byte);
  search->prefix[q] = prefix;
  search->wanted[q] = target - below;
  if (pass == PASSES - 1) radius[q] = sqrt(__longlong_as_double((long long)prefix));
}

/* Enqueues the radii about the centre of mass, from the sums in w->result, into it. */
template <typename real> static void enqueue_radii(nbody_work *w) {
  static const sim_kernel weighing = {"nbody_weigh", "observe", SIM_LIMIT_BYTES};
  static const sim_kernel narrowing = {"nbody_narrow", "observe", SIM_LIMIT_BYTES};
  const int64_t n = w->state.n;
  const int blocks = nbody_partials(n), most = 4 * sim_cuda_multiprocessors();
  fractions wanted;
  for (int q = 0; q < NBODY_RADII; q++) wanted.of[q] = nbody_radius_fractions[q];
  for (int pass = 0; pass < PASSES; pass++) {
    sim_cuda_begin(&weighing);
    weigh<real><<<(unsigned)(blocks < most ? blocks : most), THREADS, 0, stream()>>>(
        (int)n, (const real *)w->state.mass, (const real *)w->state.position, w->result, w->mass_unit, pass, w->search);
    sim_cuda_end(&weighing, 4.0 * sizeof(real) * (double)n);
    sim_cuda_begin(&narrowing);
    narrow<<<NBODY_RADII, 32, 0, stream()>>>(pass, wanted, w->search, w->result + NBODY_RADIUS);
    sim_cuda_end(&narrowing, sizeof(nbody_search));
  }
}

template <typename real> void nbody_cuda_sums(nbody_work *w, double t, nbody_sums *out) {
  const bool external = w->functions.energy != nullptr;
  const bool open = w->options.box == 0; /* a periodic box has no centre of mass */
  if (external) nbody_cuda_external_energy(w, t);
  enqueue_sums<real>(w);
  if (open) enqueue_radii<real>(w);
  out->potential = w->forces.solver->potential(w->forces.work);
  double r[NBODY_RESULTS];
  read_back(r, w->result, sizeof r);
  out->mass = r[NBODY_MASS];
  out->kinetic = r[NBODY_KINETIC];
  if (external) out->potential += r[NBODY_EXTERNAL_ENERGY];
  for (int c = 0; c < 3; c++) {
    out->moment[c] = r[NBODY_MOMENT + c];
    out->momentum[c] = r[NBODY_MOMENTUM + c];
    out->angular_momentum[c] = r[NBODY_ANGULAR_MOMENTUM + c];
  }
  for (int q = 0; q < NBODY_RADII; q++) out->radii[q] = open ? r[NBODY_RADIUS + q] : NAN;
}

/* ---- time steps ---- */

static __global__ void __launch_bounds__(THREADS) softened(int n, const double *a, double *partial) {
  __shared__ double shared[32];
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const double value = over_block<reduce_min>(i < n ? 1 / sqrt(square3(a, n, i)) : INFINITY, shared);
  if (threadIdx.x == 0) partial[blockIdx.x] = value;
}

static __global__ void __launch_bounds__(THREADS)
    aarseth(int n, const double *a, const double *j, const double *a0, const double *j0, double dt, double *partial) {
  __shared__ double shared[32];
  const int i = blockIdx.x * THREADS + threadIdx.x;
  double value = INFINITY;
  if (i < n) {
    double s2 = 0, c2 = 0;
    for (int c = 0; c < 3; c++) {
      const size_t k = (size_t)c * n + i;
      const double crackle = nbody_crackle(a0[k], j0[k], a[k], j[k], dt);
      const double snap = nbody_snap(a0[k], j0[k], a[k], j[k], dt) + dt * crackle;
      s2 += snap * snap;
      c2 += crackle * crackle;
    }
    value = nbody_aarseth(square3(a, n, i), square3(j, n, i), s2, c2);
  }
  value = over_block<reduce_min>(value, shared);
  if (threadIdx.x == 0) partial[blockIdx.x] = value;
}

static double least_of_partials(nbody_work *w) {
  double value;
  nbody_reduce_partials<reduce_min>(w->partial, 1, nbody_partials(w->state.n), w->result + NBODY_LEAST);
  read_back(&value, w->result + NBODY_LEAST, sizeof value);
  return value;
}

double nbody_cuda_step_softened(nbody_work *w, double eta) {
  static const sim_kernel kernel = {"nbody_softened_step", "time step", SIM_LIMIT_BYTES};
  nbody_cuda_finish(w);
  sim_cuda_begin(&kernel);
  softened<<<(unsigned)nbody_partials(w->state.n), THREADS, 0, stream()>>>((int)w->state.n, w->state.acceleration,
                                                                           w->partial);
  sim_cuda_end(&kernel, 24.0 * (double)w->state.n);
  return eta * sqrt(w->options.softening * least_of_partials(w));
}

double nbody_cuda_step_aarseth(nbody_work *w, double eta, double dt) {
  static const sim_kernel kernel = {"nbody_aarseth_step", "time step", SIM_LIMIT_BYTES};
  nbody_cuda_finish(w);
  sim_cuda_begin(&kernel);
  aarseth<<<(unsigned)nbody_partials(w->state.n), THREADS, 0, stream()>>>((int)w->state.n, w->state.acceleration,
                                                                          w->state.jerk, w->a0, w->j0, dt, w->partial);
  sim_cuda_end(&kernel, 96.0 * (double)w->state.n);
  return sqrt(eta * least_of_partials(w));
}

template double nbody_cuda_kinetic<float>(nbody_work *w);
template double nbody_cuda_kinetic<double>(nbody_work *w);
template void nbody_cuda_sums<float>(nbody_work *w, double t, nbody_sums *out);
template void nbody_cuda_sums<double>(nbody_work *w, double t, nbody_sums *out);
