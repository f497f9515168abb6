/* Times and errors of the fast multipole method on the GPU.
 *
 *   bench_nbody_fmm_cuda [--n N]... [--order P] [--theta T] [--weight W] [--leaf L] [--softening H]
 *                        [--distribution plummer|uniform|galaxies] [--precision single|mixed|double] [--phases]
 *                        [--blocks B] [--share S] [--potential] [--once] [--ranks R]
 *
 * A line for each N: milliseconds of a force (median), bodies a second, bytes a body of the solver and with the state,
 * errors |da| / |a| of 1000 bodies against a direct sum in fp64, and a digest of all accelerations.
 * --share: of the planned cells and lists, for which there is memory at first. --phases adds a table of kernels;
 * --potential the time and the error of the potential energy (N up to 2^20). --once: one force without its time, for
 * compute-sanitizer. --ranks: as many processes with a GPU each, of which the first one prints. */
extern "C" {
#include "engine/comm/forked.h"
#include "engine/run/profile.h"
}

#include "bench/device.cuh"
#include "kernels/nbody/direct/cuda/direct.h"
#include "kernels/nbody/fmm/cuda/fmm.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

enum { SAMPLES = 1000, THREADS = 256 };

/* ---- bodies ---- */

__host__ __device__ static uint64_t hash(uint64_t x) { /* splitmix64 */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
__device__ static double uniform(uint64_t i, int draw) { return ((double)(hash(8 * i + draw) >> 11) + 0.5) * 0x1p-53; }

__device__ static void on_sphere(uint64_t i, int draw, double radius, double x[3]) {
  const double z = 2 * uniform(i, draw) - 1, angle = 2 * M_PI * uniform(i, draw + 1), r = sqrt(1 - z * z);
  x[0] = radius * r * cos(angle), x[1] = radius * r * sin(angle), x[2] = radius * z;
}

/* A Plummer sphere of scale length 1, up to 99.9 % of its mass. */
__device__ static void plummer(uint64_t i, double scale, double x[3]) {
  on_sphere(i, 1, scale / sqrt(pow(0.999 * uniform(i, 0), -2.0 / 3.0) - 1), x);
}

/* Two galaxies, each a third of its bodies in a disk (scale length 1, thickness 0.1), the rest in a halo of length 5.
 */
__device__ static void galaxy(uint64_t i, double x[3]) {
  if (i % 6 < 2) {
    double r = 1;
    for (int k = 0; k < 2; k++) r *= uniform(i, k);
    r = -log(r) < 12 ? -log(r) : 12; /* of density r exp(-r) */
    const double angle = 2 * M_PI * uniform(i, 2), u = uniform(i, 3);
    x[0] = r * cos(angle), x[1] = r * sin(angle), x[2] = 0.05 * log(u / (1 - u));
  } else
    plummer(i, 5, x);
  if (i % 2 == 0) return;
  const double y = x[1]; /* the other galaxy is upright, 20 away */
  x[0] += 20, x[1] = x[2] + 5, x[2] = y;
}

template <typename real>
static __global__ void __launch_bounds__(THREADS) place(int n, int distribution, real *mass, real *position) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  double x[3];
  if (distribution == 0)
    plummer((uint64_t)i, 1, x);
  else if (distribution == 1)
    for (int c = 0; c < 3; c++) x[c] = uniform((uint64_t)i, c) - 0.5;
  else
    galaxy((uint64_t)i, x);
  mass[i] = (real)(1.0 / n);
  for (int c = 0; c < 3; c++) position[(size_t)c * n + i] = (real)x[c];
}

/* ---- errors ---- */

/* One block for each sample: a[3][SAMPLES] without G. */
template <typename real>
static __global__ void __launch_bounds__(THREADS)
    direct(int n, const real *mass, const real *position, double softening2, const int *sample, double *a) {
  __shared__ double shared[3][THREADS];
  const int i = sample[blockIdx.x];
  double sum[3] = {0, 0, 0}, x[3];
  for (int c = 0; c < 3; c++) x[c] = position[(size_t)c * n + i];
  for (int j = threadIdx.x; j < n; j += THREADS) {
    const double d[3] = {position[j] - x[0], position[(size_t)n + j] - x[1], position[2 * (size_t)n + j] - x[2]};
    const double s2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening2;
    const double y = rsqrt(s2), g = j == i ? 0 : mass[j] * y * y * y;
    for (int c = 0; c < 3; c++) sum[c] += g * d[c];
  }
  for (int c = 0; c < 3; c++) shared[c][threadIdx.x] = sum[c];
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < half)
      for (int c = 0; c < 3; c++) shared[c][threadIdx.x] += shared[c][threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    for (int c = 0; c < 3; c++) a[c * SAMPLES + blockIdx.x] = shared[c][0];
}

struct error_summary {
  double median, most99, most999;
};

static error_summary errors_of(const nbody_state *s, const double *acceleration, double softening, double unit) {
  const int n = (int)s->n;
  int sample[SAMPLES];
  for (int k = 0; k < SAMPLES; k++) sample[k] = (int)(hash(1000003 + (uint64_t)k) % (uint64_t)n);
  int *const drawn = (int *)allocate(sizeof sample);
  double *const exact = (double *)allocate(3 * SAMPLES * sizeof(double));
  must(sim_backend_cuda.copy(drawn, sample, sizeof sample) == SIM_OK, "copy");
  if (s->dtype == SIM_F32)
    direct<float><<<SAMPLES, THREADS, 0, stream()>>>(n, (const float *)s->mass, (const float *)s->position,
                                                     softening * softening, drawn, exact);
  else
    direct<double><<<SAMPLES, THREADS, 0, stream()>>>(n, (const double *)s->mass, (const double *)s->position,
                                                      softening * softening, drawn, exact);
  std::vector<double> a(3 * SAMPLES), all(3 * (size_t)n), error(SAMPLES);
  must(sim_backend_cuda.copy(a.data(), exact, a.size() * sizeof(double)) == SIM_OK, "direct sums");
  must(sim_backend_cuda.copy(all.data(), acceleration, all.size() * sizeof(double)) == SIM_OK, "accelerations");
  for (int k = 0; k < SAMPLES; k++) {
    double off = 0, size = 0;
    for (int c = 0; c < 3; c++) {
      const double is = all[(size_t)c * n + sample[k]] * unit, should = a[(size_t)c * SAMPLES + k];
      off += (is - should) * (is - should);
      size += should * should;
    }
    error[k] = sqrt(off / size);
    if (!(error[k] >= 0)) error[k] = INFINITY;
  }
  std::sort(error.begin(), error.end());
  sim_backend_cuda.free(drawn);
  sim_backend_cuda.free(exact);
  return {error[SAMPLES / 2], error[SAMPLES * 99 / 100], error[SAMPLES * 999 / 1000]};
}

static uint64_t digest_of(const nbody_state *s, const double *acceleration) {
  std::vector<uint64_t> words(3 * (size_t)s->n);
  must(sim_backend_cuda.copy(words.data(), acceleration, words.size() * 8) == SIM_OK, "accelerations");
  uint64_t sum = 0;
  for (size_t k = 0; k < words.size(); k++) sum += hash(words[k] ^ hash(k));
  return sum;
}

/* ---- times ---- */

/* Times forces one after the other, as in a run. All ranks compute the same number of them. */
static double time_forces(nbody_solver_work *work, int forces, bool alone) {
  nbody_raw_force raw;
  const auto queue = [&] {
    for (int k = 0; k < forces; k++) nbody_fmm_cuda.accelerate(work, false, &raw);
  };
  return (alone ? milliseconds(queue) : milliseconds(queue, 20, INFINITY)) / forces;
}

/* For a new solver: a solver that has captured its force replays it as a whole. */
static void print_phases(const nbody_options *options, const nbody_state *state) {
  nbody_solver_work *work;
  nbody_raw_force raw;
  must(nbody_fmm_cuda.create(options, state, &work) == SIM_OK, "create");
  sim_profile_start();
  nbody_fmm_cuda.accelerate(work, false, &raw);
  must(sim_queue_cuda.finish() == SIM_OK, "the device");
  sim_bytes text = {};
  sim_profile_table(&text);
  if (options->comm->rank == 0) printf("%.*s", (int)text.size, text.data);
  sim_bytes_free(&text);
  sim_profile_stop();
  nbody_fmm_cuda.destroy(&work);
}

static void print_potential(const nbody_options *options, const nbody_state *state, nbody_solver_work *work) {
  double energy = nbody_fmm_cuda.potential(work);
  const double ms = milliseconds([&] { energy = nbody_fmm_cuda.potential(work); }, 5, INFINITY);
  if (options->comm->rank == 0) printf("  potential %.17g, %.3f ms", energy, ms);
  if (options->n <= 1 << 20) {
    nbody_solver_work *exact;
    must(nbody_direct_cuda.create(options, state, &exact) == SIM_OK, "create");
    const double should = nbody_direct_cuda.potential(exact);
    if (options->comm->rank == 0) printf(", relative error %.2e", fabs(energy / should - 1));
    nbody_direct_cuda.destroy(&exact);
  }
  if (options->comm->rank == 0) printf("\n");
}

struct request {
  nbody_fmm_settings settings;
  int distribution;
  const char *precision;
  double softening;
  bool phases, potential, once;
};

static void bench(const sim_comm *comm, int64_t n, const request &r) {
  const bool narrow_state = !strcmp(r.precision, "single");
  const size_t real = narrow_state ? sizeof(float) : sizeof(double);
  nbody_options options = {};
  options.comm = comm;
  options.n = n;
  options.single_pairs = strcmp(r.precision, "double") != 0;
  options.G = 1;
  options.softening = r.softening;
  options.fmm = r.settings;
  nbody_state state = {};
  state.n = n;
  state.dtype = narrow_state ? SIM_F32 : SIM_F64;
  state.mass = allocate((size_t)n * real);
  state.position = allocate(3 * (size_t)n * real);
  state.velocity = allocate(3 * (size_t)n * real);
  state.acceleration = (double *)allocate(3 * (size_t)n * sizeof(double));
  const unsigned blocks = (unsigned)((n + THREADS - 1) / THREADS);
  if (narrow_state)
    place<<<blocks, THREADS, 0, stream()>>>((int)n, r.distribution, (float *)state.mass, (float *)state.position);
  else
    place<<<blocks, THREADS, 0, stream()>>>((int)n, r.distribution, (double *)state.mass, (double *)state.position);
  must(sim_queue_cuda.finish() == SIM_OK, "bodies");
  nbody_solver_work *work;
  must(nbody_fmm_cuda.create(&options, &state, &work) == SIM_OK, "create");
  nbody_raw_force raw;
  nbody_fmm_cuda.accelerate(work, false, &raw);
  nbody_fmm_use use;
  must(nbody_fmm_cuda_use(work, &use) == SIM_OK, "a force");
  const uint64_t digest = digest_of(&state, raw.acceleration);
  const error_summary e = errors_of(&state, raw.acceleration, r.softening, raw.unit);
  const double ms = r.once ? NAN : time_forces(work, n < 300000 ? 8 : 1, comm->size == 1);
  double host, bytes;
  nbody_fmm_cuda.bytes(&options, &host, &bytes);
  must(nbody_fmm_cuda_use(work, &use) == SIM_OK, "a force");
  const bool same = digest_of(&state, raw.acceleration) == digest;
  if (comm->rank == 0)
    printf("%10lld P %d theta %g w %g leaf %d %9.3f ms %10.3e /s  %5.1f B a body (with state %5.1f)  median %.2e 99%% "
           "%.2e "
           "99.9%% %.2e  digest %016llx%s  cells %u of %u, segments %u of %u, tasks %u, levels %u\n",
           (long long)n, r.settings.order, r.settings.theta, r.settings.weight, r.settings.leaf, ms, n / ms * 1e3,
           bytes / n, bytes / n + 7 * (double)real + 24, e.median, e.most99, e.most999, (unsigned long long)digest,
           same ? "" : " NOT THE SAME AGAIN", use.cells, use.cells_most, use.segments, use.segments_most, use.tasks,
           use.levels);
  fflush(stdout);
  if (r.phases) print_phases(&options, &state);
  if (r.potential) print_potential(&options, &state, work);
  fflush(stdout);
  nbody_fmm_cuda.destroy(&work);
  for (void *array : {state.mass, state.position, state.velocity, (void *)state.acceleration})
    sim_backend_cuda.free(array);
}

/* All sizes, on one rank. */
static int play(const sim_comm *comm, const std::vector<int64_t> &sizes, const request &r) {
  const char *reason = sim_backend_cuda.unavailable();
  int gpus = 0;
  char which[16] = "";
  if (reason != nullptr) {
    if (comm->rank == 0) printf("no GPU: %s\n", reason);
    return 0;
  }
  must(cudaGetDeviceCount(&gpus) == cudaSuccess, "GPUs");
  snprintf(which, sizeof which, "%d", comm->rank % gpus);
  must(sim_backend_cuda.open(comm->size > 1 ? which : nullptr) == SIM_OK, "open");
  for (int64_t n : sizes) bench(comm, n, r);
  return 0;
}

/* Runs on several ranks. This process itself touches no GPU. */
static int play_on_ranks(int ranks, const std::vector<int64_t> &sizes, const request &r) {
  sim_forked *forked;
  bool good = true;
  must(sim_forked_create(ranks, &forked) == SIM_OK, "ranks");
  for (int k = 0; k < ranks; k++) {
    const pid_t rank = fork();
    must(rank >= 0, "fork");
    if (rank > 0) continue;
    sim_comm comm;
    must(sim_forked_attach(dup(sim_forked_descriptor(forked)), k, &comm) == SIM_OK, "rank");
    exit(play(&comm, sizes, r));
  }
  for (int left = ranks; left > 0; left--) {
    int how = 0;
    good = wait(&how) > 0 && how == 0 && good;
    if (how != 0) sim_forked_fail(forked, 0, SIM_ERR_RANK, "ended");
  }
  sim_forked_destroy(&forked);
  return good ? 0 : 1;
}

static int usage() {
  fprintf(stderr, "bench_nbody_fmm_cuda [--n N]... [--order P] [--theta T] [--weight W] [--leaf L] [--softening H]\n"
                  "  [--distribution plummer|uniform|galaxies] [--precision single|mixed|double] [--phases]\n"
                  "  [--blocks B] [--share S] [--potential] [--once] [--ranks R]\n");
  return 64;
}

int main(int count, char **arguments) {
  static const char *const distributions[] = {"plummer", "uniform", "galaxies"};
  request r = {{5, 0.8, 1.5, 64}, 0, "single", 1e-3, false, false, false};
  std::vector<int64_t> sizes;
  int ranks = 1;
  for (int k = 1; k < count; k++) {
    const char *const name = arguments[k];
    if (!strcmp(name, "--phases"))
      r.phases = true;
    else if (!strcmp(name, "--potential"))
      r.potential = true;
    else if (!strcmp(name, "--once"))
      r.once = true;
    else if (k + 1 == count)
      return usage();
    else {
      const char *const value = arguments[++k];
      if (!strcmp(name, "--n"))
        sizes.push_back((int64_t)atof(value));
      else if (!strcmp(name, "--order"))
        r.settings.order = atoi(value);
      else if (!strcmp(name, "--theta"))
        r.settings.theta = atof(value);
      else if (!strcmp(name, "--weight"))
        r.settings.weight = atof(value);
      else if (!strcmp(name, "--leaf"))
        r.settings.leaf = atoi(value);
      else if (!strcmp(name, "--softening"))
        r.softening = atof(value);
      else if (!strcmp(name, "--precision"))
        r.precision = value;
      else if (!strcmp(name, "--ranks"))
        ranks = atoi(value);
      else if (!strcmp(name, "--blocks"))
        nbody_fmm_cuda_blocks = atoi(value);
      else if (!strcmp(name, "--share"))
        nbody_fmm_cuda_share = atof(value);
      else if (!strcmp(name, "--distribution")) {
        r.distribution = -1;
        for (int d = 0; d < 3; d++)
          if (!strcmp(value, distributions[d])) r.distribution = d;
        if (r.distribution < 0) return usage();
      } else
        return usage();
    }
  }
  if (sizes.empty()) sizes = {100000, 1000000, 10000000};
  if (ranks < 1 || ranks > SIM_RANKS_MAX) return usage();
  return ranks == 1 ? play(&sim_comm_alone, sizes, r) : play_on_ranks(ranks, sizes, r);
}
