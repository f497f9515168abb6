/* The contracts of an exposure, their paths, and the regressions of their values. */
#ifndef OPTION_EXPOSURE_BOOK_H
#define OPTION_EXPOSURE_BOOK_H

#include "kernels/option/cpu/sampler.h"
#include "kernels/option/exposure/basis.h"
#include "kernels/option/exposure/exposure.h"

/* Memory of one thread. */
typedef struct exposure_room {
  bool wrong;      /* a path of this thread was not finite */
  double *numbers; /* [columns][OPTION_CHUNK]: features of the payments, prices, variances, payments, functions */
  void **out;      /* [features], then payments [payoffs] */
  exposure_columns columns;
  double *functions; /* [OPTION_BASES_MAX][OPTION_CHUNK] */
  exposure_state *state;
} exposure_room;

typedef struct exposure_book {
  option_parameters p; /* prices alone, in fp64, on independent paths */
  const sim_setup *setup;
  option_sampler *sampler;
  const option_market *market; /* borrowed from the sampler */
  int dates, contracts, threads;
  int *step;                   /* [dates], from step 0 on */
  exposure_contract *contract; /* [contracts] */
  int *row;                    /* [steps + 1]: see exposure_columns */
  int rows, features;
  option_feature *feature; /* [features]: those of the payments first */
  exposure_basis *basis;   /* [dates][contracts][EXPOSURE_GROUPS] */
  double *beta;            /* the same of [OPTION_BASES_MAX] each */
  int parts;               /* of the fit's paths; 0: they are too few to tell errors of values */
  double *beta_without;    /* [parts][...] as beta, each fitted without one part; NULL where no values are written */
  exposure_room *room;     /* [threads] */
} exposure_book;

/* Simulates the chunk at `first` into a thread's room; marks it where a number is not finite. */
void option_exposure_simulate(const exposure_book *book, uint64_t first, exposure_room *room);
/* Payments of a contract on the paths of a room, at maturity: [OPTION_CHUNK]. */
static inline const double *exposure_payments(const exposure_book *book, const exposure_room *room, int contract) {
  return room->out[book->features + contract];
}
/* Discount factor between two steps. */
static inline double exposure_discount(const exposure_book *b, int from, int to) {
  return (to > 0 ? b->market->bond[to - 1] : 1) / (from > 0 ? b->market->bond[from - 1] : 1);
}
/* Index of a regression. */
static inline size_t exposure_place(const exposure_book *b, int date, int contract, int group) {
  return ((size_t)date * (size_t)b->contracts + (size_t)contract) * EXPOSURE_GROUPS + (size_t)group;
}
/* Sets the state of a contract at a date, also at step 0, where it is constant. */
void option_exposure_state_at(const exposure_book *book, exposure_room *room, int date, int contract);
/* SIM_ERR_DIVERGED on all ranks where `wrong` is set in any room of any. */
sim_status option_exposure_agree(const exposure_book *book) SIM_MUST_CHECK;

/* Parts of the fit's paths: the spread of fits without one of them tells the errors of values. */
enum { EXPOSURE_PARTS = 8 };

/* fit.c: groups with few paths in a chunk whose paths are gathered at a time, each in a state of its own. */
enum { EXPOSURE_RARE = 16 };
/* Makes the bases, and their coefficients by least squares. */
sim_status option_exposure_fit(exposure_book *book) SIM_MUST_CHECK;
/* Its bytes of sums. */
double option_exposure_fit_bytes(double dates, double contracts, int ranks);

/* summary.c: weights of the discounted exposures in an adjustment, before and after the payments of each date. */
typedef struct exposure_weights {
  double before[OPTION_EXPOSURES_MAX], after[OPTION_EXPOSURES_MAX];
} exposure_weights;
/* Rules of an adjustment between dates: the trapezoid over the chance of a default; that of every second date, or the
 * rectangle from the beginning of an interval without one; exposures linear in time; parabolas through three dates. */
enum { EXPOSURE_TRAPEZOID, EXPOSURE_COARSE, EXPOSURE_LINEAR, EXPOSURE_PARABOLAS, EXPOSURE_RULES };
/* SIM_ERR_SCENARIO, SIM_ERR_NO_MEMORY. */
sim_status option_exposure_weights_create(const exposure_book *book, const char *name, const sim_expr *hazard,
                                          double recovery, exposure_weights out[EXPOSURE_RULES]) SIM_MUST_CHECK;
/* Columns of a path: values [dates], payments [dates], then CVA and DVA by each rule. */
enum { EXPOSURE_CVA, EXPOSURE_DVA = EXPOSURE_RULES, EXPOSURE_EXTRAS = 2 * EXPOSURE_RULES };
/* Computes all results from numbers[chunks][2 dates + EXPOSURE_EXTRAS][OPTION_CHUNK]. Where out->error is not NULL it
 * gets, of each path and date, by how much values near its own differ from the payments in the mean; 0 where that is
 * not significant. */
sim_status option_exposure_summarise(const exposure_book *book, const double *numbers, int chunks,
                                     option_exposures *out) SIM_MUST_CHECK;

#endif
