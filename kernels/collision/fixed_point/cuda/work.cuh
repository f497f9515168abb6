/* The gas in whole numbers (kernels/collision/fixed_point/fixed_point.h) on an NVIDIA GPU: what its files share.
 *
 * Grains stand in the order of cells, cut into tiles of 256. A tile has a list of pairs that may touch: a grain's place
 * in it, in 8 bits, and 2^8 times the place of any grain. Those within the tile are there once, others in both tiles'
 * lists. Long lists reach far and are made anew every some ten steps, with a new order; short ones are taken from them
 * more often. A step reads a tile's grains once, adds impulses in shared memory and moves the grains.
 *
 * The device decides. Each launch knows how far any grain has moved since either list was made: a step whose short list
 * no longer holds runs over the long one and makes a new short one, and one whose long list does not hold leaves all as
 * it is: the host finds at the next look how many steps were done, and queues the rest. */
#ifndef COLLISION_CUDA_GAS_CUH
#define COLLISION_CUDA_GAS_CUH

#include "kernels/collision/launch.cuh"
#include "kernels/collision/fixed_point/fixed_point.h"

#include <string.h>

enum {
  GAS_TILE = 256,
  GAS_SCAN = 4096,      /* cells that a thread block sums over */
  GAS_CHUNK_LEAST = 10, /* steps between two decisions whether to make lists anew */
  GAS_SHORT_STEPS = 22, /* reach of short lists, in moves of the fastest: for half as many steps */
  GAS_CLASSES = 32      /* of masses in a mix: two an octave */
};

/* A tile's lists. */
enum gas_list { GAS_LONG, GAS_SHORT, GAS_LISTS };

/* A grain. In a mix, 32 bytes with its radius and inverse mass. */
struct alignas(8) gas_grain {
  uint32_t x[3];
  int32_t p[3];
  static constexpr bool equal = true;
  __device__ float r(float radius) const { return radius; }
  __device__ float w() const { return 1; }
};
struct alignas(16) gas_mixed_grain {
  uint32_t x[3];
  int32_t p[3];
  float radius, weight;
  static constexpr bool equal = false;
  __device__ float r(float) const { return radius; }
  __device__ float w() const { return weight; }
};

/* In a mix small grains are fast and large ones slow. What a list allows a grain to move is a share of its reach, by
 * the class of its mass: the fastest of the class over the fastest of all when long lists are made. `moved` and `step`
 * are in units of it: the most that any grain moves, each over its share. */
struct gas_classes {
  unsigned fastest[GAS_CLASSES]; /* greatest square of a velocity, as bits of a float */
  float share[GAS_CLASSES];      /* of the reach; at least GAS_SHARE_LEAST */
  float radius[GAS_CLASSES];     /* greatest; 0: there are none */
  float density[GAS_CLASSES];    /* grains in a unit of volume */
};
#define GAS_SHARE_LEAST 0.0625f
/* Of a weight of at least 1: its exponent and first digit. */
__host__ __device__ inline uint32_t gas_class_of(float weight) {
  uint32_t bits;
  memcpy(&bits, &weight, sizeof bits);
  const uint32_t above = (bits >> 22) - 254;
  return above < GAS_CLASSES ? above : GAS_CLASSES - 1;
}

enum gas_fault { GAS_FAST = 1, GAS_CROWDED = 2, GAS_CROWDED_CELL = 4 };

/* Written by each launch for the next; two, taken in turns. */
struct gas_control {
  float moved, moved_short; /* length that any grain may have moved since long and short lists were made */
  float step;               /* in the last step */
  float reach_long;         /* gap up to which pairs are in long lists, */
  float reach_short;        /* and in short ones */
  int buffer, order;        /* which of two arrays hold the grains, and what is only moved by sorting */
  int rebuild;              /* lists are made anew now */
  int rebuilds, prunes;     /* lists made since the start */
  long long done;           /* steps */
};

struct gas_cells {
  uint32_t count[3], block[3]; /* cells along x, y, z; in a block of the order (block[0] unused) */
  uint32_t blocks[2];          /* along y, z */
  uint32_t all;                /* with those that fill up the last blocks */
};

struct gas_arrays {
  uint32_t n, tiles;
  float *mass;    /* [n], by id; of a mix alone */
  void *grain[2]; /* [tiles 256] gas_grain or gas_mixed_grain */
  uint32_t *id[2], *collisions[2];
  uint4 *place;               /* floats while lists are made: position and radius; impulses when looked at */
  uint16_t *rank;             /* in its cell */
  uint32_t *cell;             /* [all + 1]: count, then first grain */
  uint32_t *row;              /* the same of cells in rows along z, as places stand while lists are made */
  uint32_t *scan;             /* of blocks of GAS_SCAN cells, of both */
  uint32_t *slot;             /* of a place while lists are made; of an id when looked at */
  uint32_t *pair[GAS_LISTS];  /* [tiles][room] */
  uint32_t *count[GAS_LISTS]; /* [tiles] */
  uint32_t room[GAS_LISTS];   /* entries of a tile's list; a multiple of GAS_TILE */
  unsigned *need;             /* [GAS_LISTS]: of a tile, where there was no room */
  gas_control *control;       /* [2] */
  unsigned *motion;           /* [4]: greatest square of a velocity in the last launches, as bits of a float */
  int *fault;
  unsigned long long *tally; /* four times virial and loss: a word of 32 bits and what is above, each */
  gas_classes *classes;      /* of a mix alone */
  gas_cells cells;
  float skin;     /* the edge of cells above the diameter of the largest */
  float radius;   /* of all, where they are equal; of the largest */
  float rounding; /* of moves to whole units, at most, over the least share */
};

/* What a look finds, as whole numbers. */
enum {
  GAS_ELASTIC,
  GAS_STRESS,
  GAS_TOUCHING = GAS_STRESS + 6,
  GAS_VIRIAL,
  GAS_LOST,
  GAS_OVERLAP,
  GAS_MOMENTUM,
  GAS_LOOKS = GAS_MOMENTUM + 3
};

/* The control of launch k, from that before: with what the launch before has moved. */
__device__ inline gas_control gas_now(const gas_arrays &a, const collision_gas_numbers &g, unsigned k) {
  gas_control now = a.control[k & 1];
  const unsigned square = a.motion[(k - 1) & 3];
  if (square > 0) {
    now.step = g.way * sqrtf(__uint_as_float(square)) * 1.0001f + a.rounding;
    now.moved += now.step;
    now.moved_short += now.step;
  }
  return now;
}

/* Whether a list of this reach still has all that may touch; a dashpot acts from `margin` on. */
__device__ inline bool gas_holds(float moved, float margin, float reach) { return 2 * moved + margin <= reach; }

/* Of a tile's list: where there was no room, what comes next waits until the host has made it. */
__device__ inline void gas_listed(const gas_arrays &a, gas_list list, uint32_t tile, unsigned entries) {
  a.count[list][tile] = min(entries, a.room[list]);
  if (entries <= a.room[list]) return;
  atomicMax(&a.need[list], entries);
  atomicOr(a.fault, GAS_CROWDED);
}

__device__ inline uint32_t gas_cell_of(uint32_t x, uint32_t count) { return __umulhi(x, count); }

/* `collision_cuda_rebuild` decides, and if so makes order and lists. */
struct gas_work;
void collision_cuda_rebuild(gas_work *w);
void collision_cuda_step(gas_work *w);
/* At contacts of now; `start`: and takes half a step back. */
void collision_cuda_look(gas_work *w, bool start);

struct gas_work {
  collision_options options;
  collision_state state;
  collision_gas gas;
  collision_gas_numbers numbers;
  gas_arrays arrays;
  void *memory, *lists;
  sim_status failed; /* in `begin` */
  long long *looked; /* [GAS_LOOKS] */
  double *partial;   /* [GAS_QUANTITIES][blocks of 256], then [GAS_QUANTITIES] of all */
  void *staged;      /* what leaves in pieces */
  unsigned launch;
  int since, chunk; /* steps queued since the last decision; between two */
  long long wanted; /* steps queued, in all, */
  long long seen;   /* and when it was last looked how many of them were done */
  double before;    /* length of the last step */
  bool uneven;      /* and that before was another */
};

/* ---- gas_observe.cu: after a look ---- */

enum { GAS_MASS, GAS_KINETIC, GAS_ANGULAR, GAS_FLUX = GAS_ANGULAR + 3, GAS_COLLISIONS = GAS_FLUX + 6, GAS_QUANTITIES };
enum { GAS_PIECE = 1 << 17 }; /* grains that leave at once */
struct gas_piece {
  unsigned long long word[3][GAS_PIECE], collisions[GAS_PIECE];
  float position[3][GAS_PIECE], velocity[3][GAS_PIECE];
};

/* Sums over grains in the order of ids, [GAS_QUANTITIES], and of momenta, in half quanta. */
void collision_cuda_sums(gas_work *w);
/* Into the piece: grains from `first` on, by id. */
void collision_cuda_stage(gas_work *w, int64_t first, int64_t count);

/* Thread blocks of 256 that fill the device, but no more than there is work for. */
unsigned collision_cuda_grid(int per_multiprocessor, uint64_t work);

#endif
