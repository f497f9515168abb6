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

/* ---- communication between the C blocks of a cluster ---- */

/* An arrival barrier that expects `bytes`, once. */
__device__ __forceinline__ void expect(unsigned barrier, unsigned bytes) {
  arrival_init(barrier);
  arrival_expect(barrier, bytes);
}
template <int C> __device__ __forceinline__ void all_arrive() {
  if (C > 1) cluster_arrive();
}
template <int C> __device__ __forceinline__ void all_wait() {
  if (C == 1)
    __syncthreads();
  else
    cluster_wait();
}
/* Stores 16 bytes in another block of the cluster. The barrier of that block counts them. */
template <int C>
__device__ __forceinline__ void send(unsigned at, unsigned barrier, unsigned rank, float2 a, float2 b) {
  if (C == 1)
    shared_store(at, float4{a.x, a.y, b.x, b.y});
  else
    cluster_send(at, barrier, rank, float4{a.x, a.y, b.x, b.y});
}
template <int C> __device__ __forceinline__ void received(unsigned barrier) {
  if (C == 1)
    __syncthreads();
  else
    arrival_wait(barrier, 0);
}

__device__ __forceinline__ float2 of_partner(float2 a) {
  return float2{warp_read_xor(a.x, 16), warp_read_xor(a.y, 16)};
}

/* Offset in shared memory of a number that the tensor memory accelerator copied with its 32-byte swizzle. Rows have 32
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
    expect(landing, S::TILE + 16 * QZ * 16 + NZ * 4);
    expect(first, S::TILE);
    expect(second, S::TILE);
    fence_arrivals();
    fence_bulk();
    tile_read(base, map, group * 2 * K, rank * (int)S::DEPTH, k2 * QY, landing);
    bulk_read(base + S::TURNS, g.turns_z, 16 * QZ * 16, landing);
    bulk_read(base + S::EZ, g.ez, NZ * 4, landing);
  }
  if (tid < QY) wy[tid] = ((const float2 *)g.turns_y)[tid * k2];
  const int mine = tid / QZ, k1 = rank * S::OWN + mine / K;
  const float exy = g.ex[group * K + mine % K] * g.ey[k2 + 32 * k1];
  __syncthreads();
  arrival_wait(landing, 0);

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
  fence_bulk();
  __syncthreads();
  if (tid == 0) {
    tile_write(map, group * 2 * K, rank * (int)S::DEPTH, k2 * QY, base);
    bulk_commit();
    bulk_wait_read<0>();
  }
}

#endif
