/* The watch over calls of a device's driver. A thread is in a call while the observer checks it; the test sets the
 * time. */
#include "engine/device/calls.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char known[] = "known_kernel", fresh[] = "fresh_kernel", slow[] = "slow_kernel";

/* ---- a thread that makes calls ---- */

enum { IDLE, ENTER, INSIDE, RETURN };
static atomic_int act;
static const char *_Atomic kernel;
static atomic_int kind = SIM_CALL_WAITS;
static atomic_size_t moves;

static void pause_a_little(void) { (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); }

static void *caller(void *nothing) {
  for (;;) {
    while (act != ENTER) pause_a_little();
    sim_calls_move(moves);
    sim_call_begin((sim_call_kind)kind, kind == SIM_CALL_WAITS ? "wait" : "launch", kernel);
    sim_call_begin(SIM_CALL_WAITS, "nested", "another_kernel");
    act = INSIDE;
    while (act != RETURN) pause_a_little();
    sim_call_end();
    sim_call_end();
    act = IDLE;
  }
  return nothing;
}

static void enter(const char *after) {
  kernel = after;
  act = ENTER;
  while (act != INSIDE) pause_a_little();
}
static void leave(void) {
  act = RETURN;
  while (act != IDLE) pause_a_little();
}

/* Checks once a second. Returns the number of the check that finds the call too long; 0: none of `most` checks. The
 * first check only notes the call. */
static int looks(sim_call_watch *w, int most, sim_call_found *found) {
  for (int i = 0; i <= most; i++)
    if (sim_call_watch_look(w, 1, found)) return i;
  return 0;
}

static void limits(void **state) {
  (void)state;
  sim_call_watch w;
  sim_call_found found;
  sim_call_watch_begin(&w, 20, 0);
  assert_int_equal(looks(&w, 1000, &found), 0); /* no call is under way */

  enter(known); /* the first call after a kernel: ten minutes */
  assert_int_equal(looks(&w, 700, &found), 601);
  assert_string_equal(found.text, "GPU 5 has not finished its work for 601 s (wait, last kernel known_kernel; "
                                  "SIM_DEVICE_TIMEOUT sets the limit)");
  leave();
  sim_call_watch_begin(&w, 20, 0);
  /* this kernel's call has returned once, but this observer saw no duration: `longest` stays from before */
  enter(known);
  assert_int_equal(looks(&w, 19, &found), 0);
  leave();

  enter(slow); /* 5 s at first, then at most ten times the longest call, including the check that saw it end */
  assert_int_equal(looks(&w, 5, &found), 0);
  leave();
  assert_int_equal(looks(&w, 0, &found), 0);
  enter(slow);
  assert_int_equal(looks(&w, 700, &found), 61);
  leave();

  sim_call_watch_begin(&w, 20, 7); /* a step of 7 s */
  enter(slow);
  assert_int_equal(looks(&w, 700, &found), 71);
  leave();
  sim_call_watch_begin(&w, 20, 100);
  enter(fresh);
  assert_int_equal(looks(&w, 1200, &found), 1001);
  leave();
}

/* A launch returns before its kernel ends. So it says nothing about the first call that waits for the kernel, which may
 * be long. */
static void enqueued(void **state) {
  (void)state;
  static const char compiled[] = "compiled", long_one[] = "long";
  sim_call_watch w;
  sim_call_found found;
  sim_call_watch_begin(&w, 20, 0);
  kind = SIM_CALL_ENQUEUES;
  enter(long_one);
  leave();
  kind = SIM_CALL_WAITS;
  enter(long_one);
  assert_int_equal(looks(&w, 580, &found), 0);
  leave();
  assert_int_equal(looks(&w, 0, &found), 0);
  enter(long_one);
  assert_int_equal(looks(&w, 7000, &found), 5811);
  leave();
  kind = SIM_CALL_ENQUEUES;
  enter(compiled);
  assert_int_equal(looks(&w, 5, &found), 0);
  leave();
  assert_int_equal(looks(&w, 0, &found), 0);
  enter(compiled); /* it waits for a free slot in the queue */
  assert_int_equal(looks(&w, 700, &found), 61);
  leave();
  kind = SIM_CALL_WAITS;
}

/* Each gigabyte adds four seconds to the limit. */
static void bytes(void **state) {
  (void)state;
  static const char copies[] = "copies";
  sim_call_watch w;
  sim_call_found found;
  enter(copies);
  leave();
  moves = 10000000000;
  sim_call_watch_begin(&w, 20, 0);
  enter(copies);
  assert_int_equal(looks(&w, 700, &found), 61);
  leave();
  moves = 0;
  sim_call_watch_begin(&w, 20, 0);
  enter(copies);
  assert_int_equal(looks(&w, 700, &found), 21);
  leave();
}

static void setting(void **state) {
  (void)state;
  sim_call_watch w;
  sim_call_found found;
  setenv("SIM_DEVICE_TIMEOUT", "3", 1);
  sim_call_watch_begin(&w, 20, 100);
  assert_false(w.misread);
  enter("never_seen");
  assert_int_equal(looks(&w, 10, &found), 4);
  setenv("SIM_DEVICE_TIMEOUT", "0", 1);
  sim_call_watch_begin(&w, 20, 0);
  assert_int_equal(looks(&w, 100000, &found), 0);
  setenv("SIM_DEVICE_TIMEOUT", "3 hours", 1); /* not a number: the variable is ignored */
  sim_call_watch_begin(&w, 20, 0);
  assert_true(w.misread);
  assert_int_equal(looks(&w, 700, &found), 601);
  unsetenv("SIM_DEVICE_TIMEOUT");
  leave();
}

/* A device that waits for another rank: its time begins when it continues, and does not count as the device's own
 * speed. */
static void excuse(void **state) {
  (void)state;
  static volatile int words[2];
  sim_call_watch w;
  sim_call_found found;
  sim_calls_excused_by(&words[0]);
  sim_calls_excused_by(&words[1]);
  enter("excused_kernel");
  leave();
  sim_call_watch_begin(&w, 20, 0);
  enter("excused_kernel");
  assert_int_equal(looks(&w, 15, &found), 0);
  words[1] = 1;
  assert_int_equal(looks(&w, 5000, &found), 0);
  words[1] = 0;
  assert_int_equal(looks(&w, 30, &found), 20);
  words[0] = 1;
  assert_int_equal(looks(&w, 5000, &found), 0);
  leave();
  words[0] = 0;
  assert_int_equal(looks(&w, 0, &found), 0);
  enter("excused_kernel");
  assert_int_equal(looks(&w, 30, &found), 21);
  leave();
}

/* This test is the last one: the thread stays in its call. */
static void given_up(void **state) {
  (void)state;
  sim_call_watch w;
  sim_call_found found;
  sim_call_watch_begin(&w, 20, 0);
  enter(known);
  assert_int_not_equal(looks(&w, 10000, &found), 0);
  leave();
  assert_false(sim_call_give_up(&found)); /* the call has returned in time */
  sim_call_watch_begin(&w, 20, 0);
  enter(known);
  assert_int_not_equal(looks(&w, 10000, &found), 0);
  assert_true(sim_call_give_up(&found));
  act = RETURN;
  for (int i = 0; i < 500; i++) pause_a_little();
  assert_int_equal(act, RETURN);
}

int main(void) {
  pthread_t thread;
  const struct CMUnitTest tests[] = {cmocka_unit_test(limits),  cmocka_unit_test(enqueued), cmocka_unit_test(bytes),
                                     cmocka_unit_test(setting), cmocka_unit_test(excuse),   cmocka_unit_test(given_up)};
  (void)alarm(120); /* after a failure the next test would wait for the thread for ever */
  unsetenv("SIM_DEVICE_TIMEOUT");
  sim_calls_of("GPU 5");
  if (pthread_create(&thread, NULL, caller, NULL) != 0) return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
