/* The kernel of particles.h, once for each instruction set. */
#include "kernels/option/cpu/particles.h"

#include "kernels/option/cpu/motion.h"

_Static_assert(LANES <= 8 && !OPTION_SINGLE, "8 path numbers fill whole vectors");

/* Random numbers of four vectors of particles in one step: normals of the price, bits of the variance. */
typedef struct particle_draws {
  vreal z[4];
  vbits variance[4];
} particle_draws;

static inline void draw_particles(const option_particle_step *p, const stream *s, particle_draws *out) {
  const uint32_t price = (uint32_t)(OPTION_DRAW_NORMAL + p->asset), own = (uint32_t)(OPTION_DRAW_VARIANCE + p->asset);
  const uint32_t step = (uint32_t)p->step;
  if (!p->halved) {
    const bits4 bits = random_bits(s, step, own);
    four_normals(s, step, price, out->z);
    for (int k = 0; k < 4; k++) out->variance[k] = bits.bits[k];
    return;
  }
  vreal z[4];
  const bits4 one = random_bits(s, 2 * step, own), two = random_bits(s, 2 * step + 1, own);
  four_normals(s, 2 * step, price, out->z);
  four_normals(s, 2 * step + 1, price, z);
  for (int k = 0; k < 4; k++) {
    out->z[k] = (out->z[k] + z[k]) * (real)0.70710678118654752440;
    out->variance[k] = joined_bits(one.bits[k], two.bits[k]);
  }
}

option_particle_kernel OPTION_PARTICLES;
void OPTION_PARTICLES(const option_particle_step *p, uint64_t first, int count, double *x, double *v) {
  for (int at = 0; at < count; at += OPTION_PARTICLE_GROUP)
    for (int lane = 0; lane < 8; lane += LANES) {
      const stream s =
          begin_stream(p->seed, p->first + (first + (uint64_t)at) / OPTION_PARTICLE_GROUP * 8 + (uint64_t)lane);
      particle_draws draws;
      draw_particles(p, &s, &draws);
      for (int k = 0; k < 4; k++) {
        asset_state t = {0};
        vreal vol;
        memcpy(&t.x, x + at + 8 * k + lane, sizeof t.x);
        memcpy(&t.v, v + at + 8 * k + lane, sizeof t.v);
        t.x += leverage_step(p->dynamics, p->step, &t, draws.z[k], draws.variance[k], inverse_normal(draws.variance[k]),
                             &vol) +
               (real)p->drift;
        memcpy(x + at + 8 * k + lane, &t.x, sizeof t.x);
        memcpy(v + at + 8 * k + lane, &t.v, sizeof t.v);
      }
    }
}
