/* Kernels of fluids with functions of a scenario, tested without a GPU: those of every case of the parity test compile,
 * and NVRTC is given the files of this tree. Half of the texts, each in one precision; with an argument all in both. */
#include "kernels/fluid/cuda/work.h"
#include "tests/fluid/driver.h"
#include "tests/parity/fluid_functions.h"

#define must must_do /* the driver of fluids has another one */
#include "tests/gpu/text/sources.h"
#undef must

#include <stdlib.h>
#include <string.h>

static bool all;

static void test_files(void **state) {
  (void)state;
  sources_expect(fluid_cuda_files, 8);
}

/* SIM_SHOW prints the text; SIM_KEEP writes the code to a file of that name. */
static void compile(sim_bytes *text, const char *name) {
  sim_bytes code = {0};
  const sim_source source = fluid_cuda_law_source(name, text);
  if (getenv("SIM_SHOW")) fputs(text->data, stderr);
  must(sim_compile(&source, 90, &code), text->data);
  if (getenv("SIM_KEEP")) {
    FILE *out = fopen(getenv("SIM_KEEP"), "wb");
    assert_non_null(out);
    fwrite(code.data, 1, code.size, out);
    fclose(out);
  }
  assert_true(code.size > 1000);
  sim_bytes_free(&code);
  sim_bytes_free(text);
}

static void test_cases(void **state) {
  (void)state;
  /* twice the text, and 1 for single precision: a force of the place, with 27 directions, with heat on two axes, with
   * heat and eddies, with a viscosity; and a viscosity of the temperature */
  static const size_t quick[] = {0, 7, 11, 12, 15, 18};
  const size_t count = all ? 2 * sizeof function_texts / sizeof *function_texts : sizeof quick / sizeof *quick;
  for (size_t k = 0; k < count; k++) {
    const size_t i = all ? k : quick[k];
    sim_bytes text = {0};
    char with[2048];
    flow f;
    snprintf(with, sizeof with, "local kind = '%s' %s", i % 2 ? "single" : "double", function_texts[i / 2]);
    flow_open(&f, with, sim_isa_best(), 1, NULL);
    if (f.p->force) {
      must(fluid_cuda_write_push(f.p, &text), "write");
      compile(&text, "fluid_push");
    }
    if (fluid_cuda_stores_rates(f.p)) {
      must(fluid_cuda_write_viscosity(f.p, &text), "write");
      compile(&text, "fluid_viscosity");
    }
    flow_close(&f);
  }
}

int main(int argc, char **argv) {
  (void)argv;
  all = argc > 1;
  if (!sources_compile()) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_cases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
