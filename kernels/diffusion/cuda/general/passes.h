/* The general way: in-place transforms by cuFFT, and the kernels between them. Supports every run. */
#ifndef DIFFUSION_CUDA_PASSES_H
#define DIFFUSION_CUDA_PASSES_H

#include "kernels/diffusion/cuda/general/fourier.h"
#include "kernels/diffusion/cuda/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Passes over the coefficients beyond the method's stages. */
enum { DIFFUSION_VISIT_LOAD = DIFFUSION_STAGES, DIFFUSION_VISIT_RESUME, DIFFUSION_VISIT_JUMP, DIFFUSION_VISITS };

typedef struct diffusion_general {
  diffusion_fourier *fourier;
  void *visit[DIFFUSION_VISITS]; /* cudaKernel_t */
  /* scratch: fields for outputs; derivatives: the rates' inputs beside the fields, then their fluxes */
  sim_buffer scratch, derivatives;
  void *derive, *join; /* cudaKernel_t of flows.c */
  /* grids of a field that cuFFT transforms separately: members, or lines of fields with series of their own */
  long long grids;
  sim_buffer line, cosines[3]; /* series.cu: a field; [8 n] along an axis with walls */
} diffusion_general;

/* ---- passes.cu; device memory; `fields` numbers or coefficients are in array [0] unless given ---- */
void diffusion_general_fold(diffusion_work *work, void *spectrum, int fields, bool forward); /* at walls */
void diffusion_general_load(diffusion_work *work);                                     /* real fields to array [0] */
void diffusion_general_store(diffusion_work *work, void *from, int first, int fields); /* to real fields */
/* Fills array [DIFFUSION_NOISE] with the normal numbers of a step's cells, the same as diffusion_white_noise. */
void diffusion_general_noise(diffusion_work *work, int64_t step);
void diffusion_general_visit(diffusion_work *work, int visit);
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

/* ---- flows.c ---- */
/* whether a derived field that the rates read has a part of this field */
bool diffusion_general_has_symbol(const diffusion_work *work, int derived, int field);

#ifdef __cplusplus
}
#endif

#endif
