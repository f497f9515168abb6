/* The lattices for device code, and where the moments of a cell are in memory. Twin: lattice.h, whose order of
 * directions this is. */
#ifndef FLUID_CUDA_LATTICE_CUH
#define FLUID_CUDA_LATTICE_CUH

#include "kernels/fluid/cuda/work.h"

/* A lattice is named by Q, its directions: 9, 19 or 27. fluid_directions: of the one of fewest directions. */
__host__ __device__ constexpr int fluid_directions(int rank) { return rank == 2 ? 9 : 19; }
__host__ __device__ constexpr int fluid_rank(int q) { return q == 9 ? 2 : 3; }
__host__ __device__ constexpr int fluid_moments(int rank) { return rank == 2 ? 6 : 10; }
/* Numbers of a cell. */
__host__ __device__ constexpr int fluid_numbers_of_cell(int rank, bool heat) {
  return fluid_moments(rank) + (heat ? 1 + rank : 0);
}

/* Direction `c`: how many axes it moves along, which (a < b, and z of three), and where to. */
struct fluid_way {
  int axes, a, sa, b, sb, sz;
  __host__ __device__ constexpr int along(int axis) const {
    return axes > 0 && a == axis ? sa : axes > 1 && b == axis ? sb : axes > 2 ? sz : 0;
  }
};
__host__ __device__ constexpr fluid_way fluid_way_of(int q, int c) {
  const int rank = fluid_rank(q), sign = c % 2 ? 1 : -1;
  if (c == 0) return {0, 0, 0, 0, 0, 0};
  if (c <= 2 * rank) return {1, (c - 1) / 2, sign, 0, 0, 0};
  if (c >= 19) { /* +++, ++-, +-+, +--, each before its opposite */
    const int which = (c - 19) / 2;
    return {3, 0, sign, 1, which < 2 ? sign : -sign, which % 2 ? -sign : sign};
  }
  const int plane = (c - 2 * rank - 1) / 4, which = (c - 2 * rank - 1) % 4; /* xy, xz, yz; ++, --, +-, -+ */
  return {2, plane == 2 ? 1 : 0, sign, plane == 0 ? 1 : 2, which < 2 ? sign : -sign, 0};
}
__host__ __device__ constexpr int fluid_opposite_of(int c) { return c ? ((c - 1) ^ 1) + 1 : 0; }

/* Component of a direction along an axis. */
template <int Q> __device__ __forceinline__ int component(int c, int axis) {
  constexpr int RANK = fluid_rank(Q);
  const int sign = c & 1 ? 1 : -1;
  if (c == 0) return 0;
  if (c <= 2 * RANK) return (c - 1) / 2 == axis ? sign : 0;
  if (Q == 27 && c >= 19) return fluid_way_of(Q, c).along(axis);
  const int plane = (c - 2 * RANK - 1) / 4, equal = (c - 2 * RANK - 1) % 4 < 2, a = plane == 2, b = plane == 0 ? 1 : 2;
  return axis == a ? sign : axis == b ? (equal ? sign : -sign) : 0;
}

/* The weight of a direction is fluid_share(Q, c)/fluid_shares(Q). */
__host__ __device__ constexpr int fluid_shares(int q) { return q == 27 ? 216 : 36; }
__host__ __device__ constexpr int fluid_share(int q, int c) {
  if (q == 27) return c == 0 ? 64 : c <= 6 ? 16 : c < 19 ? 4 : 1;
  return c == 0 ? (q == 9 ? 16 : 12) : c <= 2 * fluid_rank(q) ? (q == 9 ? 4 : 2) : 1;
}

__host__ __device__ inline size_t fluid_place(const fluid_layout &l, int x, size_t row) {
  return (row * (size_t)l.groups + (size_t)(x / FLUID_GROUP)) * (size_t)(l.numbers * FLUID_GROUP) +
         (size_t)(x % FLUID_GROUP);
}
/* The word of a cell in a mask [rows][groups] of bits. */
__host__ __device__ inline size_t fluid_word(const fluid_layout &l, int x, size_t row) {
  return row * (size_t)l.groups + (size_t)(x / FLUID_GROUP);
}
/* mask NULL: no bits. */
__host__ __device__ inline bool fluid_has_bit(const uint32_t *mask, const fluid_layout &l, int x, size_t row) {
  return mask && (mask[fluid_word(l, x, row)] >> (x % FLUID_GROUP) & 1);
}

#endif
