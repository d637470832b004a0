# The oldest compilers that know the C++20 of this project: an older one is named here, and not by the first of its errors.
# scripts/setup.sh reads these two.
include_guard()

set(NORMSCOPE_LEAST_GCC 11)
set(NORMSCOPE_LEAST_CLANG 16)  # 14 refuses bindings that a lambda captures, and has no std::source_location

foreach(compiler IN ITEMS GNU,GCC Clang,CLANG)
  string(REPLACE "," ";" compiler "${compiler}")
  list(GET compiler 0 id)
  list(GET compiler 1 name)
  set(least "${NORMSCOPE_LEAST_${name}}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "${id}" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS "${least}")
    message(FATAL_ERROR "normscope: ${CMAKE_CXX_COMPILER} is ${id} ${CMAKE_CXX_COMPILER_VERSION}; C++20 takes GCC "
      "${NORMSCOPE_LEAST_GCC} or Clang ${NORMSCOPE_LEAST_CLANG}, or newer: CXX=PROGRAM names another one")
  endif()
endforeach()
