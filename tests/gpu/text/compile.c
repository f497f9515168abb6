/* Compilation at run time, tested without a GPU: the cache on disk, missing files, text that does not compile, and
 * every form of the kernels with functions of a scenario. */
#include "engine/device/compile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static const sim_source_file files[] = {{"twice.cuh", "__device__ inline float twice(float x) { return 2 * x; }\n"},
                                        {0}};
static const char text[] = "#include \"twice.cuh\"\nextern \"C\" __global__ void f(float *x) { *x = twice(*x) + 1; }\n";

static sim_source source_of(const char *of) { return (sim_source){.name = "test", .text = of, .files = files}; }

static sim_bytes compiled(const sim_source *source) {
  sim_bytes out = {0};
  if (sim_compile(source, 90, &out) != SIM_OK) fail_msg("%s", sim_error_last()->message);
  assert_true(out.size > 100);
  return out;
}

/* ---- the folder ---- */

static int blobs(char *last, size_t capacity) {
  DIR *in = opendir(folder);
  int count = 0;
  struct dirent *item;
  while (in && (item = readdir(in)))
    if (item->d_name[0] != '.') {
      count++;
      if (last) snprintf(last, capacity, "%s/%s", folder, item->d_name);
    }
  if (in) closedir(in);
  return count;
}

static void empty(void) {
  char path[400];
  chmod(folder, 0700);
  while (blobs(path, sizeof path) > 0) assert_int_equal(unlink(path), 0);
}

static sim_bytes contents(const char *path) {
  sim_bytes out = {0};
  char part[4096];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;) sim_bytes_add(&out, part, got);
  fclose(file);
  return out;
}

static void put(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static ino_t inode(const char *path) {
  struct stat about;
  assert_int_equal(stat(path, &about), 0);
  return about.st_ino;
}

/* ---- tests ---- */

static void test_found_again(void **state) {
  (void)state;
  char path[400];
  const sim_source source = source_of(text);
  empty();
  sim_bytes first = compiled(&source);
  assert_int_equal(blobs(path, sizeof path), 1);
  const ino_t before = inode(path);
  sim_bytes second = compiled(&source);
  assert_int_equal(inode(path), before);
  assert_int_equal(first.size, second.size);
  assert_memory_equal(first.data, second.data, first.size);
  sim_bytes_free(&first);
  sim_bytes_free(&second);
}

/* Starts this program again, in a new process: main reads "warm" and "once". A child made only by fork cannot compile:
 * NVRTC keeps threads and locks, of which a child has the locks but not the threads. */
static pid_t start_self(const char *what) {
  char path[400] = "";
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  assert_true(length > 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    execl(path, path, what, (char *)NULL);
    _exit(127);
  }
  return child;
}

/* Returns the exit code of a child, or -1 where a signal ended it. */
static int code_of(pid_t child) {
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Exit code of "once": 0 where the text compiles. */
static int once(void) {
  const sim_source source = source_of(text);
  sim_bytes out = {0};
  const bool good = sim_compile(&source, 90, &out) == SIM_OK && out.size > 100;
  sim_bytes_free(&out);
  return good ? 0 : 1;
}

/* Exit code of "warm": cached code is found without loading NVRTC, which takes tens of milliseconds. */
static int warm(void) {
  if (once() != 0) return 2;
  sim_bytes maps = contents("/proc/self/maps");
  const int loaded = strstr(maps.data, "nvrtc") ? 1 : 0;
  sim_bytes_free(&maps);
  return loaded;
}

static void test_warm(void **state) {
  (void)state;
  const sim_source source = source_of(text);
  empty();
  sim_bytes code = compiled(&source);
  sim_bytes_free(&code);
  assert_int_equal(code_of(start_self("warm")), 0);
  empty();
  assert_int_equal(code_of(start_self("warm")), 1); /* cold: NVRTC is loaded */
}

static void test_damage(void **state) {
  (void)state;
  char path[400];
  const sim_source source = source_of(text);
  empty();
  sim_bytes code = compiled(&source);
  assert_int_equal(blobs(path, sizeof path), 1);
  sim_bytes sound = contents(path);
  /* every byte of the head, then some of the blob, always with the first and the last */
  for (size_t at = 0; at < sound.size; at += at < 64 ? 1 : sound.size / 37) {
    sound.data[at] ^= 0x10;
    put(path, sound.data, sound.size);
    sound.data[at] ^= 0x10;
    sim_bytes again = compiled(&source);
    assert_int_equal(again.size, code.size);
    assert_memory_equal(again.data, code.data, code.size);
    sim_bytes_free(&again);
    sim_bytes mended = contents(path);
    assert_int_equal(mended.size, sound.size);
    assert_memory_equal(mended.data, sound.data, sound.size);
    sim_bytes_free(&mended);
  }
  static const size_t lengths[] = {0, 1, 8, 47, 48, 49, 1000};
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
    put(path, sound.data, lengths[k]);
    sim_bytes again = compiled(&source);
    assert_memory_equal(again.data, code.data, code.size);
    sim_bytes_free(&again);
  }
  sim_bytes_add(&sound, "more", 4);
  put(path, sound.data, sound.size);
  sim_bytes again = compiled(&source);
  assert_int_equal(again.size, code.size);
  sim_bytes_free(&again);
  sim_bytes_free(&sound);
  sim_bytes_free(&code);
}

/* Everything that changes the machine code changes the key. */
static void test_keys(void **state) {
  (void)state;
  static const sim_source_file other_files[] = {
      {"twice.cuh", "__device__ inline float twice(float x) { return x + x; }\n"}, {0}};
  const sim_source base = source_of(text);
  sim_source changed[] = {base, base, base, base};
  changed[0].text = "extern \"C\" __global__ void f(float *x) { *x = 3; }\n";
  changed[1].contract = true;
  changed[2].approximate = true;
  changed[3].files = other_files;
  empty();
  sim_bytes code = compiled(&base);
  sim_bytes_free(&code);
  for (int k = 0; k < 4; k++) {
    code = compiled(&changed[k]);
    sim_bytes_free(&code);
    assert_int_equal(blobs(NULL, 0), 2 + k);
  }
  assert_int_equal(sim_compile(&base, 80, &code), SIM_OK);
  sim_bytes_free(&code);
  assert_int_equal(blobs(NULL, 0), 6);
}

/* Eight processes at once, all with an empty cache. */
static void test_parallel(void **state) {
  (void)state;
  enum { PROCESSES = 8 };
  char path[400];
  pid_t children[PROCESSES];
  empty();
  for (int k = 0; k < PROCESSES; k++) children[k] = start_self("once");
  for (int k = 0; k < PROCESSES; k++) assert_int_equal(code_of(children[k]), 0);
  assert_int_equal(blobs(path, sizeof path), 1);
  DIR *in = opendir(folder);
  for (struct dirent *item; (item = readdir(in));) assert_null(strstr(item->d_name, ".new-"));
  closedir(in);
}

/* At most 256 blobs are kept: those used last. */
static void test_bounds(void **state) {
  (void)state;
  char path[400];
  const sim_source source = source_of(text);
  empty();
  for (int k = 0; k < 300; k++) {
    snprintf(path, sizeof path, "%s/%032d.blob", folder, k);
    put(path, "old", 3);
    const struct timespec times[2] = {{1000 + k, 0}, {1000 + k, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
  }
  snprintf(path, sizeof path, "%s/.new-stale1", folder);
  put(path, "x", 1);
  const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
  sim_bytes code = compiled(&source);
  sim_bytes_free(&code);
  assert_int_equal(blobs(NULL, 0), 256);
  assert_int_not_equal(access(path, F_OK), 0);
  snprintf(path, sizeof path, "%s/%032d.blob", folder, 44);
  assert_int_not_equal(access(path, F_OK), 0); /* 300 + 1 - 256 = 45 are removed */
  snprintf(path, sizeof path, "%s/%032d.blob", folder, 45);
  assert_int_equal(access(path, F_OK), 0);
  empty();
}

/* A missing cache is no failure: a folder that cannot be created, and no folder at all. */
static void test_unwritable(void **state) {
  (void)state;
  const sim_source source = source_of(text);
  empty();
  setenv("SIM_CACHE", "/proc/nowhere/sim", 1);
  sim_bytes code = compiled(&source);
  sim_bytes_free(&code);
  unsetenv("SIM_CACHE");
  char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL, *caches = getenv("XDG_CACHE_HOME");
  caches = caches ? strdup(caches) : NULL;
  unsetenv("HOME");
  unsetenv("XDG_CACHE_HOME");
  code = compiled(&source);
  sim_bytes_free(&code);
  assert_int_equal(blobs(NULL, 0), 0);
  setenv("XDG_CACHE_HOME", folder, 1);
  code = compiled(&source);
  sim_bytes_free(&code);
  char path[400];
  snprintf(path, sizeof path, "%s/sim", folder);
  char inside[500], command[600];
  snprintf(inside, sizeof inside, "%s", path);
  assert_int_equal(access(inside, F_OK), 0);
  snprintf(command, sizeof command, "rm -r '%s'", inside);
  assert_int_equal(system(command), 0);
  unsetenv("XDG_CACHE_HOME");
  if (home) setenv("HOME", home, 1);
  if (caches) setenv("XDG_CACHE_HOME", caches, 1);
  free(home);
  free(caches);
  setenv("SIM_CACHE", folder, 1);
}

static void test_missing(void **state) {
  (void)state;
  const sim_source source = source_of("extern \"C\" __global__ void missing() {}\n");
  sim_bytes out = {0};
  setenv("SIM_NVRTC", "/nowhere/libnvrtc.so", 1);
  assert_int_equal(sim_compile(&source, 90, &out), SIM_ERR_NO_DEVICE);
  unsetenv("SIM_NVRTC");
  assert_non_null(strstr(sim_error_last()->message, "--device cpu"));
  assert_non_null(strstr(sim_error_last()->message, "SIM_NVRTC"));
  assert_int_equal(out.size, 0);
}

/* The message has NVRTC's first line and names the file with source and log. */
static void test_fault(void **state) {
  (void)state;
  const sim_source source = source_of("extern \"C\" __global__ void f(float *x) { *x = undeclared_7; }\n");
  sim_bytes out = {0};
  setenv("TMPDIR", folder, 1);
  empty();
  assert_int_equal(sim_compile(&source, 90, &out), SIM_ERR_INTERNAL);
  unsetenv("TMPDIR");
  const char *message = sim_error_last()->message;
  assert_non_null(strstr(message, "undeclared_7"));
  assert_null(strstr(message, "\n"));
  const char *path = strstr(message, folder);
  assert_non_null(path);
  char copy[400];
  snprintf(copy, sizeof copy, "%.*s", (int)strcspn(path, ";"), path);
  sim_bytes kept = contents(copy);
  assert_non_null(strstr(kept.data, source.text));
  assert_non_null(strstr(kept.data, "twice"));
  assert_non_null(strstr(kept.data, "--fmad=false"));
  sim_bytes_free(&kept);
  unlink(copy);
}

/* A future compute capability gets PTX of the newest one that NVRTC knows, for the driver to compile. */
static void test_future_device(void **state) {
  (void)state;
  const sim_source source = source_of(text);
  sim_bytes out = {0};
  assert_int_equal(sim_compile(&source, 990, &out), SIM_OK);
  assert_non_null(strstr(out.data, ".target sm_"));
  sim_bytes_free(&out);
}

/* compile [once | warm] */
int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "once") == 0) return once();
  if (argc > 1 && strcmp(argv[1], "warm") == 0) return warm();
  const sim_source source = source_of(text);
  sim_bytes out = {0};
  snprintf(folder, sizeof folder, "/tmp/sim_cache_XXXXXX");
  if (!mkdtemp(folder)) return 1;
  setenv("SIM_CACHE", folder, 1);
  unsetenv("SIM_NVRTC");
  if (sim_compile(&source, 90, &out) == SIM_ERR_NO_DEVICE) {
    printf("skipped: %s\n", sim_error_last()->message);
    rmdir(folder);
    return 77;
  }
  sim_bytes_free(&out);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_found_again),   cmocka_unit_test(test_warm),     cmocka_unit_test(test_damage),
      cmocka_unit_test(test_keys),          cmocka_unit_test(test_parallel), cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_unwritable),    cmocka_unit_test(test_missing),  cmocka_unit_test(test_fault),
      cmocka_unit_test(test_future_device),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  empty();
  rmdir(folder);
  return failed;
}
