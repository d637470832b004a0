#include "addons/recorded/training/log_line.h"

#include <algorithm>

#include "engine/core/real_text.h"
#include "training/io/text.h"

namespace normscope::records {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr size_t kMaxPairs = 10'000, kMaxMembers = 40'000;
constexpr int kMaxNested = 4;
constexpr double kLargest = std::numeric_limits<double>::max();

/// Reads a number as JSON or Python writes it, and returns its end, or null where there is none. NaN: null,
/// and what is not finite or too large.
const char* read_number(const char* at, const char* end, double& out) {
  if (std::string_view(at, end).starts_with("null")) {
    out = NAN;
    return at + 4;
  }
  const auto [stop, error] = read_real(at, end, out);
  if (error == std::errc::invalid_argument) return nullptr;
  if (error == std::errc::result_out_of_range)
    out = std::string_view(at, stop).find('-', 1) != std::string_view::npos ? 0 : NAN;
  if (!std::isfinite(out)) out = NAN;
  return stop;
}

/// NaN, a gap, for a number beyond float.
float to_float(double value) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return std::abs(value) <= kMax ? static_cast<float>(value) : NAN;
}

using Of = ScalarName::Of;

/// Names in lower case with "_" for blanks and hyphens, the likeliest first.
struct SeriesNames {
  Of of;
  std::string_view names;
};
constexpr SeriesNames kSeries[] = {
    {Of::Loss,
     "loss|train/loss|loss/train|train_loss|training_loss|train/train_loss|train_loss_step|train/loss_step|"
     "training/loss|lm_loss|train/lm_loss|train/ce_loss|train/cross_entropy_loss|loss_metrics/global_avg_loss|"
     "batch_loss|epoch_loss"},
    {Of::Rate,
     "lr|train/learning_rate|learning_rate|train/lr|training/learning_rate|optimizer/lr|lr_adam|lr_adamw|lr_sgd|"
     "lr_adam/pg1|lr_adamw/pg1|train/lr_0|lr/group_0|epoch_learning_rate"},
    {Of::Validation,
     "validation|eval/loss|val/loss|loss/val|loss/validation|val_loss|valid_loss|validation_loss|validation/loss|"
     "valid/loss|eval_loss|loss/eval|lm_loss_validation|loss/test|test/loss|test_loss|validation_metrics/loss|"
     "epoch_val_loss"}};

struct FieldNames {
  std::string_view key, names;
};
constexpr FieldNames kFieldNames[] = {
    {"grad_norm", "grad_norm|gradient_norm|grad_norms|grad_2.0_norm|grad_2_norm|gradients|gradient|grad"},
    {"update_norm", "update_norm|update"},
    {"weight_norm", "weight_norm|param_norm|params_norm|parameter_norm|weights|weight"},
    {"mean_square", "mean_square|activation_mean_square"}};

const std::unordered_map<std::string_view, ScalarName>& names_of_series() {
  static const auto names = [] {
    std::unordered_map<std::string_view, ScalarName> all;
    for (const SeriesNames& series : kSeries) {
      int32_t rank = 0;
      for (const std::string_view name : split(series.names, '|'))
        all[name] = {series.of, nullptr, {}, rank++};
    }
    return all;
  }();
  return names;
}

const Number* field_called(std::string_view word) {
  static const auto names = [] {
    std::unordered_map<std::string_view, const Number*> all;
    for (const Number* row : numbers())
      if (row->field) all[row->field] = row;
    for (const FieldNames& field : kFieldNames)
      for (const std::string_view name : split(field.names, '|')) all[name] = log_field(field.key);
    return all;
  }();
  const auto at = names.find(word);
  return at == names.end() ? nullptr : at->second;
}

std::string normal(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    c = c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Of several names of a series in the lines so far the likeliest counts.
void put_scalar(std::string_view name, double value, LogStep& out) {
  const ScalarName said = out.names.name(name);
  if (said.of == Of::Other)
    out.others.push_back(name);
  else if (out.names.counts(said))
    put(said, value, out);
}

/// Whether a text is ASCII without control characters and backslashes: then it ends with the next
/// quote. It checks eight bytes at a time, as all bytes of a log pass here; the high bit of each byte of `strange` says
/// whether that byte is.
bool is_plain(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101u, kHigh = 0x80 * kOnes;
  uint64_t strange = 0;
  for (size_t at = 0; at < text.size(); at += 8) {
    uint64_t bytes = ' ' * kOnes;
    std::memcpy(&bytes, text.data() + at, std::min<size_t>(8, text.size() - at));
    const uint64_t slash = bytes ^ ('\\' * kOnes), del = bytes ^ (0x7f * kOnes);
    strange |= bytes | ((bytes - ' ' * kOnes) & ~bytes) | ((slash - kOnes) & ~slash) | ((del - kOnes) & ~del);
  }
  return (strange & kHigh) == 0;
}

/// Reads a step's line in the usual shape: an object of numbers, plain texts and objects of numbers, in ASCII
/// and without escapes. It gives up on anything else, faults included: then the parser says what is wrong.
class Scanner {
 public:
  explicit Scanner(std::string_view line) : line_(line), at_(line.data()), end_(line.data() + line.size()) {}

  bool scan(LogStep& out) {
    if (!is_plain(line_)) return false;
    const bool whole = object([&](std::string_view key) { return member(key, out); }) && at_ == end_;
    return whole && out.step >= 0;
  }

 private:
  bool member(std::string_view key, LogStep& out) {
    if (const Number* field = log_field(key)) return stats(field, out);
    if (const auto rank = step_rank(key, out.names.mapping())) return step(*rank, out);
    if (key == "seconds") return number(out.seconds.emplace());
    if (key == "epoch") return number(out.epoch.emplace());
    if (key == "seed") return whole(out.seed);
    if (key == "run") return text(out.run) && out.run.size() <= kLongestText;
    if (key == "format" || key == "result") return false;
    double value = 0;
    std::string_view ignored;
    if (text(ignored)) return out.names.name(key).of == Of::Other;
    if (!number(value)) return false;
    put_scalar(key, value, out);
    return true;
  }

  bool step(size_t rank, LogStep& out) {
    int32_t step = 0;
    if (!whole(step) || step > kLastLogStep) return false;
    if (rank < out.step_rank) {
      out.step = step;
      out.step_rank = rank;
    }
    return true;
  }

  bool stats(const Number* field, LogStep& out) {
    double of_all = 0;
    if (field->of_matrix() && number(of_all)) {
      out.stats.push_back({field, kWholeModel, to_float(of_all)});
      return true;
    }
    return object([&](std::string_view name) {
      double value = 0;
      if (!number(value) || out.stats.size() >= kMaxStats) return false;
      out.stats.push_back({field, name, to_float(value)});
      return true;
    });
  }

  template <typename Member>
  bool object(const Member& member) {
    if (!sign('{')) return false;
    if (sign('}')) return true;
    do {
      std::string_view key;
      if (!text(key) || !sign(':') || !member(key)) return false;
    } while (sign(','));
    return sign('}');
  }

  void blanks() {
    while (at_ != end_ && *at_ == ' ') ++at_;
  }

  bool sign(char c) {
    blanks();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    blanks();
    return true;
  }

  bool text(std::string_view& out) {
    if (at_ == end_ || *at_ != '"') return false;
    const char* begin = ++at_;
    const void* quote = std::memchr(begin, '"', static_cast<size_t>(end_ - begin));
    if (!quote) return false;
    at_ = static_cast<const char*>(quote) + 1;
    out = {begin, static_cast<size_t>(at_ - begin) - 1};
    return true;
  }

  bool number(double& out) {
    const char* const stop = read_number(at_, end_, out);
    if (stop) at_ = stop;
    return stop != nullptr;
  }

  template <typename Whole>
  bool whole(Whole& out) {
    const auto [stop, error] = std::from_chars(at_, end_, out);
    if (error != std::errc{} || out < Whole{}) return false;
    at_ = stop;
    return true;
  }

  std::string_view line_;
  const char *at_, *end_;
};

/// A number, or a text that is one, such as "NaN" in formats without it.
double number_in(const InputValue& value) {
  double number = NAN;
  if (value.is_null() || (value.is_text() && is_number(value.text(kLongestText), number))) return number;
  return value.number(-kLargest, kLargest);
}

std::optional<double> number_of(const InputValue& object, std::string_view key) {
  const auto value = object.find(key);
  return value ? std::optional(number_in(*value)) : std::nullopt;
}

/// A number above zero; NaN where there is none.
double positive_of(const InputValue& object, std::string_view key) {
  const double number = number_of(object, key).value_or(NAN);
  return number > 0 ? number : NAN;
}

std::string text_of(const InputValue& object, std::string_view key) {
  const auto value = object.find(key);
  return value && !value->is_null() ? value->text(kLongestText) : "";
}

std::string name_of(const InputValue& line) { return one_line(text_of(line, "name")); }

uint64_t whole(const InputValue& value) {
  return static_cast<uint64_t>(value.whole64(0, std::numeric_limits<int64_t>::max()));
}

/// Also reads 5.0 and "5", from programs without integers.
std::optional<int32_t> whole_step(const InputValue& step) {
  double number = NAN;
  if (step.is_null() || step.is_list() || step.is_object() || !is_number(step.scalar(kLongestLine), number) ||
      number != std::floor(number) || number < 0 || number > kLastLogStep)
    return {};
  return static_cast<int32_t>(number);
}

/// Of its names the surest one counts. Throws Error where that has no step.
void read_step_number(const InputValue& line, LogStep& out) {
  std::optional<InputValue> value;
  const auto rank = surest_step(out.names.mapping(), [&](std::string_view name) {
    value = line.find(name);
    return value && !value->is_null();
  });
  const InputValue said = rank ? *value : line.at("step");
  const auto step = whole_step(said);
  if (!step) said.refuse(Message("a whole number from 0 to {}", kLastLogStep));
  out.step = *step;
  out.step_rank = rank.value_or(kStepRanks);
}

/// Reads the fields of a step's line that it can do without: what cannot be read is passed over.
class StepFields {
 public:
  explicit StepFields(LogStep& out) : out_(out) {}

  void read(const std::string& name, const InputValue& value) {
    const std::string_view kept = out_.texts.emplace_back(name);
    try {
      if (!step_rank(name, out_.names.mapping())) read_field(kept, value);
    } catch (const Error& error) {
      out_.passed.emplace_back(kept, error.message);
    }
  }

 private:
  void read_field(std::string_view name, const InputValue& value) {
    if (const Number* field = log_field(name))
      stats(field, value);
    else if (name == "run")
      out_.run = value.is_null() ? std::string_view() : out_.texts.emplace_back(value.scalar(kLongestText));
    else if (name == "seed")
      out_.seed = value.is_null() ? 0 : whole(value);
    else if (name == "seconds")
      out_.seconds = number_in(value);
    else if (name == "epoch")
      out_.epoch = number_in(value);
    else
      scalar(name, value, kMaxNested);
  }

  void stats(const Number* field, const InputValue& value) {
    if (value.is_null()) return;
    if (field->of_matrix() && !value.is_object()) {
      out_.stats.push_back({field, kWholeModel, to_float(number_in(value))});
      return;
    }
    for (const auto& [name, number] : value.members(kMaxStats)) try {
        out_.stats.push_back({field, out_.texts.emplace_back(name), to_float(number_in(number))});
      } catch (const Error& error) {
        out_.passed.emplace_back(field->field, error.message);
      }
  }

  /// Most trackers have no objects: "grad_norm/layers.3.attn.wq". Others nest them: "train": {"loss": 3}.
  void scalar(std::string_view name, const InputValue& value, int nested) {
    if (value.is_object()) {
      if (nested > 0)
        for (const auto& [inner, of_inner] : value.members(kMaxMembers))
          scalar(out_.texts.emplace_back(fmt::format("{}/{}", name, inner)), of_inner, nested - 1);
      return;
    }
    const Of of = out_.names.name(name).of;
    double number = NAN;
    if (of == Of::Rate && value.is_list())  // one a group of parameters
      return scalar(name, value.list(1, kMaxMembers).front(), nested);
    if (of != Of::Other)
      put_scalar(name, number_in(value), out_);
    else if (!value.is_null() && !value.is_list() && is_number(value.scalar(kLongestLine), number))
      put_scalar(name, number, out_);
  }

  LogStep& out_;
};

/// Reads a member of a header or a result; a member that cannot be read is only noted as a fault.
template <typename Value, typename Read>
bool take(LogAbout& out, Value& to, const Read& read) {
  try {
    to = read();
    return true;
  } catch (const Error& error) {
    out.faults.push_back(error.message);
    return false;
  }
}

void read_label(const InputValue& line, LogAbout& out) {
  take(out, out.label.run, [&] {
    const auto run = line.find("run");
    return run && !run->is_null() ? run->scalar(kLongestText) : "";
  });
  take(out, out.label.seed, [&] {
    const auto seed = line.find("seed");
    return seed && !seed->is_null() ? whole(*seed) : 0;
  });
}

/// Lists and objects as JSON.
Pairs pairs_of(const InputValue& line, std::string_view key, LogAbout& out) {
  Pairs pairs;
  const auto all = line.find(key);
  if (!all || all->is_null()) return pairs;
  for (const auto& pair : all->members(kMaxPairs)) {
    const InputValue& value = pair.second;
    std::string text;
    const bool read = !value.is_null() && take(out, text, [&] {
      return value.is_list() || value.is_object() ? value.json_text(kLongestText)
                                                  : value.scalar(kLongestText);
    });
    if (read) pairs.emplace_back(pair.first, std::move(text));
  }
  return pairs;
}

/// Takes the order from the line, as a parsed object has lost the order of its members.
Pairs settings_of(const InputValue& line, std::string_view key, std::string_view text, LogAbout& out) {
  constexpr size_t kLongestSorted = 200'000;
  Pairs pairs = pairs_of(line, key, out);
  if (text.size() > kLongestSorted) return pairs;
  const size_t begin = text.find(fmt::format("\"{}\"", key));
  std::map<std::string, size_t> places;
  for (const auto& [name, value] : pairs) places[name] = text.find(fmt::format("\"{}\"", name), begin);
  std::ranges::stable_sort(pairs,
                           [&](const auto& a, const auto& b) { return places[a.first] < places[b.first]; });
  return pairs;
}

/// Reads the present members of an object {name, hash, symbols, unit}; a recorder may know only a name.
DataIdentity data_of(const InputValue& line) {
  constexpr int32_t kMaxSymbols = std::numeric_limits<int32_t>::max();
  DataIdentity data;
  const auto said = line.find("data");
  if (!said || said->is_null()) return data;
  data.name = text_of(*said, "name");
  data.hash = text_of(*said, "hash");
  data.unit = text_of(*said, "unit");
  if (const auto symbols = said->find("symbols"); symbols && !symbols->is_null())
    data.symbols = symbols->whole(0, kMaxSymbols);
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!data.hash.empty() && (data.hash.size() != 16 || !std::ranges::all_of(data.hash, is_digit)))
    said->at("hash").refuse("16 hexadecimal digits");
  return data;
}

bool is_our_format(const InputValue& format) {
  return format.is_text() && format.text(kLongestLine).starts_with("normscope log");
}

void read_header(const InputValue& line, std::string_view text, LogAbout& out) {
  const std::string format = line.at("format").text(kLongestText);
  if (format != kLogFormat && format != kStreamFormat)
    line.at("format").refuse(Message("\"{}\" or \"{}\"", kLogFormat, kStreamFormat));
  out.is_header = true;
  read_label(line, out);
  take(out, out.maker, [&] { return text_of(line, "maker"); });
  take(out, out.name, [&] { return name_of(line); });
  take(out, out.placement, [&] { return text_of(line, "placement"); });
  take(out, out.settings, [&] { return settings_of(line, "settings", text, out); });
  take(out, out.names, [&] { return pairs_of(line, "names", out); });
  take(out, out.data, [&] { return data_of(line); });
  take(out, out.unigram, [&] { return number_of(line, "unigram").value_or(NAN); });
  take(out, out.tokens_per_step, [&] { return positive_of(line, "tokens_per_step"); });
}

std::vector<Edit> edits_of(const InputValue& line) {
  std::vector<Edit> edits;
  const auto all = line.find("edits");
  if (!all || all->is_null()) return edits;
  for (const InputValue& edit : all->list(0, kMaxEdits))
    edits.push_back({edit.at("step").whole(0, kLastEdit), edit.at("key").text(kLongestText),
                     edit.at("value").text(kLongestText)});
  return edits;
}

void read_result(const InputValue& line, std::string_view text, LogAbout& out) {
  const InputValue result = line.at("result");
  read_label(line, out);
  take(out, out.name, [&] { return name_of(line); });
  take(out, out.data, [&] { return data_of(line); });
  take(out, out.verdict, [&] { return text_of(result, "verdict"); });
  take(out, out.unigram, [&] { return number_of(result, "unigram").value_or(NAN); });
  take(out, out.seconds_per_step, [&] { return positive_of(result, "ms_per_step") * 1e-3; });
  take(out, out.settings, [&] { return settings_of(line, "spec", text, out); });
  take(out, out.edits, [&] { return edits_of(line); });
}

}  // namespace

bool is_number(std::string_view text, double& out) {
  return !text.empty() &&
         read_number(text.data(), text.data() + text.size(), out) == text.data() + text.size();
}

std::string as_json(std::string_view line) {
  std::string json;
  json.reserve(line.size());
  for (size_t at = 0, end = 0; at < line.size(); at = end) {
    if (line[at] == '"') {
      for (end = at + 1; end < line.size() && line[end] != '"'; ++end) end += line[end] == '\\';
      ++end;
    } else {
      end = std::max(at + 1, line.find_first_of("{}[]:, \t\r\n\"", at));
    }
    const std::string_view word = line.substr(at, end - at);
    double number = 0;
    json += is_number(word, number) && std::isnan(number) ? "null" : word;
  }
  return json;
}

std::string one_line(std::string_view name) {
  constexpr size_t kMax = 120;  // bytes
  std::string line(name);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  size_t end = std::min(kMax, line.size());
  while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  return end < line.size() ? line.substr(0, end) + "…" : line;
}

bool some_name_of_loss(std::string_view beginning) {
  return std::ranges::any_of(names_of_series(), [plain = normal(beginning)](const auto& series) {
    return series.second.of == Of::Loss && series.first.starts_with(plain);
  });
}

std::optional<size_t> step_rank(std::string_view name, const NameMapping& mapping) {
  return surest_step(mapping, [name](std::string_view known) { return known == name; });
}

ScalarName ScalarNames::name(std::string_view name) const {
  const auto own = mapping_->series.find(name);
  if (own == mapping_->series.end()) return scalar_name(name);
  ScalarName said = scalar_name(own->second);
  said.rank = -1;
  return said;
}

ScalarName scalar_name(std::string_view name) {
  const std::string plain = normal(name);
  const auto& series = names_of_series();
  if (const auto known = series.find(plain); known != series.end()) return known->second;
  ScalarName found;
  if (plain.find('/') == plain.npos && plain.find('.') != plain.npos) {  // of nested dictionaries
    std::string nested = plain;
    std::ranges::replace(nested, '.', '/');
    if (const auto known = series.find(nested); known != series.end()) return known->second;
  }
  // "grad_norm/layers.3.attn.wq", "train/grad_norm/layers.3.attn.wq" or "layers.3.attn.wq/grad_norm"
  const size_t begin = plain.starts_with("train/") ? 6 : 0, first = plain.find('/', begin),
               last = plain.rfind('/');
  const std::string_view all = std::string_view(plain).substr(begin);
  if (const Number* field = field_called(all); field && field->of_matrix() && all.find("norm") != all.npos)
    return {Of::Tensor, field, kWholeModel, 0};  // the whole model has such a norm, too
  if (first == plain.npos) return found;
  if (const Number* field = field_called(std::string_view(plain).substr(begin, first - begin))) {
    found.field = field;
    found.tensor = name.substr(first + 1);
  } else if (const Number* behind = field_called(std::string_view(plain).substr(last + 1))) {
    found.field = behind;
    found.tensor = name.substr(begin, last - begin);
  } else {
    return found;
  }
  found.of = Of::Tensor;
  return found;
}

void put(const ScalarName& name, double value, LogStep& step) {
  if (name.of == Of::Loss) step.loss = value;
  if (name.of == Of::Rate) step.rate = value;
  if (name.of == Of::Validation) step.validation = value;
  if (name.of == Of::Tensor) step.stats.push_back({name.field, name.tensor, to_float(value)});
}

void LogStep::clear() {
  run = {};
  seed = 0;
  step = -1;
  step_rank = kStepRanks;
  loss = rate = validation = seconds = epoch = std::nullopt;
  stats.clear();
  others.clear();
  passed.clear();
  texts.clear();
}

void read_step(const InputValue& line, LogStep& out) {
  read_step_number(line, out);
  StepFields fields(out);
  for (const auto& [name, value] : line.members(kMaxMembers)) fields.read(name, value);
  if (out.stats.size() > kMaxStats) line.refuse(Message("at most {} numbers in it", kMaxStats));
}

LineKind read_line(std::string_view line, int64_t number, LogStep& step, LogAbout& about) {
  step.clear();
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find_first_not_of(" \t") == line.npos) return LineKind::Blank;
  if (Scanner(line).scan(step)) return LineKind::Step;
  step.clear();
  const InputValue value = InputValue::parse(as_json(line), {"line {}", number});
  about = {};
  const auto format = value.find("format");
  const bool has_step = surest_step(step.names.mapping(), [&](std::string_view name) {
                          return value.find(name).has_value();
                        }).has_value();
  if (format && (!has_step || is_our_format(*format))) {
    read_header(value, line, about);
    return LineKind::About;
  }
  if (value.find("result") && !has_step) {
    read_result(value, line, about);
    return LineKind::About;
  }
  if (!has_step) fail({"line {}", number}, "has no step, no result and no format");
  read_step(value, step);
  return LineKind::Step;
}

}  // namespace normscope::records
