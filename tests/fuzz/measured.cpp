// measured.json of the lesson that shows maps, drawn as the player does.
#include <nlohmann/json.hpp>

#include <fstream>

#include "app/course/check.h"
#include "app/course/figures.h"
#include "app/course/reader.h"
#include "app/plot/plot.h"
#include "fuzz.h"
#include "test_paths.h"

using namespace normscope;
using namespace course;

namespace {

struct LessonFixture {
  Lesson lesson = read_lesson(NORMSCOPE_SOURCE_DIR "/lessons/03-first-steps");
  std::string definition;

  /// Gets the mark of the lesson's present definition, without which nothing of the file is read.
  LessonFixture() {
    lesson.folder = fuzz::Folder::instance().path();
    save_results(lesson, {});
    std::ifstream file(fuzz::Folder::instance().path("measured.json"));
    definition = nlohmann::json::parse(file).at("definition");
  }
};

}  // namespace

FUZZ_TARGET(measured, fuzz::mutate_json) {
  static const LessonFixture known;
  std::string text(input);
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_object() && fuzz::shallow(text)) {
    json["definition"] = known.definition;
    text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  fuzz::accepts([&] {
    const std::optional<Results> results = parse_results(text, "measured.json", known.lesson);
    if (!results) return;
    FigureData figure{.reference = &*results, .maps = &results->maps};
    for (const Figure& one : known.lesson.figures) plot::to_text(figure_plot(known.lesson, one, figure));
  });
}
