/* Forces and operations of one device, for the tests that compare two. */
#ifndef TESTS_PARITY_NBODY_SIDE_H
#define TESTS_PARITY_NBODY_SIDE_H

#include "kernels/nbody/direct/cuda/direct.h"
#include "kernels/nbody/ops.h"
#include "tests/must.h"

typedef struct side {
  const nbody_ops *ops;
  nbody_forces forces;
  nbody_work *work;
} side;

static inline side side_cpu(const nbody_options *options, const nbody_state *state) {
  side s = {.ops = state->dtype == SIM_F32 ? &nbody_ops_cpu_f32 : &nbody_ops_cpu_f64,
            .forces = {.solver = &nbody_direct_cpu}};
  must(s.forces.solver->create(options, state, &s.forces.work));
  must(s.ops->create(options, state, s.forces, &s.work));
  return s;
}

/* plan NULL: the plan of a run. */
static inline side side_gpu(const nbody_options *options, const nbody_state *state, const nbody_direct_plan *plan) {
  const nbody_direct_plan chosen = nbody_direct_choose(options);
  side s = {.ops = state->dtype == SIM_F32 ? &nbody_ops_cuda_f32 : &nbody_ops_cuda_f64,
            .forces = {.solver = &nbody_direct_cuda}};
  must(nbody_direct_cuda_create(options, state, plan ? plan : &chosen, &s.forces.work));
  must(s.ops->create(options, state, s.forces, &s.work));
  return s;
}

static inline double side_start_time(const side *s) { return s->forces.solver->start_time(s->forces.work); }

static inline void side_destroy(side *s) {
  s->ops->destroy(&s->work);
  s->forces.solver->destroy(&s->forces.work);
}

#endif
