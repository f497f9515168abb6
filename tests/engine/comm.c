/* Exchange between ranks: bytes of random sizes arrive in the right place, for any delays; all ranks act on a decision
 * after the same step; and every wait ends when a rank fails or dies. */
#include "engine/comm/forked.h"
#include "engine/comm/mpi.h"
#include "engine/run/agreement.h"
#include "engine/wall_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 7, EXCHANGES = 40, LARGEST = 1 << 20 };
enum {
  DEADLINE = 120
}; /* seconds: a play takes about one on an idle machine, and a rank that waits in vain for ever */

/* ---- random numbers that all ranks know: splitmix64 ---- */

static uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static uint64_t draw(uint64_t a, uint64_t b, uint64_t c) { return mix(mix(mix(a) + b) + c); }

/* Most sizes are small; a few need several buffers. */
static size_t draw_size(uint64_t exchange, uint64_t a, uint64_t b) {
  const uint64_t x = draw(exchange, a, b);
  return x % 8 == 0 ? (x >> 8) % LARGEST : (x >> 8) % 4000;
}

static void fill(unsigned char *to, size_t bytes, uint64_t a, uint64_t b) {
  for (size_t i = 0; i < bytes; i++) to[i] = (unsigned char)draw(a, b, i / 8);
}
static bool holds(const unsigned char *from, size_t bytes, uint64_t a, uint64_t b) {
  for (size_t i = 0; i < bytes; i++)
    if (from[i] != (unsigned char)draw(a, b, i / 8)) return false;
  return true;
}

/* ---- a run: `play` in `size` processes; returns the number of processes that failed ---- */

typedef int play(const sim_comm *comm);

/* exits[rank]: the wait status of each rank. As the launcher does, it tells the others of a rank that ends with a
 * failure. */
static void run(int size, play *work, int exits[RANKS]) {
  sim_forked *forked;
  pid_t ranks[RANKS];
  assert_int_equal(sim_forked_create(size, &forked), SIM_OK);
  for (int r = 0; r < size; r++) {
    ranks[r] = fork();
    assert_true(ranks[r] >= 0);
    if (ranks[r] > 0) continue;
    sim_comm comm;
    (void)alarm(DEADLINE);
    if (sim_forked_attach(dup(sim_forked_descriptor(forked)), r, &comm) != SIM_OK) _exit(100);
    const int code = work(&comm);
    sim_forked_detach(&comm);
    _exit(code);
  }
  for (int left = size; left > 0; left--) {
    int how;
    const pid_t ended = wait(&how);
    for (int r = 0; r < size; r++) {
      if (ranks[r] != ended) continue;
      exits[r] = how;
      if (how != 0) sim_forked_fail(forked, r, SIM_ERR_RANK, "was killed");
    }
  }
  sim_forked_destroy(&forked);
}

static void run_well(int size, play *work) {
  int exits[RANKS];
  run(size, work, exits);
  for (int r = 0; r < size; r++) { /* the others fail because of the first one that was ended */
    if (WIFSIGNALED(exits[r]) && WTERMSIG(exits[r]) == SIGALRM)
      fail_msg("rank %d of %d has not ended within %d s", r, size, DEADLINE);
    if (WIFSIGNALED(exits[r])) fail_msg("rank %d of %d was ended by signal %d", r, size, WTERMSIG(exits[r]));
  }
  for (int r = 0; r < size; r++)
    if (exits[r] != 0) fail_msg("rank %d of %d ended with %d", r, size, WEXITSTATUS(exits[r]));
}

/* ---- bytes ---- */

static int gather_some(const sim_comm *comm) {
  unsigned char *in = malloc(LARGEST), *out = malloc((size_t)comm->size * LARGEST);
  if (!in || !out) return 101;
  int code = 0;
  for (uint64_t e = 0; e < EXCHANGES && code == 0; e++) {
    const size_t bytes = draw_size(e, 0, 0);
    const bool in_place = e % 2 == 1;
    unsigned char *from = in_place ? out + (size_t)comm->rank * bytes : in;
    fill(from, bytes, e, (uint64_t)comm->rank);
    if (comm->ops->gather(comm, from, bytes, out) != SIM_OK) code = 1;
    for (int r = 0; r < comm->size && code == 0; r++)
      if (!holds(out + (size_t)r * bytes, bytes, e, (uint64_t)r)) code = 2;
  }
  free(in);
  free(out);
  return code;
}

/* Gathers parts of unequal sizes, some empty, by the transport's own function and by swap. */
static int gather_parts_some(const sim_comm *comm) {
  unsigned char *all = malloc((size_t)comm->size * LARGEST);
  sim_transport by_swap = *comm->ops;
  sim_comm other = *comm;
  if (!all) return 101;
  by_swap.gather_parts = NULL;
  other.ops = &by_swap;
  int code = 0;
  for (uint64_t e = 0; e < EXCHANGES && code == 0; e++) {
    size_t ends[RANKS], first = 0;
    for (int r = 0; r < comm->size; first = ends[r++]) {
      ends[r] = first + (draw(e, 6, (uint64_t)r) % 4 == 0 ? 0 : draw_size(e, 5, (uint64_t)r));
      if (r == comm->rank) fill(all + first, ends[r] - first, e, (uint64_t)r);
    }
    if (sim_comm_gather_parts(e % 2 == 0 ? comm : &other, all, ends) != SIM_OK) code = 1;
    for (int r = 0; r < comm->size && code == 0; r++) {
      const size_t begin = r > 0 ? ends[r - 1] : 0;
      if (!holds(all + begin, ends[r] - begin, e, (uint64_t)r)) code = 2;
    }
  }
  free(all);
  return code;
}

/* About two of three pairs exchange something, in one or both directions. */
static int swap_some(const sim_comm *comm) {
  unsigned char *room[2][RANKS] = {{NULL}};
  for (int r = 0; r < comm->size; r++)
    for (int k = 0; k < 2; k++)
      if (!(room[k][r] = malloc(LARGEST))) return 101;
  int code = 0;
  for (uint64_t e = 0; e < EXCHANGES && code == 0; e++) {
    sim_piece pieces[RANKS];
    size_t count = 0;
    for (int r = 0; r < comm->size; r++) {
      const int low = r < comm->rank ? r : comm->rank, high = r < comm->rank ? comm->rank : r;
      if (draw(e, (uint64_t)low, (uint64_t)high) % 3 == 0) continue;
      const uint64_t to = (uint64_t)(comm->rank * RANKS + r), from = (uint64_t)(r * RANKS + comm->rank);
      pieces[count] = (sim_piece){r, room[0][r], room[1][r], draw_size(e, 1, to), draw_size(e, 1, from)};
      fill(room[0][r], pieces[count].in_bytes, e, to);
      count++;
    }
    if (comm->ops->swap(comm, pieces, count) != SIM_OK) code = 1;
    for (size_t i = 0; i < count && code == 0; i++)
      if (!holds(pieces[i].out, pieces[i].out_bytes, e, (uint64_t)(pieces[i].rank * RANKS + comm->rank))) code = 2;
  }
  for (int r = 0; r < comm->size; r++)
    for (int k = 0; k < 2; k++) free(room[k][r]);
  return code;
}

/* Memory that all ranks of a host share is zeroed, and each rank reads what the others wrote before an exchange. Two
 * hosts share no memory. */
static int map_some(const sim_comm *comm) {
  const size_t part = 5000, bytes = part * (size_t)comm->size;
  void *memory, *none;
  uint64_t most;
  sim_comm apart = *comm;
  apart.host_size = comm->size - 1;
  const size_t first = part * (size_t)comm->rank;
  if (sim_comm_map(&apart, 1, bytes, 0, bytes, &none) != SIM_OK || none) return 1;
  if (sim_comm_map(comm, 2, (size_t)1 << 60, 0, 1, &none) != SIM_OK || none) return 6; /* more than the machine has */
  if (sim_comm_map(comm, 1, bytes, first, first + part, &memory) != SIM_OK || (memory == NULL) != (comm->size == 1))
    return 2;
  unsigned char *all = memory;
  for (size_t i = 0; i < bytes && all; i++)
    if (all[i] != 0) return 3;
  for (uint64_t e = 0; e < EXCHANGES && all; e++) { /* each rank writes the part behind its own */
    if (sim_comm_agree(comm, 0, &most) != SIM_OK) return 4;
    const size_t r = ((size_t)comm->rank + e) % (size_t)comm->size;
    fill(all + r * part, part, e, r);
    if (sim_comm_agree(comm, 0, &most) != SIM_OK) return 4;
    for (size_t q = 0; q < (size_t)comm->size; q++)
      if (!holds(all + q * part, part, e, q)) return 5;
  }
  sim_comm_unmap(memory, bytes);
  return 0;
}

/* Rounds of words continue beside other exchanges. */
static int post_some(const sim_comm *comm) {
  uint64_t words[RANKS], most;
  for (uint64_t e = 0; e < EXCHANGES; e++) {
    bool complete = false, same;
    if (comm->ops->post(comm, draw(e, 2, (uint64_t)comm->rank)) != SIM_OK) return 1;
    if (sim_comm_agree(comm, e + (uint64_t)comm->rank, &most) != SIM_OK) return 1;
    if (most != e + (uint64_t)comm->size - 1) return 2;
    while (!complete)
      if (comm->ops->test(comm, &complete, words) != SIM_OK) return 1;
    for (int r = 0; r < comm->size; r++)
      if (words[r] != draw(e, 2, (uint64_t)r)) return 3;
    if (sim_comm_same(comm, e, &same) != SIM_OK) return 1;
    if (!same) return 4;
    if (sim_comm_same(comm, comm->rank == 0 ? e : 1000, &same) != SIM_OK) return 1;
    if (same != (comm->size == 1)) return 5;
  }
  return 0;
}

/* ---- decisions ---- */

/* Runs have STEPS steps, and on a busy machine more, until they have had enough decisions. */
enum { STEPS = 300, STEPS_MAX = 100 * STEPS, DECISIONS_MAX = STEPS };

static void sleep_randomly(const sim_comm *comm, uint64_t step, uint64_t part) {
  /* ns: another rank is the slowest in each step */
  const long longest = (long)(draw(step / 20, 4, (uint64_t)comm->rank) % 3) * 100000;
  const long ns = longest > 0 ? (long)(draw(step, part, (uint64_t)comm->rank) % (uint64_t)longest) : 0;
  if (ns > 0) (void)nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* As the time loop looks after a step. */
static sim_status look(sim_agreement *agreement, int64_t step, uint64_t *asked, uint64_t *decision) {
  *asked = *decision = 0;
  return sim_agreement_quiet(agreement) ? SIM_OK : sim_agreement_look(agreement, step, 0, asked, decision);
}

/* Rank 0 makes a decision with a number in every second round; the other ranks make a request in each round. All must
 * act on the same decisions after the same steps. */
static int decide_some(const sim_comm *comm) {
  sim_agreement *agreement;
  uint64_t acted[2 * DECISIONS_MAX + 1] = {0}, all[RANKS][2 * DECISIONS_MAX + 1], most, asked, decision, rounds = 0;
  bool heard = comm->size == 1;
  int64_t step = 1;
  if (sim_agreement_create(comm, 0, &agreement) != SIM_OK) return 1;
  for (most = 0; step <= STEPS || (most > 0 && step <= STEPS_MAX); step++) {
    sleep_randomly(comm, (uint64_t)step, 5);
    if (sim_comm_agree(comm, acted[0] < 20, &most) != SIM_OK) return 1;
    sleep_randomly(comm, (uint64_t)step, 6);
    if (look(agreement, step, &asked, &decision) != SIM_OK) return 1;
    heard |= asked == SIM_ASKED_WARNING;
    if (decision) {
      acted[++acted[0]] = (uint64_t)step;
      acted[++acted[0]] = decision;
    }
    if (!sim_agreement_idle(agreement)) continue;
    rounds++;
    const uint64_t word = comm->rank > 0 ? SIM_ASKED_WARNING : rounds % 2 == 0 ? 0 : SIM_DECIDED_STOP | rounds << 32;
    if (sim_agreement_post(agreement, step, word) != SIM_OK) return 1;
    if (sim_agreement_look(agreement, step, step % 3 == 0 ? 1e-4 : 0, &asked, &decision) != SIM_OK) return 1;
    heard |= asked == SIM_ASKED_WARNING;
    if (decision) return 2; /* the decision is for a later step */
  }
  if (sim_agreement_end(agreement, step - 1) != SIM_OK) return 1;
  sim_agreement_destroy(&agreement);
  if (comm->ops->gather(comm, acted, sizeof acted, all) != SIM_OK) return 1;
  for (int r = 0; r < comm->size; r++)
    if (memcmp(all[r], acted, sizeof acted) != 0) return 3;
  if (acted[0] < 20) return 4; /* 300 steps have some 50 decisions on a free machine */
  return heard ? 0 : 5;
}

static void test_decisions(void **state) {
  (void)state;
  for (int size = 1; size <= RANKS; size += 2) run_well(size, decide_some);
}

/* The same where the words of a round reach one rank, another in each round, 5 ms later than the others: they wait for
 * it after a step, when it may wait for them in the next one. */
static const sim_transport *punctual;

static sim_status test_late(const sim_comm *comm, bool *complete, uint64_t *words) {
  static double since;
  static int round;
  SIM_TRY(punctual->test(comm, complete, words));
  if (!*complete) return SIM_OK;
  const double now = sim_wall_clock();
  if (since == 0) since = now;
  *complete = round % comm->size != comm->rank || now - since > 5e-3;
  if (!*complete) return SIM_OK;
  since = 0;
  round++;
  return SIM_OK;
}

static int decide_late(const sim_comm *comm) {
  sim_transport late = *(punctual = comm->ops);
  sim_comm with = *comm;
  late.test = test_late;
  with.ops = &late;
  return decide_some(&with);
}

static void test_decisions_late(void **state) {
  (void)state;
  for (int size = 3; size <= RANKS; size += 4) run_well(size, decide_late);
}

/* Ranks whose steps need no exchange run apart. The last rank sleeps before its first step, so that the others have
 * posted and made all their steps when rank 0, or the last rank, posts. Every rank must end, and a decision must act on
 * all ranks or on none. */
static int decide_apart(const sim_comm *comm) {
  sim_agreement *agreement;
  for (int late = 0; late < comm->size; late++) {
    uint64_t acted = 0, all[RANKS], asked, decision, rounds = 0;
    if (sim_agreement_create(comm, 0, &agreement) != SIM_OK) return 1;
    if (comm->rank == late) (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    for (int64_t step = 1; step <= STEPS; step++) {
      if (look(agreement, step, &asked, &decision) != SIM_OK) return 1;
      if (decision) acted = acted << 16 | (uint64_t)step;
      if (!sim_agreement_idle(agreement)) continue;
      const uint64_t word = comm->rank > 0 ? SIM_ASKED_STOP : SIM_DECIDED_STOP | ++rounds << 32;
      if (sim_agreement_post(agreement, step, word) != SIM_OK) return 1;
    }
    if (sim_agreement_end(agreement, STEPS) != SIM_OK) return 1;
    sim_agreement_destroy(&agreement);
    if (comm->ops->gather(comm, &acted, sizeof acted, all) != SIM_OK) return 1;
    for (int r = 0; r < comm->size; r++)
      if (all[r] != acted) return 3;
  }
  return 0;
}

static void test_decisions_apart(void **state) {
  (void)state;
  for (int size = 1; size <= RANKS; size += 2) run_well(size, decide_apart);
}

/* The same where ranks exchange for an output every 7 steps: a rank that is ahead has posted and waits there, when rank
 * 0 decides and waits for its answer. A decision acts after the same step of all ranks. */
static int decide_and_meet(const sim_comm *comm) {
  for (int late = 0; late < comm->size; late++) {
    sim_agreement *agreement;
    uint64_t acted[STEPS + 1] = {0}, all[RANKS][STEPS + 1], asked, decision, rounds = 0, most = 0;
    int64_t step = 1;
    if (sim_agreement_create(comm, 0, &agreement) != SIM_OK) return 1;
    for (; step <= STEPS || (most > 0 && step <= STEPS_MAX); step++) {
      if (comm->rank == late && step % 7 == 3) (void)nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
      if (look(agreement, step, &asked, &decision) != SIM_OK) return 1;
      if (decision) acted[++acted[0]] = (uint64_t)step << 32 | decision >> 32;
      if (step % 7 == 0) {
        if (sim_agreement_meet(agreement, step, &asked) != SIM_OK) return 1;
        if (sim_comm_agree(comm, acted[0] < 10, &most) != SIM_OK) return 1;
      }
      if (!sim_agreement_idle(agreement)) continue;
      const uint64_t word = comm->rank > 0 ? SIM_ASKED_STOP : SIM_DECIDED_STOP | ++rounds << 32;
      if (sim_agreement_post(agreement, step, word) != SIM_OK) return 1;
    }
    if (sim_agreement_end(agreement, step - 1) != SIM_OK) return 1;
    sim_agreement_destroy(&agreement);
    if (comm->ops->gather(comm, acted, sizeof acted, all) != SIM_OK) return 1;
    for (int r = 0; r < comm->size; r++)
      if (memcmp(all[r], acted, sizeof acted) != 0) return 3;
    if (acted[0] < 10) return 4; /* a free machine: 40 exchanges, 20 to 40 decisions */
  }
  return 0;
}

static void test_decisions_meet(void **state) {
  (void)state;
  for (int size = 1; size <= RANKS; size += 2) run_well(size, decide_and_meet);
}

static int exchange_all(const sim_comm *comm) {
  const int code = gather_some(comm);
  if (code != 0) return 10 + code;
  const int parts = gather_parts_some(comm);
  if (parts != 0) return 30 + parts;
  const int swapped = swap_some(comm);
  const int mapped = swapped != 0 ? 20 + swapped : map_some(comm);
  return mapped != 0 ? 30 + mapped : post_some(comm);
}

static void test_exchange(void **state) {
  (void)state;
  for (int size = 1; size <= RANKS; size++) run_well(size, exchange_all);
}

static void test_exchange_delayed(void **state) {
  (void)state;
  setenv("SIM_COMM_DELAY", "2000", 1);
  for (int size = 2; size <= RANKS; size += 2) run_well(size, exchange_all);
  unsetenv("SIM_COMM_DELAY");
}

static void test_alone(void **state) {
  (void)state;
  assert_int_equal(exchange_all(&sim_comm_alone), 0);
}

/* Every item belongs to exactly one rank, in order. */
static void test_share(void **state) {
  (void)state;
  for (int size = 1; size <= RANKS; size++)
    for (size_t count = 0; count < 20; count++) {
      size_t next = 0;
      for (int r = 0; r < size; r++) {
        const sim_comm comm = {.rank = r, .size = size};
        size_t end;
        const size_t first = sim_comm_first(&comm, count, &end);
        if (first < end) assert_int_equal(first, next);
        assert_true(end <= count && (end <= first || end - first <= sim_comm_share(&comm, count)));
        if (end > next) next = end;
      }
      assert_int_equal(next, count);
    }
}

/* ---- failures ---- */

enum { FAILED_RANK = 2, NOTICED = 7 };

static bool says(const char *message) {
  char host[64] = "", expected[160];
  (void)gethostname(host, sizeof host - 1);
  snprintf(expected, sizeof expected, "rank 2 on %s: %s", host, message);
  return strcmp(sim_error_last()->message, expected) == 0;
}

/* Waits for a rank that never comes, by exchanges or by rounds of words. */
static int wait_in_vain(const sim_comm *comm, bool rounds) {
  uint64_t most, words[RANKS];
  bool complete = false;
  sim_status status = SIM_OK;
  if (rounds) status = comm->ops->post(comm, 1);
  while (status == SIM_OK && !complete)
    status = rounds ? comm->ops->test(comm, &complete, words) : sim_comm_agree(comm, 1, &most);
  return status == SIM_ERR_RANK && says("was killed") ? NOTICED : 1;
}

static void die_soon(const sim_comm *comm) {
  (void)nanosleep(&(struct timespec){.tv_nsec = 50000000L * (comm->size % 3)}, NULL);
  (void)kill(getpid(), SIGKILL);
}

static int wait_for_dead(const sim_comm *comm) {
  if (comm->rank == FAILED_RANK) die_soon(comm);
  return wait_in_vain(comm, false);
}
static int post_with_dead(const sim_comm *comm) {
  if (comm->rank == FAILED_RANK) die_soon(comm);
  return wait_in_vain(comm, true);
}

static int swap_with_failed(const sim_comm *comm) {
  if (comm->rank == FAILED_RANK) {
    comm->ops->abandon(comm, SIM_ERR_DIVERGED, "is not finite");
    comm->ops->abandon(comm, SIM_ERR_IO, "a later failure");
    return NOTICED;
  }
  sim_status status = SIM_OK;
  while (status == SIM_OK) status = comm->ops->swap(comm, NULL, 0);
  return status == SIM_ERR_DIVERGED && comm->ops->check(comm) == status && says("is not finite") ? NOTICED : 1;
}

static void test_failures(void **state) {
  (void)state;
  play *const cases[] = {wait_for_dead, post_with_dead, swap_with_failed};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int size = FAILED_RANK + 1; size <= RANKS; size++) {
      int exits[RANKS];
      const double begin = sim_wall_clock();
      run(size, cases[c], exits);
      assert_true(sim_wall_clock() - begin < 30); /* about 0.1 s on an idle machine */
      for (int r = 0; r < size; r++) {
        if (r == FAILED_RANK && WIFSIGNALED(exits[r])) continue;
        assert_true(WIFEXITED(exits[r]));
        assert_int_equal(WEXITSTATUS(exits[r]), NOTICED);
      }
    }
}

static void test_attach(void **state) {
  (void)state;
  sim_forked *forked;
  sim_comm comm;
  assert_int_equal(sim_forked_attach(-1, 0, &comm), SIM_ERR_USAGE);
  assert_int_equal(sim_forked_create(2, &forked), SIM_OK);
  assert_int_equal(sim_forked_attach(dup(sim_forked_descriptor(forked)), 2, &comm), SIM_ERR_USAGE);
  assert_int_equal(sim_forked_attach(dup(sim_forked_descriptor(forked)), 1, &comm), SIM_OK);
  assert_int_equal(comm.rank, 1);
  assert_int_equal(comm.size, 2);
  sim_forked_detach(&comm);
  sim_forked_destroy(&forked);
}

/* ---- ranks of MPI: the program is started by a launcher, once for each ---- */

/* Sends one message from rank 0 to rank 1 that is longer than an int can count. */
static int swap_large(const sim_comm *comm) {
  const size_t words = ((size_t)1 << 28) + 12345; /* a little more than 2 GiB */
  uint64_t *data = malloc(words * sizeof *data);
  if (!data) return 101;
  const sim_piece to = {.rank = 1, .in = data, .in_bytes = words * sizeof *data},
                  from = {.rank = 0, .out = data, .out_bytes = words * sizeof *data};
  for (size_t i = 0; i < words; i++) data[i] = comm->rank == 0 ? i * 0x9e3779b97f4a7c15u : 0;
  int code = comm->ops->swap(comm, comm->rank == 0 ? &to : &from, comm->rank < 2) == SIM_OK ? 0 : 1;
  for (size_t i = 0; i < words && code == 0 && comm->rank < 2; i++)
    if (data[i] != i * 0x9e3779b97f4a7c15u) code = 2;
  free(data);
  return code;
}

static int exchange_and_decide(const sim_comm *comm) {
  const int code = exchange_all(comm), decided = code == 0 ? decide_some(comm) : 0;
  return decided != 0 ? 40 + decided : code;
}

/* Rank 2 fails, and the others are told. */
static int fail_one(const sim_comm *comm) {
  char message[128];
  snprintf(message, sizeof message, "rank 2 on %s: is not finite", sim_mpi_host(comm, FAILED_RANK));
  if (comm->rank == FAILED_RANK) {
    comm->ops->abandon(comm, SIM_ERR_DIVERGED, "is not finite");
    comm->ops->abandon(comm, SIM_ERR_IO, "a later failure");
    return NOTICED;
  }
  sim_status status = SIM_OK;
  uint64_t most;
  while (status == SIM_OK) status = comm->rank % 2 ? comm->ops->swap(comm, NULL, 0) : sim_comm_agree(comm, 0, &most);
  return status == SIM_ERR_DIVERGED && strcmp(sim_error_last()->message, message) == 0 ? NOTICED : 1;
}

/* All ranks but rank 0 fail with the same error, the highest first. Rank 0 must name the lowest. */
static int fail_several(const sim_comm *comm) {
  char message[128];
  uint64_t most;
  snprintf(message, sizeof message, "rank 1 on %s: is not finite", sim_mpi_host(comm, 1));
  if (comm->rank > 0) {
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000000 * (comm->size - comm->rank)}, NULL);
    comm->ops->abandon(comm, SIM_ERR_DIVERGED, "is not finite");
    return NOTICED;
  }
  const sim_status status = sim_comm_agree(comm, 0, &most);
  return status == SIM_ERR_DIVERGED && strcmp(sim_error_last()->message, message) == 0 ? NOTICED : 1;
}

/* The last rank gathers more bytes, or sends fewer, than the others take it for. MPI may say nothing, and no rank may
 * take the next exchange for a good one. Large gathers carry no label: the first small one behind them says so. */
static int exchange_unlike(const sim_comm *comm, const char *how) {
  static char in[200008], out[RANKS * sizeof in];
  const bool odd = comm->rank == comm->size - 1, large = strcmp(how, "unlike_large") == 0;
  uint64_t most;
  sim_status status = sim_comm_agree(comm, 0, &most);
  if (strcmp(how, "unlike_swap") == 0) { /* from the last rank to rank 0 */
    const sim_piece piece = {.rank = odd ? 0 : comm->size - 1,
                             .in = in,
                             .out = out,
                             .in_bytes = odd ? 92 : 0,
                             .out_bytes = comm->rank == 0 ? 100 : 0};
    if (status == SIM_OK) status = comm->ops->swap(comm, &piece, odd || comm->rank == 0);
    if (comm->rank > 0) status = sim_comm_agree(comm, 0, &most);
  } else {
    const size_t bytes = large ? 200000 : 16;
    if (status == SIM_OK) status = comm->ops->gather(comm, in, odd ? bytes + 8 : bytes, out);
    if (status == SIM_OK && !large) return 1;
    if (status == SIM_OK) status = sim_comm_agree(comm, 0, &most);
  }
  if (status == SIM_OK) return 2;
  fprintf(stderr, "rank %d: %s\n", comm->rank, sim_error_last()->message);
  comm->ops->abandon(comm, status, sim_error_last()->message);
  return NOTICED;
}

/* One rank fails while the others leave. */
static int fail_to_leave(sim_comm *comm) {
  if (comm->rank == FAILED_RANK)
    comm->ops->abandon(comm, SIM_ERR_DIVERGED, "is not finite");
  else if (sim_mpi_detach(comm) != SIM_ERR_DIVERGED)
    return 1;
  return NOTICED;
}

static void on_lost(sim_status status, const char *message) {
  fprintf(stderr, "lost: %s: %s\n", sim_status_name(status), message);
}

/* Arguments PLUGIN PLAY. The exit code is 0, or the number of the check that failed. */
static int play_by_mpi(const char *path, const char *name) {
  const sim_mpi_plugin *plugin;
  sim_comm comm = sim_comm_alone;
  if (sim_mpi_load(path, &plugin) != SIM_OK || sim_mpi_attach(plugin, on_lost, NULL, &comm) != SIM_OK) {
    fprintf(stderr, "%s\n", sim_error_last()->message);
    return 100;
  }
  if (comm.size < 2 || comm.size > RANKS) return 102;
  if (strcmp(name, "fail") == 0) sim_mpi_abort(&comm, fail_one(&comm));
  if (strcmp(name, "fail_several") == 0) sim_mpi_abort(&comm, fail_several(&comm));
  if (strncmp(name, "unlike", 6) == 0) sim_mpi_abort(&comm, exchange_unlike(&comm, name));
  if (strcmp(name, "fail_to_leave") == 0) sim_mpi_abort(&comm, fail_to_leave(&comm));
  const int code = strcmp(name, "large") == 0 ? swap_large(&comm) : exchange_and_decide(&comm);
  if (code != 0) {
    fprintf(stderr, "rank %d of %d: check %d failed\n", comm.rank, comm.size, code);
    sim_mpi_abort(&comm, code);
  }
  printf("rank %d of %d: equal\n", comm.rank, comm.size);
  if (sim_mpi_detach(&comm) == SIM_OK) return 0;
  fprintf(stderr, "leaving: %s\n", sim_error_last()->message);
  return 103;
}

int main(int argc, char **argv) {
  if (argc == 3) return play_by_mpi(argv[1], argv[2]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exchange),        cmocka_unit_test(test_exchange_delayed),
      cmocka_unit_test(test_alone),           cmocka_unit_test(test_decisions),
      cmocka_unit_test(test_decisions_apart), cmocka_unit_test(test_decisions_meet),
      cmocka_unit_test(test_decisions_late),  cmocka_unit_test(test_share),
      cmocka_unit_test(test_failures),        cmocka_unit_test(test_attach),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
