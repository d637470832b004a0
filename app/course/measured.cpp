// measured.json keeps the results of five seeds of a lesson; check.h declares its reader and its writer.
#include <cmath>
#include <filesystem>

#include "app/course/check/check.h"
#include "app/course/reading/measure_rules.h"
#include "engine/core/error.h"
#include "training/io/atomic_file.h"
#include "training/io/input_kinds.h"
#include "training/io/input_value.h"
#include "training/spec/codec.h"

namespace normscope::course {
namespace {

std::string path_of(const Lesson& lesson) {
  return (std::filesystem::path(lesson.folder) / "measured.json").string();
}

std::string hash_of(const Lesson& lesson) { return hash_text(definition(lesson)); }

/// Writes five significant digits, because people read and compare these numbers.
constexpr codec::AnyNumber kShort{.digits = 5};

std::optional<std::string> read(const Lesson& lesson) {
  return read_input_file_if_there(path_of(lesson), input::kMeasured);
}

}  // namespace

template <class Io>
void io(Io& io, codec::Of<Io, Measured>& m) {
  io("values", m.values, codec::List{1, kMostOfLesson, kShort});
  io.note("mean", kShort.write(m.spread.mean));
}

template <class Io>
void io(Io& io, codec::Of<Io, CurveBand>& c) {
  io("x", c.x, codec::List{0, kMostOfCurve, kShort});
  const codec::List as_many{c.x.size(), c.x.size(), kShort};
  io("mean", c.mean, as_many);
  io("low", c.low, as_many);
  io("high", c.high, as_many);
}

template <class Io>
void io(Io& io, codec::Of<Io, Results>& r) {
  io("seeds", r.seeds, codec::Whole{1, kMostOfLesson});
  io("level", r.level, kShort);
  io("measures", r.measures, codec::Map{kMostOfLesson, codec::Object{}});
  io("curves", r.curves, codec::Map{kMostOfLesson, codec::Object{}});
  io.optional("texts", r.texts, codec::Map{kMostOfLesson, codec::Text{kMostOfText}});
  io.optional("maps", r.maps, codec::Map{kMostOfLesson, ShareRows{kShort}});
}

void save_results(const Lesson& lesson, const Results& results) {
  codec::Json root = codec::write(results);
  root["lesson"] = lesson.id;
  root["definition"] = hash_of(lesson);
  for (const auto& [id, m] : results.measures)
    root["measures"][id]["averaged"] = to_string(lesson.measure(id)->mean);
  for (const auto& [id, c] : results.curves)
    root["curves"][id]["averaged"] = to_string(lesson.curve(id)->mean);
  write_file(path_of(lesson), root.dump(1) + "\n", "lesson");
}

std::optional<Results> parse_results(std::string_view text, const std::string& name, const Lesson& lesson) {
  const InputValue root = InputValue::parse(text, name);
  const auto made_of = root.find("definition");
  if (!made_of || made_of->text(kMostOfText) != hash_of(lesson)) return std::nullopt;
  auto results = codec::read<Results>(root);
  for (auto& [id, m] : results.measures) {
    const Measure* measure = lesson.measure(id);
    m.spread = spread_of(m.values, measure ? measure->mean : Mean::Arithmetic);
  }
  return results;
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
    // The room covers another instruction set, which takes another path through training. It does not cover another
    // version of the engine.
    const Spread& s = it->second.spread;
    const double room = 0.5 * (s.high - s.low) + 0.25 * std::max(std::abs(s.low), std::abs(s.high)) + 0.05;
    for (double v : m.values)
      if (!std::isinf(v) && (std::isnan(v) || v < s.low - room || v > s.high + room))
        return fmt::format("'{}' is {:.4g} now and was {:.4g} to {:.4g}: write it again", id, v, s.low,
                           s.high);
  }
  return {};
}

}  // namespace normscope::course
