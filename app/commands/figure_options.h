// The options of a command that writes figures for a paper: --figure-width, --figure-font, --grey.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.h"
#include "app/plot/plot.h"

namespace normscope::commands {

/// As given: "84mm", "1 column", "8pt".
struct FigureOptions {
  std::string width, font;
  bool grey = false;
};

/// The figures' folder is another option of the command, which these need.
std::vector<CLI::Option*> add_figure_options(CLI::App& app, FigureOptions& options, CLI::Option* figure);
/// Throws CommandError(usage) for a size that is none, or too large.
plot::FigureStyle style_of(const FigureOptions& options);
/// Repeats the options as a command line: "" or " --figure-width 174mm --grey".
std::string figure_line(const FigureOptions& options, std::string_view between);

}  // namespace normscope::commands
