// measured.json: what five seeds of a lesson came to. See check.h.
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/course/check.h"
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/io/atomic_file.h"
#include "engine/io/input_value.h"
#include "training/files/input_kinds.h"
#include "training/spec/limits.h"

namespace normscope::lessons {
namespace {

using nlohmann::json;

std::string path_of(const Lesson& lesson) {
  return (std::filesystem::path(lesson.folder) / "measured.json").string();
}

std::string hash_of(const Lesson& lesson) { return hash_text(definition(lesson)); }

/// Five significant digits: what is read and compared by people. JSON knows no infinity: "never".
json rounded(double v) {
  if (std::isinf(v)) return "never";
  if (std::isnan(v)) return nullptr;
  return std::strtod(fmt::format("{:.5g}", v).c_str(), nullptr);
}
json rounded(const std::vector<double>& values) {
  json out = json::array();
  for (double v : values) out.push_back(rounded(v));
  return out;
}

constexpr size_t kMost = 1000, kMostPoints = 100'000, kMostRows = 1024, kLongestText = 100'000;
constexpr std::string_view kNeverWord[] = {"never"};

double number(const InputValue& j) {
  if (j.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (j.is_text()) {
    j.choice(kNeverWord);
    return std::numeric_limits<double>::infinity();
  }
  return j.number(-1e300, 1e300);
}
std::vector<double> numbers(const InputValue& j, size_t least, size_t most) {
  std::vector<double> out;
  for (const InputValue& v : j.list(least, most)) out.push_back(number(v));
  return out;
}

CurveBand curve_of(const InputValue& c) {
  CurveBand band;
  band.x = numbers(c.at("x"), 0, kMostPoints);
  const size_t n = band.x.size();  // as many of each
  band.mean = numbers(c.at("mean"), n, n);
  band.low = numbers(c.at("low"), n, n);
  band.high = numbers(c.at("high"), n, n);
  return band;
}

/// Row i holds the shares of the input and of the i + 1 branches before it.
std::vector<std::vector<double>> map_of(const InputValue& map) {
  std::vector<std::vector<double>> rows;
  for (const InputValue& row : map.list(1, kMostRows)) rows.push_back(numbers(row, 1, rows.size() + 2));
  return rows;
}

std::optional<std::string> read(const Lesson& lesson) {
  return read_input_file_if_there(path_of(lesson), input::kMeasured);
}

}  // namespace

void save_results(const Lesson& lesson, const Results& results) {
  json root;
  root["lesson"] = lesson.id;
  root["definition"] = hash_of(lesson);
  root["seeds"] = results.seeds;
  root["level"] = rounded(results.level);
  for (const auto& [id, m] : results.measures)
    root["measures"][id] = {{"values", rounded(m.values)},
                            {"mean", rounded(m.spread.mean)},
                            {"averaged", to_string(lesson.measure(id)->mean)}};
  for (const auto& [id, c] : results.curves)
    root["curves"][id] = {{"x", rounded(c.x)},
                          {"mean", rounded(c.mean)},
                          {"low", rounded(c.low)},
                          {"high", rounded(c.high)},
                          {"averaged", to_string(lesson.curve(id)->mean)}};
  for (const auto& [id, text] : results.texts) root["texts"][id] = text;
  for (const auto& [id, map] : results.maps)
    for (const std::vector<double>& row : map) root["maps"][id].push_back(rounded(row));
  write_file(path_of(lesson), root.dump(1) + "\n", "lesson");
}

std::optional<Results> parse_results(std::string_view text, const std::string& name, const Lesson& lesson) {
  const InputValue root = InputValue::parse(text, name);
  const auto made_of = root.find("definition");
  if (!made_of || made_of->text(kLongestText) != hash_of(lesson)) return std::nullopt;
  Results out;
  out.seeds = root.at("seeds").whole(1, static_cast<int32_t>(kMost));
  out.level = number(root.at("level"));
  for (const auto& [id, m] : root.at("measures").members(kMost)) {
    const Measure* measure = lesson.measure(id);
    const std::vector<double> values = numbers(m.at("values"), 1, kMost);
    out.measures[id] = {values, spread_of(values, measure ? measure->mean : Mean::Arithmetic)};
  }
  for (const auto& [id, c] : root.at("curves").members(kMost)) out.curves[id] = curve_of(c);
  if (const auto texts = root.find("texts"))
    for (const auto& [id, written] : texts->members(kMost)) out.texts[id] = written.text(kLongestText);
  if (const auto maps = root.find("maps"))
    for (const auto& [id, map] : maps->members(kMost)) out.maps[id] = map_of(map);
  return out;
}

std::optional<Results> load_results(const Lesson& lesson) {
  const auto text = read(lesson);
  return text ? parse_results(*text, path_of(lesson), lesson) : std::nullopt;
}

std::string staleness(const Lesson& lesson, const Results& fresh) {
  if (!read(lesson)) return "missing: write it with normscope lesson check --full --write";
  const std::optional<Results> kept = load_results(lesson);
  if (!kept)
    return "of another definition of this lesson: write it again with normscope lesson check --full --write";
  for (const auto& [id, m] : fresh.measures) {
    const auto it = kept->measures.find(id);
    if (it == kept->measures.end()) return fmt::format("has no '{}': write it again", id);
    // The range of the kept seeds, widened by half of itself and by a quarter of the value: another
    // instruction set takes another path through training; another engine leaves this band.
    const Spread& s = it->second.spread;
    const double room = 0.5 * (s.high - s.low) + 0.25 * std::max(std::abs(s.low), std::abs(s.high)) + 0.05;
    for (double v : m.values)
      if (!std::isinf(v) && (std::isnan(v) || v < s.low - room || v > s.high + room))
        return fmt::format("'{}' is {:.4g} now and was {:.4g} to {:.4g}: write it again", id, v, s.low,
                           s.high);
  }
  return {};
}

}  // namespace normscope::lessons
