/* Populations in one array, and where they are: esoteric pull (M. Lehmann, Computation 10 (2022) 92).
 *
 * A cell keeps g_c = f_c/w_c - 1 after collision, as on the CPU (cpu/trt.c). After a step of parity P (its number mod
 * 2) the population of direction c is in slot
 *
 *   c = 0   0        of the cell
 *   c odd   c + P    of the cell to which c leads
 *   c even  c - P    of the cell
 *
 * so that a step reads what arrives at a cell, and writes what leaves it, in the same numbers: those of a pair c, c + 1
 * change places. No other cell uses them in this step. Around the box neighbours are periodic; what arrives through a
 * wall is put into its slot before the step (trt_links.cuh).
 *
 * Half storage: a word has two cells, half of the last axis apart, as 2^15 g in fp16. Where a neighbour is across the
 * end of a half, its two cells change places. A number is rounded to one of its two neighbours, to each with the
 * probability that keeps the mean (stochastic rounding): 13 random bits are added below the last bit that is kept. The
 * bits are a function of seed, cell, direction and step. */
#ifndef FLUID_CUDA_SLOTS_CUH
#define FLUID_CUDA_SLOTS_CUH

#include "kernels/common/device.cuh"
#include "kernels/fluid/cuda/lattice.cuh"

/* ---- random bits ---- */

__device__ __forceinline__ unsigned mix_bits(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
/* Of a step: the same for all cells. */
__device__ __forceinline__ unsigned step_key(unsigned long long seed, unsigned long long step) {
  const unsigned low = mix_bits((unsigned)seed ^ 0x9e3779b9u), high = mix_bits((unsigned)(seed >> 32) + low);
  return mix_bits(mix_bits((unsigned)step + high) + (unsigned)(step >> 32));
}
__device__ __forceinline__ unsigned cell_bits(unsigned key, unsigned cell) {
  return mix_bits(cell * 0x9e3779b9u + key);
}
__device__ __forceinline__ unsigned next_bits(unsigned bits) { return bits * 747796405u + 2891336453u; }
/* Adds 13 bits below the last one that fp16 keeps. */
__device__ __forceinline__ float dither(float a, unsigned bits) { return __uint_as_float(__float_as_uint(a) + bits); }

/* ---- how numbers are stored ---- */

/* Numbers are populations times `one`. get, put: numbers of the cells of a word; `turned`: its cells change places,
 * which they never do without MAY_TURN. */
template <typename number> struct fluid_store_whole {
  typedef number real;
  typedef number word;
  static constexpr int cells = 1;
  static constexpr real one = 1;
  template <bool MAY_TURN> __device__ static __forceinline__ void get(word w, bool, real *out) { out[0] = w; }
  template <bool MAY_TURN> __device__ static __forceinline__ word put(const real *in, bool, unsigned *) {
    return in[0];
  }
  __device__ static __forceinline__ real get_one(const word *w, int) { return *w; }
  __device__ static __forceinline__ void put_one(word *w, int, real a, unsigned) { *w = a; }
  __device__ static __forceinline__ void put_near(word *w, int, real a) { *w = a; }
};
struct fluid_store_half {
  typedef float real;
  typedef unsigned word;
  static constexpr int cells = 2;
  static constexpr real one = 32768;
  template <bool MAY_TURN> __device__ static __forceinline__ void get(word w, bool turned, real *out) {
    halves_read(MAY_TURN ? turn(w, turned) : w, &out[0], &out[1]);
  }
  template <bool MAY_TURN> __device__ static __forceinline__ word put(const real *in, bool turned, unsigned *bits) {
    const unsigned first = next_bits(*bits), second = *bits = next_bits(first);
    const word w = halves_toward_zero(dither(in[0], first >> 19), dither(in[1], second >> 19));
    return MAY_TURN ? turn(w, turned) : w;
  }
  __device__ static __forceinline__ word turn(word w, bool turned) {
    return __byte_perm(w, 0, turned ? 0x1032 : 0x3210);
  }
  __device__ static __forceinline__ real get_one(const word *w, int cell) {
    float both[2];
    halves_read(((const unsigned short *)w)[cell], &both[0], &both[1]);
    return both[0];
  }
  __device__ static __forceinline__ void put_one(word *w, int cell, real a, unsigned bits) {
    ((unsigned short *)w)[cell] = (unsigned short)halves_toward_zero(dither(a, bits >> 19), 0);
  }
  __device__ static __forceinline__ void put_near(word *w, int cell, real a) {
    ((unsigned short *)w)[cell] = (unsigned short)halves_near(a, 0);
  }
};

/* ---- places ---- */

template <typename store> struct fluid_slots {
  int n[3], pitch, depth[2]; /* cells; words of a row; rows of a plane and planes of words */
  size_t words;              /* of a slot */
  typename store::word *state;
  int parity; /* of the step that has made the state */
};

/* A number of a cell: its word, and which of its cells. */
struct fluid_number_place {
  size_t word;
  int cell;
};

__device__ __forceinline__ int around_box(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

/* `slot` of a cell; coordinates from -n to 2 n - 1. */
template <int Q, typename store>
__device__ __forceinline__ fluid_number_place slot_place(const fluid_slots<store> &s, int slot, int x, int y, int z) {
  x = around_box(x, s.n[0]);
  y = around_box(y, s.n[1]);
  z = around_box(z, s.n[2]);
  int cell = 0;
  if constexpr (store::cells == 2) {
    int *const last = Q == 9 ? &y : &z;
    const int depth = s.depth[fluid_rank(Q) - 2];
    cell = *last >= depth;
    *last -= cell * depth;
  }
  return {(size_t)slot * s.words + ((size_t)z * (size_t)s.depth[0] + (size_t)y) * (size_t)s.pitch + (size_t)x, cell};
}

/* Where the population is that has left a cell by direction c. */
template <int Q, typename store>
__device__ __forceinline__ fluid_number_place sent_place(const fluid_slots<store> &s, int c, int x, int y, int z) {
  if (c == 0) return slot_place<Q>(s, 0, x, y, z);
  if (c % 2 == 0) return slot_place<Q>(s, c - s.parity, x, y, z);
  return slot_place<Q>(s, c + s.parity, x + component<Q>(c, 0), y + component<Q>(c, 1), z + component<Q>(c, 2));
}
/* Where the one is that arrives at a cell by direction c. */
template <int Q, typename store>
__device__ __forceinline__ fluid_number_place arriving_place(const fluid_slots<store> &s, int c, int x, int y, int z) {
  return sent_place<Q>(s, c, x - component<Q>(c, 0), y - component<Q>(c, 1), z - component<Q>(c, 2));
}

/* g_c that has left a cell by direction c. */
template <int Q, typename store>
__device__ __forceinline__ typename store::real sent(const fluid_slots<store> &s, int c, int x, int y, int z) {
  const fluid_number_place p = sent_place<Q>(s, c, x, y, z);
  return store::get_one(s.state + p.word, p.cell) / store::one;
}

#endif
