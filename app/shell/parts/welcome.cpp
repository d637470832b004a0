#include "app/shell/parts/welcome.h"

#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::shell {

using namespace ui;

namespace {

constexpr float kHeight = 46;
constexpr size_t kRuns = 3;  ///< of which the sentence speaks

/// `longest_that_fits` says as much as there is room for.
const std::string& longest_that_fits(const Painter& p, const TextStyle& style, float room) {
  for (const char* words : {"shell.welcome.text", "shell.welcome.short"})
    if (p.text_width(style, words::say(words)) <= room) return words::say(words);
  return words::say("shell.welcome.brief");
}

}  // namespace

std::optional<view::Act> draw_welcome(Ui& ui, Rect& area, Offers& offers, const LabView& view) {
  if (!offers.welcome || view.unit != "letter") return {};
  if (view.runs.size() > kRuns) offers.welcome = false;  // a norm was dragged
  if (view.runs.size() != kRuns) return {};
  const float margin = layout_for(ui.size()) == Size::Compact ? 8 : space::margin;  // as the cards below
  const Rect strip = area.take_top(kHeight).inset(margin, 0);
  const Rect box{strip.x, strip.y + 6, strip.w, strip.h - 6};
  ui.paint().fill(box, ui.theme().accent_soft, radius::panel);
  Rect row = box.inset(space::pad, 6);
  const TextStyle bold{Face::Bold, type::body};
  const auto answer = [&](const char* name, const char* words, const char* help, bool primary) {
    ButtonOptions options;
    options.style = bold;
    options.primary = primary;
    const std::string& label = words::say(words);
    const Rect place = row.take_right(ui.paint().text_width(bold, label) + 28, 8);
    return button(ui, name, place, label, words::say(help), options);
  };
  const bool look = answer("app/welcome/look", "shell.welcome.look", "shell.welcome.help_look", false);
  const bool lesson =
      answer("app/welcome/lesson", "shell.welcome.lesson", "shell.welcome.help_lesson", false);
  const TextStyle style{Face::Sans, type::title};
  const std::string& text = longest_that_fits(ui.paint(), style, row.w);
  ui.paint().text_in(row, style, ui.theme().ink, text);
  ui.mark("app/welcome", row, text, words::say("shell.welcome.help"));
  if (look || lesson) {
    offers.welcome = false;
    offers.answered = true;
  }
  return lesson ? std::optional(view::Act::FirstLesson) : std::nullopt;
}

}  // namespace normscope::shell
