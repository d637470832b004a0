# The program for a browser (platforms/web/web.sh, docs/web.md): WebAssembly with SIMD of 128 bits and threads, without
# relaxed instructions, so that it computes the same bits everywhere. Included in place of the system's packages, which
# are for the host. NORMSCOPE_WEB_DEPS holds include/ with the headers of fmt, nlohmann-json, toml++, stb and
# Highway, and src/md4c.c, src/md4c.h, src/hwy/targets.cc and src/hwy/abort.cc where its Highway has one.
include_guard()

set(NORMSCOPE_WEB_DEPS "" CACHE PATH "Headers and sources for the build for browsers")
set(NORMSCOPE_WEB_INITIAL_MB 256 CACHE STRING "Memory that a page begins with")
set(NORMSCOPE_WEB_MAXIMUM_MB 2048 CACHE STRING "Memory that a page may grow to")
set(NORMSCOPE_WEB_ROOT "/normscope")  # of what is packed, in the page's file system
set(NORMSCOPE_WEB_FONTS "" CACHE PATH "The faces that are packed, subset")
if(NOT EXISTS "${NORMSCOPE_WEB_DEPS}/include/fmt" OR NOT IS_DIRECTORY "${NORMSCOPE_WEB_FONTS}")
  message(FATAL_ERROR "normscope: NORMSCOPE_WEB_DEPS='${NORMSCOPE_WEB_DEPS}' holds no headers or "
    "NORMSCOPE_WEB_FONTS='${NORMSCOPE_WEB_FONTS}' no faces: platforms/web/web.sh prepares them")
endif()

enable_language(C)  # md4c

# Every object needs these, and so does the link: an object without SIMD would make Highway fall back to plain loops.
set(web_options -msimd128 -pthread -fwasm-exceptions)
add_compile_options(${web_options} -fexperimental-library)  # std::jthread, which is in the headers alone
add_link_options(${web_options})

include(NormscopeBroughtAlong)
normscope_header_libraries("${NORMSCOPE_WEB_DEPS}/include")
file(GLOB highway "${NORMSCOPE_WEB_DEPS}/src/hwy/*.cc")
normscope_source_library(normscope_highway "${NORMSCOPE_WEB_DEPS}/include" ${highway})
add_library(hwy::hwy ALIAS normscope_highway)
normscope_source_library(normscope_md4c "${NORMSCOPE_WEB_DEPS}/src" "${NORMSCOPE_WEB_DEPS}/src/md4c.c")

# GLFW and WebGL are libraries of Emscripten.
add_library(glfw INTERFACE)
target_link_options(glfw INTERFACE -sUSE_GLFW=3)
add_library(normscope_gl INTERFACE)
target_link_options(normscope_gl INTERFACE -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2)
add_compile_definitions(IMGUI_IMPL_OPENGL_ES3)

normscope_fetched_imgui()
target_compile_options(normscope_imgui PRIVATE $<$<CONFIG:Release>:-Oz>)  # as all but the engine's kernels
target_compile_definitions(normscope_imgui PRIVATE IMGUI_DISABLE_DEFAULT_FONT)  # a page packs its faces

# normscope_web_sources(VARIABLE): puts what platforms/web does in a browser in the place of what does it elsewhere,
# and leaves out the command line, which a page has not.
function(normscope_web_sources variable)
  set(sources ${${variable}})
  list(FILTER sources EXCLUDE REGEX
    "/app/window/(main_window|desktop)\\.cpp$|/app/(cli|commands)/")
  foreach(file desktop page web_window)
    list(APPEND sources "${PROJECT_SOURCE_DIR}/platforms/web/${file}.cpp")
  endforeach()
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# normscope_web_program(TARGET): makes TARGET.js, TARGET.wasm, and TARGET.data with lessons and fonts.
function(normscope_web_program target)
  # The threads are the pool's and those that the screens start beside it; one that finds no worker waits for the page.
  set(cores "Math.min((globalThis.navigator&&navigator.hardwareConcurrency)||4,8)")
  target_link_options(${target} PRIVATE -Oz
    -sMODULARIZE -sEXPORT_NAME=createNormscope -sENVIRONMENT=web,worker,node -sEXIT_RUNTIME
    "-sPTHREAD_POOL_SIZE=${cores}+5" -sDEFAULT_PTHREAD_STACK_SIZE=2MB -sSTACK_SIZE=2MB
    -sINITIAL_MEMORY=${NORMSCOPE_WEB_INITIAL_MB}MB -sALLOW_MEMORY_GROWTH
    -sMAXIMUM_MEMORY=${NORMSCOPE_WEB_MAXIMUM_MB}MB
    -sEXPORTED_FUNCTIONS=_main,_malloc,_free,_ns_open_file,_ns_status,_ns_hidden,_ns_places,_ns_resize
    -sEXPORTED_RUNTIME_METHODS=FS,ccall,cwrap,UTF8ToString,ENV -lidbfs.js
    -sGL_ENABLE_GET_PROC_ADDRESS=0  # otherwise the glue has every function of WebGL, called or not
    "--pre-js=${PROJECT_SOURCE_DIR}/platforms/web/storage.js"
    "--preload-file=${PROJECT_SOURCE_DIR}/lessons@${NORMSCOPE_WEB_ROOT}/lessons"
    "--preload-file=${NORMSCOPE_WEB_FONTS}@/usr/share/fonts"
    "--exclude-file=*/README.md")  # for authors: the program reads none
  file(GLOB_RECURSE packed CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lessons/*" "${NORMSCOPE_WEB_FONTS}/*")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${PROJECT_SOURCE_DIR}/platforms/web/storage.js" ${packed})
endfunction()
