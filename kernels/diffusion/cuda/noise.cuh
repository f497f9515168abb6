/* White noise, or random forcing, of a step: the random numbers of sim_rng_normal (engine/rng.h). */
#ifndef DIFFUSION_CUDA_NOISE_CUH
#define DIFFUSION_CUDA_NOISE_CUH

typedef struct diffusion_noise {
  unsigned key[2], step[2]; /* seed and step, low and high halves */
  unsigned fields;          /* bit f: field f fluctuates, or is forced */
} diffusion_noise;

#ifndef __CUDACC_RTC__
/* Of the step of this number, whose draws have step + 1 as their key (enum diffusion_draw). */
static inline diffusion_noise noise_of_step(unsigned long long seed, long long step, unsigned fields) {
  diffusion_noise noise;
  for (int i = 0; i < 2; i++) {
    noise.key[i] = (unsigned)(seed >> 32 * i);
    noise.step[i] = (unsigned)(((unsigned long long)step + 1) >> 32 * i);
  }
  noise.fields = fields;
  return noise;
}
#endif

#ifdef __CUDACC__
/* Philox4x32-10 and Box-Muller: two numbers. */
__device__ inline void noise_normals(const diffusion_noise &noise, unsigned long long cell, unsigned draw,
                                     double out[2]) {
  unsigned c[4] = {(unsigned)cell, (unsigned)(cell >> 32), noise.step[0], noise.step[1] << 16 | draw};
  unsigned key[2] = {noise.key[0], noise.key[1]};
#pragma unroll
  for (int round = 0; round < 10; round++, key[0] += 0x9E3779B9u, key[1] += 0xBB67AE85u) {
    const unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    c[0] = (unsigned)(b >> 32) ^ c[1] ^ key[0];
    c[1] = (unsigned)b;
    c[2] = (unsigned)(a >> 32) ^ c[3] ^ key[1];
    c[3] = (unsigned)a;
  }
  double u[2];
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const unsigned long long k = ((unsigned long long)c[2 * i] << 32 | c[2 * i + 1]) >> 11;
    u[i] = ((double)k + 0.5) * 0x1p-53;
    if (u[i] >= 1) u[i] = 1 - 0x1p-53;
  }
  const double radius = sqrt(-2 * log(u[0])), angle = 6.283185307179586476925286766559 * u[1];
  out[0] = radius * cos(angle);
  out[1] = radius * sin(angle);
}
__device__ inline double noise_normal(const diffusion_noise &noise, unsigned long long cell, unsigned draw) {
  double out[2];
  noise_normals(noise, cell, draw, out);
  return out[0];
}
#endif

#endif
