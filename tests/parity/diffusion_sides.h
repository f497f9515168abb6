/* Scenarios of diffusion on both devices, shared by their test programs. */
#ifndef TESTS_PARITY_DIFFUSION_SIDES_H
#define TESTS_PARITY_DIFFUSION_SIDES_H

#include "engine/device/cuda.h"
#include "kernels/diffusion/cuda/work.h"
#include "tests/gpu/gpu.h"
#include "tests/diffusion/diffusion_driver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Parameters for both sides. */
static diffusion_parameters *parameters_of(const char *text) {
  system_run s;
  (void)decode(&s, text, NULL);
  return s.p;
}

static void release(diffusion_parameters *p) {
  void *opaque = p;
  sim_model_parameters_free(&diffusion_model, &opaque);
}

static void begin(system_run *s, const diffusion_parameters *p, const sim_backend *backend, const sim_frame *saved) {
  *s = (system_run){.setup = {.backend = backend,
                              .comm = &sim_comm_alone,
                              .isa = sim_isa_best(),
                              .threads = 2,
                              .folder = "",
                              .saved = saved}};
  must(diffusion_model.create(p, &s->setup, &s->clock, &s->self), "create");
  if (saved) s->clock = saved->clock;
}

static void end(system_run *s) { diffusion_model.destroy(&s->self); }

static void *on_host(const system_run *s, int array) {
  const size_t bytes = sim_array_bytes(&s->arrays[array]);
  void *out = malloc(bytes);
  if (s->arrays[array].space == SIM_SPACE_HOST) return memcpy(out, s->arrays[array].data, bytes);
  must(s->setup.backend->copy(out, s->arrays[array].data, bytes), "copy");
  return out;
}

/* Number of fields that snapshots have: with those of output.fields. */
static int shown_fields(const diffusion_parameters *p) {
  int drawn[DIFFUSION_DRAWN];
  return (int)p->fields.count + diffusion_drawn(p, drawn);
}

static double number(const void *values, bool single, int64_t i) {
  return single ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/* Checks the greatest difference of all fields, and of their statistics. */
static void expect_near(system_run *a, system_run *b, const diffusion_parameters *p, double bound) {
  const grid_shape grid = diffusion_grid_of(p);
  const int64_t cells = grid.n[0] * grid.n[1] * grid.n[2];
  const bool single = diffusion_single(p);
  double rows[2][(int)DIFFUSION_FIELDS * DIFFUSION_STATISTICS];
  look(a), look(b);
  for (int f = 0; f < shown_fields(p); f++) {
    void *one = on_host(a, 1 + f), *two = on_host(b, 1 + f);
    for (int64_t i = 0; i < cells; i++)
      if (!(fabs(number(one, single, i) - number(two, single, i)) <= bound))
        fail_msg("%s: field %d, cell %lld: %.17g on the CPU, %.17g on the GPU", current, f, (long long)i,
                 number(one, single, i), number(two, single, i));
    free(one), free(two);
  }
  must(diffusion_model.observe(a->self, &a->clock, 0, rows[0]), "observe");
  must(diffusion_model.observe(b->self, &b->clock, 0, rows[1]), "observe");
  for (int c = 0; c < DIFFUSION_STATISTICS * (int)p->fields.count; c++)
    if (!(fabs(rows[0][c] - rows[1][c]) <= 10 * bound * (1 + fabs(rows[0][c]))))
      fail_msg("%s: column %d: %.17g on the CPU, %.17g on the GPU", current, c, rows[0][c], rows[1][c]);
}

static void expect_form(const system_run *s, const char *form) {
  char text[400];
  diffusion_model.describe(s->self, text, sizeof text);
  if (!strstr(text, form)) fail_msg("%s: %s, not by %s", current, text, form);
}

/* Compares before the first step, after it, and at the end, of as many steps; on the GPU by `form`, where it matters.
 * Frees p. */
static void compare_sides(diffusion_parameters *p, const char *form, double bound) {
  system_run cpu, gpu;
  begin(&cpu, p, &sim_backend_cpu, NULL);
  begin(&gpu, p, &sim_backend_cuda, NULL);
  if (form) expect_form(&gpu, form);
  expect_near(&cpu, &gpu, p, bound);
  run_to(&cpu, 1), run_to(&gpu, 1);
  expect_near(&cpu, &gpu, p, bound);
  run_to(&cpu, INT64_MAX), run_to(&gpu, INT64_MAX);
  if (cpu.clock.step != gpu.clock.step)
    fail_msg("%s: %lld steps on the CPU, %lld on the GPU", current, (long long)cpu.clock.step,
             (long long)gpu.clock.step);
  expect_near(&cpu, &gpu, p, bound);
  end(&cpu), end(&gpu);
  release(p);
}

/* Rounding of four transforms in each of five steps, below log2(n) u each, times wavenumbers up to 30 and their squares
 * in steps of 0.002: dt k^2 = 2. The fields stay below 4. In single precision u = 6e-8: 5 x 4 x 5 u x 4 = 2.4e-5 if all
 * errors had one sign; in double 4e-14. */
static inline double flows_bound(bool single) { return single ? 2.4e-5 : 1e-12; }

enum { SAVED_MAX = 6 };

/* The arrays of a checkpoint, on the host: freed by forget(). */
static inline sim_frame saved_of(system_run *s, sim_array out[SAVED_MAX]) {
  sim_frame frame = {.arrays = out};
  look(s);
  frame.clock = s->frame.clock;
  for (size_t i = 0; i < s->frame.array_count; i++) {
    if (s->arrays[i].field->flags & SIM_NO_CHECKPOINT) continue;
    sim_array *to = &out[frame.array_count++];
    *to = s->arrays[i];
    to->data = on_host(s, (int)i);
    to->space = SIM_SPACE_HOST;
  }
  return frame;
}
static inline void forget(const sim_frame *saved) {
  for (size_t i = 0; i < saved->array_count; i++) free((void *)(uintptr_t)saved->arrays[i].data);
}

/* A run from a checkpoint of its third step continues with the same bits. */
static inline void compare_restart_of(const char *text) {
  system_run one, two;
  diffusion_parameters *p = parameters_of(text);
  begin(&one, p, &sim_backend_cuda, NULL);
  run_to(&one, 3);
  sim_array saved[SAVED_MAX];
  const int after = 1 + shown_fields(p), count = p->lyapunov.given ? 3 : 1; /* a twin, with its history */
  const sim_frame frame = saved_of(&one, saved);
  begin(&two, p, &sim_backend_cuda, &frame);
  run_to(&one, INT64_MAX), run_to(&two, INT64_MAX);
  look(&one), look(&two);
  for (int f = 0; f < shown_fields(p); f++) {
    void *a = on_host(&one, 1 + f), *b = on_host(&two, 1 + f);
    if (memcmp(a, b, sim_array_bytes(&one.arrays[1 + f])) != 0) fail_msg("%s: a restart changes bits", text);
    free(a), free(b);
  }
  for (int i = 1; i < count; i++) { /* the twins, and what is known of their distances */
    const sim_array *of[2] = {&one.arrays[after + i - 1], &two.arrays[after + i - 1]};
    const size_t bytes = sim_array_bytes(of[0]);
    char *a = malloc(bytes), *b = malloc(bytes);
    must(sim_backend_cuda.copy(a, of[0]->data, bytes), "copy");
    must(sim_backend_cuda.copy(b, of[1]->data, bytes), "copy");
    if (memcmp(a, b, bytes) != 0) fail_msg("%s: a restart changes bits of the twin, array %d", text, i);
    free(a), free(b);
  }
  forget(&frame);
  end(&one), end(&two);
  release(p);
}

/* fields: a scenario without its steps. */
static inline void compare_restart(const char *fields) {
  char text[4096];
  snprintf(text, sizeof text, "return sim.diffusion { %s integrate = { scheme = 'etdrk4', dt = 0.002, t_end = 0.02 } }",
           fields);
  compare_restart_of(text);
}

/* ---- cases that several processes share ---- */

/* Every `shares`-th of all cases, in their order, belongs to this process. */
static int share, shares = 1, met;
static inline bool is_mine(void) { return met++ % shares == share; }

/* PROGRAM [NAME [SHARE SHARES]]: one test alone, or every SHARES-th of its cases. */
static inline void set_share(int argc, char **argv) {
  cmocka_set_test_filter(argv[1]);
  if (argc > 3) share = atoi(argv[2]), shares = atoi(argv[3]);
}

/* NVRTC takes most of the time: as many processes as there are processors, 16 at most, share the cases. */
static inline int run_shared(const char *program) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const int count = processors < 1 ? 1 : processors > 16 ? 16 : (int)processors;
  FILE *processes[16];
  int bad = 0;
  for (int i = 0; i < count; i++) {
    char command[4096];
    snprintf(command, sizeof command, "'%s' '*' %d %d 2>&1", program, i, count);
    processes[i] = popen(command, "r");
  }
  for (int i = 0; i < count; i++) {
    char line[1024];
    while (processes[i] && fgets(line, sizeof line, processes[i])) fputs(line, stdout);
    if (!processes[i] || pclose(processes[i]) != 0) bad++;
  }
  return bad > 0;
}

/* Compares a scenario without its `integrate` on both sides. bound: of values, by whether the precision is single. */
static inline void compare_text(const char *of, const char *scheme, const char *dealias, bool single,
                                double (*bound)(bool single)) {
  char text[4096];
  snprintf(text, sizeof text,
           "return sim.diffusion { precision = '%s', seed = 9, %s integrate = { scheme = '%s', dt = 0.002, t_end ="
           " 0.01, dealias = %s } }",
           single ? "single" : "double", of, scheme, dealias);
  compare_sides(parameters_of(text), "cuFFT", bound(single));
}

static inline void compare_restarts(const char *const *texts, size_t count, const char *dealias) {
  for (size_t c = 0; c < count; c++) {
    char text[4096];
    snprintf(text, sizeof text,
             "return sim.diffusion { precision = '%s', %s integrate = { scheme = 'etdrk4', dt = 0.002, t_end = 0.02,"
             " dealias = %s } }",
             c % 2 ? "double" : "single", texts[c], dealias);
    if (is_mine()) compare_restart_of(text);
  }
}

/* The main function of a program with these tests. */
static inline int run_sides(int argc, char **argv, CMUnitTestFunction texts, CMUnitTestFunction steps,
                            CMUnitTestFunction restart) {
  const int missing = gpu_open();
  if (missing != 0) return missing;
  if (argc == 1) return run_shared(argv[0]);
  const struct CMUnitTest tests[] = {{"test_texts", texts, NULL, NULL, NULL},
                                     {"test_steps", steps, NULL, NULL, NULL},
                                     {"test_restart", restart, NULL, NULL, NULL}};
  set_share(argc, argv);
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
