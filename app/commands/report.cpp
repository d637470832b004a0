#include "app/commands/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "training/measure/verdict.h"
#include "training/spec/spec.h"
#include "training/spec/spec_fields.h"

namespace normscope::commands {
namespace {

/// The number of the batch of a run's first update.
constexpr uint64_t kFirstBatch = 1;

/// How much the sources must be worth for a translation to be one, in nats (the plateau's own margin).
constexpr double kSourceUse = 0.1;

/// Follows the rule of training/measure/verdict.h. An encoder-decoder may leave the level of word
/// frequencies and still write sentences that have nothing to do with what it read: then its decoder alone has learned
/// the language.
std::string verdict_text(RunState state, const History& history, double source_use) {
  normscope::Verdict verdict = verdict_of(history);
  // A history that was cut may lack an event of long ago; what the run itself says counts.
  if (state == RunState::Stuck) verdict.kind = normscope::Verdict::Kind::Stuck;
  if (verdict.kind == normscope::Verdict::Kind::Learns && source_use < kSourceUse)
    return "ignores the source";
  return to_string(verdict);
}

std::string number(double value, const char* format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "–";
}

/// "letter frequencies"; "symbol frequencies" where the runs read different symbols.
std::string level_name(const std::vector<RunResult>& results) {
  std::string unit = results.empty() ? "" : results.front().data.unit;
  for (const RunResult& r : results)
    if (r.data.unit != unit) unit.clear();
  return frequencies_of(unit);
}

}  // namespace

RunResult result_of(RunLabel label, const RunSpec& spec, std::vector<Edit> edits, RunState state,
                    const History& history, const Task& task, double validation, double milliseconds,
                    double source_use) {
  RunResult out;
  out.label = label;
  out.spec = spec;
  out.edits = std::move(edits);
  out.data = identity_of(spec.data, task);
  out.name = spec.name.empty() ? default_name(spec) : spec.name;
  const ArchitectureRuns* added = added_runs(spec.model.architecture);
  out.wiring = added && !added->wiring.empty()
                   ? std::string(added->wiring)
                   : normscope::label(placement_of(spec.model.stack(), context_of(spec.model, true)));
  out.state = to_string(state);
  out.verdict = verdict_text(state, history, source_use);
  out.validation = validation;
  out.milliseconds = milliseconds;
  out.loss = out.unigram = std::numeric_limits<double>::quiet_NaN();

  const Series loss = history.loss();
  if (loss.values.empty()) return out;
  out.step = loss.steps.back();
  out.window = std::min(loss_window(out.step, out.edits), static_cast<int32_t>(loss.values.size()));
  double sum = 0;
  for (size_t i = loss.values.size() - static_cast<size_t>(out.window); i < loss.values.size(); ++i) {
    sum += loss.values[i];
  }
  out.loss = sum / out.window;
  const uint64_t end = static_cast<uint64_t>(out.step) + kFirstBatch;
  out.unigram =
      unigram_cross_entropy(task, spec.seed, end - static_cast<uint64_t>(out.window), end, spec.train.batch,
                            spec.model.sequence, static_cast<double>(spec.train.label_smoothing));
  return out;
}

experiments::Table table(const std::vector<RunResult>& results, bool clock) {
  using experiments::Kind;
  experiments::Table table{{{"run", "run"},
                            {"seed", "seed", Kind::Number},
                            {"name", "", Kind::Data},
                            {"wiring", "wiring"},
                            {"warmup", "warm-up", Kind::Number},
                            {"verdict", "verdict"},
                            {"steps", "", Kind::Data},
                            {"window", "", Kind::Data},
                            {"", "last steps", Kind::Number},
                            {"loss", "loss", Kind::Number},
                            {"unigram", level_name(results), Kind::Number},
                            {"difference", "difference", Kind::Number},
                            {"validation", "validation", Kind::Number},
                            {"", "ms/step", clock ? Kind::Number : Kind::Data}}};
  const auto scored = std::ranges::find_if(results, [](const RunResult& r) { return !r.scores.empty(); });
  const std::vector<Score> columns = scored == results.end() ? std::vector<Score>() : scored->scores;
  for (const Score& score : columns) table.columns.push_back({score.key, score.name, Kind::Number});
  for (const RunResult& r : results) {
    const auto cell = [](double value, const char* format) {
      return experiments::Cell(value, number(value, format));
    };
    table.rows.push_back({std::string(1, r.label.letter), r.label.seed, r.name, r.wiring,
                          r.spec.train.schedule.warmup, r.verdict, r.step, r.window,
                          fmt::format("{}-{}", r.step - r.window + 1, r.step), cell(r.loss, "{:.3f}"),
                          cell(r.unigram, "{:.3f}"), cell(r.loss - r.unigram, "{:+.3f}"),
                          cell(r.validation, "{:.3f}"), cell(r.milliseconds, "{:.1f}")});
    for (const Score& column : columns) {
      const auto own = std::ranges::find(r.scores, column.key, &Score::key);
      table.rows.back().push_back(cell(own == r.scores.end() ? NAN : own->value, "{:.2f}"));
    }
  }
  return table;
}

}  // namespace normscope::commands
