// The player has a wiring of the learner's own kept under a name. See wiring_keeper.h.
#include <algorithm>
#include <iterator>

#include "app/course/lesson.h"
#include "app/lessons/player.h"
#include "app/lessons/wiring_keeper.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"

namespace normscope::lessons {

using namespace ui;

const WiringKeeper* wiring_keeper() {
  using Get = const WiringKeeper& (*)();
  static constexpr Get kKeepers[] = {
#define WIRING_KEEPER(get) get,
#include "chosen/wiring_keepers.def"
#undef WIRING_KEEPER
      nullptr};
  if constexpr (std::size(kKeepers) > 1) return &kKeepers[0]();
  return nullptr;
}

bool Player::can_keep() const {
  if (lesson()->own.empty() || step_ != course::StepKind::Explain || !measured_) return false;
  const course::Changes& made = measurer_->state()->changes;
  const auto run = made.find(lesson()->own);
  return run != made.end() && std::any_of(run->second.begin(), run->second.end(), [](const auto& change) {
           return change.first.starts_with("wiring.");
         });
}

/// Right of the line above the slider, midway between the puzzle and the button that runs again.
void Player::draw_keep_button(Ui& ui, Rect& head) {
  const WiringKeeper* keeper = wiring_keeper();
  if (!keeper || lesson()->own.empty() || step_ != course::StepKind::Explain) return;
  const course::Changes made = measurer_->state()->changes;
  const bool kept = kept_ == made && !kept_as_.empty();
  ButtonOptions options;
  options.enabled = can_keep() && !kept;
  Rect place = head.take_right(150, 12);
  place.y -= 5;
  if (!button(ui, "lesson/keep", place, keeper->label(*course_.words, kept ? kept_as_ : ""),
              keeper->help(*course_.words, can_keep()), options))
    return;
  keeping_failed_ = guarded("keeping the wiring", [&] {
    kept_as_ = keeper->keep(progress_path_,
                            course::wiring_settings(course::spec_of(*lesson(), lesson()->own, 1, made)));
    kept_ = made;
  });
}

/// Says below the text as what the wiring is kept.
void Player::draw_keep_words(Ui& ui, Rect& rest) {
  const TextStyle style{Face::Sans, type::title};
  std::string words = words::spoken(keeping_failed_);
  if (words.empty() && kept_) words = wiring_keeper()->told(*course_.words, kept_as_);
  if (words.empty()) return;
  const Theme& t = ui.theme();
  rest.take_top(8);
  const float height =
      ui.paint().text_wrapped(rest, style, keeping_failed_.empty() ? t.ink : t.error, words, 20);
  ui.mark("lesson/kept", {rest.x, rest.y, rest.w, height}, words, tr("Where your wiring is kept."));
  rest.take_top(height, 4);
}

}  // namespace normscope::lessons
