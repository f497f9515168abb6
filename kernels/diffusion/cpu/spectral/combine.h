/* Sums of products of stored arrays and tables. They apply to the coefficients of one column between its forward and
 * its inverse transform. Compiled for each instruction set and precision (combine.c). */
#ifndef DIFFUSION_COMBINE_H
#define DIFFUSION_COMBINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIFFUSION_TERMS = 5, DIFFUSION_SETS = 5, DIFFUSION_ARRAYS = 6, DIFFUSION_TABLES = 7 };
enum { DIFFUSION_NOISE = 5 }; /* array of a step's white noise, where a field fluctuates */

typedef struct diffusion_term {
  double coefficient;
  int table;  /* -1: none */
  int source; /* array; 0 is the column itself */
} diffusion_term;

/* arrays[target] = sum of terms. A target may be one of the sources. */
typedef struct diffusion_set {
  int target, terms;
  diffusion_term term[DIFFUSION_TERMS];
} diffusion_set;

/* One pass over the columns. */
typedef struct diffusion_stage {
  int forward, inverse; /* whether column 0 is transformed before and after */
  int sets;
  diffusion_set set[DIFFUSION_SETS];
} diffusion_stage;

/* Whether a stage only multiplies the column by a table, as a split step does. */
static inline bool diffusion_only_scales(const diffusion_stage *stage) {
  const diffusion_set *set = &stage->set[0];
  return stage->forward && stage->inverse && stage->sets == 1 && set->target == 0 && set->terms == 1 &&
         set->term[0].source == 0 && set->term[0].table >= 0 && set->term[0].coefficient == 1;
}

/* Numbers of a table for a point of G lanes: G (one for re and im), 2G (one each), or G complex numbers. */
typedef enum diffusion_factor { DIFFUSION_ALIKE, DIFFUSION_EACH, DIFFUSION_COMPLEX } diffusion_factor;

typedef struct diffusion_column {
  int64_t n;                           /* points */
  const int32_t *at;                   /* [n]: their positions */
  void *array[DIFFUSION_ARRAYS];       /* [0] has stride 1, the others `stride` */
  ptrdiff_t stride;                    /* in points */
  ptrdiff_t next;                      /* points from this column of the other arrays to the next one */
  ptrdiff_t next_table;                /* bytes from the tables of this column to those of the next one */
  const void *table[DIFFUSION_TABLES]; /* tables of this column: [slots][G or 2G] */
  const int32_t *slot;                 /* of a position */
  diffusion_factor factor;
} diffusion_column;

typedef void diffusion_combine(const diffusion_stage *stage, const diffusion_column *column);
extern diffusion_combine diffusion_combine_single_plain, diffusion_combine_double_plain;
extern diffusion_combine diffusion_combine_single_avx2, diffusion_combine_double_avx2;
extern diffusion_combine diffusion_combine_single_avx512, diffusion_combine_double_avx512;

#endif
