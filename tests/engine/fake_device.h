/* A device that is none: its memory is the heap, and two threads of its own do what is queued, the steps and the copies
 * that leave, each operation late. */
#ifndef TESTS_UNIT_FAKE_DEVICE_H
#define TESTS_UNIT_FAKE_DEVICE_H

#include "engine/device/backend.h"

typedef struct fake_options {
  unsigned step_us, leave_us; /* before each operation of a step, before each copy that leaves */
  bool unstaged;              /* a planted fault: what leaves is the live array */
  int64_t fails_at;           /* steps' operation that fails, from 1; 0: none */
} fake_options;

void fake_start(const fake_options *options);
void fake_stop(void); /* waits for all that is queued */
/* Queues work(data, amount); as an ops table would. */
void fake_queue(void (*work)(void *data, double amount), void *data, double amount);
int64_t fake_most_queued(void); /* steps' operations at one time, since the start */

extern const sim_backend fake_device;

#endif
