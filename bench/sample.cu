/* Direct sum as NVIDIA's N-body sample does it, to compare with: one body a thread, tiles of bodies in shared memory,
 * every ordered pair, float4 in and out. Written anew after L. Nyland, M. Harris and J. Prins, GPU Gems 3, chapter 31;
 * compiled with --use_fast_math, as the sample is. */
#include <cuda_runtime.h>

enum { THREADS = 256 };

__global__ void sample(const float4 *bodies, float4 *accelerations, int n, float softening2) {
  __shared__ float4 tile[THREADS];
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const float4 mine = bodies[i];
  float3 a = {0, 0, 0};
  for (int first = 0; first < n; first += THREADS) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
#pragma unroll 128
    for (int j = 0; j < THREADS; j++) {
      const float4 q = tile[j];
      const float dx = q.x - mine.x, dy = q.y - mine.y, dz = q.z - mine.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2), s = q.w * inverse * inverse * inverse;
      a.x += dx * s;
      a.y += dy * s;
      a.z += dz * s;
    }
    __syncthreads();
  }
  accelerations[i] = make_float4(a.x, a.y, a.z, 0);
}

/* n is a multiple of 256. */
extern "C" void bench_sample(const void *bodies, void *accelerations, int n, float softening2, void *stream) {
  sample<<<(unsigned)(n / THREADS), THREADS, 0, (cudaStream_t)stream>>>((const float4 *)bodies, (float4 *)accelerations,
                                                                        n, softening2);
}
