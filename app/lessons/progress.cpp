#include "app/lessons/progress.h"

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/course/exercises/say.h"
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/input_value.h"
#include "training/files/input_kinds.h"
#include "training/files/places.h"

namespace normscope::lessons {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMostLessons = 1000, kMostPoints = 100'000, kMostCards = 100, kMostTries = 1000,
                 kLongest = 4096;
constexpr int32_t kMostHints = 100;

// A number that was not finite was written as null.
double number_of(const InputValue& value, double absent = 0) {
  return value.is_null() ? absent : value.number(-1e300, 1e300);
}

// What an older version did not write is as at the beginning.
LessonProgress read(const InputValue& j) {
  LessonProgress p;
  if (const auto v = j.find("step")) p.step = v->whole(0, 3);
  const auto flag = [&](const char* key, bool& to) {
    if (const auto v = j.find(key)) to = v->flag();
  };
  flag("committed", p.committed);
  flag("skipped", p.skipped);
  flag("done", p.done);
  if (const auto v = j.find("drawn"))
    for (const InputValue& y : v->list(0, kMostPoints)) p.drawn.push_back(number_of(y));
  if (const auto v = j.find("order"))
    for (const InputValue& card : v->list(0, kMostCards)) p.order.push_back(card.text(kLongest));
  if (const auto v = j.find("value")) p.value = number_of(*v);
  if (const auto v = j.find("words"))
    for (const InputValue& word : v->list(0, kSays)) p.words.push_back(word.text(kLongest));
  if (const auto v = j.find("tries"))
    for (const InputValue& one : v->list(0, kMostTries))
      p.tries.push_back(
          {one.at("set").text(kLongest), number_of(one.at("loss"), std::numeric_limits<double>::infinity())});
  if (const auto v = j.find("hints")) p.hints = v->whole(0, kMostHints);
  for (const auto& [key, to] : {std::pair{"said", &p.said},
                                {"measured", &p.measured},
                                {"score", &p.score},
                                {"first_said", &p.first_said},
                                {"first_score", &p.first_score}})
    if (const auto v = j.find(key)) *to = v->text(kLongest);
  return p;
}

}  // namespace

std::string Progress::default_path() {
  const std::string data = data_folder();
  return data.empty() ? data : data + "/lessons.json";
}

Progress::Progress(std::string path) : path_(std::move(path)) { load(); }

std::map<std::string, LessonProgress> parse_progress(std::string_view text, const std::string& name) {
  std::map<std::string, LessonProgress> lessons;
  for (const auto& [id, lesson] : InputValue::parse(text, name).at("lessons").members(kMostLessons))
    lessons[id] = read(lesson);
  return lessons;
}

void Progress::load() {
  if (path_.empty()) return;
  try {
    if (const auto text = read_input_file_if_there(path_, input::kProgress))
      lessons_ = parse_progress(*text, path_);
  } catch (const Error& error) {
    notice_ = fmt::format("{}; kept as {}, and the course begins anew", error.what(), stash(path_));
  }
}

void Progress::save() {
  if (path_.empty()) return;
  json root;
  root["lessons"] = json::object();
  for (const auto& [id, p] : lessons_) {
    json tries = json::array();
    for (const Try& one : p.tries) tries.push_back({{"set", one.set}, {"loss", one.loss}});
    root["lessons"][id] = {{"step", p.step},
                           {"committed", p.committed},
                           {"skipped", p.skipped},
                           {"done", p.done},
                           {"drawn", p.drawn},
                           {"order", p.order},
                           {"value", p.value},
                           {"said", p.said},
                           {"measured", p.measured},
                           {"score", p.score},
                           {"first_said", p.first_said},
                           {"first_score", p.first_score},
                           {"words", p.words},
                           {"tries", tries},
                           {"hints", p.hints}};
  }
  try {
    make_folder(fs::path(path_).parent_path().string(), Access::Own, "progress");
    write_file(path_, root.dump(1) + "\n", "progress", Access::Own);
  } catch (const Error& error) {
    notice_ = error.what();
  }
}

}  // namespace normscope::lessons
