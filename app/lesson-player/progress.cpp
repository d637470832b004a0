#include "app/lesson-player/progress.h"

#include <array>
#include <filesystem>

#include "engine/core/error.h"
#include "training/files/places.h"
#include "training/io/codec.h"
#include "training/io/input_file.h"
#include "training/io/input_value.h"
#include "training/io/output_file.h"

namespace normscope::course {

template <class Io>
void io(Io& io, codec::Of<Io, Try>& one) {
  io("set", one.set, codec::Text{4096});
  io("loss", one.loss);
}

}  // namespace normscope::course

namespace normscope::lessons {

namespace {

constexpr size_t kMostLessons = 1000, kMostPoints = 100'000, kMostCards = 100, kMostTries = 1000,
                 kLongest = 4096;
constexpr int32_t kMostHints = 100;

constexpr codec::Map kLessons{kMostLessons, codec::Object{}};

}  // namespace

template <class Io>
void io(Io& io, codec::Of<Io, LessonProgress>& p) {
  constexpr codec::Text kText{kLongest};
  constexpr codec::AnyNumber kNumber;
  const auto told = [&](auto& one, const std::array<const char*, 8>& keys) {
    io.optional(keys[0], one.skipped);
    io.optional(keys[1], one.order, codec::List{0, kMostCards, kText});
    io.optional(keys[2], one.value, kNumber);
    io.optional(keys[3], one.found, codec::List{0, kMostCards, codec::AnyNumber{}});
    io.optional(keys[4], one.own_setting);
    io.optional(keys[5], one.said, kText);
    io.optional(keys[6], one.measured, kText);
    io.optional(keys[7], one.score, kText);
  };
  io.optional("step", p.step, codec::Whole{0, 3});
  io.optional("committed", p.committed);
  io.optional("done", p.done);
  io.optional("drawn", p.drawn, codec::List{0, kMostPoints, kNumber});
  told(p, {"skipped", "order", "value", "found", "own_setting", "said", "measured", "score"});
  told(p.first, {"first_skipped", "first_order", "first_value", "first_found", "first_own_setting",
                 "first_said", "first_measured", "first_score"});
  io.optional("language", p.language, kText);
  io.optional("words", p.words, codec::List{0, course::kSays, kText});
  io.optional("tries", p.tries, codec::List{0, kMostTries, codec::Object{}});
  io.optional("hints", p.hints, codec::Whole{0, kMostHints});
}

std::string Progress::default_path() {
  const std::string data = data_folder();
  return data.empty() ? data : data + "/lessons.json";
}

Progress::Progress(std::string path) : path_(std::move(path)) { load(); }

CourseProgress parse_progress(std::string_view text, const std::string& name) {
  CourseProgress lessons;
  kLessons.read(InputValue::parse(text, name).at("lessons"), lessons);
  return lessons;
}

std::string text_of(const CourseProgress& lessons, int indentation) {
  const codec::Json root = {{"lessons", kLessons.write(lessons)}};
  return codec::text_of(root, indentation);
}

std::string predictions_line(const CourseProgress& progress) {
  CourseProgress kept;
  for (const auto& [id, p] : progress) {
    if (!p.committed && !p.skipped && p.words.empty()) continue;
    LessonProgress& one = kept[id] = p;
    one.drawn.clear();
    one.tries.clear();
  }
  return text_of(kept, -1);
}

void Progress::load() {
  if (path_.empty()) return;
  try {
    if (const auto text = read_input_file_if_there(path_, input::kProgress))
      lessons_ = parse_progress(*text, path_);
  } catch (const Error& error) {
    notice_ = Message("{}; kept as {}, and the course begins anew", error.message, stash(path_));
  }
}

void Progress::save() {
  if (path_.empty()) return;
  try {
    make_folder(std::filesystem::path(path_).parent_path().string(), Access::Own, "progress");
    write_file(path_, text_of(lessons_, 1) + "\n", "progress", Access::Own);
  } catch (const Error& error) {
    notice_ = error.message;
  }
}

}  // namespace normscope::lessons
