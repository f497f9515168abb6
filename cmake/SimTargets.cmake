# The options that every target is built with, and the ways to make one.

add_library(sim_options INTERFACE)
target_include_directories(sim_options INTERFACE ${PROJECT_SOURCE_DIR})
# Contraction is chosen, not inherited: an FMA stands in the source where one is meant.
set(sim_c_options -ffp-contract=off -fno-math-errno -fno-trapping-math -Wall -Wextra -Wno-missing-field-initializers
  -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Wpointer-arith -Wcast-align
  -Werror=implicit-function-declaration
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= $<$<BOOL:${SIM_WERROR}>:-Werror>)
if(SIM_SANITIZE)
  list(APPEND sim_c_options -fsanitize=${SIM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(sim_options INTERFACE -fsanitize=${SIM_SANITIZE})
endif()
target_compile_options(sim_options INTERFACE "$<$<COMPILE_LANGUAGE:C>:${sim_c_options}>")
target_compile_definitions(sim_options INTERFACE _GNU_SOURCE)
# CUDA C++ is used as C with templates: without exceptions the host part needs no C++ library.
set(sim_cuda_map -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(PROJECT_SOURCE_DIR MATCHES " ") # nvcc would give the host's compiler two words
  set(sim_cuda_map "")
endif()
set(sim_cuda_host_options -Wall -Wextra -Wshadow -ffp-contract=off -fno-exceptions -fno-rtti
  -fno-threadsafe-statics -fvisibility=hidden ${sim_cuda_map} $<$<BOOL:${SIM_WERROR}>:-Werror>)
set(sim_cuda_options -std=c++20 -lineinfo -Xfatbin=-compress-all
  $<$<BOOL:${SIM_WERROR}>:-Werror=all-warnings> "-Xcompiler=$<JOIN:${sim_cuda_host_options},$<COMMA>>")
if(SIM_HAS_CUDA)
  target_compile_definitions(sim_options INTERFACE SIM_HAS_CUDA=1)
  target_compile_options(sim_options INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:${sim_cuda_options}>")
endif()
if(SIM_CUDA_EMULATED)
  target_link_libraries(sim_options INTERFACE emulated_cuda)
endif()

# sim_cuda_sources(target): what all .cu files of a target have in common; after its sources are known. Contraction is
# off, but for a file whose COMPILE_OPTIONS (set before) name -fmad; likewise for the quick way's -Ofc.
function(sim_cuda_sources target)
  get_target_property(sources ${target} SOURCES)
  foreach(file IN LISTS sources)
    if(file MATCHES "\\.cu$")
      get_property(options SOURCE ${file} PROPERTY COMPILE_OPTIONS)
      if(NOT "${options}" MATCHES "-fmad")
        set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -fmad=false)
      endif()
      if(NOT "${options}" MATCHES "-Ofc")
        set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS ${sim_quick})
      endif()
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES CUDA_RESOLVE_DEVICE_SYMBOLS OFF)
  if(SIM_CUDA_EMULATED)
    emulated_sources(${target})
  endif()
endfunction()

# The instruction sets that hot loops are built for, in one binary; the program takes the best that the processor has.
set(sim_isas plain)
set(sim_x86 0)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  list(APPEND sim_isas avx2 avx512)
  set(sim_x86 1)
endif()

# sim_isa_object(target source isa precision prefix symbol OPTIONS...): an object library of one source for one
# instruction set and precision, with <prefix>_ISA (0 plain, 1 avx2, 2 avx512) and <prefix>_SINGLE; `symbol` is the
# macro that names what it exports, <symbol>_<precision>_<isa> in small letters.
function(sim_isa_object target source isa precision prefix symbol)
  set(plain 0)
  set(avx2 1 -mavx2 -mfma)
  set(avx512 2 -mavx512f -mavx512vl -mavx512dq -mfma)
  set(options ${${isa}})
  list(POP_FRONT options number)
  string(TOLOWER ${symbol} name)
  add_library(${target} OBJECT ${source})
  target_link_libraries(${target} PRIVATE sim_options)
  target_compile_definitions(${target} PRIVATE ${prefix}_ISA=${number} ${prefix}_SINGLE=$<STREQUAL:${precision},single>
    ${symbol}=${name}_${precision}_${isa})
  target_compile_options(${target} PRIVATE -O3 ${options} ${ARGN})
endfunction()

# sim_isa_objects(library source precisions prefix symbol OPTIONS...): such objects of all instruction sets and of the
# precisions in a list, as parts of a library; each is named as what it exports.
function(sim_isa_objects library source precisions prefix symbol)
  string(TOLOWER ${symbol} name)
  foreach(precision IN LISTS precisions)
    foreach(isa IN LISTS sim_isas)
      set(target ${name}_${precision}_${isa})
      sim_isa_object(${target} ${source} ${isa} ${precision} ${prefix} ${symbol} ${ARGN})
      if(NOT library STREQUAL "sim_engine")
        target_link_libraries(${target} PRIVATE sim_engine)
      endif()
      target_sources(${library} PRIVATE $<TARGET_OBJECTS:${target}>)
    endforeach()
  endforeach()
endfunction()

# sim_library(name SOURCES... ) with target sim_<name>.
function(sim_library name)
  add_library(sim_${name} STATIC ${ARGN})
  target_link_libraries(sim_${name} PUBLIC sim_options)
endfunction()

# sim_model_library(name SOURCES...): a model's library, sim_model_<name>, with the descriptor <name>_model. Sources
# that end in .cu are left out where there is no GPU code; C sources ask SIM_HAS_CUDA.
function(sim_model_library name)
  if(NOT SIM_HAS_CUDA)
    list(FILTER ARGN EXCLUDE REGEX "\\.cu$")
  endif()
  add_library(sim_model_${name} STATIC ${ARGN})
  target_link_libraries(sim_model_${name} PUBLIC sim_engine)
  sim_cuda_sources(sim_model_${name})
endfunction()

# sim_model(name SOURCES...): the same, and `sim` is built with it.
function(sim_model name)
  sim_model_library(${name} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY SIM_MODELS ${name})
endfunction()

# sim_executable(target MODELS...): the command, built with the given models.
function(sim_executable target)
  sim_program(${target} ${PROJECT_SOURCE_DIR}/cli/main.c ${ARGN})
endfunction()

# sim_program(target main MODELS...): another program with the command's libraries and these models.
function(sim_program target main)
  set(declarations "")
  set(entries "")
  foreach(model IN LISTS ARGN)
    string(APPEND declarations "extern const sim_model ${model}_model;\n")
    string(APPEND entries "  &${model}_model,\n")
  endforeach()
  set(registry ${CMAKE_CURRENT_BINARY_DIR}/${target}_registry.c)
  file(CONFIGURE OUTPUT ${registry} CONTENT
"/* Made by CMake from the list of models. */
#include \"engine/model.h\"
${declarations}
const sim_model *const sim_models[] = {
${entries}  NULL,
};
")
  add_executable(${target} ${main} ${registry})
  target_link_libraries(${target} PRIVATE sim_cli sim_lua sim_io)
  foreach(model IN LISTS ARGN)
    target_link_libraries(${target} PRIVATE sim_model_${model})
  endforeach()
  target_link_libraries(${target} PRIVATE sim_engine)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
endfunction()

# sim_embed(target symbol FILES...): the text of the files (paths from the root of the tree), which NVRTC is given, as
# `const sim_source_file symbol[]`.
function(sim_embed target symbol)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  string(REPLACE ";" "," files "${ARGN}")
  add_custom_command(OUTPUT ${output} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DFILES=${files} -DSYMBOL=${symbol} -DOUTPUT=${output}
      -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake)
  target_sources(${target} PRIVATE ${output})
endfunction()
