// `normscope compare FILE...` shows saved runs and logs side by side, without training. It is the other half of the
// command compare, which trains where there are no files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/exit_code.h"

namespace CLI {
class App;
}

namespace normscope::commands {

/// Replaces a file's name.
inline constexpr const char* kStandardOutput = "-";

struct CompareOptions {
  std::vector<std::string> files;  ///< FILE or FILE:LETTER; empty: train
  std::string mapping;         ///< names of tensors in logs (addons/recorded/training/tensor_names.h); empty: none
  std::string baseline = "A";  ///< letter or number
  std::string metric = "gradient:ffn.w2";
  std::string align = "step";
  int32_t from = 0, to = 0;  ///< 0: from the first step, to the last
  double factor = 4;
  std::string json, markdown;  ///< kStandardOutput or a file; empty: not asked for
  std::string svg, png, csv;   ///< a folder, or for svg one file; empty: not asked for
};

/// Adds the files, which exclude the options of training, and the options that need files. --json,
/// --markdown and --csv also belong to training.
void add_compare_files(CLI::App& app, CompareOptions& options);
/// Runs after parsing: an output that was asked for without a name goes to standard output (json,
/// markdown) or into `out`.
void name_outputs(const CLI::App& app, CompareOptions& options, const std::string& out);
/// Runs before anything is read or trained. It throws CommandError for a run that follows an option which
/// takes a name, because the run would be overwritten.
void check_named(const CompareOptions& options);
/// Throws CommandError: Exit::Input for a file that is neither a saved run nor a log, Exit::Usage for
/// runs that cannot be compared.
cli::Exit compare_files(const CompareOptions& options);

}  // namespace normscope::commands
