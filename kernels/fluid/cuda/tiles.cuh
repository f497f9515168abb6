/* Which tiles the marching kernel has, by precision and heat. */
#ifndef FLUID_CUDA_TILES_CUH
#define FLUID_CUDA_TILES_CUH

#include "kernels/fluid/cuda/march_bulk.cuh"

#include <cuda_runtime.h>

/* Forms of the marching kernel: `wide` needs more shared memory. The figures behind them are in docs/performance.md. */
template <bool HEAT, typename real> struct tile_forms;
template <> struct tile_forms<false, float> { typedef march_form<64, 8, 2, 1, 1> wide, narrow; };
template <> struct tile_forms<true, float> {
  typedef march_bulk_form<64, 12, 1, 1, 0> wide;
  typedef march_form<64, 6, 2, 1, 0> narrow;
};
template <> struct tile_forms<false, double> {
  typedef march_form<64, 6, 1, 2, 0> wide;
  typedef march_form<64, 6, 1, 1, 0> narrow;
};
template <> struct tile_forms<true, double> { typedef march_form<64, 6, 1, 1, 0> wide, narrow; };

/* The kernel of a form. */
template <typename form, bool HEAT> struct march_kernel {
  typedef march_tile<form, HEAT> tile;
  template <bool SKIP, bool FORCE, bool EDDY, typename real> static constexpr auto function() {
    return &march<form, SKIP, FORCE, EDDY, HEAT, real>;
  }
};
template <int TX, int TY, int BLOCKS, int STAGES, int AHEAD, bool HEAT>
struct march_kernel<march_bulk_form<TX, TY, BLOCKS, STAGES, AHEAD>, HEAT> {
  typedef march_bulk_form<TX, TY, BLOCKS, STAGES, AHEAD> form;
  typedef march_bulk_tile<form, HEAT> tile;
  template <bool SKIP, bool FORCE, bool EDDY, typename real> static constexpr auto function() {
    return &march_bulk<form, SKIP, FORCE, EDDY, HEAT, real>;
  }
};

/* Columns and inner rows of a tile, and bytes of shared memory of a block. */
struct tile_size {
  int columns, rows;
  size_t bytes;
};
template <typename form, bool HEAT, typename real> static tile_size size_of_form() {
  return {form::tx, form::ty - 2, march_kernel<form, HEAT>::tile::template bytes<real>()};
}
template <bool HEAT, typename real> static tile_size size_of_tile(bool wide) {
  return wide ? size_of_form<typename tile_forms<HEAT, real>::wide, HEAT, real>()
              : size_of_form<typename tile_forms<HEAT, real>::narrow, HEAT, real>();
}
static inline tile_size tile_of(const fluid_device *d, bool wide) {
  if (d->heat) return d->single ? size_of_tile<true, float>(wide) : size_of_tile<true, double>(wide);
  return d->single ? size_of_tile<false, float>(wide) : size_of_tile<false, double>(wide);
}

/* Whether a block may have so many bytes of shared memory. */
static inline bool has_shared(size_t bytes) {
  int device = 0, most = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    return false;
  return bytes <= (size_t)most;
}

static inline int tiles_of(int n, int size) { return (n + size - 1) / size; }

#endif
