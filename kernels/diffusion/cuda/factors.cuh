/* What the tables of a scheme are made of, on the device. For NVRTC too. */
#ifndef DIFFUSION_CUDA_FACTORS_CUH
#define DIFFUSION_CUDA_FACTORS_CUH

/* L of a field, but for its function of the wavenumber. */
typedef struct diffusion_own {
  double D[3], tensor[3], drift[3], hyper, decay; /* D times the axes' factors */
  double axes[3], cross[8];                       /* where fields diffuse across each other */
  double noise;                                   /* as diffusion_filling has it */
  int conserved;
} diffusion_own;

/* For steps of dt; axes are x, y, z. */
typedef struct diffusion_making {
  diffusion_own field[8];
  long long n[3];
  double size[3], dt, scale, dealias;
  int kind[3], rank, apart, scheme;
  int weights;    /* the table of the noise; -1: none */
  void *table[7]; /* of the first field; of matrices [fields][fields] where fields diffuse across each other */
  int tables;
  long long numbers; /* from one field, or element, to the next */
  /* where entries stand: of each axis of the place (place.cuh), fast, middle, slow; not of flat ones */
  long long entries[3];
  int axis[3], factor; /* diffusion_factor */
} diffusion_making;

#endif
