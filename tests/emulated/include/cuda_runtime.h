/* CUDA C++ on the host: the runtime's interface and the language's names. */
#pragma once
#include "cuda_runtime_api.h"
#include "device.h"

#ifdef __CUDACC_RTC__ /* a text for NVRTC, which has no integers of a header: kernels/common/integers.h makes its own  \
                       */
#include "kernels/common/ptx.cuh"
#define int8_t text_int8_t
#define uint8_t text_uint8_t
#define int16_t text_int16_t
#define uint16_t text_uint16_t
#define int32_t text_int32_t
#define uint32_t text_uint32_t
#define int64_t text_int64_t
#define uint64_t text_uint64_t
#endif
