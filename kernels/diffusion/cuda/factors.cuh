/* Parameters of the kernels that compute a scheme's tables. Compiled by NVRTC too. */
#ifndef DIFFUSION_CUDA_FACTORS_CUH
#define DIFFUSION_CUDA_FACTORS_CUH

/* L of a field, without its function of the wavenumber. */
typedef struct diffusion_own {
  double D[3], tensor[3], drift[3], hyper, decay; /* D times the axes' factors */
  double axes[3], cross[8];                       /* D factors of the axes, and cross diffusivities */
  double noise;                                   /* diffusion_filling.noise */
  double shell[2];                                /* wavenumbers of the forcing; shell[1] 0: the field has none */
  int conserved, kind[3];                         /* kind: grid_boundary along each axis */
  long long waves[3]; /* of kind GRID_ROBIN: where its wavenumbers and then its mean squares begin in making.waves */
} diffusion_own;

/* Tables for steps of dt; axes are x, y, z. */
typedef struct diffusion_making {
  diffusion_own field[8];
  long long n[3];
  double size[3], dt, scale, dealias;
  int rank, member_axis, scheme;
  long long first_member; /* of this rank, from 0 on */
  int aligned;            /* entry k of every series between walls is mode k, or n of a sine series at 0 (series.cu) */
  int weights;            /* index of the table of the noise, or of the forcing's shell, or -1 */
  int forced, stirred;    /* whether that table is the shell's; stirred: of random forcing */
  const double *waves;    /* of diffusion_bases */
  void *table[7];         /* tables of the first field; with cross diffusion [fields][fields] tables */
  int tables;
  long long numbers; /* stride from one field, or matrix element, to the next */
  /* entries along the fast, middle and slow axis (layout.cuh); 1 for absent axes */
  long long entries[3];
  int axis[3], factor; /* diffusion_factor */
  /* fill_flow: kx of a tile, tiles along ky, and the kept ky: their number, and those from 0 on; 1 on two axes */
  int wide, across, kept, low;
} diffusion_making;

#endif
