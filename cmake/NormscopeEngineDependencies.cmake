# This is the engine's library that lacks a package file for CMake on some systems. The build reads this file, and it is
# installed with the engine's own package file, so that both look in the same places. A library that is not found gets no
# target.

# hwy::hwy
if(NOT TARGET hwy::hwy)
  find_package(hwy CONFIG QUIET)
endif()
if(NOT TARGET hwy::hwy)
  find_package(highway CONFIG QUIET)  # Conan's name
  if(TARGET highway::highway)
    add_library(hwy::hwy ALIAS highway::highway)
  endif()
endif()
if(NOT TARGET hwy::hwy)
  find_path(HWY_INCLUDE_DIR hwy/highway.h)
  find_library(HWY_LIBRARY hwy)
  if(HWY_INCLUDE_DIR AND HWY_LIBRARY)
    add_library(hwy::hwy UNKNOWN IMPORTED)
    set_target_properties(hwy::hwy PROPERTIES IMPORTED_LOCATION "${HWY_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${HWY_INCLUDE_DIR}")
  endif()
endif()
