/* Operations on an NVIDIA GPU: of the fixed-point solver and of the general one. */
#ifndef COLLISION_CUDA_OPS_H
#define COLLISION_CUDA_OPS_H

#include "kernels/collision/collision.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const collision_ops collision_ops_cuda_f32, collision_ops_cuda_f64, collision_gas_ops_cuda;

#ifdef __cplusplus
}
#endif

#endif
