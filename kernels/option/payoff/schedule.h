/* Steps at whose ends the features of an asset are observed, where these are not all steps of the run. Device code
 * too. */
#ifndef OPTION_PAYOFF_SCHEDULE_H
#define OPTION_PAYOFF_SCHEDULE_H

enum { OPTION_SCHEDULES_MAX = 128 };
/* Bits of option_schedule.mark. */
enum {
  OPTION_OBSERVED = 1, /* the price at the step's end counts */
  OPTION_WATCHED = 2   /* so do the prices within the step: continuous monitoring */
};

typedef struct option_schedule {
  int asset;
  int count;                 /* prices that count */
  unsigned need;             /* bits of the kinds of its features */
  const unsigned char *mark; /* [steps]; borrowed from the graph */
} option_schedule;

#endif
