#include "app/cli/description.h"

#include <CLI/CLI.hpp>

#include "training/spec/spec.h"

namespace normscope::cli {
namespace {

/// Turns "NAME:{cpu,cuda}" into cpu, cuda, because CLI11 shows a list of choices only in the type.
std::vector<std::string> listed(const std::string& type) {
  const size_t open = type.find('{'), close = type.find('}');
  if (open == type.npos || close == type.npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

/// The name of a type without what its validators add to it: "N:INT in [1 - 9]" -> N. The colon of
/// "[LETTER:]KEY=VALUE" is part of the name.
std::string plain(const std::string& type) {
  size_t colon = type.find(':');
  while (colon != type.npos && type.compare(colon, 2, ":]") == 0) colon = type.find(':', colon + 1);
  return type.substr(0, colon);
}

std::vector<std::string> values_of(const std::string& type) {
  if (type == "PRESET") return offered_presets();
  if (!type.ends_with("KEY=VALUE")) return listed(type);
  std::vector<std::string> keys;
  for (const Field& field : spec_fields()) keys.push_back(std::string(field.key) + "=");
  return keys;
}

OptionText option_text(const CLI::Option& option) {
  OptionText text;
  const std::string type = option.get_type_name();
  text.positional = option.get_positional();
  text.type = option.get_type_size() == 0 ? "" : plain(type);
  text.name = text.positional ? option.get_name(true) : "--" + option.get_lnames().front();
  text.help = option.get_description();
  text.standard = text.type.empty() ? "" : option.get_default_str();
  text.values = values_of(text.type.ends_with("KEY=VALUE") || text.type == "PRESET" ? text.type : type);
  text.required = option.get_required();
  text.many = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  return text;
}

CommandText command_text(const CLI::App& app, const std::string& path) {
  CommandText text{path, app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) text.options.push_back(option_text(*option));
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    text.commands.push_back(
        command_text(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name()));
  return text;
}

}  // namespace

CommandText describe(const CLI::App& app) { return command_text(app, ""); }

}  // namespace normscope::cli
