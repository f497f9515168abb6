/* Scenarios of the model `option` that have a kernel of their own each: of motions, payoffs, Greeks and controls. */
#ifndef TESTS_PARITY_OPTION_CASES_H
#define TESTS_PARITY_OPTION_CASES_H

#include "tests/option/option_driver.h"

typedef struct option_case {
  const char *name;
  void (*make)(pricing *d);
  int steps, control;
  bool antithetic, greeks;
  int method;
  double vol, maturity;
  bool jumps;  /* bumped prices of payoffs that jump */
  bool second; /* cross gammas, vanna, volga and charm too */
} option_case;

enum { OPTION_CASES = 88 };
extern const option_case option_cases[OPTION_CASES];

void option_case_make(pricing *d, int which, sim_precision precision, const sim_backend *backend);

#endif
