# The engine as a package: what the build tree has is installed, and a small project is built against that and run.
# cmake -DBUILD=build tree -DWORK=folder -DGENERATOR=... -DCOMPILER=... [-DDEPS=CMAKE_PREFIX_PATH] [-DTOOLCHAIN=file] -P consumer.cmake
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE "${WORK}")
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${result}\n${out}")
  endif()
endfunction()

run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix" --component libnormscope-dev)

# Every header finds what it includes, and needs no library but the package's (sys, linux, emscripten: the compiler's).
file(GLOB_RECURSE headers "${WORK}/prefix/include/normscope/*")
list(LENGTH headers count)
if(count LESS 50)
  message(FATAL_ERROR "expected the engine's headers, found ${count}")
endif()
foreach(header IN LISTS headers)
  file(STRINGS "${header}" includes REGEX "^ *#include [<\"][^>\"]*/")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^ *#include [<\"]([^>\"]*)[>\"].*" "\\1" included "${line}")
    if(NOT EXISTS "${WORK}/prefix/include/normscope/${included}" AND NOT included MATCHES "^(fmt|sys|linux|emscripten)/")
      message(FATAL_ERROR "${header} includes ${included}, which is not installed with it")
    endif()
  endforeach()
endforeach()

set(toolchain "")
if(TOOLCHAIN)
  set(toolchain "-DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN}")
endif()
string(REPLACE ";" "\\;" path "${WORK}/prefix;${DEPS}")
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK}/build" -G "${GENERATOR}" ${toolchain}
  "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_PREFIX_PATH=${path}" -DCMAKE_BUILD_TYPE=Release)
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/consumer")
