// See name_mapping.h.
#include "addons/recorded/training/name_mapping.h"

#include <fmt/format.h>

#include "engine/core/error.h"
#include "training/io/input_kinds.h"
#include "training/io/input_value.h"
#include "training/io/toml.h"

namespace normscope::records {
namespace {

constexpr std::string_view kLayer = "{layer}";

constexpr const char* kExpected =
    "expected a name of ours such as \"L{layer}.attn.wq\", \"enc.L{layer}.ffn.w2\" or \"emb.tokens\"";

/// Their name in one line; errors of what follows carry it.
struct Place {
  const std::string& file;
  toml::source_index line;
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(fmt::format("{}:{}: {}", file, line, fmt::format(format, std::forward<Args>(args)...)));
  }
};

int32_t first_layer_of(const toml::node& node, const Place& place) {
  const auto number = node.value_exact<int64_t>();
  if (!number || *number < 0 || *number > 1)
    place.refuse("first_layer: expected 0 or 1, what their first layer is called");
  return static_cast<int32_t>(*number);
}

}  // namespace

NameRule name_rule(std::string_view theirs, std::string_view ours) {
  const auto complain = [](std::string_view what, const char* expected) {
    throw Error(fmt::format("{} {}", shown_text(what), expected));
  };
  if (theirs.empty() || theirs.size() > kLongestName)
    throw Error(fmt::format("a name of {} bytes: expected 1 to {}", theirs.size(), kLongestName));
  NameRule rule;
  const size_t at = theirs.find(kLayer), here = ours.find(kLayer);
  rule.layered = at != theirs.npos;
  rule.before = theirs.substr(0, at);
  if (rule.layered) rule.after = theirs.substr(at + kLayer.size());
  if (rule.before.find_first_of("{}") != rule.before.npos ||
      rule.after.find_first_of("{}") != rule.after.npos)
    complain(theirs, "has braces: expected {layer}, once, for the number of the layer");
  std::string example(ours);
  if (here != ours.npos) example.replace(here, kLayer.size(), "01");
  rule.target = parse_own_name(example);
  const bool plain = example.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.L") == example.npos &&
                     example.size() < 80;
  if (!rule.target.known() || !plain) complain(ours, kExpected);
  if (rule.layered && here == ours.npos)
    complain(ours, "has no {layer} and the name on the left has one: expected it on both sides");
  if (!rule.layered && here != ours.npos)
    complain(ours, "has {layer} and the name on the left has none: expected it on both sides");
  rule.target.output = rule.target.part == "ffn.out";
  return rule;
}

NameMapping parse_name_mapping(std::string_view text, const std::string& file) {
  const toml::table table = parse_toml(text, file);
  if (table.size() > kMostNameRules)
    throw Error(fmt::format("{}: {} names: expected at most {}", file, table.size(), kMostNameRules));
  NameMapping mapping;
  for (const auto& [key, node] : table) {
    const Place place{file, node.source().begin.line};
    const std::string_view theirs = key.str();
    if (theirs == "first_layer") {
      mapping.first_layer = first_layer_of(node, place);
      continue;
    }
    const auto ours = node.value_exact<std::string>();
    if (!ours)
      place.refuse("{}: expected = \"L{{layer}}.attn.wq\", and a name with dots in quotes",
                   shown_text(theirs));
    try {
      mapping.rules.push_back(name_rule(theirs, *ours));
    } catch (const Error& error) {
      place.refuse("{}", error.what());
    }
  }
  return mapping;
}

NameMapping read_name_mapping(const std::string& path) {
  return parse_name_mapping(read_input_file(path, kNamesFile), path);
}

}  // namespace normscope::records
