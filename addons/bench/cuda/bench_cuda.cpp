// normscope_cuda_bench [lesson] [deep] [wide] [base] [--tf32] [--no-graph] [--seconds S]: times whole training steps on
// the device, one JSON line a model, as addons/bench/peers prints it. It is normscope bench --backend cuda without the
// program.
#include "addons/bench/app/stepper.h"
#include "engine/cuda/loader.h"

namespace normscope::bench {
namespace {

int run(int argc, char** argv) {
  CudaOptions options;
  double seconds = 2;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--tf32")
      options.tf32 = true;
    else if (word == "--no-graph")
      options.graph = false;
    else if (word == "--seconds" && i + 1 < argc)
      seconds = std::atof(argv[++i]);
    else
      names.push_back(word);
  }
  const auto backend = make_cuda_backend(options);
  for (const std::string& name : names.empty() ? device_models() : names)
    fmt::print("{}\n", measure_on_device(*backend, name, seconds, options.tf32, options.graph).dump());
  return 0;
}

}  // namespace
}  // namespace normscope::bench

int main(int argc, char** argv) {
  try {
    return normscope::bench::run(argc, argv);
  } catch (const normscope::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
