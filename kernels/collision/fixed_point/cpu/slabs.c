/* Fixed-point solver on the CPU: slabs, and constants of a step. GPU counterpart: the functions in cuda/work.cuh. */
#include "kernels/collision/fixed_point/cpu/work.h"

int64_t collision_fixed_next_slab(const collision_work *w, int64_t slab) {
  return slab + 1 < (int64_t)w->cells[0] ? slab + 1 : 0;
}

fixed_slab_pair collision_fixed_slab_pair(const collision_work *w, int64_t slab, int which) {
  const int64_t a = w->slab[slab].first * w->stride;
  const int64_t b = which == FIXED_WITHIN ? a : w->slab[collision_fixed_next_slab(w, slab)].first * w->stride;
  return (fixed_slab_pair){.xa = w->now.x + a, .xb = w->now.x + b, .pa = w->now.p + a, .pb = w->now.p + b};
}

void collision_fixed_thread_chain(const collision_work *w, int thread, int below, int above, int64_t *first,
                                  int64_t *end) {
  int64_t begin, last;
  collision_fixed_chain(w, below, above, &begin, &last);
  *first = begin + (last - begin) * thread / w->threads;
  *end = begin + (last - begin) * (thread + 1) / w->threads;
}

/* A contact may begin within half a step: the reach grows by that displacement. */
float collision_fixed_trial(const collision_work *w, double fastest, double before) {
  const double touch = 2 * w->system.radius[1], slack = 1e-5 * touch + (w->system.damped ? fastest * before : 0);
  return (float)((w->system.equal ? touch : 0) + slack);
}

fixed_rules collision_fixed_rules(const collision_work *w, double before, double dt, bool start) {
  return (fixed_rules){.equal = w->system.equal,
                       .damped = w->system.damped,
                       .start = start,
                       .reach = (float)w->system.radius[0] + (float)w->system.radius[0],
                       .trial = collision_fixed_trial(w, w->fastest, before),
                       .numbers = collision_fixed_point_constants(&w->system, before, dt)};
}

double collision_fixed_speed(const collision_work *w, double square) {
  return sqrt(square) * w->system.quantum / w->system.mass * (1 + 1e-6);
}

double collision_fixed_displacement_max(const collision_work *w, double dt) {
  return FIXED_POINT_MOMENTUM_MAX * w->system.quantum / w->system.mass * dt;
}
