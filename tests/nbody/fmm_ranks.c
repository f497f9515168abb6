/* The multipole solver on ranks of this host: the bits of one rank for any number of ranks and threads, with delays,
 * with more ranks than bodies or leaves, and for bodies that have collapsed. */
#include "engine/comm/forked.h"
#include "kernels/nbody/fmm/cpu/fmm.h"
#include "kernels/nbody/fmm/cpu/shares.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 7, RESULTS = 16, LEVELS = 3, MANY = 6000 };

/* Above 8192 bodies the ranks divide the sort and the moments too. */
typedef enum shape { PLUMMER, CUBE, POINT, LINE, CLUMP } shape;
typedef struct system {
  shape shape;
  int n;
  bool single;
  double box;
  int leaf;
} system_of;

static const system_of systems[] = {
    {PLUMMER, MANY, true, 0, 32},  {PLUMMER, MANY, false, 0, 64}, {CUBE, MANY, true, 1, 64},
    {CLUMP, MANY, true, 0, 32},    {LINE, MANY, false, 0, 16},    {POINT, MANY, true, 0, 64},
    {PLUMMER, 1500, false, 0, 32}, {CUBE, 700, false, 1, 64},     {POINT, 600, false, 0, 64},
    {PLUMMER, 65, false, 0, 64},   {CUBE, 5, false, 0, 64},       {CUBE, 3, true, 1, 64},
    {CUBE, 1, false, 0, 64},
};
enum { SYSTEMS = sizeof systems / sizeof *systems };

static uint64_t drawn;
static double draw(void) {
  drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return ((double)(drawn >> 11) + 0.5) * 0x1p-53;
}

/* ---- the bodies ---- */

static void put(nbody_state *s, int64_t i, const double x[3]) {
  for (int c = 0; c < 3; c++) ((double *)s->position)[c * s->n + i] = x[c];
}

static void make_bodies(const system_of *of, nbody_state *s, uint8_t *level) {
  drawn = 1;
  for (int64_t i = 0; i < of->n; i++) {
    double x[3] = {0.1, 0.2, 0.3};
    const bool in_clump = of->shape == CLUMP && i % 2 == 0;
    for (int c = 0; c < 3; c++) {
      const double u = draw();
      if (of->shape == CUBE || (of->shape == LINE && c == 0)) x[c] = u;
      if (of->shape == PLUMMER) x[c] = (u - 0.5) * pow(draw(), 3);
      if (of->shape == CLUMP) x[c] = in_clump ? 0.7 + 1e-9 * u : u;
    }
    put(s, i, x);
    ((double *)s->mass)[i] = draw() / of->n;
    level[i] = (uint8_t)(in_clump || draw() < 0.03 ? 2 : draw() < 0.3 ? 1 : 0);
  }
}

/* Moves the bodies by a step that every rank makes itself. */
static void move(const system_of *of, nbody_state *s) {
  double *x = s->position;
  for (int64_t k = 0; of->shape != POINT && k < 3 * s->n; k++) {
    x[k] += 1e-3 * sin(40 * x[k]);
    if (of->box > 0) x[k] = x[k] < 0 ? 0 : x[k] >= of->box ? 0.999 * of->box : x[k];
  }
}

/* ---- what a run computes ---- */

static void add(uint64_t *digest, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  *digest = (*digest ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
  *digest ^= *digest >> 29;
}

static uint64_t digest_of(const nbody_state *s, const nbody_targets *targets) {
  uint64_t out = 1;
  for (int64_t k = 0; k < 3 * s->n; k++)
    if (targets == NULL || targets->level[k % s->n] >= targets->least) add(&out, s->acceleration[k]);
  return out;
}

/* results[RESULTS]: digests of forces on all and on some bodies, of potentials and of direct sums. */
static sim_status compute(const system_of *of, const nbody_options *options, nbody_state *s, const uint8_t *level,
                          uint64_t *results) {
  nbody_solver_work *work;
  nbody_raw_force form;
  SIM_TRY(nbody_fmm_cpu.create(options, s, &work));
  for (int round = 0; round < 2; round++) { /* the second round is cut by the work of the first */
    nbody_fmm_cpu.accelerate(work, false, &form);
    *results++ = digest_of(s, NULL);
    *results = 1;
    add(results++, nbody_fmm_cpu.potential(work));
    move(of, s);
    for (int k = 0; k < 4; k++) { /* the first force builds a tree, which the others refit */
      const nbody_targets targets = {.level = level, .least = 2 - (k + 1) % 3};
      nbody_fmm_cpu.accelerate_some(work, &targets);
      *results++ = digest_of(s, &targets);
      move(of, s);
    }
  }
  enum { SAMPLES = 90 };
  const int count = of->n < SAMPLES ? of->n : SAMPLES;
  int64_t numbers[SAMPLES];
  double sampled[9 * SAMPLES];
  for (int k = 0; k < count; k++) numbers[k] = (int64_t)k * of->n / count;
  nbody_fmm_cpu.accelerate(work, false, &form);
  SIM_TRY(nbody_fmm_cpu.sample(work, numbers, count, sampled, sampled + 3 * count, sampled + 6 * count));
  *results = 1;
  for (int k = 0; k < 9 * count; k++) add(results, sampled[k]);
  const sim_status status = nbody_fmm_cpu.check(work);
  nbody_fmm_cpu.destroy(&work);
  return status;
}

/* Computes one system, or all, on one rank of several. */
static int play(const sim_comm *comm, int threads, uint64_t (*results)[RESULTS]) {
  const size_t vector = 3 * MANY * sizeof(double);
  nbody_state s = {
      .dtype = SIM_F64, .mass = malloc(vector), .position = malloc(vector), .acceleration = malloc(vector)};
  uint8_t *level = malloc(MANY);
  if (!s.mass || !s.position || !s.acceleration || !level) return 2;
  for (int k = 0; k < SYSTEMS; k++) {
    const system_of *of = &systems[k];
    s.n = of->n;
    make_bodies(of, &s, level);
    const nbody_options options = {.n = of->n,
                                   .single_pairs = of->single,
                                   .isa = sim_isa_best(),
                                   .threads = threads,
                                   .comm = comm,
                                   .G = 1,
                                   .softening = 1e-3,
                                   .box = of->box,
                                   .individual = true,
                                   .levels = LEVELS - 1,
                                   .fmm = {.order = 4, .theta = 0.8, .weight = 1.5, .leaf = of->leaf}};
    if (compute(of, &options, &s, level, results[k]) != SIM_OK) return 3;
  }
  free(s.mass), free(s.position), free(s.acceleration), free(level);
  return 0;
}

/* ---- ranks ---- */

typedef uint64_t all_results[SYSTEMS][RESULTS];

/* Collects the results of each rank. */
static void run(int size, int threads, all_results *out) {
  sim_forked *forked;
  assert_int_equal(sim_forked_create(size, &forked), SIM_OK);
  for (int r = 0; r < size; r++) {
    const pid_t rank = fork();
    assert_true(rank >= 0);
    if (rank > 0) continue;
    sim_comm comm = sim_comm_alone;
    if (size > 1 && sim_forked_attach(dup(sim_forked_descriptor(forked)), r, &comm) != SIM_OK) _exit(1);
    const int code = play(&comm, threads, out[r]);
    if (code != 0) fprintf(stderr, "rank %d: %s\n", r, sim_error_last()->message);
    _exit(code);
  }
  bool failed = false;
  for (int left = size; left > 0; left--) {
    int how;
    const pid_t ended = wait(&how);
    if (how != 0) sim_forked_fail(forked, 0, SIM_ERR_RANK, "ended");
    failed = failed || how != 0 || ended < 0;
  }
  sim_forked_destroy(&forked);
  if (failed) fail_msg("%d ranks: one has failed", size);
}

static all_results *shared(int count) {
  void *out =
      mmap(NULL, (size_t)count * sizeof(all_results), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(out != MAP_FAILED);
  memset(out, 0, (size_t)count * sizeof(all_results));
  return out;
}

static all_results *one; /* results of one rank */

static void expect_same(int size, int threads) {
  all_results *got = shared(RANKS);
  run(size, threads, got);
  for (int r = 0; r < size; r++)
    for (int k = 0; k < SYSTEMS; k++)
      for (int i = 0; i < RESULTS; i++)
        if (got[r][k][i] != one[0][k][i])
          fail_msg("system %d, result %d: rank %d of %d, %d threads, has other bits than one rank", k, i, r, size,
                   threads);
  (void)munmap(got, RANKS * sizeof *got);
}

static void test_ranks(void **state) {
  (void)state;
  one = shared(1);
  run(1, 1, one);
  for (int size = 2; size <= RANKS; size += size == 4 ? 3 : 1) expect_same(size, 1);
}

static void test_threads(void **state) {
  (void)state;
  expect_same(1, 2);
  expect_same(3, 2);
}

static void test_delays(void **state) {
  (void)state;
  setenv("SIM_COMM_DELAY", "1000", 1);
  expect_same(3, 1);
  unsetenv("SIM_COMM_DELAY");
}

/* ---- cuts ---- */

/* Every body belongs to one rank. Each rank has its share of the work, to within a body at each end. */
static void test_cuts(void **state) {
  (void)state;
  enum { EACH = 8, THICK = 9000, THIN = 72 };
  uint64_t work[NBODY_FMM_BINS] = {0};
  sim_comm comm = sim_comm_alone;
  const int64_t n = (int64_t)NBODY_FMM_BINS * 15 * EACH, thick = n / 8;
  for (int64_t i = 0; i < n; i += EACH) nbody_fmm_count_work(work, n, i, i + EACH, i < thick ? THICK : THIN);
  for (comm.size = 1; comm.size <= SIM_RANKS_MAX; comm.size += comm.size < 9 ? 1 : 49) {
    const nbody_fmm_cuts cuts = nbody_fmm_cut_by_work(&comm, n, work);
    const double all = (double)(thick / EACH * THICK + (n - thick) / EACH * THIN);
    assert_true(cuts.at[0] == 0 && cuts.at[comm.size] == n);
    for (int r = 0; r < comm.size; r++) {
      const int64_t low = cuts.at[r], high = cuts.at[r + 1], middle = low > thick ? low : high < thick ? high : thick;
      const double here = (double)((middle - low) * THICK + (high - middle) * THIN) / EACH;
      assert_true(low <= high);
      if (!(fabs(here - all / comm.size) <= 2.0 * THICK / EACH)) fail_msg("rank %d of %d: %g", r, comm.size, here);
    }
  }
  memset(work, 0, sizeof work);
  comm.size = 3;
  const nbody_fmm_cuts none = nbody_fmm_cut_by_work(&comm, 2, work);
  assert_true(none.at[0] == 0 && none.at[1] <= none.at[2] && none.at[3] == 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks), cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_delays), cmocka_unit_test(test_cuts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
