/* Kernels from the cache on a stand-in for the runtime: a warm start compiles nothing. Code that the driver refuses is
 * compiled anew, once. Several sources are compiled in parallel. */
#include "engine/device/compile.h"
#include "tests/gpu/fake_runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/sim_module_XXXXXX";

/* A text that the cache does not know. */
static sim_source source(void) {
  static char text[200];
  static int number;
  snprintf(text, sizeof text, "extern \"C\" __global__ void f(int *x) { *x = %d; }\n", number++);
  return (sim_source){.name = "test", .text = text};
}

/* Returns the number of compilations; -1: refused. */
static long made(const sim_source *of) {
  const long before = sim_compile_count(), libraries = fake.libraries;
  sim_module *module;
  void *kernel;
  sim_status status = sim_module_create(of, &module);
  if (status == SIM_OK) {
    assert_int_equal(fake.libraries, libraries + 1);
    status = sim_module_kernel(module, "f", &kernel);
    sim_module_free(&module);
  } else {
    assert_null(module);
  }
  if (status != SIM_OK) assert_int_equal(status, SIM_ERR_DEVICE);
  assert_int_equal(fake.libraries, libraries);
  return status == SIM_OK ? sim_compile_count() - before : -1;
}

static void fail_at(const char *call, bool once) {
  fake.fails = call;
  fake.error = cudaErrorInvalidKernelImage;
  fake.once = once;
  fake.after = 0;
}

/* A source that does not compile, where TMPDIR does not exist and where its disk is full. */
static void check_unkept(void) {
  const sim_source wrong = {.name = "wrong", .text = "this is no C\n"};
  struct rlimit before;
  sim_module *module;
  setenv("TMPDIR", "/nowhere", 1);
  assert_int_equal(sim_module_create(&wrong, &module), SIM_ERR_INTERNAL);
  assert_non_null(
      strstr(sim_error_last()->message, "temporary files, /nowhere, does not take the source (No such file"));
  assert_int_equal(mkdir("full", 0700), 0);
  setenv("TMPDIR", "full", 1);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit none = {.rlim_cur = 5, .rlim_max = before.rlim_max};
  (void)signal(SIGXFSZ, SIG_IGN); /* the write fails instead */
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
  const sim_status status = sim_module_create(&wrong, &module);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(status, SIM_ERR_INTERNAL);
  assert_non_null(strstr(sim_error_last()->message, "full, does not take the source (File too large)"));
  assert_int_equal(rmdir("full"), 0); /* the folder is empty */
  unsetenv("TMPDIR");
}

static void test_warm(void **state) {
  (void)state;
  const sim_source one = source();
  assert_int_equal(made(&one), 1);
  for (int i = 0; i < 3; i++) assert_int_equal(made(&one), 0);
  const sim_source other = source();
  assert_int_equal(made(&other), 1);
}

static void test_refused(void **state) {
  (void)state;
  static const char *const calls[] = {"cudaLibraryLoadData", "cudaFuncGetAttributes", "cudaLibraryGetKernelCount",
                                      "cudaLibraryEnumerateKernels"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    const sim_source of = source();
    assert_int_equal(made(&of), 1);
    fail_at(calls[i], true);
    assert_int_equal(made(&of), 1); /* the cached code is refused, the newly compiled code is not */
    assert_int_equal(made(&of), 0);
    if (i > 1) continue; /* the other cases test only cached code */
    fail_at(calls[i], false);
    const long before = sim_compile_count();
    assert_int_equal(made(&of), -1); /* compiled anew without success, and not again */
    assert_int_equal(sim_compile_count(), before + 1);
    const sim_source cold = source();
    assert_int_equal(made(&cold), -1); /* just compiled: not compiled again */
    assert_int_equal(sim_compile_count(), before + 2);
    fake.fails = NULL;
  }
}

/* Several sources, in threads: cached ones are not compiled, the waiting thread reports a failure of one of them, and a
 * module that is freed while they run leaves nothing. */
static void test_several(void **state) {
  (void)state;
  static char texts[3][120];
  sim_source sources[3];
  const long libraries = fake.libraries;
  sim_module *module;
  void *kernel;
  for (int i = 0; i < 3; i++) {
    snprintf(texts[i], sizeof texts[i], "extern \"C\" __global__ void g%d(int *x) { *x = %d; }\n", i, i);
    sources[i] = (sim_source){.name = "several", .text = texts[i]};
  }
  assert_int_equal(made(&sources[1]), 1);
  const long before = sim_compile_count();
  assert_int_equal(sim_module_begin(sources, 3, &module), SIM_OK);
  assert_int_equal(sim_module_end(module), SIM_OK);
  assert_int_equal(sim_compile_count(), before + 2);
  assert_int_equal(fake.libraries, libraries + 3);
  fake.kernel = "g2";
  assert_int_equal(sim_module_kernel(module, "g2", &kernel), SIM_OK);
  fake.kernel = NULL;
  sim_module_free(&module);
  assert_null(module);
  assert_int_equal(fake.libraries, libraries);

  snprintf(texts[2], sizeof texts[2], "this is no C\n");
  assert_int_equal(sim_module_begin(sources, 3, &module), SIM_OK);
  sim_error_clear();
  assert_int_equal(sim_module_end(module), SIM_ERR_INTERNAL);
  assert_non_null(strstr(sim_error_last()->message, "several does not compile"));
  const char *kept = strstr(sim_error_last()->message, "the source is in ");
  char path[256] = "";
  if (kept) (void)sscanf(kept, "the source is in %255[^;]", path);
  assert_int_equal(unlink(path), 0);
  sim_module_free(&module);
  assert_int_equal(fake.libraries, libraries);
  check_unkept();

  snprintf(texts[2], sizeof texts[2], "extern \"C\" __global__ void late(int *x) { *x = 5; }\n");
  assert_int_equal(sim_module_begin(sources, 3, &module), SIM_OK);
  sim_module_free(&module);
  assert_int_equal(fake.libraries, libraries);
  assert_int_equal(made(&sources[2]), 0); /* it was cached all the same */
}

int main(void) {
  const sim_source of = source();
  sim_bytes out = {0};
  char command[100];
  if (!mkdtemp(folder)) return 1;
  setenv("SIM_CACHE", folder, 1);
  unsetenv("SIM_NVRTC");
  fake.device_count = 1;
  fake.devices[0] = (struct fake_device){.name = "Fake", .major = 9, .minor = 0};
  int failed = 77;
  if (sim_compile(&of, 90, &out) == SIM_OK) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_warm), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_several)};
    failed = cmocka_run_group_tests(tests, NULL, NULL);
  } else {
    printf("skipped: %s\n", sim_error_last()->message);
  }
  sim_bytes_free(&out);
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command) == 0 || failed ? failed : 1;
}
