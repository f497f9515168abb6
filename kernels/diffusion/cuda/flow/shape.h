/* Sizes of a flow's arrays, tiles and thread blocks (flow.cuh). */
#ifndef DIFFUSION_CUDA_FLOW_SHAPE_H
#define DIFFUSION_CUDA_FLOW_SHAPE_H

#include "kernels/diffusion/cuda/work.h"

/* Constants of flow/flow.cuh, and the threads of a block. Arrays in complex numbers. */
typedef struct diffusion_flow_shape {
  int axes, n[3], kx, wide, tx, ky, ky_low, deep, ty, slab, planes, low, group;
  int fields, values, value[DIFFUSION_FIELDS]; /* value: fields whose values the rates read */
  int reads;                                   /* inputs of the rates */
  int lines;                                   /* of a thread over rows, in registers: two inputs or rates are one */
  int rows, columns;                           /* rows, and columns, of a thread block */
  int64_t rowed, deeped;                       /* a field by rows and by columns */
  int64_t first, other, part;                  /* array [0], the other one, and a part by rows of it */
  int64_t entries, table;                      /* entries of a column's table, and numbers of a field's one */
} diffusion_flow_shape;

/* p: of a flow on two or three axes that `supports` of flow.c takes, or its grid may take. */
diffusion_flow_shape diffusion_flow_shape_of(const diffusion_parameters *p);

#endif
