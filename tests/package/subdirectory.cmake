# A project of somebody else's takes the engine's sources in, and one of its files is compiled. With NORMSCOPE_TEST_FULL
# (make test-full) and without FETCH the engine is compiled too, and the program run.
# cmake -DSOURCE=this checkout -DWORK=folder [-DFETCH=ON: by FetchContent] ... -P subdirectory.cmake: see run.cmake
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${WORK}")

set(type "")  # the parent's own choice, none included, stays
if(FETCH)
  set(type Debug)
endif()
configure("${CMAKE_CURRENT_LIST_DIR}/subdirectory" "${WORK}" "-DNORMSCOPE=${SOURCE}" "-DFETCH=${FETCH}"
  "-DCMAKE_BUILD_TYPE=${type}" -DNORMSCOPE_UNITY=ON)
if(out MATCHES "nlohmann|toml|sentencepiece|utf8proc|CLI11|glfw|OpenGL|Catch2")
  message(FATAL_ERROR "what is not built is looked for: ${out}")
endif()
file(GLOB_RECURSE rules "${WORK}/cmake_install.cmake" "${WORK}/normscope/*/cmake_install.cmake")
foreach(file IN LISTS rules)
  file(STRINGS "${file}" installs REGEX "file\\(INSTALL")
  if(installs)
    message(FATAL_ERROR "${file} installs what nobody asked for: ${installs}")
  endif()
endforeach()
file(GLOB_RECURSE unasked "${WORK}/CPack*" "${WORK}/*CTestTestfile.cmake" "${WORK}/compile_commands.json")
if(unasked)
  message(FATAL_ERROR "normscope packs, tests or lists its files in a project that does not ask for it: ${unasked}")
endif()

if(DEFINED ENV{NORMSCOPE_TEST_FULL} AND NOT FETCH)
  run("${CMAKE_COMMAND}" --build "${WORK}" --target user)
  run("${WORK}/user")
else()
  run("${CMAKE_COMMAND}" --build "${WORK}" --target user_file)
endif()
