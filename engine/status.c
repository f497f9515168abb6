#include "engine/status.h"

#include "engine/memory/bytes.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  int exit_code;
  const char *meaning;
} statuses[] = {
#define SIM_STATUS_ROW(name, code, meaning) {#name, code, meaning},
    SIM_STATUS_LIST(SIM_STATUS_ROW)
#undef SIM_STATUS_ROW
};

static _Thread_local sim_error last;

int sim_status_exit_code(sim_status status) { return statuses[status].exit_code; }
const char *sim_status_name(sim_status status) { return statuses[status].name; }
const char *sim_status_meaning(sim_status status) { return statuses[status].meaning; }

const sim_error *sim_error_last(void) { return &last; }
void sim_error_clear(void) { last = (sim_error){0}; }

sim_status sim_fail_at(sim_status status, const char *file, int line, const char *format, ...) {
  char text[sizeof last.message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  last.status = status;
  last.file = file;
  last.line = line;
  sim_text_escape(last.message, sizeof last.message, text, strlen(text));
  return status;
}

sim_status sim_no_memory_at(const char *file, int line, const char *format, ...) {
  char text[sizeof last.message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return sim_fail_at(SIM_ERR_NO_MEMORY, file, line, "out of memory for %s", text);
}

sim_status sim_fail_context(const char *format, ...) {
  char text[sizeof last.message], old[sizeof last.message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  memcpy(old, last.message, sizeof old);
  size_t used = strlen(text);
  sim_text_escape(last.message, sizeof last.message, text, used);
  used = strlen(last.message);
  snprintf(last.message + used, sizeof last.message - used, ": %.*s", (int)(sizeof old - 1), old);
  return last.status;
}
