#include "app/lessons/kept.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/course/check.h"
#include "app/course/reading/exercise_tables.h"
#include "app/course/tapes/tape_curves.h"
#include "app/course/tapes/tape_tables.h"
#include "engine/io/atomic_file.h"
#include "training/files/input_kinds.h"

namespace normscope::lessons {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMostPoints = 100'000, kMostRows = 512, kMostText = 4096, kMostFiles = 6;

/// JSON knows neither infinity nor NaN.
json to_json(const std::vector<double>& values) {
  json out = json::array();
  for (double v : values)
    out.push_back(std::isfinite(v) ? json(v) : std::isnan(v) ? json(nullptr) : json(v > 0 ? "inf" : "-inf"));
  return out;
}

double number(const json& j) {
  if (j.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!j.is_string()) return j.get<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  if (j == "inf") return infinity;
  if (j == "-inf") return -infinity;
  throw Error("a number that is none");
}

std::vector<double> numbers(const json& j, size_t most) {
  if (!j.is_array() || j.size() > most) throw Error("a list that is too long");
  std::vector<double> out;
  for (const json& v : j) out.push_back(number(v));
  return out;
}

std::string all_that_decides(const Lesson& lesson, const Changes& changes) {
  std::string out = "version " NORMSCOPE_VERSION "\nseed 1\n" + definition(lesson);
  for (const LessonRun* run : lesson.all_runs())
    out += run->id + "\n" + RunStore::key_of(spec_of(lesson, run->id, 1, changes), run->edits);
  for (const LessonTape& tape : lesson.tapes)
    out += definition_of({tape.id, tape_of(lesson, tape.id, changes)});
  return out;
}

json to_json(const MeasureState& state) {
  json root;
  root["lesson"] = state.lesson;
  for (const auto& [id, c] : state.curves) root["curves"][id] = {{"x", to_json(c.x)}, {"y", to_json(c.y)}};
  for (const auto& [id, map] : state.maps)
    for (const std::vector<double>& row : map) root["maps"][id].push_back(to_json(row));
  for (const auto& [id, text] : state.texts) root["texts"][id] = text;
  return root;
}

/// Throws Error or json::exception for what is not a whole measurement of the lesson.
MeasureState read(const Lesson& lesson, const json& root) {
  MeasureState state;
  if (root.at("lesson") != lesson.id) throw Error("another lesson");
  state.lesson = lesson.id;
  for (const Curve& curve : lesson.curves) {
    if (of_way(lesson, curve)) continue;
    const json& c = root.at("curves").at(curve.id);
    CurveData data{numbers(c.at("x"), kMostPoints), numbers(c.at("y"), kMostPoints)};
    if (data.x.size() != data.y.size()) throw Error("a curve with a gap");
    state.curves[curve.id] = std::move(data);
  }
  const json none = json::object(), maps = root.value("maps", none), texts = root.value("texts", none);
  for (const auto& [id, map] : maps.items()) {
    if (!map.is_array() || map.size() > kMostRows) throw Error("a map that is too large");
    for (const json& row : map) {
      state.maps[id].push_back(numbers(row, kMostRows + 1));
      if (state.maps[id].back().size() != state.maps[id].size() + 1) throw Error("a map with a gap");
    }
  }
  for (const auto& [id, text] : texts.items()) {
    state.texts[id] = text.get<std::string>();
    if (state.texts[id].size() > kMostText) throw Error("a text that is too long");
  }
  return state;
}

}  // namespace

std::string Kept::folder_beside(const std::string& progress_path) {
  return progress_path.empty() ? "" : (fs::path(progress_path).parent_path() / "lessons").string();
}

std::string Kept::path_of(const Lesson& lesson, const Changes& changes) const {
  return (fs::path(folder_) /
          fmt::format("{}-{}.json", lesson.id, hash_text(all_that_decides(lesson, changes))))
      .string();
}

std::optional<MeasureState> Kept::load(const Lesson& lesson, const Changes& changes) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = path_of(lesson, changes);
  try {
    const auto text = read_input_file_if_there(path, input::kMeasured);
    if (!text) return std::nullopt;
    MeasureState state = read(lesson, json::parse(*text));
    state.changes = changes;
    state.done = true;
    state.share = 1;
    return state;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void Kept::save(const Lesson& lesson, const MeasureState& state) const {
  if (folder_.empty()) return;
  try {
    make_folder(folder_, Access::Own, "lesson");
    write_file(path_of(lesson, state.changes), to_json(state).dump() + "\n", "lesson", Access::Own);
    thin_out(lesson);
  } catch (const std::exception&) {
  }
}

void Kept::thin_out(const Lesson& lesson) const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.is_regular_file() && entry.path().filename().string().starts_with(lesson.id + "-") &&
        entry.path().extension() == ".json")
      files.emplace_back(entry.last_write_time(), entry.path());
  std::sort(files.begin(), files.end(), std::greater<>());
  for (size_t i = kMostFiles; i < files.size(); ++i) fs::remove(files[i].second);
}

}  // namespace normscope::lessons
