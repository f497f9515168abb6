/* The gas on the CPU: what its files share.
 *
 * The box is cut across its longest side into slabs of cells. Grains stand slab by slab, cell by cell; pairs of a slab
 * with itself and with the next one stand in an outer list of a wide reach, out of which an inner one of a narrow reach
 * is taken every few steps. In a sweep over the slabs the contacts of slab s become events, then the slab takes
 * its own and those from s - 1, and moves; a sweep makes some steps at once, see gas_sweep.c. */
#ifndef COLLISION_GAS_CPU_H
#define COLLISION_GAS_CPU_H

#include "kernels/collision/fixed_point/fixed_point.h"

#include <stddef.h>

enum { GAS_GROUP = 16 }; /* slots of a slab are a multiple of it, the last one empty */

/* Impulse on a grain; its word, and the top bit where a collision begins. */
typedef struct gas_event {
  int32_t q[3];
  uint32_t at;
} gas_event;
#define GAS_BEGUN UINT32_C(0x80000000)

/* Words from the beginning of each grain's slab; 16 zeros follow the last pair. */
typedef struct gas_list {
  uint32_t *a, *b; /* one allocation */
  size_t count, room;
} gas_list;

enum { GAS_OWN, GAS_NEXT }; /* pairs within a slab, pairs with the next one */

typedef struct gas_slab {
  int64_t first, count; /* slots */
  gas_list outer[2], inner[2];
  double fastest, moved; /* of its grains: in the last step, and how far since the outer lists were made */
  double moved_at[2];    /* of it and the other slab, together, when the inner lists were made */
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
  size_t ahead_step; /* bytes a pair */
} gas_sides;

/* A row of cells of a slab, each coordinate in an array of its own, in units of length, the last cell once more in
 * front and the first behind; first[z] ... first[z + 3] are the cells around cell z. */
typedef struct gas_row {
  const float *x[4];    /* across slabs, across rows, along the row, radius */
  const uint32_t *word; /* from the beginning of the slab */
  const uint32_t *first;
  float shift[2]; /* where it lies beyond the box's end */
} gas_row;

enum { GAS_ROWS = 5, GAS_OWN_ROWS = 2 }; /* the first holds the grains themselves; the rest is of the next slab */

/* What an instruction set makes. All give the same impulses. */
typedef struct gas_lanes {
  /* Those of the list that are in reach, into `out`, which has room for all and 16 more. */
  void (*within)(const gas_reach *reach, const gas_list *list, const gas_sides *sides, gas_list *out);
  /* Contacts into an event a side, each a multiple of 16 in number (empty ones fill up); room for `count` and 16. */
  size_t (*meet)(const gas_rules *rules, const gas_list *list, const gas_sides *sides, gas_event *on_a, gas_event *on_b,
                 gas_tally *tally);
  /* Events to the momenta of a slab. */
  void (*take)(int32_t *p, uint32_t *collisions, int stride, const gas_event *event, size_t count);
  /* Moves `count` slots, a multiple of 16; the greatest square of a velocity's size or more, in quanta. */
  float (*move)(const gas_rules *rules, int64_t count, uint32_t *x, int32_t *p);
  /* Pairs of a row with itself and four others, behind those in `out`, which has room for all candidates and 16 more.
   */
  void (*search)(const gas_reach *reach, const gas_row row[GAS_ROWS], uint32_t cells, gas_list out[2]);
} gas_lanes;

/* Steps that one sweep makes at most: slab s makes one while s - 1 makes the next, out of the cache. */
enum { GAS_LEVELS = 4 };

/* Impulses on a slab of pairs within it (two sides) and with the next slab. */
typedef struct gas_own {
  gas_event *event[3];
  size_t count[2]; /* within, with the next */
} gas_own;

/* On the next slab. */
typedef struct gas_carried {
  gas_event *event;
  size_t count;
} gas_carried;

typedef struct gas_level {
  gas_own first; /* of a thread's first slab, which waits for the slab before it, another thread's */
  gas_carried carried[2];
  gas_carried *last; /* of the thread's last slab */
  gas_tally tally;
  float fastest; /* square */
} gas_level;

/* Coordinates of a slab's rows for the search. */
typedef struct gas_rows {
  float *x[4];
  uint32_t *word, *first; /* [rows][cells + 3] */
  int64_t slab;           /* -1: none */
  size_t room;
} gas_rows;

typedef struct gas_team {
  gas_own now;
  gas_level level[GAS_LEVELS];
  gas_carried between[2]; /* as carried, where threads meet */
  gas_event *memory;
  size_t room; /* of each array of events */
  gas_rows rows[2];
  bool failed; /* no memory for a list */
} gas_team;

typedef struct gas_step {
  double t, dt;
} gas_step;

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
  double outer, inner;      /* skins */
  double fastest;           /* speed in the step to now */
  double before;            /* the step to now */
  gas_step due[GAS_LEVELS]; /* not made yet */
  int dues, levels;         /* of a sweep */
  double virial, lost;
  bool listed;
  sim_status failed; /* in `begin` */
};

/* Lists that hold for where the grains are; outer ones alone, with how much more grains may come nearer to each other
 * before they do no longer. */
sim_status collision_gas_lists(collision_work *w) SIM_MUST_CHECK;
sim_status collision_gas_outer(collision_work *w, double *rest) SIM_MUST_CHECK;
/* The inner list of a slab, where it is no longer one. */
void collision_gas_prune(collision_work *w, int64_t slab, int which, double before);
/* Makes the steps that are due. */
sim_status collision_gas_sweep(collision_work *w) SIM_MUST_CHECK;
/* Pairs of all slabs of a thread. */
bool collision_gas_search(collision_work *w, int thread, const gas_reach *reach);
/* A thread's events. */
bool collision_gas_reserve(collision_work *w, int thread);
bool collision_gas_grow(gas_list *list, size_t room);
sim_status collision_gas_sums(collision_work *w, double t, collision_sums *out) SIM_MUST_CHECK;
/* Sums of impulses at now, [3][slots], in `w->spare.p`; counts them into `tally`. */
void collision_gas_impulses(collision_work *w, bool start, gas_tally *tally);
gas_rules collision_gas_rules(const collision_work *w, double before, double dt, bool start);
/* gas_rules.trial where the mean speed of two grains is no more than `fastest`. */
float collision_gas_trial(const collision_work *w, double fastest, double before);
/* From the square of a momentum over w. */
double collision_gas_speed(const collision_work *w, double square);
/* Greatest distance that a grain moves in a step which does not fail. */
double collision_gas_stride_most(const collision_work *w, double dt);
gas_sides collision_gas_sides(const collision_work *w, int64_t slab, int which);
int64_t collision_gas_next(const collision_work *w, int64_t slab);
/* Slabs of a thread. */
void collision_gas_share(const collision_work *w, int thread, int64_t *first, int64_t *end);
void collision_gas_lists_free(collision_work *w);

#endif
