/* Direct sums for a sample of bodies, with which a run measures the error of its forces and potentials. The counterpart
 * on a GPU is ../cuda/sample.cu. */
#include "kernels/nbody/direct/cpu/periodic.h"
#include "kernels/nbody/fmm/cpu/work.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Lists group `which` of 8 samples; the last group is filled up with its first sample. Ranks divide the groups. */
static void list_eight(const int64_t *numbers, int count, size_t which, int64_t eight[8]) {
  const int first = 8 * (int)which;
  for (int k = 0; k < 8; k++) eight[k] = numbers[first + k < count ? first + k : first];
}

/* Gathers results[eights], of `bytes` each, of which every rank has computed its share. A failure of the ranks. */
static sim_status gather_eights(const sim_comm *comm, size_t eights, size_t bytes, void *results) {
  size_t ends[SIM_RANKS_MAX];
  for (int r = 0; r < comm->size; r++) {
    const size_t last = (size_t)(r + 1) * sim_comm_share(comm, eights);
    ends[r] = (last < eights ? last : eights) * bytes;
  }
  return sim_comm_gather_parts(comm, results, ends);
}

static double position_at(const nbody_state *state, int64_t i) {
  return state->dtype == SIM_F32 ? (double)((const float *)state->position)[i] : ((const double *)state->position)[i];
}

/* Computes accelerations and potentials of bodies numbers[count], count <= NBODY_SAMPLES, by direct sums, in units of
 * the frame: sums[eight][32] has three components and the potential of 8 bodies. Keeps the energies for
 * nbody_fmm_sample_potential. A failure of the ranks. */
static sim_status sum_exactly(nbody_solver_work *w, const int64_t *numbers, int count, double (*sums)[32]) {
  nbody_fmm_tree *t = &w->tree;
  w->refits = 0; /* packing ends the tree */
  nbody_fmm_tree_pack(t, &w->state);
  const size_t eights = ((size_t)count + 7) / 8;
  size_t end;
  const size_t begin = sim_comm_first(t->comm, eights, &end);
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads)
  for (size_t e = begin; e < end; e++) {
    int64_t eight[8];
    list_eight(numbers, count, e, eight);
    w->down[0]->exact(t, eight, sums[e]);
  }
  SIM_TRY(gather_eights(t->comm, eights, sizeof *sums, sums));
  const double unit = nbody_fmm_unit_of_energy(w);
  nbody_fmm_sampled *kept = &w->sampled;
  kept->count = count;
  for (int i = 0; i < count; i++) {
    kept->number[i] = numbers[i];
    kept->energy[i] = -((const double *)t->bodies)[4 * numbers[i] + 3] * sums[i / 8][24 + i % 8] * unit;
  }
  return SIM_OK;
}

/* sum_exactly, into memory that the caller frees in any case. SIM_ERR_NO_MEMORY. */
static sim_status sum_in_memory(nbody_solver_work *w, const int64_t *numbers, int count, double (**sums)[32]) {
  *sums = malloc(((size_t)count + 7) / 8 * sizeof **sums);
  if (*sums == NULL) return sim_no_memory("direct sums of %d bodies", count);
  return sum_exactly(w, numbers, count, *sums);
}

sim_status nbody_fmm_sample(nbody_solver_work *w, const int64_t *numbers, int count, double *position, double *got,
                            double *exact) {
  for (int i = 0; i < count; i++)
    for (int c = 0; c < 3; c++) {
      position[c * count + i] = position_at(&w->state, c * w->state.n + numbers[i]);
      got[c * count + i] = w->state.acceleration[c * w->state.n + numbers[i]];
    }
  if (w->options.box > 0) return nbody_direct_periodic_sample(w->direct, numbers, count, exact);
  double(*sums)[32];
  const sim_status status = sum_in_memory(w, numbers, count, &sums);
  const double factor = ldexp(w->options.G, w->tree.mass - 2 * w->tree.position);
  for (int i = 0; status == SIM_OK && i < count; i++)
    for (int c = 0; c < 3; c++) exact[c * count + i] = sums[i / 8][8 * c + i % 8] * factor;
  free(sums);
  return status;
}

sim_status nbody_fmm_sample_potential(nbody_solver_work *w, const int64_t *numbers, int count, double *got,
                                      double *exact) {
  const nbody_fmm_sampled *kept = &w->sampled;
  for (int k = 0; k < count; k++) got[k] = -w->terms[numbers[k]] * w->energy;
  if (w->options.box > 0) return nbody_direct_periodic_sample_potential(w->direct, numbers, count, exact);
  if (kept->count != count || memcmp(kept->number, numbers, (size_t)count * sizeof *numbers) != 0) {
    double(*sums)[32];
    const sim_status status = sum_in_memory(w, numbers, count, &sums);
    free(sums);
    if (status != SIM_OK) return status;
  }
  memcpy(exact, kept->energy, (size_t)count * sizeof *exact);
  return SIM_OK;
}
