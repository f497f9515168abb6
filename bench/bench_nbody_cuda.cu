/* Direct sums on the GPU: interactions a second (an interaction is one ordered pair), beside the limit by counted issue
 * slots or fp64 instructions and beside NVIDIA's sample's algorithm, all in one run.
 *
 *   bench_nbody_cuda [--precision single|mixed|double] [--scheme leapfrog|hermite4] [--n N]... [--equal] [--sweep]
 *                    [--unsoftened]
 *
 * Two times a row: of a force alone, launched by itself, and of a whole step as a run replays it from a graph
 * (leapfrog: a force and two kernels; hermite4: two forces). Early launches and the sums of splits weigh as much as
 * interactions where bodies are few, so that a plan is judged by its step.
 *
 * --unsoftened: no softening, so that fixed point does not serve.
 * --equal: all bodies have one mass; without it masses differ, which costs the third-law kernel two more instructions.
 * --sweep tries every plan; without it, the one that a run would choose. */
#include "bench/arguments.h"
#include "bench/device.cuh"
#include "kernels/nbody/direct/cuda/direct.h"
#include "kernels/nbody/ops.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" void bench_sample(const void *bodies, void *accelerations, int n, float softening2, void *stream);

template <typename Real> static void *upload(const std::vector<double> &values) {
  std::vector<Real> typed(values.begin(), values.end());
  void *const data = allocate(typed.size() * sizeof(Real));
  must(sim_backend_cuda.copy(data, typed.data(), typed.size() * sizeof(Real)) == SIM_OK, "copy");
  return data;
}

/* Uniform in a cube of length 1, masses about 1 / n. */
template <typename Real> static nbody_state make(int64_t n, bool equal) {
  uint64_t word = 1;
  auto next = [&word] {
    word = word * 6364136223846793005u + 1442695040888963407u;
    return (double)(word >> 11) * 0x1p-53;
  };
  std::vector<double> mass((size_t)n), position(3 * (size_t)n), velocity(3 * (size_t)n), zeros(3 * (size_t)n);
  for (double &m : mass) m = (equal ? 1 : 0.5 + next()) / (double)n;
  for (double &x : position) x = next() - 0.5;
  for (double &v : velocity) v = next() - 0.5;
  nbody_state s = {};
  s.n = n;
  s.dtype = sizeof(Real) == sizeof(float) ? SIM_F32 : SIM_F64;
  s.mass = upload<Real>(mass);
  s.position = upload<Real>(position);
  s.velocity = upload<Real>(velocity);
  s.acceleration = (double *)upload<double>(zeros);
  s.jerk = (double *)upload<double>(zeros);
  return s;
}

static void free_state(nbody_state *s) {
  void *const arrays[] = {s->mass, s->position, s->velocity, s->acceleration, s->jerk};
  for (void *array : arrays) sim_backend_cuda.free(array);
}

/* Returns fp32 issue slots, or fp64 instructions, a second at the highest clock. */
static double device_rate(bool narrow) {
  int clock = 0, device = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device);
  return 1e3 * clock * sim_cuda_multiprocessors() * (narrow ? 128 : 64);
}

/* Milliseconds of a step of length 0 (kernels/nbody/steps.c), replayed as in a run. */
static double time_step(const nbody_options *options, const nbody_ops *ops, nbody_work *work) {
  const sim_backend *backend = &sim_backend_cuda;
  const int replays = options->n < 32768 ? 64 : 4;
  sim_graph *step = nullptr;
  must(backend->queue->graph_begin() == SIM_OK, "capture");
  if (options->jerk) {
    ops->hermite_predict(work, 0);
    ops->force(work, 0);
    ops->hermite_correct(work, 0);
    ops->force(work, 0);
    ops->finish(work);
  } else {
    ops->kick_drift(work, 0, 0);
    ops->force(work, 0);
    ops->kick(work, 0);
  }
  must(backend->queue->graph_end(&step) == SIM_OK && step != nullptr, "a graph");
  const double ms = milliseconds([&] {
    for (int k = 0; k < replays; k++) must(backend->queue->graph_launch(step) == SIM_OK, "replay");
  });
  backend->queue->graph_destroy(&step);
  return ms / replays;
}

static double time_plan(const nbody_options *options, const nbody_state *state, const nbody_direct_plan *plan,
                        double sample_rate) {
  const nbody_ops *ops = state->dtype == SIM_F32 ? &nbody_ops_cuda_f32 : &nbody_ops_cuda_f64;
  nbody_forces forces = {&nbody_direct_cuda, nullptr};
  nbody_work *work;
  must(nbody_direct_cuda_create(options, state, plan, &forces.work) == SIM_OK, "create");
  must(ops->create(options, state, forces, &work) == SIM_OK, "create");
  const double ms = milliseconds([&] {
    ops->force(work, 0);
    ops->finish(work);
  });
  const double step = time_step(options, ops, work);
  const double n = (double)options->n, rate = n * n / ms * 1e3;
  const bool symmetric = plan->method == NBODY_DIRECT_SYMMETRIC;
  const double slots = symmetric ? 8.5 : options->single_pairs ? (options->jerk ? 28 : 13) : options->jerk ? 31 : 16;
  printf("%9lld %10.4f ms, a step %8.4f ms %8.1f e9/s %5.1f %% of %6.0f", (long long)options->n, ms, step, rate * 1e-9,
         100 * rate * slots / device_rate(options->single_pairs), device_rate(options->single_pairs) / slots * 1e-9);
  if (sample_rate > 0) printf("  %5.2f x sample", rate / sample_rate);
  printf("  %s\n", forces.solver->describe(forces.work));
  ops->destroy(&work);
  forces.solver->destroy(&forces.work);
  return rate;
}

static double time_sample(int64_t n) {
  if (n % 256 != 0) return 0;
  void *const in = allocate((size_t)n * 16), *const out = allocate((size_t)n * 16);
  std::vector<float> bodies((size_t)n * 4);
  uint32_t word = 1;
  for (float &x : bodies) word = word * 1664525u + 1013904223u, x = (float)(word >> 8) * 0x1p-24f;
  must(sim_backend_cuda.copy(in, bodies.data(), (size_t)n * 16) == SIM_OK, "copy");
  const double ms = milliseconds([&] { bench_sample(in, out, (int)n, 1e-4f, stream()); });
  sim_backend_cuda.free(in);
  sim_backend_cuda.free(out);
  printf("%9lld %10.4f ms %8.1f e9/s  NVIDIA's sample's algorithm, fast math\n", (long long)n, ms,
         (double)n * (double)n / ms * 1e-6);
  return (double)n * (double)n / ms * 1e3;
}

static void bench(int64_t n, const char *precision, bool jerk, bool equal, bool sweep, double softening) {
  const bool single = !strcmp(precision, "single");
  nbody_options options = {};
  options.comm = &sim_comm_alone;
  options.n = n;
  options.single_pairs = strcmp(precision, "double") != 0;
  options.jerk = jerk;
  options.G = 1;
  options.softening = softening;
  options.spread = 0.5;
  const double sample_rate = options.single_pairs && !jerk ? time_sample(n) : 0;
  nbody_state state = single ? make<float>(n, equal) : make<double>(n, equal);
  if (!jerk) {
    sim_backend_cuda.free(state.jerk);
    state.jerk = nullptr;
  }
  nbody_direct_plan plan = nbody_direct_choose(&options);
  printf("chosen:\n");
  time_plan(&options, &state, &plan, sample_rate);
  if (sweep) {
    static const int lanes[] = {4, 8, 12}, chunks[] = {32, 64, 128, 256, 512, 1024};
    for (int k : lanes)
      for (int c : chunks)
        if (options.single_pairs && !jerk && softening > 0 && 32 * k <= n / 4 && c < n / 4) {
          plan = {NBODY_DIRECT_SYMMETRIC, k, c, 1};
          time_plan(&options, &state, &plan, sample_rate);
        }
    static const int bodies[] = {1, 2, 4}, splits[] = {1, 2, 4, 8, 16, 32, 64};
    for (int k : bodies)
      for (int s : splits)
        if (s <= n / 32 && n / 128 / k * s <= 8192 && n / 128 / k * s >= 64) {
          plan = {NBODY_DIRECT_TILE, k, 0, s};
          time_plan(&options, &state, &plan, sample_rate);
        }
  }
  free_state(&state);
}

int main(int count, char **arguments) {
  static const char *const precisions[] = {"single", "mixed", "double", nullptr};
  static const char *const schemes[] = {"leapfrog", "hermite4", nullptr};
  int precision = 0, jerk = 0;
  bool equal = false, sweep = false, unsoftened = false;
  bench_list sizes = {};
  const bench_argument known[] = {{"--precision", BENCH_INDEX, &precision, 0, precisions},
                                  {"--scheme", BENCH_INDEX, &jerk, 0, schemes},
                                  {"--n", BENCH_LIST, &sizes, 1, nullptr},
                                  {"--equal", BENCH_FLAG, &equal, 0, nullptr},
                                  {"--sweep", BENCH_FLAG, &sweep, 0, nullptr},
                                  {"--unsoftened", BENCH_FLAG, &unsoftened, 0, nullptr},
                                  {nullptr, BENCH_END, nullptr, 0, nullptr}};
  bench_arguments(count, arguments, known);
  if (sizes.count == 0) sizes = {4, {2048, 16384, 65536, 262144}};
  const char *reason = sim_backend_cuda.unavailable();
  if (reason != nullptr) {
    printf("no GPU: %s\n", reason);
    return 0;
  }
  must(sim_backend_cuda.open(nullptr) == SIM_OK, "open");
  char text[256];
  sim_backend_cuda.describe(text, sizeof text);
  printf("%s; %s, %s\n", text, precisions[precision], schemes[jerk]);
  for (int k = 0; k < sizes.count; k++)
    bench(sizes.value[k], precisions[precision], jerk, equal, sweep, unsoftened ? 0 : 0.01);
  return 0;
}
