/* The gas on the CPU: what its files share.
 *
 * The box is cut across its longest side into slabs of cells. Grains stand slab by slab, cell by cell; pairs of a slab
 * with itself and with the next one stand in an outer list of a wide reach, out of which an inner one of a narrow reach
 * is taken every few steps. A step is one sweep over the slabs: the contacts of slab s become events, then the slab
 * takes its own and those from s - 1, and moves. */
#ifndef COLLISION_GAS_CPU_H
#define COLLISION_GAS_CPU_H

#include "kernels/collision/gas.h"

#include <stddef.h>

enum { GAS_GROUP = 16 }; /* slots of a slab are a multiple of it, the last one empty */

/* Words from the beginning of each grain's slab. */
typedef struct gas_pair {
  uint32_t a, b;
} gas_pair;

/* Impulse on a grain; its word, and the top bit where a collision begins. */
typedef struct gas_event {
  int32_t q[3];
  uint32_t at;
} gas_event;
#define GAS_BEGUN UINT32_C(0x80000000)

typedef struct gas_list {
  gas_pair *pair;
  size_t count, room;
} gas_list;

enum { GAS_OWN, GAS_NEXT }; /* pairs within a slab, pairs with the next one */

typedef struct gas_slab {
  int64_t first, count; /* slots */
  gas_list outer[2], inner[2];
} gas_slab;

/* `stride` words a grain: x, y, z (and radius, a float), and the momentum (and w, a float). */
typedef struct gas_grains {
  uint32_t *x;
  int32_t *p;
  uint32_t *id; /* UINT32_MAX: an empty slot */
  uint32_t *collisions;
} gas_grains;

typedef struct gas_tally {
  int64_t virial, lost;
} gas_tally;

/* Which pairs: nearer than `reach`, with radii than r_a + r_b + reach. */
typedef struct gas_reach {
  bool equal;
  float length[3], reach;
} gas_reach;

typedef struct gas_rules {
  bool equal, damped, start;
  float reach; /* equal: of two grains */
  float trial; /* what is nearer may touch; over the sum of the radii where they differ */
  collision_gas_numbers numbers;
} gas_rules;

/* The two slabs of a list of pairs: words of the first grain of each; and what will be wanted soon. */
typedef struct gas_sides {
  const uint32_t *xa, *xb;
  const int32_t *pa, *pb;
  const char *ahead;
  size_t ahead_bytes;
} gas_sides;

/* Grains from ... to of a cell in slab a against ranges in slab b; x, y, z, radius stand in arrays of their own. */
typedef struct gas_cell {
  const uint32_t *a[4], *b[4];
  int64_t from, to;
  int count;
  int64_t range[6][2];
  bool self; /* a is b, and range 0 holds the cell: only what comes after the grain */
} gas_cell;

/* What an instruction set makes. All give the same impulses. */
typedef struct gas_lanes {
  /* Those of the list that are in reach, into `out`, which has room for all and 16 more. */
  size_t (*within)(const gas_reach *reach, const gas_pair *list, size_t count, const gas_sides *sides, gas_pair *out);
  /* Contacts into an event a side, each a multiple of 16 in number (empty ones fill up); room for `count` and 16. */
  size_t (*meet)(const gas_rules *rules, const gas_pair *list, size_t count, const gas_sides *sides, gas_event *on_a,
                 gas_event *on_b, gas_tally *tally);
  /* Events to the momenta of a slab. */
  void (*take)(int32_t *p, uint32_t *collisions, int stride, const gas_event *event, size_t count);
  /* Moves `count` slots, a multiple of 16; the greatest square of a velocity's size or more, in quanta. */
  float (*move)(const gas_rules *rules, int64_t count, uint32_t *x, int32_t *p);
  /* Pairs of a cell; `out` has room for all candidates and 16 more. */
  size_t (*search)(const gas_reach *reach, const gas_cell *cell, gas_pair *out);
} gas_lanes;

/* Events of a slab: impulses on it of pairs within it (two sides) and with the next slab; on the next one. A thread's
 * first slab waits for the slab before it, which is another thread's. */
enum { GAS_FIRST, GAS_NOW = 3, GAS_CARRIED = 6, GAS_BUFFERS = 8 };

typedef struct gas_team {
  gas_event *event[GAS_BUFFERS];
  size_t room;     /* of each */
  size_t first[2]; /* how many: within, with the next */
  size_t carried[2];
  gas_tally tally;
  float fastest; /* square */
  bool failed;   /* no memory for a list */
} gas_team;

struct collision_work {
  collision_options o;
  collision_state state;
  collision_gas gas;
  const gas_lanes *lanes;
  int stride, threads;
  int axis[3]; /* of slabs, rows, cells in a row */
  uint32_t cells[3];
  int64_t slots, room;
  gas_grains now, spare;
  uint32_t *order, *cell; /* [room]: sorting */
  uint32_t *cell_first;   /* [slabs][rows cells + 1], slots from the slab's first on */
  int64_t *counted;       /* [threads][slabs] */
  gas_slab *slab;
  gas_team *team;
  double outer, inner;             /* skins */
  double since_outer, since_inner; /* how much nearer two grains may have come since the lists were made */
  double fastest;                  /* speed in the step to now */
  double before;                   /* the step to now */
  double virial, lost;
  bool listed;
  sim_status failed; /* in `begin` */
};

/* How far from touch a contact may begin within half a step. */
static inline double collision_gas_margin(const collision_work *w) {
  return w->gas.damped ? w->fastest * w->before : 0;
}
/* Lists that hold for where the grains are. */
sim_status collision_gas_lists(collision_work *w) SIM_MUST_CHECK;
sim_status collision_gas_sums(collision_work *w, double t, collision_sums *out) SIM_MUST_CHECK;
/* Sums of impulses at now, [3][slots], in `w->spare.p`; counts them into `tally`. */
void collision_gas_impulses(collision_work *w, bool start, gas_tally *tally);
gas_rules collision_gas_rules(const collision_work *w, double before, double dt, bool start);
gas_sides collision_gas_sides(const collision_work *w, int64_t slab, int which);
int64_t collision_gas_next(const collision_work *w, int64_t slab);
/* Slabs of a thread. */
void collision_gas_share(const collision_work *w, int thread, int64_t *first, int64_t *end);
void collision_gas_lists_free(collision_work *w);

#endif
