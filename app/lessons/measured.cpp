// measured.json: what five seeds of a lesson came to. See check.h.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/lessons/check.h"
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/io/atomic_file.h"

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

double number(const json& j) {
  if (j.is_string()) return std::numeric_limits<double>::infinity();
  return j.is_number() ? j.get<double>() : std::numeric_limits<double>::quiet_NaN();
}
std::vector<double> numbers(const json& j) {
  std::vector<double> out;
  for (const json& v : j) out.push_back(number(v));
  return out;
}

json read(const Lesson& lesson) {
  std::ifstream in(path_of(lesson), std::ios::binary);
  if (!in) return {};
  try {
    return json::parse(in);
  } catch (const json::exception& error) {
    throw Error(fmt::format("{}:1: {}", path_of(lesson), error.what()));
  }
}

}  // namespace

void save_results(const Lesson& lesson, const Results& results) {
  json root;
  root["lesson"] = lesson.id, root["definition"] = hash_of(lesson), root["seeds"] = results.seeds;
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
  const std::string text = root.dump(1) + "\n";
  AtomicFile file(path_of(lesson), "lesson");
  file.write(text.data(), text.size());
  file.commit();
}

std::optional<Results> load_results(const Lesson& lesson) {
  const json root = read(lesson);
  if (root.is_null() || root.value("definition", "") != hash_of(lesson)) return std::nullopt;
  Results out;
  try {
    out.seeds = root.at("seeds"), out.level = number(root.at("level"));
    for (const auto& [id, m] : root.at("measures").items()) {
      const Measure* measure = lesson.measure(id);
      const std::vector<double> values = numbers(m.at("values"));
      out.measures[id] = {values, spread_of(values, measure ? measure->mean : Mean::Arithmetic)};
    }
    for (const auto& [id, c] : root.at("curves").items())
      out.curves[id] = {numbers(c.at("x")), numbers(c.at("mean")), numbers(c.at("low")),
                        numbers(c.at("high"))};
    const json texts = root.value("texts", json::object()), maps = root.value("maps", json::object());
    for (const auto& [id, text] : texts.items()) out.texts[id] = text;
    for (const auto& [id, map] : maps.items())
      for (const json& row : map) out.maps[id].push_back(numbers(row));
  } catch (const json::exception& error) {
    throw Error(fmt::format("{}:1: {}", path_of(lesson), error.what()));
  }
  return out;
}

std::string staleness(const Lesson& lesson, const Results& fresh) {
  const json root = read(lesson);
  if (root.is_null()) return "missing: write it with normscope lesson check --full --write";
  const std::optional<Results> kept = load_results(lesson);
  if (!kept)
    return "of another definition of this lesson: write it again with normscope lesson check --full --write";
  for (const auto& [id, m] : fresh.measures) {
    const auto it = kept->measures.find(id);
    if (it == kept->measures.end()) return fmt::format("has no '{}': write it again", id);
    // The range of the kept seeds, widened by half of itself and by a quarter of the value: another
    // instruction set takes another path through training, another engine leaves this band.
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
