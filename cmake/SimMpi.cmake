# Plugins for MPI, one for each mpicc that is found: libsim_mpi_NAME.so beside `sim`, which links no MPI itself. Without
# any mpicc there is none, and `sim info` prints the command that builds one later.

set(SIM_MPICC "" CACHE STRING "Compilers of MPI libraries, by name or path; empty: those that are found")

# Sets `name` to "openmpi", "mpich" or "other", as the compiler's mpi.h says; "" where it does not compile.
function(sim_mpi_family mpicc name)
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/mpi_probe.c)
  file(WRITE ${probe} "#include <mpi.h>
#if defined OPEN_MPI && OPEN_MPI
family=openmpi
#elif defined MPICH_VERSION || defined I_MPI_VERSION || defined MVAPICH_VERSION
family=mpich
#else
family=other
#endif
")
  execute_process(COMMAND ${mpicc} -E -P ${probe} OUTPUT_VARIABLE text RESULT_VARIABLE failed ERROR_QUIET)
  set(found "")
  if(NOT failed AND text MATCHES "family=([a-z]+)")
    set(found ${CMAKE_MATCH_1})
  endif()
  set(${name} "${found}" PARENT_SCOPE)
endfunction()

# sim_mpi_plugins(folder): builds the plugins into this folder; SIM_MPI_PLUGINS lists their names.
function(sim_mpi_plugins folder)
  set(source ${PROJECT_SOURCE_DIR}/engine/comm/mpi_plugin.c)
  set(header ${PROJECT_SOURCE_DIR}/engine/comm/mpi_plugin.h)
  set(warnings -Wall -Wextra $<$<BOOL:${SIM_WERROR}>:-Werror>)
  set(candidates ${SIM_MPICC})
  if(NOT candidates)
    set(candidates mpicc mpicc.openmpi mpicc.mpich mpiicc mpiicx)
  endif()
  set(names "")
  set(libraries "")
  foreach(candidate IN LISTS candidates)
    unset(mpicc)
    find_program(mpicc ${candidate} NO_CACHE)
    if(NOT mpicc)
      continue()
    endif()
    sim_mpi_family(${mpicc} name)
    if(name STREQUAL "" OR name IN_LIST names)
      continue()
    endif()
    set(library ${folder}/libsim_mpi_${name}.so)
    add_custom_command(OUTPUT ${library} DEPENDS ${source} ${header} VERBATIM COMMAND_EXPAND_LISTS
      COMMAND ${mpicc} -std=c17 -O2 -fPIC -shared -fvisibility=hidden ${warnings} -o ${library} ${source}
      COMMENT "Building the MPI plugin ${name} by ${mpicc}")
    list(APPEND names ${name})
    list(APPEND libraries ${library})
  endforeach()
  add_custom_target(sim_mpi ALL DEPENDS ${libraries})
  set(SIM_MPI_PLUGINS "${names}" PARENT_SCOPE)
  list(JOIN names ", " text)
  if(NOT text)
    set(text "none (no mpicc found)")
  endif()
  message(STATUS "MPI plugins: ${text}")
  install(FILES ${libraries} DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${source} ${header} DESTINATION ${CMAKE_INSTALL_DATADIR}/sim/mpi)
endfunction()
