# Writes to OUTPUT what PROGRAM prints.
execute_process(COMMAND ${PROGRAM} OUTPUT_FILE ${OUTPUT} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${PROGRAM}: ${failed}")
endif()
