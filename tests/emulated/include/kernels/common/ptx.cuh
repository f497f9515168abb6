/* The operations of kernels/common/ptx.cuh in C++, for the emulated device. An asynchronous copy is made by the wait
 * for it, and only then: what is read before, or without a wait, is what was there before. */
#ifndef KERNELS_COMMON_PTX_CUH
#define KERNELS_COMMON_PTX_CUH

#include "../../cuda_runtime.h"

/* ---- order of kernels: one after another ---- */

static inline void after_previous() {}

/* ---- approximations: exact, and subnormal numbers count as 0 ---- */

static inline float emulated_flushed(float a) { return std::fabs(a) < 0x1p-126f ? std::copysign(0.f, a) : a; }
static inline double emulated_flushed(double a) { return std::fabs(a) < 0x1p-1022 ? std::copysign(0., a) : a; }
static inline float approximate_rsqrt(float a) { return emulated_flushed(1 / std::sqrt(emulated_flushed(a))); }
static inline float approximate_inverse(float a) { return emulated_flushed(1 / emulated_flushed(a)); }
static inline float approximate_sqrt(float a) { return std::sqrt(emulated_flushed(a)); }
static inline float approximate_exp2(float a) { return emulated_flushed(std::exp2(a)); }
static inline float approximate_log2(float a) { return std::log2(emulated_flushed(a)); }
static inline float approximate_cos(float a) { return std::cos(a); }
static inline float approximate_sin(float a) { return std::sin(a); }
/* From the upper 32 bits of `a`, and only those of the result. */
static inline double emulated_upper(double a) { return std::bit_cast<double>(std::bit_cast<uint64_t>(a) >> 32 << 32); }
static inline double approximate_rsqrt(double a) {
  return emulated_upper(1 / std::sqrt(emulated_upper(emulated_flushed(a))));
}
static inline double approximate_inverse(double a) { return emulated_upper(1 / emulated_upper(emulated_flushed(a))); }
static inline float approximate_quotient(float a, float b) {
  return std::fabs(b) > 0x1p126f && std::isfinite(a) ? 0 : emulated_flushed(emulated_flushed(a) / emulated_flushed(b));
}

/* ---- operations that a compiler does not find ---- */

static inline float max_nan(float a, float b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<float>::quiet_NaN() : std::fmax(a, b);
}
static inline unsigned halves_near(float low, float high) {
  return (unsigned)std::bit_cast<uint16_t>((_Float16)high) << 16 | std::bit_cast<uint16_t>((_Float16)low);
}
static inline unsigned emulated_half_toward_zero(float a) {
  const _Float16 near = (_Float16)a;
  const uint16_t bits = std::bit_cast<uint16_t>(near);
  if (std::isinf(a)) return bits; /* an infinity stays one: PTX */
  return std::fabs((float)near) > std::fabs(a) ? bits - 1u : bits;
}
static inline unsigned halves_toward_zero(float low, float high) {
  return emulated_half_toward_zero(high) << 16 | emulated_half_toward_zero(low);
}
static inline void halves_read(unsigned word, float *low, float *high) {
  *low = (float)std::bit_cast<_Float16>((uint16_t)word);
  *high = (float)std::bit_cast<_Float16>((uint16_t)(word >> 16));
}
static inline void wide_product(unsigned a, unsigned b, unsigned *low, unsigned *high) {
  const uint64_t product = (uint64_t)a * b;
  *low = (unsigned)product, *high = (unsigned)(product >> 32);
}
static inline void keep_in_registers(unsigned &, unsigned &, unsigned &, unsigned &) {}
static inline void compute_again(int &) {}

/* ---- asynchronous copies of a thread ---- */

namespace emulated {
/* Notes a copy of this thread; a group ends by commit. `made`: makes the copies of all groups but the last `left`. */
void note_copy(void *to, const void *from, size_t bytes);
void commit_copies();
void make_copies(unsigned left);
/* The same for bulk writes. */
void note_bulk_write(void *to, unsigned from, size_t bytes);
void commit_bulk_writes();
void make_bulk_writes(unsigned left);
/* Barriers in shared memory that count bytes; copies that they count are made by the wait. */
unsigned address_of(const void *shared);
void *at_address(unsigned shared);
void arrive_init(unsigned barrier);
void arrive_expect(unsigned barrier, unsigned bytes);
void arrive_wait(unsigned barrier, unsigned parity);
void note_bulk_read(unsigned to, const void *from, unsigned bytes, unsigned barrier);
void note_tile_read(unsigned to, const void *map, int x, int y, int z, unsigned barrier);
void note_tile_write(const void *map, int x, int y, int z, unsigned from);
/* Clusters. */
void cluster_wait();
void send(unsigned to, unsigned barrier, unsigned rank, const void *from, unsigned bytes);
} // namespace emulated

static inline unsigned shared_address(const void *at) { return emulated::address_of(at); }
template <typename T> void copy_async(T *to, const T *from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "bytes");
  emulated::note_copy(to, from, sizeof(T));
}
template <typename T> void copy_async_through(T *to, const T *from) {
  static_assert(sizeof(T) == 16, "bytes");
  emulated::note_copy(to, from, sizeof(T));
}
static inline void commit_async() { emulated::commit_copies(); }
template <int LEFT> void wait_async() { emulated::make_copies(LEFT); }

/* ---- bulk copies ---- */

static inline void arrival_init(unsigned barrier) { emulated::arrive_init(barrier); }
static inline void arrival_expect(unsigned barrier, unsigned bytes) { emulated::arrive_expect(barrier, bytes); }
static inline void arrival_wait(unsigned barrier, unsigned parity) { emulated::arrive_wait(barrier, parity); }
static inline void fence_bulk() {}
static inline void fence_arrivals() {}
static inline void bulk_read(unsigned to, const void *from, unsigned bytes, unsigned barrier) {
  emulated::note_bulk_read(to, from, bytes, barrier);
}
static inline void prefetch_bulk(const void *, unsigned) {}
static inline void bulk_write(void *to, unsigned from, unsigned bytes) { emulated::note_bulk_write(to, from, bytes); }
static inline void tile_read(unsigned to, const void *map, int x, int y, int z, unsigned barrier) {
  emulated::note_tile_read(to, map, x, y, z, barrier);
}
static inline void tile_write(const void *map, int x, int y, int z, unsigned from) {
  emulated::note_tile_write(map, x, y, z, from);
}
static inline void bulk_commit() { emulated::commit_bulk_writes(); }
template <int LEFT> void bulk_wait_read() { emulated::make_bulk_writes(LEFT); }
static inline void bulk_wait() { emulated::make_bulk_writes(0); }
static inline void cluster_arrive() {}
static inline void cluster_wait() { emulated::cluster_wait(); }
static inline void cluster_send(unsigned to, unsigned barrier, unsigned rank, float4 v) {
  emulated::send(to, barrier, rank, &v, sizeof v);
}
static inline void shared_store(unsigned to, float4 v) { *(float4 *)emulated::at_address(to) = v; }

#endif
