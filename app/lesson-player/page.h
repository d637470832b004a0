// A page of the Lessons screen fills the room between the list and the footer. It says what the button that leads on
// does. Each page is one file in pages/.
#pragma once

#include <memory>
#include <string>

#include "app/lesson-player/lesson_context.h"

namespace normscope::lessons {

/// The button that leads on.
struct WayOn {
  std::string text, help;
  bool open = true;
};

class Page {
 public:
  virtual ~Page() = default;
  virtual void draw(ui::Ui& ui, ui::Rect rect, LessonContext& context) = 0;
  virtual WayOn way_on(const LessonContext& context) const = 0;
  virtual void go_on(LessonContext& context) = 0;
  /// What must be answered here before the button leads on; empty: nothing.
  virtual std::string missing(const LessonContext&) const { return ""; }
  /// The help of the button that goes on without an answer; empty: there is no such button.
  virtual std::string skip_help(const LessonContext&) const { return ""; }
  virtual void skip(LessonContext&) {}
  /// Whether the page's own button has something to do: it is yellow then. Otherwise the button that leads on is yellow,
  /// so that a screen has one yellow button.
  virtual bool work_left(LessonContext&) const { return false; }
  /// Called once when a measurement of the lesson has ended, whichever page is shown.
  virtual void measured(LessonContext&) {}
};

/// A page of the whole course leads back to the lesson.
class CoursePage : public Page {
 public:
  WayOn way_on(const LessonContext& context) const override {
    return {context.tr("To lesson {number}", {{"number", context.lesson.number}}),
            context.tr("Back to the lesson.")};
  }
  void go_on(LessonContext& context) override { context.turn.page = context.left; }
};

std::unique_ptr<Page> make_run_page();
std::unique_ptr<Page> make_compare_page(const LessonContext&);
std::unique_ptr<Page> make_challenge_page();
std::unique_ptr<Page> make_explain_page(const LessonContext&);
std::unique_ptr<Page> make_say_page();
std::unique_ptr<Page> make_why_page();
std::unique_ptr<Page> make_review_page();

/// The way on from a lesson's last page, with what is missing there, and what it does.
WayOn way_out(const LessonContext& context, const std::string& missing);
void finish_lesson(LessonContext& context, bool complete);

}  // namespace normscope::lessons
