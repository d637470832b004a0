# CPack makes the Debian packages normscope, normscope-cuda and libnormscope-dev (the components of the install rules),
# and as TGZ a folder that runs wherever it is unpacked. platforms/packages/package.sh runs it. platforms/packages/generator.cmake says what
# differs between the two, platforms/packages/finish.cmake adds what no install rule has.
set(NORMSCOPE_MAINTAINER "normscope contributors <maintainers@normscope.example.org>" CACHE STRING
    "Name and address in the Debian packages: those of whoever hands them out")

set(CPACK_PACKAGE_NAME normscope)
set(CPACK_PACKAGE_VENDOR "normscope contributors")
set(CPACK_PACKAGE_CONTACT "${NORMSCOPE_MAINTAINER}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_SYSTEM_NAME)
set(CPACK_PACKAGE_FILE_NAME "normscope-${PROJECT_VERSION}-${CPACK_SYSTEM_NAME}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_SOURCE_DIR}/build/package")
if(NORMSCOPE_DEBIAN_ARCHITECTURE)  # built for another processor, with the packages of a sysroot
  string(APPEND CPACK_PACKAGE_DIRECTORY "-${NORMSCOPE_DEBIAN_ARCHITECTURE}")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE "${NORMSCOPE_DEBIAN_ARCHITECTURE}")
  set(CPACK_NORMSCOPE_SYSROOT "${CMAKE_SYSROOT}")
endif()
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_COMPONENTS_ALL normscope libnormscope-dev)
if(TARGET normscope_cuda)
  list(APPEND CPACK_COMPONENTS_ALL normscope-cuda)
endif()
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/platforms/packages/generator.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/platforms/packages/finish.cmake")

# ---- Debian -----------------------------------------------------------------------------------------------------
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(debian_version "${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
normscope_release_day(changelog_day "%a, %d %b %Y %H:%M:%S +0000")
configure_file("${PROJECT_SOURCE_DIR}/platforms/packages/changelog.in" "${PROJECT_BINARY_DIR}/package/changelog" @ONLY)

# normscope_debian(COMPONENT SECTION DESCRIPTION): sets what every package has. platforms/packages/generator.cmake adds the
# packages of the libraries that are linked.
macro(normscope_debian component section description)
  string(TOUPPER "${component}" upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME "${component}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION "${section}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
endmacro()

normscope_debian(normscope science "laboratory for the place of layer normalization in transformers
Transformers train side by side from the same seed, the same batches and the
same initial weights, and gradient norms, hidden states, attention and residual
dependency are measured at every step. A course of seventeen lessons, comparison
of runs, sweeps of settings, one training step op by op, and the claims of the
papers as experiments; a window, and everything on the command line too.")
set(CPACK_DEBIAN_NORMSCOPE_PACKAGE_RECOMMENDS "fonts-inter, fonts-jetbrains-mono, fonts-dejavu-core")
set(CPACK_DEBIAN_NORMSCOPE_PACKAGE_SUGGESTS "ffmpeg, libnormscope-dev")

# Whoever links the static library needs what the engine is linked with, as development files.
normscope_debian(libnormscope-dev libdevel "tape-based autodiff engine for small transformers (development)
Headers and static library of normscope's engine: a tape is recorded once,
sealed into a program and replayed at every step. find_package(normscope) gives
CMake the target normscope::engine.")
set(CPACK_DEBIAN_LIBNORMSCOPE-DEV_PACKAGE_DEPENDS "libfmt-dev, libhwy-dev")
if(TARGET normscope_sentencepiece)
  string(APPEND CPACK_DEBIAN_LIBNORMSCOPE-DEV_PACKAGE_DEPENDS ", libsentencepiece-dev")
endif()
if(TARGET normscope_utf8proc)
  string(APPEND CPACK_DEBIAN_LIBNORMSCOPE-DEV_PACKAGE_DEPENDS ", libutf8proc-dev")
endif()
if(TARGET normscope_tomlplusplus)
  string(APPEND CPACK_DEBIAN_LIBNORMSCOPE-DEV_PACKAGE_DEPENDS ", libtomlplusplus-dev")
endif()

# cuBLAS comes from NVIDIA's repository, whose packages are named after the toolkit's version, or from Debian's non-free
# part: the dependency is whichever package the library that was linked belongs to.
if(TARGET normscope_cuda)
  normscope_debian(normscope-cuda contrib/science "CUDA backend of normscope
The engine's kernels for GPUs of NVIDIA from compute capability 7.5. normscope
finds it by itself; --backend cuda or the switch in the window uses it.")
  string(APPEND CPACK_DEBIAN_NORMSCOPE_PACKAGE_RECOMMENDS ", normscope-cuda (= ${debian_version})")
  get_filename_component(cublas "${CUDA_cublasLt_LIBRARY}" REALPATH)
  execute_process(COMMAND dpkg-query -S "${cublas}" OUTPUT_VARIABLE owner RESULT_VARIABLE unowned ERROR_QUIET)
  get_target_property(toolkit normscope_cuda NORMSCOPE_TOOLKIT)
  string(REPLACE "." "-" cublas_package "libcublas-${toolkit}")
  if(unowned STREQUAL "0" AND owner MATCHES "^([a-z0-9.+-]+)[:]")
    set(cublas_package "${CMAKE_MATCH_1}")
  endif()
  set(CPACK_DEBIAN_NORMSCOPE-CUDA_PACKAGE_DEPENDS "normscope (= ${debian_version}), ${cublas_package}")
  get_filename_component(CPACK_NORMSCOPE_CUDA_LIBRARIES "${cublas}" DIRECTORY)
endif()

# These are for platforms/packages/generator.cmake and platforms/packages/finish.cmake.
set(CPACK_NORMSCOPE_BINARY_DIR "${PROJECT_BINARY_DIR}")
set(CPACK_NORMSCOPE_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
set(CPACK_NORMSCOPE_IMGUI_LICENSE "${NORMSCOPE_DEPS_DIR}/imgui/LICENSE.txt")
include(CPack)
