/* Reach of the lists of unequal grains, by classes of mass (work.cuh). No CPU counterpart: there each slab has its own
 * displacement. */
#ifndef COLLISION_FIXED_POINT_MASS_CLASSES_CUH
#define COLLISION_FIXED_POINT_MASS_CLASSES_CUH

#include "kernels/collision/fixed_point/cuda/work.cuh"

/* Chooses the shares of the classes, one a thread of a warp, and the reach of long lists: so that no pair is further
 * apart than the edge of a cell, and grains have at most `crowd` neighbours on average where that is possible. */
static __device__ void choose_reach(const fixed_arrays &a, const fixed_point_constants &g, fixed_control *now) {
  const float crowd = 8;
  mass_classes *const classes = a.classes;
  const uint32_t own = threadIdx.x;
  const float speed = sqrtf(__uint_as_float(classes->fastest[own])), radius = classes->radius[own];
  const float density = classes->density[own], all = warp_sum_all(density);
  const float most = warp_max_all(speed), share = most > 0 ? fmaxf(speed / most, MASS_CLASS_SHARE_MIN) : 1;
  float reach = INFINITY;
  for (int other = 0; other < MASS_CLASSES; other++) {
    const float r = warp_read(radius, other), s = warp_read(share, other);
    if (radius > 0 && r > 0) reach = fminf(reach, (2 * a.radius - radius - r + a.skin) / (0.5f * (share + s)));
  }
  reach = -warp_max_all(-reach);
  for (bool crowded = true; crowded && reach > a.skin;) {
    float near = 0;
    for (int other = 0; other < MASS_CLASSES; other++) {
      const float r = warp_read(radius, other), s = warp_read(share, other);
      const float distance = radius + r + 0.5f * reach * (share + s);
      near += density * warp_read(density, other) * (distance * distance * distance);
    }
    crowded = warp_sum_all(near) * 4.18879f > crowd * all;
    if (crowded) reach = fmaxf(0.85f * reach, a.skin);
  }
  classes->share[own] = share;
  if (own > 0) return;
  now->reach_long = reach * (1 - 1e-5f);
  now->step = g.displacement * most * 1.0001f + a.rounding;
}

#endif
