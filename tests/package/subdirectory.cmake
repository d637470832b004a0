# A project of somebody else's takes the engine's sources in, and one of its files is compiled; without FETCH it brings an
# add-on. With NORMSCOPE_TEST_FULL (make test-full) and without FETCH the engine is compiled too, and its programs run.
# cmake -DSOURCE=this checkout -DWORK=folder [-DFETCH=ON: by FetchContent] ... -P subdirectory.cmake: see run.cmake
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${WORK}")

set(type "")  # the parent's own choice, none included, stays
set(addons "${CMAKE_CURRENT_LIST_DIR}/addons/cube")
if(FETCH)
  set(type Debug)
  set(addons all)
endif()
configure("${CMAKE_CURRENT_LIST_DIR}/subdirectory" "${WORK}" "-DNORMSCOPE=${SOURCE}" "-DFETCH=${FETCH}"
  "-DCMAKE_BUILD_TYPE=${type}" -DNORMSCOPE_UNITY=ON "-DNORMSCOPE_ADDONS=${addons}")
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
  run("${CMAKE_COMMAND}" --build "${WORK}" --target addon_user)
  run("${WORK}/addon_user")
else()
  run("${CMAKE_COMMAND}" --build "${WORK}" --target user_file)
  if(NOT FETCH)
    run("${CMAKE_COMMAND}" --build "${WORK}" --target addon_files)
  endif()
endif()

# A path that is no add-on is one line.
foreach(row "nowhere/addons/cube|but there is no folder" "${CMAKE_CURRENT_LIST_DIR}/consumer|expected one that ends in addons/NAME"
    "${CMAKE_CURRENT_LIST_DIR}/addons/cube;${WORK}/twin/addons/cube|expected another name" "sweeep|but there is no folder addons/sweeep")
  file(MAKE_DIRECTORY "${WORK}/twin/addons/cube")
  string(REGEX MATCH "^(.*)[|](.*)$" found "${row}")
  set(line "${CMAKE_MATCH_2}")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DNORMSCOPE_ADDONS=${CMAKE_MATCH_1}" "${WORK}" RESULT_VARIABLE result
    OUTPUT_VARIABLE out ERROR_VARIABLE out)
  string(REGEX REPLACE "[ \n]+" " " out "${out}")  # CMake breaks lines
  string(FIND "${out}" "${line}" found)
  if(result EQUAL 0 OR found LESS 0)
    message(FATAL_ERROR "expected a refusal that says '${line}': ${result} ${out}")
  endif()
endforeach()
