#include "app/shell/shell.h"

#include <imgui.h>

#include <iterator>

#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::shell {

using namespace ui;

namespace {

constexpr float kHeight = 46;
constexpr size_t kRuns = 3;  ///< of which the sentence speaks

/// A stop of the tour: what it is about, from the first control to the last of those that are drawn.
struct Stop {
  const char *words, *first, *last;
};
constexpr Stop kTour[] = {
    {"Three runs, A, B and C, train at once on the same text. The large number is a run's "
     "loss: how badly it foresees the next letter. Lower is better.",
     "run/A", "run/C"},
    {"The model of the chosen run, read from below. The yellow pieces, LN, are the norms. "
     "Drag one to another slot, and a run D trains with it there.",
     "diagram", "diagram"},
    {"The loss of every run, step by step. On the upper dotted line a model knows only how "
     "often each letter comes; below the lower one none can come.",
     "plot/loss", "plot/loss"},
    {"How large the gradient is that reaches each layer, from which the layer learns. Where "
     "it is tiny, a layer learns almost nothing.",
     "plot/gradient-by-layer", "plot/tab/Gradient by layer"},
    {"Choose instant for answers within moments: small models are then trained whole at every "
     "change, while your hand still moves.",
     "transport/speed", "transport/counter"},
    {"Space trains and rests; a drag along the time looks back at any step. Rest the mouse on "
     "a word to read what it means. The lessons explain the rest.",
     "transport/play", "timeline"}};

/// Says as much as there is room for.
const std::string& longest_that_fits(const Painter& p, const TextStyle& style, float room) {
  for (const char* words :
       {"Three copies of one model learn to spell. They differ in where the norm stands and in "
        "how gently they start. Drag a norm and see what happens.",
        "Three copies of one model learn to spell. Drag a norm and see what happens."})
    if (p.text_width(style, tr(words)) <= room) return tr(words);
  return tr("Drag a norm and see what happens.");
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
    return button(ui, name, place, label, tr(help), options);
  }
  void say(const char* name, const std::string& text, const char* help) {
    const TextStyle large{Face::Sans, type::title}, small{Face::Sans, type::body};
    if (ui.paint().text_width(large, text) <= row.w)
      ui.paint().text_in(row, large, ui.theme().ink, text);
    else
      ui.paint().text_wrapped({row.x, row.y - 1, row.w, row.h + 2}, small, ui.theme().ink, text, 15);
    ui.mark(name, row, text, tr(help));
  }
};

std::optional<view::Act> draw_stop(Strip strip, Offers& offers) {
  const auto stop = static_cast<size_t>(offers.tour - 1);
  const bool last = stop + 1 == std::size(kTour);
  if (strip.answer("app/tour/end", tr("End"), "Ends the tour (Escape).") ||
      (!strip.ui.popup_open() && strip.ui.shortcut("Escape")))
    offers.tour = 0;
  if (last) {
    if (strip.answer("app/welcome/lesson", tr("First lesson"),
                     "Lesson 0 takes six minutes: a network that is small enough to follow by hand.")) {
      offers.tour = 0;
      return view::Act::FirstLesson;
    }
  } else if (strip.answer("app/tour/next",
                          tr("Next ({stop} of {stops})", {{"stop", stop + 1}, {"stops", std::size(kTour)}}),
                          "Goes on to the next stop.")) {
    ++offers.tour;
  }
  strip.say("app/tour", tr(kTour[stop].words), "What the frame stands around.");
  return {};
}

}  // namespace

std::optional<view::Act> draw_welcome(Ui& ui, Rect& area, Offers& offers, const LabView& view) {
  if (offers.tour > 0) return draw_stop(Strip(ui, area), offers);
  if (view.unit == "letter" && view.runs.size() > kRuns) offers.welcome = false;  // a norm was dragged
  if (!offers.welcome || view.unit != "letter" || view.runs.size() != kRuns) {
    // Nothing moves under the mouse: the room goes once the user has left the Lab.
    offers.strip = offers.strip && ImGui::IsMousePosValid() && area.contains(ui.mouse());
    if (offers.strip) area.take_top(kHeight);
    return {};
  }
  offers.strip = true;
  Strip strip(ui, area);
  const bool look = strip.answer("app/welcome/look", tr("Look around"),
                                 "A tour of the Lab in six stops; the runs go on meanwhile.");
  const bool lesson =
      strip.answer("app/welcome/lesson", tr("First lesson"),
                   "Lesson 0 takes six minutes: a network that is small enough to follow by hand.");
  strip.say("app/welcome", longest_that_fits(ui.paint(), {Face::Sans, type::title}, strip.row.w),
            "What is training here. This line goes once you have answered or dragged a norm.");
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
