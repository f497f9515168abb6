/* State of a run on the GPU, and what the ways to make steps (way.h) share. Pointers are to device memory, but for
 * those that own a struct. */
#ifndef DIFFUSION_CUDA_WORK_H
#define DIFFUSION_CUDA_WORK_H

#include "engine/device/compile.h"
#include "kernels/diffusion/cuda/factors.cuh"
#include "kernels/diffusion/cuda/general/sums.cuh"
#include "kernels/diffusion/cuda/place.cuh"
#include "kernels/diffusion/cuda/programs.h"
#include "kernels/diffusion/cuda/way.h"
#include "kernels/diffusion/diffusion.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Coefficients are complex, [slow][middle][fast], fast: n/2 + 1; with walls all around the real part is that of fast
 * wavenumber k and the imaginary one that of n - k. Tables are folded at the sign of wavenumbers, if not complex. */
typedef struct diffusion_spectrum {
  long long n[3];             /* complex numbers: fast, middle, slow */
  long long field;            /* complex numbers from one field to the next */
  long long table[3], tables; /* entries of a table along the axes; numbers of one field's table */
  int column_threads;         /* coefficients in the order of flat/columns.cuh: threads of a column; else 0 */
  diffusion_factor factor;
} diffusion_spectrum;

struct diffusion_work {
  const diffusion_parameters *p;
  const diffusion_way *way;
  union {
    struct diffusion_general *general;
    struct diffusion_flat_work *flat;
    struct diffusion_fused_work *fused;
    struct diffusion_axes_work *axes;
  } own; /* the way's */
  grid_shape grid;
  diffusion_place place, natural; /* of fields that are transformed, and of those for outputs */
  diffusion_spectrum spectrum;
  diffusion_method method;
  double scale;                /* makes of a transformed field its coefficients */
  diffusion_programs programs; /* until they are compiled, which goes on beside what comes first */
  sim_module *module;
  bool ready;         /* kernels are found */
  void *rates, *fill; /* cudaKernel_t */
  sim_buffer array[DIFFUSION_ARRAYS], table[DIFFUSION_TABLES], real;
  diffusion_gradients gradients; /* that the rates take */
  diffusion_lift lift[DIFFUSION_FIELDS];
  double *statistics, *norms; /* norms where steps adapt */
  void *lines;                /* of the operation `lines` */
  unsigned fluctuating;       /* a bit for each field that does */
  int slot, slots;            /* tables are of the steps length[slot] */
  double length[DIFFUSION_SLOTS];
  int fields, members;  /* members: grids beside each other */
  bool single, crossed; /* crossed: tables are matrices of the fields */
};

/* ---- ops.c ---- */

/* The operation `create` by a way that supports the run; NULL: the one that runs take. For tests and benchmarks. */
sim_status diffusion_cuda_create(const diffusion_parameters *p, const diffusion_way *way,
                                 diffusion_work **out) SIM_MUST_CHECK;

/* ---- layout.c ---- */
diffusion_place diffusion_cuda_place(const grid_shape *grid);
diffusion_place diffusion_cuda_natural(const grid_shape *grid);
diffusion_spectrum diffusion_cuda_spectrum(const diffusion_place *place, bool complex);
double diffusion_cuda_scale(const grid_shape *grid); /* of transforms that leave out the axis of members */
/* Buffers for method.tables tables, in all slots. */
sim_status diffusion_cuda_take_tables(diffusion_work *work) SIM_MUST_CHECK;
int diffusion_cuda_table_parts(const diffusion_work *work);        /* tables of numbers that one of the scheme has */
void *diffusion_cuda_table(const diffusion_work *work, int table); /* of the first field, in the slot that is used */
diffusion_sums diffusion_cuda_sums(const diffusion_work *work);    /* arguments of a visit to the coefficients */
double diffusion_cuda_number_size(const diffusion_parameters *p);  /* bytes of a number of a field */
/* Whether a way with transforms in registers may serve: so many fields at most, in single precision, of one grid, with
 * a real L and rates of the fields alone, on a GPU that has what it needs. */
bool diffusion_cuda_in_registers(const diffusion_parameters *p, int fields);

/* ---- tables.c: tables of the scheme, made on the device ---- */
sim_status diffusion_cuda_write_fill(const diffusion_work *work, diffusion_programs *programs) SIM_MUST_CHECK;
void diffusion_cuda_make_tables(diffusion_work *work, double dt);

/* ---- text.c ---- */
/* All that the run needs; to be freed, whatever happened. */
sim_status diffusion_cuda_write(const diffusion_work *work, diffusion_programs *programs) SIM_MUST_CHECK;
bool diffusion_cuda_has_rates(const diffusion_work *work); /* as a kernel of their own */

/* ---- general/write_sums.c ---- */
/* Sums of a stage at i and k of the tables. Arrays `held` are in a0, a1, ...; those `dropped` are not stored. */
void diffusion_cuda_write_sums(const diffusion_stage *stage, diffusion_factor factor, unsigned held, unsigned dropped,
                               sim_bytes *text);
/* The same of all `fields` in one thread, where tables are matrices of them. */
void diffusion_cuda_write_crossed_sums(const diffusion_stage *stage, diffusion_factor factor, int fields,
                                       sim_bytes *text);
/* Stages beside those of the method: the state, array [state], from what was loaded, and array [0] from the state. */
diffusion_stage diffusion_cuda_load_stage(int state);
diffusion_stage diffusion_cuda_resume_stage(int state);

/* ---- general/passes.cu ---- */
/* fields[fields] in place, at `place`; derivatives[gradients] (NULL: there are none) lie as they do. */
void diffusion_cuda_rates(diffusion_work *work, void *fields, void *derivatives, const diffusion_place *place,
                          const diffusion_step_context *context);
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
