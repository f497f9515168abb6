/* The way `axes`, shared by its files: steps.c makes steps, axes.c has everything else. Several ranks divide planes, or
 * the rows of all planes. A step passes over x and one of y and z in the slab in which that axis is whole. A turn then
 * gives the other slab, in which the step passes over the third axis, and in which the next step begins. So the fields
 * are exchanged once a step, and the order of axes differs between steps of even and of odd numbers, on one rank too.
 */
#ifndef DIFFUSION_CUDA_AXES_H
#define DIFFUSION_CUDA_AXES_H

#include "engine/comm/cuda/turn.h"
#include "kernels/diffusion/cuda/axes/axes.cuh"
#include "kernels/diffusion/cuda/work.h"

/* Chunks of a slab that are stored directly into the other GPUs: the best of 2 to 16 at 512^3 and 1024^3 on two H200.
 */
enum { AXES_DIRECT = 4 };
enum { AXES_ONCE, AXES_TWICE, AXES_AFTER, AXES_TURNS }; /* beside lines of a turn: rates and x, or the pass after it */
/* Halves of the lines of a slab are stored one after the other where lines have so many points: four quarters were as
 * fast at 1024^3 on two H200, and one part 4 % faster at 512^3. */
enum { AXES_PARTS = 2, AXES_PARTED = 1024 };
enum { AXES_BY_PLANES, AXES_BY_ROWS, AXES_SLABS };

/* Planes z <= i < z_end of a rank, and rows y <= i < y_end of all planes. A pair of rows belongs to one rank. */
typedef struct diffusion_axes_division {
  int64_t z, z_end, y, y_end;
} diffusion_axes_division;
diffusion_axes_division diffusion_axes_division_of(const grid_shape *grid, const sim_comm *comm, int rank);

typedef struct diffusion_axes_work {
  diffusion_axes given;
  int n[3], rank;
  void *once, *twice, *columns[3], *load, *store; /* cudaKernel_t; columns[0] is unused */
  void *tables;
  diffusion_axes_slab slab[AXES_SLABS]; /* one rank: the first is the whole grid */
  int at;                               /* which slab has the state */
  diffusion_axes_division own;
  /* several ranks; NULL: one */
  sim_exchange *exchange;
  sim_turn *turn;
  bool unmet;                   /* this rank may still read the slab into which the others store next */
  bool direct;                  /* the pass before a turn stores into the other ranks' memory */
  bool turns[AXES_TURNS];       /* which kernels of that pass there are */
  void *turning[3][AXES_TURNS]; /* cudaKernel_t of them, along axes 1 and 2 */
  int chunks;                   /* chunks of a slab; one is sent while the next one is computed */
  int parts; /* parts of the lines of a slab; one arrives while the pass after the turn takes the last one */
} diffusion_axes_work;

/* ---- steps.c ---- */
sim_status diffusion_axes_load(diffusion_work *work);
sim_status diffusion_axes_store(diffusion_work *work); /* several ranks: then slab [AXES_BY_PLANES] has the state too */
sim_status diffusion_axes_stage(diffusion_work *work, int index, const diffusion_step_context *context);
int diffusion_axes_columns_threads(int n);
size_t diffusion_axes_columns_bytes(int n); /* dynamic shared memory */
size_t diffusion_axes_rows_bytes(int n);
int diffusion_axes_turn_threads(int n);          /* a block that stores lines of n points into other slabs */
size_t diffusion_axes_turn_bytes(int nx, int n); /* of rows of nx cells beside lines of n */
/* Several ranks: sets w->array[0] to the array of the slab that has the state. */
void diffusion_axes_select(diffusion_work *work, int slab);
/* Return the number of chunks of a turn, and the most bytes that a rank sends or receives at a time. */
int diffusion_axes_chunks(const grid_shape *grid, const sim_comm *comm, int fields);
double diffusion_axes_sent_at_once(const grid_shape *grid, const sim_comm *comm, int fields);

#endif
