/* Files that several hosts write together. Their content is the frame's and their seal is valid for every number of
 * hosts and ranks. Cases: a host that cannot open the file, or whose disk is full. No exchange is pending after a
 * failure. */
#include "engine/comm/forked.h"
#include "engine/memory/buffer.h"
#include "io/io.h"
#include "io/sys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Rows of 3.2 MB: blocks of a MiB within them, and blocks that two of them share. */
enum { N = 400003, ARRAYS = 3, STEP = 7, RANKS = 4 };
static char folder[] = "/tmp/sim-hosts.XXXXXX";
static double *data[ARRAYS];
static const sim_field fields[ARRAYS] = {
    {.name = "mass", .doc = "masses", .dimension = {0, 1, 0}, .flags = SIM_IN_SNAPSHOT},
    {.name = "position", .doc = "positions", .dimension = {1, 0, 0}, .flags = SIM_IN_SNAPSHOT},
    {.name = "history", .doc = "only in checkpoints"}};

static size_t values(int k) { return (size_t)N * (k == 1 ? 3 : 1); }

static void make_frame(sim_array arrays[ARRAYS], sim_species *species, sim_frame *frame) {
  for (int k = 0; k < ARRAYS; k++)
    arrays[k] = (sim_array){.field = &fields[k],
                            .dtype = SIM_F64,
                            .rank = k == 1 ? 2 : 1,
                            .shape = {k == 1 ? 3 : N, N},
                            .global = {k == 1 ? 3 : N, N},
                            .data = data[k]};
  *species = (sim_species){.name = "stars", .count = N};
  *frame = (sim_frame){.clock = {.step = STEP, .t = 1, .dt = 0.1, .t_end = 2},
                       .arrays = arrays,
                       .array_count = ARRAYS,
                       .species = species,
                       .species_count = 1,
                       .finite = true};
}

/* ---- ranks ---- */

typedef enum trouble { NONE, BLIND, FULL, FULL_ONCE, NO_FOLDER } trouble;

/* Rank 0: writes a snapshot and a checkpoint. Returns 0 if both are right. */
static int write_files(const sim_comm *comm, trouble what) {
  sim_array arrays[ARRAYS];
  sim_species species;
  sim_frame frame;
  sim_units units = {0};
  sim_bytes blob = {0};
  sim_value *parameters = sim_value_table("nothing");
  if (!parameters) return 1;
  sim_value_write(parameters, &blob);
  sim_value_free(&parameters);
  io_provenance from = {.model = "nbody",
                        .version = "test",
                        .units = &units,
                        .scenario_text = "",
                        .parameters_blob = blob.data,
                        .parameters_blob_size = blob.size};
  io_folder *out;
  sim_sink sinks[2];
  int code = 0;
  make_frame(arrays, &species, &frame);
  if (io_folder_open(folder, IO_FOLDER_FORCE, &out) != SIM_OK || io_folder_clear(out) != SIM_OK) return 2;
  io_folder_ranks(out, comm);
  const sim_cadence always = {.kind = SIM_EVERY_STEPS, .interval = 1};
  if (io_snapshot_sink(out, &from, always, &sinks[0]) != SIM_OK) return 3;
  if (io_checkpoint_sink(out, &from, NULL, always, &sinks[1]) != SIM_OK) return 3;
  for (int i = 0; i < 2; i++) {
    if (!sinks[i].together(sinks[i].self, &frame)) code = 4;
    if (what == NO_FOLDER) io_sys_fail(1, false, EROFS); /* before the others are told of a file */
    const sim_status status = sinks[i].write(sinks[i].self, &frame);
    io_sys_fail(0, false, 0);
    const bool fails = what == FULL || what == NO_FOLDER || (what == FULL_ONCE && i == 0);
    const char *why = strerror(what == NO_FOLDER ? EROFS : ENOSPC);
    if (fails && (status != SIM_ERR_IO || !strstr(sim_error_last()->message, why))) code = 5;
    if (!fails && status != SIM_OK) code = 6;
    if (sinks[i].flush(sinks[i].self) != SIM_OK) code = 7;
  }
  for (int i = 0; i < 2; i++) sinks[i].destroy(&sinks[i].self);
  io_folder_close(&out);
  sim_bytes_free(&blob);
  return code;
}

static int help(const sim_comm *comm, trouble what) {
  sim_array arrays[ARRAYS];
  sim_species species;
  sim_frame frame;
  const sim_cadence always = {.kind = SIM_EVERY_STEPS, .interval = 1};
  make_frame(arrays, &species, &frame);
  if (what == BLIND && setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0}) != 0) return 2;
  if (what == FULL || what == FULL_ONCE) io_sys_fail(2, what == FULL, ENOSPC);
  for (int i = 0; i < 2; i++) {
    sim_sink sink;
    io_hosts_sink(comm, i ? SIM_SINK_CHECKPOINT : SIM_SINK_SNAPSHOT, always, &sink);
    if (!sink.together(sink.self, &frame)) return 4;
    if (sink.write(sink.self, &frame) != SIM_OK) return 5;
  }
  return 0;
}

static void run(int ranks, int hosts, trouble what) {
  sim_forked *forked;
  char text[16];
  snprintf(text, sizeof text, "%d", hosts);
  setenv("SIM_COMM_HOSTS", text, 1);
  setenv("SIM_IO_SHARED_FROM", "1", 1);
  assert_int_equal(sim_forked_create(ranks, &forked), SIM_OK);
  for (int r = 0; r < ranks; r++) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) continue;
    sim_comm comm;
    uint64_t most = 1;
    if (sim_forked_attach(dup(sim_forked_descriptor(forked)), r, &comm) != SIM_OK) _exit(100);
    const int code = r == 0 ? write_files(&comm, what) : help(&comm, comm.host_rank == 0 ? what : NONE);
    if (code == 0 && sim_comm_agree(&comm, (uint64_t)r, &most) != SIM_OK) _exit(101);
    if (code == 0 && most != (uint64_t)ranks - 1) _exit(102); /* an exchange was pending */
    if (code != 0) comm.ops->abandon(&comm, SIM_ERR_INTERNAL, sim_error_last()->message);
    _exit(code);
  }
  for (int left = ranks; left > 0; left--) {
    int how;
    assert_true(wait(&how) > 0);
    if (how != 0) fail_msg("%d ranks, %d hosts, trouble %d: exit %d", ranks, hosts, (int)what, WEXITSTATUS(how));
  }
  sim_forked_destroy(&forked);
  unsetenv("SIM_COMM_HOSTS");
  unsetenv("SIM_IO_SHARED_FROM");
}

/* ---- the written files ---- */

static void check_snapshot(void) {
  char path[128];
  sim_particles got;
  sim_units units = {0};
  snprintf(path, sizeof path, "%s/snap/snap_%08d.h5", folder, STEP);
  if (io_read_particles(path, NULL, &units, &got) != SIM_OK) fail_msg("%s", sim_error_last()->message);
  assert_int_equal(got.count, N);
  assert_memory_equal(got.mass, data[0], N * sizeof(double));
  for (int a = 0; a < 3; a++) assert_memory_equal(got.position[a], data[1] + (size_t)a * N, N * sizeof(double));
  sim_particles_free(&got);
}

static void check_checkpoint(void) {
  io_checkpoint got;
  char path[128];
  snprintf(path, sizeof path, "%s/ckpt/ck_%012d.h5", folder, STEP);
  if (io_checkpoint_read(path, &got) != SIM_OK) fail_msg("%s", sim_error_last()->message);
  for (int k = 0; k < ARRAYS; k++) {
    const sim_array *array = sim_frame_array(&got.frame, fields[k].name);
    assert_non_null(array);
    assert_memory_equal(array->data, data[k], values(k) * sizeof(double));
  }
  io_checkpoint_free(&got);
}

static bool exists(const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

static void test_hosts(void **state) {
  (void)state;
  for (int ranks = 2; ranks <= RANKS; ranks++)
    for (int hosts = 2; hosts <= ranks; hosts++) {
      run(ranks, hosts, NONE);
      check_snapshot();
      check_checkpoint();
    }
}

static void test_blind(void **state) {
  (void)state;
  run(3, 3, BLIND);
  check_snapshot();
  check_checkpoint();
}

static void test_full(void **state) {
  (void)state;
  const trouble all[] = {FULL, NO_FOLDER};
  for (int k = 0; k < 2; k++) {
    run(3, 2, all[k]);
    assert_false(exists("snap/snap_00000007.h5") || exists("snap/.snap_00000007.h5.tmp"));
    assert_false(exists("ckpt/ck_000000000007.h5") || exists("ckpt/.ck_000000000007.h5.tmp"));
  }
  run(3, 2, FULL_ONCE); /* the next file is complete */
  assert_false(exists("snap/snap_00000007.h5"));
  check_checkpoint();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_hosts), cmocka_unit_test(test_blind),
                                     cmocka_unit_test(test_full)};
  if (io_init() != SIM_OK || !mkdtemp(folder)) return 1;
  for (int k = 0; k < ARRAYS; k++) {
    if (!(data[k] = malloc(values(k) * sizeof(double)))) return 1;
    for (size_t i = 0; i < values(k); i++) data[k][i] = 1 + (double)(i * 7919 % 100003) + k;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char command[160];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  if (system(command) != 0) return 1;
  for (int k = 0; k < ARRAYS; k++) free(data[k]);
  return failed;
}
