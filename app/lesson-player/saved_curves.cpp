#include "app/lesson-player/saved_curves.h"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "app/course/check.h"
#include "app/course/tables.h"
#include "app/course/tapes.h"
#include "engine/core/error.h"
#include "training/io/atomic_file.h"
#include "training/io/input_kinds.h"
#include "training/io/input_value.h"
#include "training/spec/codec.h"

namespace normscope::course {

template <class Io>
void io(Io& io, codec::Of<Io, CurveData>& c) {
  io("x", c.x, codec::List{0, kMostOfCurve, codec::AnyNumber{}});
  io("y", c.y, codec::List{c.x.size(), c.x.size(), codec::AnyNumber{}});
}

}  // namespace normscope::course

namespace normscope::lessons {
using namespace course;

template <class Io>
void io(Io& io, codec::Of<Io, MeasureState>& state) {
  io("lesson", state.lesson, codec::Text{kMostOfText});
  io.optional("curves", state.curves, codec::Map{kMostOfLesson, codec::Object{}});
  io.optional("maps", state.maps, codec::Map{kMostOfLesson, ShareRows{}});
  io.optional("texts", state.texts, codec::Map{kMostOfLesson, codec::Text{kMostOfText}});
}

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 6;

std::string all_that_decides(const Lesson& lesson, const Changes& changes) {
  std::string out = "version " NORMSCOPE_VERSION "\nseed 1\n" + definition(lesson);
  for (const LessonRun* run : lesson.all_runs())
    out += run->id + "\n" + run_of(lesson, run->id, 1, changes).key();
  for (const LessonTape& tape : lesson.tapes)
    out += definition_of({tape.id, tape_of(lesson, tape.id, changes)});
  return out;
}

/// Whether every curve that the lesson measures is there.
bool is_whole(const Lesson& lesson, const MeasureState& state) {
  return state.lesson == lesson.id && std::ranges::all_of(lesson.curves, [&](const Curve& curve) {
           return of_way(lesson, curve) || state.curves.contains(curve.id);
         });
}

}  // namespace

std::string SavedCurves::folder_beside(const std::string& progress_path) {
  return progress_path.empty() ? "" : (fs::path(progress_path).parent_path() / "lessons").string();
}

std::string SavedCurves::path_of(const Lesson& lesson, const Changes& changes) const {
  return (fs::path(folder_) /
          fmt::format("{}-{}.json", lesson.id, hash_text(all_that_decides(lesson, changes))))
      .string();
}

std::optional<MeasureState> SavedCurves::load(const Lesson& lesson, const Changes& changes) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = path_of(lesson, changes);
  try {
    const auto text = read_input_file_if_there(path, input::kMeasured);
    if (!text) return std::nullopt;
    auto state = codec::read<MeasureState>(InputValue::parse(*text, path));
    if (!is_whole(lesson, state)) return std::nullopt;
    state.changes = changes;
    state.done = true;
    state.share = 1;
    return state;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void SavedCurves::save(const Lesson& lesson, const MeasureState& state) const {
  if (folder_.empty()) return;
  try {
    make_folder(folder_, Access::Own, "lesson");
    write_file(path_of(lesson, state.changes), codec::text_of(codec::write(state)) + "\n", "lesson",
               Access::Own);
    thin_out(lesson);
  } catch (const std::exception&) {
  }
}

void SavedCurves::thin_out(const Lesson& lesson) const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.is_regular_file() && entry.path().filename().string().starts_with(lesson.id + "-") &&
        entry.path().extension() == ".json")
      files.emplace_back(entry.last_write_time(), entry.path());
  std::ranges::sort(files, std::greater<>());
  for (size_t i = kMostFiles; i < files.size(); ++i) fs::remove(files[i].second);
}

}  // namespace normscope::lessons
