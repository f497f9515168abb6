/* What the host gives each launch. */
#ifndef OPTION_CUDA_LAUNCH_H
#define OPTION_CUDA_LAUNCH_H

enum { OPTION_CUDA_THREADS = 256, OPTION_CUDA_GROUP = 16 /* quantities that are summed together */ };

/* Of the rounds of Philox: the seed and what is added to it. */
typedef struct option_keys {
  unsigned key[10][2];
} option_keys;

/* Samples first .. first + count - 1; first is a multiple of 2^16 (and of 4096 for the pilot's). */
typedef struct option_range {
  unsigned long long first, count;
} option_range;

#endif
