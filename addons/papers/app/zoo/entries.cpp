#include "addons/papers/app/zoo/entries.h"

#include <algorithm>
#include <set>

#include "addons/papers/app/zoo/table.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/io/text.h"

namespace normscope::zoo {
namespace {

/// Takes each layer from a preset of its own: layer l of `count` takes pick(l, count).
template <typename Pick>
void mix_layers(RunSpec& spec, std::string_view names, Pick pick) {
  std::vector<StackWiring> presets;
  const StackContext context = context_of(spec.model, spec.model.architecture != Architecture::Encoder);
  for (const std::string_view name : split(names, ','))
    if (!name.empty()) presets.push_back(preset_stack(placement_from(name), spec.model.norm, context));
  if (presets.empty()) fail("layers", "'{}' names no placement: expected such as post,pre", names);
  StackWiring& stack = spec.model.stack();
  const size_t count = stack.layers.size();
  for (size_t l = 0; l < count; ++l) {
    const StackWiring& from = presets[pick(l, count, presets.size())];
    stack.layers[l] = from.layers[l];
    stack.final = from.final;
  }
  complete(spec);
}

bool covers(const Entry& entry, std::string_view key, std::string_view value) {
  const std::string wanted = fmt::format("{}={}", key, value);
  return std::find(entry.set.begin(), entry.set.end(), wanted) != entry.set.end();
}

/// Returns "" where there is no text, because test_zoo reports which entry lacks one.
std::string said(const std::string& key) {
  const std::string* text = words::of_window().find(key);
  return text ? *text : "";
}

/// The title and source of one value of a setting, such as "norm" and "rms".
struct ValueWords {
  std::string title, source;
  ValueWords(std::string_view setting, std::string_view value)
      : ValueWords(setting == "norm" ? fmt::format("norms.{}", value)
                                     : fmt::format("zoo.{}.{}", setting, value)) {}

 private:
  explicit ValueWords(const std::string& key) : title(said(key + ".title")), source(said(key + ".source")) {}
};

/// Adds rows for the values of a setting that no row has: on Post-LN, where a remedy shows, and on
/// Pre-LN, where harm shows.
void add_missing(std::vector<Entry>& all, Group group, std::string_view key, std::string_view standard) {
  const Field* field = find_field(key);
  if (!field) return;
  for (const std::string_view value : field->choices) {
    if (value == standard || value == "none") continue;
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const Entry& entry) { return covers(entry, key, value); });
    if (known) continue;
    const ValueWords words(key.substr(key.find('.') + 1), value);
    for (const char* placement : {"post", "pre"}) {
      Entry entry;
      entry.group = group;
      entry.name = fmt::format("{}-{}", placement, value);
      entry.title = fmt::format("{}, {}", label(placement_from(placement)),
                                words.title.empty() ? value : std::string_view(words.title));
      entry.source = words.source;
      entry.set = {fmt::format("model.placement={}", placement), fmt::format("{}={}", key, value)};
      all.push_back(std::move(entry));
    }
  }
}

void add_placements(std::vector<Entry>& all) {
  for (const Placement placement : kPresets) {
    const std::string name = to_string(placement);
    const bool own_row =
        std::any_of(rows().begin(), rows().end(), [&](const EntryRow& row) { return row.name == name; });
    if (own_row) continue;
    all.push_back(
        {name, label(placement), row_of(placement).source, {"model.placement=" + name}, Group::Placements});
  }
}

/// Adds each system with every kind of norm of Xu et al. (2019), with RMSNorm, and without a norm.
void add_systems(std::vector<Entry>& all) {
  for (const System& system : systems())
    for (const NormKind kind : kNormKinds) {
      if (!traits_of(kind).has_statistics) continue;
      const bool none = kind == NormKind::None;
      const std::string value = short_name(kind);
      const ValueWords words("norm", none ? "none" : value);
      Entry entry;
      entry.group = system.group;
      entry.name = fmt::format("{}-{}", system.prefix, value);
      entry.title = words.title;
      entry.source = words.source;
      if (*system.set) entry.set.emplace_back(system.set);
      entry.set.push_back(none ? "model.placement=none" : "model.norm=" + value);
      all.push_back(std::move(entry));
    }
}

std::vector<Entry> make_entries() {
  std::vector<Entry> all;
  add_placements(all);
  for (const EntryRow& row : rows())
    all.push_back({row.name, said(fmt::format("zoo.entry.{}.title", row.name)),
                   said(fmt::format("zoo.entry.{}.source", row.name)), row.set, row.group});
  add_missing(all, Group::Norms, "model.norm", "ln");
  add_missing(all, Group::Inits, "model.init", "xavier");
  add_missing(all, Group::Optimizers, "train.optimizer", "adam");
  add_missing(all, Group::Schedules, "train.schedule", "constant");
  add_systems(all);
  std::stable_sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.group < b.group; });
  return all;
}

}  // namespace

const char* to_string(Group group) {
  constexpr const char* names[] = {"placements", "norms",  "inits",   "optimizers", "schedules",
                                   "remedies",   "images", "parsing", "memory",     "own"};
  return names[static_cast<size_t>(group)];
}

const std::string& title(Group group) { return words::say(fmt::format("zoo.group.{}", to_string(group))); }

const System* system_of(Group group) {
  for (const System& system : systems())
    if (system.group == group) return &system;
  return nullptr;
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = make_entries();
  return all;
}

std::vector<Entry> entries_named(std::string_view names, const std::vector<Entry>& own) {
  std::vector<Entry> all = entries();
  all.insert(all.end(), own.begin(), own.end());
  std::vector<std::string_view> wanted = split(names, ',');
  std::erase(wanted, std::string_view());
  std::set<std::string_view> missing(wanted.begin(), wanted.end());
  std::vector<Entry> chosen;
  for (const Entry& entry : all) {
    const bool by_name = std::find(wanted.begin(), wanted.end(), entry.name) != wanted.end();
    const bool by_group = std::find(wanted.begin(), wanted.end(), to_string(entry.group)) != wanted.end();
    missing.erase(entry.name);
    missing.erase(to_string(entry.group));
    if (by_name || by_group || wanted.empty()) chosen.push_back(entry);
  }
  if (!missing.empty()) {
    std::vector<std::string> known;
    for (const Group group : kGroups) known.emplace_back(to_string(group));
    for (const Entry& entry : all) known.push_back(entry.name);
    fail("zoo", "'{}' is not in the zoo: expected names among {}", *missing.begin(), fmt::join(known, ", "));
  }
  return chosen;
}

void change(RunSpec& spec, std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == assignment.npos) fail("zoo", "'{}': expected KEY=VALUE, as train.lr=1e-3", assignment);
  const std::string_view key = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  if (key == "layers.cycle")
    mix_layers(spec, value, [](size_t l, size_t, size_t presets) { return l % presets; });
  else if (key == "layers.halves")
    mix_layers(spec, value, [](size_t l, size_t count, size_t presets) { return l * presets / count; });
  else
    set_field(spec, key, value);
}

}  // namespace normscope::zoo
