/* The cache on disk: stored code is found again, and files that another user may have written are not used. */
#include "engine/device/cache.h"
#include "engine/log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64] = "/tmp/sim_cache_XXXXXX", path[160];
static const char code[] = "a kernel";
static const sim_cache_key key = {{0xab, 1, 2}};
static int warnings;

static void count(void *context, sim_log_level level, const char *message) {
  (void)context;
  if (level == SIM_LOG_WARN && strstr(message, folder) && strstr(message, "SIM_CACHE")) warnings++;
}

static bool found(void) {
  sim_bytes out = {0};
  const bool there = sim_cache_read(&key, &out);
  if (there) {
    assert_int_equal(out.size, sizeof code);
    assert_memory_equal(out.data, code, sizeof code);
  } else {
    assert_int_equal(out.size, 0);
  }
  sim_bytes_free(&out);
  return there;
}

static void test_own(void **state) {
  (void)state;
  struct stat about;
  sim_cache_write(&key, code, sizeof code);
  assert_true(found());
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0600);
}

static void test_writable_file(void **state) {
  (void)state;
  const mode_t modes[] = {0620, 0602};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    assert_int_equal(chmod(path, modes[i]), 0);
    assert_false(found());
  }
  sim_cache_write(&key, code, sizeof code); /* stored in its place */
  assert_true(found());
}

static void test_link(void **state) {
  (void)state;
  char elsewhere[200];
  snprintf(elsewhere, sizeof elsewhere, "%s.kept", path);
  assert_int_equal(rename(path, elsewhere), 0);
  assert_int_equal(symlink(elsewhere, path), 0);
  assert_false(found());
  sim_cache_write(&key, code, sizeof code);
  assert_true(found());
  unlink(elsewhere);
}

static void test_fifo(void **state) {
  (void)state;
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_false(found()); /* refused at once */
  sim_cache_write(&key, code, sizeof code);
  assert_true(found());
}

static void test_writable_folder(void **state) {
  (void)state;
  const sim_cache_key other = {{7}};
  sim_bytes out = {0};
  assert_int_equal(chmod(folder, 0770), 0);
  assert_false(found());
  sim_cache_write(&other, code, sizeof code);
  assert_int_equal(chmod(folder, 0700), 0);
  assert_true(found());
  assert_false(sim_cache_read(&other, &out)); /* nothing was stored there */
  assert_int_equal(warnings, 1);              /* for the first of these calls */
}

static void test_other_owner(void **state) {
  (void)state;
  enum { SOMEBODY = 12345 };
  if (geteuid() != 0) skip(); /* only root can give a file to another user */
  assert_int_equal(chown(path, SOMEBODY, 0), 0);
  assert_false(found());
  assert_int_equal(chown(path, 0, 0), 0);
  assert_true(found());
  assert_int_equal(chown(folder, SOMEBODY, 0), 0);
  assert_false(found());
  assert_int_equal(chown(folder, 0, 0), 0);
  assert_true(found());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_own),  cmocka_unit_test(test_writable_file),   cmocka_unit_test(test_link),
      cmocka_unit_test(test_fifo), cmocka_unit_test(test_writable_folder), cmocka_unit_test(test_other_owner),
  };
  umask(022);
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/", folder);
  for (size_t i = 0; i < sizeof key.bytes; i++) snprintf(path + strlen(path), 3, "%02x", key.bytes[i]);
  snprintf(path + strlen(path), 6, ".blob");
  setenv("SIM_CACHE", folder, 1);
  sim_log_add(count, NULL);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(path);
  rmdir(folder);
  return failed;
}
