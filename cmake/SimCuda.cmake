# Whether this build has GPU code, and for which architectures. Sets SIM_HAS_CUDA, and SIM_CUDA_SUMMARY: one line on
# what was decided and why.

set(SIM_CUDA AUTO CACHE STRING "GPU code: ON, OFF or AUTO (where a CUDA toolkit is found)")
set_property(CACHE SIM_CUDA PROPERTY STRINGS AUTO ON OFF)
set(SIM_CUDA_ARCHITECTURES "" CACHE STRING
  "Compute capabilities such as 80;90, or native; empty: all from 75 to 120 that the toolkit knows")

option(SIM_CUDA_QUICK "GPU code that compiles several times faster and runs slowly: for tests without a GPU" OFF)

# Ends the search: with SIM_CUDA=ON by an error.
macro(sim_without_cuda reason)
  if(SIM_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SIM_CUDA=ON, but ${reason}")
  endif()
  set(SIM_HAS_CUDA FALSE)
  set(SIM_CUDA_SUMMARY "${reason}: building for the CPU only" CACHE INTERNAL "")
  message(STATUS "${SIM_CUDA_SUMMARY}")
endmacro()

function(sim_find_nvcc)
  if(CMAKE_CUDA_COMPILER)
    set(SIM_NVCC ${CMAKE_CUDA_COMPILER} CACHE FILEPATH "The CUDA compiler")
  endif()
  find_program(SIM_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES bin
    DOC "The CUDA compiler")
endfunction()

# The compute capability of this machine's first GPU; 90 where there is none.
function(sim_native_architecture out)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE text
    RESULT_VARIABLE failed ERROR_QUIET TIMEOUT 60)
  if(NOT failed AND text MATCHES "^ *([0-9]+)\\.([0-9]+)")
    set(${out} ${CMAKE_MATCH_1}${CMAKE_MATCH_2} PARENT_SCOPE)
  else()
    set(${out} 90 PARENT_SCOPE)
  endif()
endfunction()

# CMAKE_CUDA_ARCHITECTURES from SIM_CUDA_ARCHITECTURES. A list of our own is real code for each and PTX of the newest,
# for GPUs to come; one that was asked for is taken as it is.
macro(sim_choose_architectures)
  if(SIM_CUDA_ARCHITECTURES STREQUAL "native")
    sim_native_architecture(CMAKE_CUDA_ARCHITECTURES)
  elseif(SIM_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${SIM_CUDA_ARCHITECTURES})
  else()
    execute_process(COMMAND ${SIM_NVCC} --list-gpu-arch OUTPUT_VARIABLE sim_known ERROR_QUIET)
    set(CMAKE_CUDA_ARCHITECTURES "")
    foreach(architecture IN ITEMS 75 80 86 89 90 100 120)
      if(sim_known MATCHES "compute_${architecture}\n")
        list(APPEND CMAKE_CUDA_ARCHITECTURES ${architecture}-real)
        set(sim_newest ${architecture})
      endif()
    endforeach()
    list(APPEND CMAKE_CUDA_ARCHITECTURES ${sim_newest}-virtual)
  endif()
endmacro()

# A toolkit that refuses this machine's C++ compiler, or is not whole, is found out here in a second.
function(sim_try_nvcc out)
  set(folder ${CMAKE_BINARY_DIR}/CMakeFiles/SimCuda)
  file(WRITE ${folder}/try.cu "__global__ void f(float *x) { *x = 1; }\n")
  execute_process(COMMAND ${SIM_NVCC} -std=c++20 -c try.cu -o try.o WORKING_DIRECTORY ${folder}
    OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE failed)
  if(failed)
    file(WRITE ${folder}/try.log "${text}")
    set(${out} "it does not work here (see ${folder}/try.log)" PARENT_SCOPE)
  else()
    set(${out} "" PARENT_SCOPE)
  endif()
endfunction()

# The options of nvcc that make SIM_CUDA_QUICK, where it knows them.
function(sim_quick_options out)
  set(folder ${CMAKE_BINARY_DIR}/CMakeFiles/SimCuda)
  execute_process(COMMAND ${SIM_NVCC} -std=c++20 -Ofc=max -c try.cu -o try.o WORKING_DIRECTORY ${folder}
    OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    message(STATUS "SIM_CUDA_QUICK=ON: this nvcc has no -Ofc, and compiles as ever")
    set(${out} "" PARENT_SCOPE)
  else()
    set(${out} -Ofc=max PARENT_SCOPE)
  endif()
endfunction()

if(NOT SIM_CUDA MATCHES "^(ON|OFF|AUTO)$")
  message(FATAL_ERROR "SIM_CUDA=${SIM_CUDA}: expected ON, OFF or AUTO")
endif()
sim_find_nvcc()
if(SIM_CUDA STREQUAL "OFF")
  sim_without_cuda("SIM_CUDA=OFF")
elseif(SIM_CUDA STREQUAL "AUTO" AND SIM_SANITIZE)
  sim_without_cuda("sanitizers are for host code")
elseif(NOT SIM_NVCC OR NOT EXISTS ${SIM_NVCC})
  sim_without_cuda("no CUDA toolkit")
else()
  execute_process(COMMAND ${SIM_NVCC} --version OUTPUT_VARIABLE sim_nvcc_text ERROR_QUIET)
  string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" sim_nvcc_release "${sim_nvcc_text}")
  set(sim_nvcc_release "${CMAKE_MATCH_1}")
  sim_try_nvcc(sim_nvcc_fault)
  if(sim_nvcc_release VERSION_LESS 12.0)
    sim_without_cuda("the CUDA toolkit ${sim_nvcc_release} is older than 12.0")
  elseif(sim_nvcc_fault)
    sim_without_cuda("CUDA toolkit ${sim_nvcc_release}: ${sim_nvcc_fault}")
  else()
    sim_choose_architectures()
    set(CMAKE_CUDA_COMPILER ${SIM_NVCC})
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static) # the same binary starts where there is no driver
    enable_language(CUDA)
    set(CMAKE_CUDA_LINKER_PREFERENCE_PROPAGATES 0) # programs are C, and linked as such
    find_package(CUDAToolkit REQUIRED)
    set(SIM_HAS_CUDA TRUE)
    set(sim_quick "")
    if(SIM_CUDA_QUICK)
      sim_quick_options(sim_quick)
    endif()
    string(REPLACE ";" " " sim_shown "${CMAKE_CUDA_ARCHITECTURES}")
    string(REGEX REPLACE "([0-9a-z]+)-virtual" "PTX \\1" sim_shown "${sim_shown}")
    string(REPLACE "-real" "" sim_shown "${sim_shown}")
    set(sim_quick_shown "")
    if(sim_quick)
      set(sim_quick_shown ", quickly compiled for tests")
    endif()
    set(SIM_CUDA_SUMMARY
      "CUDA toolkit ${sim_nvcc_release}: building for the GPU too (architecture ${sim_shown}${sim_quick_shown})"
      CACHE INTERNAL "")
    message(STATUS "${SIM_CUDA_SUMMARY}")
  endif()
endif()
