/* A block of threads while it runs, for block.cc, which runs it, and copies.cc. */
#ifndef SIM_EMULATED_BLOCK_H
#define SIM_EMULATED_BLOCK_H

#include "runtime.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace emulated {

constexpr size_t STACK = 256 << 10; /* bytes, of a fiber */

/* What a thread does. */
enum class state : unsigned char { begins, runs, polls, waits_warp, waits_block, waits_cluster, ended };

/* Copies that a thread has begun. A copy is made when the thread waits for its group. */
struct copy_note {
  void *to;
  const void *from;
  size_t bytes;
  unsigned group;
};
struct copies {
  std::vector<copy_note> notes;
  unsigned group = 0;
  void note(void *to, const void *from, size_t bytes) { notes.push_back({to, from, bytes, group}); }
  void make(unsigned left) { /* all but the last `left` groups */
    size_t kept = 0;
    for (const copy_note &n : notes)
      if (n.group + left < group)
        memcpy(n.to, n.from, n.bytes);
      else
        notes[kept++] = n;
    notes.resize(kept);
  }
};
/* A bulk read, which its barrier counts; `map`: a tile. */
struct bulk_note {
  unsigned to, bytes, barrier;
  const void *from, *map;
  int at[3];
};

/* Blocks that run at the same time. */
struct team {
  unsigned count;
  std::vector<struct worker *> members;
  std::mutex lock;
  std::condition_variable all_here;
  unsigned here = 0, rounds = 0;
};

/* What runs the blocks, one after another: one for each thread of the host that launches. */
struct worker {
  const std::function<void()> *thread;
  const shape *how;
  unsigned threads, current, ended, cursor;
  void *home, *fiber_top[THREADS_MOST];
  char *stacks = nullptr;
  unsigned fiber_of[THREADS_MOST]; /* of a thread that waits */
  unsigned free_fibers[THREADS_MOST], free_count, own_fiber;
  state states[THREADS_MOST];
  unsigned order[THREADS_MOST];
  alignas(16) unsigned char slots[THREADS_MOST][16];
  copies async[THREADS_MOST], bulk[THREADS_MOST];
  std::vector<bulk_note> reads;
  char *room = nullptr, *dynamic = nullptr;
  team *of = nullptr;
  unsigned rank = 0; /* in the team */
  ~worker();
};

/* Of the block that runs in this thread; NULL outside kernels. */
extern constinit thread_local worker *w;

} // namespace emulated

#endif
