// normscope settings prints the settings of a run, with what each may be.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "training/io/text.h"
#include "training/spec/spec.h"

namespace normscope::commands {
using namespace cli;
namespace {

constexpr const char* kTypes[] = {"integer", "real", "choice", "flag", "text"};  // by FieldType

struct SettingsOptions {
  bool json = false;
};

bool is_number(const Field& field) {
  return field.type == FieldType::Integer || field.type == FieldType::Real;
}

/// "1 to 24", "relu, gelu", "true or false", "a file".
std::string values_of(const Field& field) {
  switch (field.type) {
    case FieldType::Integer:
    case FieldType::Real:
      return fmt::format("{:g} to {:g}", field.low, field.high);
    case FieldType::Choice:
      return fmt::format("{}", fmt::join(choices_of(field), ", "));
    case FieldType::Flag:
      return "true or false";
    case FieldType::Text:
      return field.file ? "a file" : "a text";
  }
  return "";
}

nlohmann::json json_of(const Field& field) {
  nlohmann::json out{{"key", field.key},
                     {"label", field.label},
                     {"unit", field.unit},
                     {"type", kTypes[static_cast<size_t>(field.type)]},
                     {"default", field.get(RunSpec())},
                     {"live", field.live},
                     {"file", field.file},
                     {"help", fmt::format("{} {}", field.help, fmt::join(field.more_help, " "))}};
  if (is_number(field)) out.update({{"low", field.low}, {"high", field.high}});
  if (field.type == FieldType::Choice) out["choices"] = choices_of(field);
  return out;
}

Exit print_settings(const SettingsOptions& options) {
  std::vector<std::vector<std::string>> rows{{"key", "in words", "default", "values"}};
  nlohmann::json all = nlohmann::json::array();
  for (const Field& field : spec_fields()) {
    rows.push_back(
        {std::string(field.key), std::string(field.label), field.get(RunSpec()), values_of(field)});
    all.push_back(json_of(field));
  }
  if (options.json)
    say("{}\n", all.dump(2));
  else
    say("{}", text_table(rows, "llll"));
  return Exit::Ok;
}

}  // namespace

void add_settings(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(
      app, command, "settings", "Print the settings of a run, and what each may be", print_settings);
  sub.add_flag("--json", options.json, "print JSON, with the help of each");
}

}  // namespace normscope::commands
