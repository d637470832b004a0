// Log lines are written by hand with the shortest digits that read back equal; a number that is not finite is null.
#include "app/commands/run_log.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "app/cli/terminal.h"
#include "training/io/input_kinds.h"
#include "training/measure/numbers.h"
#include "training/measure/verdict.h"
#include "training/spec/spec_fields.h"

namespace normscope::commands {
using namespace cli;
namespace {

std::string text(const std::string& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <typename Real>
void put_number(std::string& out, Real value) {
  if (std::isfinite(value))
    fmt::format_to(std::back_inserter(out), "{}", value);
  else
    out += "null";
}

/// Writes `,"uas":91.2,"las":88.1`.
void put_scores(std::string& out, std::span<const Score> scores) {
  for (const Score& score : scores) {
    out += fmt::format(",\"{}\":", score.key);
    put_number(out, static_cast<float>(score.value));
  }
}

/// `,"data":{"name":"corpus.txt","hash":"...","symbols":29,"unit":"letter"}`.
std::string data_member(const DataIdentity& data) {
  if (data.unknown()) return "";
  return fmt::format(",\"data\":{{\"name\":{},\"hash\":\"{}\",\"symbols\":{},\"unit\":{}}}", text(data.name),
                     data.hash, data.symbols, text(data.unit));
}

/// Whether the log has the gradient of a parameter: weight matrices, embeddings and the gains of norms, not biases
/// and learned scales.
bool is_told(std::string_view parameter) {
  const std::string_view last = parameter.substr(parameter.rfind('.') + 1);
  return last == "tokens" || last == "positions" || last == "gain" || last.starts_with('w');
}

/// Writes `,"critical_rate":0.0041` at the steps at which it was measured.
void put_critical(std::string& out, std::span<const StatInfo> layout, std::span<const float> stats) {
  for (size_t i = 0; i < layout.size() && i < stats.size(); ++i)
    if (layout[i].name == kCriticalStat && std::isfinite(stats[i])) {
      out += ",\"critical_rate\":";
      put_number(out, stats[i]);
    }
}

/// Writes `"largest_logit":{"L01.attn":3.1,"L01.attn.head.1":2.9,...}` at the steps at which attention was looked at.
void put_attention(std::string& out, const normscope::Number& field, std::span<const StatInfo> layout,
                   std::span<const float> stats) {
  const std::string whole = suffix_in_log(field, false), of_head = suffix_in_log(field, true);
  bool first = true;
  for (size_t i = 0; i < layout.size() && i < stats.size(); ++i) {
    const std::string_view name = layout[i].name, suffix = name.find(".head.") == name.npos ? whole : of_head;
    if (!name.ends_with(suffix) || !std::isfinite(stats[i])) continue;
    if (first) fmt::format_to(std::back_inserter(out), ",\"{}\":{{", field.field);
    fmt::format_to(std::back_inserter(out), "{}\"{}\":{}", first ? "" : ",",
                   name.substr(0, name.size() - suffix.size()), stats[i]);
    first = false;
  }
  if (!first) out += '}';
}

/// Writes `"field":{"L01.attn.wq":0.12,...}` of the numbers of a field.
void put_stats(std::string& out, const normscope::Number& field, std::span<const StatInfo> layout,
               std::span<const float> stats) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":{{", field.field);
  const std::string suffix = suffix_in_log(field, false);
  bool first = true;
  for (size_t i = 0; i < layout.size() && i < stats.size(); ++i) {
    const std::string_view name = layout[i].name;
    if (!name.ends_with(suffix)) continue;
    const std::string_view subject = name.substr(0, name.size() - suffix.size());
    if (subject.empty() || (field.of_matrix() && !is_told(subject))) continue;
    if (!first) out += ',';
    first = false;
    fmt::format_to(std::back_inserter(out), "\"{}\":", subject);
    put_number(out, stats[i]);
  }
  out += '}';
}

[[noreturn]] void refuse_to_go_on(const char* option, const std::string& path) {
  throw CommandError(
      Exit::Usage,
      fmt::format("{} {}: is no log that could be continued: expected another name", option, path));
}

/// Whether the file has lines of a log; a missing or empty file has none. Throws CommandError for any other content.
bool has_lines(const std::string& path) {
  constexpr std::string_view kBegin = "{\"format\":\"normscope log";
  if (!std::filesystem::is_regular_file(path)) return false;
  InputFile file(path, input::kLog);
  std::string begin(std::min<uint64_t>(file.size(), kBegin.size()), '\0');
  file.read(begin.data(), begin.size());
  if (begin.empty()) return false;
  if (begin == kBegin) return true;
  refuse_to_go_on("--log", path);
}

constexpr std::initializer_list<const LogForm*> kForms = {
#define LOG_FORM(form) &form,
#include "chosen/log_forms.def"
#undef LOG_FORM
};

}  // namespace

std::span<const LogForm* const> log_forms() { return kForms; }

RunLog::RunLog(const std::string& path, const DataIdentity& data, bool go_on) {
  if (path.empty()) return;
  with_exit(Exit::Internal, [&] {
    make_folder(std::filesystem::path(path).parent_path().string(), Access::Shared, "log");
    const bool after_lines = go_on && has_lines(path);
    file_ = LineFile(path, "log", go_on ? LineFile::Start::NextLine : LineFile::Start::Anew);
    if (after_lines) return;  // the header there may be of other data
    said_ = data;
    file_.line(fmt::format("{{\"format\":\"{}\",\"maker\":\"normscope {}\"{}}}", kLogFormat,
                           NORMSCOPE_VERSION, data_member(data)));
  });
}

void RunLog::also(const LogForm& form, char letter, const std::string& path, bool go_on, int32_t steps) {
  with_exit(Exit::Internal, [&] {
    uint64_t kept = 0;
    if (go_on && std::filesystem::is_regular_file(path)) {
      InputFile before(path, input::kLog);
      const std::optional<uint64_t> whole = form.whole(before);
      if (!whole) refuse_to_go_on(form.flag, path);
      kept = *whole;
    }
    if (kept > 0) std::filesystem::resize_file(path, kept);
    LineFile file(path, form.flag, kept > 0 ? LineFile::Start::NextByte : LineFile::Start::Anew);
    file.append(form.begin(kept > 0 ? steps : 0));
    others_.push_back({&form, letter, std::move(file)});
  });
}

void RunLog::step(const RunLabel& run, int32_t step, double loss, double rate,
                  std::span<const StatInfo> layout, std::span<const float> stats,
                  std::optional<double> validation, std::span<const Score> scores) {
  if (!file_ && others_.empty()) return;
  std::string out =
      fmt::format("{{\"run\":\"{}\",\"seed\":{},\"step\":{},\"loss\":", run.letter, run.seed, step);
  put_number(out, static_cast<float>(loss));
  out += ",\"lr\":";
  put_number(out, static_cast<float>(rate));
  if (validation) {
    out += ",\"validation\":";
    put_number(out, static_cast<float>(*validation));
  }
  put_scores(out, scores);
  put_critical(out, layout, stats);
  for (const normscope::Number* field : {&kGradNorm, &kMeanSquare}) put_stats(out, *field, layout, stats);
  for (const normscope::Number* field :
       {&kAttentionEntropy, &kLargestLogit, &kFirstMass, &kLongest, &kTokenShare})
    put_attention(out, *field, layout, stats);
  file_.line(out += '}');
  for (Other& other : others_)
    if (other.letter == run.letter) other.file.append(other.form->record(out));
}

void RunLog::steps(const RunLabel& run, const History& history) {
  const Series loss = history.loss(), rate = history.rate(), validation = history.validation();
  std::vector<float> stats;
  size_t next = 0;  // in the validation series
  for (size_t i = 0; i < loss.steps.size(); ++i) {
    const int32_t at = loss.steps[i];
    int32_t found = -1;
    if (!history.frame(at, stats, found) || found != at) stats.clear();
    while (next < validation.steps.size() && validation.steps[next] < at) ++next;
    const bool measured = next < validation.steps.size() && validation.steps[next] == at;
    step(run, at, loss.values[i], rate.values[i], history.layout(), stats,
         measured ? std::optional<double>(validation.values[next]) : std::nullopt);
  }
}

void RunLog::result(const RunResult& r) {
  if (!file_) return;
  std::string out = fmt::format(
      "{{\"run\":\"{}\",\"seed\":{},\"name\":{},\"state\":{},\"result\":{{\"step\":{},"
      "\"verdict\":{},\"window\":{},\"loss\":",
      r.label.letter, r.label.seed, text(r.name), text(to_string(r.state)), r.step, text(r.verdict_text()),
      r.window);
  put_number(out, r.loss);
  out += ",\"unigram\":";
  put_number(out, r.unigram);
  out += ",\"validation\":";
  put_number(out, r.validation);
  put_scores(out, r.scores);
  out += ",\"ms_per_step\":";
  put_number(out, r.milliseconds);
  out += "},\"spec\":{";
  bool first = true;
  for (const auto& [key, value] : field_values(r.spec)) {
    out += fmt::format("{}\"{}\":{}", first ? "" : ",", key, text(value));
    first = false;
  }
  out += "},\"edits\":[";
  for (size_t i = 0; i < r.edits.size(); ++i) {
    out += fmt::format("{}{{\"step\":{},\"key\":{},\"value\":{}}}", i ? "," : "", r.edits[i].step,
                       text(r.edits[i].key), text(r.edits[i].value));
  }
  out += ']';
  if (r.data != said_) out += data_member(r.data);
  file_.line(out + '}');
}

void RunLog::check() const {
  if (!file_.error().empty()) throw CommandError(Exit::Internal, file_.error());
  for (const Other& other : others_)
    if (!other.file.error().empty()) throw CommandError(Exit::Internal, other.file.error());
}

namespace {

/// The number of the batch of a run's first update.
constexpr uint64_t kFirstBatch = 1;

/// The least use of its source, in nats, with which a run counts as translating (the plateau's own margin).
constexpr double kSourceUse = 0.1;

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

std::string RunResult::verdict_text() const {
  return ignores_source ? "ignores the source" : std::string(to_string(verdict));
}

double unigram_of_last(const Task& task, const RunSpec& spec, int32_t step, int32_t window) {
  const uint64_t end = static_cast<uint64_t>(step) + kFirstBatch;
  return unigram_cross_entropy(task, spec.seed, end - static_cast<uint64_t>(window), end, spec.train.batch,
                               spec.model.sequence, static_cast<double>(spec.train.label_smoothing));
}

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
  out.state = state;
  out.verdict = verdict_of(history);
  // The run itself judges its losses, and knows what a history that was cut has lost.
  for (const auto kind : {Verdict::Stuck, Verdict::TooSlow, Verdict::Diverges})
    if (state == end_state({kind})) out.verdict.kind = kind;
  // An encoder-decoder may leave the level of word frequencies although its decoder alone has learned the language.
  out.ignores_source = out.verdict == Verdict::Learns && source_use < kSourceUse;
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
  out.unigram = unigram_of_last(task, spec, out.step, out.window);
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
                          r.spec.train.schedule.warmup, r.verdict_text(), r.step, r.window,
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

std::vector<experiments::Arm> arms_of(std::span<const RunResult> results) {
  std::vector<experiments::Arm> arms;
  for (const RunResult& r : results) {
    auto arm = std::ranges::find(arms, r.label.letter, &experiments::Arm::letter);
    if (arm == arms.end()) arm = arms.insert(arm, {r.label.letter, r.name, r.data, {}});
    arm->seeds.push_back({r.label.seed, r.verdict, r.loss, r.unigram});
  }
  return arms;
}

std::vector<std::string> agreement_lines(std::span<const experiments::Arm> arms) {
  std::vector<std::string> lines;
  for (const experiments::Arm& arm : arms) {
    const Verdicts verdicts = arm.verdicts();
    const experiments::Summary above = arm.above_level();
    if (verdicts.seeds() > 1)
      lines.push_back(
          fmt::format("{} ({}): stuck {}, learns {} of {} seeds; loss minus {} {:+.3f} to {:+.3f} nats",
                      arm.letter, arm.name, verdicts.count(Verdict::Stuck), verdicts.count(Verdict::Learns),
                      verdicts.seeds(), frequencies_of(arm.data.unit), above.low, above.high));
  }
  return lines;
}

nlohmann::json results_json(const std::vector<RunResult>& results, std::span<const experiments::Arm> arms) {
  nlohmann::json out = experiments::to_json(arms);
  out["runs"] = to_json(table(results));
  return out;
}

}  // namespace normscope::commands
