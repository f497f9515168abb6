#include "kernels/nbody/cpu/distances.h"

#include <omp.h>
#include <stdbool.h>
#include <string.h>

enum {
  BUCKETS = 4096,
  BUCKETS_FROM = 8192 /* fewer bodies are sorted by one heapsort */
};

static bool inside(nbody_distance a, nbody_distance b) {
  return a.distance2 < b.distance2 || (a.distance2 == b.distance2 && a.mass < b.mass);
}

/* Heapsort in place: qsort may allocate as much memory again. */
static void sort(nbody_distance *all, int64_t n) {
  for (int64_t top = n / 2, last = n; last > 1;) {
    nbody_distance moved;
    if (top > 0)
      moved = all[--top];
    else {
      moved = all[--last];
      all[last] = all[0];
    }
    int64_t hole = top;
    for (int64_t child; (child = 2 * hole + 1) < last; hole = child) {
      if (child + 1 < last && inside(all[child], all[child + 1])) child++;
      if (!inside(moved, all[child])) break;
      all[hole] = all[child];
    }
    all[hole] = moved;
  }
}

/* Key that increases with the distance, for any value. */
static uint64_t key_of(nbody_distance d) {
  uint64_t bits;
  memcpy(&bits, &d.distance2, sizeof bits);
  return bits;
}

/* Sorts into buckets first: by the leading bits in which keys differ, some hundred buckets for each doubling of the
 * distance. */
void nbody_sort_distances(nbody_distance *all, int64_t n, int threads) {
  int64_t next[BUCKETS], end[BUCKETS];
  uint64_t least = UINT64_MAX, most = 0;
  int shift = 0;
  if (n < BUCKETS_FROM) {
    sort(all, n);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    const uint64_t key = key_of(all[i]);
    if (key < least) least = key;
    if (key > most) most = key;
  }
  while ((most - least) >> shift >= BUCKETS) shift++;
  memset(end, 0, sizeof end);
  for (int64_t i = 0; i < n; i++) end[(key_of(all[i]) - least) >> shift]++;
  for (int64_t b = 0, before = 0; b < BUCKETS; b++) {
    next[b] = before;
    before = end[b] += before;
  }
  for (int64_t b = 0; b < BUCKETS; b++)
    for (; next[b] < end[b]; next[b]++) { /* exchanges the item here until an item of this bucket is here */
      nbody_distance here = all[next[b]];
      for (int64_t of; (of = (int64_t)((key_of(here) - least) >> shift)) != b;) {
        const nbody_distance there = all[next[of]];
        all[next[of]++] = here;
        here = there;
      }
      all[next[b]] = here;
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) if (threads > 1)
  for (int64_t b = 0; b < BUCKETS; b++) {
    const int64_t first = b > 0 ? end[b - 1] : 0;
    sort(all + first, end[b] - first);
  }
}
