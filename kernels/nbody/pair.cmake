# Direct-sum kernels: one source, once for each instruction set and precision.

set_property(SOURCE pair.c APPEND PROPERTY COMPILE_DEFINITIONS NBODY_X86=${sim_x86})

function(nbody_object target source isa precision symbol) # as sim_isa_object
  sim_isa_object(${target} ${source} ${isa} ${precision} NBODY ${symbol})
  target_link_libraries(${target} PRIVATE sim_engine)
endfunction()

target_sources(sim_model_nbody PRIVATE pair.c)
foreach(precision IN ITEMS single double)
  foreach(isa IN LISTS sim_isas)
    nbody_object(nbody_tile_${precision}_${isa} pair_tile.c ${isa} ${precision} NBODY_TILES)
    nbody_object(nbody_law_tile_${precision}_${isa} pair_law.c ${isa} ${precision} NBODY_LAW_TILES)
    target_sources(sim_model_nbody PRIVATE $<TARGET_OBJECTS:nbody_tile_${precision}_${isa}>
      $<TARGET_OBJECTS:nbody_law_tile_${precision}_${isa}>)
  endforeach()
  nbody_object(nbody_plain_${precision} pair_plain.c plain ${precision} NBODY_PLAIN)
  target_sources(sim_model_nbody PRIVATE $<TARGET_OBJECTS:nbody_plain_${precision}>)
endforeach()
