/* Threads beside the thread of the time loop. */
#ifndef SIM_ENGINE_THREAD_H
#define SIM_ENGINE_THREAD_H

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* pthread_create with all signals blocked in the new thread: the thread of the time loop handles them. The caller's own
 * mask stays as it is. Returns 0, or an errno: EAGAIN where memory for a stack or the number of threads is short. */
int sim_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *context);

#ifdef __cplusplus
}
#endif

#endif
