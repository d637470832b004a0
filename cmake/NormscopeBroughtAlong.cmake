# Libraries that a build for another system brings along, as this system's are for the host: NormscopeWeb.cmake and
# NormscopeWindows.cmake say where their headers and sources are.
include_guard()

# normscope_header_libraries(INCLUDE): declares those that are headers alone.
function(normscope_header_libraries include)
  foreach(library fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11 tomlplusplus::tomlplusplus)
    add_library(${library} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${library} SYSTEM INTERFACE "${include}")
  endforeach()
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
  add_library(normscope_stb INTERFACE)
  target_include_directories(normscope_stb SYSTEM INTERFACE "${include}/stb")
endfunction()

# normscope_source_library(TARGET INCLUDE SOURCE...): compiles one from its sources, whose warnings are not ours to fix.
function(normscope_source_library target include)
  add_library(${target} STATIC ${ARGN})
  target_include_directories(${target} SYSTEM PUBLIC "${include}")
  target_compile_options(${target} PRIVATE -w)
endfunction()

# normscope_fetched_imgui(): declares Dear ImGui, for which glfw and normscope_gl have to be there.
macro(normscope_fetched_imgui)
  include(NormscopeImgui)
  if(NOT TARGET normscope_imgui)
    message(FATAL_ERROR "normscope: Dear ImGui's sources are not under ${NORMSCOPE_DEPS_DIR} (scripts/fetch_imgui.sh)")
  endif()
endmacro()
