# Run by CPack before the .tar.gz is made: moves the symbols of its programs into NAME-dbgsym.tar.gz. A debugger finds
# them in bin/.debug, where that archive is unpacked over the first one. (CPack does the like for the .deb itself.)
if(NOT CPACK_GENERATOR STREQUAL "TGZ")
  return()
endif()
set(staged ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(symbols ${CPACK_TOPLEVEL_DIRECTORY}/symbols/${CPACK_PACKAGE_FILE_NAME}/bin/.debug)
file(REMOVE_RECURSE ${CPACK_TOPLEVEL_DIRECTORY}/symbols)
file(MAKE_DIRECTORY ${symbols})
file(GLOB programs ${staged}/bin/sim ${staged}/bin/*.so)
foreach(program IN LISTS programs)
  get_filename_component(name ${program} NAME)
  foreach(words IN ITEMS "--only-keep-debug;${program};${symbols}/${name}.debug"
      "--strip-unneeded;${program}" "--add-gnu-debuglink=${symbols}/${name}.debug;${program}")
    execute_process(COMMAND ${CPACK_OBJCOPY} ${words} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf
    ${CPACK_PACKAGE_DIRECTORY}/${CPACK_PACKAGE_FILE_NAME}-dbgsym.tar.gz ${CPACK_PACKAGE_FILE_NAME}
  WORKING_DIRECTORY ${CPACK_TOPLEVEL_DIRECTORY}/symbols COMMAND_ERROR_IS_FATAL ANY)
