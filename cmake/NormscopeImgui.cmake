# normscope_imgui is Dear ImGui (core, GLFW and OpenGL 3 backends, std::string helpers): the config package imgui where
# it exists and is new enough, else one static library from the sources that scripts/fetch_imgui.sh unpacked. Included
# by NormscopeDependencies.cmake.
include_guard()

set(NORMSCOPE_IMGUI_MINIMUM 19200)  # IMGUI_VERSION_NUM: dynamic textures came with 1.92.0

# normscope_imgui_version(VARIABLE DIRECTORY...): IMGUI_VERSION_NUM of the first imgui.h in the directories, or 0.
function(normscope_imgui_version variable)
  set(version 0)
  foreach(directory IN LISTS ARGN)
    if(EXISTS "${directory}/imgui.h")
      file(STRINGS "${directory}/imgui.h" line REGEX "^#define IMGUI_VERSION_NUM")
      string(REGEX MATCH "[0-9]+" version "${line}")
      break()
    endif()
  endforeach()
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()

if(NOT EMSCRIPTEN AND NOT WIN32)
  find_package(imgui CONFIG QUIET)
endif()
if(TARGET imgui::imgui)
  get_target_property(directories imgui::imgui INTERFACE_INCLUDE_DIRECTORIES)
  normscope_imgui_version(version ${directories})
  if(version GREATER_EQUAL NORMSCOPE_IMGUI_MINIMUM)
    add_library(normscope_imgui INTERFACE)
    target_link_libraries(normscope_imgui INTERFACE imgui::imgui)
    return()
  endif()
  message(STATUS "Dear ImGui package: version number ${version} is too old (need ${NORMSCOPE_IMGUI_MINIMUM})")
endif()

set(imgui "${NORMSCOPE_DEPS_DIR}/imgui")
if(NOT EXISTS "${imgui}/imgui.h")
  list(APPEND NORMSCOPE_MISSING "Dear ImGui 1.92 (sources: scripts/fetch_imgui.sh)")
  return()
endif()
if(NOT TARGET glfw OR NOT TARGET normscope_gl)
  return()  # already reported
endif()

add_library(normscope_imgui STATIC
  ${imgui}/imgui.cpp ${imgui}/imgui_draw.cpp ${imgui}/imgui_tables.cpp ${imgui}/imgui_widgets.cpp
  ${imgui}/misc/cpp/imgui_stdlib.cpp
  ${imgui}/backends/imgui_impl_glfw.cpp ${imgui}/backends/imgui_impl_opengl3.cpp)
# imgui.h includes "imconfig.h" by name: Dear ImGui's own was left out, so ours is found on the include path.
target_include_directories(normscope_imgui SYSTEM PUBLIC
  "${PROJECT_SOURCE_DIR}/cmake/imgui" "${imgui}" "${imgui}/backends" "${imgui}/misc/cpp")
target_link_libraries(normscope_imgui PUBLIC glfw normscope_gl ${CMAKE_DL_LIBS})
# Dear ImGui's warnings are not ours to fix, and the sanitizers watch our code, not this library's.
target_compile_options(normscope_imgui PRIVATE -w $<$<CONFIG:Release>:-O2>)
if(NORMSCOPE_SANITIZE)
  target_compile_options(normscope_imgui PRIVATE -fno-sanitize=all -O1)
endif()
