/* Log: messages go to every registered writer (terminal, run.log, run.jsonl, a test's memory). */
#ifndef SIM_ENGINE_LOG_H
#define SIM_ENGINE_LOG_H

#include <stdbool.h>

typedef enum sim_log_level { SIM_LOG_ERROR, SIM_LOG_WARN, SIM_LOG_INFO, SIM_LOG_DEBUG } sim_log_level;

typedef void sim_log_writer(void *context, sim_log_level level, const char *message);

/* Registers a writer: at most 8; returns false when all places are taken. A message is one line with control characters
 * escaped. Any thread may log; a writer gets one message at a time and must not log itself. */
bool sim_log_add(sim_log_writer *writer, void *context);
void sim_log_remove(sim_log_writer *writer, void *context);
void sim_log(sim_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *sim_log_level_name(sim_log_level level);

#endif
