// `edits_words` puts the edits of a run into words, those of one step together. See words.h.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "addons/compare/app/words.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "engine/model/wiring.h"

namespace normscope::compare {
namespace {

/// Counts norms that left their slot, came into one, or became another kind in it.
struct Norms {
  int32_t moved = 0, added = 0, removed = 0, changed = 0;

  void compare(const Wiring& before, const Wiring& after) {
    const auto was = norms_of(before), is = norms_of(after);
    int32_t lost = 0, gained = 0;
    for (size_t i = 0; i < was.size(); ++i) {
      lost += was[i] != NormKind::None && is[i] == NormKind::None;
      gained += was[i] == NormKind::None && is[i] != NormKind::None;
      changed += was[i] != NormKind::None && is[i] != NormKind::None && was[i] != is[i];
    }
    const int32_t both = std::min(lost, gained);
    moved += both;
    added += gained - both;
    removed += lost - both;
  }
  void compare(const StackWiring& before, const StackWiring& after, bool cross) {
    for (size_t i = 0; i < std::min(before.layers.size(), after.layers.size()); ++i) {
      compare(before.layers[i].attention, after.layers[i].attention);
      if (cross) compare(before.layers[i].cross, after.layers[i].cross);
      compare(before.layers[i].feed_forward, after.layers[i].feed_forward);
    }
  }
  std::vector<std::string> words() const {
    std::vector<std::string> all;
    const auto add = [&](int32_t count, const std::string& text) {
      if (count > 0) all.push_back(text);
    };
    add(moved, tr("{count} norm moved | {count} norms moved", {{"count", moved}}));
    add(added, tr("{count} norm added | {count} norms added", {{"count", added}}));
    add(removed, tr("{count} norm removed | {count} norms removed", {{"count", removed}}));
    add(changed, tr("{count} norm changed | {count} norms changed", {{"count", changed}}));
    return all;
  }
};

bool is_wiring(const std::string& key) {
  return key.starts_with("wiring.") || key == "model.placement" || key == "model.encoder_placement";
}

std::string setting_words(const Edit& edit) {
  const Field* field = find_field(edit.key);
  return fmt::format("{} {}", field ? words::spoken(field->label) : edit.key, edit.value);
}

/// Compares the networks before and after for the norms, where both are known, and names other keys.
std::vector<std::string> step_words(const std::vector<Edit>& edits, const std::optional<RunSpec>& before,
                                    const std::optional<RunSpec>& after) {
  std::vector<std::string> words;
  bool wired = false;
  for (const Edit& edit : edits)
    if (is_wiring(edit.key))
      wired = true;
    else if (!edit.key.starts_with("run."))  // a fork has a name of its own, which its card says
      words.push_back(setting_words(edit));
  if (!wired) return words;
  Norms norms;
  if (before && after) {
    const bool both = before->model.architecture == Architecture::EncoderDecoder;
    norms.compare(before->model.stack(), after->model.stack(), both);
    if (both) norms.compare(before->model.encoder, after->model.encoder, false);
  }
  std::vector<std::string> moved = norms.words();
  if (moved.empty()) moved.push_back(tr("wiring changed"));
  words.insert(words.begin(), moved.begin(), moved.end());
  return words;
}

std::optional<RunSpec> edited(std::optional<RunSpec> spec, const std::vector<Edit>& edits) {
  try {
    for (const Edit& edit : edits)
      if (spec) set_field(*spec, edit.key, edit.value);
  } catch (const Error&) {  // a log may contain any value
    spec.reset();
  }
  return spec;
}

}  // namespace

std::string edits_words(const Compared& run) {
  std::string text;
  std::optional<RunSpec> spec = run.origin;
  for (size_t i = 0; i < run.edits.size();) {
    const int32_t step = run.edits[i].step;
    std::vector<Edit> together;
    for (; i < run.edits.size() && run.edits[i].step == step; ++i) together.push_back(run.edits[i]);
    std::optional<RunSpec> after = edited(spec, together);
    const std::vector<std::string> words = step_words(together, spec, after);
    // An edit of step 301 is shown at step 300, which the run had done by then and where the timeline has it.
    if (!words.empty())
      text += (text.empty() ? "" : "; ") +
              tr("{edits} at {step}",
                 {{"edits", fmt::format("{}", fmt::join(words, ", "))}, {"step", std::max(step - 1, 0)}});
    spec = std::move(after);
  }
  return text.empty() ? tr("none") : text;
}

}  // namespace normscope::compare
