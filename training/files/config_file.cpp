// Reading, then writing. toml++ keeps the line of every node, for the error messages.
#include "training/files/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "engine/core/error.h"
#include "engine/io/output_file.h"
#include "training/files/placement_file.h"
#include "training/io/input_kinds.h"
#include "training/io/toml.h"
#include "training/run/checkpoint.h"

namespace normscope {
namespace {

constexpr std::string_view kLetters = "ABCD";

/// Where errors point to.
struct Place {
  const std::string& file;
  [[noreturn]] void refuse(const toml::source_region& at, const Message& message) const {
    constexpr size_t kLongest = 500;  // as it quotes from the file
    throw Error("{}:{}: {}", file, at.begin.line, on_one_line(message, kLongest));
  }
};

struct Assignment {
  const toml::node* value;
  toml::source_region at;  // the key's
};
/// By dotted key: "train.warmup", "wiring.L03.attn".
using Assignments = std::map<std::string, Assignment>;

/// The value as text when it has the field's type.
std::optional<std::string> text_of(const toml::node& node, FieldType type) {
  switch (type) {
    case FieldType::Integer:
      if (node.is_integer()) return std::to_string(*node.value<int64_t>());
      break;
    case FieldType::Real:
      if (node.is_integer()) return std::to_string(*node.value<int64_t>());
      if (node.is_floating_point()) return fmt::format("{}", *node.value<double>());
      break;
    case FieldType::Flag:
      if (node.is_boolean()) return *node.value<bool>() ? "true" : "false";
      break;
    case FieldType::Choice:
    case FieldType::Text:
      if (node.is_string()) return *node.value<std::string>();
      break;
  }
  return std::nullopt;
}

Message expected(const Field& field) {
  switch (field.type) {
    case FieldType::Integer:
      return Message("a whole number from {} to {}", field.low, field.high);
    case FieldType::Real:
      return Message("a number from {} to {}", field.low, field.high);
    case FieldType::Flag:
      return "true or false";
    case FieldType::Text:
      return "text in quotes";
    case FieldType::Choice:
      return Message("one of \"{}\"", fmt::join(choices_of(field), "\", \""));
  }
  return "";
}

bool is_wiring(std::string_view key) { return key.starts_with("wiring."); }

void check_known(const Place& place, const std::string& key, const toml::source_region& at) {
  try {
    is_live(key);
  } catch (const Error& error) {
    place.refuse(at, error.message);
  }
}

/// Flattens the scalars of `table` to dotted keys below `prefix`.
void collect(const Place& place, const toml::table& table, const std::string& prefix, Assignments& out) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + "." + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      // wiring.L01, and in an encoder-decoder wiring.enc with wiring.enc.L01.
      const auto depth = std::ranges::count(name, '.');
      const bool stack = name.starts_with("wiring.enc") || name.starts_with("wiring.dec");
      const bool group = is_wiring(name + ".") && (depth == 1 || (depth == 2 && stack));
      if (!group) place.refuse(key.source(), Message("[{}] {}", name, "unknown table"));
      collect(place, *inner, name, out);
      continue;
    }
    check_known(place, name, key.source());
    out.insert_or_assign(name, Assignment{&node, key.source()});
  }
}

/// [run] or [run.A]: `name` and `seed`, and in a run's own table the groups model, train, data, wiring.
struct RunTable {
  Assignments values;
  const toml::node* edits = nullptr;
};

void collect_group(const Place& place, const toml::key& key, const toml::node& node, Assignments& out) {
  const std::string name(key.str());
  const toml::table* table = node.as_table();
  if (!table)
    place.refuse(key.source(), Message("[{}] {}", name, Message("{}: expected a table", what_it_is(node))));
  collect(place, *table, name, out);
}

bool is_letter(std::string_view key) { return key.size() == 1 && kLetters.find(key[0]) != kLetters.npos; }
bool is_group(std::string_view name) {
  return name == "model" || name == "train" || name == "data" || name == "wiring";
}

/// Reads [run] (`own` false), where tables A to D are runs of their own, or one of these.
RunTable collect_run(const Place& place, const toml::table& table, bool own, const std::string& title) {
  RunTable run;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (!own && is_letter(name) && node.is_table()) continue;
    if (name == "edits") {
      run.edits = &node;
    } else if (own && is_group(name)) {
      collect_group(place, key, node, run.values);
    } else if (find_field("run." + name)) {
      run.values.insert_or_assign("run." + name, Assignment{&node, key.source()});
    } else {
      place.refuse(key.source(),
                   Message("[{}.{}] {}", title, name,
                           own ? "unknown key: expected name, seed, edits, model, train, data or wiring"
                               : "unknown key: expected name, seed, edits or a run A to D"));
    }
  }
  return run;
}

void assign(const Place& place, RunSpec& spec, const std::string& key, const Assignment& assignment,
            const std::string& folder) {
  const toml::node& node = *assignment.value;
  const Field* field = find_field(key);
  std::optional<std::string> text = text_of(node, field ? field->type : FieldType::Text);
  if (!text) {
    place.refuse(assignment.at,
                 Message("[{}] {}", key,
                         Message("{}: expected {}", what_it_is(node),
                                 field ? expected(*field) : "a wiring in quotes, as \"before=ln\"")));
  }
  if (field && field->file && !text->empty() && !folder.empty() &&
      std::filesystem::path(*text).is_relative()) {
    text = (std::filesystem::path(folder) / *text).lexically_normal().string();
  }
  try {
    set_field(spec, key, *text);
  } catch (const Error& error) {
    place.refuse(assignment.at, error.message);
  }
}

/// Orders keys as the field table, where fields are in the order in which they must be set; single wirings come last.
size_t rank(std::string_view key) {
  const std::vector<Field>& fields = spec_fields();
  const auto at = std::ranges::find(fields, key, &Field::key);
  return static_cast<size_t>(at - fields.begin());
}

Edit read_edit(const Place& place, const toml::node& node, const RunSpec& spec) {
  const toml::table* table = node.as_table();
  if (!table)
    place.refuse(node.source(), Message("[{}] {}", "edits",
                                        Message("{}: expected {{ step, key, value }}", what_it_is(node))));
  Edit edit;
  bool has_step = false;
  for (const auto& [key, value] : *table) {
    const std::string name(key.str());
    if (name == "step" && value.is_integer() && *value.value<int64_t>() >= 0 &&
        *value.value<int64_t>() <= kLastEdit) {
      edit.step = static_cast<int32_t>(*value.value<int64_t>());
      has_step = true;
    } else if (name == "key" && value.is_string()) {
      edit.key = *value.value<std::string>();
    } else if (name == "value" && !value.is_array() && !value.is_table()) {
      for (FieldType type : {FieldType::Real, FieldType::Flag, FieldType::Text}) {
        if (auto text = text_of(value, type)) edit.value = *text;
      }
    } else {
      place.refuse(key.source(),
                   Message("[edits.{}] {}", name,
                           Message("{}: expected step = a whole number, key = \"train.lr\", value = a number "
                                   "or text",
                                   what_it_is(value))));
    }
  }
  if (!has_step || edit.key.empty() || edit.value.empty()) {
    place.refuse(node.source(), Message("[{}] {}", "edits", "an edit needs step, key and value"));
  }
  try {
    check_edit(spec, edit);
  } catch (const Error& error) {
    place.refuse(node.source(), error.message);
  }
  return edit;
}

/// The assignment that an error of the whole run is about, "[model] width 63 is not a multiple ..." or
/// "[data.text] ... because data.name is text": the first one whose key occurs in the error; nullptr: none.
const Assignment* blamed(const Assignments& all, std::string_view error) {
  const size_t close = error.find(']');
  if (!error.starts_with("[") || close == error.npos) return nullptr;
  const std::string title(error.substr(1, close - 1));
  if (const auto at = all.find(title); at != all.end()) return &at->second;
  const std::string group = title.substr(0, title.find('.')) + ".";
  constexpr std::string_view kBetween = " ,:;'";
  for (size_t begin = close + 1; begin < error.size();) {
    const size_t end = std::min(error.find_first_of(kBetween, begin), error.size());
    const std::string word(error.substr(begin, end - begin));
    for (const std::string& key : {word, group + word})
      if (const auto at = all.find(key); at != all.end()) return &at->second;
    begin = end + 1;
  }
  return nullptr;
}

ConfigRun build_run(const Place& place, char letter, const Assignments& shared, const RunTable& own,
                    const std::string& folder) {
  Assignments all = shared;
  for (const auto& [key, assignment] : own.values) all.insert_or_assign(key, assignment);
  std::vector<std::pair<size_t, const Assignments::value_type*>> order;
  for (const auto& entry : all) order.emplace_back(rank(entry.first), &entry);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first < b.first; });

  ConfigRun run;
  run.letter = letter;
  for (const auto& [_, entry] : order) assign(place, run.spec, entry->first, entry->second, folder);
  try {
    validate(run.spec);
  } catch (const Error& error) {
    const Message message("run {}: {}", letter, error.message);
    if (const Assignment* assignment = blamed(all, error.what())) place.refuse(assignment->at, message);
    throw Error("{}: {}", place.file, message);
  }
  if (own.edits) {
    const toml::array* list = own.edits->as_array();
    if (!list || list->size() > kMaxEdits)
      place.refuse(own.edits->source(),
                   Message("[{}] {}", "edits",
                           Message("{}: expected a list of at most {}", what_it_is(*own.edits), kMaxEdits)));
    for (const toml::node& node : *list) run.edits.push_back(read_edit(place, node, run.spec));
  }
  std::ranges::stable_sort(run.edits, {}, &Edit::step);
  run.edits = portable_edits(run.spec, std::move(run.edits));
  return run;
}

/// The value of a field as TOML. A real number always shows that it is one.
std::string toml_value(const Field& field, const std::string& text) {
  if (field.type == FieldType::Choice || field.type == FieldType::Text) return toml_string(text);
  if (field.type == FieldType::Real && text.find_first_of(".einf") == text.npos) return text + ".0";
  return text;
}

struct Entry {
  std::string key, value;  // full key, TOML value
};

/// Lists everything that says what a run is, in the order of the field table.
std::vector<Entry> entries_of(const RunSpec& spec) {
  std::vector<Entry> entries;
  for (const auto& [key, text] : field_values(spec)) {
    if ((key == "data.text" || key == "train.milestones" || key == "run.name") && text.empty()) continue;
    const Field* field = find_field(key);
    entries.push_back({key, field ? toml_value(*field, text) : toml_string(text)});
  }
  return entries;
}

std::string edits_line(const std::vector<Edit>& edits) {
  std::string out = "edits = [";
  for (size_t i = 0; i < edits.size(); ++i) {
    const Field* field = find_field(edits[i].key);
    out += fmt::format("{}\n  {{ step = {}, key = {}, value = {} }}", i ? "," : "", edits[i].step,
                       toml_string(edits[i].key),
                       field ? toml_value(*field, edits[i].value) : toml_string(edits[i].value));
  }
  return out + "\n]\n";
}

/// Writes the tables [run], [model], ... with the entries that `keep` wants.
template <typename Keep>
void write_tables(std::string& out, const std::vector<Entry>& entries, Keep keep) {
  for (const std::string_view group : {"run", "model", "train", "data", "wiring"}) {
    bool begun = false;
    for (const Entry& entry : entries) {
      if (!entry.key.starts_with(std::string(group) + ".") || !keep(entry)) continue;
      if (!begun) {
        out += fmt::format("\n[{}]\n", group);
        begun = true;
      }
      out += fmt::format("{} = {}\n", entry.key.substr(group.size() + 1), entry.value);
    }
  }
}

}  // namespace

std::vector<ConfigRun> parse_config(std::string_view text, const std::string& name,
                                    const std::string& folder) {
  const Place place{name};
  const toml::table root = parse_toml(text, name);
  Assignments shared;
  RunTable whole;
  std::vector<std::pair<char, RunTable>> runs;
  for (const auto& [key, node] : root) {
    const std::string group(key.str());
    if (group == "window") continue;
    if (is_group(group)) {
      collect_group(place, key, node, shared);
      continue;
    }
    const toml::table* table = node.as_table();
    if (group != "run" || !table) {
      place.refuse(key.source(),
                   Message("[{}] {}", group, "unknown table: expected run, model, train, data or wiring"));
    }
    whole = collect_run(place, *table, false, "run");
    for (const auto& [letter, own] : *table) {
      if (!is_letter(letter.str()) || !own.is_table()) continue;
      const std::string title = "run." + std::string(letter.str());
      runs.emplace_back(letter.str()[0], collect_run(place, *own.as_table(), true, title));
    }
  }
  for (const auto& [key, assignment] : whole.values) shared.insert_or_assign(key, assignment);
  std::vector<ConfigRun> out;
  if (runs.empty()) {
    out.push_back(build_run(place, 'A', shared, whole, folder));
    return out;
  }
  if (whole.edits)
    place.refuse(whole.edits->source(),
                 Message("[{}] {}", "run.edits", "edits belong to one run, as [run.A]"));
  for (const auto& [letter, own] : runs) out.push_back(build_run(place, letter, shared, own, folder));
  return out;
}

std::vector<ConfigRun> read_config(const std::string& path) {
  if (const ModelFormat* format = format_of_model(path)) return {{.spec = format->run(path), .edits = {}}};
  const std::string text = read_input_file(path, input::kConfig);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::vector<Message> refused = load_placements((folder / kPlacementsName).string());
  if (!refused.empty()) throw Error(refused.front());  // the runs may be of the placement that it is
  return parse_config(text, path, folder.string());
}

std::string write_config(std::span<const ConfigRun> runs) {
  std::vector<std::vector<Entry>> all;
  for (const ConfigRun& run : runs) all.push_back(entries_of(run.spec));
  std::string out = "# normscope configuration: docs/configuration.md says what each key means.\n";
  if (all.empty()) return out;
  if (all.size() == 1 && runs[0].letter == 'A') {
    write_tables(out, all[0], [](const Entry& entry) { return entry.key.starts_with("run."); });
    if (!runs[0].edits.empty()) out += edits_line(runs[0].edits);
    write_tables(out, all[0], [](const Entry& entry) { return !entry.key.starts_with("run."); });
    return out;
  }
  std::map<std::pair<std::string_view, std::string_view>, size_t> runs_with;
  for (const std::vector<Entry>& entries : all)
    for (const Entry& entry : entries) ++runs_with[{entry.key, entry.value}];
  const auto shared = [&](const Entry& entry) {
    return entry.key != "run.name" && runs_with[{entry.key, entry.value}] == all.size();
  };
  write_tables(out, all[0], shared);
  for (size_t i = 0; i < all.size(); ++i) {
    out += fmt::format("\n[run.{}]\n", runs[i].letter);
    for (const Entry& entry : all[i]) {
      if (shared(entry)) continue;
      const bool own = entry.key.starts_with("run.");
      out += fmt::format("{} = {}\n", own ? entry.key.substr(4) : entry.key, entry.value);
    }
    if (!runs[i].edits.empty()) out += edits_line(runs[i].edits);
  }
  return out;
}

void save_config(const std::string& path, std::span<const ConfigRun> runs) {
  write_file(path, write_config(runs), "configuration");
}

Edit parse_edit(std::string_view text) {
  Edit edit = edit_from(text);
  if (edit.key == "lr") edit.key = "train.lr";
  if (edit.key == "warmup") edit.key = "train.warmup";
  return edit;
}

void check_edit(const RunSpec& spec, const Edit& edit) {
  require_editable(edit.key);
  RunSpec copy = spec;
  set_field(copy, edit.key, edit.value);
}

}  // namespace normscope
