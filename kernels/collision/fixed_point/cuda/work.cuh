/* Fixed-point solver on an NVIDIA GPU: data that its files share. CPU counterpart: cpu/work.h.
 *
 * Grains are sorted by cell and cut into tiles of 256 consecutive grains. A tile has a list of the pairs that may
 * touch; an entry is the index of a grain in the tile (8 bits) + 2^8 times the index of its partner among all grains.
 * Pairs within a tile are listed once, others in the lists of both tiles. Long lists reach far and are made anew, with
 * a new order of the grains, about every ten steps; short lists are filtered from them more often. A step reads a
 * tile's grains once, adds up impulses in shared memory and moves the grains.
 *
 * The device decides when lists are made anew. Each launch knows the greatest displacement since either list was made.
 * A step whose short list is no longer valid uses the long list and makes a new short one. A step whose long list is
 * not valid does nothing: the host later reads how many steps were done, and queues the rest again. */
#ifndef COLLISION_FIXED_POINT_CUDA_WORK_CUH
#define COLLISION_FIXED_POINT_CUDA_WORK_CUH

#include "kernels/common/launch.cuh"
#include "kernels/collision/fixed_point/fixed_point.h"

#include "engine/comm/cuda/exchange_parts.h"
#include "engine/comm/cuda/turn.h"

#include <string.h>

enum {
  FIXED_TILE = 256,
  FIXED_SCAN = 4096,      /* cells that a thread block scans */
  FIXED_CHUNK_MIN = 10,   /* least number of steps between two decisions about long lists */
  FIXED_SHORT_STEPS = 22, /* reach of short lists over the greatest displacement of a step: they last half as many */
  MASS_CLASSES = 32       /* two an octave of mass */
};

/* The lists of a tile. */
enum fixed_list { FIXED_LONG, FIXED_SHORT, FIXED_LISTS };

/* A grain: position and momentum. Where grains differ, 32 bytes with radius and weight. */
struct alignas(8) fixed_grain {
  uint32_t x[3];
  int32_t p[3];
  static constexpr bool equal = true;
  __device__ float r(float radius) const { return radius; }
  __device__ float w() const { return 1; }
};
struct alignas(16) fixed_mixed_grain {
  uint32_t x[3];
  int32_t p[3];
  float radius, weight;
  static constexpr bool equal = false;
  __device__ float r(float) const { return radius; }
  __device__ float w() const { return weight; }
};

/* Classes of mass: among unequal grains the light ones are fast. A class allows its grains a share of the displacement
 * after which lists become invalid: the greatest speed in the class over that of all grains, as measured when long
 * lists are made. Displacements `moved` and `step` are divided by this share. */
struct mass_classes {
  unsigned fastest[MASS_CLASSES]; /* greatest square of a velocity, as the bits of a float */
  float share[MASS_CLASSES];      /* at least MASS_CLASS_SHARE_MIN */
  float radius[MASS_CLASSES];     /* greatest; 0: the class is empty */
  float density[MASS_CLASSES];    /* grains a volume */
};
#define MASS_CLASS_SHARE_MIN 0.0625f
/* Class of a weight >= 1: its exponent and first binary digit. */
__host__ __device__ inline uint32_t mass_class_of(float weight) {
  uint32_t bits;
  memcpy(&bits, &weight, sizeof bits);
  const uint32_t above = (bits >> 22) - 254;
  return above < MASS_CLASSES ? above : MASS_CLASSES - 1;
}

/* FIXED_LOST: the ranks together have not all grains. */
enum fixed_fault { FIXED_FAST = 1, FIXED_CROWDED = 2, FIXED_CROWDED_CELL = 4, FIXED_LOST = 8 };

/* State of the lists, written by each launch for the next one. */
struct fixed_control {
  float moved, moved_short; /* displacement since long and short lists were made, */
  float step;               /* and in the last step: of any grain, over its share */
  float reach_long;         /* gap up to which pairs are in long lists */
  float reach_short;        /* and in short lists */
  int buffer, order;        /* index of the current array of grains; of ids and collisions */
  int rebuild;              /* long lists are rebuilt in this launch */
  int rebuilds, prunes;     /* long and short lists made since the start */
  long long done;           /* steps made */
};

struct fixed_cells {
  uint32_t count[3], block[3]; /* cells along x, y, z; cells of a block (block[0] unused) */
  uint32_t blocks[2];          /* blocks along y, z; along y of the own layers */
  uint32_t all;                /* all cells, with padding */
  uint32_t first, layers;      /* own layers of cells along y: the first one and their number */
  uint32_t edge;               /* layers at either end of them whose grains come first; alone: 0 */
  uint32_t row[2];             /* distance of rows along x and y, in cells */
};

/* Bound of the cells: two a grain, and padding of blocks. */
inline uint64_t fixed_cells_most(uint64_t n) { return 2 * n + 65536; }

/* ---- ranks: see ranks.cuh ---- */

enum fixed_side { FIXED_LOWER, FIXED_UPPER, FIXED_SIDES };

/* What a rank tells all others when lists are rebuilt. */
struct fixed_census {
  uint32_t n, edge[FIXED_SIDES];  /* own grains; those in the first and in the last own layer */
  unsigned fastest[MASS_CLASSES]; /* see mass_classes */
};

/* What ranks write into each other's memory, apart from grains; [rank] is the rank that writes. */
struct fixed_mail {
  unsigned long long word[4][SIM_RANKS_MAX]; /* of launch k in k & 3: see fixed_word */
  unsigned long long meeting[SIM_RANKS_MAX]; /* number of the last meeting */
  fixed_census census[SIM_RANKS_MAX];
  unsigned arrived;   /* grains that have come to this rank */
  unsigned abandoned; /* this rank has given up its waits */
};

/* The grains of a rank, in its own memory; written when lists are rebuilt. */
struct fixed_share {
  uint32_t n, tiles;           /* own grains */
  uint32_t before;             /* n of the order before, and the grains that came */
  uint32_t boundary;           /* own grains of the edge layers: the first ones */
  uint32_t ghosts[2];          /* of the upper side, which come first, and of the lower side */
  uint32_t base[FIXED_SIDES];  /* slot of this rank's first ghost at the neighbour, or in `out`; */
  uint32_t there[FIXED_SIDES]; /* and the neighbour's number of own grains */
  uint32_t sent[FIXED_SIDES];  /* grains that left, where the host brings them */
  uint32_t counted[3];         /* n and edges of the next census */
  unsigned ended;              /* thread blocks that have ended */
};

/* How a rank reaches the others. With peer pointers kernels store into the others' memory; else into `out`, and the
 * host brings it there. */
struct fixed_ranks {
  int rank, size;
  bool peers;
  bool divided; /* the own layers have neighbours */
  int neighbour[FIXED_SIDES];
  int beyond;                  /* the rank above the upper neighbour */
  char *memory[SIM_PEERS_MAX]; /* shared memory of each rank, all with the same layout */
  fixed_mail *mail;            /* this rank's */
  fixed_share *share;          /* NULL: alone */
  uint32_t *send;              /* [n]: slot of an own grain's ghost, + 2^31 for the upper side; or FIXED_NOWHERE */
  void *out;                   /* [n]: grains for neighbours, in the memory of `whole` */
  uint32_t *out_id, *out_collisions; /* [n] */
  sim_peer_words *words;
  unsigned delay; /* for tests: longest delay of a word in microseconds */
};
#define FIXED_NOWHERE 0xffffffffu

/* Arrays in device memory. */
struct fixed_arrays {
  uint32_t n, tiles;
  float *mass;    /* [n], by id; unequal grains only */
  void *grain[2]; /* [tiles 256] fixed_grain or fixed_mixed_grain */
  uint32_t *id[2], *collisions[2];
  uint4 *scratch;               /* [tiles 256]: spheres (float4) while lists are made; impulses during observations */
  uint16_t *rank;               /* [n]: of a grain in its cell */
  uint32_t *cell;               /* [all + 1]: count, then first grain */
  uint32_t *row;                /* order of the grains by cells in rows along z, while lists are made */
  uint32_t *scan;               /* sums of blocks of FIXED_SCAN cells, of `cell` and `row` */
  uint32_t *slot;               /* grain of a sphere while lists are made; of an id during observations */
  uint32_t *pair[FIXED_LISTS];  /* [tiles][room] */
  uint32_t *count[FIXED_LISTS]; /* [tiles] */
  uint32_t room[FIXED_LISTS];   /* entries of a tile's list; a multiple of FIXED_TILE */
  unsigned *need;               /* [FIXED_LISTS]: greatest number of entries that found no room */
  fixed_control *control;       /* [2] */
  unsigned *motion;             /* [4]: greatest square of a velocity, launch k in k & 3, as the bits of a float */
  int *fault;
  unsigned long long *tally; /* four times virial and dissipated energy: low 32 bits and the rest, each */
  mass_classes *classes;     /* NULL: equal grains */
  unsigned long long *whole; /* [FIXED_WHOLE][n] by id, gathered for observations; NULL: alone */
  fixed_cells cells;
  fixed_ranks ranks;
  float skin;     /* edge of the cells less the greatest diameter */
  float radius;   /* greatest */
  float rounding; /* bound of the rounding of displacements, over the least share */
};

/* Sums over contacts, as integers. */
enum {
  FIXED_ELASTIC,
  FIXED_STRESS,
  FIXED_TOUCHING = FIXED_STRESS + 6,
  FIXED_VIRIAL,
  FIXED_DISSIPATED,
  FIXED_OVERLAP,
  FIXED_MOMENTUM,
  FIXED_CONTACT_SUMS = FIXED_MOMENTUM + 3
};

/* Rows of `whole`: x0 x1, x2 p0, p1 p2, impulses 0 1, impulse 2 and collisions; two words of 32 bits each. */
enum { FIXED_WHOLE = 5 };

/* Own grains and tiles. */
__device__ inline uint32_t own_grains(const fixed_arrays &a) { return a.ranks.share != NULL ? a.ranks.share->n : a.n; }
__device__ inline uint32_t own_tiles(const fixed_arrays &a) {
  return a.ranks.share != NULL ? a.ranks.share->tiles : a.tiles;
}

/* The control of launch k: as written by launch k - 1, with the displacement of that launch. square: of the greatest
 * velocity in that launch, as the bits of a float. */
__device__ inline fixed_control current_control(const fixed_arrays &a, const fixed_point_constants &g, unsigned k,
                                                unsigned square) {
  fixed_control now = a.control[k & 1];
  if (square > 0) {
    now.step = g.displacement * sqrtf(__uint_as_float(square)) * 1.0001f + a.rounding;
    now.moved += now.step;
    now.moved_short += now.step;
  }
  return now;
}

/* Whether a list of this reach is valid after displacements of `moved`; dashpots act at gaps up to `margin`. */
__device__ inline bool list_holds(float moved, float margin, float reach) { return 2 * moved + margin <= reach; }

/* Ends a tile's list. Where entries found no room, later steps wait until the host has made it. */
__device__ inline void finish_list(const fixed_arrays &a, fixed_list list, uint32_t tile, unsigned entries) {
  a.count[list][tile] = min(entries, a.room[list]);
  if (entries <= a.room[list]) return;
  atomicMax(&a.need[list], entries);
  atomicOr(a.fault, FIXED_CROWDED);
}

__device__ inline uint32_t fixed_cell_of(uint32_t x, uint32_t count) { return __umulhi(x, count); }

/* lists.cu: decides whether long lists are rebuilt, and rebuilds them with a new order of the grains. */
struct collision_work;
void collision_fixed_cuda_lists(collision_work *w);
/* step.cu: enqueues a step. */
void collision_fixed_cuda_step(collision_work *w);
/* contacts.cu: impulses at the current positions into `scratch`, and sums over contacts. `start`: moves the momenta
 * half a step back, too. */
void collision_fixed_cuda_contact_sums(collision_work *w, bool start);

/* ---- ranks.cu; these functions do nothing for one rank ---- */

/* What a launch has written for other ranks. */
enum fixed_stage { FIXED_MIGRATED, FIXED_COUNTED, FIXED_PUSHED, FIXED_STEPPED, FIXED_LISTED };

/* Bytes of device memory that `create` allocates; grain: of one grain. */
double collision_fixed_cuda_ranks_bytes(const collision_options *options, size_t grain);
/* Opens the exchange and allocates the arrays that ranks share: grains, ids, collisions. */
sim_status collision_fixed_cuda_ranks_create(collision_work *w, size_t grain);
void collision_fixed_cuda_ranks_destroy(collision_work *w);
/* Divides the layers of cells by the grains of the state, and tells what this rank owns. All ranks call it. */
sim_status collision_fixed_cuda_ranks_load(collision_work *w);
/* Whether grain i of the state is in one of this rank's layers. */
bool collision_fixed_cuda_owns(const collision_work *w, int64_t i);
/* While lists are made: sends away grains that have left the own layers; puts ghosts in order. */
void collision_fixed_cuda_migrate(collision_work *w);
void collision_fixed_cuda_ghosts(collision_work *w);
/* Without peer pointers: the host brings to the other ranks what the last launch has written for them. */
void collision_fixed_cuda_bring(collision_work *w, fixed_stage stage);
/* Fills `whole` with the grains of all ranks, after collision_fixed_cuda_contact_sums. */
void collision_fixed_cuda_gather(collision_work *w);
/* Combines numbers of all ranks: sums of integers, but the greatest overlap; two words a tally. */
sim_status collision_fixed_cuda_add(const collision_work *w, long long *pair_sums, unsigned long long tally[4]);
/* Combines faults of all ranks; takes back those that the last launch has told. */
sim_status collision_fixed_cuda_agree_fault(const collision_work *w, int *fault);
sim_status collision_fixed_cuda_clear_fault(const collision_work *w);
/* From now on the ghosts are out of date: the next launch makes new lists. */
sim_status collision_fixed_cuda_outdate(collision_work *w);

struct collision_work {
  collision_options options;
  collision_state state;
  fixed_point_system system;
  fixed_point_constants numbers;
  fixed_arrays arrays;
  void *memory, *lists;
  sim_status failed;    /* error of `begin` */
  long long *pair_sums; /* [FIXED_CONTACT_SUMS] */
  double *partial;      /* [FIXED_GRAIN_SUMS][blocks of 256], then [FIXED_GRAIN_SUMS] of all */
  void *output;         /* fixed_output */
  unsigned launch;
  int undecided, chunk;   /* steps queued since the last decision; steps between two decisions */
  long long queued;       /* steps queued since `load` */
  long long confirmed;    /* number of queued steps that are known to be made */
  double before;          /* length of the last step */
  bool uneven;            /* the step before had another length */
  sim_exchange *exchange; /* NULL: alone */
  sim_turn *turn;
  fixed_census *census; /* [ranks], where the host brings them */
  long long brought;    /* steps made before the last launch, there */
};

/* ---- sums.cu: observations, after collision_fixed_cuda_contact_sums ---- */

enum {
  FIXED_MASS,
  FIXED_KINETIC,
  FIXED_ANGULAR,
  FIXED_FLUX = FIXED_ANGULAR + 3,
  FIXED_COLLISIONS = FIXED_FLUX + 6,
  FIXED_GRAIN_SUMS
};
enum { FIXED_OUTPUT = 1 << 17 }; /* grains copied at once */
struct fixed_output {
  unsigned long long word[3][FIXED_OUTPUT], collisions[FIXED_OUTPUT];
  float position[3][FIXED_OUTPUT], velocity[3][FIXED_OUTPUT];
};

/* Sums over grains in the order of ids, and sums of momenta in half quanta. */
void collision_fixed_cuda_grain_sums(collision_work *w);
/* Writes grains first ... first + count - 1, by id, to w->output. */
void collision_fixed_cuda_output(collision_work *w, int64_t first, int64_t count);

/* Number of thread blocks of 256 that fill the device, but at most as many as `work` threads need. */
unsigned collision_cuda_grid(int per_multiprocessor, uint64_t work);

#endif
