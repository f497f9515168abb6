/* What device code copies without waiting: cp.async, bulk copies and tiles that a barrier in shared memory counts, and
 * what it sends to other blocks of a cluster. A copy is made when it is waited for. */
#include "block.h"

#include "include/cuda.h"
#include "include/kernels/common/ptx.cuh"

namespace emulated {
namespace {

/* ---- barriers in shared memory that count bytes ---- */

struct arrival { /* 8 bytes */
  std::atomic<int> bytes;
  std::atomic<uint16_t> expected, phase;
};
static_assert(sizeof(arrival) == 8, "a barrier");
arrival *arrival_at(unsigned at) { return (arrival *)at_address(at); }
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

void *tensor_map_encoder() { return (void *)encode_tiled; }

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

EXPORT void send(unsigned to, unsigned barrier, unsigned rank, const void *from, unsigned bytes) {
  worker *there = w->of ? w->of->members[rank] : w;
  memcpy(there->dynamic + to, from, bytes);
  arrival *a = (arrival *)(there->dynamic + barrier);
  a->bytes -= (int)bytes;
}

} // namespace emulated
