# The program for Windows on x86-64 (platforms/windows/windows.sh, docs/platforms.md), built with mingw-w64. Included in place of the
# system's packages, which are for the host. NORMSCOPE_WINDOWS_DEPS holds include/ with the headers of fmt, nlohmann-json,
# CLI11, toml++, stb and Catch2, and src/ with the sources of Highway, md4c, utf8proc and GLFW. SentencePiece is left out,
# and the program says so.
include_guard()

set(NORMSCOPE_WINDOWS_DEPS "" CACHE PATH "Headers and sources for the build for Windows")
if(NOT EXISTS "${NORMSCOPE_WINDOWS_DEPS}/include/fmt")
  message(FATAL_ERROR "normscope: NORMSCOPE_WINDOWS_DEPS='${NORMSCOPE_WINDOWS_DEPS}' holds no headers: "
    "platforms/windows/windows.sh prepares them")
endif()

enable_language(C RC)  # md4c, utf8proc and GLFW; icon and manifest

# GCC takes the stack for aligned to 32 and 64 bytes, and Windows aligns it to 16 (GCC's bug 54412): the assembler writes
# every move of a vector as one that may be unaligned, which on an aligned address costs the same.
add_compile_options(-Wa,-muse-unaligned-vector-move)
# What windows.h would define beyond need, the system that is asked for (Windows 10), files beyond 2 GB.
add_compile_definitions(NOMINMAX WIN32_LEAN_AND_MEAN UNICODE _UNICODE _WIN32_WINNT=0x0A00 _FILE_OFFSET_BITS=64 _USE_MATH_DEFINES)
# What POSIX has and the sources use: platforms/windows/README.md.
include_directories($<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/platforms/windows/posix>)
# The program brings everything along; a stack is as large as on Linux; files are the same wherever they were linked.
add_link_options(-static -Wl,--stack,8388608 -Wl,--no-insert-timestamp)
link_libraries(synchronization)  # WaitOnAddress

include(NormscopeBroughtAlong)
normscope_header_libraries("${NORMSCOPE_WINDOWS_DEPS}/include")
add_library(Catch2::Catch2 INTERFACE IMPORTED GLOBAL)
target_include_directories(Catch2::Catch2 SYSTEM INTERFACE "${NORMSCOPE_WINDOWS_DEPS}/include")
set(Catch2_VERSION 2.13)

set(sources "${NORMSCOPE_WINDOWS_DEPS}/src")
normscope_source_library(normscope_highway "${sources}/highway"
  "${sources}/highway/hwy/targets.cc" "${sources}/highway/hwy/aligned_allocator.cc")
add_library(hwy::hwy ALIAS normscope_highway)
normscope_source_library(normscope_md4c "${sources}/md4c/src" "${sources}/md4c/src/md4c.c")
normscope_source_library(normscope_utf8proc "${sources}/utf8proc" "${sources}/utf8proc/utf8proc.c")
target_compile_definitions(normscope_utf8proc PUBLIC UTF8PROC_STATIC)

file(GLOB glfw "${sources}/glfw/src/win32_*.c")
foreach(file context init input monitor vulkan window wgl_context egl_context osmesa_context)
  list(APPEND glfw "${sources}/glfw/src/${file}.c")
endforeach()
normscope_source_library(glfw "${sources}/glfw/include" ${glfw})
target_compile_definitions(glfw PRIVATE _GLFW_WIN32)
target_link_libraries(glfw PUBLIC gdi32)
add_library(normscope_gl INTERFACE)  # functions are asked for by name; the header is mingw-w64's

# normscope_windows_sources(VARIABLE): puts what platforms/windows, or windows/ of an add-on, does in Windows' own way in
# the place of what does it elsewhere.
function(normscope_windows_sources variable)
  set(sources ${${variable}})
  list(FILTER sources EXCLUDE REGEX
    "/app/(busy_processes|commands/fed_program|cli/interrupts|window/desktop)\\.cpp$")
  foreach(file desktop interrupts)
    list(APPEND sources "${PROJECT_SOURCE_DIR}/platforms/windows/${file}.cpp")
  endforeach()
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# normscope_windows_resources(TARGET): gives a program its icon, its manifest and its version.
set(NORMSCOPE_WINDOWS_ICON "${PROJECT_BINARY_DIR}/normscope.ico")
set(pictures "")
foreach(size 16 24 32 48 64 128 256)
  list(APPEND pictures "${PROJECT_SOURCE_DIR}/assets/icon/normscope-${size}.png")
endforeach()
find_program(NORMSCOPE_PYTHON python3 REQUIRED)
execute_process(COMMAND "${NORMSCOPE_PYTHON}" "${PROJECT_SOURCE_DIR}/platforms/windows/windows_icon.py" "${NORMSCOPE_WINDOWS_ICON}" ${pictures}
  COMMAND_ERROR_IS_FATAL ANY)
configure_file("${PROJECT_SOURCE_DIR}/platforms/windows/normscope.rc.in" "${PROJECT_BINARY_DIR}/normscope.rc" @ONLY)
function(normscope_windows_resources target)
  target_sources(${target} PRIVATE "${PROJECT_BINARY_DIR}/normscope.rc")
endfunction()

# normscope_windows_program(): makes of the program what a folder for Windows has: see platforms/windows/launcher.cpp.
function(normscope_windows_program)
  normscope_windows_resources(normscope)
  add_executable(normscope_launcher WIN32 "${PROJECT_SOURCE_DIR}/platforms/windows/launcher.cpp" "${PROJECT_SOURCE_DIR}/platforms/windows/posix/wide.cpp")
  target_include_directories(normscope_launcher PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(normscope_launcher PRIVATE normscope_options)
  target_link_options(normscope_launcher PRIVATE -municode)
  normscope_windows_resources(normscope_launcher)
  set_target_properties(normscope_launcher PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endfunction()

normscope_fetched_imgui()
