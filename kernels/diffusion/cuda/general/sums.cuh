/* Parameters of a kernel that sums products of arrays and tables. Compiled by NVRTC too. */
#ifndef DIFFUSION_CUDA_SUMS_CUH
#define DIFFUSION_CUDA_SUMS_CUH

typedef struct diffusion_sums {
  void *array[6];
  const void *table[7];
  long long n[3], field;        /* complex numbers along the fast, middle and slow axis; stride of fields */
  long long rows, wide, begin;  /* rows of a field that this rank has, as in diffusion_layout */
  long long table_n[3], tables; /* table entries along the axes; numbers of one field's table */
  double scale;                 /* scale of the forward transform */
  const double *force;          /* P/(2 E) of the forcing; NULL: none */
} diffusion_sums;

#endif
