/* Which random bits a path takes; the same on the CPU and on a GPU.
 *
 * The 128 bits of a path, a group of four steps and a draw are sim_rng_words(seed, group << 32 | the path's lower half,
 * the path's upper half, draw), four numbers of 32 bits. Of a draw of normals, bits (0, 1) make the normals of steps 0
 * and 1 of the group, (2, 3) those of steps 2 and 3: the radius comes from the upper 31 bits of the first number, the
 * angle from all 32 of the second, as a share of a turn (Box and Muller 1958). Of the other draws number i belongs to
 * step i of the group.
 *
 * Paths of 1 or 2 steps share 128 bits, share = 4 / steps of them. With l the path's lower half, such a path takes the
 * bits of path l mod OPTION_SHARE_STRIDE and group l / (share OPTION_SHARE_STRIDE), from normal steps * r on, r =
 * l / OPTION_SHARE_STRIDE mod share. Jumps are drawn by step (the step in place of the group), for each path alone. */
#ifndef OPTION_RANDOM_DRAWS_H
#define OPTION_RANDOM_DRAWS_H

enum { OPTION_SHARE_STRIDE = 256 };
/* Bytes of the number of an MRG32k3a subsequence, and of an offset within it. */
enum { OPTION_MRG_BYTES = 7 };

/* All random numbers of the model. The number of the asset is added to each. */
enum {
  OPTION_DRAW_NORMAL = 0,
  OPTION_DRAW_HIGH = 64,      /* highest point between two steps */
  OPTION_DRAW_LOW = 128,      /* lowest point between two steps */
  OPTION_DRAW_VARIANCE = 192, /* Heston's variance */
  OPTION_DRAW_JUMP = 256,     /* 0: the number of jumps; 2 and 3: the normal of their sum */
  OPTION_DRAW_SCRAMBLE = 512  /* scrambles of Sobol's points: entity is the dimension, step the scramble */
};

/* First paths of runs of their own, far from the paths of samples. */
#define OPTION_PILOT_FIRST (UINT64_C(1) << 62)      /* pilot of the control variates */
#define OPTION_REGRESSION_FIRST (UINT64_C(3) << 61) /* regression of exercise rules */
#define OPTION_MRG_SCRAMBLES (UINT64_C(5) << 61)    /* Sobol's scrambles by MRG32k3a */

#endif
