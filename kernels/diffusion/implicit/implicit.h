/* Steps of a linearly implicit scheme, by the operations of a backend. */
#ifndef DIFFUSION_IMPLICIT_H
#define DIFFUSION_IMPLICIT_H

#include "kernels/diffusion/diffusion.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct diffusion_linearized diffusion_linearized;

/* The arrays of a step, vectors in the backend's memory (vectors.h). error: NULL for steps of fixed length; `next` may
 * then be `state`. */
typedef struct diffusion_implicit_step {
  const void *state;
  void *next, *error;
} diffusion_implicit_step;

void diffusion_linearized_destroy(diffusion_linearized **linearized);
/* Returns the bytes of all vectors. field: bytes of the coefficients of all fields. */
double diffusion_linearized_vector_bytes(double field);
/* Makes a step of context->h. SIM_ERR_DIVERGED where steps of fixed length find no solution; the error of others is
 * then infinite. */
sim_status diffusion_linearized_step(diffusion_linearized *linearized, const diffusion_implicit_step *step,
                                     const diffusion_step_context *context) SIM_MUST_CHECK;
diffusion_solved diffusion_linearized_solved(const diffusion_linearized *linearized);

#ifdef __cplusplus
}
#endif

#endif
