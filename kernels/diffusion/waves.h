/* Wavenumbers along axes. */
#ifndef DIFFUSION_WAVES_H
#define DIFFUSION_WAVES_H

#include <stdbool.h>
#include <stdint.h>

#define DIFFUSION_PI 3.14159265358979323846

/* Returns the angular wavenumber of mode 1 along a periodic axis of this length. */
static inline double diffusion_first_wave(double size) { return 2 * DIFFUSION_PI / size; }

/* The same along any axis: half a wave lies between two walls. */
static inline double diffusion_axis_wave(bool periodic, double size) {
  return (periodic ? 2 * DIFFUSION_PI : DIFFUSION_PI) / size;
}

/* Whether a mode of a periodic axis of n cells is its own mirror image: k and -k are one wave, so that i k is 0. */
static inline bool diffusion_mirrors_itself(int64_t mode, int64_t n) { return 2 * (mode < 0 ? -mode : mode) == n; }

#endif
