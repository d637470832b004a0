if(TARGET normscope_utf8proc)
  target_link_libraries(normscope_training PRIVATE normscope_utf8proc)
  set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/training/tokenizer/unicode.cpp" PROPERTIES
    COMPILE_DEFINITIONS NORMSCOPE_WITH_UTF8PROC)
endif()

# What is known of families of published models is put into the library (training/family.h).
set(families "")
file(GLOB family_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/families/*.toml")
foreach(file IN LISTS family_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  get_filename_component(type "${file}" NAME_WE)
  string(APPEND families "    {\"${type}\", R\"toml(${text})toml\"},\n")
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/generated/family_files_data.h" @ONLY CONTENT [[// Written by addons/published/training.cmake.
#pragma once
#include "addons/published/training/family.h"
inline constexpr normscope::published::FamilyFile kFamilyFiles[] = {
@families@};
]])
set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/training/family_files.cpp" PROPERTIES
  INCLUDE_DIRECTORIES "${CMAKE_CURRENT_BINARY_DIR}/generated" SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
