# normscope_cuda is the CUDA backend as a shared object that the engine opens at run time, so one binary runs with and
# without a GPU. It is built when NORMSCOPE_CUDA allows it, a CUDA compiler is found and there are sources. Its kernels
# take longer than the rest of the program, so that a machine without a GPU compiles them only for those who test or
# pack them (NORMSCOPE_CUDA_WITHOUT_GPU).
include_guard()

normscope_addon_folders(cuda_folders engine)
list(TRANSFORM cuda_folders APPEND "/*.cu")
file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/engine/*.cu" ${cuda_folders})
set(NORMSCOPE_CUDA_SOURCES ${cuda_sources} PARENT_SCOPE)  # tests/cuda compiles them for the host

# A compiler spends nine tenths of a kernel file on headers: a few groups of files read them once each. Every op has a
# namespace of its own, so that their functions may share names.
#   normscope_cuda_groups(VARIABLE SUFFIX): the groups, as files under the build tree.
function(normscope_cuda_groups variable suffix)
  set(count 4)
  foreach(group RANGE 1 ${count})
    set(text_${group} "// Written by cmake/NormscopeCuda.cmake.\n")
  endforeach()
  set(next 1)
  foreach(source IN LISTS cuda_sources)
    string(APPEND text_${next} "#include \"${source}\"\n")
    math(EXPR next "${next} % ${count} + 1")
  endforeach()
  set(groups "")
  foreach(group RANGE 1 ${count})
    set(file "${PROJECT_BINARY_DIR}/cuda/kernels_${group}.${suffix}")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text_${group}}" @ONLY)
    list(APPEND groups "${file}")
  endforeach()
  set(${variable} "${groups}" PARENT_SCOPE)
endfunction()

if(NORMSCOPE_CUDA STREQUAL "OFF" OR NORMSCOPE_SANITIZE)  # host sanitizers know nothing of a device
  return()
endif()
if(NOT cuda_sources)
  if(NORMSCOPE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "normscope: NORMSCOPE_CUDA=ON, but this version has no CUDA kernels (engine/cuda, engine/ops/*/*.cu)")
  endif()
  return()
endif()

set(gpu OFF)
if(EXISTS /dev/nvidia0 OR EXISTS /dev/dxg)  # Linux; Linux under Windows
  set(gpu ON)
endif()
if(NORMSCOPE_CUDA STREQUAL "AUTO" AND NOT gpu AND NOT NORMSCOPE_CUDA_WITHOUT_GPU)
  message(STATUS "CUDA: not built, as this machine has no GPU (-DNORMSCOPE_CUDA=ON builds it: docs/cuda.md)")
  file(REMOVE "${PROJECT_BINARY_DIR}/libnormscope_cuda.so")  # of an earlier configuration: the program would open it
  return()
endif()

include(CheckLanguage)
check_language(CUDA)
find_package(CUDAToolkit QUIET)
if(NOT CMAKE_CUDA_COMPILER OR NOT CUDAToolkit_FOUND)
  if(NORMSCOPE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "normscope: NORMSCOPE_CUDA=ON, but no CUDA compiler and toolkit were found")
  endif()
  message(STATUS "CUDA: no compiler and toolkit found, building the CPU backend only")
  return()
endif()

# `CMAKE_CUDA_ARCHITECTURES` is what the kernels are compiled for. On a machine with a device it is that device. On any
# other, where no kernel can run, it is PTX of Turing, which checks every line and which the driver of a later machine
# translates. platforms/packages/package.sh builds for other machines, so it asks for machine code of Turing, of Ampere and Ada
# (which run that of 8.0) and of Hopper, and for PTX of Hopper for later devices: 75-real;80-real;90.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  if(EXISTS /dev/nvidia0 AND CMAKE_VERSION VERSION_GREATER_EQUAL 3.24)
    set(CMAKE_CUDA_ARCHITECTURES native)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual)
  endif()
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know it of newer compilers
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")

normscope_cuda_groups(groups cu)
add_library(normscope_cuda MODULE ${groups})
target_include_directories(normscope_cuda PRIVATE ${NORMSCOPE_ROOTS} "${PROJECT_BINARY_DIR}/generated")
set_target_properties(normscope_cuda PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON
  CUDA_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
  NORMSCOPE_TOOLKIT "${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR}")
# There must never be --use_fast_math. Warnings are for the host code. The names of nvcc's temporary files stand in what it
# makes: beside the objects they are the same whenever it is made.
target_compile_options(normscope_cuda PRIVATE -Xcompiler=-Wall,-Wextra
  "$<$<COMPILE_LANGUAGE:CUDA>:--objdir-as-tempdir>")
target_link_libraries(normscope_cuda PRIVATE CUDA::cudart_static CUDA::cublasLt)

# An installed program looks for the library in ../lib/normscope beside bin (engine/cuda/loader.cpp).
if(NORMSCOPE_INSTALL)
  install(TARGETS normscope_cuda LIBRARY DESTINATION lib/normscope COMPONENT normscope-cuda)
endif()

# Without this definition the loader does not look for a library and says "built without CUDA".
set_source_files_properties("${PROJECT_SOURCE_DIR}/engine/cuda/loader.cpp" PROPERTIES COMPILE_DEFINITIONS NORMSCOPE_WITH_CUDA)
