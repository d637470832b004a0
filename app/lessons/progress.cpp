#include "app/lessons/progress.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/core/error.h"
#include "engine/io/atomic_file.h"

namespace normscope::lessons {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

LessonProgress read(const json& j) {
  LessonProgress p;
  p.step = std::clamp(j.value("step", 0), 0, 3);
  p.committed = j.value("committed", false), p.skipped = j.value("skipped", false),
  p.done = j.value("done", false);
  p.drawn = j.value("drawn", std::vector<double>{}), p.order = j.value("order", std::vector<std::string>{});
  p.value = j.value("value", 0.0);
  p.said = j.value("said", ""), p.measured = j.value("measured", ""), p.score = j.value("score", "");
  p.first_said = j.value("first_said", ""), p.first_score = j.value("first_score", "");
  return p;
}

}  // namespace

std::string Progress::default_path() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data == '/')
    return std::string(data) + "/normscope/lessons.json";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.local/share/normscope/lessons.json" : "";
}

Progress::Progress(std::string path) : path_(std::move(path)) { load(); }

void Progress::load() {
  if (path_.empty()) return;
  std::ifstream in(path_, std::ios::binary);
  if (!in) return;
  try {
    const json root = json::parse(in);
    for (const auto& [id, lesson] : root.at("lessons").items()) lessons_[id] = read(lesson);
  } catch (const json::exception&) {
    lessons_.clear();
    std::error_code error;
    fs::rename(path_, path_ + ".unreadable", error);
    notice_ =
        fmt::format("{} cannot be read; it is now {}.unreadable and the course begins anew", path_, path_);
  }
}

void Progress::save() {
  if (path_.empty()) return;
  json root;
  root["lessons"] = json::object();
  for (const auto& [id, p] : lessons_)
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
                           {"first_score", p.first_score}};
  try {
    std::error_code error;
    fs::create_directories(fs::path(path_).parent_path(), error);
    const std::string text = root.dump(1) + "\n";
    AtomicFile file(path_, "progress");
    file.write(text.data(), text.size());
    file.commit();
  } catch (const Error& error) {
    notice_ = error.what();
  }
}

}  // namespace normscope::lessons
