// The writing half of config_file.h, and edits as text.
#include <map>
#include <string_view>
#include <utility>

#include "engine/core/error.h"
#include "training/files/config_file.h"
#include "training/io/atomic_file.h"
#include "training/io/toml_json.h"

namespace normscope {

namespace {

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
