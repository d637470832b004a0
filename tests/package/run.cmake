# What the scripts of this folder share. Each is called with -DGENERATOR=... -DCOMPILER=... [-DDEPS=CMAKE_PREFIX_PATH]
# [-DTOOLCHAIN=file] besides what is its own.
cmake_minimum_required(VERSION 3.22)

# run(COMMAND...): stops with what the command says if it fails; else `out` is that.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

# configure(SOURCE BUILD [ARGUMENT...]): configures a project with this build's generator, compiler and libraries.
macro(configure source build)
  set(toolchain "")
  if(TOOLCHAIN)
    set(toolchain "-DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN}")
  endif()
  string(REPLACE ";" "\\;" path "${DEPS}")
  run("${CMAKE_COMMAND}" -S "${source}" -B "${build}" -G "${GENERATOR}" ${toolchain} "-DCMAKE_CXX_COMPILER=${COMPILER}"
    "-DCMAKE_PREFIX_PATH=${path}" ${ARGN})
endmacro()
