/* The CUDA backend on a GPU: memory, the order of its queues, graphs, and the mode of its arithmetic. */
#include "engine/device/cuda.h"
#include "engine/run/profile.h"
#include "engine/wall_clock.h"
#include "tests/gpu/gpu.h"
#include "tests/gpu/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 1 << 20, BYTES = COUNT * (int)sizeof(unsigned) };

static const sim_backend *gpu;

static unsigned *device_array(void) {
  void *data = NULL;
  assert_int_equal(gpu->alloc(BYTES, &data), SIM_OK);
  assert_int_equal((uintptr_t)data % 64, 0);
  return data;
}

static unsigned *host_array(void) {
  void *data = NULL;
  assert_int_equal(gpu->alloc_host(BYTES, &data), SIM_OK);
  memset(data, 0x55, BYTES);
  return data;
}

static void all_are(const unsigned *data, unsigned value) {
  for (size_t i = 0; i < COUNT; i++)
    if (data[i] != value) fail_msg("[%zu] is %u, not %u", i, data[i], value);
}

/* Memory that is allocated again is zero. */
static void zeroed(void **state) {
  (void)state;
  unsigned *host = host_array();
  for (int round = 0; round < 2; round++) {
    unsigned *data = device_array();
    assert_int_equal(gpu->copy(host, data, BYTES), SIM_OK);
    all_are(host, 0);
    gpu_test_add(data, COUNT, 7);
    assert_int_equal(gpu->queue->finish(), SIM_OK);
    gpu->free(data);
  }
  gpu->free_host(host);
}

static void copies(void **state) {
  (void)state;
  unsigned *from = device_array(), *to = device_array(), *pageable = malloc(BYTES);
  assert_non_null(pageable);
  for (size_t i = 0; i < COUNT; i++) pageable[i] = 11;
  assert_int_equal(gpu->copy(from, pageable, BYTES), SIM_OK);
  gpu_test_wait(20000000); /* about 10 ms: the copies come after it */
  gpu_test_add(from, COUNT, 2);
  assert_int_equal(gpu->copy(to, from, BYTES), SIM_OK);
  memset(pageable, 0, BYTES);
  assert_int_equal(gpu->copy(pageable, to, BYTES), SIM_OK);
  all_are(pageable, 13);
  assert_int_equal(gpu->copy(pageable, to, 0), SIM_OK);
  free(pageable);
  gpu->free(from);
  gpu->free(to);
}

/* A copy to the host has the state at `stage`, although later steps have changed it long before the copy. */
static void outputs_leave(void **state) {
  (void)state;
  unsigned *data = device_array(), *staged = device_array(), *host = host_array();
  for (unsigned round = 1; round <= 3; round++) {
    gpu_test_wait(20000000);
    gpu_test_add(data, COUNT, 1);
    assert_int_equal(gpu->queue->stage(staged, data, BYTES), SIM_OK);
    assert_int_equal(gpu->queue->copy_out(host, staged, BYTES), SIM_OK);
    gpu_test_add(data, COUNT, 100);
    assert_int_equal(gpu->queue->wait_copies(), SIM_OK);
    all_are(host, 101 * (round - 1) + 1);
  }
  assert_int_equal(gpu->queue->finish(), SIM_OK);
  gpu->free(data);
  gpu->free(staged);
  gpu->free_host(host);
}

/* `left` does not wait for later steps: 2e9 clocks are about a second. */
static void steps_go_on(void **state) {
  (void)state;
  unsigned *data = device_array(), *staged = device_array(), *host = host_array();
  assert_int_equal(gpu->queue->stage(staged, data, BYTES), SIM_OK);
  assert_int_equal(gpu->queue->copy_out(host, staged, BYTES), SIM_OK);
  double begin = sim_wall_clock();
  gpu_test_wait(2000000000);
  assert_int_equal(gpu->queue->wait_copies(), SIM_OK);
  double left = sim_wall_clock() - begin;
  all_are(host, 0);
  assert_int_equal(gpu->queue->finish(), SIM_OK);
  double finished = sim_wall_clock() - begin;
  if (finished < left + 0.2) fail_msg("left after %.3f s, finished after %.3f s", left, finished);
  gpu->free(data);
  gpu->free(staged);
  gpu->free_host(host);
}

static void graphs(void **state) {
  (void)state;
  unsigned *data = device_array(), *host = host_array();
  sim_graph *graph = NULL;
  assert_int_equal(gpu->queue->graph_begin(), SIM_OK);
  gpu_test_add(data, COUNT, 1);
  gpu_test_add(data, COUNT, 2);
  assert_int_equal(gpu->queue->graph_end(&graph), SIM_OK);
  assert_non_null(graph);
  assert_int_equal(gpu->copy(host, data, BYTES), SIM_OK);
  all_are(host, 0); /* captured, not run */
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(gpu->queue->graph_launch(graph), SIM_OK);
    if (i % 64 == 0) assert_int_equal(gpu->queue->throttle(), SIM_OK);
  }
  gpu_test_add(data, COUNT, 5);
  assert_int_equal(gpu->copy(host, data, BYTES), SIM_OK);
  all_are(host, 3005);
  gpu->queue->graph_destroy(&graph);
  assert_null(graph);
  assert_int_equal(gpu->queue->finish(), SIM_OK);
  gpu->free(data);
  gpu->free_host(host);
}

/* (1 + 2^-30)(1 - 2^-30) is 1 - 2^-60. In fp64 it rounds to 1, unless a fused multiply-add subtracts the 1 first. */
static void contraction_is_off(void **state) {
  (void)state;
  const double values[] = {1 + 0x1p-30, 1 - 0x1p-30, 5};
  double result = 5;
  void *data = NULL;
  assert_int_equal(gpu->alloc(sizeof values, &data), SIM_OK);
  assert_int_equal(gpu->copy(data, values, sizeof values), SIM_OK);
  gpu_test_contract(data);
  assert_int_equal(gpu->copy(&result, (const double *)data + 2, sizeof result), SIM_OK);
  assert_true(result == 0);
  gpu->free(data);
}

static void too_much(void **state) {
  (void)state;
  void *data = NULL;
  assert_int_equal(gpu->alloc((size_t)1 << 50, &data), SIM_ERR_NO_MEMORY);
  assert_null(data);
  assert_int_equal(gpu->queue->status(), SIM_OK);
  assert_true(gpu->memory_free() > (size_t)1 << 20);
}

/* A profile counts every launch and copy, and changes no result. */
static void profile(void **state) {
  (void)state;
  unsigned *data = device_array(), *staged = device_array(), *host = host_array();
  sim_graph *graph = NULL;
  sim_profile_start();
  for (int i = 0; i < 5000; i++) gpu_test_add(data, COUNT, 1);
  assert_int_equal(gpu->queue->graph_begin(), SIM_OK);
  gpu_test_add(data, COUNT, 1);
  assert_int_equal(gpu->queue->graph_end(&graph), SIM_OK);
  assert_null(graph);
  assert_int_equal(gpu->queue->stage(staged, data, BYTES), SIM_OK);
  assert_int_equal(gpu->queue->copy_out(host, staged, BYTES), SIM_OK);
  assert_int_equal(gpu->queue->finish(), SIM_OK);
  all_are(host, 5001);
  sim_bytes table = {0};
  sim_profile_table(&table);
  assert_non_null(table.data);
  print_message("%s", table.data);
  assert_non_null(strstr(table.data, " 5001 "));
  assert_non_null(strstr(table.data, "copy to the host"));
  sim_bytes_free(&table);
  sim_profile_stop();
  gpu->free(data);
  gpu->free(staged);
  gpu->free_host(host);
}

/* gpu_backend [TEST]: all tests but this one. */
int main(int count, char **words) {
  gpu = gpu_or_skip();
  if (!gpu) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(zeroed),        cmocka_unit_test(copies),
                                     cmocka_unit_test(outputs_leave), cmocka_unit_test(steps_go_on),
                                     cmocka_unit_test(graphs),        cmocka_unit_test(contraction_is_off),
                                     cmocka_unit_test(too_much),      cmocka_unit_test(profile)};
  if (count > 1) cmocka_set_skip_filter(words[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
