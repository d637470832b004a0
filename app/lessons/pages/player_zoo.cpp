// The player enters a wiring of the learner's own in the zoo beside the others. See player.h.
#include <fmt/format.h>

#include <algorithm>

#include "app/course/own/slots.h"
#include "app/lessons/player.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "app/zoo/own.h"
#include "engine/core/boundary.h"

namespace normscope::lessons {

using namespace ui;

bool Player::can_enter() const {
  if (lesson()->zoo.empty() || step_ != course::StepKind::Explain || !measured_) return false;
  const course::Changes& made = measurer_->state()->changes;
  const auto run = made.find(lesson()->zoo);
  return run != made.end() && std::any_of(run->second.begin(), run->second.end(), [](const auto& change) {
           return change.first.starts_with("wiring.");
         });
}

/// Right of the line above the slider, midway between the puzzle and the button that runs again.
void Player::draw_zoo_button(Ui& ui, Rect& head) {
  if (lesson()->zoo.empty() || step_ != course::StepKind::Explain) return;
  const course::Changes made = measurer_->state()->changes;
  const bool entered = entered_ == made && !entered_as_.empty();
  ButtonOptions options;
  options.enabled = can_enter() && !entered;
  Rect place = head.take_right(150, 12);
  place.y -= 5;
  const std::string label =
      entered ? word("course.zoo.entered", {{"name", entered_as_}}) : word("course.zoo.enter");
  if (!button(ui, "lesson/zoo", place, label,
              can_enter() ? word("course.help.zoo") : word("course.help.zoo_not_yet"), options))
    return;
  entering_failed_ = guarded("entering the wiring in the zoo", [&] {
    entered_as_ =
        zoo::enter(zoo_path_, course::zoo_settings(course::spec_of(*lesson(), lesson()->zoo, 1, made)));
    entered_ = made;
  });
}

/// Says below the text as what the wiring was entered, and how it is trained beside the others.
void Player::draw_zoo_words(Ui& ui, Rect& rest) {
  const TextStyle style{Face::Sans, type::title};
  std::string words = words::error(entering_failed_);
  const Theme& t = ui.theme();
  if (words.empty() && entered_)
    words = word("course.zoo.is", {{"name", entered_as_}}) + " " +
            word("course.zoo.trains",
                 {{"command", fmt::format("normscope zoo --only {},post,pre", entered_as_)}}) +
            " " + word("course.zoo.all");
  if (words.empty()) return;
  rest.take_top(8);
  const float height =
      ui.paint().text_wrapped(rest, style, entering_failed_.empty() ? t.ink : t.error, words, 20);
  ui.mark("lesson/entered", {rest.x, rest.y, rest.w, height}, words, word("course.help.zoo_entered"));
  rest.take_top(height, 4);
}

}  // namespace normscope::lessons
