#include "training/files/placement_file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "engine/model/residual.h"
#include "training/files/config_file.h"
#include "training/files/places.h"
#include "training/io/input_kinds.h"
#include "training/io/text.h"
#include "training/io/toml.h"
#include "training/spec/spec.h"
#include "training/spec/spec_text.h"

namespace normscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestName = 40, kLongestSentence = 300, kMaxFiles = 1000;
constexpr int32_t kMaxLayers = 256;  // as model.layers

/// Reads a text that is shown in one line.
std::string line_of(Table& table, std::string_view key, size_t most, const std::string& absent) {
  const std::string text = table.text(key, absent);
  if (text.size() > most) table.refuse(key, Message("has {} bytes: expected at most {}", text.size(), most));
  if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    table.refuse(key, "has a line break or another control character: expected one line");
  return text;
}

Wiring wiring_at(Table& table, std::string_view key) {
  const std::string text = table.text(key);
  try {
    return wiring_from(trimmed(text));
  } catch (const Error& error) {
    table.refuse(key, Message("'{}': {}", text, error.message));
  }
}

std::optional<Wiring> wiring_if(Table& table, std::string_view key) {
  if (table.has(key)) return wiring_at(table, key);
  table.text(key, "");  // marks the absent key as known
  return {};
}

/// The rule that a key names. Only early_layers takes rules that count layers.
PlacementRow::Number rule_at(Table& table, std::string_view key) {
  const std::string name = table.text(key);
  const bool counts = key == "early_layers";
  std::vector<std::string_view> names;
  for (const PlacementRule& rule : placement_rules()) {
    if ((rule.name == "quarter") != counts) continue;
    if (rule.name == name) return rule.number;
    names.push_back(rule.name);
  }
  table.refuse(key, Message("'{}' is no rule: {}, or a number", name, normscope::expected(name, names)));
}

/// A key that holds a rule or a number. A number goes into the wirings, as if their words had it.
struct Number {
  std::string_view key;
  PlacementRow::Number PlacementRow::*rule;
  std::array<std::string_view, 2> rules;  ///< the rules tried when a number is written
  Scale Wiring::*scale = nullptr;         ///< this, or `factor`
  float Wiring::*factor = nullptr;

  void put(Wiring& wiring, float value) const {
    if (scale)
      wiring.*scale = {Scale::Kind::Constant, value};
    else
      wiring.*factor = value;
  }
  void clear(Wiring& wiring) const {
    if (scale)
      wiring.*scale = {};
    else
      wiring.*factor = 1;
  }
  float value(const Wiring& wiring) const {
    if (factor) return wiring.*factor;
    return (wiring.*scale).kind == Scale::Kind::Constant ? (wiring.*scale).value : 1;
  }
};
constexpr Number kNumberKeys[] = {
    {"skip", &PlacementRow::skip, {"deepnorm-alpha", "sublayers"}, &Wiring::skip},
    {"branch", &PlacementRow::branch, {"1/sqrt(2*layer)"}, &Wiring::branch},
    {"gain", &PlacementRow::gain, {"deepnorm-beta", "subln-gain"}, nullptr, &Wiring::init_gain},
    {"pre_scale", &PlacementRow::pre_scale, {"1/sqrt(layer)"}, nullptr, &Wiring::pre_scale}};

using Part = Wiring LayerWiring::*;

/// A sub-layer's key in a file, and its member.
constexpr std::pair<std::string_view, Part> kSublayerKeys[] = {
    {"attn", &LayerWiring::attention}, {"cross", &LayerWiring::cross}, {"ffn", &LayerWiring::feed_forward}};

void read_numbers(Table& table, const toml::table& root, PlacementRow& row) {
  for (const Number& number : kNumberKeys) {
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
    row.first_layers = table.whole("early_layers", 1, kMaxLayers);
}

/// The slots for forms of residual streams, as a row has them: "second=ln; joined=ln". A norm is a flag, of the model's
/// kind.
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
        table.refuse(slot->key, Message("'{}': {}", text, error.message));
      }
    }
    if (text != slot->empty) slots += fmt::format("{}{}={}", slots.empty() ? "" : "; ", slot->key, text);
  }
  return slots;
}

/// The kind that `ln` means in the file; without the key `norm`, the model's.
NormKind norm_at(Table& table) {
  const std::string text = table.text("norm", short_name(NormKind::LayerNorm));
  try {
    const NormKind kind = norm_from(trimmed(text));
    if (kind != NormKind::None) return kind;
  } catch (const Error& error) {
    table.refuse("norm", Message("'{}': {}", text, error.message));
  }
  table.refuse("norm", "'none' is no kind for a norm: expected one, or no such key");
}

/// Reads [layers]: L03.attn = "...".
std::vector<SingleSublayer> read_layers(Table& table) {
  std::vector<SingleSublayer> all;
  for (auto& [name, layer] : table.children("layers")) {
    int64_t number = 0;
    if (!name.starts_with('L') || !parse_integer(name.substr(1), number) || number < 1 ||
        number > kMaxLayers || name != fmt::format("L{:02}", number))
      layer.refuse("", Message("is no layer: expected L01 to L{}", kMaxLayers));
    for (const auto& [key, sublayer] : kSublayerKeys)
      if (const auto wiring = wiring_if(layer, key))
        all.push_back({static_cast<int>(number), sublayer, *wiring});
    layer.done();
  }
  return all;
}

/// Refuses what already means something else on a command line.
void check_name(const Table& table, const std::string& name) {
  const std::vector<std::string> presets = preset_names();
  const bool preset = std::ranges::find(presets, name) != presets.end();
  if (preset || name == "same" || name == "all" || name == to_string(Placement::Custom))
    table.refuse("name", Message("'{}' is taken by the program: expected another", name));
}

/// Whether the rule gives this number at every place, and not 1 at all of them.
bool follows(const StackWiring& stack, const Number& number, PlacementRow::Number rule,
             const StackContext& context) {
  bool other = false;
  for (size_t i = 0; i < stack.layers.size(); ++i)
    for (const auto& [key, part] : kSublayerKeys) {
      const float value = number.value(stack.layers[i].*part);
      if (value != static_cast<float>(rule(context, static_cast<int>(i) + 1))) return false;
      other = other || value != 1;
    }
  return other;
}

/// Removes the numbers that follow a rule from a stack, and returns their lines.
std::string take_rules(StackWiring& stack, const StackContext& context) {
  std::string lines;
  for (const Number& number : kNumberKeys)
    for (const PlacementRule& rule : placement_rules()) {
      if (std::ranges::find(number.rules, rule.name) == number.rules.end()) continue;
      if (!follows(stack, number, rule.number, context)) continue;
      lines += fmt::format("{} = {}\n", number.key, toml_string(rule.name));
      for (LayerWiring& layer : stack.layers)
        for (const auto& [key, part] : kSublayerKeys) number.clear(layer.*part);
    }
  return lines;
}

/// The most frequent wiring of `part` over the layers; in a tie, the first.
Wiring usual(const StackWiring& stack, Part part) {
  Wiring best;
  std::ptrdiff_t most = 0;
  for (const LayerWiring& layer : stack.layers) {
    const auto alike = [&](const LayerWiring& other) { return other.*part == layer.*part; };
    const auto count = std::ranges::count_if(stack.layers, alike);
    if (count <= most) continue;
    most = count;
    best = layer.*part;
  }
  return best;
}

/// Calls the model's norm ln, as files do.
void in_model_norm(StackWiring& stack, NormKind norm) {
  for (LayerWiring& layer : stack.layers)
    for (const auto& [key, part] : kSublayerKeys)
      for (WiredNorm* at : norms_of(layer.*part))
        if (*at == norm) at->kind = NormKind::LayerNorm;
}

std::string layer_lines(const StackWiring& stack, const LayerWiring& all, bool cross) {
  std::string lines;
  for (size_t i = 0; i < stack.layers.size(); ++i)
    for (const auto& [key, part] : kSublayerKeys) {
      if (part == &LayerWiring::cross && !cross) continue;
      const Wiring& wiring = stack.layers[i].*part;
      if (wiring == all.*part) continue;
      lines += fmt::format("L{:02}.{} = {}\n", i + 1, key, toml_string(to_string(wiring)));
    }
  return lines.empty() ? "" : "\n[layers]\n" + lines;
}

/// A way to write a stack: with rules for numbers that follow one, with a kind of norm of its own.
struct Form {
  bool rules = true;
  NormKind own = NormKind::None;
};

std::string text_of(const std::string& name, const std::string& label, StackWiring stack, NormKind norm,
                    const StackContext& context, const Form& form) {
  const bool own = form.own != NormKind::None;
  in_model_norm(stack, own ? form.own : norm);
  const std::string formula = formula_of(usual(stack, &LayerWiring::attention));
  const std::string ruled = form.rules ? take_rules(stack, context) : "";
  const LayerWiring all{usual(stack, &LayerWiring::attention), usual(stack, &LayerWiring::cross),
                        usual(stack, &LayerWiring::feed_forward)};
  std::string out = "# A placement of normscope: docs/configuration.md says what each key means.\n";
  out += fmt::format("name = {}\n", toml_string(name));
  if (!label.empty()) out += fmt::format("label = {}\n", toml_string(label));
  out += fmt::format("formula = {}\n", toml_string(formula));
  out += fmt::format("sublayer = {}\n", toml_string(to_string(all.attention)));
  if (context.has_cross() && !(all.cross == all.attention))
    out += fmt::format("cross = {}\n", toml_string(to_string(all.cross)));
  Wiring without_heads = all.attention;
  without_heads.inner.query = without_heads.inner.key = without_heads.inner.value = {};
  without_heads.inner.head_scale = false;
  if (!(all.feed_forward == without_heads))
    out += fmt::format("feed_forward = {}\n", toml_string(to_string(all.feed_forward)));
  out += ruled;
  for (const auto& [key, at] : {std::pair("embedding", stack.embedding), std::pair("final", stack.final)})
    if (at != NormKind::None) out += fmt::format("{} = true\n", key);
  for (const StackSlotRow* slot : stack_slots())
    if (!slot->tidied && norm_at(stack, slot->key) != NormKind::None)
      out += fmt::format("{} = true\n", slot->key);
  if (own) out += fmt::format("norm = {}\n", toml_string(short_name(form.own)));
  for (const StackSlotRow* slot : stack_slots())
    if (const std::string_view words = words_at(stack, slot->key); !words.empty())
      out += fmt::format("{} = {}\n", slot->key, toml_string(std::string(words)));
  return out + layer_lines(stack, all, context.has_cross());
}

std::string scaled(const Scale& scale, const char* letter, const std::string& what) {
  switch (scale.kind) {
    case Scale::Kind::Constant:
      return fmt::format("{:.3g}·{}", scale.value, what);
    case Scale::Kind::LearnedScalar:
      return letter + what;
    case Scale::Kind::LearnedVector:
    case Scale::Kind::Toward:
      return fmt::format("{}⊙{}", letter, what);
    default:
      return what;
  }
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
    throw Error("{}: {}", placement.at, error.message);
  }
}

std::string placements_folder() {
  if (const char* set = std::getenv("NORMSCOPE_PLACEMENTS"); set && *set) return set;
  const std::string folder = config_folder();
  return folder.empty() ? "" : (fs::path(folder) / kPlacementsName).string();
}

std::vector<Message> load_placements(const std::string& folder) {
  std::vector<Message> refused;
  std::error_code none;
  if (folder.empty() || !fs::is_directory(folder, none)) return refused;
  std::string error;
  for (const std::string& path : files_in(folder, kMaxFiles, error)) {
    if (fs::path(path).extension() != ".toml") continue;
    try {
      offer(parse_placement(read_input_file(path, input::kPlacement), path));
    } catch (const Error& wrong) {
      refused.push_back(wrong.message);
    }
  }
  if (!error.empty()) refused.push_back({"{}: {}", folder, error});
  return refused;
}

std::string formula_of(const Wiring& w) {
  const auto normed = [](WiredNorm norm, const std::string& what) {
    return norm == NormKind::None ? what : "N(" + what + ")";
  };
  const std::string x = w.enter == NormKind::None ? "x" : "h";
  std::string in = normed(w.before, w.parallel ? "x₀" : x);
  if (w.pre_scale != 1) in = fmt::format("{:.3g}·{}", w.pre_scale, in);
  const std::string branch = scaled(w.branch, "α", normed(w.after, "f(" + in + ")"));
  const bool normed_sum = w.stream != NormKind::None;
  const ResidualRow* scaled_by = factor_of(w);
  const std::string factor(scaled_by ? scaled_by->factor : ""),
      passed = normed_sum ? factor + x : x,
      carried = w.branch.kind == Scale::Kind::Toward ? "(1 − α)⊙" + passed : scaled(w.skip, "λ", passed);
  const std::string sum = carried + " + " + branch + (w.bottom ? " + x₀" : "");
  return (x == "h" ? "h = N(x); " : "") +
         (scaled_by && !normed_sum ? factor + "(" + sum + ")" : normed(w.stream, sum));
}

std::string placement_text(const std::string& name, const std::string& label, const StackWiring& stack,
                           NormKind norm, const StackContext& context) {
  for (const NormKind own : {NormKind::None, stack.embedding.kind, stack.final.kind})
    for (const bool rules : {true, false}) {
      if (own == NormKind::LayerNorm) continue;
      const std::string text = text_of(name, label, stack, norm, context, {rules, own});
      const PlacementFile read = parse_placement(text, name + ".toml");
      if (preset_stack(read.row(), norm, context) == stack) return text;
    }
  fail("placement",
       "a norm of this wiring is LayerNorm beside another of the model, or one of the whole stack "
       "is not the model's: expected the model's kind there");
}

}  // namespace normscope
