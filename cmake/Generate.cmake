# Writes to OUTPUT what PROGRAM prints.
cmake_path(GET OUTPUT PARENT_PATH folder)
file(MAKE_DIRECTORY ${folder}) # Make does not make it
execute_process(COMMAND ${PROGRAM} OUTPUT_FILE ${OUTPUT} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${PROGRAM}: ${failed}")
endif()
