# Direct-sum kernels: one source, once for each instruction set and precision.

set(nbody_isas plain)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  list(APPEND nbody_isas avx2 avx512)
  set_property(SOURCE pair.c APPEND PROPERTY COMPILE_DEFINITIONS NBODY_X86=1)
else()
  set_property(SOURCE pair.c APPEND PROPERTY COMPILE_DEFINITIONS NBODY_X86=0)
endif()

# nbody_object(target source isa precision symbol): an object library; `symbol` is the macro that names what it exports,
# <symbol>_<precision>_<isa> in small letters.
function(nbody_object target source isa precision symbol)
  set(plain 0)
  set(avx2 1 -mavx2 -mfma)
  set(avx512 2 -mavx512f -mavx512vl -mavx512dq -mfma)
  set(options ${${isa}})
  list(POP_FRONT options number)
  string(TOLOWER ${symbol} name)
  add_library(${target} OBJECT ${source})
  target_link_libraries(${target} PRIVATE sim_engine)
  target_compile_definitions(${target} PRIVATE NBODY_ISA=${number} NBODY_SINGLE=$<STREQUAL:${precision},single>
    ${symbol}=${name}_${precision}_${isa})
  target_compile_options(${target} PRIVATE -O3 ${options})
endfunction()

set_property(GLOBAL PROPERTY NBODY_ISAS ${nbody_isas}) # for bench/
target_sources(sim_model_nbody PRIVATE pair.c)
foreach(precision IN ITEMS single double)
  foreach(isa IN LISTS nbody_isas)
    nbody_object(nbody_tile_${precision}_${isa} pair_tile.c ${isa} ${precision} NBODY_TILES)
    nbody_object(nbody_law_tile_${precision}_${isa} pair_law.c ${isa} ${precision} NBODY_LAW_TILES)
    target_sources(sim_model_nbody PRIVATE $<TARGET_OBJECTS:nbody_tile_${precision}_${isa}>
      $<TARGET_OBJECTS:nbody_law_tile_${precision}_${isa}>)
  endforeach()
  nbody_object(nbody_plain_${precision} pair_plain.c plain ${precision} NBODY_PLAIN)
  target_sources(sim_model_nbody PRIVATE $<TARGET_OBJECTS:nbody_plain_${precision}>)
endforeach()
