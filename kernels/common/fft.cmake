# Transforms of columns: one source, once for each instruction set and precision.

function(fft_object target source isa precision symbol) # as sim_isa_object
  sim_isa_object(${target} ${source} ${isa} ${precision} FFT ${symbol} -Wno-psabi)
  target_link_libraries(${target} PRIVATE sim_engine)
endfunction()
