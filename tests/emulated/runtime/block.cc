/* Threads of a block as fibers, one after another; blocks of a launch one after another, or in threads of the host. */
#include "block.h"
#include "fibers.h"

#include <memory>
#include <sys/mman.h>
#include <thread>

EXPORT thread_local uint3 threadIdx, blockIdx;
EXPORT thread_local dim3 blockDim, gridDim;

namespace emulated {

EXPORT thread_local unsigned long block_number;
constinit thread_local worker *w;

worker::~worker() {
  if (stacks) munmap(stacks, (STACK + PAGE) * THREADS_MOST);
  if (room) munmap(room, rounded(SHARED_MOST, PAGE) + PAGE);
}

namespace {

thread_local std::unique_ptr<worker> own_worker;
std::atomic<unsigned long> blocks_begun;

/* ---- order of threads ---- */

struct random_bits {
  uint64_t state;
  uint64_t next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  }
};
const char *order_name() {
  static const char *const name = getenv("SIM_EMULATED_ORDER");
  return name && *name ? name : "forward";
}
void put_in_order(worker *b) {
  static const bool backward = strcmp(order_name(), "backward") == 0, forward = strcmp(order_name(), "forward") == 0;
  static thread_local random_bits bits{strtoull(order_name(), nullptr, 10) * 2654435761u + 88172645463325252u};
  for (unsigned t = 0; t < b->threads; t++) b->order[t] = backward ? b->threads - 1 - t : t;
  if (backward || forward) return;
  for (unsigned t = b->threads; t > 1; t--) std::swap(b->order[t - 1], b->order[bits.next() % t]);
}

/* ---- threads of a block ---- */

void set_thread(unsigned t) {
  w->current = t;
  threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y};
}

/* The next thread of this round that can run; false at the end of the round. */
bool next_thread(unsigned *out) {
  for (; w->cursor < w->threads; w->cursor++) {
    const unsigned t = w->order[w->cursor];
    if (w->states[t] == state::begins || w->states[t] == state::runs) {
      *out = t;
      return true;
    }
  }
  return false;
}

/* The body of a fiber: threads that have not begun, as long as they are next. */
void run_threads() {
  for (;;) {
    (*w->thread)();
    w->states[w->current] = state::ended;
    w->ended++;
    unsigned next;
    if (next_thread(&next) && w->states[next] == state::begins) {
      w->cursor++;
      w->states[next] = state::runs;
      set_thread(next);
      continue;
    }
    w->free_fibers[w->free_count++] = w->own_fiber;
    emulated_switch(&w->fiber_top[w->own_fiber], w->home); /* comes back with another thread that begins */
  }
}

void run_thread(unsigned t) {
  set_thread(t);
  if (w->states[t] == state::begins) {
    if (w->free_count == 0) fault("no fiber is free");
    w->own_fiber = w->free_fibers[--w->free_count];
    w->fiber_top[w->own_fiber] = first_frame(w->stacks + (STACK + PAGE) * (w->own_fiber + 1), run_threads);
  } else {
    w->own_fiber = w->fiber_of[t];
  }
  w->states[t] = state::runs;
  emulated_switch(&w->home, w->fiber_top[w->own_fiber]);
}

/* Ends the running thread's turn; it goes on when `what` is over. */
void wait_as(state what) {
  if (!w) fault("device code waits outside a kernel");
  const unsigned t = w->current, fiber = w->own_fiber;
  w->states[t] = what;
  w->fiber_of[t] = fiber;
  emulated_switch(&w->fiber_top[fiber], w->home);
}

void cluster_meets() {
  team *of = w->of;
  std::unique_lock<std::mutex> held(of->lock);
  const unsigned round = of->rounds;
  if (++of->here == of->count) {
    of->here = 0;
    of->rounds++;
    of->all_here.notify_all();
  } else {
    of->all_here.wait(held, [&] { return of->rounds != round; });
  }
}

/* Lets threads go on whose warp, block or cluster is complete; whether any can. */
bool release() {
  unsigned polls = 0, block = 0, cluster = 0, free = 0;
  for (unsigned first = 0; first < w->threads; first += 32) {
    const unsigned end = std::min(first + 32, w->threads);
    unsigned waits = 0, ended = 0;
    for (unsigned t = first; t < end; t++) {
      const state s = w->states[t];
      waits += s == state::waits_warp;
      ended += s == state::ended;
      polls += s == state::polls;
      block += s == state::waits_block;
      cluster += s == state::waits_cluster;
    }
    if (waits > 0 && waits + ended == end - first)
      for (unsigned t = first; t < end; t++)
        if (w->states[t] == state::waits_warp) w->states[t] = state::runs, free++;
  }
  if (polls > 0) {
    for (unsigned t = 0; t < w->threads; t++)
      if (w->states[t] == state::polls) w->states[t] = state::runs;
    if (free == 0) sched_yield(); /* another process or block has to act */
    return true;
  }
  if (free > 0) return true;
  const bool meets = cluster > 0 && cluster + w->ended == w->threads;
  if (meets) cluster_meets();
  if (meets || (block > 0 && block + w->ended == w->threads)) {
    for (unsigned t = 0; t < w->threads; t++)
      if (w->states[t] == state::waits_block || w->states[t] == state::waits_cluster) w->states[t] = state::runs;
    return true;
  }
  return false;
}

void run_block(uint3 block) {
  gridDim = w->how->grid, blockDim = w->how->block, blockIdx = block;
  block_number = ++blocks_begun;
  w->ended = 0;
  w->reads.clear();
  w->free_count = 0;
  for (unsigned t = w->threads; t-- > 0;) {
    w->free_fibers[w->free_count++] = t;
    w->states[t] = state::begins;
    w->async[t].notes.clear(), w->bulk[t].notes.clear();
    w->async[t].group = w->bulk[t].group = 0;
  }
  put_in_order(w);
  const size_t shared = rounded(w->how->shared, 1024);
  w->dynamic = w->room + rounded(SHARED_MOST, PAGE) - shared;
  memset(w->dynamic, POISON, shared);
  while (w->ended < w->threads) {
    for (w->cursor = 0;;) {
      unsigned t;
      if (!next_thread(&t)) break;
      w->cursor++;
      run_thread(t);
    }
    if (w->ended < w->threads && !release())
      fault("threads of block %u,%u,%u wait for ever: not all come to the same barrier", block.x, block.y, block.z);
  }
  for (size_t k = w->how->shared; k < shared; k++)
    if ((unsigned char)w->dynamic[k] != POISON) fault("a write beyond the dynamic shared memory of a block");
}

void open_worker(const shape *how, const std::function<void()> *thread) {
  if (!own_worker) own_worker = std::make_unique<worker>();
  w = own_worker.get();
  if (!w->stacks) {
    const size_t bytes = (STACK + PAGE) * THREADS_MOST, most = rounded(SHARED_MOST, PAGE);
    w->stacks =
        (char *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    w->room = (char *)mmap(nullptr, most + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (w->stacks == MAP_FAILED || w->room == MAP_FAILED) fault("no memory for the stacks of threads");
    for (unsigned f = 0; f < THREADS_MOST; f++) (void)mprotect(w->stacks + (STACK + PAGE) * f, PAGE, PROT_NONE);
    (void)mprotect(w->room + most, PAGE, PROT_NONE);
  }
  w->how = how;
  w->thread = thread;
  w->threads = how->block.x * how->block.y * how->block.z;
}

uint3 block_at(const dim3 &grid, size_t k) {
  return {(unsigned)(k % grid.x), (unsigned)(k / grid.x % grid.y), (unsigned)(k / grid.x / grid.y)};
}

} // namespace

void run_grid(const shape &how, const std::function<void()> &thread) {
  const size_t blocks = (size_t)how.grid.x * how.grid.y * how.grid.z;
  if (how.together <= 1) {
    open_worker(&how, &thread);
    for (size_t k = 0; k < blocks; k++) run_block(block_at(how.grid, k));
    w = nullptr;
    return;
  }
  for (size_t first = 0; first < blocks; first += how.together) {
    team of;
    of.count = how.together;
    of.members.resize(how.together);
    std::vector<std::thread> threads;
    for (unsigned r = 0; r < how.together; r++)
      threads.emplace_back([&, r] {
        open_worker(&how, &thread);
        w->of = &of, w->rank = r;
        of.members[r] = w;
        cluster_meets();
        run_block(block_at(how.grid, first + r));
        cluster_meets();
        w = nullptr;
      });
    for (std::thread &t : threads) t.join();
  }
}

EXPORT void wait_block() { wait_as(state::waits_block); }
EXPORT void wait_warp() { wait_as(state::waits_warp); }
EXPORT void yield() {
  if (w) wait_as(state::polls);
}
EXPORT void *slot(unsigned thread) { return w->slots[thread]; }
EXPORT void *dynamic_shared() { return w->dynamic; }

EXPORT void cluster_wait() { wait_as(state::waits_cluster); }

} // namespace emulated
