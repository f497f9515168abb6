# Packages by CPack, for `./dev package`: a .deb with its symbols in a -dbgsym package, and a relocatable .tar.gz with
# its symbols in another one. Include it before any target, and call sim_packages() after the last.

option(SIM_PACKAGE "A build for packages: with debugging symbols, and without the names of this machine's folders" OFF)
if(SIM_PACKAGE)
  add_compile_options("$<$<COMPILE_LANGUAGE:C>:-g>"
    "$<$<COMPILE_LANGUAGE:C>:-ffile-prefix-map=${PROJECT_BINARY_DIR}=/usr/src/sim-engine/build>"
    "$<$<COMPILE_LANGUAGE:C>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=/usr/src/sim-engine>")
  add_link_options(-Wl,--build-id=sha1)
endif()

function(sim_packages)
  if(NOT SIM_PACKAGE)
    return()
  endif()
  set(CPACK_PACKAGE_NAME sim-engine)
  if(SIM_HAS_CUDA)
    set(CPACK_PACKAGE_NAME sim-engine-cuda)
    set(CPACK_DEBIAN_PACKAGE_PROVIDES sim-engine)
    set(CPACK_DEBIAN_PACKAGE_CONFLICTS sim-engine)
    set(CPACK_DEBIAN_PACKAGE_REPLACES sim-engine)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_PACKAGE_NAME}
    RENAME copyright)
  set(CPACK_PACKAGE_VENDOR "The sim authors")
  set(CPACK_PACKAGE_CONTACT "The sim authors <sim@example.invalid>")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulations of particles, grids and random paths, from a Lua scenario")
  string(TOLOWER "${CPACK_PACKAGE_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}"
    CPACK_PACKAGE_FILE_NAME)
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_GENERATOR DEB TGZ)
  set(CPACK_THREADS 0)
  set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/SplitSymbols.cmake)
  set(CPACK_OBJCOPY ${CMAKE_OBJCOPY})
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "python3-numpy, python3-h5py, python3-pandas, python3-xarray, python3-matplotlib, python3-pil")
  set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Bodies under gravity, grains that collide, diffusion and reactions on grids, fluids, and option prices.")
  # The CUDA runtime is linked in. On a GPU NVRTC (functions of a scenario) and cuFFT (some grids) are loaded
  # when they are wanted: from packages of NVIDIA for this toolkit, or from those of Debian.
  if(SIM_HAS_CUDA)
    set(version ${CUDAToolkit_VERSION_MAJOR}-${CUDAToolkit_VERSION_MINOR})
    string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS
      ", cuda-nvrtc-${version} | libnvrtc12, libcufft-${version} | libcufft11")
    string(APPEND CPACK_DEBIAN_PACKAGE_DESCRIPTION " On the CPU, or on an NVIDIA GPU where there is a driver.")
  endif()
  include(CPack)
endfunction()
