# normscope_cuda: the CUDA backend as a shared object that the engine opens at run time, so that one binary runs on
# machines with and without a GPU. Built when NORMSCOPE_CUDA allows it, a CUDA compiler is found and there are sources.
include_guard()

file(GLOB cuda_sources CONFIGURE_DEPENDS
  "${CMAKE_SOURCE_DIR}/engine/cuda/*.cu" "${CMAKE_SOURCE_DIR}/engine/ops/*/*.cu")

if(NORMSCOPE_CUDA STREQUAL "OFF" OR NORMSCOPE_SANITIZE)  # host sanitizers know nothing of a device
  return()
endif()
if(NOT cuda_sources)
  if(NORMSCOPE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "normscope: NORMSCOPE_CUDA=ON, but this version has no CUDA kernels (engine/cuda, engine/ops/*/*.cu)")
  endif()
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

# Machine code for Turing, for Ampere and Ada (which run that of 8.0) and for Hopper, and PTX of the last for what
# comes after.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90)
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know it of newer compilers
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")

add_library(normscope_cuda MODULE ${cuda_sources})
target_include_directories(normscope_cuda PRIVATE "${CMAKE_SOURCE_DIR}")
set_target_properties(normscope_cuda PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON
  CUDA_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}"
  NORMSCOPE_TOOLKIT "${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR}")
# No --use_fast_math, ever. Warnings are for the host code.
target_compile_options(normscope_cuda PRIVATE -Xcompiler=-Wall,-Wextra)
target_link_libraries(normscope_cuda PRIVATE CUDA::cudart_static CUDA::cublasLt)

# Where an installed program looks (engine/cuda/loader.cpp): ../lib/normscope beside bin.
install(TARGETS normscope_cuda LIBRARY DESTINATION lib/normscope COMPONENT normscope-cuda)

# The loader says "built without CUDA" where there is no library to look for.
set_source_files_properties("${CMAKE_SOURCE_DIR}/engine/cuda/loader.cpp" PROPERTIES COMPILE_DEFINITIONS NORMSCOPE_WITH_CUDA)
