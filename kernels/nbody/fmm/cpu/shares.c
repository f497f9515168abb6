#include "kernels/nbody/fmm/cpu/shares.h"

#include <math.h>
#include <string.h>

/* ---- cuts ---- */

nbody_fmm_cuts nbody_fmm_cut_equally(const sim_comm *comm, int64_t n) {
  nbody_fmm_cuts out;
  for (int r = 0; r <= comm->size; r++) out.at[r] = n * r / comm->size;
  return out;
}

static int64_t first_of_bin(int64_t n, int bin) { return n * bin / NBODY_FMM_BINS; }

nbody_fmm_cuts nbody_fmm_cut_by_work(const sim_comm *comm, int64_t n, const uint64_t *work) {
  nbody_fmm_cuts out;
  double all = 0, before = 0;
  int rank = 1;
  for (int b = 0; b < NBODY_FMM_BINS; b++) all += (double)work[b];
  out.at[0] = 0;
  for (int b = 0; b < NBODY_FMM_BINS; b++) {
    const int64_t first = first_of_bin(n, b), count = first_of_bin(n, b + 1) - first;
    const double here = (double)work[b];
    for (; rank < comm->size && here > 0 && before + here >= all * rank / comm->size; rank++)
      out.at[rank] = first + (int64_t)((all * rank / comm->size - before) / here * (double)count);
    before += here;
  }
  for (; rank <= comm->size; rank++) out.at[rank] = n;
  return out;
}

void nbody_fmm_count_work(uint64_t *work, int64_t n, int64_t first, int64_t end, uint64_t amount) {
  const double each = (double)amount / (double)(end - first);
  for (int b = (int)(first * NBODY_FMM_BINS / n); b < NBODY_FMM_BINS && first_of_bin(n, b) < end; b++) {
    const int64_t low = first_of_bin(n, b), high = first_of_bin(n, b + 1);
    const int64_t count = (high < end ? high : end) - (low > first ? low : first);
    if (count > 0) work[b] += (uint64_t)(each * (double)count);
  }
}

sim_status nbody_fmm_add_work(const sim_comm *comm, uint64_t *work, uint64_t *all) {
  SIM_TRY(comm->ops->gather(comm, work, NBODY_FMM_BINS * sizeof *work, all));
  memset(work, 0, NBODY_FMM_BINS * sizeof *work);
  for (int r = 0; r < comm->size; r++)
    for (int b = 0; b < NBODY_FMM_BINS; b++) work[b] += all[r * NBODY_FMM_BINS + b];
  return SIM_OK;
}

/* ---- cells ---- */

/* Returns the first cell of a level whose last body is `body` or a later one. `begins`: whose first body is. */
static int64_t find_cell(const nbody_fmm_tree *t, int level, int64_t body, bool begins) {
  int64_t first = t->level_first[level], last = t->level_first[level + 1];
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    const int64_t least = begins ? (int64_t)t->first[middle] : (int64_t)t->first[middle] + t->count[middle] - 1;
    if (least < body)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

nbody_fmm_range nbody_fmm_cells_with(const nbody_fmm_tree *t, int level, int64_t first, int64_t end) {
  const int64_t from = find_cell(t, level, first, false);
  return (nbody_fmm_range){from, first < end ? find_cell(t, level, end, true) : from};
}

nbody_fmm_range nbody_fmm_cells_within(const nbody_fmm_tree *t, int level, int64_t first, int64_t end) {
  const int64_t from = find_cell(t, level, first, true), to = find_cell(t, level, end, false);
  return (nbody_fmm_range){from, from < to ? to : from};
}

int64_t nbody_fmm_cell_across(const nbody_fmm_tree *t, int level, int64_t cut) {
  const int64_t cell = find_cell(t, level, cut, false);
  return cell < t->level_first[level + 1] && t->first[cell] < cut ? cell : -1;
}

/* ---- exchange ---- */

sim_status nbody_fmm_gather(const sim_comm *comm, const nbody_fmm_cuts *cuts, size_t size, void *data) {
  size_t ends[SIM_RANKS_MAX];
  for (int r = 0; r < comm->size; r++) ends[r] = (size_t)cuts->at[r + 1] * size;
  return sim_comm_gather_parts(comm, data, ends);
}

sim_status nbody_fmm_deal(const nbody_fmm_tree *t, size_t size, const void *from, void *to) {
  const size_t ranks = (size_t)t->comm->size, own = (size_t)t->comm->rank;
  sim_piece pieces[SIM_RANKS_MAX];
  const char *in = from;
  char *out = to;
  size_t count = 0;
  for (size_t r = 0; r < ranks; r++) {
    const size_t in_bytes = t->sent[own * ranks + r] * size, out_bytes = t->sent[r * ranks + own] * size;
    if (r == own)
      memcpy(out, in, in_bytes);
    else if (in_bytes + out_bytes > 0)
      pieces[count++] = (sim_piece){(int)r, in, out, in_bytes, out_bytes};
    in += in_bytes, out += out_bytes;
  }
  return t->comm->ops->swap(t->comm, pieces, count);
}

/* Copies moments and bounds of a range of cells from the tree to `buffer`, or back; NULL: copies nothing. Returns the
 * number of bytes. */
static size_t copy_moments(nbody_fmm_tree *t, nbody_fmm_range cells, char *buffer, bool back) {
  const size_t real = t->single ? sizeof(float) : sizeof(double), row = t->row * real, bound = 4 * real;
  const size_t first = (size_t)cells.first, count = (size_t)(cells.end - cells.first);
  char *moments = (char *)t->moments + first * row, *bounds = (char *)t->bounds + first * bound;
  if (buffer != NULL) {
    memcpy(back ? moments : buffer, back ? buffer : moments, count * row);
    memcpy(back ? bounds : buffer + count * row, back ? buffer + count * row : bounds, count * bound);
  }
  return count * (row + bound);
}

/* The fields have enough memory for the buffer: NBODY_FMM_FIELD(P) is at least row + 4. */
sim_status nbody_fmm_gather_moments(nbody_fmm_tree *t, const nbody_fmm_cuts *cuts) {
  const sim_comm *comm = t->comm;
  size_t ends[SIM_RANKS_MAX], at = 0;
  char *const buffer = t->field;
  for (int r = 0; r < comm->size; r++) {
    for (int level = 0; level < t->levels; level++)
      at += copy_moments(t, nbody_fmm_cells_within(t, level, cuts->at[r], cuts->at[r + 1]),
                         r == comm->rank ? buffer + at : NULL, false);
    ends[r] = at;
  }
  SIM_TRY(sim_comm_gather_parts(comm, buffer, ends));
  for (int r = 0; r < comm->size; r++) {
    at = r > 0 ? ends[r - 1] : 0;
    for (int level = 0; level < t->levels && r != comm->rank; level++)
      at += copy_moments(t, nbody_fmm_cells_within(t, level, cuts->at[r], cuts->at[r + 1]), buffer + at, true);
  }
  return SIM_OK;
}

/* Gathers the numbers of the targets of all ranks in the scratch of the sort. *out: the range of each rank. */
static sim_status gather_targets(nbody_fmm_tree *t, const nbody_fmm_cuts *cuts, const nbody_targets *targets,
                                 nbody_fmm_cuts *out) {
  const sim_comm *comm = t->comm;
  const int64_t first = cuts->at[comm->rank], end = cuts->at[comm->rank + 1];
  uint64_t count = 0, counts[SIM_RANKS_MAX];
  for (int64_t i = first; i < end; i++) count += targets->level[t->order[i]] >= targets->least;
  SIM_TRY(comm->ops->gather(comm, &count, sizeof count, counts));
  out->at[0] = 0;
  for (int r = 0; r < comm->size; r++) out->at[r + 1] = out->at[r] + (int64_t)counts[r];
  uint32_t *next = t->other_order + out->at[comm->rank];
  for (int64_t i = first; i < end; i++)
    if (targets->level[t->order[i]] >= targets->least) *next++ = t->order[i];
  return nbody_fmm_gather(comm, out, sizeof *next, t->other_order);
}

/* Gathers values of listed bodies, number[] in the state: for few bodies or targets. */
static sim_status gather_listed(nbody_fmm_tree *t, const nbody_fmm_cuts *cuts, const uint32_t *number, int components,
                                double *values) {
  const sim_comm *comm = t->comm;
  const int64_t first = cuts->at[comm->rank], end = cuts->at[comm->rank + 1], all = cuts->at[comm->size];
  double *const buffer = (double *)(void *)t->other_key;
  for (int c = 0; c < components; c++, values += t->n) {
    for (int64_t i = first; i < end; i++) buffer[i] = values[number[i]];
    SIM_TRY(nbody_fmm_gather(comm, cuts, sizeof *buffer, buffer));
    for (int64_t i = 0; i < all; i++)
      if (i < first || i >= end) values[number[i]] = buffer[i];
  }
  return SIM_OK;
}

/* Gathers values of all bodies in two steps. Each rank first gets the values of one slice of the state, which it puts
 * in order; then the slices are gathered. So a rank puts few values in order, which lie close to each other in memory.
 */
static sim_status gather_by_slices(nbody_fmm_tree *t, const nbody_fmm_cuts *cuts, int components, double *values) {
  const sim_comm *comm = t->comm;
  const size_t ranks = (size_t)comm->size, own = (size_t)comm->rank, size = sim_comm_share(comm, (size_t)t->n);
  const uint32_t *const order = t->order + cuts->at[own], share = (uint32_t)size;
  const int64_t count = cuts->at[own + 1] - cuts->at[own];
  uint64_t next[SIM_RANKS_MAX], *const mine = t->sent + own * ranks;
  nbody_fmm_cuts slices;
  for (size_t r = 0; r <= ranks; r++) slices.at[r] = (int64_t)(r * size) < t->n ? (int64_t)(r * size) : t->n;
  const int64_t slice = slices.at[own + 1] - slices.at[own];
  memset(mine, 0, ranks * sizeof *mine);
  for (int64_t i = 0; i < count; i++) mine[order[i] / share]++;
  SIM_TRY(comm->ops->gather(comm, mine, ranks * sizeof *mine, t->sent));
  for (size_t r = 0; r < ranks; r++) next[r] = r > 0 ? next[r - 1] + mine[r - 1] : 0;
  for (int64_t i = 0; i < count; i++) t->other_order[next[order[i] / share]++] = order[i];
  double *const sent = (double *)(void *)t->other_key, *const got = t->bodies;
  uint32_t *const number = (uint32_t *)(void *)(got + slice);
  SIM_TRY(nbody_fmm_deal(t, sizeof *number, t->other_order, number));
  for (int c = 0; c < components; c++, values += t->n) {
    for (int64_t i = 0; i < count; i++) sent[i] = values[t->other_order[i]];
    SIM_TRY(nbody_fmm_deal(t, sizeof *sent, sent, got));
    for (int64_t i = 0; i < slice; i++) values[number[i]] = got[i];
    SIM_TRY(nbody_fmm_gather(comm, &slices, sizeof *values, values));
  }
  return SIM_OK;
}

sim_status nbody_fmm_gather_values(nbody_fmm_tree *t, const nbody_fmm_cuts *cuts, const nbody_targets *targets,
                                   int components, double *values) {
  _Static_assert(sizeof *t->other_key == sizeof *values, "the scratch of the sort has room for values");
  if (targets == NULL && t->divided) return gather_by_slices(t, cuts, components, values);
  if (targets == NULL) return gather_listed(t, cuts, t->order, components, values);
  nbody_fmm_cuts of_targets;
  SIM_TRY(gather_targets(t, cuts, targets, &of_targets));
  return gather_listed(t, &of_targets, t->other_order, components, values);
}
