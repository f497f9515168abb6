/* Loops of independent operations in registers, compiled for each precision and instruction set (lanes.c). */
#ifndef SIM_ENGINE_CEILING_LANES_H
#define SIM_ENGINE_CEILING_LANES_H

/* Each function computes at least `count` vectors of operations and returns the number of operations, counted per
 * lane. */
typedef struct sim_ceiling_lanes {
  double (*fma)(long count);
  double (*rsqrt)(long count); /* fp32 only */
} sim_ceiling_lanes;

extern const sim_ceiling_lanes sim_ceiling_lanes_single_plain, sim_ceiling_lanes_double_plain;
extern const sim_ceiling_lanes sim_ceiling_lanes_single_avx2, sim_ceiling_lanes_double_avx2;
extern const sim_ceiling_lanes sim_ceiling_lanes_single_avx512, sim_ceiling_lanes_double_avx512;

#endif
