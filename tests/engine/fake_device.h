/* A simulated device. Its memory is the heap, and two threads do the queued work: the steps, and the copies to the
 * host. Each operation is delayed. */
#ifndef TESTS_UNIT_FAKE_DEVICE_H
#define TESTS_UNIT_FAKE_DEVICE_H

#include "engine/device/backend.h"

typedef struct fake_options {
  unsigned step_us, leave_us; /* delays before each operation of a step, and before each copy to the host */
  bool unstaged;              /* a planted fault: copies to the host read the live array */
  int64_t fails_at;           /* number of the steps' operation that fails, from 1; 0: none */
} fake_options;

void fake_start(const fake_options *options);
void fake_stop(void); /* waits for all queued work */
/* Queues work(data, amount), as a table of operations would. */
void fake_queue(void (*work)(void *data, double amount), void *data, double amount);
int64_t fake_most_queued(void); /* most operations of steps that were queued at one time, since the start */

extern const sim_backend fake_device;

#endif
