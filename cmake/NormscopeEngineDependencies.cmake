# These are the engine's libraries that lack a package file for CMake on some systems. The build reads this file, and it
# is installed with the engine's own package file, so that both look in the same places. A library that is not found
# gets no target.

# hwy::hwy
find_package(hwy CONFIG QUIET)
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

# normscope_sentencepiece
find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_trainer.h)
find_library(SENTENCEPIECE_LIBRARY sentencepiece)
find_library(SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train)
mark_as_advanced(SENTENCEPIECE_INCLUDE_DIR SENTENCEPIECE_LIBRARY SENTENCEPIECE_TRAIN_LIBRARY)
if(NOT TARGET normscope_sentencepiece AND SENTENCEPIECE_INCLUDE_DIR AND SENTENCEPIECE_LIBRARY AND SENTENCEPIECE_TRAIN_LIBRARY)
  add_library(normscope_sentencepiece INTERFACE IMPORTED)
  target_include_directories(normscope_sentencepiece SYSTEM INTERFACE "${SENTENCEPIECE_INCLUDE_DIR}")
  target_link_libraries(normscope_sentencepiece INTERFACE "${SENTENCEPIECE_TRAIN_LIBRARY}" "${SENTENCEPIECE_LIBRARY}")
endif()

# normscope_utf8proc
find_path(UTF8PROC_INCLUDE_DIR utf8proc.h)
find_library(UTF8PROC_LIBRARY utf8proc)
mark_as_advanced(UTF8PROC_INCLUDE_DIR UTF8PROC_LIBRARY)
if(NOT TARGET normscope_utf8proc AND UTF8PROC_INCLUDE_DIR AND UTF8PROC_LIBRARY)
  add_library(normscope_utf8proc UNKNOWN IMPORTED)
  set_target_properties(normscope_utf8proc PROPERTIES IMPORTED_LOCATION "${UTF8PROC_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${UTF8PROC_INCLUDE_DIR}")
endif()

# normscope_tomlplusplus, where toml++ is built as a library and not as headers alone
find_library(TOMLPLUSPLUS_LIBRARY tomlplusplus)
mark_as_advanced(TOMLPLUSPLUS_LIBRARY)
if(NOT TARGET normscope_tomlplusplus AND TOMLPLUSPLUS_LIBRARY)
  add_library(normscope_tomlplusplus UNKNOWN IMPORTED)
  set_target_properties(normscope_tomlplusplus PROPERTIES IMPORTED_LOCATION "${TOMLPLUSPLUS_LIBRARY}")
endif()
