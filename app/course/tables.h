// The measure tables say what is trained, what is measured and when it holds: [run.NAME], [curve.NAME],
// [measure.NAME] and [[check]]. Lessons and claims of papers use these tables. Errors are as in reader.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/course/lesson.h"
#include "app/view/diagram_model.h"
#include "engine/core/error.h"
#include "training/io/codec.h"
#include "training/io/toml.h"

namespace normscope::course {

/// Reads a run's name, its edits, and any field of the specification; fields are set in the order of the
/// table of fields.
LessonRun read_run(const std::string& id, Table t);
Mean mean_of(Table& t);  ///< its key "mean"
Curve read_curve(const std::string& id, Table t);
Measure read_measure(const std::string& id, Table t);
/// Reads a check with its neighbouring hypotheses. Keys that the caller has read are not refused.
Check read_check(Table t);

/// The base of a lesson's checkers: refuse() throws Error at [table.key], and need() does so where `found` is null.
class TableChecker {
 public:
  TableChecker(const Lesson& lesson, const Table& root) : lesson_(lesson), root_(root) {}

 protected:
  [[noreturn]] void refuse(const std::string& table, const std::string& key, const Message& what) const;
  void need(const void* found, const std::string& table, const std::string& key, const std::string& name,
            const char* what) const;

  const Lesson& lesson_;
  const Table& root_;
};

/// Sets each measure's bounds, at which shown() writes "at least" or "at most", and whether it is a loss.
void set_bounds(Lesson& lesson);
/// Says of each figure's axes, from the curves of its lines, whether they are of training steps and of losses.
void set_quantities(Lesson& lesson);
/// Requires that every curve and measure named by a measure or check is in the lesson. A measure that
/// may end at a bound of its measurement (may_be_censored in check.h) must be counted or have a median, because a mean
/// of such values is unknown. Throws Error.
void check_measures(const Lesson& lesson, const Table& root);

// ---- how measured.json and a learner's own measurements are stored (training/io/codec.h)

inline constexpr size_t kMaxCurvePoints = 100'000;  ///< points
inline constexpr size_t kMaxLessonEntries = 1000;   ///< measures, curves, runs
inline constexpr size_t kMaxTextBytes = 100'000;    ///< bytes of text that a model wrote

/// A beta^2 map: row i holds the shares of the input and of the i + 1 branches before it.
struct ShareRows {
  codec::AnyNumber share{};
  static constexpr size_t kMax = 1024;

  codec::Json write(const std::vector<std::vector<double>>& rows) const {
    return codec::List{1, kMax, codec::List{1, kMax + 1, share}}.write(rows);
  }
  void read(const InputValue& json, std::vector<std::vector<double>>& rows) const {
    rows.clear();
    for (const InputValue& row : json.list(1, kMax)) {
      const size_t shares = rows.size() + 2;
      codec::List{1, shares, share}.read(row, rows.emplace_back());
    }
  }
};

// The exercise tables: [case], a new situation at the end; [[thought]], replies to wrong predictions; [challenge], a task
// for the learner's own run. The reader of lessons (course/reader.h) calls this; errors are as in reader.h.

/// Reads the question and the answers of [case], and adds their check to its experiment, of which the reader reads the
/// rest.
Case read_case(Table& t, Lesson& experiment);
/// Reads the thoughts behind wrong answers to this prediction.
std::vector<Thought> read_thoughts(Table& root, const Prediction& prediction);
Challenge read_challenge(Table t);

/// Requires checks that keep the challenge's start above the line and each measured solution (a way) below it, and
/// choices that reach every way. No text, prediction or puzzle may need a measure of a way, and no figure before the
/// explanation may show one. Throws Error.
void check_challenge(const Lesson& lesson, const Table& root);

/// Whether the curve is of a way's run. Such a curve is measured by `lesson check` only, never for a learner.
bool belongs_to_way(const Lesson& lesson, const Curve& curve);
bool belongs_to_way(const Lesson& lesson, const Measure& measure);

// ---- the key `opening`: the runs whose small diagrams a lesson opens with, and the place lit in each

/// A place of the diagram by its name: a slot ("layer1/ffn/stream", "enc/layer1/attn/before", "final",
/// "embedding"), or the scale of a skip path ("layer2/attn/skip-scale").
struct OpeningPlace {
  view::SlotId at;
  bool skip_scale = false;
};
/// Returns nothing where the model has no place of that name.
std::optional<OpeningPlace> opening_place(const ModelConfig& model, std::string_view name);

/// Reads the key `opening` from the lesson's own table, after the lesson's runs. Throws Error.
std::vector<OpeningRun> read_opening(const Lesson& lesson, Table& t);

}  // namespace normscope::course
