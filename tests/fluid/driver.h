/* Runs of the model `fluid` from a scenario's text, through its descriptor. A failure ends the test. */
#ifndef TESTS_FLUID_DRIVER_H
#define TESTS_FLUID_DRIVER_H

#include "engine/log.h"
#include "kernels/fluid/fluid.h"

typedef struct flow {
  fluid_parameters *p;
  sim_setup setup;
  sim_clock clock;
  void *self;
  sim_array arrays[SIM_ARRAYS_MAX];
  sim_species species[SIM_SPECIES_MAX];
  sim_frame frame;
  void *copies[SIM_ARRAYS_MAX]; /* of arrays that are not in host memory */
} flow;

/* Keys that all scenarios get beside their own, such as "collision = 'trt',"; at first "". */
extern const char *flow_with;

void must(sim_status status, const char *what);
/* Begins a run, or continues from `saved`. */
void flow_open(flow *f, const char *text, sim_isa isa, int threads, const sim_frame *saved);
/* The same on another kind of device. */
void flow_open_on(flow *f, const char *text, const sim_backend *backend, const sim_frame *saved);
/* The same with a reader of images and arrays. */
void flow_begin(flow *f, const char *text, const sim_backend *backend, int threads, const sim_frame *saved,
                sim_grid_reader *reader);
/* Runs on two threads of the CPU to the end, with the arrays in host memory. */
void flow_run(flow *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void flow_close(flow *f);
void flow_steps(flow *f, int64_t steps); /* that many more steps, or to the end */
void flow_look(flow *f);                 /* brings the arrays to host memory */
double flow_field(const flow *f, const char *name, int64_t x, int64_t y, int64_t z);
double flow_value(flow *f, const char *table, const char *column);
void flow_digest(flow *f, char out[33]);
/* The greatest error of the velocity in the column x of cells between walls 1 apart, n cells, along which an
 * acceleration cos(w t) acts, at the end: J. R. Womersley, J. Physiol. 127 (1955) 553, between plates. */
double flow_womersley_error(const flow *f, int64_t x, int n, double viscosity, double w);
/* 40 steps have the same bits with any threads, by plain code, and after a restart between them; and so have these
 * columns of tables then: "bodies", "ball_fx", ..., NULL. */
void flow_check_same(const char *text, const char *const columns[]);

/* Warnings, one a line. flow_hear is a sim_log_writer with this context. */
typedef struct flow_heard {
  char text[4096];
} flow_heard;
void flow_hear(void *context, sim_log_level level, const char *message);

#endif
