# Run at each build: writes OUTPUT only when the revision changed, so that nothing is rebuilt for nothing.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE revision
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(revision "unknown")
else()
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changed ERROR_QUIET)
  if(changed)
    string(APPEND revision "-dirty")
  endif()
endif()
execute_process(COMMAND git -C ${SOURCE} log -1 --format=%cs OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "/* Made by cmake/BuildInfo.cmake. */
#define SIM_VERSION \"${VERSION}\"
#define SIM_REVISION \"${revision}\"
#define SIM_DATE \"${date}\" /* of the revision */
#define SIM_COMPILER \"${COMPILER}\"
#define SIM_CMAKE_NEEDED \"${CMAKE_NEEDED}\"
#define SIM_CUDA_QUICK ${QUICK} /* GPU code is not optimised */
#define SIM_BUILD_TYPE \"${BUILD_TYPE}\"
")
