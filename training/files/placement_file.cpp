// The reading half of placement_file.h.
#include "training/files/placement_file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "engine/core/error.h"
#include "engine/model/residual.h"
#include "training/files/places.h"
#include "training/io/input_kinds.h"
#include "training/io/nearest.h"
#include "training/io/toml_table.h"
#include "training/spec/spec.h"
#include "training/spec/spec_text.h"

namespace normscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestName = 40, kLongestSentence = 300, kMostFiles = 1000;
constexpr int32_t kMostLayers = 256;  // as model.layers

/// Reads a text that is shown in one line.
std::string line_of(Table& table, std::string_view key, size_t most, const std::string& absent) {
  const std::string text = table.text(key, absent);
  if (text.size() > most)
    table.refuse(key, fmt::format("has {} bytes: expected at most {}", text.size(), most));
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    table.refuse(key, "has more than one line: expected one");
  return text;
}

Wiring wiring_at(Table& table, std::string_view key) {
  const std::string text = table.text(key);
  try {
    return wiring_from(trimmed(text));
  } catch (const Error& error) {
    table.refuse(key, fmt::format("'{}': {}", text, error.what()));
  }
}

std::optional<Wiring> wiring_if(Table& table, std::string_view key) {
  if (table.has(key)) return wiring_at(table, key);
  table.text(key, "");  // a key that is known, though it is not here
  return {};
}

/// The rule that a key names. Rules of the number of layers are for early_layers alone.
PlacementRow::Number rule_at(Table& table, std::string_view key) {
  const std::string name = table.text(key);
  const bool counts = key == "early_layers";
  std::vector<std::string_view> names;
  for (const PlacementRule& rule : placement_rules()) {
    if ((rule.name == "quarter") != counts) continue;
    if (rule.name == name) return rule.number;
    names.push_back(rule.name);
  }
  table.refuse(key, fmt::format("'{}' is no rule: {}, or a number", name, normscope::expected(name, names)));
}

/// A key that holds a rule or a number. A number goes into the wirings, as if their words had it.
struct Number {
  std::string_view key;
  PlacementRow::Number PlacementRow::*rule;
  void (*put)(Wiring& wiring, float value);
};
constexpr Number kNumbers[] = {
    {"skip", &PlacementRow::skip,
     [](Wiring& w, float value) {
       w.skip = {Scale::Kind::Constant, value};
     }},
    {"branch", &PlacementRow::branch,
     [](Wiring& w, float value) {
       w.branch = {Scale::Kind::Constant, value};
     }},
    {"gain", &PlacementRow::gain, [](Wiring& w, float value) { w.init_gain = value; }},
    {"pre_scale", &PlacementRow::pre_scale, [](Wiring& w, float value) { w.pre_scale = value; }}};

void read_numbers(Table& table, const toml::table& root, PlacementRow& row) {
  for (const Number& number : kNumbers) {
    const toml::node* node = root.get(number.key);
    if (!node) {
      table.maybe(number.key);
      continue;
    }
    if (node->is_string()) {
      row.*number.rule = rule_at(table, number.key);
      continue;
    }
    const auto value = static_cast<float>(table.number(number.key));
    number.put(row.sublayer, value);
    if (row.early) number.put(*row.early, value);
  }
}

void read_early(Table& table, const toml::table& root, PlacementRow& row) {
  row.early = wiring_if(table, "early");
  const toml::node* count = root.get("early_layers");
  if (!count != !row.early)
    table.refuse(count ? "early_layers" : "early", "stands alone: expected early and early_layers");
  if (!count)
    table.maybe("early_layers");
  else if (count->is_string())
    row.early_layers = rule_at(table, "early_layers");
  else
    row.first_layers = table.whole("early_layers", 1, kMostLayers);
}

/// What forms of residual streams read, as a row has it: "second=ln; joined=ln". A norm is a flag, and of the model's kind.
std::string slots_at(Table& table) {
  std::string slots;
  for (const StackSlotRow* slot : stack_slots()) {
    std::string text(slot->empty);
    if (!slot->tidied) {
      if (table.flag(slot->key, false)) text = short_name(NormKind::LayerNorm);
    } else {
      text = table.text(slot->key, text);
      try {
        text = slot->tidied(trimmed(text));
      } catch (const Error& error) {
        table.refuse(slot->key, fmt::format("'{}': {}", text, error.what()));
      }
    }
    if (text != slot->empty) slots += fmt::format("{}{}={}", slots.empty() ? "" : "; ", slot->key, text);
  }
  return slots;
}

/// The kind that N stands for; ln: the model's.
NormKind norm_at(Table& table) {
  const std::string text = table.text("norm", short_name(NormKind::LayerNorm));
  try {
    const NormKind kind = norm_from(trimmed(text));
    if (kind != NormKind::None) return kind;
  } catch (const Error& error) {
    table.refuse("norm", fmt::format("'{}': {}", text, error.what()));
  }
  table.refuse("norm", "'none' is no kind for a norm: expected one, or no such key");
}

/// Reads [layers]: L03.attn = "...".
std::vector<SingleSublayer> read_layers(Table& table) {
  constexpr std::pair<std::string_view, Wiring LayerWiring::*> kSublayers[] = {
      {"attn", &LayerWiring::attention}, {"cross", &LayerWiring::cross}, {"ffn", &LayerWiring::feed_forward}};
  std::vector<SingleSublayer> all;
  for (auto& [name, layer] : table.children("layers")) {
    int64_t number = 0;
    if (!name.starts_with('L') || !parse_integer(name.substr(1), number) || number < 1 ||
        number > kMostLayers || name != fmt::format("L{:02}", number))
      layer.refuse("", fmt::format("is no layer: expected L01 to L{}", kMostLayers));
    for (const auto& [key, sublayer] : kSublayers)
      if (const auto wiring = wiring_if(layer, key))
        all.push_back({static_cast<int>(number), sublayer, *wiring});
    layer.done();
  }
  return all;
}

/// Refuses what already means something else on a command line.
void check_name(const Table& table, const std::string& name) {
  const std::vector<std::string> presets = preset_names();
  const bool preset = std::find(presets.begin(), presets.end(), name) != presets.end();
  if (preset || name == "same" || name == "all" || name == to_string(Placement::Custom))
    table.refuse("name", fmt::format("'{}' is taken by the program: expected another", name));
}

}  // namespace

PlacementRow PlacementFile::row() const {
  PlacementRow row = wired;
  row.name = name.c_str();
  row.label = label.c_str();
  row.short_label = short_label.c_str();
  row.formula = formula.c_str();
  row.source = source.c_str();
  row.slots = slots.c_str();
  row.single = single;
  return row;
}

PlacementFile parse_placement(std::string_view text, const std::string& file) {
  const toml::table root = parse_toml(text, file);
  Table table(root, file, "");
  PlacementFile out;
  out.name = line_of(table, "name", kLongestName, "");
  if (out.name.empty()) table.refuse("name", "is missing: expected a name, as \"my-placement\"");
  check_name(table, out.name);
  out.at = fmt::format("{}:{}", file, root.get("name")->source().begin.line);
  out.label = line_of(table, "label", kLongestName, out.name);
  out.short_label = line_of(table, "short", kLongestName, out.label);
  out.source = line_of(table, "source", kLongestSentence, "");
  PlacementRow& row = out.wired;
  row.sublayer = wiring_at(table, "sublayer");
  row.cross = wiring_if(table, "cross");
  row.feed_forward = wiring_if(table, "feed_forward");
  read_early(table, root, row);
  read_numbers(table, root, row);
  row.embedding = table.flag("embedding", false);
  row.final = table.flag("final", false);
  out.slots = slots_at(table);
  row.norm = norm_at(table);
  out.single = read_layers(table);
  out.formula = line_of(table, "formula", kLongestSentence, formula_of(row.sublayer));
  table.done();
  return out;
}

Placement offer(const PlacementFile& placement) {
  try {
    return add_placement(placement.row());
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", placement.at, error.what()));
  }
}

std::string placements_folder() {
  if (const char* set = std::getenv("NORMSCOPE_PLACEMENTS"); set && *set) return set;
  const std::string folder = config_folder();
  return folder.empty() ? "" : (fs::path(folder) / kPlacementsName).string();
}

std::vector<std::string> load_placements(const std::string& folder) {
  std::vector<std::string> refused;
  std::error_code none;
  if (folder.empty() || !fs::is_directory(folder, none)) return refused;
  std::string error;
  for (const std::string& path : files_in(folder, kMostFiles, error)) {
    if (fs::path(path).extension() != ".toml") continue;
    try {
      offer(parse_placement(read_input_file(path, input::kPlacement), path));
    } catch (const Error& wrong) {
      refused.emplace_back(wrong.what());
    }
  }
  if (!error.empty()) refused.push_back(fmt::format("{}: {}", folder, error));
  return refused;
}

}  // namespace normscope
