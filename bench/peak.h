/* The ceiling that pair kernels are measured against. */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H

/* Vector FMA instructions a second of the calling thread: independent ones, in registers, for about a millisecond. */
typedef double bench_peak(void);

extern bench_peak bench_peak_double_plain, bench_peak_single_plain;
extern bench_peak bench_peak_double_avx2, bench_peak_single_avx2;
extern bench_peak bench_peak_double_avx512, bench_peak_single_avx512;

#endif
