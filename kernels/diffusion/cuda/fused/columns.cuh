/* The second pass: for all z and QY rows y1 of one k2, the transform along y of QY points and along z, the
 * multiplier, and the inverse. A tile is 4 kx wide; a cluster of C thread blocks holds it, each a range of z before
 * the transform along z and a share of the lines (k1, kx) during it. fp32, periodic, NY = 32 QY, NZ = 32 QZ.
 *
 * z = j + QZ m; a thread holds V neighbouring m of one j and kx, and all y1. Two neighbouring m are exchanged
 * together: where a thread has but one (NY = 1024), lanes l and l + 16 hold them, and each sends both for every
 * other k1. */
#ifndef DIFFUSION_CUDA_FUSED_COLUMNS_CUH
#define DIFFUSION_CUDA_FUSED_COLUMNS_CUH

#include "kernels/diffusion/cuda/dft.cuh"
#include "kernels/diffusion/cuda/fused/fused.cuh"

template <int NY, int NZ, int C> struct columns_shape {
  enum {
    QY = NY / 32,
    QZ = NZ / 32,
    K = COLUMNS_WIDE,
    LINES = QY * K / C,            /* lines of a block */
    OWN = QY / C > 0 ? QY / C : 1, /* k1 of a block */
    THREADS = LINES * QZ,
    DEPTH = NZ / C, /* z of a block */
    M = 32 / C,
    V = 32 / QY,
    PITCH = line_pitch<QZ>(),
    TILE = QY * DEPTH * K * 8, /* bytes */
    TURNS = LINES * PITCH * 8, /* offsets in shared memory */
    EZ = TURNS + 16 * QZ * 16,
    WY = EZ + NZ * 4,
    BARRIERS = WY + QY * 8,
    BYTES = BARRIERS + 32
  };
};

/* ---- tensor memory accelerator, transaction barriers and clusters ---- */

__device__ __forceinline__ unsigned shared_address(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }

__device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void copy_in(unsigned to, const void *from, unsigned bytes, unsigned barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
__device__ __forceinline__ void barrier_wait(unsigned barrier) {
  asm volatile("{\n.reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n"
               "@!done bra again;\n}" ::"r"(barrier)
               : "memory");
}
template <int C> __device__ __forceinline__ void all_arrive() {
  if (C == 1) return;
  asm volatile("fence.acq_rel.cta;" ::: "memory"); /* reads finish before other blocks write there */
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
template <int C> __device__ __forceinline__ void all_wait() {
  if (C == 1)
    __syncthreads();
  else
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
/* Stores 16 bytes in another block of the cluster, whose barrier counts them. */
template <int C>
__device__ __forceinline__ void send(unsigned at, unsigned barrier, unsigned rank, float2 a, float2 b) {
  if (C == 1) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(at), "f"(a.x), "f"(a.y), "f"(b.x), "f"(b.y)
                 : "memory");
  } else {
    unsigned there, counter;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(counter) : "r"(barrier), "r"(rank));
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(there),
        "f"(a.x), "f"(a.y), "f"(b.x), "f"(b.y), "r"(counter)
        : "memory");
  }
}
template <int C> __device__ __forceinline__ void received(unsigned barrier) {
  if (C == 1)
    __syncthreads();
  else
    barrier_wait(barrier);
}

__device__ __forceinline__ float2 of_partner(float2 a) {
  return float2{__shfl_xor_sync(~0u, a.x, 16), __shfl_xor_sync(~0u, a.y, 16)};
}

/* Offset in shared memory of a number that the tensor memory accelerator copied with its 32-byte swizzle: rows of 32
 * bytes; rows 8 apart are 256 bytes apart. */
__device__ __forceinline__ int landed(int row, int kx) {
  const int at = row * 32 + kx * 8;
  return at ^ (at >> 7 & 1) << 4;
}

/* ---- the pass ---- */

template <int NY, int NZ, int C>
__device__ __forceinline__ void columns_pass(const diffusion_map *map, const diffusion_fused &g) {
  typedef columns_shape<NY, NZ, C> S;
  constexpr int QY = S::QY, QZ = S::QZ, K = S::K, V = S::V, M = S::M;
  extern __shared__ __align__(1024) unsigned char memory[];
  float4 *turns = (float4 *)(memory + S::TURNS);
  float *ez = (float *)(memory + S::EZ);
  float2 *wy = (float2 *)(memory + S::WY);
  const unsigned base = shared_address(memory), landing = base + S::BARRIERS, first = landing + 8,
                 second = landing + 16;
  const int tid = threadIdx.x, group = blockIdx.x / C, rank = blockIdx.x % C, k2 = blockIdx.y;
  if (tid == 0) {
    barrier_expect(landing, S::TILE + 16 * QZ * 16 + NZ * 4);
    barrier_expect(first, S::TILE);
    barrier_expect(second, S::TILE);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
                 "%4}], [%5];" ::"r"(base),
                 "l"(map), "r"(group * 2 * K), "r"(rank * (int)S::DEPTH), "r"(k2 * QY), "r"(landing)
                 : "memory");
    copy_in(base + S::TURNS, g.turns_z, 16 * QZ * 16, landing);
    copy_in(base + S::EZ, g.ez, NZ * 4, landing);
  }
  if (tid < QY) wy[tid] = ((const float2 *)g.turns_y)[tid * k2];
  const int mine = tid / QZ, k1 = rank * S::OWN + mine / K;
  const float exy = g.ex[group * K + mine % K] * g.ey[k2 + 32 * k1];
  __syncthreads();
  barrier_wait(landing);

  /* transform along y */
  const int lane = tid % 32, warp = tid / 32;
  constexpr int NEAR = V == 1 ? 4 : 8; /* j of a warp */
  const int odd = V == 1 ? lane / 16 : 0;
  const int j = lane % NEAR + NEAR * (warp % (QZ / NEAR)), kx = lane / NEAR % K;
  const int m0 = V == 1 ? 2 * (warp / (QZ / NEAR)) + odd : V * (warp / (QZ / NEAR)); /* first m of the thread */
  unsigned char *const tile = memory + landed(QZ * m0 + j, kx);
  float2 v[32];
#pragma unroll
  for (int y1 = 0; y1 < QY; y1++)
#pragma unroll
    for (int i = 0; i < V; i++) v[i * QY + y1] = *(const float2 *)(tile + (y1 * S::DEPTH + QZ * i) * 32);
  all_arrive<C>();
#pragma unroll
  for (int y1 = 1; y1 < QY; y1++) {
    const float2 w = wy[y1];
#pragma unroll
    for (int i = 0; i < V; i++) v[i * QY + y1] = dft_times(v[i * QY + y1], w);
  }
#pragma unroll
  for (int i = 0; i < V; i++) dft<-1, QY>(v + i * QY);
  all_wait<C>();
  const int pair = (rank * M + m0) / 2;
#pragma unroll
  for (int k = 0; k < QY; k += V == 1 ? 2 : 1) {
    if constexpr (V == 1) {
      const float2 other = of_partner(odd ? v[k] : v[k + 1]);
      send<C>(base + (((k + odd) % S::OWN * K + kx) * S::PITCH + (pair * QZ + j) * 2) * 8, first, (k + odd) / S::OWN,
              odd ? other : v[k], odd ? v[k + 1] : other);
    } else {
#pragma unroll
      for (int i = 0; i < V; i += 2)
        send<C>(base + ((k % S::OWN * K + kx) * S::PITCH + ((pair + i / 2) * QZ + j) * 2) * 8, first, k / S::OWN,
                v[i * QY + k], v[(i + 1) * QY + k]);
    }
  }
  received<C>(first);

  /* transform along z, multiplier, inverse */
  float2 *line = (float2 *)memory + mine * S::PITCH;
  const int lj = tid % QZ;
#pragma unroll
  for (int i = 0; i < 16; i++) {
    const float4 two = *(const float4 *)&line[(i * QZ + lj) * 2];
    v[2 * i] = float2{two.x, two.y};
    v[2 * i + 1] = float2{two.z, two.w};
  }
  line_out<QZ, -1>(v, line, turns, lj);
#pragma unroll
  for (int i = 0; i < 32; i++) {
    const float e = exy * ez[lj + QZ * (i / QZ) + 32 * (i % QZ)];
    v[i] = float2{v[i].x * e, v[i].y * e};
  }
  line_back<QZ, 1>(v, line, lj);
  all_arrive<C>();
  line_end<QZ, 1>(v, turns, lj);
  all_wait<C>();
#pragma unroll
  for (int i = 0; i < 16; i++)
    send<C>(base + (((k1 * K + mine % K) * (M / 2) + i % (M / 2)) * QZ + lj) * 16, second, i / (M / 2), v[2 * i],
            v[2 * i + 1]);
  received<C>(second);

  /* inverse along y */
#pragma unroll
  for (int k = 0; k < QY; k += V == 1 ? 2 : 1) {
    if constexpr (V == 1) {
      const float4 two = *(const float4 *)(memory + ((((k + odd) * K + kx) * (M / 2) + m0 / 2) * QZ + j) * 16);
      const float2 a = {two.x, two.y}, b = {two.z, two.w}, other = of_partner(odd ? a : b);
      v[k] = odd ? other : a;
      v[k + 1] = odd ? b : other;
    } else {
#pragma unroll
      for (int i = 0; i < V; i += 2) {
        const float4 two = *(const float4 *)(memory + (((k * K + kx) * (M / 2) + (m0 + i) / 2) * QZ + j) * 16);
        v[i * QY + k] = float2{two.x, two.y};
        v[(i + 1) * QY + k] = float2{two.z, two.w};
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < V; i++) dft<1, QY>(v + i * QY);
#pragma unroll
  for (int y1 = 0; y1 < QY; y1++) {
    const float2 w = wy[y1];
#pragma unroll
    for (int i = 0; i < V; i++)
      *(float2 *)(tile + (y1 * S::DEPTH + QZ * i) * 32) = y1 ? dft_times_conjugate(v[i * QY + y1], w) : v[i * QY];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (tid == 0) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map),
                 "r"(group * 2 * K), "r"(rank * (int)S::DEPTH), "r"(k2 * QY), "r"(base)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}

#endif
