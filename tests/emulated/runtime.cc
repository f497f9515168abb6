/* The emulated device: the CUDA runtime's calls on the host's memory, and the threads of kernels; see include/device.h.
 *
 * Work in a stream is done at once, by the thread that enqueues it; work that is captured is done at each launch of the
 * graph. Device memory is shared memory of the process's own file, which other processes map (cudaIpc), with a page
 * without access behind each array.
 *
 * SIM_EMULATED_DEVICES: number of devices, 2 if it is not set. CUDA_VISIBLE_DEVICES set to nothing: none.
 * SIM_EMULATED_MULTIPROCESSORS: 2 if it is not set. A cooperative launch has a block for each, and these wait in loops
 * for each other: with more than there are idle cores that takes long. */
#include "include/device.h"
#include "include/kernels/common/ptx.cuh"

#include "include/cuda.h"

#include <atomic>
#include <condition_variable>
#include <cstdarg>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#define EXPORT __attribute__((visibility("default")))

EXPORT thread_local uint3 threadIdx, blockIdx;
EXPORT thread_local dim3 blockDim, gridDim;
namespace emulated {
EXPORT thread_local unsigned long block_number;
}

namespace {

enum : size_t {
  PAGE = 4096,
  ALIGNMENT = 256,          /* of arrays */
  STACK = 256 << 10,        /* bytes, of a fiber */
  SHARED_MOST = 232448,     /* bytes of shared memory of a block, as of an H200 */
  MEMORY = (size_t)16 << 30 /* bytes of a device, as it says */
};
enum { THREADS_MOST = 1024, POISON = 0xff };

size_t rounded(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* ---- fibers ---- */

#if defined(__x86_64__)
extern "C" void emulated_switch(void **from, void *to);
asm(".text\n.globl emulated_switch\n.hidden emulated_switch\nemulated_switch:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\nmov %rsp,(%rdi)\nmov %rsi,%rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");
/* The stack of a fiber that begins in `enter`. */
void *first_frame(char *end, void (*enter)()) {
  void **top = (void **)(end - 16);
  *--top = nullptr;
  *--top = (void *)enter;
  for (int k = 0; k < 6; k++) *--top = nullptr;
  return top;
}
#elif defined(__aarch64__)
extern "C" void emulated_switch(void **from, void *to);
asm(".text\n.globl emulated_switch\n.hidden emulated_switch\nemulated_switch:\n"
    "sub sp, sp, #160\nstp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\nstp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\n"
    "stp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\nmov x2, sp\nstr x2, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\nldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\n"
    "ldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\nadd sp, sp, #160\nret\n");
void *first_frame(char *end, void (*enter)()) {
  void **top = (void **)(end - 160);
  memset(top, 0, 160);
  top[11] = (void *)enter; /* x30 */
  return top;
}
#else
#error "fibers of the emulated device: a switch of stacks for this processor"
#endif

enum class state : unsigned char { begins, runs, polls, waits_warp, waits_block, waits_cluster, ended };

struct copy_note {
  void *to;
  const void *from;
  size_t bytes;
  unsigned group;
};
struct copies { /* of a thread */
  std::vector<copy_note> notes;
  unsigned group = 0;
  void note(void *to, const void *from, size_t bytes) { notes.push_back({to, from, bytes, group}); }
  void make(unsigned left) {
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
  const emulated::shape *how;
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
  std::map<const void *, unsigned> bases;
  ~worker() {
    if (stacks) munmap(stacks, (STACK + PAGE) * THREADS_MOST);
    if (room) munmap(room, rounded(SHARED_MOST, PAGE) + PAGE);
  }
};
thread_local std::unique_ptr<worker> own_worker;
thread_local worker *w; /* of the block that runs; NULL outside kernels */

std::atomic<unsigned long> blocks_begun;

} // namespace

namespace emulated {
EXPORT void fault(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("emulated device: ", stderr);
  vfprintf(stderr, format, list);
  fputs("\n", stderr);
  va_end(list);
  abort();
}
} // namespace emulated
using emulated::fault;

namespace {

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
  emulated::block_number = ++blocks_begun;
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

void open_worker(const emulated::shape *how, const std::function<void()> *thread) {
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

void run_grid(const emulated::shape &how, const std::function<void()> &thread) {
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

/* ---- barriers in shared memory that count bytes ---- */

struct arrival { /* 8 bytes */
  std::atomic<int> bytes;
  std::atomic<uint16_t> expected, phase;
};
static_assert(sizeof(arrival) == 8, "a barrier");
arrival *arrival_at(unsigned at) { return (arrival *)emulated::at_address(at); }
void complete(arrival *a) {
  if (a->bytes == 0 && a->expected == 0) {
    a->expected = 1;
    a->phase = (uint16_t)(a->phase ^ 1);
  }
}

/* ---- tensor maps: rank 3 of floats, boxes swizzled by 32 bytes ---- */

struct tensor_map {
  float *at;
  uint64_t size[3], stride[3]; /* elements, bytes */
  uint32_t box[3];
  uint32_t swizzle;
};
static_assert(sizeof(tensor_map) <= sizeof(CUtensorMap), "a tensor map");

/* Pieces of 16 bytes of rows of 32 change places by bit 7 of their address (CU_TENSOR_MAP_SWIZZLE_32B). */
size_t swizzled(size_t at, bool on) { return on ? at ^ (at >> 7 & 1) << 4 : at; }

template <typename F> void each_of_tile(const tensor_map &m, const int first[3], F visit) {
  size_t at = 0;
  for (uint32_t z = 0; z < m.box[2]; z++)
    for (uint32_t y = 0; y < m.box[1]; y++)
      for (uint32_t x = 0; x < m.box[0]; x++, at += 4) {
        const int64_t p[3] = {(int64_t)first[0] + x, (int64_t)first[1] + y, (int64_t)first[2] + z};
        bool inside = true;
        for (int c = 0; c < 3; c++) inside = inside && p[c] >= 0 && p[c] < (int64_t)m.size[c];
        float *there = (float *)((char *)m.at + p[0] * 4 + p[1] * (int64_t)m.stride[1] + p[2] * (int64_t)m.stride[2]);
        visit(at, inside ? there : nullptr);
      }
}
void read_tile(char *to, const tensor_map &m, const int first[3]) {
  each_of_tile(m, first, [&](size_t at, const float *from) {
    const float value = from ? *from : 0;
    /* the pattern is one of addresses */
    memcpy((char *)swizzled((size_t)to + at, m.swizzle), &value, 4);
  });
}
void write_tile(const char *from, const tensor_map &m, const int first[3]) {
  each_of_tile(m, first, [&](size_t at, float *to) {
    if (to) memcpy(to, (const char *)swizzled((size_t)from + at, m.swizzle), 4);
  });
}
CUresult encode_tiled(CUtensorMap *out, CUtensorMapDataType, cuuint32_t rank, void *at, const cuuint64_t *size,
                      const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *, CUtensorMapInterleave,
                      CUtensorMapSwizzle swizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  if (rank != 3) return CUDA_ERROR_INVALID_VALUE;
  const tensor_map m = {(float *)at,
                        {size[0], size[1], size[2]},
                        {4, strides[0], strides[1]},
                        {box[0], box[1], box[2]},
                        swizzle == CU_TENSOR_MAP_SWIZZLE_32B};
  memcpy(out, &m, sizeof m);
  return CUDA_SUCCESS;
}

} // namespace

namespace emulated {

EXPORT void wait_block() { wait_as(state::waits_block); }
EXPORT void wait_warp() { wait_as(state::waits_warp); }
EXPORT void yield() {
  if (w) wait_as(state::polls);
}
EXPORT void *slot(unsigned thread) { return w->slots[thread]; }
EXPORT void *dynamic_shared() { return w->dynamic; }

EXPORT void note_copy(void *to, const void *from, size_t bytes) { w->async[w->current].note(to, from, bytes); }
EXPORT void commit_copies() { w->async[w->current].group++; }
EXPORT void make_copies(unsigned left) { w->async[w->current].make(left); }
EXPORT void note_bulk_write(void *to, unsigned from, size_t bytes) {
  w->bulk[w->current].note(to, at_address(from), bytes);
}
EXPORT void commit_bulk_writes() { w->bulk[w->current].group++; }
EXPORT void make_bulk_writes(unsigned left) {
  copies &c = w->bulk[w->current];
  for (const copy_note &n : c.notes) /* tiles are marked by their bytes: 0 */
    if (n.bytes == 0 && n.group + left < c.group) {
      const bulk_note *tile = (const bulk_note *)n.from;
      tensor_map m;
      memcpy(&m, tile->map, sizeof m);
      write_tile((const char *)at_address(tile->to), m, tile->at);
      delete tile;
    }
  c.make(left);
}

/* An address in shared memory: the distance from dynamic memory, or from the thread's own storage with the highest bit.
 */
EXPORT unsigned address_of(const void *at) {
  const intptr_t dynamic = (const char *)at - w->dynamic;
  if (dynamic >= 0 && dynamic < (intptr_t)SHARED_MOST) return (unsigned)dynamic;
  const intptr_t distance = (const char *)__builtin_thread_pointer() - (const char *)at;
  if (distance <= 0 || distance >= 1 << 30) fault("an address is not in shared memory");
  return 0x80000000u | (unsigned)distance;
}
EXPORT void *at_address(unsigned at) {
  if (at & 0x80000000u) return (char *)__builtin_thread_pointer() - (at & 0x7fffffffu);
  return w->dynamic + at;
}

EXPORT void arrive_init(unsigned barrier) {
  arrival *a = arrival_at(barrier);
  a->bytes = 0, a->expected = 1, a->phase = 0;
}
EXPORT void arrive_expect(unsigned barrier, unsigned bytes) {
  arrival *a = arrival_at(barrier);
  a->bytes += (int)bytes;
  a->expected = (uint16_t)(a->expected - 1);
  complete(a);
}
EXPORT void arrive_wait(unsigned barrier, unsigned parity) {
  arrival *a = arrival_at(barrier);
  while ((a->phase & 1) == (parity & 1)) {
    for (size_t k = 0; k < w->reads.size(); k++) {
      const bulk_note n = w->reads[k];
      if (n.barrier != barrier) continue;
      w->reads.erase(w->reads.begin() + (ptrdiff_t)k--);
      if (n.map) {
        tensor_map m;
        memcpy(&m, n.map, sizeof m);
        read_tile((char *)at_address(n.to), m, n.at);
      } else {
        memcpy(at_address(n.to), n.from, n.bytes);
      }
      a->bytes -= (int)n.bytes;
    }
    complete(a); /* by reads, or by what other blocks have sent */
    if ((a->phase & 1) == (parity & 1)) yield();
  }
}
EXPORT void note_bulk_read(unsigned to, const void *from, unsigned bytes, unsigned barrier) {
  if (bytes % 16 || (size_t)from % 16 || to % 16) fault("a bulk copy that is not of whole 16 bytes");
  w->reads.push_back({to, bytes, barrier, from, nullptr, {}});
}
EXPORT void note_tile_read(unsigned to, const void *map, int x, int y, int z, unsigned barrier) {
  tensor_map m;
  memcpy(&m, map, sizeof m);
  w->reads.push_back({to, 4 * m.box[0] * m.box[1] * m.box[2], barrier, nullptr, map, {x, y, z}});
}
EXPORT void note_tile_write(const void *map, int x, int y, int z, unsigned from) {
  w->bulk[w->current].note(nullptr, new bulk_note{from, 0, 0, nullptr, map, {x, y, z}}, 0);
}

EXPORT void cluster_wait() { wait_as(state::waits_cluster); }
EXPORT void send(unsigned to, unsigned barrier, unsigned rank, const void *from, unsigned bytes) {
  worker *there = w->of ? w->of->members[rank] : w;
  memcpy(there->dynamic + to, from, bytes);
  arrival *a = (arrival *)(there->dynamic + barrier);
  a->bytes -= (int)bytes;
}

} // namespace emulated

/* ---- streams, events and graphs ---- */

struct CUevent_st {
  bool recorded;
  double at; /* ms */
};
struct CUgraph_st {
  std::vector<std::function<void()>> work;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};

namespace {

thread_local CUgraph_st *capture; /* of this thread */
thread_local cudaStream_t captured;
thread_local cudaError_t pending;
thread_local int device_now;

cudaError_t failed(cudaError_t error) {
  if (error != cudaSuccess) pending = error;
  return error;
}
/* A call that a capture does not take. */
cudaError_t waits() { return capture ? failed(cudaErrorStreamCaptureUnsupported) : cudaSuccess; }

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int number_of(const char *variable, int otherwise) {
  const char *given = getenv(variable);
  return given && *given ? atoi(given) : otherwise;
}
int device_count() {
  static const int count = [] {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible && !*visible ? 0 : number_of("SIM_EMULATED_DEVICES", 2);
  }();
  return count;
}

} // namespace

namespace emulated {

EXPORT void enqueue(cudaStream_t stream, std::function<void()> work) {
  if (capture && stream == captured)
    capture->work.push_back(std::move(work));
  else
    work();
}

EXPORT cudaError_t launch(const shape &how, cudaStream_t stream, std::function<void()> thread) {
  const size_t threads = (size_t)how.block.x * how.block.y * how.block.z;
  const size_t blocks = (size_t)how.grid.x * how.grid.y * how.grid.z;
  if (threads == 0 || threads > THREADS_MOST || blocks == 0 || how.grid.x > 0x7fffffffu || how.grid.y > 65535 ||
      how.grid.z > 65535 || how.block.z > 64 || how.shared > SHARED_MOST || blocks % how.together != 0)
    return failed(cudaErrorInvalidConfiguration);
  enqueue(stream, [how, thread = std::move(thread)] { run_grid(how, thread); });
  return cudaSuccess;
}

EXPORT cudaError_t shape_of(const cudaLaunchConfig_t *config, shape *out) {
  *out = {config->gridDim, config->blockDim, config->dynamicSmemBytes};
  for (unsigned k = 0; k < config->numAttrs; k++) {
    const cudaLaunchAttribute &a = config->attrs[k];
    if (a.id == cudaLaunchAttributeCooperative && a.val.cooperative)
      out->together = out->grid.x * out->grid.y * out->grid.z;
    if (a.id == cudaLaunchAttributeClusterDimension)
      out->together = a.val.clusterDim.x * a.val.clusterDim.y * a.val.clusterDim.z;
  }
  return cudaSuccess;
}

/* ---- kernels that are launched by their address or name ---- */

static kernel *kernels; /* all; the newest first */
EXPORT kernel::kernel(const char *of, const void *function, std::function<void()> (*with)(void **))
    : name(of), address(function), bind(with), next(kernels) {
  kernels = this;
}

} // namespace emulated

namespace {
std::mutex libraries_lock;
const emulated::kernel *find_kernel(const void *address) {
  for (const emulated::kernel *k = emulated::kernels; k; k = k->next)
    if (k->address == address) return k;
  return nullptr;
}
} // namespace

struct CUlib_st {
  void *loaded;
  std::vector<const emulated::kernel *> kernels;
};

extern "C" {

/* ---- devices ---- */

EXPORT cudaError_t cudaDriverGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
EXPORT cudaError_t cudaRuntimeGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
EXPORT cudaError_t cudaGetDeviceCount(int *count) {
  *count = device_count();
  return *count > 0 ? cudaSuccess : failed(cudaErrorNoDevice);
}
EXPORT cudaError_t cudaGetDevice(int *device) { return *device = device_now, cudaSuccess; }
EXPORT cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= device_count()) return failed(cudaErrorInvalidDevice);
  return device_now = device, cudaSuccess;
}
EXPORT cudaError_t cudaDeviceReset(void) { return cudaSuccess; }
EXPORT cudaError_t cudaDeviceSynchronize(void) { return waits(); }
EXPORT cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device) {
  *out = {};
  snprintf(out->name, sizeof out->name, "Emulated device");
  memset(out->uuid.bytes, 0x10 + device, sizeof out->uuid.bytes);
  out->major = 9;
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int) {
  switch (which) {
  case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
  case cudaDevAttrMultiProcessorCount: *value = number_of("SIM_EMULATED_MULTIPROCESSORS", 2); break;
  case cudaDevAttrClockRate: *value = 1000000; break; /* kHz */
  case cudaDevAttrMemoryClockRate: *value = 1000000; break;
  case cudaDevAttrGlobalMemoryBusWidth: *value = 1024; break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = SHARED_MOST; break;
  default: *value = 0;
  }
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int other) {
  return *can = device != other, cudaSuccess;
}
EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *most) { return *least = *most = 0, cudaSuccess; }

#define ERRORS(X)                                                                                                      \
  X(Success, "no error")                                                                                               \
  X(ErrorInvalidValue, "invalid argument")                                                                             \
  X(ErrorMemoryAllocation, "out of memory")                                                                            \
  X(ErrorInvalidConfiguration, "invalid configuration argument")                                                       \
  X(ErrorNoDevice, "no CUDA-capable device is detected")                                                               \
  X(ErrorInvalidDevice, "invalid device ordinal")                                                                      \
  X(ErrorInvalidKernelImage, "device kernel image is invalid")                                                         \
  X(ErrorInvalidResourceHandle, "invalid resource handle")                                                             \
  X(ErrorNotReady, "device not ready")                                                                                 \
  X(ErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region")                         \
  X(ErrorNotSupported, "operation not supported")                                                                      \
  X(ErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing")
EXPORT const char *cudaGetErrorName(cudaError_t error) {
#define NAME(name, text)                                                                                               \
  if (error == cuda##name) return "cuda" #name;
  ERRORS(NAME)
  return "unrecognized error code";
}
EXPORT const char *cudaGetErrorString(cudaError_t error) {
#define TEXT(name, text)                                                                                               \
  if (error == cuda##name) return text;
  ERRORS(TEXT)
  return "unrecognized error code";
}
EXPORT cudaError_t cudaPeekAtLastError(void) { return pending; }
EXPORT cudaError_t cudaGetLastError(void) { return std::exchange(pending, cudaSuccess); }

/* ---- memory ---- */

} // extern "C"

namespace {

/* An array: a file of its own, mapped so that it ends, but for its alignment, at a page without access. */
struct array {
  char *data, *mapping;
  size_t bytes, mapped;
  int file; /* -1: not of this process */
};
struct {
  std::mutex lock;
  std::map<void *, array> arrays;
  size_t used;
  unsigned number;
} memory;

struct offer { /* within a cudaIpcMemHandle_t */
  char name[40];
  uint64_t offset, mapped;
};
static_assert(sizeof(offer) <= sizeof(cudaIpcMemHandle_t), "a handle");

char *map_file(int file, size_t mapped) {
  char *at = (char *)mmap(nullptr, mapped + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  if (mmap(at, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) return nullptr;
  return at;
}

void check_behind(const array &a) {
  for (char *at = a.data + a.bytes; at < a.mapping + a.mapped; at++)
    if ((unsigned char)*at != POISON) fault("a write behind an array of %zu bytes", a.bytes);
}

} // namespace

extern "C" {

EXPORT cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  std::lock_guard<std::mutex> held(memory.lock);
  *total = MEMORY, *available = MEMORY - memory.used;
  return cudaSuccess;
}
EXPORT cudaError_t cudaMalloc(void **out, size_t bytes) {
  if (waits() != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  std::lock_guard<std::mutex> held(memory.lock);
  *out = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes > MEMORY - memory.used) return failed(cudaErrorMemoryAllocation);
  const size_t whole = rounded(bytes, ALIGNMENT), mapped = rounded(whole, PAGE);
  array a = {nullptr, nullptr, bytes, mapped, memfd_create("emulated device", MFD_CLOEXEC)};
  if (a.file < 0 || ftruncate(a.file, (off_t)mapped) != 0 || !(a.mapping = map_file(a.file, mapped)))
    return failed(cudaErrorMemoryAllocation);
  a.data = a.mapping + mapped - whole;
  memset(a.mapping, POISON, mapped);
  memory.used += bytes;
  memory.arrays[a.data] = a;
  *out = a.data;
  return cudaSuccess;
}
EXPORT cudaError_t cudaFree(void *data) {
  if (!data) return cudaSuccess;
  std::lock_guard<std::mutex> held(memory.lock);
  const auto found = memory.arrays.find(data);
  if (found == memory.arrays.end()) return failed(cudaErrorInvalidValue);
  const array a = found->second;
  check_behind(a);
  (void)munmap(a.mapping, a.mapped + PAGE);
  if (a.file >= 0) (void)close(a.file);
  if (a.file >= 0) memory.used -= a.bytes;
  memory.arrays.erase(found);
  return cudaSuccess;
}
EXPORT cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned) {
  *out = nullptr;
  if (posix_memalign(out, PAGE, bytes ? bytes : 1) != 0) return failed(cudaErrorMemoryAllocation);
  memset(*out, POISON, bytes);
  return cudaSuccess;
}
EXPORT cudaError_t cudaFreeHost(void *data) { return free(data), cudaSuccess; }
EXPORT cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaSuccess; }
EXPORT cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }

EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *data) {
  std::lock_guard<std::mutex> held(memory.lock);
  const auto found = memory.arrays.find(data);
  if (found == memory.arrays.end() || found->second.file < 0) return failed(cudaErrorInvalidValue);
  offer o = {};
  snprintf(o.name, sizeof o.name, "/proc/%ld/fd/%d", (long)getpid(), found->second.file);
  o.offset = (uint64_t)(found->second.data - found->second.mapping);
  o.mapped = found->second.mapped;
  *handle = {};
  memcpy(handle, &o, sizeof o);
  return cudaSuccess;
}
EXPORT cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t handle, unsigned) {
  offer o;
  memcpy(&o, &handle, sizeof o);
  const int file = open(o.name, O_RDWR | O_CLOEXEC);
  if (file < 0) return failed(cudaErrorInvalidValue);
  std::lock_guard<std::mutex> held(memory.lock);
  char *const mapping = map_file(file, o.mapped);
  (void)close(file);
  if (!mapping) return failed(cudaErrorMemoryAllocation);
  *out = mapping + o.offset;
  memory.arrays[*out] = {mapping + o.offset, mapping, o.mapped - o.offset, o.mapped, -1};
  return cudaSuccess;
}
EXPORT cudaError_t cudaIpcCloseMemHandle(void *data) { return cudaFree(data); }

EXPORT cudaError_t cudaMemset2DAsync(void *data, size_t pitch, int value, size_t width, size_t rows,
                                     cudaStream_t stream) {
  emulated::enqueue(stream, [=] {
    for (size_t k = 0; k < rows; k++) memset((char *)data + k * pitch, value, width);
  });
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemsetAsync(void *data, int value, size_t bytes, cudaStream_t stream) {
  return cudaMemset2DAsync(data, bytes, value, bytes, 1, stream);
}
EXPORT cudaError_t cudaMemset(void *data, int value, size_t bytes) {
  return cudaMemsetAsync(data, value, bytes, nullptr);
}
EXPORT cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t rows, enum cudaMemcpyKind, cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return failed(cudaErrorInvalidValue);
  emulated::enqueue(stream, [=] {
    for (size_t k = 0; k < rows; k++) memmove((char *)to + k * to_pitch, (const char *)from + k * from_pitch, width);
  });
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, bytes > 0, kind, stream);
}
EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  if (waits() != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

/* ---- streams, events and graphs ---- */

EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned, int) {
  return *stream = (cudaStream_t)malloc(1), cudaSuccess;
}
EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream) { return free((void *)stream), cudaSuccess; }
EXPORT cudaError_t cudaStreamQuery(cudaStream_t) { return waits(); }
EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return capture && stream == captured ? failed(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}
EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  return *event = new CUevent_st(), cudaSuccess;
}
EXPORT cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return event->recorded = true, event->at = now(), cudaSuccess;
}
EXPORT cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
EXPORT cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->recorded || !end->recorded) return failed(cudaErrorInvalidResourceHandle);
  return *ms = (float)(end->at - begin->at), cudaSuccess;
}
EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode) {
  if (capture) return failed(cudaErrorInvalidValue);
  capture = new CUgraph_st();
  captured = stream;
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
  return *graph = std::exchange(capture, nullptr), cudaSuccess;
}
EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long) {
  return *out = new CUgraphExec_st{graph->work}, cudaSuccess;
}
EXPORT cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  for (const auto &work : graph->work) work();
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return delete graph, cudaSuccess; }

/* ---- kernels ---- */

/* The code is a shared library, as nvrtc.cc makes it: its size first. */
EXPORT cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *, void **,
                                       unsigned, enum cudaLibraryOption *, void **, unsigned) {
  uint64_t bytes;
  memcpy(&bytes, code, sizeof bytes);
  const int file = memfd_create("kernels", MFD_CLOEXEC);
  const char *const at = (const char *)code + sizeof bytes;
  for (uint64_t done = 0; file >= 0 && done < bytes;) {
    const ssize_t wrote = write(file, at + done, bytes - done);
    if (wrote <= 0) break;
    done += (uint64_t)wrote;
  }
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  std::lock_guard<std::mutex> held(libraries_lock);
  const emulated::kernel *const before = emulated::kernels;
  void *const loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!loaded) fprintf(stderr, "emulated device: %s\n", dlerror());
  /* the file stays open: a library of the same name would be taken for this one */
  if (!loaded) return failed(cudaErrorInvalidKernelImage);
  *library = new CUlib_st{loaded, {}};
  for (const emulated::kernel *k = emulated::kernels; k != before; k = k->next) (*library)->kernels.push_back(k);
  return cudaSuccess;
}
/* Stays loaded: its kernels are in the list of all. */
EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t library) { return delete library, cudaSuccess; }
EXPORT cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library) {
  return *count = (unsigned)library->kernels.size(), cudaSuccess;
}
EXPORT cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned count, cudaLibrary_t library) {
  for (unsigned k = 0; k < count; k++) kernels[k] = (cudaKernel_t)library->kernels[k]->address;
  return cudaSuccess;
}
EXPORT cudaError_t cudaFuncGetName(const char **name, const void *kernel) {
  const emulated::kernel *k = find_kernel(kernel);
  return k ? (*name = k->name, cudaSuccess) : failed(cudaErrorInvalidResourceHandle);
}
EXPORT cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *) {
  *attributes = {};
  attributes->maxThreadsPerBlock = THREADS_MOST;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return cudaSuccess;
}
EXPORT cudaError_t cudaFuncSetAttribute(const void *, enum cudaFuncAttribute which, int value) {
  if (which == cudaFuncAttributeMaxDynamicSharedMemorySize && value > (int)SHARED_MOST)
    return failed(cudaErrorInvalidValue);
  return cudaSuccess;
}
EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, size_t) {
  return *blocks = 1, cudaSuccess;
}
EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
  const emulated::kernel *k = find_kernel(kernel);
  if (!k) fault("a kernel is launched by an address that compile.py has not seen");
  emulated::shape how;
  const cudaError_t error = emulated::shape_of(config, &how);
  return error != cudaSuccess ? error : emulated::launch(how, config->stream, k->bind(arguments));
}
EXPORT cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                    cudaStream_t stream) {
  const cudaLaunchConfig_t config = {grid, block, shared, stream, nullptr, 0};
  return cudaLaunchKernelExC(&config, kernel, arguments);
}
EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned, unsigned long long,
                                                    enum cudaDriverEntryPointQueryResult *result) {
  *out = strcmp(name, "cuTensorMapEncodeTiled") == 0 ? (void *)encode_tiled : nullptr;
  *result = *out ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

} // extern "C"
