// See log_line.h.
#include "training/records/log_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <map>

#include "engine/core/error.h"
#include "engine/core/real_text.h"
#include "training/spec/limits.h"

namespace normscope::records {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr size_t kMostPairs = 1000;
constexpr double kLargest = std::numeric_limits<double>::max();

/// `to_float` makes a number beyond all floats infinite.
float to_float(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return std::abs(value) <= kMost ? static_cast<float>(value) : NAN;
}

int32_t field_of(std::string_view key) {
  for (size_t i = 0; i < std::size(kStatFields); ++i)
    if (kStatFields[i].key == key) return static_cast<int32_t>(i);
  return -1;
}

/// `is_plain` says whether a text is ASCII without control characters and backslashes: then it ends with the next
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

/// `Scanner` reads a step's line in the usual shape: an object of numbers, plain texts and objects of numbers, in ASCII
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
    if (const int32_t field = field_of(key); field >= 0) return stats(field, out);
    if (key == "step") return whole(out.step) && out.step <= kMostSteps;
    if (key == "loss") return number(out.loss);
    if (key == "lr") return number(out.rate);
    if (key == "validation") return number(out.validation);
    if (key == "seconds") return number(out.seconds);
    if (key == "seed") return whole(out.seed);
    if (key == "run") return text(out.run) && out.run.size() <= kLongestText;
    if (key == "format" || key == "result") return false;
    double ignored = 0;
    std::string_view also_ignored;
    return text(also_ignored) || number(ignored);
  }

  bool stats(int32_t field, LogStep& out) {
    return object([&](std::string_view name) {
      double value = 0;
      if (!number(value) || out.stats.size() >= kMostStats) return false;
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

  // Python writes NaN and Infinity where JSON has null.
  bool number(double& out) {
    if (end_ - at_ >= 4 && std::string_view(at_, 4) == "null") {
      out = NAN;
      at_ += 4;
      return true;
    }
    const auto [stop, error] = read_real(at_, end_, out);
    if (error != std::errc{}) return false;
    if (!std::isfinite(out)) out = NAN;
    at_ = stop;
    return true;
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

/// `number_of` is a number, or NaN for null and for a missing number.
double number_of(const InputValue& object, std::string_view key) {
  const auto value = object.find(key);
  return !value || value->is_null() ? NAN : value->number(-kLargest, kLargest);
}

std::string text_of(const InputValue& object, std::string_view key) {
  const auto value = object.find(key);
  return value ? value->text(kLongestText) : "";
}

LogLabel label_of(const InputValue& line) {
  LogLabel label{text_of(line, "run"), 0};
  if (const auto seed = line.find("seed"))
    label.seed = static_cast<uint64_t>(seed->whole64(0, std::numeric_limits<int64_t>::max()));
  return label;
}

void read_step(const InputValue& line, LogStep& out) {
  const auto keep = [&out](std::string text) -> std::string_view {
    return out.texts.emplace_back(std::move(text));
  };
  const LogLabel label = label_of(line);
  out.run = keep(label.run);
  out.seed = label.seed;
  out.step = line.at("step").whole(0, kMostSteps);
  out.loss = number_of(line, "loss");
  out.rate = number_of(line, "lr");
  out.validation = number_of(line, "validation");
  out.seconds = number_of(line, "seconds");
  for (size_t field = 0; field < std::size(kStatFields); ++field) {
    const auto all = line.find(kStatFields[field].key);
    if (!all || all->is_null()) continue;
    for (const auto& [name, value] : all->members(kMostStats)) {
      const double number = value.is_null() ? NAN : value.number(-kLargest, kLargest);
      out.stats.push_back({static_cast<int32_t>(field), keep(name), to_float(number)});
    }
  }
  if (out.stats.size() > kMostStats) line.refuse(fmt::format("at most {} numbers in it", kMostStats));
}

Pairs pairs_of(const InputValue& line, std::string_view key) {
  Pairs pairs;
  const auto all = line.find(key);
  if (!all || all->is_null()) return pairs;
  for (const auto& [name, value] : all->members(kMostPairs))
    if (!value.is_null()) pairs.emplace_back(name, value.scalar(kLongestText));
  return pairs;
}

/// `settings_of` takes the order from the line, as a parsed object has lost the order of its members.
Pairs settings_of(const InputValue& line, std::string_view key, std::string_view text) {
  constexpr size_t kLongestSorted = 200'000;
  Pairs pairs = pairs_of(line, key);
  if (text.size() > kLongestSorted) return pairs;
  const size_t begin = text.find(fmt::format("\"{}\"", key));
  std::map<std::string, size_t> places;
  for (const auto& [name, value] : pairs) places[name] = text.find(fmt::format("\"{}\"", name), begin);
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](const auto& a, const auto& b) { return places[a.first] < places[b.first]; });
  return pairs;
}

/// `data_of` reads what there is of an object {name, hash, symbols, unit}; a recorder may know only a name.
DataIdentity data_of(const InputValue& line) {
  constexpr int32_t kMostSymbols = std::numeric_limits<int32_t>::max();
  DataIdentity data;
  const auto said = line.find("data");
  if (!said || said->is_null()) return data;
  data.name = text_of(*said, "name");
  data.hash = text_of(*said, "hash");
  data.unit = text_of(*said, "unit");
  if (const auto symbols = said->find("symbols"); symbols && !symbols->is_null())
    data.symbols = symbols->whole(0, kMostSymbols);
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!data.hash.empty() &&
      (data.hash.size() != 16 || !std::all_of(data.hash.begin(), data.hash.end(), is_digit)))
    said->at("hash").refuse("16 hexadecimal digits");
  return data;
}

void read_header(const InputValue& line, std::string_view text, LogAbout& out) {
  const std::string format = line.at("format").text(kLongestText);
  if (format != kLogFormat && format != kStreamFormat)
    line.at("format").refuse(fmt::format("\"{}\" or \"{}\"", kLogFormat, kStreamFormat));
  out.is_header = true;
  out.label = label_of(line);
  out.maker = text_of(line, "maker");
  out.name = text_of(line, "name");
  out.placement = text_of(line, "placement");
  out.settings = settings_of(line, "settings", text);
  out.names = pairs_of(line, "names");
  out.data = data_of(line);
  out.unigram = number_of(line, "unigram");
  out.tokens_per_step = number_of(line, "tokens_per_step");
}

void read_result(const InputValue& line, std::string_view text, LogAbout& out) {
  const InputValue result = line.at("result");
  out.label = label_of(line);
  out.name = text_of(line, "name");
  out.data = data_of(line);
  out.verdict = text_of(result, "verdict");
  out.unigram = number_of(result, "unigram");
  out.seconds_per_step = number_of(result, "ms_per_step") * 1e-3;
  out.settings = settings_of(line, "spec", text);
  const auto edits = line.find("edits");
  if (!edits || edits->is_null()) return;
  for (const InputValue& edit : edits->list(0, kMostEdits))
    out.edits.push_back({edit.at("step").whole(0, kLastEdit), edit.at("key").text(kLongestText),
                         edit.at("value").text(kLongestText)});
}

}  // namespace

void LogStep::clear() {
  run = {};
  seed = 0;
  step = -1;
  loss = rate = validation = seconds = NAN;
  stats.clear();
  texts.clear();
}

LineKind read_line(std::string_view line, int64_t number, LogStep& step, LogAbout& about) {
  step.clear();
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find_first_not_of(" \t") == line.npos) return LineKind::Blank;
  if (Scanner(line).scan(step)) return LineKind::Step;
  step.clear();
  const InputValue value = InputValue::parse(line, fmt::format("line {}", number));
  about = {};
  if (value.find("format")) {
    read_header(value, line, about);
    return LineKind::About;
  }
  if (value.find("result")) {
    read_result(value, line, about);
    return LineKind::About;
  }
  if (!value.find("step")) fail(fmt::format("line {}", number), "has no step, no result and no format");
  read_step(value, step);
  return LineKind::Step;
}

}  // namespace normscope::records
