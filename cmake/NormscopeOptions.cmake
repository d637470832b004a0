# Compile options that every target of the project shares: link normscope_options (PRIVATE) to get them.
include_guard()

find_package(Threads REQUIRED)

# A compiler cache is used where there is one.
find_program(NORMSCOPE_CCACHE ccache)
mark_as_advanced(NORMSCOPE_CCACHE)
if(NORMSCOPE_CCACHE AND NOT EMSCRIPTEN AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${NORMSCOPE_CCACHE}")
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)  # lets it see what is precompiled
endif()

# normscope_precompile(TARGET [HEADER...]): reads the standard library, fmt and these headers once, as nearly every file
# reads them anyway: more than half of the time of a file that is no kernel. Every file still includes what it uses
# (NORMSCOPE_PRECOMPILED=OFF builds the same).
option(NORMSCOPE_PRECOMPILED "Precompiled headers" ON)
function(normscope_precompile target)
  if(NORMSCOPE_PRECOMPILED)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstdlib> <filesystem>
      <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <thread>
      <unordered_map> <utility> <variant> <vector> <fmt/format.h> ${ARGN})
  endif()
endfunction()

# normscope_unity(TARGET), after its sources have their properties, compiles files together, about twelve at a time:
# what a file costs is mostly what it includes. A room that comes to an end ends its group only where that has eight
# files, so small rooms share one; those of an add-on share none with others, so that it does not matter to names which
# add-ons are built. Files with options of their own (kernels) stay alone. OFF, as in the presets debug
# and fuzz, is one object a file, for whoever changes one file again and again; names are checked then as if each file
# stood alone.
option(NORMSCOPE_UNITY "Compile files together" OFF)
function(normscope_unity target)
  if(NOT NORMSCOPE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  set(group 1)
  set(files 0)
  set(last "")
  set(owner "")
  foreach(source IN LISTS sources)
    get_source_file_property(alone "${source}" COMPILE_OPTIONS)
    get_source_file_property(left_out "${source}" HEADER_FILE_ONLY)
    if(NOT source MATCHES "\\.cpp$" OR alone OR left_out)
      continue()
    endif()
    get_filename_component(room "${source}" DIRECTORY)
    string(REGEX MATCH "addons/[^/]+" addon "${source}")
    if(files EQUAL 12 OR (files GREATER_EQUAL 8 AND NOT room STREQUAL last) OR NOT addon STREQUAL owner)
      math(EXPR group "${group} + 1")
      set(files 0)
    endif()
    math(EXPR files "${files} + 1")
    set(last "${room}")
    set(owner "${addon}")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
  endforeach()
endfunction()

# GCC collects garbage once it uses 128 MB, which takes a tenth of the time of a room; here it starts at 512 MB.
add_library(normscope_options INTERFACE)
target_compile_options(normscope_options INTERFACE -Wall -Wextra
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=524288>")
if(NORMSCOPE_WERROR)
  target_compile_options(normscope_options INTERFACE -Werror)
endif()
if(NORMSCOPE_PRECOMPILED)  # GCC 12 then warns about the standard library's own strings
  target_compile_options(normscope_options INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds;-Wno-stringop-overread;-Wno-stringop-overflow;-Wno-restrict>)
endif()
# Kernel files ask for -O3 themselves (engine/CMakeLists.txt); for the rest -O2 is as fast and builds sooner. The property
# NORMSCOPE_OPTIMISE is for a target that has nothing that takes time: -O1, or -Og, which builds a fifth sooner still and
# suits tests. The sanitizers' presets have -Og: it builds nearly as soon as -O0 and runs twice as fast. Each first visit
# of a page loads the whole program, so there bytes count: -Oz.
set(level $<TARGET_PROPERTY:NORMSCOPE_OPTIMISE>)
if(EMSCRIPTEN)
  target_compile_options(normscope_options INTERFACE $<$<CONFIG:Release>:-Oz>)
elseif(NOT NORMSCOPE_SANITIZE)
  target_compile_options(normscope_options INTERFACE $<$<CONFIG:Release>:$<IF:$<BOOL:${level}>,${level},-O2>>)
endif()

# Sanitizers apply to every target but Dear ImGui and Catch2, whose code is not ours.
if(NORMSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${NORMSCOPE_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${NORMSCOPE_SANITIZE})
  # Where the compiler has libFuzzer the fuzz targets are linked with it: it wants to know every branch.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NORMSCOPE_SANITIZE MATCHES "address")
    set(NORMSCOPE_LIBFUZZER ON)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
  # Sanitizers hide initialisations from GCC's flow analysis, which then warns about the standard library.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(NORMSCOPE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
    # These four put a test before every access through a pointer and double the time of a build. A null pointer still
    # ends a test, by its fault, and an object that is too small by the address sanitizer.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
endif()

# normscope_sources(VARIABLE DIRECTORY [EXCLUDE PATTERN...]): lists every .cpp under DIRECTORY but those; the next
# build notices new files.
function(normscope_sources variable directory)
  cmake_parse_arguments(ARG "" "" "EXCLUDE" ${ARGN})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${directory}/*.cpp")
  foreach(excluded IN LISTS ARG_EXCLUDE)
    file(GLOB found "${directory}/${excluded}")
    list(REMOVE_ITEM files ${found})
  endforeach()
  if(NOT WIN32)  # what stands there for POSIX
    list(FILTER files EXCLUDE REGEX "/windows/[^/]*\\.cpp$")
  endif()
  list(SORT files)
  set(${variable} "${files}" PARENT_SCOPE)
endfunction()

# Kernel files get full optimisation, but not in Debug nor under a sanitizer, where it takes a minute a file. They need
# neither errno nor trapping arithmetic (this is not -ffast-math: NaN, infinities and the order of operations are kept).
# On x86 the flags make SSE4 Highway's lowest target, so SCALAR, which some shuffles do not support, is not compiled. On
# AArch64 there is NEON alone: Highway would add SVE, but tiles in registers need vectors of a length that is known.
set(NORMSCOPE_KERNEL_OPTIONS -fno-math-errno -fno-trapping-math)
set(NORMSCOPE_BESIDE OFF)  # beside the release build, whose tests go through every kernel of every instruction set
if(NORMSCOPE_SANITIZE OR NORMSCOPE_TESTS_AS)
  set(NORMSCOPE_BESIDE ON)
endif()
if(NORMSCOPE_BESIDE)
  list(APPEND NORMSCOPE_KERNEL_OPTIONS -O1)
else()
  list(APPEND NORMSCOPE_KERNEL_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O3>)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  list(APPEND NORMSCOPE_KERNEL_OPTIONS -msse4.2 -maes -mpclmul)
  # Such a tree has the code of one instruction set, as each costs as much again to compile: AVX2 where this machine has
  # it, else SSE4.
  if(NORMSCOPE_BESIDE)
    list(APPEND NORMSCOPE_KERNEL_OPTIONS -DHWY_COMPILE_ONLY_STATIC)
    if(EXISTS /proc/cpuinfo)
      file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
      if(flags MATCHES " avx2 " AND flags MATCHES " fma " AND flags MATCHES " bmi2 " AND flags MATCHES " f16c ")
        list(APPEND NORMSCOPE_KERNEL_OPTIONS -mavx2 -mfma -mbmi -mbmi2 -mf16c)
      endif()
    endif()
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  # GCC would bring the loads of a product's tile forward before it hands out registers, so that some sums have none.
  list(APPEND NORMSCOPE_KERNEL_OPTIONS -DHWY_COMPILE_ONLY_STATIC $<$<CXX_COMPILER_ID:GNU>:-fno-schedule-insns>)
endif()

# normscope_release_day(VARIABLE FORMAT): returns the day of this version, as string(TIMESTAMP) writes it.
function(normscope_release_day variable format)
  set(ENV{SOURCE_DATE_EPOCH} "${NORMSCOPE_RELEASED}")
  string(TIMESTAMP day "${format}" UTC)
  unset(ENV{SOURCE_DATE_EPOCH})
  set(${variable} "${day}" PARENT_SCOPE)
endfunction()
