/* Errors. Library code never exits, prints or aborts: it returns a sim_status and records file, line and message for
 * the calling thread. Only the command prints and exits. */
#ifndef SIM_ENGINE_STATUS_H
#define SIM_ENGINE_STATUS_H

#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, exit code, meaning): the list of all errors. */
#define SIM_STATUS_LIST(X)                                                                                             \
  X(SIM_OK, 0, "done")                                                                                                 \
  X(SIM_ERR_USAGE, 64, "usage")                                                                                        \
  X(SIM_ERR_SCENARIO, 65, "bad scenario")                                                                              \
  X(SIM_ERR_NO_INPUT, 66, "no such file")                                                                              \
  X(SIM_ERR_NO_DEVICE, 69, "no usable device")                                                                         \
  X(SIM_ERR_INTERNAL, 70, "internal error")                                                                            \
  X(SIM_ERR_NO_MEMORY, 71, "out of memory")                                                                            \
  X(SIM_ERR_CANT_CREATE, 73, "cannot create, or the folder is in use")                                                 \
  X(SIM_ERR_IO, 74, "I/O")                                                                                             \
  X(SIM_ERR_STOPPED, 75, "stopped early, checkpoint saved: continue with sim resume")                                  \
  X(SIM_ERR_PERMISSION, 77, "permission")                                                                              \
  X(SIM_ERR_INCOMPATIBLE, 78, "checkpoint not compatible")                                                             \
  X(SIM_ERR_DIVERGED, 80, "diverged (NaN, energy)")                                                                    \
  X(SIM_ERR_DEVICE, 81, "device failed")                                                                               \
  X(SIM_ERR_RANK, 82, "a rank was lost")                                                                               \
  X(SIM_ERR_FAULTS, 83, "sim verify or sim doctor has found faults")

typedef enum sim_status {
#define SIM_STATUS_ENUM(name, code, meaning) name,
  SIM_STATUS_LIST(SIM_STATUS_ENUM)
#undef SIM_STATUS_ENUM
      SIM_STATUS_COUNT
} sim_status;

int sim_status_exit_code(sim_status status);
const char *sim_status_name(sim_status status);
const char *sim_status_meaning(sim_status status);

/* The last error of the calling thread. */
typedef struct sim_error {
  sim_status status;
  const char *file; /* source file that reported it */
  int line;
  char message[1024]; /* one line for the user, control characters escaped */
} sim_error;

const sim_error *sim_error_last(void);
void sim_error_clear(void);

/* Records an error and returns its status: `return sim_fail(SIM_ERR_IO, "%s: %s", path, strerror(errno));` */
#define sim_fail(status, ...) sim_fail_at((status), __FILE__, __LINE__, __VA_ARGS__)
sim_status sim_fail_at(sim_status status, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* Records that memory for the named thing cannot be allocated, and returns SIM_ERR_NO_MEMORY: `return
 * sim_no_memory("%zu grains", n);` says "out of memory for 12 grains". */
#define sim_no_memory(...) sim_no_memory_at(__FILE__, __LINE__, __VA_ARGS__)
sim_status sim_no_memory_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Prepends "context: " to the recorded message; returns the recorded status. */
sim_status sim_fail_context(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

/* Returns from the calling function if an expression gives an error. */
#define SIM_TRY(expression)                                                                                            \
  do {                                                                                                                 \
    sim_status sim_try_status = (expression);                                                                          \
    if (sim_try_status != SIM_OK) return sim_try_status;                                                               \
  } while (0)

/* The same for functions with a cleanup label: sets `status`, and jumps to `label` on an error. */
#define SIM_TRY_GOTO(status, expression, label)                                                                        \
  do {                                                                                                                 \
    (status) = (expression);                                                                                           \
    if ((status) != SIM_OK) goto label;                                                                                \
  } while (0)

#define SIM_MUST_CHECK __attribute__((warn_unused_result))

#ifdef __cplusplus
}
#endif

#endif
