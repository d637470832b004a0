#include "app/commands/figure_options.h"

#include <charconv>

#include "app/cli/study.h"
#include "app/commands/commands.h"
#include "training/io/text.h"

namespace normscope::commands {
using namespace cli;
namespace {

constexpr float kNarrowest = 30, kWidest = 400;        // mm
constexpr float kSmallestFont = 4, kLargestFont = 24;  // points

/// "84mm" as 84 with the unit "mm"; nothing where there is no number.
std::optional<std::pair<float, std::string>> size_of(std::string_view text) {
  float number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return {};
  return std::pair(number, std::string(trimmed(text.substr(static_cast<size_t>(end - text.data())))));
}

[[noreturn]] void refuse(const char* option, const std::string& text, const std::string& expected) {
  throw CommandError(Exit::Usage, fmt::format("{} {}: expected {}", option, text, expected));
}

}  // namespace

std::vector<CLI::Option*> add_figure_options(CLI::App& app, FigureOptions& options, CLI::Option* figure) {
  std::vector<CLI::Option*> added{
      add_value(app, "--figure-width", options.width, "WIDTH",
                "of a figure: 1column (84 mm), 2columns (174 mm) or 120mm", {}, "84mm"),
      add_value(app, "--figure-font", options.font, "SIZE", "of a figure's numbers, in points", {}, "8pt"),
      app.add_flag("--grey", options.grey, "a figure without colours; signed maps keep theirs")};
  for (CLI::Option* option : added) option->needs(figure);
  return added;
}

plot::FigureStyle style_of(const FigureOptions& options) {
  plot::FigureStyle style;
  style.grey = options.grey;
  if (const auto width = size_of(options.width); !options.width.empty()) {
    const bool columns = width && (width->second == "column" || width->second == "columns");
    if (columns && width->first == 1)
      style.width = plot::kColumn;
    else if (columns && width->first == 2)
      style.width = plot::kTwoColumns;
    else if (width && width->second == "mm" && width->first >= kNarrowest && width->first <= kWidest)
      style.width = width->first;
    else
      refuse("--figure-width", options.width,
             fmt::format("1column, 2columns, or {:g}mm to {:g}mm", kNarrowest, kWidest));
  }
  if (const auto font = size_of(options.font); !options.font.empty()) {
    const bool points = font && (font->second == "pt" || font->second.empty());
    if (!points || font->first < kSmallestFont || font->first > kLargestFont)
      refuse("--figure-font", options.font, fmt::format("{:g}pt to {:g}pt", kSmallestFont, kLargestFont));
    style.font = font->first;
  }
  return style;
}

std::string figure_line(const FigureOptions& options, std::string_view between) {
  std::string line;
  add_option_text(line, between, "--figure-width", options.width);
  add_option_text(line, between, "--figure-font", options.font);
  if (options.grey) line.append(between).append("--grey");
  return line;
}

}  // namespace normscope::commands
