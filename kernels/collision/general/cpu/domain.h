/* Division of the grains among ranks, for the general solver on the CPU. Grains are in the order of the cells, the same
 * on all ranks, each class of radii (level) in a range of its own. A rank owns a part of each range, with as many
 * grains as the other ranks: some layers of cells across x. A rank computes the contacts of its grains and moves them,
 * and it alone has the history of their contacts. Of other ranks' grains it has positions and velocities of those near
 * its own grains (the halo), renewed in each step, and ids, radii, masses and materials of all; their other data are
 * out of date until they are gathered. A single rank owns all grains. */
#ifndef COLLISION_DOMAIN_H
#define COLLISION_DOMAIN_H

#include "kernels/collision/general/cpu/search.h"
#include "kernels/collision/mail.h"

/* Lists of grains, one for each rank: at[first[r]] ... at[first[r + 1] - 1], increasing, for rank r. */
typedef struct collision_by_rank {
  uint32_t *at; /* [room], owned */
  int64_t room, first[SIM_RANKS_MAX + 1];
} collision_by_rank;

typedef struct collision_domain {
  const sim_comm *comm;
  int levels;
  int64_t cut[COLLISION_LEVELS][SIM_RANKS_MAX + 1]; /* first grain of rank r in a level: cut[level][r] */
  uint8_t *owner, *before;                          /* [n]: rank of each grain, now and before the last sorting */
  uint8_t *marked;                                  /* [n]: scratch */
  collision_by_rank sent, received;                 /* the halo: own grains near others', and others' near own grains */
  collision_mail mail;
} collision_domain;

/* Allocates a division of up to n grains; collision_domain_destroy frees it, after failures too. SIM_ERR_NO_MEMORY. */
sim_status collision_domain_create(const sim_comm *comm, int64_t n, collision_domain *out) SIM_MUST_CHECK;
void collision_domain_destroy(collision_domain *domain);
/* Expected number of other ranks' grains near those of a rank, as grains are spread (scenario/spread.h). */
double collision_domain_halo(const collision_options *o);
/* Bytes for n grains, of which `halo` are near other ranks' grains; record: bytes of a grain in the halo. */
double collision_domain_bytes(const sim_comm *comm, double n, double halo, double record);

/* Sets the owners, and search->block. Call it after grains were sorted. */
void collision_domain_cut(collision_domain *domain, collision_search *search);
/* Lists the halo. Call it after the neighbours of own grains were listed. All ranks. */
sim_status collision_domain_list_halo(collision_domain *domain, const collision_search *search) SIM_MUST_CHECK;

/* Replaces *value by the greatest of the ranks' values, which are not negative; NaN where one of them is. All ranks. */
sim_status collision_domain_greatest(const collision_domain *domain, double *value) SIM_MUST_CHECK;
/* Gathers array [n] of elements of `item` bytes, of which each rank has those of its grains. All ranks. */
sim_status collision_domain_gather(const collision_domain *domain, void *array, size_t item) SIM_MUST_CHECK;

#endif
