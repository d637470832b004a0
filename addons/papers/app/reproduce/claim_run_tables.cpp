#include "addons/papers/app/reproduce/claim_run_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "addons/translation/training/pairs_task.h"
#include "app/course/reading/measure_tables.h"
#include "engine/core/error.h"

namespace normscope::reproduce {
namespace {

constexpr size_t kMostCells = 200;
constexpr size_t kControlAxes = 2, kControlValues = 3;
/// Tells the models of a claim apart, so that the runs of any claim may differ in it.
constexpr std::string_view kOfAModel[] = {"run.name", "model.placement", "model.encoder_placement",
                                          "model.norm", "model.init"};

/// Requires at least three initialisations and three rates, because the best of fewer tries is no best.
void refuse_few(const Control& control, const Table& t) {
  const bool enough = control.axes.size() == kControlAxes &&
                      std::all_of(control.axes.begin(), control.axes.end(), [](const grid::Axis& axis) {
                        return axis.values.size() >= kControlValues;
                      });
  if (!enough)
    t.refuse("best_of",
             "expected two axes of three values or more, as \"model.init=xavier,normal002,fixup\" and "
             "\"train.lr=1e-3,2e-3,4e-3\"");
}

/// Finds the files of runs on sentence pairs in `folder`, or replaces those runs by runs on made-up data.
void find_pairs(Claim& claim, Table& t, const std::string& folder) {
  std::vector<course::LessonRun>& runs = claim.language.runs;
  std::vector<course::LessonRun> made_up;
  for (auto& [id, child] : t.children("made_up")) made_up.push_back(course::read_run(id, child));
  bool on_pairs = false;
  for (course::LessonRun& run : runs)
    for (std::string* name : {&run.spec.data.added.of<PairsData>().path, &run.spec.data.valid_path}) {
      if (run.spec.data.name != "pairs" || name->empty()) continue;
      on_pairs = true;
      if (name->find('/') != name->npos)
        t.refuse("run", Message("'{}' names a folder: expected a file among the sentence pairs", *name));
      std::error_code error;
      if (!folder.empty()) *name = (std::filesystem::path(folder) / *name).string();
      if (claim.missing.empty() && (folder.empty() || !std::filesystem::is_regular_file(*name, error)))
        claim.missing = *name;
    }
  const auto same_id = [](const auto& a, const auto& b) { return a.id == b.id; };
  if (on_pairs ? !std::equal(runs.begin(), runs.end(), made_up.begin(), made_up.end(), same_id)
               : !made_up.empty())
    t.refuse(made_up.empty() ? "run" : "made_up",
             "expected [made_up.NAME] for every [run.NAME] of a claim on sentence pairs, and no other");
  if (!on_pairs) return;
  claim.data = claim.missing.empty() ? kOnPairs : kOnMadeUp;
  if (!claim.missing.empty()) claim.pair_runs = std::exchange(runs, std::move(made_up));
}

/// Asks for "best_of" first, because read_run() takes every key that was not read before.
void read_run_or_control(Claim& claim, const std::string& id, Table& t) {
  const bool is_control = !t.texts("best_of").empty();
  claim.language.runs.push_back(course::read_run(id, t));
  if (!is_control) return;
  claim.controls.push_back({id, read_axes("best_of", claim.language.runs.back().spec, t)});
  refuse_few(claim.controls.back(), t);
}

void read_subject(Claim& claim, Table& t) {
  claim.subject = t.texts("subject");
  for (const std::string& key : claim.subject)
    if (!find_field(key))
      t.refuse("subject", Message("'{}' is no field of a run: expected fields as train.warmup", key));
}

/// The fields in which two runs differ, those of the claim's subject apart.
std::vector<std::string_view> differing(const RunSpec& a, const RunSpec& b, const Claim& claim) {
  const auto among = [](const auto& keys, std::string_view key) {
    return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
  };
  std::vector<std::string_view> keys;
  for (const Field& field : spec_fields())
    if (!among(kOfAModel, field.key) && !among(claim.subject, field.key) && field.get(a) != field.get(b))
      keys.push_back(field.key);
  return keys;
}

/// Refuses a run that shares its settings with no other: what a source compares in one setting would
/// be compared across two. A control is the best of many settings, and stands apart.
void refuse_lone_arm(const Claim& claim, const Table& t) {
  std::vector<const course::LessonRun*> arms;
  for (const course::LessonRun& run : claim.language.runs)
    if (!claim.control(run.id)) arms.push_back(&run);
  for (const course::LessonRun* arm : arms) {
    std::optional<std::vector<std::string_view>> nearest;
    for (const course::LessonRun* other : arms) {
      if (other == arm) continue;
      std::vector<std::string_view> keys = differing(arm->spec, other->spec, claim);
      if (!nearest || keys.size() < nearest->size()) nearest = std::move(keys);
    }
    if (nearest && !nearest->empty())
      t.refuse("subject", Message("'{}' shares its settings with no other run; the nearest differs in {}: "
                                  "expected one value for both, or what the claim is about in subject",
                                  arm->id, fmt::join(*nearest, ", ")));
  }
}

}  // namespace

const course::LessonRun& run_of(const course::Lesson& language, const std::string& id, const char* key,
                                const Table& t) {
  const course::LessonRun* run = language.run(id);
  if (!run) t.refuse(key, Message("'{}' is not in this claim: expected a run of it", id));
  return *run;
}

std::vector<grid::Axis> read_axes(const char* key, const RunSpec& base, Table& t) {
  std::vector<grid::Axis> axes;
  size_t cells = 1;
  for (const std::string& text : t.texts(key)) {
    try {
      axes.push_back(grid::axis_from(text, base));
    } catch (const Error& error) {
      t.refuse(key, error.message);
    }
    cells *= axes.back().values.size();
  }
  if (axes.empty() || axes.size() > 2) t.refuse(key, "expected one or two texts, as \"train.lr=1e-3,3e-3\"");
  if (cells > kMostCells) t.refuse(key, Message("{} cells: expected at most {}", cells, kMostCells));
  return axes;
}

void read_runs(Claim& claim, Table& t, const std::string& pairs) {
  course::Lesson& language = claim.language;
  for (auto& [id, child] : t.children("run")) {
    if (std::string from = child.text("from", ""); !from.empty()) claim.starts[id] = std::move(from);
    read_run_or_control(claim, id, child);
  }
  if (language.runs.empty()) t.refuse("run", "is missing: expected [run.NAME], one at least");
  for (auto& [id, child] : t.children("run"))
    if (const auto start = claim.starts.find(id); start != claim.starts.end()) {
      run_of(language, start->second, "from", child);
      if (claim.starts.contains(start->second))
        child.refuse("from", Message("'{}' starts from another run itself: expected one that starts afresh",
                                     start->second));
      if (claim.control(id) || claim.control(start->second))
        child.refuse("from", "with best_of: expected runs whose settings are known before any is trained");
    }
  find_pairs(claim, t, pairs);
  read_subject(claim, t);
  refuse_lone_arm(claim, t);
}

}  // namespace normscope::reproduce
