/* The calls of CUB that sim makes, on the host. As in CUB, a call with scratch NULL writes the bytes that it needs. */
#pragma once
#include "../cuda_runtime.h"
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace cub {
template <typename T> struct DoubleBuffer {
  T *d_buffers[2];
  int selector = 0;
  DoubleBuffer(T *a, T *b) : d_buffers{a, b} {}
  T *Current() const { return d_buffers[selector]; }
  T *Alternate() const { return d_buffers[selector ^ 1]; }
};

namespace emulated_detail {
template <typename F> cudaError_t run(void *scratch, size_t &bytes, cudaStream_t stream, F work) {
  if (scratch == nullptr) return bytes = 64, cudaSuccess;
  emulated::enqueue(stream, work);
  return cudaSuccess;
}
template <typename K, typename V>
void sort(const K *keys, K *to_keys, const V *values, V *to_values, int n, int begin, int end) {
  const K mask = end - begin >= (int)(8 * sizeof(K)) ? (K) ~(K)0 : (K)((((K)1 << (end - begin)) - 1));
  std::vector<int> order((size_t)n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return (keys[a] >> begin & mask) < (keys[b] >> begin & mask); });
  std::vector<K> k((size_t)n);
  std::vector<V> v((size_t)n);
  for (int i = 0; i < n; i++) k[i] = keys[order[i]], v[i] = values[order[i]];
  std::copy(k.begin(), k.end(), to_keys);
  std::copy(v.begin(), v.end(), to_values);
}
} // namespace emulated_detail

struct DeviceRadixSort {
  template <typename K, typename V>
  static cudaError_t SortPairs(void *scratch, size_t &bytes, const K *keys, K *to_keys, const V *values, V *to_values,
                               int n, int begin = 0, int end = 8 * sizeof(K), cudaStream_t stream = nullptr) {
    return emulated_detail::run(scratch, bytes, stream,
                                [=] { emulated_detail::sort(keys, to_keys, values, to_values, n, begin, end); });
  }
  template <typename K, typename V>
  static cudaError_t SortPairs(void *scratch, size_t &bytes, DoubleBuffer<K> &keys, DoubleBuffer<V> &values, int n,
                               int begin = 0, int end = 8 * sizeof(K), cudaStream_t stream = nullptr) {
    const cudaError_t error = SortPairs(scratch, bytes, keys.Current(), keys.Alternate(), values.Current(),
                                        values.Alternate(), n, begin, end, stream);
    if (scratch != nullptr) keys.selector ^= 1, values.selector ^= 1;
    return error;
  }
};
struct DeviceScan {
  template <typename T>
  static cudaError_t ExclusiveSum(void *scratch, size_t &bytes, const T *from, T *to, int n, cudaStream_t stream) {
    return emulated_detail::run(scratch, bytes, stream, [=] { std::exclusive_scan(from, from + n, to, T()); });
  }
};
struct DeviceReduce {
  template <typename T>
  static cudaError_t Min(void *scratch, size_t &bytes, const T *from, T *to, int n, cudaStream_t stream) {
    return emulated_detail::run(scratch, bytes, stream, [=] { *to = *std::min_element(from, from + n); });
  }
  template <typename T>
  static cudaError_t Max(void *scratch, size_t &bytes, const T *from, T *to, int n, cudaStream_t stream) {
    return emulated_detail::run(scratch, bytes, stream, [=] { *to = *std::max_element(from, from + n); });
  }
};
} // namespace cub
