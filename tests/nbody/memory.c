/* The planned memory is the memory that a run takes, to 5 % and 256 KiB; Linux counts 32 pages or more for each
 * processor with a delay. Plan plus the memory that the process has before is the peak. The peak of many bodies is
 * above that of a few by the difference of the plans. Where functions were loaded the first rule is only an upper
 * bound: their graphs leave free memory in the heap, which counts as taken before, and the C library chooses how much
 * of it the run then takes. Each case runs in a process of its own, as a peak never falls; this process starts no
 * threads, so that it may fork. Pages that are allocated but not touched do not count, hence the step and the table. */
#include "tests/nbody/functions.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/sanitized.h"

enum { FEW = 1000, MANY = 30000 };

static int64_t bodies;

static sim_status count_file(const char *path, const char *species, int64_t *count) {
  (void)path, (void)species;
  *count = bodies;
  return SIM_OK;
}

static sim_status read_file(const char *path, const char *species, const sim_units *units, sim_particles *out) {
  (void)path, (void)species, (void)units;
  out->count = bodies;
  out->mass = malloc((size_t)bodies * sizeof(double));
  for (int c = 0; c < 3; c++) {
    out->position[c] = malloc((size_t)bodies * sizeof(double));
    out->velocity[c] = malloc((size_t)bodies * sizeof(double));
    if (out->mass == NULL || out->position[c] == NULL || out->velocity[c] == NULL) return SIM_ERR_NO_MEMORY;
    for (int i = 0; i < bodies; i++) {
      out->mass[i] = 1;
      out->position[c][i] = c == 0 ? i : c == 1 ? i % 97 : i % 89;
      out->velocity[c][i] = 1 + c; /* not 0, which takes no memory */
    }
  }
  return SIM_OK;
}

/* Returns the bytes in memory now. */
static double resident(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  long size, pages = 0;
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld %ld", &size, &pages), 2);
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

typedef struct situation {
  const char *name;
  sim_precision precision;
  nbody_scheme scheme;
  double softening;
  bool file, laws;
} situation;

typedef struct outcome {
  double before, planned, peak;
} outcome;

static outcome measure(const situation *s, int64_t n) {
  bodies = n;
  driver d = driver_make((driver_place){&sim_backend_cpu, s->precision}, s->scheme, 1e-6, 1e-6, s->softening);
  d.parameters.gravity.solver = NBODY_DIRECT; /* multipoles plan for more cells than a sphere needs */
  nbody_sphere sphere = {.n = bodies, .mass = 1, .radius = 1, .cutoff = NAN};
  nbody_from_file file = {.path = "some.csv"};
  d.setup.count_particles = count_file;
  d.setup.read_particles = read_file;
  if (s->file)
    driver_add(&d, &nbody_from_file_schema, &file);
  else
    driver_add(&d, &nbody_plummer_schema, &sphere);
  d.parameters.bodies.items = d.items;
  if (s->laws) {
    driver_law(&d, "external", "external");
    driver_observe(&d, "spread", SIM_MEAN);
  }
  sim_plan plan = {0};
  assert_int_equal(nbody_model.plan(&d.parameters, &d.setup, &plan), SIM_OK);
  const double before = resident();
  driver_create(&d);
  driver_value(&d, "lagrangian", "r50");
  if (s->scheme == NBODY_HERMITE4) driver_step(&d);
  struct rusage used;
  assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
  driver_destroy(&d);
  driver_forget(&d);
  return (outcome){before, sim_plan_bytes(&plan, SIM_SPACE_HOST), (double)used.ru_maxrss * 1024};
}

/* Measures n bodies in a process of its own. */
static outcome measure_apart(const situation *s, int64_t n) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    (void)measure(s, FEW); /* loads code and threads into memory */
    const outcome found = measure(s, n);
    _exit(write(ends[1], &found, sizeof found) != (ssize_t)sizeof found);
  }
  outcome found = {0};
  close(ends[1]);
  const ssize_t got = read(ends[0], &found, sizeof found);
  close(ends[0]);
  assert_true(waitpid(child, NULL, 0) == child);
  assert_true(got == (ssize_t)sizeof found);
  return found;
}

static void test_memory(void **state) {
  (void)state;
#if TEST_SANITIZED
  skip(); /* sanitizers keep memory of their own */
#endif
  static const situation cases[] = {{"single", SIM_SINGLE, NBODY_LEAPFROG, 0.05, false},
                                    {"single, unsoftened", SIM_SINGLE, NBODY_LEAPFROG, 0, false},
                                    {"double", SIM_DOUBLE, NBODY_LEAPFROG, 0.05, false},
                                    {"double, unsoftened", SIM_DOUBLE, NBODY_LEAPFROG, 0, false},
                                    {"mixed, hermite4", SIM_MIXED, NBODY_HERMITE4, 0.05, false},
                                    {"single, file", SIM_SINGLE, NBODY_LEAPFROG, 0, true},
                                    {"double, file", SIM_DOUBLE, NBODY_LEAPFROG, 0, true},
                                    {"single, functions", SIM_SINGLE, NBODY_LEAPFROG, 0.05, false, true}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const situation *c = &cases[k];
    const outcome few = measure_apart(c, FEW), many = measure_apart(c, MANY);
    const double expected = many.before + many.planned, far = 0.05 * many.peak + 256 * 1024;
    const double grown = many.peak - few.peak, planned = many.planned - few.planned;
    print_message("    %s: %.3f of what is planned; many above few: %.3f\n", c->name, many.peak / expected,
                  grown / planned);
    if (many.peak > expected + far || (!c->laws && many.peak < expected - far))
      fail_msg("%s: peak %g, expected %g bytes", c->name, many.peak, expected);
    if (fabs(grown - planned) > 0.05 * planned + 256 * 1024)
      fail_msg("%s: many bodies take %g bytes more than a few, planned %g", c->name, grown, planned);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
  functions_load("external = function(x, y, z, t) return 0.5 * math.log(1 + x^2 + y^2) + math.sin(t) * z end,\n"
                 "spread = function(body) return sim.hypot(body.x, body.vy) end,\n");
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  functions_free();
  return failed;
}
