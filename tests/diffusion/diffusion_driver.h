/* Runs of the model `diffusion` from a scenario's text, through its descriptor. A failure ends the test. */
#ifndef TESTS_DIFFUSION_DRIVER_H
#define TESTS_DIFFUSION_DRIVER_H

#include "engine/run/run.h"
#include "kernels/diffusion/diffusion.h"

typedef struct system_run {
  diffusion_parameters *p;
  sim_setup setup;
  sim_clock clock;
  void *self;
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
  sim_frame frame;
} system_run;

extern char current[4096]; /* the text that was decoded last; failures print it */

void must(sim_status status, const char *what);
/* Decodes the text's parameters. Returns false where it has faults, and copies them to `faults` (512 bytes, may be
 * NULL). */
bool decode(system_run *s, const char *text, char *faults);
void open_with(system_run *s, const char *text, sim_isa isa, int threads, const sim_frame *saved);
void shut(system_run *s);
void run_to(system_run *s, int64_t step);
void look(system_run *s); /* computes the real fields at this step */
double value(const system_run *s, int field, int64_t cell);
int64_t cells(const system_run *s);
/* Runs a text to its end and leaves the fields in `s`. */
void whole(system_run *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Runs a text to its end, by one thread with plain instructions; and again from a checkpoint of the step `step`, by
 * three threads with the best instructions. Computes the real fields of both. */
void restart_at(int64_t step, const char *text, system_run *s, system_run *again);
/* Reads field `number` of a case from data/FILE, whose sections are "NAME NUMBER COUNT" and as many values. out[count]
 */
void read_reference(const char *file, const char *name, int number, int64_t count, double *out);
double distance(const system_run *a, const system_run *b); /* the largest difference of all values */
/* Returns the largest difference of field 0 from a function of x on one axis. */
double distance_from(const system_run *s, double (*exact)(double x));

#endif
