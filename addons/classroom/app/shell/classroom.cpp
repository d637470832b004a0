#include "addons/classroom/app/shell/classroom.h"

#include "addons/classroom/app/shell/kept_teaching.h"
#include "addons/classroom/app/shell/teacher.h"

namespace normscope::shell {

std::unique_ptr<WindowPart> make_classroom() { return std::make_unique<classroom::Classroom>(); }

namespace classroom {

void Classroom::begin(ui::FrameOptions& options) const {
  if (presentation.on) options.scale *= kLarger;
  set_rules(options, teaching);
}

void Classroom::keys(ui::Ui& ui) {
  if (!closed_by_key(ui, teaching)) presentation_keys(ui, presentation);
}

bool Classroom::run(view::Act act, ui::Ui& ui) {
  if (act == view::Act::Present)
    switch_presentation(presentation);
  else if (act == view::Act::Teacher)
    enter(ui, teaching);
  else
    return false;
  return true;
}

float Classroom::draw_in_bar(ui::Ui& ui, const ui::Rect& room) { return draw_lesson_bar(ui, room, teaching); }

void Classroom::draw(ui::Ui& ui, ShownSession& session, Screen shown, Message& notice) {
  draw_teacher(ui, teaching, session, shown, notice);
  draw_presentation(ui, presentation);
}

std::string Classroom::kept() const {
  return teaching.kept.empty() ? "" : codec::text_of(codec::write(teaching.kept));
}

void Classroom::restore(const InputValue* kept) {
  take_in(teaching, kept ? codec::read<KeptTeaching>(*kept) : KeptTeaching{});
}

}  // namespace classroom
}  // namespace normscope::shell
