// What the course found, put together: the last page but one.
#include <algorithm>
#include <map>
#include <utility>

#include "app/course/check.h"
#include "app/course/reader.h"
#include "app/lesson-player/text_column.h"
#include "app/ui/widgets.h"
#include "engine/core/boundary.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kWhyWidth = 680;

class WhyPage : public CoursePage {
 public:
  void draw(Ui& ui, Rect rect, LessonContext& context) override {
    Rect seen = panel(ui, rect, {context.tr("So why?"), "", "", 0, false});
    seen = {rect.x + space::pad, seen.y, rect.w - 2 * space::pad, rect.bottom() - seen.y - 8};
    const float width = std::min(kWhyWidth, seen.w - 16), left = seen.x + (seen.w - width) / 2;
    read_this_frame_ = false;
    FlowContext words;
    words.words = context.course.words;
    words.seen = seen;
    words.ring = [&](const std::string& control, const Rect& place, const std::string& id, bool clicked) {
      context.scroll.follow_focus(ui, control, place, seen);
      if (clicked)
        context.turn.lesson = static_cast<size_t>(context.course.find(id) - context.course.lessons.data());
    };
    words.text = [&](const Inline& piece) -> std::string {
      if (piece.kind == Inline::Kind::Lesson) return std::to_string(context.course.find(piece.text)->number);
      const auto [lesson, measure] = measure_named(context.course, piece.text);
      const Results* const results = results_of(*lesson, context);
      if (!results || !results->measures.contains(measure->id)) return "–";
      return range_text(results->measures.at(measure->id).spread, *measure, *context.course.words);
    };
    draw_scrolled(ui, rect, seen, context, [&](float y) {
      return flow(ui, {left, y + 10, width, 0}, *context.course.why, words, true, nullptr) + 30;
    });
  }

 private:
  /// Reads a lesson's measured numbers, at most one lesson a frame.
  const Results* results_of(const Lesson& lesson, LessonContext& context) {
    const auto known = results_.find(lesson.id);
    if (known != results_.end()) return known->second ? &*known->second : nullptr;
    if (std::exchange(read_this_frame_, true)) return nullptr;
    std::optional<Results>& results = results_[lesson.id];
    const Message fault = guarded("lesson " + lesson.id, [&] { results = load_results(lesson); });
    if (!fault.empty()) context.reference_error = fault;
    return results ? &*results : nullptr;
  }

  bool read_this_frame_ = false;                           ///< one more lesson into results_
  std::map<std::string, std::optional<Results>> results_;  ///< by lesson
};

}  // namespace

std::unique_ptr<Page> make_why_page() { return std::make_unique<WhyPage>(); }

}  // namespace normscope::lessons
