/* What a kernel that sums products of arrays and tables is given. For NVRTC too. */
#ifndef DIFFUSION_CUDA_SUMS_CUH
#define DIFFUSION_CUDA_SUMS_CUH

typedef struct diffusion_sums {
  void *array[6];
  const void *table[7];
  long long n[3], field;        /* complex numbers: fast, middle, slow; from one field to the next */
  long long table_n[3], tables; /* entries along the axes; numbers of one field's table */
  double scale;                 /* of what the forward transform gave */
} diffusion_sums;

#endif
