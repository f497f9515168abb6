/* cmocka, with the headers that it needs before it, and must(). */
#ifndef TESTS_MUST_H
#define TESTS_MUST_H

#include "engine/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Fails the test with the error's message. */
static inline void must(sim_status status) {
  if (status != SIM_OK) fail_msg("%s", sim_error_last()->message);
}

#endif
