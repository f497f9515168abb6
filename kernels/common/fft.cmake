# Transforms of columns: one source, once for each instruction set and precision.

set(fft_isas plain)
set(fft_x86 0)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  list(APPEND fft_isas avx2 avx512)
  set(fft_x86 1)
endif()

# fft_object(target source isa precision symbol): an object library; `symbol` is the macro that names what it exports,
# <symbol>_<precision>_<isa> in small letters.
function(fft_object target source isa precision symbol)
  set(plain 0)
  set(avx2 1 -mavx2 -mfma)
  set(avx512 2 -mavx512f -mavx512vl -mavx512dq -mfma)
  set(options ${${isa}})
  list(POP_FRONT options number)
  string(TOLOWER ${symbol} name)
  add_library(${target} OBJECT ${source})
  target_link_libraries(${target} PRIVATE sim_engine)
  target_compile_definitions(${target} PRIVATE FFT_ISA=${number} FFT_SINGLE=$<STREQUAL:${precision},single>
    ${symbol}=${name}_${precision}_${isa})
  target_compile_options(${target} PRIVATE -O3 -Wno-psabi ${options})
endfunction()
