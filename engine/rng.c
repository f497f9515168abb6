#include "engine/rng.h"

#include <Random123/philox.h>
#include <math.h>

void sim_rng_bits(uint64_t seed, uint64_t entity, uint64_t step, uint32_t draw, uint32_t out[4]) {
  philox4x32_ctr_t counter = {
      {(uint32_t)entity, (uint32_t)(entity >> 32), (uint32_t)step, (uint32_t)(step >> 32) << 16 | (draw & 0xffff)}};
  philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
  philox4x32_ctr_t words = philox4x32(counter, key);
  for (int i = 0; i < 4; i++) out[i] = words.v[i];
}

static double open_uniform(uint32_t high, uint32_t low) {
  uint64_t k = ((uint64_t)high << 32 | low) >> 11;
  /* k + 1/2 has 54 bits: in the upper half of the range it rounds to even, and the result must not become 1 */
  double u = ((double)k + 0.5) * 0x1p-53;
  return u < 1 ? u : 1 - 0x1p-53;
}

void sim_rng_uniform(uint64_t seed, uint64_t entity, uint64_t step, uint32_t draw, double out[2]) {
  uint32_t words[4];
  sim_rng_bits(seed, entity, step, draw, words);
  out[0] = open_uniform(words[0], words[1]);
  out[1] = open_uniform(words[2], words[3]);
}

void sim_rng_normal(uint64_t seed, uint64_t entity, uint64_t step, uint32_t draw, double out[2]) {
  double u[2];
  sim_rng_uniform(seed, entity, step, draw, u);
  double radius = sqrt(-2 * log(u[0])), angle = 6.283185307179586476925286766559 * u[1];
  out[0] = radius * cos(angle);
  out[1] = radius * sin(angle);
}
