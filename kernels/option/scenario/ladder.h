/* Points of a ladder. */
#ifndef OPTION_SCENARIO_LADDER_H
#define OPTION_SCENARIO_LADDER_H

#include "kernels/option/scenario/market.h"

/* The shifts of a point by their indices in option_ladder, and the market that they make; without a list of shifts its
 * index is 0. */
typedef struct option_point {
  int spot, vol, time;
  option_bump bump;
  bool today; /* nothing is shifted */
} option_point;

/* Number of shifts of a kind, at least 1. */
static inline int option_shift_count(const sim_doubles *shifts) { return shifts->rows > 0 ? (int)shifts->rows : 1; }
/* Number of points; 0 without a ladder. */
int option_ladder_points(const option_parameters *p);
/* Point number `point` from 0 on; the spot changes fastest, then the volatility. */
option_point option_ladder_point(const option_parameters *p, int point);
/* Whether a payoff's graph depends on today's date: an autocallable has discount factors in it, a swap without
 * per_year the time until its last fixing. */
bool option_payoff_is_timed(const sim_item *item);

#endif
