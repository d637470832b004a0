# normscope_cuda_bench runs whole steps on the device, one JSON line each.
set(bench "${PROJECT_SOURCE_DIR}/addons/bench")
add_executable(normscope_cuda_bench "${bench}/cuda/bench_cuda.cpp" "${bench}/app/stepper.cpp")
target_link_libraries(normscope_cuda_bench PRIVATE normscope_training nlohmann_json::nlohmann_json normscope_options)
target_include_directories(normscope_cuda_bench PRIVATE "${PROJECT_SOURCE_DIR}")
list(APPEND programs normscope_cuda_bench)
