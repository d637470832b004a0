# These are the libraries of what trains, looked for as the engine's are in NormscopeEngineDependencies.cmake.

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
