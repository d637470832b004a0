#include "app/shell/parts/welcome.h"

#include <imgui.h>

#include <algorithm>
#include <iterator>

#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::shell {

using namespace ui;

namespace {

constexpr float kHeight = 46;
constexpr size_t kRuns = 3;  ///< of which the sentence speaks

/// `Stop` of the tour: what it is about, from the first control to the last of those that are drawn.
struct Stop {
  const char *words, *first, *last;
};
constexpr Stop kTour[] = {{"shell.tour.runs", "run/A", "run/C"},
                          {"shell.tour.diagram", "diagram", "diagram"},
                          {"shell.tour.loss", "plot/loss", "plot/loss"},
                          {"shell.tour.gradient", "plot/gradient-by-layer", "plot/tab/Gradient by layer"},
                          {"shell.tour.time", "transport/play", "timeline"}};

/// Says as much as there is room for.
const std::string& longest_that_fits(const Painter& p, const TextStyle& style, float room) {
  for (const char* words : {"shell.welcome.text", "shell.welcome.short"})
    if (p.text_width(style, words::say(words)) <= room) return words::say(words);
  return words::say("shell.welcome.brief");
}

/// A line of text over the Lab with its answers, which stand from the right.
struct Strip {
  Ui& ui;
  Rect row;

  Strip(Ui& in, Rect& area) : ui(in) {
    const float margin = layout_for(ui.size()) == Size::Compact ? 8 : space::margin;  // as the cards below
    const Rect strip = area.take_top(kHeight).inset(margin, 0);
    const Rect box{strip.x, strip.y + 6, strip.w, strip.h - 6};
    ui.paint().fill(box, ui.theme().accent_soft, radius::panel);
    row = box.inset(space::pad, 6);
  }
  bool answer(const char* name, const std::string& label, const char* help) {
    ButtonOptions options;
    options.style = {Face::Bold, type::body};
    const Rect place = row.take_right(ui.paint().text_width(options.style, label) + 28, 8);
    return button(ui, name, place, label, words::say(help), options);
  }
  void say(const char* name, const std::string& text, const char* help) {
    const TextStyle large{Face::Sans, type::title}, small{Face::Sans, type::body};
    if (ui.paint().text_width(large, text) <= row.w)
      ui.paint().text_in(row, large, ui.theme().ink, text);
    else
      ui.paint().text_wrapped({row.x, row.y - 1, row.w, row.h + 2}, small, ui.theme().ink, text, 15);
    ui.mark(name, row, text, words::say(help));
  }
};

std::optional<view::Act> draw_stop(Strip strip, Offers& offers) {
  const auto stop = static_cast<size_t>(offers.tour - 1);
  const bool last = stop + 1 == std::size(kTour);
  if (strip.answer("app/tour/end", words::say("shell.tour.end"), "shell.tour.help_end") ||
      (!strip.ui.popup_open() && strip.ui.shortcut("Escape")))
    offers.tour = 0;
  if (last) {
    if (strip.answer("app/welcome/lesson", words::say("shell.welcome.lesson"), "shell.welcome.help_lesson")) {
      offers.tour = 0;
      return view::Act::FirstLesson;
    }
  } else if (strip.answer("app/tour/next",
                          words::say("shell.tour.next", {{"stop", stop + 1}, {"stops", std::size(kTour)}}),
                          "shell.tour.help_next")) {
    ++offers.tour;
  }
  strip.say("app/tour", words::say(kTour[stop].words), "shell.tour.help");
  return {};
}

}  // namespace

std::optional<view::Act> draw_welcome(Ui& ui, Rect& area, Offers& offers, const LabView& view) {
  if (offers.tour > 0) return draw_stop(Strip(ui, area), offers);
  if (view.unit == "letter" && view.runs.size() > kRuns) offers.welcome = false;  // a norm was dragged
  if (!offers.welcome || view.unit != "letter" || view.runs.size() != kRuns) {
    // Nothing moves under the hand: the room goes once the hand has left the Lab.
    offers.strip = offers.strip && ImGui::IsMousePosValid() && area.contains(ui.mouse());
    if (offers.strip) area.take_top(kHeight);
    return {};
  }
  offers.strip = true;
  Strip strip(ui, area);
  const bool look =
      strip.answer("app/welcome/look", words::say("shell.welcome.look"), "shell.welcome.help_look");
  const bool lesson =
      strip.answer("app/welcome/lesson", words::say("shell.welcome.lesson"), "shell.welcome.help_lesson");
  strip.say("app/welcome", longest_that_fits(ui.paint(), {Face::Sans, type::title}, strip.row.w),
            "shell.welcome.help");
  if (look || lesson) {
    offers.welcome = false;
    offers.answered = true;
    offers.tour = look ? 1 : 0;
  }
  return lesson ? std::optional(view::Act::FirstLesson) : std::nullopt;
}

void draw_tour(Ui& ui, const Offers& offers) {
  if (offers.tour == 0 || ui.popup_open()) return;
  const Stop& stop = kTour[static_cast<size_t>(offers.tour - 1)];
  Rect place;
  for (const char* name : {stop.first, stop.last})
    if (const Control* control = ui.registry().find(name)) place = joined(place, control->rect);
  if (!place.empty()) spotlight(ui.paint_top(), ui.theme(), place);
}

}  // namespace normscope::shell
