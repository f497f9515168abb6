/* The general way: in-place transforms by cuFFT, and the kernels between them. Supports every run. */
#ifndef DIFFUSION_CUDA_PASSES_H
#define DIFFUSION_CUDA_PASSES_H

#include "kernels/diffusion/cuda/general/fourier.h"
#include "kernels/diffusion/cuda/work.h"
#include "kernels/diffusion/implicit/implicit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Passes over the coefficients beyond the method's stages. */
enum {
  DIFFUSION_VISIT_LOAD = DIFFUSION_STAGES,
  DIFFUSION_VISIT_RESUME,
  DIFFUSION_VISIT_JUMP,
  DIFFUSION_VISIT_LINEAR, /* the first one of implicit steps (cuda/implicit/) */
  DIFFUSION_VISITS_LINEAR = 6,
  DIFFUSION_VISITS = DIFFUSION_VISIT_LINEAR + DIFFUSION_VISITS_LINEAR
};

typedef struct diffusion_slabs diffusion_slabs;

typedef struct diffusion_general {
  diffusion_fourier *fourier;
  diffusion_linearized *linearized; /* of implicit steps (cuda/implicit/); NULL: none */
  diffusion_slabs *slabs;           /* NULL: coefficients take the place of real fields */
  void *real, *slopes; /* real fields, and the rates' inputs beside them, between transforms (layout `planes`) */
  void *visit[DIFFUSION_VISITS]; /* cudaKernel_t */
  /* scratch: fields for outputs; derivatives: the rates' inputs beside the fields, then their fluxes */
  sim_buffer scratch, derivatives;
  void *derive, *join; /* cudaKernel_t of flows.c */
  /* grids of a field, in slabs of a plane, that cuFFT transforms separately: members, or lines of fields with series of
   * their own */
  long long grids;
  double stirred;              /* random forcing: standard deviation of a coefficient's re and im; 0: none */
  sim_buffer line, cosines[3]; /* series.cu: a field; [8 n] along x, y or z with walls */
} diffusion_general;

/* ---- plan.c ---- */
void diffusion_general_plan(const diffusion_parameters *p, sim_plan *out);
void diffusion_general_plan_ranks(const diffusion_parameters *p, const sim_comm *comm, sim_plan *out);
/* Returns the number of fields that are transformed at once: on small grids all of them, with their derivatives. */
int diffusion_general_together(const diffusion_parameters *p);
/* Returns the number of the rates' inputs beside the fields, which the fluxes replace. */
int diffusion_general_slopes(const diffusion_parameters *p);
/* Axes along which cuFFT transforms: those with a Fourier series, or with Makhoul's order of cells. */
typedef struct diffusion_lines {
  int rank;
  long long n[3], numbers, grids; /* numbers of a padded grid; grids of a field, with all members */
} diffusion_lines;
diffusion_lines diffusion_general_lines_of(const grid_shape *grid, bool aligned);
/* Returns the grids that one call of cuFFT transforms. It follows from the scenario alone. Small grids of all fields
 * are transformed at once; of a large ensemble as many members as keep a GPU busy. */
long long diffusion_general_batch(const diffusion_parameters *p, const diffusion_lines *lines);

/* ---- general.c: passes, and their parts for implicit steps ---- */
/* Transform columns of the numbers first, first + 1, ... in place. */
sim_status diffusion_general_forward(diffusion_work *work, void *columns, int first, int count) SIM_MUST_CHECK;
sim_status diffusion_general_inverse(diffusion_work *work, void *columns, int first, int count) SIM_MUST_CHECK;
/* Transform the coefficients in array [0] to fields and the rates' inputs beside them; and rates and fluxes to the
 * coefficients of N - div flux in array [0]. */
sim_status diffusion_general_to_cells(diffusion_work *work) SIM_MUST_CHECK;
sim_status diffusion_general_to_coefficients(diffusion_work *work) SIM_MUST_CHECK;
/* Writes the kernel of a pass over coefficients. */
void diffusion_general_add_visit(const diffusion_work *work, const diffusion_stage *stage, int number, sim_bytes *text);

/* ---- passes.cu; device memory; `fields` numbers or coefficients are in array [0] unless given ---- */
/* At walls. p: the layout of each field. */
void diffusion_general_fold(diffusion_work *work, void *spectrum, const diffusion_layout *p, int fields, bool forward);
void diffusion_general_load(diffusion_work *work, void *to);                           /* from real fields */
void diffusion_general_store(diffusion_work *work, void *from, int first, int fields); /* to real fields */
/* Fills the fields with the normal numbers of a step's cells, the same as diffusion_white_noise. */
void diffusion_general_noise(diffusion_work *work, void *fields, int64_t step);
void diffusion_general_visit(diffusion_work *work, int visit);
void diffusion_general_visit_of(diffusion_work *work, int visit, const diffusion_sums *sums); /* of other arrays */
/* Enqueues a kernel (cudaKernel_t) over the cells of `planes`. columns: of numbers that it reads and writes. */
void diffusion_general_pointwise(diffusion_work *work, const sim_kernel *kernel, double columns, void *function,
                                 void **arguments);
void diffusion_general_derive(diffusion_work *work); /* coefficients of the derivatives, from those in array [0] */
/* Subtracts the divergences of fluxes (NULL: none) from the fields' coefficients. Then removes the part of the vector
 * with a divergence. */
void diffusion_general_join(diffusion_work *work, void *fields, const void *fluxes);
/* Lowers *bad, device memory, to the number of the first wavenumber at which a derived field is not finite. kernel: a
 * cudaKernel_t of flows.c. */
void diffusion_general_check(diffusion_work *work, void *kernel, void *bad);
/* zeroes the imaginary parts where the fast axis has one cell */
void diffusion_general_blank(diffusion_work *work, void *spectrum, int fields);

/* ---- series.cu: of aligned fields; columns[count] have the numbers first, first + 1, ... of
 * diffusion_cuda_column_kind ---- */
sim_status diffusion_general_cosines(diffusion_work *work, int axis) SIM_MUST_CHECK; /* makes a table, once */
/* DIFFUSION_WHITE: a forward transform by cosines where the series is that of walls that mix value and slope. These
 * cosines are orthogonal at the cells, so that white noise stays white. */
typedef enum diffusion_pass { DIFFUSION_FORWARD, DIFFUSION_INVERSE, DIFFUSION_WHITE } diffusion_pass;
void diffusion_general_series(diffusion_work *work, void *columns, int first, int count, diffusion_pass pass);
/* The same for one column, of layout `p`. */
void diffusion_general_series_of(diffusion_work *work, void *column, const diffusion_layout *p, int number,
                                 diffusion_pass pass);
/* Returns the grid_boundary of a column's series along x, y or z in a pass. */
int diffusion_general_series_kind(const diffusion_work *work, int column, int axis, diffusion_pass pass);
/* Along z in slabs, from blocks of a column to blocks of another. number: as `first`. */
void diffusion_general_series_z(diffusion_work *work, const void *from, void *to, long long blocks, int number,
                                diffusion_pass pass);

/* ---- slabs.c: where the scenario asks for slabs ---- */
/* Creates memory for the planes of `columns` columns (fields, then the rates' inputs beside them or the fluxes), and
 * for the coefficients of `rows`: the same columns, then those of the noise; and transforms. */
sim_status diffusion_slabs_create(diffusion_work *work, int columns, int rows) SIM_MUST_CHECK;
void diffusion_slabs_destroy(diffusion_work *work);
void *diffusion_slabs_planes(const diffusion_work *work, int column);
void *diffusion_slabs_rows(const diffusion_work *work, int column);
/* Return the planes that cuFFT transforms at once, and the most bytes that a rank sends or receives at a time. */
long long diffusion_slabs_batch(const diffusion_layout *planes);
double diffusion_slabs_sent(const diffusion_parameters *p, const sim_comm *comm, const diffusion_layout *layout,
                            const diffusion_layout *planes);
/* Bytes of the fields between the turn and the transform along z, where that is not made in place, and of the
 * transforms, about. */
double diffusion_slabs_landing_bytes(const diffusion_parameters *p, const diffusion_layout *layout,
                                     const diffusion_layout *planes, const diffusion_share *parts);
double diffusion_slabs_fourier_bytes(const diffusion_parameters *p, const diffusion_layout *layout,
                                     const diffusion_layout *planes);
/* Transform columns of coefficients first, first + 1, ..., which have the numbers number, number + 1, ... of
 * diffusion_cuda_column_kind: planes to coefficients, of the noise from the planes of the fields; and coefficients
 * from[count], which are overwritten, to planes number, number + 1, .... All ranks call them. */
sim_status diffusion_slabs_forward(diffusion_work *work, int first, int number, int count,
                                   diffusion_pass pass) SIM_MUST_CHECK;
sim_status diffusion_slabs_inverse(diffusion_work *work, void *from, int number, int count) SIM_MUST_CHECK;

/* ---- turned.cu: passes over blocks[blocks] of rows between a turn and the transform along z; n: cells along z ---- */
/* Copies lines along z from blocks[n][strip] in natural order to blocks in Makhoul's order (layout.cuh), or back. kind:
 * grid_boundary; strip: numbers. */
void diffusion_turned_order(const diffusion_work *work, const void *from, void *to, long long blocks, int kind,
                            bool forward);
/* Converts blocks between Fourier coefficients and cosine coefficients along z. mirrored: coefficient k > 0 is stored
 * as number n - k, which is mode n - k of a sine series. */
void diffusion_turned_fold(const diffusion_work *work, void *blocks, long long count, bool mirrored, bool forward);
/* Copies planes' coefficients along x and y, blocks [z][wide y][row of x], to blocks [x][wide y][row of z] of numbers
 * of z for each wavenumber of x, or back. */
void diffusion_turned_across(const diffusion_work *work, const void *from, void *to, long long blocks, bool forward);

/* ---- stirring.cu: random forcing, drawn on the device ---- */
/* Returns the standard deviation of re and of im of a coefficient in the shell; 0: no random forcing. */
double diffusion_stirred_deviation(const diffusion_parameters *p);
/* Writes the forcing of a step into array [noise], which is 0 outside of the shell. */
void diffusion_general_stir(diffusion_work *work, int64_t step);

/* ---- flows.c ---- */
/* whether a derived field that the rates read has a part of this field */
bool diffusion_general_has_symbol(const diffusion_work *work, int derived, int field);

#ifdef __cplusplus
}
#endif

#endif
