/* Power spectra of real fields on periodic grids of two or three axes, in double. Ranks and threads may divide the
 * work: planes of the last axis, then pieces of the spectrum; the bits do not depend on who makes which. */
#ifndef FFT_POWER_H
#define FFT_POWER_H

#include "kernels/common/fft/fft.h"

/* Number of the bin of a wavenumber whose square is k2: of `count` bins about 0, 1, 2, ... times `least`, each that
 * wide, of which the last has all wavenumbers above. One midway between two bins belongs to the upper one, with a
 * margin for the rounding of k2 and least. */
int fft_bin(double k2, double least, int count);

typedef struct fft_power fft_power;

/* For fields of n[0] x n[1] (x n[2]) numbers in a box of sides size[rank]. Free by fft_power_destroy.
 * SIM_ERR_NO_MEMORY.
 */
sim_status fft_power_create(int rank, const int64_t n[3], const double size[3], sim_isa isa, int threads,
                            fft_power **out) SIM_MUST_CHECK;
void fft_power_destroy(fft_power **power);
double fft_power_bytes(int rank, const int64_t n[3], int threads); /* bytes that fft_power_create allocates */
/* The least wavenumber above 0: 2 pi over the longest side. */
double fft_power_least(const fft_power *power);

/* 1. Transforms planes first <= i < end of the last axis of a field along the other axes: of two axes, rows. field:
 * [nz][ny][nx] in host memory, float or double. */
void fft_power_planes(fft_power *power, bool single, const void *field, int64_t first, int64_t end);
/* The transformed planes and the bytes of one, which ranks gather before step 2. */
void *fft_power_data(fft_power *power, size_t *plane);
/* 2. Adds the power of the field in each bin to partial[pieces][bins], pieces first <= i < end. The sum over pieces and
 * bins is the mean of the field's square (Parseval). */
int64_t fft_power_pieces(const fft_power *power);
void fft_power_add(fft_power *power, int64_t first, int64_t end, int bins, double *partial);

#endif
