/* Self-gravity of a run: what its parts share, and a table of operations for each device (host.c, device.c). */
#ifndef COLLISION_GRAVITY_FIELD_H
#define COLLISION_GRAVITY_FIELD_H

#include "kernels/collision/gravity/gravity.h"
#include "kernels/collision/gravity/tree.h"

typedef struct collision_field collision_field;

/* Operations on the grains of run->gravity. All but create, destroy and bytes return failures of memory or device. */
typedef struct collision_field_ops {
  sim_status (*create)(collision_run *run, collision_field **out); /* `destroy` frees *out, after failures too */
  void (*destroy)(collision_field **field);
  void (*bytes)(const sim_comm *comm, double n, double *host, double *device);
  /* Builds the tree for the positions of the grains after a time `ahead` without other forces. */
  sim_status (*build)(collision_run *run, double ahead);
  /* Attractions by the present tree; they become the state's array `pull`. */
  sim_status (*pull)(collision_run *run, const collision_images *images);
  /* Writes potential energies, for a constant of gravity of -1, to terms [n] on the host: twice those of pairs. */
  sim_status (*terms)(collision_run *run, const collision_images *images, double *terms);
  /* Writes the attraction of `count` grains by the tree to got, and by direct sums to exact; host memory. */
  sim_status (*samples)(collision_run *run, const collision_images *images, int count, const int64_t *grains,
                        collision_attraction *got, collision_attraction *exact);
} collision_field_ops;

struct collision_gravity {
  const collision_field_ops *ops;
  collision_field *field;
  double opening, softening;
  int64_t every; /* number of steps for which accelerations are kept */
  int64_t built; /* step for which the tree has the positions; -1: other positions */
};

extern const collision_field_ops collision_field_host;
#ifdef SIM_HAS_CUDA
extern const collision_field_ops collision_field_device;
#endif

#endif
