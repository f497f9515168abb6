/* For tests of kernels that NVRTC compiles without a GPU. */
#ifndef SIM_TESTS_GPU_SOURCES_H
#define SIM_TESTS_GPU_SOURCES_H

#include "engine/device/compile.h"
#include "tests/must.h"

#include <stdbool.h>
#include <stdio.h>

/* Returns false without NVRTC. The reason was then printed, and the test ends with 77. */
static inline bool sources_compile(void) {
  sim_bytes code = {0};
  const sim_source nothing = {.name = "nothing", .text = "__global__ void f() {}\n"};
  const sim_status status = sim_compile(&nothing, 90, &code);
  sim_bytes_free(&code);
  if (status == SIM_ERR_NO_DEVICE) printf("skipped: %s\n", sim_error_last()->message);
  return status != SIM_ERR_NO_DEVICE;
}

/* Checks that NVRTC is given the files of this tree, at least `least`. */
static inline void sources_expect(const sim_source_file *files, int least) {
  int count = 0;
  for (const sim_source_file *file = files; file->name; file++, count++) {
    char path[400], part[4096];
    sim_bytes there = {0};
    snprintf(path, sizeof path, "%s/%s", SIM_SOURCE_DIR, file->name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    for (size_t got; (got = fread(part, 1, sizeof part, in)) > 0;) sim_bytes_add(&there, part, got);
    fclose(in);
    assert_string_equal(there.data, file->text);
    sim_bytes_free(&there);
  }
  assert_true(count >= least);
}

#endif
