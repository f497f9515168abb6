#include "kernels/nbody/direct/cpu/rounds.h"

#include <math.h>
#include <string.h>

enum {
  DIVIDED_FROM = 512, /* bodies; with fewer, an exchange costs more than it saves */
  OWN_ROUND = 2       /* weight of the round in which each block meets itself: it has twice the tiles */
};

/* ---- leaves ---- */

static int64_t circle_of(int64_t blocks) { return blocks + blocks % 2 - 1; }

/* Least number of rounds in a leaf: with half as many, one rank takes 1 % longer. */
static int leaf_least(const nbody_options *options, int block) {
  return (options->single_pairs ? 8 : 4) / (block == NBODY_BLOCK_MAX ? 2 : 1);
}

static int levels_of(const nbody_options *options, int block, int64_t blocks) {
  const int64_t length = circle_of(blocks) + OWN_ROUND;
  const int least = leaf_least(options, block);
  int levels = 0;
  while (options->n >= DIVIDED_FROM && levels < NBODY_LEVELS_OF_ROUNDS && length >> (levels + 1) >= least) levels++;
  return levels;
}

/* The leaf of a round. For the round after the last one it is the number of leaves. */
static int64_t leaf_of(int64_t round, int levels, int64_t circle) {
  const int64_t place = round == 0 ? 0 : round - 1 + OWN_ROUND;
  return (place << levels) / (circle + OWN_ROUND);
}

/* Size of nbody_rounds.leaf in numbers of type double: whole cache lines, so that the columns behind it are aligned. */
static double leaves_size(int64_t blocks) {
  const size_t line = 64, bytes = (size_t)(circle_of(blocks) + 2) * sizeof(uint16_t);
  return (double)((bytes + line - 1) / line * (line / sizeof(double)));
}

/* ---- ranks ---- */

/* Finds the largest subtrees that make up the leaves of a rank; returns their number. */
static int find_subtrees(const sim_comm *comm, int rank, int levels, nbody_subtree *out) {
  const sim_comm of = {.rank = rank, .size = comm->size};
  size_t end;
  int start = (int)sim_comm_first(&of, (size_t)1 << levels, &end), count = 0;
  while (start < (int)end) {
    int level = 0;
    while (start % (2 << level) == 0 && start + (2 << level) <= (int)end) level++;
    out[count++] = (nbody_subtree){start, level};
    start += 1 << level;
  }
  return count;
}

/* Ranks that divide the rounds; with a single leaf all ranks compute everything. */
static const sim_comm *ranks_of(const nbody_options *options, int levels) {
  return levels > 0 ? options->comm : &sim_comm_alone;
}

/* Number of subtrees of all ranks; *most: the largest number of one rank. */
static int count_subtrees(const sim_comm *comm, int levels, int *most) {
  nbody_subtree of[NBODY_SUBTREES_MAX];
  int all = 0;
  *most = 0;
  for (int rank = 0; rank < comm->size; rank++) {
    const int count = find_subtrees(comm, rank, levels, of);
    all += count;
    if (count > *most) *most = count;
  }
  return all;
}

/* Sizes of the arrays, in numbers of a column. */
typedef struct sizes {
  double share, left, done, sent, received;
} sizes;

static sizes sizes_of(const sim_comm *comm, int levels, double padded) {
  sizes out = {.left = levels * padded};
  int most;
  const int all = count_subtrees(comm, levels, &most);
  if (comm->size == 1) return out;
  out.share = (double)sim_comm_share(comm, (size_t)padded);
  out.done = (most - 1) * padded;
  out.sent = most * padded > comm->size * out.share ? most * padded : comm->size * out.share;
  out.received = all * out.share;
  return out;
}

double nbody_rounds_size(const nbody_options *options, int block, double padded, int sums) {
  const int64_t blocks = (int64_t)padded / block;
  const int levels = levels_of(options, block, blocks);
  const sizes s = sizes_of(ranks_of(options, levels), levels, padded);
  return sums * (s.left + s.done + s.sent + s.received) + leaves_size(blocks);
}

double nbody_rounds_received(const nbody_options *options, int block, double padded, int sums) {
  const int levels = levels_of(options, block, (int64_t)padded / block);
  const sim_comm *comm = ranks_of(options, levels);
  nbody_subtree of[NBODY_SUBTREES_MAX];
  int most;
  const int all = count_subtrees(comm, levels, &most);
  double received = 0;
  for (int rank = 0; rank < comm->size; rank++) {
    const sim_comm here = {.rank = rank, .size = comm->size};
    size_t end;
    const size_t first = sim_comm_first(&here, (size_t)padded, &end);
    const int others = all - find_subtrees(comm, rank, levels, of);
    received = fmax(received, (double)others * (double)(end > first ? end - first : 0));
  }
  if (comm->size > 1) received += (comm->size - 1) * (double)sim_comm_share(comm, (size_t)padded);
  return sums * received * (double)sizeof(double);
}

int nbody_rounds_most_ranks(const nbody_options *options, int block, double padded) {
  return 1 << levels_of(options, block, (int64_t)padded / block);
}

void nbody_rounds_create(const nbody_options *options, const nbody_packed *packed, int sums, double *memory,
                         nbody_rounds *out) {
  const int64_t blocks = packed->padded / packed->block;
  nbody_rounds *r = out;
  *r = (nbody_rounds){.padded = packed->padded, .block = packed->block};
  r->levels = levels_of(options, packed->block, blocks);
  r->circle = circle_of(blocks);
  r->comm = ranks_of(options, r->levels);
  r->count = find_subtrees(r->comm, r->comm->rank, r->levels, r->subtree);
  r->leaf = (uint16_t *)(void *)memory;
  memory += (size_t)leaves_size(blocks);
  for (int64_t round = 0; round < r->circle + 2; round++)
    r->leaf[round] = (uint16_t)leaf_of(round, r->levels, r->circle);
  if (r->count > 0) {
    const nbody_subtree *last = &r->subtree[r->count - 1];
    while (r->leaf[r->first] < r->subtree[0].start) r->first++;
    for (r->end = r->first; r->leaf[r->end] < last->start + (1 << last->level); r->end++) continue;
  }
  const sizes s = sizes_of(r->comm, r->levels, (double)r->padded);
  const int64_t column = sums * r->padded;
  for (int level = 0; level < r->levels; level++, memory += column) r->left[level] = memory;
  for (int k = 0; k < r->count - 1; k++) r->done[k] = memory + k * column;
  if (r->comm->size == 1) return;
  r->sent = memory + (size_t)(sums * s.done);
  r->received = r->sent + (size_t)(sums * s.sent);
}

/* ---- one block ---- */

void nbody_rounds_begin(const nbody_rounds *r, const nbody_packed *packed, int sums, int64_t block) {
  for (int c = 0; c < sums; c++) memset(packed->sum[c] + block * r->block, 0, sizeof(double) * (size_t)r->block);
}

/* to = left[levels - 1] + (... + (left[0] + own)); `to` may be `own`. */
static void add_left(const double *const *left, int levels, int block, const double *own, double *to) {
  if (levels == 0) memcpy(to, own, sizeof(double) * (size_t)block);
  for (int level = 0; level < levels; level++, own = to)
    for (int i = 0; i < block; i++) to[i] = left[level][i] + own[i];
}

void nbody_rounds_end(const nbody_rounds *r, const nbody_packed *packed, int sums, int64_t round, int64_t block) {
  const int leaf = r->leaf[round];
  int at = 0;
  while (at < r->count - 1 && leaf >= r->subtree[at + 1].start) at++;
  const bool last = at == r->count - 1;
  const int top = r->subtree[at].level;
  int level = 0;
  while (level < top && leaf >> level & 1) level++;
  if (last && top == 0) return;
  const double *left[NBODY_LEVELS_OF_ROUNDS];
  for (int c = 0; c < sums; c++) {
    const int64_t place = c * r->padded + block * r->block;
    double *const own = packed->sum[c] + block * r->block;
    double *const to = level < top ? r->left[level] + place : last ? own : r->done[at] + place;
    for (int k = 0; k < level; k++) left[k] = r->left[k] + place;
    add_left(left, level, r->block, own, to);
  }
}

/* ---- exchange ---- */

/* First body of a rank; *end: the body after its last one. */
static int64_t bodies_of(const nbody_rounds *r, int rank, int64_t *end) {
  const sim_comm of = {.rank = rank, .size = r->comm->size};
  size_t behind;
  const size_t first = sim_comm_first(&of, (size_t)r->padded, &behind);
  *end = (int64_t)behind;
  return (int64_t)first;
}

/* Copies what a rank needs of this rank's subtrees to `to`: [subtrees][sums][its bodies]. Returns the end. */
static double *pack_for(const nbody_rounds *r, const nbody_packed *packed, int sums, int rank, double *to) {
  int64_t end;
  const int64_t first = bodies_of(r, rank, &end);
  for (int k = 0; k < r->count; k++)
    for (int c = 0; c < sums && first < end; c++, to += end - first)
      memcpy(to, (k < r->count - 1 ? r->done[k] + c * r->padded : packed->sum[c]) + first,
             sizeof(double) * (size_t)(end - first));
  return to;
}

/* Adds the rest of the tree over r->received: [subtrees of all ranks][size]. Returns the sums [size]. */
static const double *add_subtrees(const nbody_rounds *r, size_t size) {
  double *left[NBODY_LEVELS_OF_ROUNDS + 1] = {NULL}, *next = r->received;
  for (int rank = 0; rank < r->comm->size; rank++) {
    nbody_subtree of[NBODY_SUBTREES_MAX];
    const int count = find_subtrees(r->comm, rank, r->levels, of);
    for (int k = 0; k < count; k++, next += size) {
      int level = of[k].level;
      double *restrict sum = next;
      for (; of[k].start >> level & 1; level++) {
        double *restrict other = left[level];
        for (size_t i = 0; i < size; i++) other[i] = other[i] + sum[i];
        sum = other;
      }
      left[level] = sum;
    }
  }
  return left[r->levels];
}

static sim_status swap_subtrees(const nbody_rounds *r, const nbody_packed *packed, int sums, size_t size) {
  const sim_comm *comm = r->comm;
  sim_piece pieces[SIM_RANKS_MAX];
  double *in = r->sent, *out = r->received;
  size_t count = 0;
  for (int rank = 0; rank < comm->size; rank++) {
    nbody_subtree of[NBODY_SUBTREES_MAX];
    const size_t expected = size * (size_t)find_subtrees(comm, rank, r->levels, of);
    if (rank == comm->rank) {
      (void)pack_for(r, packed, sums, rank, out);
    } else {
      double *const end = pack_for(r, packed, sums, rank, in);
      pieces[count++] = (sim_piece){.rank = rank,
                                    .in = in,
                                    .out = out,
                                    .in_bytes = (size_t)(end - in) * sizeof *in,
                                    .out_bytes = expected * sizeof *out};
      in = end;
    }
    out += expected;
  }
  return comm->ops->swap(comm, pieces, count);
}

sim_status nbody_rounds_exchange(const nbody_rounds *r, const nbody_packed *packed, int sums) {
  const sim_comm *comm = r->comm;
  if (comm->size == 1) return SIM_OK;
  int64_t end;
  const int64_t first = bodies_of(r, comm->rank, &end), room = (int64_t)sim_comm_share(comm, (size_t)r->padded);
  SIM_TRY(swap_subtrees(r, packed, sums, (size_t)(sums * (end - first))));
  const double *own = add_subtrees(r, (size_t)(sums * (end - first)));
  double *const all = r->sent, *const place = all + comm->rank * sums * room;
  for (int c = 0; c < sums && first < end; c++)
    memcpy(place + c * room, own + c * (end - first), sizeof(double) * (size_t)(end - first));
  SIM_TRY(comm->ops->gather(comm, place, sizeof(double) * (size_t)(sums * room), all));
  for (int rank = 0; rank < comm->size; rank++) {
    const int64_t from = bodies_of(r, rank, &end);
    for (int c = 0; c < sums && from < end; c++)
      memcpy(packed->sum[c] + from, all + (rank * sums + c) * room, sizeof(double) * (size_t)(end - from));
  }
  return SIM_OK;
}
