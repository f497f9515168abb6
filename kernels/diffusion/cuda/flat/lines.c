/* Tables and sizes of the lines of flat/lines.cuh. */
#include "kernels/diffusion/cuda/work.h"
#include "kernels/diffusion/waves.h"

#include <math.h>
#include <stdlib.h>

int diffusion_flat_pitch(int n, int lines) { /* flat_line::PITCH */
  const int c = n / 256, part = c > 1 ? 16 * (c + 1) + c % 16 : 17;
  return 16 * part + 16 / lines % 16;
}

static void put_turn(float *at, int64_t index, int64_t n) {
  const double angle = -2 * DIFFUSION_PI * (double)(index % n) / (double)n;
  at[0] = (float)cos(angle);
  at[1] = (float)sin(angle);
}

/* floats that flat_turn() reads for a point */
enum { TURNS = 6 };
static size_t turns_of(int64_t n) { return 2 * TURNS * (size_t)(n / 16 + n / 256); }
static void fill_turns(float *at, int64_t n) {
  static const int64_t powers[TURNS] = {1, 2, 3, 4, 8, 12};
  const int64_t threads = n / 16, c = n / 256;
  for (int a = 0; a < TURNS; a++) {
    for (int64_t j = 0; j < threads; j++) put_turn(at + 2 * (a * threads + j), powers[a] * j, n);
    for (int64_t i = 0; i < c; i++) put_turn(at + 2 * (TURNS * threads + a * c + i), powers[a] * i, threads);
  }
}

sim_status diffusion_flat_turns(int axes, const int64_t *n, void **memory, const void **turns) {
  size_t count = 0, at = 0;
  for (int a = 0; a < axes; a++) count += turns_of(n[a]);
  float *host = calloc(count, sizeof *host);
  if (!host) return sim_no_memory("the scheme's tables");
  for (int a = 0; a < axes; at += turns_of(n[a++])) fill_turns(host + at, n[a]);
  const sim_status status = diffusion_cuda_upload(host, count, memory);
  at = 0;
  for (int a = 0; a < axes; at += turns_of(n[a++])) turns[a] = (float *)*memory + at;
  free(host);
  return status;
}
