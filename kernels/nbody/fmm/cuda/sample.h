/* Direct sums over all bodies for a sample of them, on an NVIDIA GPU. */
#ifndef NBODY_FMM_CUDA_SAMPLE_H
#define NBODY_FMM_CUDA_SAMPLE_H

#include "kernels/nbody/solver.h"

/* Device memory in bytes that both functions need. */
size_t nbody_fmm_sample_bytes();

/* Fills in out[9][count], on the host, for bodies numbers[count], count <= NBODY_SAMPLES, on the host: the state's
 * acceleration by component; the sums of m d / (d^2 + softening^2)^(3/2) over all other bodies, in fp64; the positions.
 * In a periodic box of edge `box` (0: open space) the sums have all images, by `table` of nbody_lattice_fill_table on
 * the device. Waits for the device; SIM_ERR_DEVICE. */
sim_status nbody_fmm_sample(const nbody_state *state, double softening, double box, const double *table,
                            const int64_t *numbers, int count, void *memory, double *out);
/* Fills in out[2][count], on the host, for the same bodies: m times the potential by multipoles over G and the squared
 * unit of masses, from of_body[n] in the order of id[n], both on the device; and the sum of m m' / s over all other
 * bodies. per_edge: on the device. Waits for the device; SIM_ERR_DEVICE. */
sim_status nbody_fmm_sample_energy(const nbody_state *state, double softening, double box, const double *table,
                                   const unsigned *id, const double *of_body, const double *per_edge,
                                   const int64_t *numbers, int count, void *memory, double *out);

#endif
