# Each dependency is looked for first as a config package (vcpkg, Conan, the system's), then as plain system files, and
# Dear ImGui last as the sources in NORMSCOPE_DEPS_DIR. Missing dependencies are reported together.
include_guard()

if(EMSCRIPTEN)
  include(NormscopeWeb)
  return()
endif()
if(WIN32 AND MINGW)
  include(NormscopeWindows)
  return()
endif()

set(NORMSCOPE_MISSING "")

# normscope_missing(NAME DEBIAN_PACKAGE): notes a dependency to be reported at the end.
macro(normscope_missing name debian)
  list(APPEND NORMSCOPE_MISSING "${name} (Debian: ${debian})")
endmacro()

# ---- engine -----------------------------------------------------------------------------------------------------
include(NormscopeEngineDependencies)
if(NOT TARGET hwy::hwy)
  normscope_missing("Highway" libhwy-dev)
endif()

if(NOT TARGET fmt::fmt)  # a project that takes this one in may have its own
  find_package(fmt CONFIG QUIET)
endif()
if(NOT TARGET fmt::fmt)
  normscope_missing("fmt" libfmt-dev)
endif()

# ---- training ---------------------------------------------------------------------------------------------------
if(NORMSCOPE_TRAINING)
  include(NormscopeTrainingDependencies)
  find_package(nlohmann_json CONFIG QUIET)
  if(NOT TARGET nlohmann_json::nlohmann_json)
    normscope_missing("nlohmann-json" nlohmann-json3-dev)
  endif()
  find_package(tomlplusplus CONFIG QUIET)
  if(NOT TARGET tomlplusplus::tomlplusplus)
    normscope_missing("toml++" libtomlplusplus-dev)
  endif()

  # Without SentencePiece there is no training on pairs of sentences, and the program says so.
  if(NOT TARGET normscope_sentencepiece)
    message(STATUS "SentencePiece (Debian: libsentencepiece-dev, vcpkg: sentencepiece) not found: building without training on sentence pairs")
  endif()

  # Without utf8proc there are no tokenizers of published models, and the program says so.
  if(NOT TARGET normscope_utf8proc)
    message(STATUS "utf8proc (Debian: libutf8proc-dev, vcpkg: utf8proc) not found: building without the tokenizers of published models")
  endif()
endif()

# ---- app --------------------------------------------------------------------------------------------------------
if(NORMSCOPE_APP)
  find_package(CLI11 CONFIG QUIET)
  if(NOT TARGET CLI11::CLI11)
    normscope_missing("CLI11" libcli11-dev)
  endif()

  find_package(glfw3 CONFIG QUIET)
  if(NOT TARGET glfw)
    normscope_missing("GLFW" libglfw3-dev)
  endif()

  find_package(OpenGL QUIET)
  if(NOT TARGET OpenGL::GL)
    normscope_missing("OpenGL" libgl-dev)
  endif()
  # Only the header is needed: functions are asked for by name (app/headless/software_screen.h), so that the program starts without.
  add_library(normscope_gl INTERFACE)
  target_include_directories(normscope_gl SYSTEM INTERFACE "$<TARGET_PROPERTY:OpenGL::GL,INTERFACE_INCLUDE_DIRECTORIES>")

  # md4c's config package is broken on Debian 12 (it stops the configure step), so the files are looked for directly.
  find_path(MD4C_INCLUDE_DIR md4c.h)
  find_library(MD4C_LIBRARY md4c)
  if(MD4C_INCLUDE_DIR AND MD4C_LIBRARY)
    add_library(normscope_md4c UNKNOWN IMPORTED)
    set_target_properties(normscope_md4c PROPERTIES IMPORTED_LOCATION "${MD4C_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${MD4C_INCLUDE_DIR}")
  else()
    normscope_missing("md4c" libmd4c-dev)
  endif()

  # stb has no package file of its own anywhere: its headers are included as <stb_image_write.h>.
  find_path(STB_INCLUDE_DIR stb_image_write.h PATH_SUFFIXES stb)
  if(STB_INCLUDE_DIR)
    add_library(normscope_stb INTERFACE)
    target_include_directories(normscope_stb SYSTEM INTERFACE "${STB_INCLUDE_DIR}")
  else()
    normscope_missing("stb" libstb-dev)
  endif()

  include(NormscopeImgui)
endif()

# ---- tests ------------------------------------------------------------------------------------------------------
if(NORMSCOPE_TESTS AND NORMSCOPE_TRAINING)
  find_package(Catch2 3 CONFIG QUIET)
  if(NOT TARGET Catch2::Catch2)
    find_package(Catch2 2 CONFIG QUIET)
  endif()
  if(NOT TARGET Catch2::Catch2)
    normscope_missing("Catch2" catch2)
  endif()
endif()

if(NORMSCOPE_MISSING)
  list(JOIN NORMSCOPE_MISSING "\n    " missing)
  message(FATAL_ERROR "normscope: not found:\n    ${missing}\n"
    "  Three ways to get everything:\n"
    "    1. Debian, Ubuntu:  make run   (installs the packages by name, fetches Dear ImGui)\n"
    "    2. vcpkg:  cmake --preset release -DCMAKE_TOOLCHAIN_FILE=VCPKG_ROOT/scripts/buildsystems/vcpkg.cmake\n"
    "    3. Conan:  conan install . --build=missing --output-folder=build/conan, scripts/fetch_imgui.sh, then\n"
    "       cmake --preset release -DCMAKE_TOOLCHAIN_FILE=build/conan/conan_toolchain.cmake")
endif()
