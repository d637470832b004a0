// This is what is known of a run at the end of its log, and what is not.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "addons/recorded/training/run_builder.h"
#include "engine/core/error.h"
#include "engine/model/wiring.h"
#include "training/data/identity/data_identity.h"

namespace normscope::records {
namespace {

/// Makes a specification of the settings, if every one of them is ours.
std::optional<RunSpec> spec_of(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::map<std::string, std::string, std::less<>> values;
  for (const auto& [key, value] : settings) values[key] = value;
  for (const Field& field : spec_fields())
    if (!values.contains(field.key)) return std::nullopt;
  const bool wired = std::any_of(settings.begin(), settings.end(),
                                 [](const auto& setting) { return setting.first.starts_with("wiring."); });
  if (values["model.placement"] == to_string(Placement::Custom) && !wired) return std::nullopt;
  try {
    RunSpec spec;
    for (const auto& [key, value] : settings) set_field(spec, key, value);
    return spec;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void take(std::string& to, const std::string& from) {
  if (!from.empty()) to = from;
}

void take(double& to, double from) {
  if (!std::isnan(from)) to = from;
}

bool is_letter(const std::string& run) { return run.size() == 1 && run[0] >= 'A' && run[0] <= 'D'; }

}  // namespace

void RunBuilder::add(const LogAbout& result) {
  take(about_.name, result.name);
  take(about_.verdict, result.verdict);
  if (!result.data.unknown()) about_.data = result.data;
  take(about_.unigram, result.unigram);
  take(about_.seconds_per_step, result.seconds_per_step);
  if (!result.settings.empty()) about_.settings = result.settings;
  if (!result.edits.empty()) about_.edits = result.edits;
  if (about_.placement.empty()) about_.placement = setting("model.placement");
}

std::string RunBuilder::setting(std::string_view key) const {
  for (const auto& [name, value] : about_.settings)
    if (name == key) return value;
  return "";
}

void RunBuilder::describe(RecordedRun& run) const {
  run.maker = about_.maker;
  run.letter = is_letter(label_.run) ? label_.run : "";
  run.seed = label_.seed;
  run.settings = about_.settings;
  run.spec = spec_of(about_.settings);
  run.edits = about_.edits;
  run.placement = about_.placement;
  run.data = about_.data;
  if (run.spec && run.data.unit.empty()) run.data.unit = unit_of(run.spec->data);  // older logs
  run.unigram = about_.unigram;
  run.verdict = about_.verdict;
  run.tokens_per_step = about_.tokens_per_step;
  run.seconds_per_step = about_.seconds_per_step;
  if (run.spec && run.maker.empty()) run.maker = "normscope";  // older logs had no header
  if (run.spec && std::isnan(run.tokens_per_step)) run.tokens_per_step = units_of_step(*run.spec);
  if (std::isnan(run.seconds_per_step) && timed_seconds_ > 0)
    run.seconds_per_step = timed_seconds_ / timed_steps_;
}

RecordedRun RunBuilder::run(const std::string& path, const std::string& stem, bool alone) const {
  RecordedRun run;
  run.path = path;
  describe(run);
  run.name = about_.name.empty() ? stem : about_.name;
  if (about_.name.empty() && !alone && !label_.run.empty()) run.name += " " + label_.run;  // seeds share it
  run.history = history_;
  bool encoder = false, decoder = false;
  for (const Column& column : columns_) {
    run.layers = std::max(run.layers, column.tensor.layer);
    encoder = encoder || (column.tensor.layer > 0 && column.tensor.stack == Stack::Encoder);
    decoder = decoder || (column.tensor.layer > 0 && column.tensor.stack == Stack::Decoder);
  }
  run.missing = missing(encoder && decoder);
  return run;
}

std::vector<LogName> RunBuilder::names() const {
  const std::vector<StatInfo>& stats = history_->layout();
  std::vector<LogName> names;
  for (size_t i = 0; i < columns_.size(); ++i)
    names.push_back({columns_[i].field, columns_[i].name, columns_[i].tensor, stats[i].name});
  return names;
}

std::vector<std::string> RunBuilder::missing(bool both) const {
  std::vector<std::string> all;
  if (!has_loss_) all.push_back("loss: not in this log");
  if (!has_rate_) all.push_back("learning rate: not in this log");
  if (set_backs_ > 0)
    all.push_back(fmt::format("some lines do not count: steps went back {} from {} to {}",
                              set_backs_ == 1 ? "once," : fmt::format("{} times, first", set_backs_),
                              first_back_from_, first_back_to_));
  for (size_t field = 0; field < std::size(kLogFields); ++field) {
    const auto of_field = [&](const Column& c) { return c.field == static_cast<int32_t>(field); };
    if (kLogFields[field].words && std::none_of(columns_.begin(), columns_.end(), of_field))
      all.push_back(fmt::format("{}: not in this log", kLogFields[field].words));
  }
  const auto foreign_output = [](const Column& c) { return c.tensor.output && !c.tensor.ours; };
  if (std::any_of(columns_.begin(), columns_.end(), foreign_output) && about_.placement != "pre")
    all.push_back(about_.placement.empty()
                      ? "hidden states before the last norm of a layer: the log does not say its placement"
                      : "hidden states before the last norm of a layer: the log has those behind it");
  std::string first;
  int64_t unknown = 0;
  for (const Column& column : columns_) {
    if (column.tensor.known() || unknown++ > 0) continue;
    first = column.name;
  }
  if (unknown > 0)
    all.push_back(
        fmt::format("{} of {} names are not known, the first is {}: a mapping file can say what they are",
                    unknown, columns_.size(), shown_text(first)));
  if (left_out_ > 0)
    all.push_back(fmt::format("{} numbers under names that came after the first {}: left out", left_out_,
                              columns_.size()));
  if (both && std::any_of(columns_.begin(), columns_.end(), [](const Column& c) {
        return c.tensor.layer > 0 && c.tensor.known() && c.tensor.stack == Stack::Only;
      }))
    all.push_back("layers that are neither the encoder's nor the decoder's by name stand without a prefix");
  return all;
}

}  // namespace normscope::records
