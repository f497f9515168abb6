/* Division of the grains among ranks, for the general solver on the CPU. Grains stand in the order of the cells, the
 * same on all ranks, each class of radii (level) in a range of its own; a rank owns a part of each range, with as many
 * grains as the other ranks: some layers of cells across x. A rank computes the contacts of its grains and moves them;
 * their history of contacts is with it alone. Of other grains it has the numbers of those near its own (the halo),
 * renewed in each step, and ids, radii, masses and materials of all; other numbers of theirs are out of date until they
 * are gathered. One rank owns all. */
#ifndef COLLISION_DOMAIN_H
#define COLLISION_DOMAIN_H

#include "kernels/collision/general/cpu/search.h"
#include "kernels/collision/mail.h"

/* Grains of a list, by rank: those of rank r are at[first[r]] ... at[first[r + 1] - 1], increasing. */
typedef struct collision_by_rank {
  uint32_t *at; /* [room], owned */
  int64_t room, first[SIM_RANKS_MAX + 1];
} collision_by_rank;

typedef struct collision_domain {
  const sim_comm *comm;
  int levels;
  int64_t cut[COLLISION_LEVELS][SIM_RANKS_MAX + 1]; /* grains of rank r in a level: cut[level][r] ... */
  uint8_t *owner, *before;                          /* [n]: rank of each grain, now and before the last sorting */
  uint8_t *marked;                                  /* [n]: scratch */
  collision_by_rank sent, received;                 /* the halo: own grains near others', and others' near own ones */
  collision_mail mail;
} collision_domain;

/* For up to n grains; collision_domain_destroy frees it, after failures too. */
sim_status collision_domain_create(const sim_comm *comm, int64_t n, collision_domain *out) SIM_MUST_CHECK;
void collision_domain_destroy(collision_domain *domain);
/* Memory for n grains of which `halo` are near others'; record: bytes of a grain in the halo. */
double collision_domain_bytes(const sim_comm *comm, double n, double halo, double record);

/* After grains were sorted: owners, and search->block. */
void collision_domain_cut(collision_domain *domain, collision_search *search);
/* After the own grains' neighbours were listed: the halo. All ranks. */
sim_status collision_domain_list_halo(collision_domain *domain, const collision_search *search) SIM_MUST_CHECK;

/* *value: the greatest of the ranks' values, which are not negative; NaN where one is. All ranks. */
sim_status collision_domain_greatest(const collision_domain *domain, double *value) SIM_MUST_CHECK;
/* Every rank has its grains' items of array [n]; then all ranks have all. All ranks. */
sim_status collision_domain_gather(const collision_domain *domain, void *array, size_t item) SIM_MUST_CHECK;

#endif
