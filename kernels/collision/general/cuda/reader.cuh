/* How contacts read grains, as templates on the real type. In single precision, data is copied into shared memory while
 * the contact before is computed; in double there is no room for that. */
#ifndef COLLISION_GENERAL_CUDA_READER_CUH
#define COLLISION_GENERAL_CUDA_READER_CUH

#include "kernels/collision/general/cuda/contacts.cuh"

/* Data that a grain needs after its last neighbour. */
template <typename real> struct grain_rest {
  vec4<real> velocity, spin;
  double dissipated, virial;
};

/* ---- reads when needed ---- */

template <int SPRINGS, typename Law, typename real> struct direct_reader {
  unsigned long long own_words[CONTACT_THREADS / 32];
  __device__ unsigned long long *words() { return own_words; }
  __device__ void fetch_grain(const general_grains<real> &, uint32_t) {}
  __device__ void fetch_neighbour(uint32_t, const general_grains<real> &, uint32_t,
                                  const pair_history<SPRINGS, Law, real> &) {}
  __device__ void fetch_rest(uint32_t, const general_grains<real> &, const general_records<real> &, uint32_t) {}
  __device__ void read_grain(const general_grains<real> &g, uint32_t i, predicted_grain<real> *one) const {
    *one = predicted_at<SPRINGS>(g, i);
  }
  __device__ void read_neighbour(uint32_t, const general_grains<real> &g, uint32_t j,
                                 const pair_history<SPRINGS, Law, real> &past, predicted_grain<real> *other,
                                 real *spring) const {
    *other = predicted_at<SPRINGS>(g, j);
    past.load(spring);
  }
  __device__ grain_rest<real> read_rest(uint32_t, const general_grains<real> &g, const general_records<real> &records,
                                        uint32_t i) const {
    return {g.velocity[i], g.spin[i], records.dissipated[i], records.virial[i]};
  }
  __device__ void keep(const contact_sum<real> &) {}
  __device__ void take(contact_sum<real> *) const {}
};

/* ---- reads ahead ---- */

/* Each thread has a column of its own, which no other thread reads. Entry e of a row, and the data after the last
 * entry, are requested when entry e - 1 is about to be read. */
template <int SPRINGS, typename Law, typename real> struct prefetching_reader {
  static constexpr int groups = pair_history<SPRINGS, Law, real>::groups,
                       numbers = pair_history<SPRINGS, Law, real>::numbers,
                       paired = pair_history<SPRINGS, Law, real>::paired;
  vec4<real> own[numbers > 0 ? 3 : 2][CONTACT_THREADS]; /* position, v_pred, w_pred */
  struct {
    vec4<real> position[CONTACT_THREADS], v_pred[CONTACT_THREADS], w_pred[CONTACT_THREADS];
    alignas(16) real spring[numbers > 0 ? numbers : 1][CONTACT_THREADS];
    __device__ __forceinline__ vec4<real> *group(int q) { return (vec4<real> *)spring[4 * q] + threadIdx.x; }
    __device__ __forceinline__ vec2<real> *pair() { return (vec2<real> *)spring[4 * groups] + threadIdx.x; }
  } stage[2];
  double energy[2][CONTACT_THREADS]; /* sums of the grain, while the next contact is computed */

  __device__ unsigned long long *words() { return (unsigned long long *)own; }

  __device__ __forceinline__ void fetch_grain(const general_grains<real> &g, uint32_t i) {
    copy_async(&own[0][threadIdx.x], g.position + i);
    copy_async(&own[1][threadIdx.x], g.v_pred + i);
    if constexpr (numbers > 0) copy_async(&own[2][threadIdx.x], g.w_pred + i);
  }
  __device__ __forceinline__ void fetch_neighbour(uint32_t e, const general_grains<real> &g, uint32_t j,
                                                  const pair_history<SPRINGS, Law, real> &past) {
    auto &to = stage[e & 1];
    copy_async(&to.position[threadIdx.x], g.position + j);
    copy_async(&to.v_pred[threadIdx.x], g.v_pred + j);
    if (SPRINGS > 0) copy_async(&to.w_pred[threadIdx.x], g.w_pred + j);
    for (int q = 0; q < groups; q++) copy_async_through(to.group(q), past.group(q));
    if constexpr (paired > 4 * groups) copy_async(to.pair(), past.pair());
    if constexpr (numbers > paired) copy_async(&to.spring[paired][threadIdx.x], past.last());
    commit_async();
  }
  __device__ __forceinline__ void fetch_rest(uint32_t e, const general_grains<real> &g,
                                             const general_records<real> &records, uint32_t i) {
    auto &to = stage[e & 1];
    copy_async(&to.position[threadIdx.x], g.velocity + i);
    copy_async(&to.v_pred[threadIdx.x], g.spin + i);
    copy_async((double *)&to.w_pred[threadIdx.x], records.dissipated + i);
    copy_async((double *)&to.w_pred[threadIdx.x] + 1, records.virial + i);
    commit_async();
  }
  __device__ __forceinline__ void read_grain(const general_grains<real> &, uint32_t, predicted_grain<real> *one) const {
    wait_async<1>();
    one->position = own[0][threadIdx.x];
    one->velocity = own[1][threadIdx.x];
    if constexpr (numbers > 0) one->spin = own[2][threadIdx.x];
  }
  __device__ __forceinline__ void read_neighbour(uint32_t e, const general_grains<real> &, uint32_t,
                                                 const pair_history<SPRINGS, Law, real> &past,
                                                 predicted_grain<real> *other, real *spring) {
    auto &from = stage[e & 1];
    other->position = from.position[threadIdx.x];
    other->velocity = from.v_pred[threadIdx.x];
    if (SPRINGS > 0) other->spin = from.w_pred[threadIdx.x];
    for (int q = 0; q < groups; q++) past.spread(*from.group(q), q, spring);
    if constexpr (paired > 4 * groups) past.spread(*from.pair(), spring);
    if constexpr (numbers > paired) spring[paired] = from.spring[paired][threadIdx.x];
  }
  __device__ __forceinline__ grain_rest<real> read_rest(uint32_t e, const general_grains<real> &,
                                                        const general_records<real> &, uint32_t) const {
    const auto &from = stage[e & 1];
    wait_async<0>();
    const double *const sums = (const double *)&from.w_pred[threadIdx.x];
    return {from.position[threadIdx.x], from.v_pred[threadIdx.x], sums[0], sums[1]};
  }
  __device__ __forceinline__ void keep(const contact_sum<real> &sum) {
    energy[0][threadIdx.x] = sum.dissipated, energy[1][threadIdx.x] = sum.virial;
  }
  __device__ __forceinline__ void take(contact_sum<real> *sum) const {
    sum->dissipated = energy[0][threadIdx.x], sum->virial = energy[1][threadIdx.x];
  }
};

template <bool PREFETCH, int SPRINGS, typename Law, typename real> struct reader_choice {
  typedef prefetching_reader<SPRINGS, Law, real> type;
};
template <int SPRINGS, typename Law, typename real> struct reader_choice<false, SPRINGS, Law, real> {
  typedef direct_reader<SPRINGS, Law, real> type;
};
template <int SPRINGS, typename Law, typename real>
using contact_reader = typename reader_choice<sizeof(real) == 4, SPRINGS, Law, real>::type;

#endif
