// The sources and the tools of this build; --version prints them.
#pragma once

#include <string>

namespace normscope::cli {

/// "g++ 12.2.0".
std::string compiler();

/// "normscope 0.1.0", then one line each for commit, compiler and build type, the kernels' instruction
/// sets, CUDA backend and SentencePiece.
std::string build_facts();

}  // namespace normscope::cli
