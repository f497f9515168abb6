/* Constants of moment matching; see cpu/moments.h. */
#ifndef OPTION_MATCHED_H
#define OPTION_MATCHED_H

#define MATCH_M 1024.0 /* OPTION_CHUNK */
#define MATCH_CUBE (1 / (4 * (MATCH_M + 1)))
/* Moments of x, and the excess of the variance over 1 before the factor r. */
#define MATCH_FOURTH (3 * (MATCH_M - 1) / (MATCH_M + 1))
#define MATCH_SIXTH (15 * (MATCH_M - 1) * (MATCH_M - 1) / ((MATCH_M + 1) * (MATCH_M + 3)))
#define MATCH_EXCESS                                                                                                   \
  (2 * MATCH_CUBE * (MATCH_FOURTH - 3) + MATCH_CUBE * MATCH_CUBE * (MATCH_SIXTH - 6 * MATCH_FOURTH + 9))
#define MATCH_R (1 - MATCH_EXCESS / 2) /* 1/sqrt(1 + excess) within 1e-11 */

#endif
