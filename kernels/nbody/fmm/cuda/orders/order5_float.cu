#include "kernels/nbody/fmm/cuda/orders.cuh"

template nbody_fmm_stages<float> nbody_fmm_stages_of<float, 5>();
