/* Direct sums: packing of bodies, the order of pairs of blocks, threads and ranks.
 *
 *   mass, position (f32 | f64) --pack--> x y z m (fp32 | fp64, scaled) --tiles--> sums (fp64) --x factor--> a, jerk, U
 *
 * Tiles (tile.c) use Newton's third law, so a tile writes to the sums of two blocks. Pairs of blocks are taken in the
 * rounds of a round-robin tournament: in a round every block is in one tile at most, so that the tiles of a round may
 * run on any threads in any order, and every block adds its tiles by the rounds, in the tree of rounds.h:
 *
 *   round 0: (0,0) (1,1) (2,2) (3,3)    each with itself
 *   round 1: (3,0) (1,2)                block 3 stays, the others rotate (circle method)
 *   round 2: (3,1) (2,0)
 *   round 3: (3,2) (0,1)
 *
 * So the bits do not depend on the number of threads or ranks, and nothing is summed by atomics or kept once a thread.
 * The block size depends on n alone. Few bodies take the reference form (reference.c), on each rank.
 *
 * A common centre is subtracted from positions: a multiple of the power of two above their extent, which is exact for
 * fp32 input. They are then scaled by a power of two to span about 1, or 2^40 for fp64 terms, whose start value is a
 * float. Distances are then exact down to 2^-40 of the extent or the softening length (fp32 terms) and 2^-100 (fp64).
 * Masses are scaled by the greatest. The units of a scenario therefore do not matter. */
#include "kernels/nbody/direct/cpu/direct.h"

#include "engine/reduce.h"
#include "kernels/nbody/direct/cpu/custom_law.h"
#include "kernels/nbody/direct/cpu/rounds.h"
#include "kernels/nbody/direct/direct.h"
#include "kernels/nbody/physics.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
  REFERENCE_BELOW = 32, /* bodies; tiles are faster from about here on (measured) */
  THREADS_FROM = 512,   /* bodies; below, starting the threads costs more than they save */
  SPAN_DOUBLE = 40,     /* log2 of the packed extent for fp64 terms */
  SPINS = 2000,         /* polls of a block before the thread yields its processor */
  START_RANGE = 512,    /* bodies of a task of the first adaptive step */
  EXPONENT_LIMIT = 1000 /* keeps powers of two finite whatever the input */
};

struct nbody_solver_work {
  nbody_options options;
  nbody_state state;
  const nbody_tiles *tiles[2]; /* [0] fp64, [1] fp32 pair terms */
  const nbody_reference *references[2];
  bool reference;       /* the reference form is used */
  nbody_packed packed;  /* body columns hold fp64 without options.single_pairs, and for the potential */
  nbody_rounds rounds;  /* one for each round of the tournament; unused with `reference` */
  double *partial;      /* of reductions: [padded / START_RANGE + 1] */
  nbody_custom_law law; /* with options.laws.pair */
  atomic_int *played;   /* [blocks]: number of rounds whose tiles are in a block's sums */
  int64_t *target;      /* individual steps: indices of the bodies whose forces are computed, [padded + 16] */
  double *rows;         /* forces on the bodies of `target`, [ranks][3][room] */
  void *memory;         /* one allocation for all arrays above */
  nbody_failure failure;
};

static int block_size(int64_t n) { return n < 1024 ? 64 : n < 8192 ? 128 : n < 65536 ? 256 : NBODY_BLOCK_MAX; }

static bool uses_reference(const nbody_options *options, bool asked) {
  return options->laws.pair == NULL && (asked || options->n < REFERENCE_BELOW);
}

static double target_size(const nbody_options *options, double padded) {
  return options->individual ? padded + NBODY_ROW_BODIES : 0;
}

static double padded_size(const nbody_options *options, bool reference) {
  double block = reference ? 8 : block_size(options->n);
  return ceil((double)options->n / block) * block;
}

static double rows_size(const nbody_options *options, double padded) {
  return options->individual ? 3 * nbody_share_total(options->comm, padded, NBODY_ROW_BODIES) : 0;
}

static int sum_count(const nbody_options *options) { return options->jerk ? 6 : 3; }

/* Number of columns, each of the size of fp64, because the potential is always fp64. */
static int column_count(const nbody_options *options) {
  return (options->jerk ? NBODY_COLUMNS : 4) + sum_count(options);
}

static double rounds_size(const nbody_options *options, bool reference, double padded) {
  return reference ? 0 : nbody_rounds_size(options, block_size(options->n), padded, sum_count(options));
}

static double partial_size(double padded) { return ceil((padded / START_RANGE + 1) / 8) * 8; }
_Static_assert((int)START_RANGE <= (int)SIM_REDUCE_BLOCK, "room for the partial results of both");
static double played_size(double padded) { return ceil((padded / NBODY_BLOCK_MIN + 1) / 8) * 8; }

/* Bytes of all arrays except those of a custom law. */
static double arrays_size(const nbody_options *options, bool reference) {
  double padded = padded_size(options, reference);
  return (padded * column_count(options) + rounds_size(options, reference, padded) + partial_size(padded) +
          target_size(options, padded) + rows_size(options, padded) + played_size(padded)) *
         (double)sizeof(double);
}

static void bytes(const nbody_options *options, double *host, double *device) {
  nbody_custom_law law;
  *host = *device = 0;
  if (options->laws.no_pairs) return;
  *host = arrays_size(options, uses_reference(options, false)) + (double)sizeof(nbody_solver_work);
  if (options->laws.pair != NULL && nbody_custom_law_create(options, &law) == SIM_OK) {
    *host += nbody_custom_law_bytes(&law);
    nbody_custom_law_destroy(&law);
  }
}

static const nbody_tiles *const all_tiles[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&nbody_tiles_double_plain, &nbody_tiles_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {&nbody_tiles_double_avx2, &nbody_tiles_single_avx2},
    [SIM_ISA_AVX512] = {&nbody_tiles_double_avx512, &nbody_tiles_single_avx512},
#endif
};

static const nbody_tiles *const all_custom_tiles[SIM_ISA_COUNT][2] = {
    [SIM_ISA_PLAIN] = {&nbody_custom_tiles_double_plain, &nbody_custom_tiles_single_plain},
#if NBODY_X86
    [SIM_ISA_AVX2] = {&nbody_custom_tiles_double_avx2, &nbody_custom_tiles_single_avx2},
    [SIM_ISA_AVX512] = {&nbody_custom_tiles_double_avx512, &nbody_custom_tiles_single_avx512},
#endif
};

static void destroy(nbody_solver_work **work) {
  if (*work == NULL) return;
  nbody_custom_law_destroy(&(*work)->law);
  free((*work)->memory);
  free(*work);
  *work = NULL;
}

static sim_status take_arrays(nbody_solver_work *w) {
  const nbody_options *options = &w->options;
  const double size = arrays_size(options, w->reference);
  if (size < (double)(SIZE_MAX / 2)) w->memory = aligned_alloc(64, ((size_t)size + 63) / 64 * 64);
  if (w->memory == NULL)
    return sim_no_memory("the direct sum of %lld bodies: %.0f MB", (long long)options->n, size / 1e6);
  nbody_packed *packed = &w->packed;
  packed->n = options->n;
  packed->block = block_size(options->n);
  packed->padded = (int64_t)padded_size(options, w->reference);
  double *next = w->memory;
  for (int c = 0; c < (options->jerk ? NBODY_COLUMNS : 4); c++, next += packed->padded) packed->body[c] = next;
  for (int c = 0; c < sum_count(options); c++, next += packed->padded) packed->sum[c] = next;
  if (!w->reference) nbody_rounds_create(options, packed, sum_count(options), next, &w->rounds);
  next += (size_t)rounds_size(options, w->reference, (double)packed->padded);
  w->partial = next;
  next += (size_t)partial_size((double)packed->padded);
  w->target = (int64_t *)(void *)next;
  next += (size_t)target_size(options, (double)packed->padded);
  w->rows = next;
  w->played = (atomic_int *)(next + (size_t)rows_size(options, (double)packed->padded));
  if (w->reference) packed->padded = packed->n;
  if (options->laws.pair == NULL) return SIM_OK;
  packed->law = &w->law;
  return nbody_custom_law_create(options, &w->law);
}

sim_status nbody_direct_cpu_create(const nbody_options *options, const nbody_state *state, bool reference,
                                   nbody_solver_work **out) {
  *out = NULL;
  if (options->n < 1 || options->threads < 1)
    return sim_fail(SIM_ERR_INTERNAL, "direct sum: %lld bodies, %d threads", (long long)options->n, options->threads);
  nbody_solver_work *w = calloc(1, sizeof *w);
  if (w == NULL) return sim_no_memory("the direct sum");
  const bool custom = options->laws.pair != NULL;
  w->options = *options;
  w->state = *state;
  w->reference = uses_reference(options, reference);
  int isa = options->isa < sim_isa_best() ? options->isa : sim_isa_best();
  while (!all_tiles[isa][0]) isa--;
  for (int single = 0; single < 2; single++)
    w->tiles[single] = custom ? all_custom_tiles[isa][single] : all_tiles[isa][single];
  w->references[0] = &nbody_reference_double_plain;
  w->references[1] = &nbody_reference_single_plain;
  *out = w;
  sim_status status = options->laws.no_pairs ? SIM_OK : take_arrays(w);
  if (status != SIM_OK) destroy(out);
  return status;
}

static sim_status create(const nbody_options *options, const nbody_state *state, nbody_solver_work **out) {
  return nbody_direct_cpu_create(options, state, false, out);
}

static const char *describe(const nbody_solver_work *w) {
  if (w->reference) return "plain loop";
  switch (w->packed.block) {
  case 64: return "Newton's third law, blocks of 64";
  case 128: return "Newton's third law, blocks of 128";
  case 256: return "Newton's third law, blocks of 256";
  default: return "Newton's third law, blocks of 512";
  }
}

/* ---- packing ---- */

static inline double element(sim_dtype dtype, const void *data, int64_t i) {
  return dtype == SIM_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static const void *column(sim_dtype dtype, const void *data, int64_t n, int c) {
  return (const char *)data + (size_t)(c * n) * sim_dtype_size(dtype);
}

/* Smallest e with |a| < 2^e, within limits; 0 for 0 and for values that are not finite. */
static int exponent_above(double a) {
  int exponent = 0;
  if (a != 0 && isfinite(a)) (void)frexp(a, &exponent);
  return exponent < -EXPONENT_LIMIT ? -EXPONENT_LIMIT : exponent > EXPONENT_LIMIT ? EXPONENT_LIMIT : exponent;
}

/* Frame of packed vectors: packed = (value - centre) 2^-exponent. */
typedef struct frame {
  double centre[3];
  int exponent;
} frame;

static frame frame_of(const nbody_state *state, const void *vectors, double least) {
  const int64_t n = state->n;
  const sim_dtype dtype = state->dtype;
  double middle[3], extent = least;
  for (int c = 0; c < 3; c++) {
    const void *x = column(dtype, vectors, n, c);
    double low = element(dtype, x, 0), high = low;
    for (int64_t i = 1; i < n; i++) {
      double a = element(dtype, x, i);
      low = a < low ? a : low;
      high = a > high ? a : high;
    }
    middle[c] = low / 2 + high / 2;
    extent = high - low > extent ? high - low : extent;
  }
  frame out = {.exponent = exponent_above(extent)};
  double unit = ldexp(1, out.exponent);
  for (int c = 0; c < 3; c++) out.centre[c] = unit * trunc(middle[c] / unit);
  return out;
}

static void pack_column(nbody_packed *packed, int c, bool single, sim_dtype dtype, const void *in, double centre,
                        double scale) {
  if (single) {
    float *out = packed->body[c];
    for (int64_t i = 0; i < packed->n; i++) out[i] = (float)((element(dtype, in, i) - centre) * scale);
    for (int64_t i = packed->n; i < packed->padded; i++) out[i] = 0;
  } else {
    double *out = packed->body[c];
    for (int64_t i = 0; i < packed->n; i++) out[i] = (element(dtype, in, i) - centre) * scale;
    for (int64_t i = packed->n; i < packed->padded; i++) out[i] = 0;
  }
}

typedef struct scales {
  int position, velocity, mass; /* input = packed x 2^exponent */
} scales;

/* Packs the bodies; `velocities`: with velocities. */
static scales pack(nbody_solver_work *w, bool single, bool velocities) {
  nbody_packed *packed = &w->packed;
  const nbody_state *state = &w->state;
  const sim_dtype dtype = state->dtype;
  const int64_t n = packed->n;
  scales out = {0};
  const double softening = w->options.softening;
  frame x = frame_of(state, state->position, softening);
  const bool scaled = packed->law == NULL;
  if (scaled) out.position = x.exponent - (single ? 0 : SPAN_DOUBLE);
  double scale = ldexp(1, -out.position);
  for (int c = 0; c < 3; c++)
    pack_column(packed, NBODY_X + c, single, dtype, column(dtype, state->position, n, c), x.centre[c], scale);
  packed->softening2 = (softening * scale) * (softening * scale);

  double greatest = 0;
  for (int64_t i = 0; i < n; i++) {
    double m = element(dtype, state->mass, i);
    greatest = m > greatest ? m : greatest;
  }
  if (scaled) out.mass = exponent_above(greatest);
  pack_column(packed, NBODY_MASS, single, dtype, state->mass, 0, ldexp(1, -out.mass));

  if (velocities) {
    frame v = frame_of(state, state->velocity, 0);
    if (scaled) out.velocity = v.exponent;
    for (int c = 0; c < 3; c++)
      pack_column(packed, NBODY_V + c, single, dtype, column(dtype, state->velocity, n, c), v.centre[c],
                  ldexp(1, -out.velocity));
  }

  /* Bodies that pad the last block lie on a line, at least twice the extent away from all others. */
  for (int64_t i = n; i < packed->padded; i++) {
    double far = ldexp((double)(4 + i - n), single ? 0 : SPAN_DOUBLE);
    if (single)
      ((float *)packed->body[NBODY_X])[i] = (float)far;
    else
      ((double *)packed->body[NBODY_X])[i] = far;
  }
  return out;
}

/* ---- all pairs ---- */

/* Waits until `block` has been in `rounds` rounds. The thread that works on the block may be preempted. */
static void await(const atomic_int *block, int rounds) {
  for (int tries = 0; atomic_load_explicit(block, memory_order_acquire) != rounds; tries++)
    if (tries > SPINS) sched_yield();
}

static void finish(atomic_int *block, int rounds) { atomic_store_explicit(block, rounds, memory_order_release); }

/* Plays this rank's games (tiles). Threads take games in order, and a game waits only for its two blocks: without
 * barriers, a preempted thread delays only games of its own blocks. The games that a game waits for were taken before
 * it, so that there is no deadlock. */
static void tournament(nbody_solver_work *w, int sums, nbody_tile *tile) {
  const nbody_packed *packed = &w->packed;
  const nbody_rounds *rounds = &w->rounds;
  const int64_t block = packed->block, blocks = packed->padded / block;
  /* with an odd number of blocks one block has no game in each round */
  const int64_t seats = blocks + blocks % 2, circle = seats - 1, games = seats / 2;
  const int64_t skipped = rounds->first == 0 ? 0 : blocks + (rounds->first - 1) * games;
  const int64_t end = rounds->end == 0 ? 0 : blocks + (rounds->end - 1) * games;
  atomic_int *const played = w->played;
  int threads = packed->n < THREADS_FROM ? 1 : w->options.threads;
  if (threads > games) threads = (int)games;
  for (int64_t b = 0; b < blocks; b++) atomic_init(&played[b], (int)rounds->first);
  _Atomic int64_t next = skipped;
#pragma omp parallel num_threads(threads) if (threads > 1)
  for (int64_t game; (game = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed)) < end;) {
    const bool self = game < blocks;
    const int64_t round = self ? 0 : 1 + (game - blocks) / games, k = self ? 0 : (game - blocks) % games;
    const int64_t i = self ? game : k == 0 ? circle : (round - 1 + k) % circle;
    const int64_t j = self ? game : (round - 1 + circle - k) % circle;
    const int64_t players[2] = {i, j};
    const bool begins = nbody_rounds_begins(rounds, round), ends = nbody_rounds_ends(rounds, round);
    for (int p = 0; p < 2 - self; p++) {
      if (players[p] >= blocks) continue;
      await(&played[players[p]], (int)round);
      if (begins) nbody_rounds_begin(rounds, packed, sums, players[p]);
    }
    if (i < blocks && j < blocks) tile(packed, i * block, j * block);
    for (int p = 0; p < 2 - self; p++) {
      if (players[p] >= blocks) continue;
      if (ends) nbody_rounds_end(rounds, packed, sums, round, players[p]);
      finish(&played[players[p]], (int)round + 1);
    }
  }
}

/* Sums over all pairs, on all ranks. The sums are NaN where the exchange between ranks fails. */
static void add_all(nbody_solver_work *w, int sums, void (*reference)(const nbody_packed *), nbody_tile *tile) {
  const nbody_packed *packed = &w->packed;
  if (w->reference) {
    for (int c = 0; c < sums; c++) memset(packed->sum[c], 0, sizeof(double) * (size_t)packed->padded);
    reference(packed);
    return;
  }
  tournament(w, sums, tile);
  if (nbody_failure_keep(&w->failure, nbody_rounds_exchange(&w->rounds, packed, sums)) != SIM_OK)
    for (int c = 0; c < sums; c++)
      for (int64_t i = 0; i < packed->padded; i++) packed->sum[c][i] = NAN;
}

static void unpack(const nbody_packed *packed, int first, double factor, double *out) {
  for (int c = 0; c < 3; c++)
    for (int64_t i = 0; i < packed->n; i++) out[c * packed->n + i] = factor * packed->sum[first + c][i];
}

static void accelerate(nbody_solver_work *w, bool zeroed, nbody_raw_force *out) {
  const nbody_state *state = &w->state;
  const bool single = w->options.single_pairs, jerk = w->options.jerk;
  *out = (nbody_raw_force){.kind = NBODY_FORCE_FINAL};
  if (w->options.laws.no_pairs) {
    if (!zeroed) memset(state->acceleration, 0, (size_t)(3 * state->n) * sizeof(double));
    if (jerk) memset(state->jerk, 0, (size_t)(3 * state->n) * sizeof(double));
    return;
  }
  scales s = pack(w, single, jerk);
  if (jerk)
    add_all(w, 6, w->references[single]->jerk, w->tiles[single]->jerk);
  else
    add_all(w, 3, w->references[single]->acceleration, w->tiles[single]->acceleration);
  const double G = w->packed.law != NULL ? 1 : w->options.G, cube = w->reference ? 1 : w->tiles[single]->cube;
  unpack(&w->packed, 0, ldexp(G * cube, s.mass - 2 * s.position), state->acceleration);
  if (jerk) unpack(&w->packed, 3, ldexp(G * cube, s.mass - 3 * s.position + s.velocity), state->jerk);
}

/* Sums over all pairs instead where there are few bodies, or where most of them are targets. */
static void accelerate_some(nbody_solver_work *w, const nbody_targets *targets) {
  const nbody_state *state = &w->state;
  const int64_t n = state->n;
  nbody_raw_force all;
  if (w->reference || 2 * targets->count > n || w->options.laws.no_pairs) {
    accelerate(w, false, &all);
    return;
  }
  const bool single = w->options.single_pairs;
  const nbody_tiles *tiles = w->tiles[single];
  const scales s = pack(w, single, false);
  const double factor = ldexp(w->options.G * tiles->cube, s.mass - 2 * s.position);
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++)
    if (targets->level[i] >= targets->least) w->target[count++] = i;
  if (count == 0) return; /* no acceleration changes, on no rank: all have the same targets */
  for (int64_t k = 0; k < NBODY_ROW_BODIES; k++) w->target[count + k] = w->target[count - 1];
  const nbody_share share = nbody_share_of(w->options.comm, count, NBODY_ROW_BODIES);
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->options.threads) if (n >= THREADS_FROM)
  for (int64_t first = share.first; first < share.end; first += NBODY_ROW_BODIES) {
    double sums[3 * NBODY_ROW_BODIES];
    tiles->rows(&w->packed, w->target + first, sums);
    for (int c = 0; c < 3; c++)
      for (int64_t k = 0; k < NBODY_ROW_BODIES && first + k < count; k++)
        w->rows[nbody_share_index(&share, c, first + k)] = factor * sums[c * NBODY_ROW_BODIES + k];
  }
  const sim_status status = nbody_failure_keep(&w->failure, nbody_share_gather(w->options.comm, &share, w->rows));
  for (int c = 0; c < 3; c++)
    for (int64_t k = 0; k < count; k++)
      state->acceleration[c * n + w->target[k]] = status == SIM_OK ? w->rows[nbody_share_index(&share, c, k)] : NAN;
}

static sim_status check(nbody_solver_work *w) { return nbody_failure_report(&w->failure); }

static double potential(nbody_solver_work *w) {
  if (w->options.laws.no_pairs) return 0;
  scales s = pack(w, false, false);
  add_all(w, 1, w->references[0]->potential, w->tiles[0]->potential);
  double inverse = w->reference ? 1 : w->tiles[0]->inverse;
  double sum = sim_reduce_sum(w->packed.sum[0], (size_t)w->packed.padded, w->partial, 1);
  if (w->packed.law != NULL) return sum;
  return -ldexp(w->options.G * inverse * sum, 2 * s.mass - s.position);
}

/* ---- the first adaptive step ---- */

static double square3(const double *x, int64_t n, int64_t i) {
  return x[i] * x[i] + x[n + i] * x[n + i] + x[2 * n + i] * x[2 * n + i];
}

/* Smallest squared free-fall time of this rank's pairs: every `size`th range of bodies with all bodies before it. */
static double least_fall_time2(nbody_solver_work *w) {
  const nbody_state *state = &w->state;
  const sim_comm *comm = w->options.comm;
  const int64_t n = state->n, range = START_RANGE;
  const double eps = w->options.softening, G = w->options.G;
  for (int c = 0; c < 3; c++)
    pack_column(&w->packed, NBODY_X + c, false, state->dtype, column(state->dtype, state->position, n, c), 0, 1);
  pack_column(&w->packed, NBODY_MASS, false, state->dtype, state->mass, 0, 1);
  const double *x = w->packed.body[NBODY_X], *y = w->packed.body[NBODY_X + 1], *z = w->packed.body[NBODY_X + 2];
  const double *m = w->packed.body[NBODY_MASS];
#pragma omp parallel for schedule(dynamic) num_threads(w->options.threads) if (n >= THREADS_FROM)
  for (int64_t first = comm->rank * range; first < n; first += comm->size * range) {
    double least = INFINITY;
    for (int64_t i = first; i < n && i < first + range; i++)
      for (int64_t k = 0; k < i; k++)
        least = fmin(least, nbody_fall_time2(x[i] - x[k], y[i] - y[k], z[i] - z[k], eps * eps, G * (m[i] + m[k])));
    w->partial[first / range] = least;
  }
  double least = INFINITY;
  for (int64_t r = comm->rank; r * range < n; r += comm->size) least = fmin(least, w->partial[r]);
  return least;
}

static double least_of_ranks(nbody_solver_work *w, double own) {
  const sim_comm *comm = w->options.comm;
  double least[SIM_RANKS_MAX];
  if (nbody_failure_keep(&w->failure, comm->ops->gather(comm, &own, sizeof own, least)) != SIM_OK) return NAN;
  for (int r = 0; r < comm->size; r++) own = fmin(own, least[r]);
  return own;
}

static double start_time(nbody_solver_work *w) {
  const nbody_state *state = &w->state;
  const int64_t n = state->n;
  double least = INFINITY;
  for (int64_t i = 0; i < n; i++) {
    const double j2 = square3(state->jerk, n, i);
    if (j2 > 0) least = fmin(least, square3(state->acceleration, n, i) / j2);
  }
  if (w->options.laws.pair == NULL && !w->options.laws.no_pairs) least = fmin(least, least_fall_time2(w));
  least = sqrt(least);
  if (w->packed.law != NULL) least = fmin(least, nbody_custom_law_start_time(&w->law, state, w->options.comm));
  return least_of_ranks(w, least);
}

/* ---- the table ---- */

static sim_status supports(const nbody_options *options) {
  (void)options;
  return SIM_OK;
}

static sim_status estimate(const nbody_options *options, double n, nbody_cost *out) {
  static const double wide[SIM_ISA_COUNT] = {0.3e9, 1e9, 2e9}, narrow[SIM_ISA_COUNT] = {0.5e9, 3e9, 6e9};
  const double full = (options->single_pairs ? narrow : wide)[options->isa], clipped = (double)options->n;
  out->rate = full * (options->jerk ? 0.5 : 1) * (clipped > 1024 ? options->threads : 1) * clipped / (clipped + 256);
  SIM_TRY(nbody_direct_count(options, n, out));
  const bool reference = uses_reference(options, false);
  if (!options->laws.no_pairs)
    out->most_ranks =
        reference ? 1 : nbody_rounds_most_ranks(options, block_size(options->n), padded_size(options, reference));
  if (out->most_ranks > 1) { /* received: the other ranks' sums for its own bodies, then all sums */
    out->exchanges = 2;
    out->bytes_received =
        nbody_rounds_received(options, block_size(options->n), padded_size(options, reference), sum_count(options));
  }
  return SIM_OK;
}

const nbody_solver nbody_direct_cpu = {
    .name = "direct sum",
    .supports = supports,
    .bytes = bytes,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .accelerate = accelerate,
    .accelerate_some = accelerate_some,
    .check = check,
    .potential = potential,
    .start_time = start_time,
};
