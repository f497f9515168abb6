#include "engine/ceiling/lanes.h"

#include <math.h>

#if CEILING_ISA > 0
#include <immintrin.h>
#endif

#if CEILING_ISA == 2 && CEILING_SINGLE
typedef __m512 vector;
enum { WIDTH = 16 };
#define SET(a) _mm512_set1_ps((float)(a))
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define RSQRT(a) _mm512_rsqrt14_ps(a)
#define FIRST(a) ((double)_mm512_cvtss_f32(a))
#elif CEILING_ISA == 2
typedef __m512d vector;
enum { WIDTH = 8 };
#define SET(a) _mm512_set1_pd(a)
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define FIRST(a) _mm512_cvtsd_f64(a)
#elif CEILING_ISA == 1 && CEILING_SINGLE
typedef __m256 vector;
enum { WIDTH = 8 };
#define SET(a) _mm256_set1_ps((float)(a))
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define RSQRT(a) _mm256_rsqrt_ps(a)
#define FIRST(a) ((double)_mm256_cvtss_f32(a))
#elif CEILING_ISA == 1
typedef __m256d vector;
enum { WIDTH = 4 };
#define SET(a) _mm256_set1_pd(a)
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define FIRST(a) _mm256_cvtsd_f64(a)
#else /* a multiplication and an addition: a processor without these vectors may have no FMA */
#if CEILING_SINGLE
typedef float vector;
#define RSQRT(a) (1 / sqrtf(a))
#else
typedef double vector;
#endif
enum { WIDTH = 1 };
#define SET(a) ((vector)(a))
#define FMA(a, b, c) ((a) * (b) + (c))
#define FIRST(a) ((double)(a))
#endif

enum { CHAINS = 12 }; /* at least latency times ports, and no more than the registers hold */

static volatile double keep;

static double fma_loop(long count) {
  vector sum[CHAINS];
  const vector factor = SET(0.999), term = SET(0.001);
  for (int k = 0; k < CHAINS; k++) sum[k] = SET(k);
  for (long i = 0; i < count; i += CHAINS) {
#pragma GCC unroll 12
    for (int k = 0; k < CHAINS; k++) sum[k] = FMA(sum[k], factor, term);
  }
  for (int k = 0; k < CHAINS; k++) keep = FIRST(sum[k]);
  return (double)((count + CHAINS - 1) / CHAINS) * CHAINS * WIDTH;
}

#if CEILING_SINGLE
static double rsqrt_loop(long count) {
  vector x[CHAINS];
  for (int k = 0; k < CHAINS; k++) x[k] = SET(k + 1);
  for (long i = 0; i < count; i += CHAINS) {
#pragma GCC unroll 12
    for (int k = 0; k < CHAINS; k++) x[k] = RSQRT(x[k]);
  }
  for (int k = 0; k < CHAINS; k++) keep = FIRST(x[k]);
  return (double)((count + CHAINS - 1) / CHAINS) * CHAINS * WIDTH;
}
#else
#define rsqrt_loop 0
#endif

const sim_ceiling_lanes SIM_CEILING_LANES = {fma_loop, rsqrt_loop};
