/* What contacts read. In single precision it is on its way into shared memory while the contact before is computed; in
 * double there is no room for that. `real` is defined before this is included. */
#ifndef COLLISION_CUDA_BED_READER_CUH
#define COLLISION_CUDA_BED_READER_CUH

#include "kernels/collision/general/cuda/contacts.cuh"

/* What is needed of a grain after its last neighbour. */
struct bed_rest {
  four velocity, spin;
  double dissipated, virial;
};

/* ---- as it is needed ---- */

template <int SPRINGS> struct bed_reader_now {
  __device__ void ask(const bed_grains &, uint32_t) {}
  __device__ void ask_neighbour(uint32_t, const bed_grains &, uint32_t, const history<SPRINGS> &) {}
  __device__ void ask_rest(uint32_t, const bed_grains &, const bed_kept &, uint32_t) {}
  __device__ void take(const bed_grains &g, uint32_t i, seen_grain *one) const { *one = seen_at<SPRINGS>(g, i); }
  __device__ void take_neighbour(uint32_t, const bed_grains &g, uint32_t j, const history<SPRINGS> &past,
                                 seen_grain *other, real *spring) const {
    *other = seen_at<SPRINGS>(g, j);
    past.get(spring);
  }
  __device__ bed_rest take_rest(uint32_t, const bed_grains &g, const bed_kept &kept, uint32_t i) const {
    return {g.velocity[i], g.spin[i], kept.dissipated[i], kept.virial[i]};
  }
};

/* ---- ahead ---- */

template <typename T> static __device__ __forceinline__ void fetch(T *to, const T *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from),
               "n"(sizeof(T))
               : "memory");
#else
  *to = *from;
#endif
}

/* Ends what is asked for at once. */
static __device__ __forceinline__ void fetched() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Until it has come, but for the last `LEFT` times. */
template <int LEFT> static __device__ __forceinline__ void await() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
#endif
}

/* Each thread has a column of its own, which no other reads. Entry e of a row, and what comes after the last, are asked
 * for when entry e - 1 is to be taken. */
template <int SPRINGS> struct bed_reader_ahead {
  static constexpr bool turns = SPRINGS == 3; /* no room with seven springs */
  four place[BED_THREADS], seen[BED_THREADS], turned[turns ? BED_THREADS : 1];
  struct {
    four place[BED_THREADS], seen[BED_THREADS], turned[BED_THREADS];
    real spring[SPRINGS > 0 ? SPRINGS : 1][BED_THREADS];
  } stage[2];

  __device__ __forceinline__ void ask(const bed_grains &g, uint32_t i) {
    fetch(&place[threadIdx.x], g.place + i);
    fetch(&seen[threadIdx.x], g.seen + i);
    if (turns) fetch(&turned[threadIdx.x], g.turned + i);
  }
  __device__ __forceinline__ void ask_neighbour(uint32_t e, const bed_grains &g, uint32_t j,
                                                const history<SPRINGS> &past) {
    auto &to = stage[e & 1];
    fetch(&to.place[threadIdx.x], g.place + j);
    fetch(&to.seen[threadIdx.x], g.seen + j);
    if (SPRINGS > 0) fetch(&to.turned[threadIdx.x], g.turned + j);
    for (int c = 0; c < SPRINGS; c++) fetch(&to.spring[c][threadIdx.x], past.at + (size_t)c * past.stride);
    fetched();
  }
  __device__ __forceinline__ void ask_rest(uint32_t e, const bed_grains &g, const bed_kept &kept, uint32_t i) {
    auto &to = stage[e & 1];
    fetch(&to.place[threadIdx.x], g.velocity + i);
    fetch(&to.seen[threadIdx.x], g.spin + i);
    fetch((double *)&to.turned[threadIdx.x], kept.dissipated + i);
    fetch((double *)&to.turned[threadIdx.x] + 1, kept.virial + i);
    fetched();
  }
  __device__ __forceinline__ void take(const bed_grains &g, uint32_t i, seen_grain *one) const {
    await<1>();
    one->place = place[threadIdx.x];
    one->velocity = seen[threadIdx.x];
    if (turns)
      one->spin = turned[threadIdx.x];
    else if (SPRINGS > 0)
      one->spin = constant(g.turned + i);
  }
  __device__ __forceinline__ void take_neighbour(uint32_t e, const bed_grains &, uint32_t, const history<SPRINGS> &,
                                                 seen_grain *other, real *spring) const {
    const auto &from = stage[e & 1];
    other->place = from.place[threadIdx.x];
    other->velocity = from.seen[threadIdx.x];
    if (SPRINGS > 0) other->spin = from.turned[threadIdx.x];
    for (int c = 0; c < SPRINGS; c++) spring[c] = from.spring[c][threadIdx.x];
  }
  __device__ __forceinline__ bed_rest take_rest(uint32_t e, const bed_grains &, const bed_kept &, uint32_t) const {
    const auto &from = stage[e & 1];
    await<0>();
    const double *const sums = (const double *)&from.turned[threadIdx.x];
    return {from.place[threadIdx.x], from.seen[threadIdx.x], sums[0], sums[1]};
  }
};

template <bool AHEAD, int SPRINGS> struct bed_reader_choice { typedef bed_reader_ahead<SPRINGS> type; };
template <int SPRINGS> struct bed_reader_choice<false, SPRINGS> { typedef bed_reader_now<SPRINGS> type; };
template <int SPRINGS> using bed_reader = typename bed_reader_choice<sizeof(real) == 4, SPRINGS>::type;

#endif
