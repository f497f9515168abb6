#include "kernels/nbody/cpu/normals.h"

#include "kernels/nbody/start/bodies.h"

#include "engine/expr/trig.h"
#include "engine/rng.h"

static const double two_pi = 6.283185307179586476925286766559;

void nbody_draw_normals(uint64_t seed, int64_t step, int64_t first, int64_t count, double out[3][NBODY_NORMALS]) {
  double last[NBODY_NORMALS];
  for (int64_t k = 0; k < count; k++) {
    double u[2], w[2];
    sim_rng_uniform(seed, (uint64_t)(first + k), (uint64_t)step, NBODY_DRAW_BATH, u);
    sim_rng_uniform(seed, (uint64_t)(first + k), (uint64_t)step, NBODY_DRAW_BATH_Z, w);
    out[0][k] = u[0], out[1][k] = u[1];
    out[2][k] = w[0], last[k] = w[1];
  }
  for (int64_t k = 0; k < count; k++) {
    const double radius = sqrt(-2 * lane_log(out[0][k])), turn = two_pi * out[1][k];
    out[0][k] = radius * lane_cos(turn);
    out[1][k] = radius * lane_sin(turn);
    out[2][k] = sqrt(-2 * lane_log(out[2][k])) * lane_cos(two_pi * last[k]);
  }
}
