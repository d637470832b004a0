// `normscope compare FILE...`: saved runs and logs side by side, without training. The other half of the command
// compare, which trains where there are no files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/exit_code.h"

namespace CLI {
class App;
}

namespace normscope::commands {

/// In the place of a file's name.
inline constexpr const char* kStandardOutput = "-";

struct CompareOptions {
  std::vector<std::string> files;  ///< FILE or FILE:LETTER; empty: train
  std::string mapping;         ///< names of tensors in logs (training/records/name_mapping.h); empty: none
  std::string baseline = "A";  ///< letter or number
  std::string metric = "gradient:ffn.w2";
  std::string align = "step";
  int32_t from = 0, to = 0;  ///< steps; 0: from the first, to the last
  double factor = 4;
  std::string json, markdown;  ///< kStandardOutput, or empty: not asked for
  std::string svg, png, csv;   ///< a folder; svg: or one file; empty: not asked for
};

/// Adds the files, which the options of training exclude, and the options that need files; --json, --markdown and --csv
/// are those of training too.
void add_compare_files(CLI::App& app, CompareOptions& options);
/// After parsing: an output that was asked for without a name goes to standard output (json, markdown) or into `out`.
void name_outputs(const CLI::App& app, CompareOptions& options, const std::string& out);
/// Before anything is read or trained: throws CommandError for a run that stands behind an option which takes a name and
/// would be overwritten.
void check_named(const CompareOptions& options);
/// Throws CommandError: Exit::Input for a file that is neither a saved run nor a log, Exit::Usage for what cannot be
/// compared.
cli::Exit compare_files(const CompareOptions& options);

}  // namespace normscope::commands
