#include "app/cli/build_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "build_facts_data.h"  // written by app/CMakeLists.txt
#include "engine/cpu/isa.h"

namespace normscope::cli {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

std::string build_facts() {
  const std::string commit = kCommit, cuda = kCuda;
  return fmt::format(
      "normscope {}\ncommit: {}\ncompiler: {}, {}\nkernels: {}\nCUDA backend: {}\nSentencePiece: {}",
      NORMSCOPE_VERSION, commit.empty() ? "unknown" : commit, compiler(), kBuildType,
      fmt::join(cpu::compiled_isas(), ", "), cuda.empty() ? "no" : cuda, kSentencePiece ? "yes" : "no");
}

}  // namespace normscope::cli
