// The peak of this machine: arithmetic in registers and memory bandwidth, the two lines of a roofline.
#pragma once

#include <string>

namespace normscope {

struct MachinePeak {
  std::string processor, isa;
  int threads = 0;
  double gflops = 0, bandwidth_gbs = 0;
};
/// Measures with all `threads`, each timing for about `budget` seconds.
MachinePeak measure_machine_peak(int threads, double budget);

}  // namespace normscope
