/* Which random bits a path takes; the same on the CPU and on a GPU.
 *
 * The 128 bits of (path, group of four steps, draw) are sim_rng_bits(seed, group << 32 | lower half of the path,
 * upper half of the path, draw), four numbers of 32 bits. In a draw of normals, numbers 0 and 1 give the normals of
 * the group's steps 0 and 1, numbers 2 and 3 those of steps 2 and 3: the radius from the upper 31 bits of the first
 * number, the angle from all 32 bits of the second, as a fraction of a turn (Box and Muller 1958). In other draws
 * number i belongs to step i of the group.
 *
 * Paths of 1 or 2 steps share 128 bits, share = 4 / steps paths each. Let l be the path's lower half, and r = l /
 * OPTION_SHARE_STRIDE mod share. The path takes the bits of path l mod OPTION_SHARE_STRIDE and group l / (share
 * OPTION_SHARE_STRIDE), from number steps * r on. Jumps are drawn by step (the step replaces the group), for each
 * path alone. */
#ifndef OPTION_RANDOM_DRAWS_H
#define OPTION_RANDOM_DRAWS_H

enum { OPTION_SHARE_STRIDE = 256 };
/* Bytes in the number of an MRG32k3a subsequence, and in an offset within it. */
enum { OPTION_MRG_BYTES = 7 };

/* Draws of the model; the asset's number is added to each. */
enum {
  OPTION_DRAW_NORMAL = 0,
  OPTION_DRAW_HIGH = 64,      /* highest point between two steps */
  OPTION_DRAW_LOW = 128,      /* lowest point between two steps */
  OPTION_DRAW_VARIANCE = 192, /* Heston's variance, or increments of a rough volatility */
  OPTION_DRAW_JUMP = 256,     /* number 0: how many jumps; numbers 2 and 3: the normal of their sum */
  OPTION_DRAW_ROUGH = 320,    /* rough volatility: the part of a step that its increment does not tell */
  OPTION_DRAW_RATE = 384,     /* random rate, by step as jumps: numbers 0 and 1 give its two normals */
  OPTION_DRAW_SCRAMBLE = 512  /* scrambling of Sobol points: entity is the dimension, step the scramble */
};

/* First path numbers of auxiliary runs, disjoint from the paths of samples. */
#define OPTION_PILOT_FIRST (UINT64_C(1) << 62)      /* pilot of the control variates */
#define OPTION_REGRESSION_FIRST (UINT64_C(3) << 61) /* regression of exercise rules */
/* Upper bounds of early exercise, 2^54 paths apart for each payoff. */
#define OPTION_UPPER_FIRST (UINT64_C(7) << 61)
#define OPTION_UPPER_STRIDE (UINT64_C(1) << 54)
/* Exposures: paths of the regressions, then those of the exposures. */
#define OPTION_EXPOSURE_FIRST (UINT64_C(6) << 61)
#define OPTION_EXPOSURE_STRIDE (UINT64_C(1) << 47)
#define OPTION_LEVERAGE_FIRST (UINT64_C(4) << 61) /* particles that calibrate leverage functions */
#define OPTION_MRG_SCRAMBLES (UINT64_C(5) << 61)  /* Sobol's scrambles by MRG32k3a */

#endif
