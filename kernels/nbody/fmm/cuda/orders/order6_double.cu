#include "kernels/nbody/fmm/cuda/orders.cuh"

template nbody_fmm_stages<double> nbody_fmm_stages_of<double, 6>();
