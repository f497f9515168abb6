/* The solvers of each device, and their creation. */
#include "kernels/collision/run.h"

const collision_ops_pair *collision_ops_of(sim_backend_kind kind) {
  static const collision_ops_pair ops[SIM_BACKEND_KINDS] = {
      [SIM_BACKEND_CPU] = {&collision_ops_cpu_f32, &collision_ops_cpu_f64, &collision_fixed_point_cpu},
#ifdef SIM_HAS_CUDA
      [SIM_BACKEND_CUDA] = {&collision_ops_cuda_f32, &collision_ops_cuda_f64, &collision_fixed_point_cuda},
#endif
  };
  return &ops[kind];
}

sim_status collision_create_work(collision_run *run, double t) {
  const sim_buffer *a = run->array;
  const collision_state state = {.n = run->n,
                                 .room = run->room,
                                 .radius = a[COLLISION_RADIUS].data,
                                 .mass = a[COLLISION_MASS].data,
                                 .position = a[COLLISION_POSITION].data,
                                 .velocity = a[COLLISION_VELOCITY].data,
                                 .spin = a[COLLISION_SPIN].data,
                                 .acceleration = a[COLLISION_ACCELERATION].data,
                                 .angular_acceleration = a[COLLISION_ANGULAR_ACCELERATION].data,
                                 .material = a[COLLISION_MATERIAL].data,
                                 .collisions = a[COLLISION_COLLISIONS].data,
                                 .dissipated = a[COLLISION_DISSIPATED].data,
                                 .virial = a[COLLISION_VIRIAL].data,
                                 .contact_grain = a[COLLISION_CONTACT_GRAIN].data,
                                 .contact_partner = a[COLLISION_CONTACT_PARTNER].data,
                                 .contact_spring = a[COLLISION_CONTACT_SPRING].data,
                                 .work = a[COLLISION_WORK].data,
                                 .pull = a[COLLISION_PULL].data,
                                 .pull_left = &run->pull_left,
                                 .temperature = a[COLLISION_TEMPERATURE].data,
                                 .wall_heat = a[COLLISION_WALL_HEAT].data,
                                 .wall_spring = a[COLLISION_WALL_SPRING].data,
                                 .crossed = a[COLLISION_CROSSED].data,
                                 .pose = a[COLLISION_POSES].data,
                                 .live = run->varies ? &run->n : NULL,
                                 .bodies = run->bodies,
                                 .body = a[COLLISION_BODIES].data,
                                 .body_of = a[COLLISION_BODY].data,
                                 .member = a[COLLISION_MEMBER].data,
                                 .orientation = a[COLLISION_ORIENTATION].data,
                                 .time = t,
                                 .quanta = a[COLLISION_QUANTA].data};
  return run->ops->create(&run->options, &state, &run->work);
}
