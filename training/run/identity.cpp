#include "training/run/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/cpu/isa.h"
#include "training/data/content_hash.h"

namespace normscope {
namespace {

/// Holds for files that count by the hash of their content wherever they are.
bool counts_by_hash(const RunSpec& spec, std::string_view key) {
  const TaskKind& kind = kind_of(spec.data);
  return kind.by_content && (key == kind.file || key == "data.valid" || key == "data.tokenizer");
}

bool is_read(const RunSpec& spec, const Field& field) {
  return std::ranges::all_of(field.conditions, [&](const auto& condition) { return condition.read(spec); });
}

std::string text_of(const RunSpec& origin, const std::vector<Edit>& edits, bool all, bool budget) {
  static const RunSpec standard;
  RunSpec whole = origin;
  complete(whole);
  std::string text;
  for (const auto& [key, value] : field_values(whole)) {
    if (key == "run.name" || (!budget && key == "train.steps")) continue;
    const Field* field = all || !edits.empty() ? nullptr : find_field(key);
    const bool counts = !field || (is_read(origin, *field) && !counts_by_hash(origin, key));
    text += key + "=" + (counts ? value : field->get(standard)) + "\n";
  }
  for (const Edit& edit : edits) text += "edit " + to_string(edit) + "\n";
  return text;
}

}  // namespace

std::string arithmetic_of(const Backend& backend) {
  return fmt::format("{} {}", backend.name(), cpu::choose_isa());
}

std::vector<Edit> RunIdentity::all_edits() const {
  std::vector<Edit> all = edits;
  all.insert(all.end(), scheduled.begin(), scheduled.end());
  return all;
}

RunSpec RunIdentity::spec() const {
  RunSpec now = origin;
  for (const Edit& edit : edits) set_field(now, edit.key, edit.value);
  return now;
}

std::string RunIdentity::key() const {
  std::string key = text_of(origin, all_edits(), false, false) + "data " + data.hash + "\n";
  if (!weights.empty()) key += "weights " + weights + "\n";
  if (start) key += fmt::format("from {} at {}\n", start->hash, start->step);
  for (const Arithmetic& one : arithmetic) key += fmt::format("numbers {} after {}\n", one.name, one.step);
  return key;
}

RunIdentity RunIdentity::from_scratch() const {
  RunIdentity fresh = *this;
  fresh.edits.clear();
  fresh.scheduled = all_edits();
  fresh.start.reset();
  if (!fresh.arithmetic.empty()) fresh.arithmetic = {{0, arithmetic.front().name}};
  return fresh;
}

void RunIdentity::go_on(const Backend& on, int32_t step) {
  if (start && start->step > step) start.reset();
  std::erase_if(arithmetic, [step](const Arithmetic& one) { return one.step >= step; });
  std::string name = arithmetic_of(on);
  if (arithmetic.empty() || arithmetic.back().name != name) arithmetic.push_back({step, std::move(name)});
}

RunIdentity identity_of(RunSpec origin, std::vector<Edit> edits, const Task& task, const Backend& backend) {
  fit_to_data(origin, task);
  edits = portable_edits(origin, std::move(edits));
  std::ranges::stable_sort(edits, {}, &Edit::step);
  RunIdentity run{std::move(origin), {}, std::move(edits)};
  run.data = identity_of(run.origin.data, task);
  run.weights = content_hash(run.origin.train.init_from);
  run.go_on(backend, 0);
  return run;
}

std::string settings_text(const RunSpec& origin, const std::vector<Edit>& edits) {
  return text_of(origin, edits, true, true);
}

std::string settings_read(const RunSpec& origin, const std::vector<Edit>& edits) {
  return text_of(origin, edits, false, true);
}

}  // namespace normscope
