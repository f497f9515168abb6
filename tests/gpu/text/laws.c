/* Kernels with functions of a scenario, tested without a GPU: every form compiles, for a set of functions; their cost;
 * and NVRTC is given the files of this tree. */
#include "kernels/nbody/direct/cuda/custom_law.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/gpu/text/law_graphs.h"
#include "tests/gpu/text/sources.h"

static void test_files(void **state) {
  (void)state;
  sources_expect(nbody_cuda_files, 10);
}

static void compile_pairs(const nbody_options *options, bool single, int bodies, const char *what) {
  sim_bytes text = {0}, code = {0};
  nbody_custom_law_text form;
  must(nbody_custom_law_write(options, single, bodies, &text, &form));
  const sim_source source = nbody_custom_law_source(&text);
  if (sim_compile(&source, 90, &code) != SIM_OK) fail_msg("%s: %s", what, sim_error_last()->message);
  assert_true(code.size > 1000);
  sim_bytes_free(&text);
  sim_bytes_free(&code);
}

/* Each law in one form, and each form once. */
static void test_pairs(void **state) {
  (void)state;
  static const int lanes[] = {1, 2, 4};
  int form = 0;
  for (int law = 0; law < LAWS; law++, form++) {
    /* type of the state, of the pairs: (f32, f32), (f64, f32), (f64, f64); jerk every other time */
    const bool single = form % 3 == 0, narrow = form % 3 < 2, jerk = form % 2 == 1;
    nbody_options options = {.n = 1000, .single_pairs = narrow, .jerk = jerk};
    options.laws.pair = law_pair(law, jerk);
    compile_pairs(&options, single, lanes[form % 3], law_names[law]);
    sim_expr_free(&options.laws.pair);
  }
  for (int k = 0; k < 3; k++)
    for (int jerk = 0; jerk < 2; jerk++) {
      nbody_options options = {.n = 1000, .single_pairs = k < 2, .jerk = jerk};
      options.laws.pair = law_pair(0, jerk);
      compile_pairs(&options, k == 0, lanes[2 - k], "gravity");
      sim_expr_free(&options.laws.pair);
    }
}

static void test_bodies(void **state) {
  (void)state;
  sim_function_map map = law_observables();
  for (int single = 0; single < 2; single++)
    for (int jerk = 0; jerk < 2; jerk++)
      for (int what = 1; what < 4; what++) {
        nbody_options options = {.n = 1000, .jerk = jerk};
        sim_bytes text = {0}, code = {0};
        if (what & 1) options.laws.external = law_external(jerk);
        if (what & 2) options.observe = &map;
        must(nbody_cuda_functions_write(&options, single, &text));
        const sim_source source = nbody_cuda_functions_source(&text);
        must(sim_compile(&source, 90, &code));
        sim_bytes_free(&text);
        sim_bytes_free(&code);
        sim_expr_free(&options.laws.external);
      }
  law_free_observables(&map);
}

static void expect_text(const char *text, const char *part, bool there) {
  if (!strstr(text, part) == there) fail_msg("%s '%s' in\n%s", there ? "no" : "a", part, text);
}

/* Gravity as a potential is one reciprocal root, with the softening in the sum of squares and G with the masses. No
 * division or root remains, also in the jerk. */
static void test_cost(void **state) {
  (void)state;
  for (int jerk = 0; jerk < 2; jerk++) {
    nbody_options options = {.n = 1000, .single_pairs = true, .jerk = jerk};
    sim_bytes text = {0};
    nbody_custom_law_text form;
    options.laws.pair = law_pair(0, jerk);
    must(nbody_custom_law_write(&options, true, 4, &text, &form));
    assert_true(fabs(form.factor - LAW_G) <= 1e-15 * LAW_G); /* a few products of constants */
    assert_true(form.potential);
    expect_text(text.data, jerk ? "nbody_power<-3, 1>" : "nbody_power<-3, 0>", true);
    expect_text(text.data, jerk ? "-3.0f * nbody_power<-2, 1>" : "nbody_power<-1, 0>", true);
    expect_text(text.data, " / t", false);
    expect_text(text.data, "sqrt", false);
    expect_text(text.data, "static pair_real start() { return (pair_real)0x1.47ae147ae147bp-7; }", true); /* 0.01 */
    sim_bytes_free(&text);
    sim_expr_free(&options.laws.pair);
  }
}

/* The text with half-integer powers computes the same as the graph, run on the host with pow() in their place. Forces
 * and rates may be differences of larger terms: within 100 roundings of |f| + 2 r2 |f'| (tests/parity/laws.c), rates of
 * 12 times that over r2 + 0.01, the softening. */
static void test_powers(void **state) {
  (void)state;
  sim_bytes text = {0}, command = {0};
  char folder[] = "/tmp/sim_laws_XXXXXX", path[64];
  double shift[LAWS];
  sim_expr *graphs[LAWS];
  assert_non_null(mkdtemp(folder));
  sim_bytes_text(&text, "#include <math.h>\n#define fabs __builtin_fabs\n"
                        "template <int K, int FORM> static double power(double s) { return pow(s, 0.5 * K); }\n");
  must(sim_expr_emit_prelude(&text));
  for (int law = 0; law < LAWS; law++) {
    char name[16];
    snprintf(name, sizeof name, "f%d", law);
    graphs[law] = law_pair(law, true);
    must(sim_expr_emit(
        graphs[law],
        &(sim_expr_emission){.name = name, .qualifier = "extern \"C\"", .powers = "power", .shift = &shift[law]},
        &text));
  }
  snprintf(path, sizeof path, "%s/f.cc", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text.data, 1, text.size, file), text.size);
  fclose(file);
  sim_bytes_format(&command, "cd %s && %s -x c++ -w -O1 -fPIC -shared -o f.so f.cc", folder, SIM_TEST_CXX);
  assert_int_equal(system(command.data), 0);
  unlink(path);
  snprintf(path, sizeof path, "%s/f.so", folder);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  unlink(path);
  rmdir(folder);
  for (int law = 0; law < LAWS; law++) {
    char name[16];
    void (*f)(double, double *, double *, double *) = NULL;
    snprintf(name, sizeof name, "f%d", law);
    *(void **)&f = dlsym(library, name);
    const sim_expr_target target = {.isa = SIM_ISA_PLAIN};
    sim_expr_program *program;
    must(sim_expr_program_create(graphs[law], &target, &program));
    void *scratch = aligned_alloc(64, (sim_expr_program_scratch(program) + 64) / 64 * 64);
    for (double r2 = 1e-6; r2 < 100; r2 *= 1.37) {
      double wanted[3], got[3];
      sim_expr_program_run(program, 1, (const void *const[]){&r2}, (void *const[]){wanted, wanted + 1, wanted + 2},
                           scratch);
      f(r2 + shift[law], got, got + 1, got + 2);
      const double size = fabs(wanted[0]) + 2 * r2 * fabs(wanted[1]), soft = r2 + LAW_SOFTENING2;
      const double bounds[] = {size, 12 * size / soft, size * soft + fabs(wanted[2])};
      for (int k = 0; k < 3; k++)
        if (!(fabs(got[k] - wanted[k]) <= 100 * 0x1p-53 * bounds[k]))
          fail_msg("%s, result %d at %g: %.17g, expected %.17g", law_names[law], k, r2, got[k], wanted[k]);
    }
    free(scratch);
    sim_expr_program_free(&program);
    sim_expr_free(&graphs[law]);
  }
  dlclose(library);
  sim_bytes_free(&text);
  sim_bytes_free(&command);
}

int main(void) {
  if (!sources_compile()) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_files), cmocka_unit_test(test_pairs),  cmocka_unit_test(test_bodies),
      cmocka_unit_test(test_cost),  cmocka_unit_test(test_powers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
