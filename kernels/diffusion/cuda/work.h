/* What the operations on a GPU work with. */
#ifndef DIFFUSION_CUDA_WORK_H
#define DIFFUSION_CUDA_WORK_H

#include "engine/device/compile.h"
#include "kernels/diffusion/cuda/axes/axes.h"
#include "kernels/diffusion/cuda/factors.cuh"
#include "kernels/diffusion/cuda/flat/flat.h"
#include "kernels/diffusion/cuda/general/fourier.h"
#include "kernels/diffusion/cuda/fused/fused.h"
#include "kernels/diffusion/cuda/noise.cuh"
#include "kernels/diffusion/cuda/place.cuh"
#include "kernels/diffusion/cuda/programs.h"
#include "kernels/diffusion/cuda/general/sums.cuh"
#include "kernels/diffusion/diffusion.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Visits to the coefficients beside the method's stages. */
enum { DIFFUSION_VISIT_LOAD = DIFFUSION_STAGES, DIFFUSION_VISIT_RESUME, DIFFUSION_VISIT_JUMP, DIFFUSION_VISITS };

/* Coefficients are complex, [slow][middle][fast], fast: n/2 + 1; with walls all around the real part is that of fast
 * wavenumber k and the imaginary one that of n - k. Tables are folded at the sign of wavenumbers, if not complex. */
typedef struct diffusion_spectrum {
  long long n[3];             /* complex numbers: fast, middle, slow */
  long long field;            /* complex numbers from one field to the next */
  long long table[3], tables; /* entries of a table along the axes; numbers of one field's table */
  diffusion_factor factor;
} diffusion_spectrum;

struct diffusion_work {
  const diffusion_parameters *p;
  diffusion_grid grid;
  diffusion_place place, natural; /* of fields that are transformed, and of those for outputs */
  diffusion_spectrum spectrum;
  diffusion_method method;
  diffusion_fourier *fourier;
  diffusion_two_pass *fused; /* all three NULL: transforms by cuFFT */
  diffusion_by_axes *axes;
  diffusion_flat_work *flat;
  diffusion_programs programs; /* until they are compiled, which goes on beside what comes first */
  sim_module *module;
  bool ready;                                   /* kernels are there */
  void *rates, *fill, *visit[DIFFUSION_VISITS]; /* cudaKernel_t */
  sim_buffer array[DIFFUSION_ARRAYS], table[DIFFUSION_TABLES], real, scratch, derivatives;
  diffusion_gradients gradients; /* that the rates take: [derivatives] */
  diffusion_lift lift[DIFFUSION_FIELDS];
  double *statistics, *norms; /* on the device; norms where steps adapt */
  void *lines;                /* on the device, of the operation `lines` */
  unsigned fluctuating;       /* a bit for each field that does */
  int slot, slots;            /* tables are of the steps length[slot] */
  double length[DIFFUSION_SLOTS];
  int fields, members;  /* members: grids beside each other */
  bool single, crossed; /* crossed: tables are matrices of the fields */
};

/* The operations one way, where that serves the run: for tests and benchmarks. */
extern const diffusion_ops diffusion_ops_axes, diffusion_ops_cufft;

/* ---- layout.c ---- */
diffusion_place diffusion_cuda_place(const diffusion_grid *grid);
diffusion_place diffusion_cuda_natural(const diffusion_grid *grid);
diffusion_spectrum diffusion_cuda_spectrum(const diffusion_place *place, bool complex);
double diffusion_cuda_scale(const diffusion_grid *grid); /* that makes of a transformed field its coefficients */

/* ---- factors.c ---- */
/* All but dt and where the tables are. */
diffusion_making diffusion_cuda_making(const diffusion_parameters *p, double scale);
sim_status diffusion_cuda_write_fill(const diffusion_work *work, diffusion_programs *programs) SIM_MUST_CHECK;
void diffusion_cuda_fill(const diffusion_work *work, const diffusion_making *making);

/* ---- plan.c ---- */
void diffusion_cuda_plan(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out);
void diffusion_cuda_plan_axes(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out);
void diffusion_cuda_plan_cufft(const diffusion_parameters *p, const sim_setup *setup, sim_plan *out);
/* Fields that are transformed at once, where they are small: derivatives are too. */
int diffusion_cuda_together(const diffusion_parameters *p);

/* ---- ops.c ---- */
int diffusion_cuda_table_parts(const diffusion_work *work); /* tables of numbers of which one of the scheme consists */
void *diffusion_cuda_table(const diffusion_work *work, int table);

/* ---- text.c ---- */
/* All that the run needs; to be freed, whatever happened. */
sim_status diffusion_cuda_write(const diffusion_work *work, diffusion_programs *programs) SIM_MUST_CHECK;
bool diffusion_cuda_has_tables(const diffusion_work *work); /* of all wavenumbers */
bool diffusion_cuda_has_rates(const diffusion_work *work);  /* as a kernel of their own */
/* Sums of a stage at i and k of the tables. Arrays `held` are in a0, a1, ...; those `dropped` are not stored. */
void diffusion_cuda_write_sums(const diffusion_stage *stage, diffusion_factor factor, unsigned held, unsigned dropped,
                               sim_bytes *text);

/* ---- passes.cu ---- */
void diffusion_cuda_fold(diffusion_work *work, void *spectrum, int fields, bool forward);
void diffusion_cuda_load(diffusion_work *work);                                     /* real fields to array [0] */
void diffusion_cuda_store(diffusion_work *work, void *from, int first, int fields); /* to real fields */
void diffusion_cuda_rates(diffusion_work *work, void *fields, const diffusion_place *place,
                          const diffusion_moment *moment);
/* Array [DIFFUSION_NOISE]: the normal numbers of a step's cells, as diffusion_white_noise has them. */
void diffusion_cuda_noise(diffusion_work *work, int64_t step);
void diffusion_cuda_visit(diffusion_work *work, int visit);
void diffusion_cuda_derive(diffusion_work *work); /* coefficients of the derivatives, from those in array [0] */
void diffusion_cuda_blank(diffusion_work *work, void *spectrum, int fields); /* imaginary parts of a single cell */
void diffusion_cuda_lift(diffusion_work *work, double sign); /* adds it to the real fields, or takes it away */

/* ---- measure.cu ---- */
sim_status diffusion_cuda_measure(diffusion_work *work, int field, double cell, diffusion_statistics *out);
double diffusion_cuda_measure_bytes(double cells);
sim_status diffusion_cuda_lines(diffusion_work *work, int field, int axis, int64_t count, void *out) SIM_MUST_CHECK;
/* The first field of which something in the state is not finite, or -1. */
sim_status diffusion_cuda_broken(diffusion_work *work, const sim_buffer *state, int *field) SIM_MUST_CHECK;
/* Where steps adapt: the operation `error`, and memory for it. */
sim_status diffusion_cuda_norms_create(diffusion_work *work) SIM_MUST_CHECK;
double diffusion_cuda_norms_bytes(double fields, double numbers);
sim_status diffusion_cuda_error(diffusion_work *work, double *errors, double *sizes) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
