/* All stages of one order, for both types. The files in orders/ take one each, so that they are compiled side by
 * side. */
#include "kernels/nbody/fmm/cuda/down.cuh"
#include "kernels/nbody/fmm/cuda/far.cuh"
#include "kernels/nbody/fmm/cuda/near.cuh"
#include "kernels/nbody/fmm/cuda/up.cuh"

template <typename real, int P> nbody_fmm_stages<real> nbody_fmm_stages_of() {
  nbody_fmm_stages<real> s = {};
  s.moment_stride = fmm_row<real, P>::moment_stride;
  s.field_stride = fmm_row<real, P>::field_stride;
  s.up = nbody_fmm_queue_up<real, P>;
  s.far = nbody_fmm_queue_far<real, P>;
  s.down = nbody_fmm_queue_down<real, P>;
  s.near = nbody_fmm_queue_near<3, real, P>;
  if constexpr (sizeof(real) == sizeof(double)) s.potential = nbody_fmm_queue_near<1, real, P>;
  return s;
}
