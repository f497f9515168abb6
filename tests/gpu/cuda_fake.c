/* The CUDA backend on a stand-in for the runtime: the choice of the device and its reasons, the first failure, memory,
 * graphs, and the times of kernels. Each case has a process of its own, as a run has. */
#include "engine/device/backend.h"
#include "engine/device/cuda.h"
#include "engine/run/profile.h"
#include "tests/gpu/fake_runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, sim_error_last()->message);     \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  } while (0)

static void in_child(void (*work)(void)) {
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    work();
    _exit(0);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static const sim_backend *cuda(void) {
  for (const sim_backend *const *b = sim_backends; *b; b++)
    if ((*b)->kind == SIM_BACKEND_CUDA) return *b;
  return NULL;
}

static void devices(int count) {
  fake.device_count = count;
  for (int i = 0; i < count; i++) {
    fake.devices[i] = (struct fake_device){.name = "Fake", .major = 8, .minor = 6};
    memset(fake.devices[i].uuid, 0xab, 16);
    fake.devices[i].uuid[1] = (unsigned char)i; /* GPU-ab00..., GPU-ab01... */
  }
}

static bool last_says(const char *text) { return strstr(sim_error_last()->message, text) != NULL; }
static bool reason_says(const char *text) {
  const char *reason = cuda()->unavailable();
  if (!reason || !strstr(reason, text)) fprintf(stderr, "the reason is: %s\n", reason ? reason : "none");
  return reason && strstr(reason, text);
}
static sim_status chosen(const char *device) {
  const sim_backend *backend;
  return sim_backend_select(device, &backend);
}

/* ---- reasons against a device ---- */

static void no_driver(void) {
  fake.driver = 0;
  CHECK(reason_says("no NVIDIA driver"));
  CHECK(chosen("cuda") == SIM_ERR_NO_DEVICE && last_says("device 'cuda' is not usable: no NVIDIA driver"));
  CHECK(chosen("cuda:0") == SIM_ERR_NO_DEVICE && last_says("no NVIDIA driver"));
  const sim_backend *backend;
  CHECK(sim_backend_select("auto", &backend) == SIM_OK && backend == &sim_backend_cpu);
}
static void old_driver(void) {
  fake.driver = 12040;
  fake.count_error = cudaErrorInsufficientDriver;
  CHECK(reason_says("too old: it is for CUDA 12.4, this build needs CUDA 13.0"));
}
static void hidden_all(void) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  fake.count_error = cudaErrorNoDevice;
  CHECK(reason_says("CUDA_VISIBLE_DEVICES is empty"));
  CHECK(chosen("cuda") == SIM_ERR_NO_DEVICE && last_says("CUDA_VISIBLE_DEVICES is empty"));
}
static void hidden_wrong(void) {
  setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  fake.count_error = cudaErrorNoDevice;
  CHECK(reason_says("CUDA_VISIBLE_DEVICES=7"));
}
static void no_gpu(void) {
  unsetenv("CUDA_VISIBLE_DEVICES");
  fake.count_error = cudaErrorNoDevice;
  CHECK(reason_says("no NVIDIA GPU"));
}
static void other_error(void) {
  fake.count_error = cudaErrorSystemNotReady;
  CHECK(reason_says("other text (otherName)"));
}
static void prohibited(void) {
  devices(1);
  fake.devices[0].mode = cudaComputeModeProhibited;
  CHECK(reason_says("compute mode"));
}

/* The test is compiled for 75-real,80-real,90a-real,120-virtual. */
static void architectures(void) {
  static const struct {
    int major, minor;
    bool usable;
  } cases[] = {{6, 1, false}, {7, 0, false}, {7, 5, true},   {8, 0, true},  {8, 6, true}, {8, 9, true},
               {9, 0, true},  {9, 3, false}, {10, 0, false}, {12, 0, true}, {12, 1, true}};
  char line[512];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    devices(1);
    fake.devices[0].major = cases[i].major;
    fake.devices[0].minor = cases[i].minor;
    CHECK(cuda()->list(0, line, sizeof line) && !cuda()->list(1, line, sizeof line));
    bool refused = strstr(line, "architecture not compiled in") != NULL;
    if (refused == cases[i].usable) fprintf(stderr, "%d.%d: %s\n", cases[i].major, cases[i].minor, line);
    CHECK(refused != cases[i].usable);
    CHECK(cases[i].usable || strstr(line, "this build has 7.5, 8.0, 9.0, 12.0 and newer"));
  }
}

static void why_not(void **state) {
  (void)state;
  in_child(no_driver);
  in_child(old_driver);
  in_child(hidden_all);
  in_child(hidden_wrong);
  in_child(no_gpu);
  in_child(other_error);
  in_child(prohibited);
  in_child(architectures);
}

/* ---- choice ---- */

static void first_usable(void) {
  devices(4);
  fake.devices[0].major = 6;
  fake.devices[1].mode = cudaComputeModeProhibited;
  fake.devices[2].start = cudaErrorDevicesUnavailable; /* in use by another process */
  CHECK(chosen("auto") == SIM_OK && fake.current == 3);
  CHECK(chosen("cuda:0") == SIM_ERR_NO_DEVICE && last_says("GPU 0: architecture not compiled in"));
  CHECK(chosen("cuda:1") == SIM_ERR_NO_DEVICE && last_says("compute mode"));
  CHECK(chosen("cuda:2") == SIM_ERR_NO_DEVICE && last_says("uses GPU 3 already"));
  CHECK(chosen("cuda:3") == SIM_OK);
}
static void by_number(void) {
  devices(3);
  CHECK(chosen("cuda:3") == SIM_ERR_NO_DEVICE && last_says("no GPU 3: there are 0 to 2"));
  CHECK(chosen("cuda:99999999999") == SIM_ERR_NO_DEVICE);
  CHECK(chosen("cuda:") == SIM_ERR_USAGE && chosen("cuda:x") == SIM_ERR_USAGE && chosen("cpu:0") == SIM_ERR_USAGE);
  CHECK(chosen("cuda:GPU-") == SIM_ERR_USAGE && chosen("cuda:GPU-xyz") == SIM_ERR_USAGE);
  CHECK(chosen("cuda:2") == SIM_OK && fake.current == 2);
  char text[256];
  cuda()->describe(text, sizeof text);
  CHECK(strstr(text, "Fake (GPU 2), compute capability 8.6, driver ") && strstr(text, "(CUDA 13.0)"));
}
static void by_uuid(void) {
  devices(3);
  CHECK(chosen("cuda:GPU-ab") == SIM_ERR_NO_DEVICE && last_says("several GPUs"));
  CHECK(chosen("cuda:GPU-ac") == SIM_ERR_NO_DEVICE && last_says("no GPU with UUID 'GPU-ac'"));
  CHECK(chosen("cuda:GPU-AB01abab-abab") == SIM_OK && fake.current == 1);
}
/* Ranks take GPUs by UUID, before any GPU is touched. */
static void identities(void) {
  char name[64], line[1024];
  devices(3);
  fake.devices[1].major = 6;
  fake.current = -1;
  CHECK(cuda()->identity(0, name, sizeof name) && strncmp(name, "GPU-ab00ab", 10) == 0);
  CHECK(cuda()->identity(1, name, sizeof name) && strncmp(name, "GPU-ab02ab", 10) == 0);
  CHECK(!cuda()->identity(2, line, sizeof line) && fake.current == -1);
  snprintf(line, sizeof line, "cuda:%s", name);
  CHECK(chosen(line) == SIM_OK && fake.current == 2);
  CHECK(cuda()->list(0, line, sizeof line) && strstr(line, " free, peers 1"));
  CHECK(cuda()->list(2, line, sizeof line) && strstr(line, " free, no peers"));
  CHECK(fake.current == 2); /* as before */
}
static void all_taken(void) {
  devices(2);
  fake.devices[0].start = fake.devices[1].start = cudaErrorDevicesUnavailable;
  CHECK(chosen("cuda") == SIM_ERR_NO_DEVICE && last_says("GPU 0 cannot be used: other text (otherName)"));
  const sim_backend *backend;
  CHECK(sim_backend_select("auto", &backend) == SIM_OK && backend == &sim_backend_cpu);
}

static void which_device(void **state) {
  (void)state;
  in_child(first_usable);
  in_child(by_number);
  in_child(by_uuid);
  in_child(identities);
  in_child(all_taken);
}

/* ---- failures ---- */

static const sim_kernel kernel_a = {"test_a", "force", SIM_LIMIT_FP32};
static const sim_kernel kernel_b = {"test_b", "observe", SIM_LIMIT_BYTES};

static void launch(const sim_kernel *kernel, cudaError_t error) {
  sim_cuda_begin(kernel);
  fake.pending = error;
  sim_cuda_end(kernel, 1000);
}

/* Every call except the freeing ones reports the first failure. */
static void all_say(const char *text) {
  const sim_backend *b = cuda();
  void *data = NULL;
  sim_graph *graph = NULL;
  char host[8] = {0};
  CHECK(b->queue->status() == SIM_ERR_DEVICE && last_says(text));
  CHECK(b->alloc(8, &data) == SIM_ERR_DEVICE && !data && last_says(text));
  CHECK(b->alloc_host(8, &data) == SIM_ERR_DEVICE && !data);
  CHECK(b->copy(host, host, 8) == SIM_ERR_DEVICE && last_says(text));
  CHECK(b->queue->stage(host, host, 8) == SIM_ERR_DEVICE && b->queue->copy_out(host, host, 8) == SIM_ERR_DEVICE);
  CHECK(b->queue->wait_copies() == SIM_ERR_DEVICE && b->queue->throttle() == SIM_ERR_DEVICE &&
        b->queue->finish() == SIM_ERR_DEVICE);
  CHECK(b->queue->graph_begin() == SIM_ERR_DEVICE && b->queue->graph_end(&graph) == SIM_ERR_DEVICE && !graph);
  CHECK(last_says(text));
}

static void bad_launch(void) {
  devices(1);
  void *data;
  CHECK(chosen("cuda") == SIM_OK && cuda()->alloc(64, &data) == SIM_OK);
  launch(&kernel_a, cudaSuccess);
  CHECK(cuda()->queue->status() == SIM_OK);
  launch(&kernel_b, cudaErrorLaunchFailure);
  launch(&kernel_a, cudaErrorInvalidValue);
  all_say("GPU 0: launch (test_b): launch text (launchName)");
  cuda()->free(data);
  CHECK(fake.frees == 1);
}

/* A kernel that fails is reported at the next call that waits. */
static void late(void) {
  devices(1);
  CHECK(chosen("cuda") == SIM_OK);
  launch(&kernel_a, cudaSuccess);
  fake.fails = "cudaStreamSynchronize";
  fake.error = cudaErrorLaunchFailure;
  CHECK(cuda()->queue->finish() == SIM_ERR_DEVICE);
  all_say("cudaStreamSynchronize (last kernel: test_a): launch text");
}

/* Any call may fail, at any time: no crash, and the first failure is reported. */
static const char *const calls[] = {
    "cudaMalloc",           "cudaMemsetAsync",      "cudaMemcpyAsync", "cudaStreamSynchronize",  "cudaStreamWaitEvent",
    "cudaEventRecord",      "cudaEventSynchronize", "cudaSetDevice",   "cudaStreamBeginCapture", "cudaStreamEndCapture",
    "cudaGraphInstantiate", "cudaGraphUpload",      "cudaGraphLaunch"};
enum { CALLS = sizeof calls / sizeof *calls, NOT_REACHED = 78 };

/* Makes a series of calls, in which call number `after` (from 0) of this name fails. Ends with NOT_REACHED where there
 * are fewer. */
static void row_of_calls(const char *name, int after) {
  devices(1);
  const sim_backend *b = cuda();
  CHECK(chosen("cuda") == SIM_OK);
  void *data = NULL, *host = NULL;
  sim_graph *graph = NULL;
  char here[64];
  fake.fails = name;
  fake.after = after;
  fake.once = true;
  fake.error = cudaErrorLaunchFailure;
  sim_status status = b->alloc(64, &data);
  if (!status) status = b->alloc_host(64, &host);
  if (!status) status = b->copy(here, data, 64);
  if (!status) status = b->queue->stage(data, data, 64);
  if (!status) status = b->queue->copy_out(host, data, 64);
  if (!status) status = b->queue->wait_copies();
  if (!status) status = b->queue->throttle();
  if (!status) status = b->queue->graph_begin();
  if (!status) status = b->queue->stage(host, data, 64);
  if (!status) status = b->queue->graph_end(&graph);
  if (!status) status = b->queue->graph_launch(graph);
  if (!status) status = b->queue->finish();
  if (!status) {
    CHECK(!fake.failed);
    _exit(NOT_REACHED);
  }
  CHECK(status == SIM_ERR_DEVICE && last_says(name) && last_says("launch text"));
  all_say(name);
  b->queue->graph_destroy(&graph);
  b->free(data);
  b->free_host(host);
}

/* Returns the exit status of the series in a process of its own. */
static int row_with_failure(const char *name, int after) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    row_of_calls(name, after);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/* Any call may fail, at any time: no crash, and the first failure is reported. */
static void failures(void **state) {
  (void)state;
  in_child(bad_launch);
  in_child(late);
  int failed = 0;
  for (int call = 0; call < CALLS; call++)
    for (int after = 0;; after++, failed++) {
      const int status = row_with_failure(calls[call], after);
      if (status == NOT_REACHED && after > 0) break;
      assert_int_equal(status, 0);
    }
  print_message("%d calls failed, each in its turn\n", failed);
}

/* ---- memory, graphs ---- */

static void memory(void) {
  devices(1);
  CHECK(chosen("cuda") == SIM_OK);
  fake.memory = (size_t)1 << 30;
  CHECK(cuda()->memory_free() < fake.memory && cuda()->memory_free() > fake.memory / 2);
  void *data = NULL;
  CHECK(cuda()->alloc((size_t)2 << 30, &data) == SIM_ERR_NO_MEMORY && !data && last_says("2147483648 bytes"));
  CHECK(cuda()->alloc_host((size_t)64 << 20, &data) == SIM_OK && data && fake.pinned && fake.pinned < data);
  cuda()->free_host(data);
  CHECK(!fake.pinned && !fake.frees);
  fake.memory = (size_t)1 << 20; /* neither allocation works */
  data = NULL;
  CHECK(cuda()->alloc_host((size_t)64 << 20, &data) == SIM_ERR_NO_MEMORY && !data && !fake.pinned);
  sim_cuda_begin(&kernel_a);
  sim_cuda_end(&kernel_a, 0); /* is not named as the cause */
  CHECK(cuda()->queue->status() == SIM_OK);
  CHECK(cuda()->alloc(0, &data) == SIM_OK && data);
  cuda()->free(data);
  cuda()->free(NULL);
}

static void graphs(void) {
  devices(1);
  const sim_backend *b = cuda();
  CHECK(chosen("cuda") == SIM_OK);
  char from[4] = "abc", to[4] = "";
  sim_graph *graph = NULL;
  CHECK(b->queue->graph_begin() == SIM_OK && b->queue->stage(to, from, 4) == SIM_OK && !*to);
  CHECK(b->queue->graph_end(&graph) == SIM_OK && graph && !*to);
  CHECK(b->queue->graph_launch(graph) == SIM_OK && strcmp(to, "abc") == 0);
  memset(to, 0, 4);
  CHECK(b->queue->graph_launch(graph) == SIM_OK && strcmp(to, "abc") == 0);
  b->queue->graph_destroy(&graph);
  b->queue->graph_destroy(&graph);
  CHECK(!graph);
  sim_profile_start(); /* it then runs at once */
  memset(to, 0, 4);
  CHECK(b->queue->graph_begin() == SIM_OK && b->queue->stage(to, from, 4) == SIM_OK && strcmp(to, "abc") == 0);
  CHECK(b->queue->graph_end(&graph) == SIM_OK && !graph);
}

/* Between ranks that exchange through the host nothing is captured. */
static void refused_graphs(void) {
  devices(1);
  const sim_backend *b = cuda();
  CHECK(chosen("cuda") == SIM_OK);
  char from[4] = "abc", to[4] = "";
  sim_graph *graph = NULL;
  sim_cuda_refuse_graphs();
  CHECK(b->queue->graph_begin() == SIM_OK && b->queue->stage(to, from, 4) == SIM_OK && strcmp(to, "abc") == 0);
  CHECK(b->queue->graph_end(&graph) == SIM_OK && !graph);
}

/* The failure of another rank: the first failure remains, with its status, and a copy after it is not used. */
static void failed_rank(void) {
  devices(1);
  const sim_backend *b = cuda();
  CHECK(chosen("cuda") == SIM_OK);
  char from[4] = "abc", to[4] = "";
  sim_cuda_failed_by(SIM_ERR_RANK, "rank 2: was killed");
  sim_cuda_failed_by(SIM_ERR_IO, "rank 1: disk full");
  launch(&kernel_a, cudaErrorLaunchFailure);
  CHECK(b->queue->status() == SIM_ERR_RANK && last_says("rank 2: was killed"));
  CHECK(b->copy(to, from, 4) == SIM_ERR_RANK && b->queue->finish() == SIM_ERR_RANK);
}

static void memory_and_graphs(void **state) {
  (void)state;
  in_child(memory);
  in_child(graphs);
  in_child(refused_graphs);
  in_child(failed_rank);
}

/* ---- times ---- */

/* 10000 launches, far more than are in progress at once, each a quarter of a millisecond by the stand-in's clock. 10
 * multiprocessors of 128 lanes at 1 GHz: 1000 fp32 in 0.25 ms are 4e6 of 1.28e12 a second. */
static void times(void) {
  devices(1);
  fake.slow = true;
  CHECK(chosen("cuda") == SIM_OK);
  sim_profile_start();
  for (int i = 0; i < 10000; i++) launch(&kernel_a, cudaSuccess);
  CHECK(cuda()->queue->finish() == SIM_OK);
  sim_bytes table = {0}, trace = {0};
  sim_profile_table(&table);
  sim_profile_trace(&trace);
  CHECK(strstr(table.data, "test_a ") && strstr(table.data, " 10000 ") && strstr(table.data, " 2.5 s "));
  CHECK(strstr(table.data, " 250 us ") && strstr(table.data, " 4e+06 fp32/s ") &&
        strstr(table.data, "1.28e+12 fp32 and"));
  const char *last = NULL;
  for (const char *at = trace.data; (at = strstr(at, "\"ts\": ")); at++) last = at;
  double ts = strtod(last + 6, NULL), first = strtod(strstr(trace.data, "\"ts\": ") + 6, NULL);
  CHECK(ts - first > 4999.5e3 - 1 && ts - first < 4999.5e3 + 1); /* us: 9999 launches of two events each */
  sim_bytes_free(&table);
  sim_bytes_free(&trace);
}

static void kernel_times(void **state) {
  (void)state;
  in_child(times);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(why_not), cmocka_unit_test(which_device),
                                     cmocka_unit_test(failures), cmocka_unit_test(memory_and_graphs),
                                     cmocka_unit_test(kernel_times)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
