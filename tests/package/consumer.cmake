# The engine as a package: what the build tree has is installed, and a small project is built against that and run.
# cmake -DBUILD=build tree -DWORK=folder ... -P consumer.cmake: see run.cmake
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${WORK}")

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

list(PREPEND DEPS "${WORK}/prefix")
configure("${CMAKE_CURRENT_LIST_DIR}/consumer" "${WORK}/build" -DCMAKE_BUILD_TYPE=Release)
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/consumer")
