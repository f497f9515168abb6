/* Fixed-point solver on the CPU: data that its files share. GPU counterpart: cuda/work.cuh.
 *
 * The box is cut across its longest side into slabs of cells. Grains are sorted by slab, then by cell. The pairs of a
 * slab with itself and with the next slab are in an outer list of wide reach, from which an inner list of narrow reach
 * is filtered every few steps. A sweep over the slabs computes the impulses of the pairs of slab s, applies the
 * impulses on slab s (from its pairs and those of s - 1) and moves it; one sweep makes several steps, see step.c. */
#ifndef COLLISION_FIXED_POINT_CPU_WORK_H
#define COLLISION_FIXED_POINT_CPU_WORK_H

#include "kernels/collision/fixed_point/fixed_point.h"
#include "kernels/collision/mail.h"

#include <stddef.h>

enum { FIXED_GROUP = 16 }; /* a slab has a multiple of so many slots; the last slot is empty */

/* Impulse on a grain at index `at` of its slab's arrays; FIXED_BEGUN is set in `at` where a collision begins. */
typedef struct fixed_impulse {
  int32_t q[3];
  uint32_t at;
} fixed_impulse;
#define FIXED_BEGUN UINT32_C(0x80000000)

/* Pairs: indices of both grains in the arrays of their slabs. 16 zeros are behind the last pair. */
typedef struct fixed_pairs {
  uint32_t *a, *b; /* one allocation */
  size_t count, room;
} fixed_pairs;

enum { FIXED_WITHIN, FIXED_NEXT }; /* pairs within a slab; pairs with the next slab */

typedef struct fixed_slab {
  int64_t first, count; /* slots */
  fixed_pairs outer[2], inner[2];
  double fastest, moved; /* greatest speed in the last step; displacement since outer lists were made */
  double moved_at[2];    /* sum of `moved` of both slabs when the inner list was made */
} fixed_slab;

/* Grains by slot, 3 words a grain, or 4 where grains differ. x: position, then the radius as a float; p: momentum, then
 * the weight as a float. */
typedef struct fixed_grains {
  uint32_t *x;
  int32_t *p;
  uint32_t *id; /* UINT32_MAX: an empty slot */
  uint32_t *collisions;
} fixed_grains;

typedef struct fixed_tally {
  int64_t virial, dissipated;
} fixed_tally;

/* Criterion of a list: distance < reach; where grains differ, < r_a + r_b + reach. */
typedef struct fixed_reach {
  bool equal;
  float length[3], reach;
} fixed_reach;

typedef struct fixed_rules {
  bool equal, damped, start;
  float reach; /* equal grains: sum of two radii */
  float trial; /* distance below which pairs may touch; where radii differ, beyond the sum of the radii */
  fixed_point_constants numbers;
} fixed_rules;

/* Arrays of the two slabs of a list of pairs; memory to prefetch while the list is read. */
typedef struct fixed_slab_pair {
  const uint32_t *xa, *xb;
  const int32_t *pa, *pb;
  const char *ahead;
  size_t ahead_step; /* bytes to prefetch a pair */
} fixed_slab_pair;

/* A row of cells of a slab, in units of length, with the last cell repeated in front and the first at the end. Cells
 * z - 1 ... z + 1 are the entries first[z] ... first[z + 3]. */
typedef struct fixed_row {
  const float *x[4];    /* coordinates across slabs, across rows and along the row; then the radius */
  const uint32_t *word; /* index of the grain in the slab's arrays */
  const uint32_t *first;
  float shift[2]; /* shift of a row that is a periodic image */
} fixed_row;

enum {
  FIXED_ROWS = 5,
  FIXED_OWN_ROWS = 2
}; /* row 0: the grains whose pairs are searched; rows from 2 on: in the next slab */

/* Inner loops, for one instruction set (lanes.c). All sets give the same impulses. */
typedef struct fixed_lanes {
  /* Filters the pairs in reach into `out`, which has room for all pairs and 16 more. */
  void (*within)(const fixed_reach *reach, const fixed_pairs *list, const fixed_slab_pair *sides, fixed_pairs *out);
  /* Computes the impulses of the list's contacts on both sides; returns their number, a multiple of 16 padded with zero
   * impulses. on_a and on_b have room for `count` and 16 more. */
  size_t (*pair_impulses)(const fixed_rules *rules, const fixed_pairs *list, const fixed_slab_pair *sides,
                          fixed_impulse *on_a, fixed_impulse *on_b, fixed_tally *tally);
  /* Adds impulses to the momenta of a slab. */
  void (*add_impulses)(int32_t *p, uint32_t *collisions, int stride, const fixed_impulse *impulse, size_t count);
  /* Moves `count` slots, a multiple of 16; returns an upper bound of the square of the velocities, in quanta. */
  float (*move)(const fixed_rules *rules, int64_t count, uint32_t *x, int32_t *p);
  /* Appends the pairs of row 0 with itself and with the other rows to `out`, which has room for all candidates and 16
   * more. */
  void (*search)(const fixed_reach *reach, const fixed_row row[FIXED_ROWS], uint32_t cells, fixed_pairs out[2]);
} fixed_lanes;

/* Most steps of one sweep: slab s makes a step while slab s - 1, still in the cache, makes the next one. FIXED_QUEUED:
 * number of steps that are queued before they are computed. */
enum { FIXED_LEVELS = 4, FIXED_QUEUED = 2 };

/* Impulses on a slab: from pairs within it, on both sides, and from pairs with the next slab. */
typedef struct fixed_slab_impulses {
  fixed_impulse *impulse[3];
  size_t count[2]; /* of pairs within the slab; of pairs with the next slab */
} fixed_slab_impulses;

/* Impulses on the next slab. */
typedef struct fixed_next_impulses {
  fixed_impulse *impulse;
  size_t count;
} fixed_next_impulses;

typedef struct fixed_level {
  fixed_slab_impulses first; /* on the thread's first slab, whose other impulses come from another thread */
  fixed_next_impulses carried[2];
  fixed_next_impulses *last; /* from the thread's last slab */
  fixed_tally tally;
  float fastest; /* upper bound of the square of the velocities */
} fixed_level;

/* Coordinates of all rows of a slab, for the search. */
typedef struct fixed_rows {
  float *x[4];
  uint32_t *word, *first; /* [rows][cells + 3] */
  int64_t slab;           /* -1: none */
  size_t room;
} fixed_rows;

typedef struct fixed_thread {
  fixed_slab_impulses now;
  fixed_level level[FIXED_LEVELS];
  fixed_next_impulses between[2]; /* as `carried`, for slabs between two threads */
  fixed_impulse *memory;
  size_t room; /* of each array of impulses */
  fixed_rows rows[2];
  bool failed; /* out of memory */
} fixed_thread;

/* Message of a rank to all others: about a slab (report), and about a step of a sweep (account). */
typedef struct fixed_report {
  double fastest, moved, moved_at[2];
} fixed_report;
typedef struct fixed_account {
  double fastest; /* upper bound of the square of the velocities */
  fixed_tally tally;
} fixed_account;

typedef struct fixed_queued_step {
  double t, dt;
} fixed_queued_step;

struct collision_work {
  collision_options o;
  collision_state state;
  fixed_point_system system;
  const fixed_lanes *lanes;
  int stride, threads;
  int axis[3]; /* axes across slabs, across rows and along rows */
  uint32_t cells[3];
  int64_t slots, room;
  fixed_grains now, spare;
  uint32_t *order, *cell; /* [n]: scratch of sorting */
  uint32_t *cell_first; /* [slabs][cells of a slab + 1]: first slot of each cell, counted from the slab's first slot */
  int64_t *counted;     /* [threads][slabs]: number of grains */
  fixed_slab *slab;
  fixed_thread *team;
  double outer, inner;                     /* skins of the outer and inner lists */
  double fastest;                          /* greatest speed in the last step */
  double before;                           /* length of the last step */
  fixed_queued_step pending[FIXED_LEVELS]; /* [pending_count] queued steps */
  int pending_count, levels;               /* levels: steps of the next sweep */
  double virial, dissipated;
  bool listed;
  sim_status failed; /* error of `begin`, which returns none */
  /* Division among ranks, see ranks.c. */
  const sim_comm *comm;
  collision_mail mail;
  int owners;                     /* number of ranks that own slabs */
  int64_t least;                  /* least number of slabs of an owner */
  int64_t cut[SIM_RANKS_MAX + 1]; /* slabs of rank r: cut[r] ... cut[r + 1] - 1 */
  fixed_report *report;           /* [slabs] */
  bool known;                     /* this rank has the present state of all grains */
  bool ids;                       /* and their ids, which stay until lists are rebuilt */
  bool ahead;                     /* it has the present state of the slab behind its own ones, from the last sweep */
  bool *near;                     /* [slabs]: those of this rank and one on either side, which it sorts into cells */
};

/* Computes the queued steps, and makes lists that are valid now. SIM_ERR_DIVERGED, SIM_ERR_NO_MEMORY. */
sim_status collision_fixed_lists(collision_work *w) SIM_MUST_CHECK;
/* Rebuilds the outer lists where neither they nor the inner lists are valid, or with `fresh` where the outer ones are
 * not; *rest: distance by which two grains may still approach while the outer lists stay valid. */
sim_status collision_fixed_outer_lists(collision_work *w, bool fresh, double *rest) SIM_MUST_CHECK;
/* Rebuilds an inner list of a slab where it is no longer valid; `before`: length of the last step. */
void collision_fixed_inner_list(collision_work *w, int64_t slab, int which, double before);
/* Computes the queued steps. SIM_ERR_DIVERGED. */
sim_status collision_fixed_sweep(collision_work *w) SIM_MUST_CHECK;
/* Searches the outer lists of a thread's slabs; false: out of memory. */
bool collision_fixed_search(collision_work *w, int thread, const fixed_reach *reach);
/* Makes room for a thread's impulses; false: out of memory. */
bool collision_fixed_reserve_impulses(collision_work *w, int thread);
bool collision_fixed_grow_pairs(fixed_pairs *list, size_t room);
sim_status collision_fixed_sums(collision_work *w, double t, collision_sums *out) SIM_MUST_CHECK;
/* Sums the impulses at the current positions into w->spare.p (as w->now.p), and counts them in `tally`. All ranks. */
sim_status collision_fixed_impulses(collision_work *w, bool start, fixed_tally *tally) SIM_MUST_CHECK;
fixed_rules collision_fixed_rules(const collision_work *w, double before, double dt, bool start);
/* Computes fixed_rules.trial for grains whose mean speed in a pair is at most `fastest`. */
float collision_fixed_trial(const collision_work *w, double fastest, double before);
/* Converts the square of a velocity in quanta to a speed. */
double collision_fixed_speed(const collision_work *w, double square);
/* Greatest displacement of a grain in a step that does not fail. */
double collision_fixed_displacement_max(const collision_work *w, double dt);
fixed_slab_pair collision_fixed_slab_pair(const collision_work *w, int64_t slab, int which);
int64_t collision_fixed_next_slab(const collision_work *w, int64_t slab);
/* Slabs first ... end - 1 of a thread, in a division of collision_fixed_chain. */
void collision_fixed_thread_chain(const collision_work *w, int thread, int below, int above, int64_t *first,
                                  int64_t *end);
void collision_fixed_lists_free(collision_work *w);

/* ---- ranks.c; "All ranks": all ranks call it together ---- */

/* Sets the owners, and the threads and levels that their slabs allow; all ranks take the values of the rank with the
 * fewest threads. All ranks. */
sim_status collision_fixed_ranks_create(collision_work *w, int threads) SIM_MUST_CHECK;
/* Divides the slabs among the owners by their grains; sets w->near. */
void collision_fixed_cut(collision_work *w);
bool collision_fixed_owns(const collision_work *w, int64_t slab);
/* Slabs first ... end - 1 of this rank, with `below` slabs before and `above` slabs behind, which may be beyond the
 * periodic boundary (collision_fixed_wrapped). A single owner has all slabs. first = end: none. */
void collision_fixed_chain(const collision_work *w, int below, int above, int64_t *first, int64_t *end);
int64_t collision_fixed_wrapped(const collision_work *w, int64_t slab);
/* Most steps of a sweep with the present cuts; the same on all ranks. */
int collision_fixed_levels(const collision_work *w);
/* Gives every rank w->report, and the speeds and displacements, of all slabs. All ranks. */
sim_status collision_fixed_report(collision_work *w) SIM_MUST_CHECK;
/* Receives the states of `below` slabs before those of this rank and of `above` slabs behind them, at most one. All
 * ranks. */
sim_status collision_fixed_halo(collision_work *w, int below, int above) SIM_MUST_CHECK;
/* Sends impulses on the slab behind those of this rank (side 1) or before them (-1) to its owner, and with `state` this
 * rank's slab beside that one. Receives the same from the other side: *in, the impulses on this rank's first or last
 * slab, in memory of the messages, and the slab beyond. For several owners. All ranks. */
sim_status collision_fixed_pass(collision_work *w, int side, bool state, const fixed_next_impulses *out,
                                fixed_next_impulses *in) SIM_MUST_CHECK;
/* Gives every rank the state of all grains. All ranks. */
sim_status collision_fixed_gather(collision_work *w) SIM_MUST_CHECK;
/* Gives every rank w->spare.p of all grains, and the sum of the tallies. All ranks. */
sim_status collision_fixed_gather_impulses(collision_work *w, fixed_tally *tally) SIM_MUST_CHECK;
/* Combines the ranks' accounts of the steps of a sweep into those of all grains. All ranks. */
sim_status collision_fixed_account(const collision_work *w, fixed_account account[FIXED_LEVELS]) SIM_MUST_CHECK;

#endif
