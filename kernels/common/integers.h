/* Integer types of fixed width for text that NVRTC compiles too: NVRTC has no <stdint.h>. */
#ifndef COMMON_INTEGERS_H
#define COMMON_INTEGERS_H

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define UINT32_MAX 0xffffffffu
#else
#include <stdbool.h>
#include <stdint.h>
#endif

#endif
