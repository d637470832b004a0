#include "addons/recorded/training/run_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "engine/core/error.h"
#include "engine/model/wiring.h"
#include "training/data/task.h"

namespace normscope::records {
namespace {

constexpr int32_t kBranchField = 4, kInputField = 5, kShareField = 6;
static_assert(kLogFields[kBranchField].key == "branch_variance" &&
              kLogFields[kInputField].key == "input_variance" && kLogFields[kShareField].key == "share");

/// Reads all of a text that is a whole number.
std::optional<size_t> number_of(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The number I of "beta2.I.I"; in a stack of attention and feed-forward networks "L03.attn" has one too.
std::optional<size_t> place_of(const LogStat& stat) {
  std::string_view name = stat.name;
  if (stat.field == kShareField) {
    if (!name.starts_with("beta2.")) return std::nullopt;
    name.remove_prefix(6);
    const size_t dot = name.find('.');
    if (dot == name.npos || name.substr(0, dot) != name.substr(dot + 1)) return std::nullopt;
    return number_of(name.substr(0, dot));
  }
  const bool attention = name.ends_with(".attn");
  if (!name.starts_with('L') || (!attention && !name.ends_with(".ffn"))) return std::nullopt;
  const auto layer = number_of(name.substr(1, name.find('.') - 1));
  if (!layer || *layer == 0) return std::nullopt;
  return 2 * *layer - (attention ? 1 : 0);
}

}  // namespace

/// False where a number is missing that the shares are made of.
bool OlderShares::gather(const LogStep& step) {
  size_t shares = 0;
  sums_.clear();
  for (const LogStat& stat : step.stats) {
    if (stat.field != kBranchField && stat.field != kInputField && stat.field != kShareField) continue;
    const auto place = place_of(stat);
    if (stat.field == kShareField && !place) return false;
    if (!place || *place == 0) continue;
    if (*place > kMostSublayers) return false;
    if (sums_.size() < *place) sums_.resize(*place);
    Sum& sum = sums_[*place - 1];
    shares += stat.field == kShareField;
    (stat.field == kShareField ? sum.own : stat.field == kBranchField ? sum.branch : sum.input) = stat.value;
  }
  return shares > 0 && shares == sums_.size();
}

/// Makes the names of the next row.
void OlderShares::name_row() {
  const size_t row = names_.size() + 1;
  std::vector<std::string>& names = names_.emplace_back();
  for (size_t column = 0; column < row; ++column) names.push_back(fmt::format("beta2.{}.{}", row, column));
  names.push_back(fmt::format("beta2.{}.sum", row));
}

std::span<const LogStat> OlderShares::of(const LogStep& step) {
  found_.clear();
  if (!gather(step)) return {};
  shares_.assign(1, 1.0);
  for (size_t i = 0; i < sums_.size(); ++i) {
    if (names_.size() <= i) name_row();
    const auto own = static_cast<double>(sums_[i].own), branch = static_cast<double>(sums_[i].branch);
    const double kept = own > 0 ? static_cast<double>(sums_[i].input) * own / branch : std::nan("");
    double sum = own;
    for (size_t j = 0; j < shares_.size(); ++j) {
      sum += shares_[j] *= kept;
      found_.push_back({kShareField, names_[i][j], static_cast<float>(shares_[j])});
    }
    found_.push_back({kShareField, names_[i].back(), static_cast<float>(sum)});
    shares_.push_back(own);
  }
  return found_;
}

namespace {

constexpr int32_t kMostWidenings = 200;
constexpr int32_t kMostSetBacks = 1000;
constexpr size_t kMostValidations = kDenseSteps;

std::string key_of(const LogStat& stat) {
  std::string key(1, static_cast<char>('0' + stat.field));
  return key.append(stat.name);
}

/// Moves everything that `from` holds; numbers that only the wider history has were not measured then.
void move_over(const History& from, History& to) {
  const FrameBlock block = from.frames(std::numeric_limits<int32_t>::max(), from.bytes() + 1);
  std::vector<int32_t> places(from.layout().size());
  std::iota(places.begin(), places.end(), 0);
  to.restore_frames(spread(block, places, to.layout().size()));
  to.take_over(from);
}

}  // namespace

RunBuilder::RunBuilder(LogLabel label, const LogAbout& header, const NameMapping& mapping,
                       size_t budget_bytes)
    : label_(std::move(label)),
      about_(header),
      mapping_(mapping),
      budget_(budget_bytes),
      history_(std::make_shared<History>(std::vector<StatInfo>{}, budget_bytes)) {
  if (about_.placement.empty()) about_.placement = setting("model.placement");
}

void RunBuilder::set_budget(size_t bytes) {
  budget_ = bytes;
  history_->set_budget(bytes);
}

int32_t RunBuilder::find(const LogStat& stat, size_t place) {
  if (place < order_.size() && order_[place] >= 0) {
    const Column& before = columns_[static_cast<size_t>(order_[place])];
    if (before.field == stat.field && before.name == stat.name) return order_[place];
  }
  const auto found = places_.find(key_of(stat));
  const int32_t column = found == places_.end() ? -1 : found->second;
  if (place >= order_.size()) order_.resize(place + 1, -1);
  order_[place] = column;
  return column;
}

void RunBuilder::learn(const LogStat& stat, size_t place) {
  if (widenings_ >= kMostWidenings || columns_.size() >= kMostColumns) {
    ++left_out_;
    return;
  }
  const NameOf of = stat.field == kHiddenField ? NameOf::Output : NameOf::Parameter;
  order_[place] = static_cast<int32_t>(columns_.size());
  places_[key_of(stat)] = order_[place];
  columns_.push_back({stat.field, std::string(stat.name), resolve(stat.name, of, mapping_)});
  numbers_.push_back(0);
}

/// Puts the numbers of a line under their columns, beside those that its step has already.
void RunBuilder::gather(const LogStep& step) {
  const size_t before = columns_.size();
  if (step.step != last_step_) std::fill(numbers_.begin(), numbers_.end(), NAN);
  size_t place = 0;
  const auto take = [&](const LogStat& stat) {
    if (find(stat, place) < 0) learn(stat, place);
    if (order_[place] >= 0) numbers_[static_cast<size_t>(order_[place])] = static_cast<double>(stat.value);
    ++place;
  };
  for (const LogStat& stat : step.stats) take(stat);
  for (const LogStat& stat : older_shares_.of(step)) take(stat);
  if (columns_.size() > before) widen();
}

void RunBuilder::widen() {
  ++widenings_;
  auto wider = std::make_shared<History>(layout(), budget_);
  move_over(*history_, *wider);
  history_ = std::move(wider);
}

void RunBuilder::set_back(int32_t step) {
  if (set_backs_ == kMostSetBacks)
    throw Error("step {} after step {}: the run was set back more than {} times", step, last_step_,
                kMostSetBacks);
  if (set_backs_++ == 0) {
    first_back_from_ = last_step_;
    first_back_to_ = step;
  }
  history_->truncate(step - 1);
}

void RunBuilder::add_validation(const LogStep& step) {
  if (!step.validation || validations_ >= kMostValidations) return;
  history_->append_validation(step.step, *step.validation);
  ++validations_;
}

// Lets a validation that comes late stand alone: the run went on meanwhile.
void RunBuilder::add(const LogStep& step) {
  const bool late = step.validation && !step.loss && !step.rate && step.stats.empty();
  if (step.step < last_step_ && late) return add_validation(step);
  if (step.step < last_step_) set_back(step.step);
  gather(step);
  if (step.step != last_step_) {
    loss_.reset();
    rate_ = NAN;
  }
  last_step_ = step.step;
  if (step.loss) loss_ = step.loss;
  rate_ = step.rate.value_or(rate_);
  history_->append(step.step, loss_, rate_, numbers_);
  add_validation(step);
  has_loss_ = has_loss_ || step.loss;
  has_rate_ = has_rate_ || step.rate;
  measure_time(step);
}

// Takes only lines whose clock went on: a recording that goes on may count its seconds from 0 again, and a
// clock may be set back.
void RunBuilder::measure_time(const LogStep& step) {
  const double now = step.seconds.value_or(NAN);
  if (std::isnan(now)) return;
  if (timed_step_ >= 0 && step.step > timed_step_ && now >= timed_at_) {
    timed_steps_ += step.step - timed_step_;
    timed_seconds_ += now - timed_at_;
  }
  timed_step_ = step.step;
  timed_at_ = now;
}

// Writes "L03.attn.wq.grad_norm" where the name is known and no other has it; otherwise their name. The output
// of a whole layer is its last sum where no norm follows that, as in Pre-LN.
std::vector<StatInfo> RunBuilder::layout() const {
  const bool pre = about_.placement == "pre";
  const auto has = [&](Stack stack) {
    return std::ranges::any_of(
        columns_, [&](const Column& c) { return c.tensor.layer > 0 && c.tensor.stack == stack; });
  };
  const bool both = has(Stack::Encoder) && has(Stack::Decoder);
  std::vector<StatInfo> stats;
  std::unordered_map<std::string, int> taken;
  for (const Column& column : columns_) {
    TensorName tensor = column.tensor;
    if (tensor.output && !tensor.ours && pre) tensor.part = "ffn.sum";
    std::string name = column.name;
    if (tensor.known()) name = engine_name(tensor, both);
    const std::string_view suffix = kLogFields[column.field].suffix_of(name);
    name += suffix;
    if (taken[name]++ > 0) name = fmt::format("{}{}", column.name, suffix);
    stats.push_back({std::move(name), tensor.layer});
  }
  return stats;
}

namespace {

/// Makes a specification of the settings, if every one of them is ours.
std::optional<RunSpec> spec_of(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::map<std::string, std::string, std::less<>> values;
  for (const auto& [key, value] : settings) values[key] = value;
  for (const Field& field : spec_fields())
    if (!values.contains(field.key)) return std::nullopt;
  const bool wired =
      std::ranges::any_of(settings, [](const auto& setting) { return setting.first.starts_with("wiring."); });
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

void RunBuilder::describe(Recording& run) const {
  run.maker = about_.maker;
  run.log_letter = is_letter(label_.run) ? label_.run : "";
  run.settings = about_.settings;
  run.spec = spec_of(about_.settings);
  run.edits = about_.edits;
  run.placement = about_.placement;
  run.data = about_.data;
  if (run.spec && run.data.unit.empty()) run.data.unit = unit_of(run.spec->data);  // older logs
  if (run.spec && run.maker.empty()) run.maker = "normscope";                      // older logs had no header
  SeedRecord& seed = run.seeds.emplace_back();
  seed.origin.seed = label_.seed;
  seed.history = history_;
  seed.said = about_.verdict;
  double tokens = about_.tokens_per_step, seconds = about_.seconds_per_step;
  if (run.spec && std::isnan(tokens)) tokens = units_of_step(*run.spec);
  if (std::isnan(seconds) && timed_seconds_ > 0) seconds = timed_seconds_ / timed_steps_;
  seed.measured = {{kUnigram, about_.unigram}, {kTokensPerStep, tokens}, {kSecondsPerStep, seconds}};
}

Recording RunBuilder::run(const std::string& path, const std::string& stem, bool alone) const {
  Recording run;
  run.path = path;
  describe(run);
  run.name = about_.name.empty() ? stem : about_.name;
  if (about_.name.empty() && !alone && !label_.run.empty()) run.name += " " + label_.run;  // seeds share it
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
    if (kLogFields[field].words && std::ranges::none_of(columns_, of_field))
      all.push_back(fmt::format("{}: not in this log", kLogFields[field].words));
  }
  const auto foreign_output = [](const Column& c) { return c.tensor.output && !c.tensor.ours; };
  if (std::ranges::any_of(columns_, foreign_output) && about_.placement != "pre")
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
  if (both && std::ranges::any_of(columns_, [](const Column& c) {
        return c.tensor.layer > 0 && c.tensor.known() && c.tensor.stack == Stack::Only;
      }))
    all.push_back("layers that are neither the encoder's nor the decoder's by name stand without a prefix");
  return all;
}

}  // namespace normscope::records
