#include "engine/log.h"

#include "engine/memory/bytes.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WRITERS = 8 };

static struct {
  sim_log_writer *write;
  void *context;
} writers[WRITERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool sim_log_add(sim_log_writer *writer, void *context) {
  pthread_mutex_lock(&lock);
  int i = 0;
  while (i < WRITERS && writers[i].write) i++;
  if (i < WRITERS) {
    writers[i].write = writer;
    writers[i].context = context;
  }
  pthread_mutex_unlock(&lock);
  return i < WRITERS;
}

void sim_log_remove(sim_log_writer *writer, void *context) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < WRITERS; i++)
    if (writers[i].write == writer && writers[i].context == context) writers[i].write = NULL;
  pthread_mutex_unlock(&lock);
}

void sim_log(sim_log_level level, const char *format, ...) {
  char raw[2048], message[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(raw, sizeof raw, format, arguments);
  va_end(arguments);
  sim_text_escape(message, sizeof message, raw, strlen(raw));
  pthread_mutex_lock(&lock);
  for (int i = 0; i < WRITERS; i++)
    if (writers[i].write) writers[i].write(writers[i].context, level, message);
  pthread_mutex_unlock(&lock);
}

const char *sim_log_level_name(sim_log_level level) {
  static const char *const names[] = {"error", "warning", "info", "debug"};
  return names[level];
}
