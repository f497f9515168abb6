/* Hill's equations: motion near a circular orbit in the frame that turns with it, x outwards, y along the orbit, z
 * along its axis, x and z from the middle of the box. With the frequencies omega of the orbit, kappa of an epicycle and
 * nu of the vertical motion, and A = omega - kappa^2/(4 omega):
 *
 *   x'' = 2 omega y' + 4 omega A x,   y'' = -2 omega x',   z'' = -nu^2 z
 *
 * (G. W. Hill, Am. J. Math. 1 (1878) 5; W. H. Julian and A. Toomre, ApJ 146 (1966) 810). The motion without other
 * forces is solved exactly: an epicycle about a centre that drifts along y by -2 A x. Steps that alternate it with
 * other forces' changes of the velocities are symplectic (H. Rein and S. Tremaine, MNRAS 415 (2011) 3168); as there,
 * rotations are three shears, whose rounding does not grow. */
#ifndef COLLISION_HILL_MOTION_H
#define COLLISION_HILL_MOTION_H

/* C, nvcc and NVRTC compile this text. */
#ifdef __CUDACC__
#define HILL_INLINE static __device__ __forceinline__
#else
#define HILL_INLINE static inline
#endif

/* Constants of the motion over a time dt. */
typedef struct hill_flow {
  double omega, kappa, nu, dt;
  double centre;                     /* x of the epicycle's centre over y' + 2 omega x */
  double wide;                       /* change of y along the epicycle over the change of x' */
  double drift;                      /* displacement of the centre along y over its x */
  double sine, half, sine_z, half_z; /* sine of the angle of a step, and tangent of half the angle */
  double middle[2];                  /* x and z of the middle of the box */
  double tide;                       /* 2 omega times the rate of shear */
} hill_flow;

HILL_INLINE void hill_turn(double *x, double *v, double sine, double half) {
  *x += half * *v;
  *v -= sine * *x;
  *x += half * *v;
}

/* Advances a position and a velocity by the flow's time. */
HILL_INLINE void hill_advance(const hill_flow *f, double x[3], double v[3]) {
  const double canonical = v[1] + 2 * f->omega * (x[0] - f->middle[0]), centre = f->centre * canonical;
  const double before = v[0];
  double epicycle = x[0] - f->middle[0] - centre, rate = v[0] / f->kappa;
  hill_turn(&epicycle, &rate, f->sine, f->half);
  v[0] = rate * f->kappa;
  x[0] = f->middle[0] + (centre + epicycle);
  v[1] = canonical - 2 * f->omega * (centre + epicycle);
  x[1] += f->wide * (v[0] - before) + f->drift * centre;
  double z = x[2] - f->middle[1];
  if (f->nu > 0) {
    double rate_z = v[2] / f->nu;
    hill_turn(&z, &rate_z, f->sine_z, f->half_z);
    v[2] = rate_z * f->nu;
  } else {
    z += v[2] * f->dt;
  }
  x[2] = f->middle[1] + z;
}

/* Potential energy of a unit of mass: tide and vertical force. With v^2/2 in the turning frame it is conserved. */
HILL_INLINE double hill_potential(const hill_flow *f, double x, double z) {
  const double dx = x - f->middle[0], dz = z - f->middle[1];
  return 0.5 * (f->tide * dx * dx + f->nu * f->nu * dz * dz);
}

#endif
