/* A model for the simulated device and for the CPU, with a known state at step k: element i of `position` is i + k, of
 * `hidden` -k. */
#ifndef TESTS_UNIT_FAKE_MODEL_H
#define TESTS_UNIT_FAKE_MODEL_H

#include "engine/run/run.h"

#include <stdatomic.h>

enum { FAKE_N = 40 };

typedef struct fake_state {
  const sim_backend *backend;
  double *position, *hidden; /* [3][FAKE_N] and [FAKE_N], in the backend's memory */
  uint64_t id[FAKE_N];
  double controller[2];     /* changed by the host within a step */
  int64_t nan_step, nan_at; /* position[nan_at] is NaN from nan_step on; -1: never */
  int64_t stop_step;        /* a stop is requested within this step; -1: never */
  sim_requests requests;
  _Atomic int64_t steps; /* number of steps queued so far */
} fake_state;

/* `self` is the fake_state. */
extern const sim_model fake_model;

/* `backend` is ready: &fake_device after fake_start, or the CPU's. saved NULL: a fresh start. */
sim_status fake_state_create(fake_state *state, const sim_backend *backend, const sim_frame *saved) SIM_MUST_CHECK;
void fake_state_destroy(fake_state *state); /* call when nothing is queued */

#endif
