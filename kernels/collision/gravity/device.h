/* The tree of grains and their attraction on an NVIDIA GPU, without the host but for the number of cells: the tree of
 * cells.h and the walk of walk.c, with the same bits as on the CPU. Failures of memory and of the device. */
#ifndef COLLISION_GRAVITY_DEVICE_H
#define COLLISION_GRAVITY_DEVICE_H

#include "engine/comm/cuda/exchange.h"
#include "kernels/collision/gravity/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct collision_device_tree collision_device_tree;

/* Memory for n grains; collision_device_tree_destroy frees it, after failures too. comm: borrowed. */
sim_status collision_device_tree_create(const sim_comm *comm, int64_t n, collision_device_tree **out) SIM_MUST_CHECK;
void collision_device_tree_destroy(collision_device_tree **tree);
double collision_device_tree_bytes(const sim_comm *comm, double n);
/* Device memory that the caller fills before it builds the tree: positions [3][n] and masses [n], by index. */
double *collision_device_tree_position(const collision_device_tree *tree);
double *collision_device_tree_mass(const collision_device_tree *tree);
sim_status collision_device_tree_build(collision_device_tree *tree) SIM_MUST_CHECK;

/* Computes the attraction of each grain, which the tree keeps. All ranks: each computes a share of the grains, which
 * `exchange` (NULL with one rank) gathers. */
sim_status collision_device_tree_attract(collision_device_tree *tree, sim_exchange *exchange,
                                         const collision_images *images, double softening,
                                         double opening) SIM_MUST_CHECK;
/* Writes kept accelerations times G to pull [3][n], and 0.5 G m jump swept behind them: [n]; device memory. */
sim_status collision_device_tree_pull(const collision_device_tree *tree, double G, double jump,
                                      double *pull) SIM_MUST_CHECK;
/* Writes mass times kept potential to terms [n] on the host. */
sim_status collision_device_tree_terms(collision_device_tree *tree, double *terms) SIM_MUST_CHECK;

enum { COLLISION_DEVICE_SAMPLES = 64 };
/* Copies the kept attraction of `count` grains, up to COLLISION_DEVICE_SAMPLES, to `got` on the host, and computes the
 * sum over all grains: exact [count], on the host. Sums have a fixed order, which is not that of the CPU. */
sim_status collision_device_tree_samples(collision_device_tree *tree, const collision_images *images, double softening,
                                         int count, const int64_t *grains, collision_attraction *got,
                                         collision_attraction *exact) SIM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
