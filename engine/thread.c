#include "engine/thread.h"

#include <signal.h>

int sim_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *context) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* a thread begins with the mask of its creator */
  const int error = pthread_create(thread, attributes, work, context);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}
