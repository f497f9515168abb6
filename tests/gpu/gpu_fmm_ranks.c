/* gpu_fmm_ranks PATH [MOST]: forces, potentials and samples of multipoles on the GPUs of several ranks (on one GPU,
 * where there is one), 2 to MOST ranks, have the bits of one rank, by this path of SIM_COMM_PATH. Cases: all
 * precisions, collapsed bodies, fewer bodies than ranks, forces on some bodies, cuts that follow the work, lists that
 * grow, and random delays. */
#include "engine/comm/forked.h"
#include "kernels/nbody/fmm/cuda/fmm.h"
#include "tests/gpu/gpu.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 4, ROUNDS = 3, RESULTS = 8 * ROUNDS, MANY = 30000, SAMPLES = 90, OTHER = 3, BROKEN = 4 };

typedef enum shape { PLUMMER, CUBE, POINT, LINE, CLUMP } shape;
typedef enum precision { SINGLE, MIXED, DOUBLE } precision;
typedef struct system {
  shape shape;
  int n;
  precision precision;
  double box;
  int leaf, order;
  double share; /* of the planned memory of lists */
} system_of;

static const system_of systems[] = {
    {PLUMMER, MANY, SINGLE, 0, 32, 4, 1},    {PLUMMER, MANY, MIXED, 0, 64, 5, 1}, {PLUMMER, MANY, DOUBLE, 0, 64, 3, 1},
    {PLUMMER, MANY, SINGLE, 0, 32, 6, 0.02}, {CUBE, MANY, DOUBLE, 1, 64, 4, 1},   {CUBE, 20000, SINGLE, 1, 40, 5, 0.02},
    {CLUMP, 20000, SINGLE, 0, 32, 4, 1},     {LINE, 9000, DOUBLE, 0, 16, 4, 0.1}, {POINT, 5000, SINGLE, 0, 64, 4, 1},
    {PLUMMER, 65, DOUBLE, 0, 64, 4, 1},      {CUBE, 3, SINGLE, 1, 64, 4, 1},      {CUBE, 2, DOUBLE, 0, 64, 4, 1},
    {CUBE, 1, SINGLE, 0, 64, 4, 1},
};
enum { SYSTEMS = sizeof systems / sizeof *systems };

#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    if ((call) != SIM_OK) {                                                                                            \
      fprintf(stderr, "%s: %s\n", #call, sim_error_last()->message);                                                   \
      return BROKEN;                                                                                                   \
    }                                                                                                                  \
  } while (0)

static uint64_t drawn;
static double draw(void) {
  drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return ((double)(drawn >> 11) + 0.5) * 0x1p-53;
}

/* ---- the bodies: on the host, and the same on the device ---- */

typedef struct bodies {
  double *mass, *position, *acceleration; /* [n], [3][n], [3][n] */
  uint8_t *level;
  void *typed; /* for a copy in fp32 */
  nbody_state device;
  uint8_t *device_level;
} bodies;

static void make(const system_of *of, bodies *b) {
  drawn = 1;
  for (int i = 0; i < of->n; i++) {
    double x[3] = {0.1, 0.2, 0.3};
    const bool in_clump = of->shape == CLUMP && i % 2 == 0;
    for (int c = 0; c < 3; c++) {
      const double u = draw();
      if (of->shape == CUBE || (of->shape == LINE && c == 0)) x[c] = u;
      if (of->shape == PLUMMER) x[c] = (u - 0.5) * pow(draw(), 3);
      if (of->shape == CLUMP) x[c] = in_clump ? 0.7 + 1e-6 * u : u;
      b->position[c * of->n + i] = x[c];
    }
    b->mass[i] = draw() / of->n;
    b->level[i] = (uint8_t)(in_clump || draw() < 0.03 ? 2 : draw() < 0.3 ? 1 : 0);
  }
}

/* Moves the bodies by a step that every rank makes itself. */
static void move(const system_of *of, bodies *b) {
  double *x = b->position;
  for (int k = 0; of->shape != POINT && k < 3 * of->n; k++) {
    x[k] += 1e-3 * sin(40 * x[k]);
    if (of->box > 0) x[k] = x[k] < 0 ? 0 : x[k] >= of->box ? 0.999 * of->box : x[k];
  }
}

static sim_status upload(bodies *b, void *to, const double *from, size_t count) {
  if (b->device.dtype == SIM_F64) return sim_backend_cuda.copy(to, from, count * sizeof *from);
  for (size_t k = 0; k < count; k++) ((float *)b->typed)[k] = (float)from[k];
  return sim_backend_cuda.copy(to, b->typed, count * sizeof(float));
}

/* ---- what a run computes ---- */

static void add(uint64_t *digest, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  *digest = (*digest ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
  *digest ^= *digest >> 29;
}

/* Digest of accelerations; with targets only of the targets, since those of other bodies are undefined. Leaves the
 * accelerations in the state. */
static int digest_of(bodies *b, const double *from, const nbody_targets *targets, uint64_t *out) {
  const size_t n = (size_t)b->device.n;
  TRY(sim_backend_cuda.copy(b->acceleration, from, 3 * n * sizeof(double)));
  TRY(sim_backend_cuda.copy(b->device.acceleration, b->acceleration, 3 * n * sizeof(double)));
  *out = 1;
  for (size_t k = 0; k < 3 * n; k++)
    if (targets == NULL || b->level[k % n] >= targets->least) add(out, b->acceleration[k]);
  return 0;
}

/* Forces on all, the potential, forces on some bodies by trees that are kept and by a new one, samples; 8 numbers a
 * round. From the second round on, cuts follow the work of the round before. */
static int compute(const system_of *of, const nbody_options *options, bodies *b, uint64_t *results) {
  const nbody_solver *solver = &nbody_fmm_cuda;
  const size_t vectors = 3 * (size_t)of->n;
  const int count = of->n < SAMPLES ? of->n : SAMPLES;
  nbody_solver_work *work;
  nbody_raw_force raw;
  int64_t numbers[SAMPLES];
  double sampled[9 * SAMPLES];
  for (int k = 0; k < count; k++) numbers[k] = (int64_t)k * of->n / count;
  nbody_fmm_cuda_share = of->share;
  TRY(solver->create(options, &b->device, &work));
  for (int round = 0; round < ROUNDS; round++, results += 8) {
    for (int k = 1; k < 5; k++) {
      const nbody_targets targets = {.level = b->device_level, .least = 2 - k % 3};
      solver->accelerate_some(work, &targets);
      if (digest_of(b, b->device.acceleration, &targets, results + k) != 0) return BROKEN;
      move(of, b);
      TRY(upload(b, b->device.position, b->position, vectors));
    }
    solver->accelerate(work, false, &raw);
    if (digest_of(b, raw.acceleration, NULL, results) != 0) return BROKEN;
    results[5] = results[6] = 1;
    add(&results[5], raw.unit);
    add(&results[6], solver->potential(work));
    TRY(solver->sample_potential(work, numbers, count, sampled, sampled + count));
    for (int k = 0; k < 2 * count; k++) add(&results[6], sampled[k]);
    TRY(solver->check(work));
    solver->accelerate(work, false, &raw);
    if (digest_of(b, raw.acceleration, NULL, results + 7) != 0) return BROKEN;
    TRY(solver->sample(work, numbers, count, sampled, sampled + 3 * count, sampled + 6 * count));
    for (int k = 0; k < 9 * count; k++) add(&results[5], sampled[k]);
    TRY(solver->check(work));
    move(of, b);
    TRY(upload(b, b->device.position, b->position, vectors));
  }
  solver->destroy(&work);
  return 0;
}

/* Computes all systems, on one rank of several. */
static int play(const sim_comm *comm, uint64_t (*results)[RESULTS]) {
  const size_t vector = 3 * MANY * sizeof(double);
  const sim_backend *gpu = NULL;
  int gpus = 1;
  char name[32];
  void *there[5];
  bodies b = {malloc(vector), malloc(vector), malloc(vector), malloc(MANY), malloc(vector), {0}, NULL};
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || !b.mass || !b.position || !b.acceleration || !b.level || !b.typed)
    return BROKEN;
  snprintf(name, sizeof name, "cuda:%d", comm->rank % gpus);
  TRY(sim_backend_select(name, &gpu));
  for (int k = 0; k < 5; k++) TRY(gpu->alloc(k < 4 ? vector : MANY, &there[k]));
  b.device = (nbody_state){.mass = there[0], .position = there[1], .velocity = there[2], .acceleration = there[3]};
  b.device_level = there[4];
  for (int k = 0; k < SYSTEMS; k++) {
    const system_of *of = &systems[k];
    const size_t n = (size_t)of->n;
    b.device.n = of->n;
    b.device.dtype = of->precision == SINGLE ? SIM_F32 : SIM_F64;
    make(of, &b);
    TRY(upload(&b, b.device.mass, b.mass, n));
    TRY(upload(&b, b.device.position, b.position, 3 * n));
    TRY(gpu->copy(b.device_level, b.level, n));
    /* a rank must not use values of an earlier number of ranks */
    memset(b.acceleration, comm->size, 3 * n * sizeof(double));
    TRY(gpu->copy(b.device.acceleration, b.acceleration, 3 * n * sizeof(double)));
    const nbody_options options = {.n = of->n,
                                   .single_pairs = of->precision != DOUBLE,
                                   .threads = 1,
                                   .comm = comm,
                                   .G = 1,
                                   .softening = 1e-3,
                                   .box = of->box,
                                   .individual = true,
                                   .levels = 2,
                                   .fmm = {.order = of->order, .theta = 0.8, .weight = 1.5, .leaf = of->leaf}};
    if (compute(of, &options, &b, results[k]) != 0) return BROKEN;
  }
  for (int k = 0; k < 5; k++) gpu->free(there[k]);
  free(b.mass), free(b.position), free(b.acceleration), free(b.level), free(b.typed);
  return 0;
}

/* ---- ranks ---- */

typedef uint64_t all_results[SYSTEMS][RESULTS];

/* Returns whether no rank has failed. out[size]: the results of each rank. */
static bool run(int size, all_results *out) {
  sim_forked *forked;
  if (sim_forked_create(size, &forked) != SIM_OK) return false;
  for (int r = 0; r < size; r++) {
    const pid_t rank = fork();
    if (rank > 0) continue;
    sim_comm comm = sim_comm_alone;
    if (rank < 0 || (size > 1 && sim_forked_attach(dup(sim_forked_descriptor(forked)), r, &comm) != SIM_OK))
      _exit(BROKEN);
    const int code = play(&comm, out[r]);
    if (code != 0) comm.ops->abandon(&comm, SIM_ERR_INTERNAL, "has failed");
    _exit(code);
  }
  bool good = true;
  for (int left = size; left > 0; left--) {
    int how;
    const pid_t ended = wait(&how);
    if (how != 0) sim_forked_fail(forked, 0, SIM_ERR_RANK, "has ended");
    good = good && how == 0 && ended > 0;
  }
  sim_forked_destroy(&forked);
  return good;
}

static bool compare(int size, all_results *expected, all_results *got) {
  for (int r = 0; r < size; r++)
    for (int k = 0; k < SYSTEMS; k++)
      for (int i = 0; i < RESULTS; i++)
        if (got[r][k][i] != (*expected)[k][i]) {
          fprintf(stderr, "system %d, round %d: result %d of rank %d of %d is not that of one rank\n", k, i / 8, i % 8,
                  r, size);
          return false;
        }
  return true;
}

/* Whether there is a GPU, found in a process of its own: ranks are forked from a process that has not touched it. */
static int gpu_is_there(void) {
  const pid_t child = fork();
  int how = 0;
  if (child == 0) _exit(gpu_open());
  (void)waitpid(child, &how, 0);
  return WIFEXITED(how) ? WEXITSTATUS(how) : BROKEN;
}

int main(int argc, char **argv) {
  const int there = gpu_is_there();
  if (there != 0) return there;
  setenv("SIM_COMM_PATH", argc > 1 ? argv[1] : "peer", 1);
  all_results *const results =
      mmap(NULL, (RANKS + 1) * sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (results == MAP_FAILED || !run(1, results)) return 1;
  const int most = argc > 2 ? atoi(argv[2]) : RANKS;
  for (int size = 2; size <= most && size <= RANKS; size++)
    for (int delayed = 0; delayed < (size == 3 ? 2 : 1); delayed++) {
      setenv("SIM_COMM_DELAY", delayed ? "2000" : "0", 1);
      memset(results + 1, 0, (size_t)size * sizeof *results);
      if (!run(size, results + 1) || !compare(size, results, results + 1)) return 1;
    }
  return 0;
}
