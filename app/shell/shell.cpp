#include "app/shell/shell.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "app/lesson-player/player.h"
#include "app/shell/app_state.h"
#include "app/shell/screens.h"
#include "app/shell/settings.h"
#include "app/ui/ui.h"
#include "app/ui/widgets.h"
#include "app/view/diagram_model.h"
#include "app/view/glossary.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "engine/io/input_file.h"
#include "training/files/command_text.h"
#include "training/session/session_file.h"

namespace normscope::shell {
namespace {

using view::Act;
using namespace ui;

constexpr Act kAnywhere[] = {
    Act::Undo,        Act::Redo,     Act::Palette, Act::Save,    Act::SaveAs,      Act::OpenFile,
    Act::CopyCommand, Act::CopyLink, Act::Bigger,  Act::Smaller, Act::NaturalSize, Act::Sheet,
#define SHORTCUT(Name, id, chord, control) Act::Name,
#include "chosen/shortcuts.def"
#undef SHORTCUT
};

void take_back(AppState& state, bool undo) {
  ShownSession& session = state.session;
  if (AppScreen* const own = made_screen(state.screens, state.screens.shown); own && own->has_changes())
    return own->take_back(undo);
  session.commands.push_back(undo ? session::Command(session::Undo{}) : session::Command(session::Redo{}));
  state.screens.lab.diagram().pending.reset();
}

// Follows what the trainer has taken back, or made again.
void follow_step_back(AppState& state) {
  const LabView::StepBack& back = state.session.view->step_back;
  if (std::exchange(state.shell.step_back_shown, back.ticket) == back.ticket) return;
  diagram::DiagramState& diagram = state.screens.lab.diagram();
  diagram.selected = back.selected;
  if (!back.other_runs) return;
  runs_were_replaced(state.files);
  state.notice = back.undo ? tr("the earlier runs are back as they were left; what was training goes on")
                           : tr("the runs that were opened are back");
}

void copy_command(AppState& state, Ui&) {
  std::string& clipboard = state.shell.clipboard;
  clipboard = with_program(command_of(session_of(*state.session.view)), program_word());
  ImGui::SetClipboardText(clipboard.c_str());
  state.notice = tr("copied: a command that reproduces these runs");
}

// Offers the next lost session once the first was restored or declined.
void answer_lost(Offers& offers) {
  if (!offers.lost.empty()) offers.lost.erase(offers.lost.begin());
  offers.restore = !offers.lost.empty();
  offers.answered = true;
}

void restore(AppState& state, Ui&) {
  Offers& offers = state.shell.offers;
  offers.restoring = next_to_restore(offers);
  offers.restore_ticket = 0;
  state.session.asked.emplace_back(session::RestoreSession{offers.restoring});
  answer_lost(offers);
}

void begin_course(AppState& state, Ui&) {
  state.shell.offers.lesson = false;
  state.shell.offers.answered = true;
  lesson_player::Player& player = player_of(state.screens);
  if (player.course().lessons.empty())
    return void(state.notice = tr("there are no lessons beside the program"));
  player.open(player.course().lessons.front().id, course::StepKind::Predict);
  state.screens.shown = Screen::Lessons;
}

// Stashes a session that could not be restored, so that it is neither offered again nor lost.
void check_restored(Offers& offers, const LabView& view, Message& notice) {
  if (offers.restore_ticket == 0 || view.answered < offers.restore_ticket) return;
  if (const Message why = session::refusal(view.answers, offers.restore_ticket); !why.empty()) {
    notice =
        tr("{why}; kept as {folder}", {{"why", words::spoken(why)}, {"folder", stash(offers.restoring)}});
    if (offers.last_session == offers.restoring) offers.last_session.clear();
  }
  offers.restoring.clear();
  offers.restore_ticket = 0;
}

void switch_motion(AppState& state, Ui&) {
  bool& reduced = state.look.reduced_motion;
  reduced = !reduced;
  state.notice = tr(reduced ? "reduced motion is on" : "reduced motion is off");
}

// ---- a refusal is the app's reason against a command or an entry of the palette. The palette and run_act() call the
// same functions, so that nothing is offered that would be refused.

std::string no_runs(const AppState& state) {
  return state.session.view->runs.empty() ? tr("there are no runs") : "";
}

// Asks the shown screen if it has changes of its own, and otherwise the trainer.
std::string step_refusal(const AppState& state, bool undo) {
  const Screen shown = state.screens.shown;
  const AppScreen* const own = made_screen(state.screens, shown);
  if (!own || !own->has_changes()) {
    const bool any = undo ? state.session.can_undo() : state.session.can_redo();
    return any ? "" : tr(undo ? "nothing to undo" : "nothing to redo");
  }
  if (own->can_take_back(undo)) return "";
  return words::say(fmt::format("shell.refusal.{}_{}", name_of(shown), undo ? "undo" : "redo"));
}

std::string course_refusal(const AppState& state) {
  const LessonsScreen& lessons = state.screens.lessons;
  std::error_code error;
  const bool any = lessons.player ? !lessons.player->course().lessons.empty()
                                  : std::filesystem::is_directory(course::lessons_folder(), error);
  return any ? "" : tr("there are no lessons beside the program");
}

// About the run that the diagram shows.
std::string placement_refusal(const AppState& state) {
  const LabView& view = *state.session.view;
  const int shown = diagram::shown_run(state.screens.lab.diagram(), view);
  if (shown < 0) return no_runs(state);
  const ModelConfig& model = view.runs[static_cast<size_t>(shown)].spec->model;
  return is_transformer(model.architecture)
             ? ""
             : tr("there is no residual stream whose wiring could be a placement");
}

std::string batch_refusal(const AppState& state) {
  const bool any = std::ranges::any_of(state.session.view->runs, [](const RunView& run) {
    return is_transformer(run.spec->model.architecture);
  });
  if (std::string none = no_runs(state); !none.empty()) return none;
  return any ? "" : tr("no run has sub-layers to measure: expected a transformer");
}

std::string restore_refusal(const AppState& state) {
  const bool any = state.session.lab && !next_to_restore(state.shell.offers).empty();
  return any ? "" : tr("there is no session to restore");
}

// An act that the app itself carries out, and why it would be refused now. Controls and add-ons carry out the others.
struct Deed {
  Act act;
  void (*run)(AppState&, Ui&);
  std::string (*refusal)(const AppState&) = nullptr;  // null: it always would
};
constexpr Deed kDeeds[] = {
    {Act::Undo, [](AppState& s, Ui&) { take_back(s, true); },
     [](const AppState& s) { return step_refusal(s, true); }},
    {Act::Redo, [](AppState& s, Ui&) { take_back(s, false); },
     [](const AppState& s) { return step_refusal(s, false); }},
    {Act::Palette, [](AppState& s, Ui& ui) { open_palette(ui, s.shell.palette); }},
    {Act::Sheet, [](AppState&, Ui& ui) { ui.open_popup("app/help"); }},
    {Act::Save, [](AppState& s, Ui& ui) { save(ui, s.files, *s.session.view, s.notice); }, no_runs},
    {Act::SaveAs, [](AppState& s, Ui& ui) { save_as(ui, s.files, *s.session.view); }, no_runs},
    {Act::SavePlacement,
     [](AppState& s, Ui& ui) { save_placement(ui, s.files, s.screens.lab.diagram(), *s.session.view); },
     placement_refusal},
    {Act::OpenFile, [](AppState& s, Ui& ui) { ask_open(ui, s.files.prompt); }},
    {Act::CopyCommand, copy_command, no_runs},
    {Act::CopyLink, [](AppState& s, Ui&) { copy_link(s); }, no_runs},
    {Act::Bookmark,
     [](AppState& s, Ui&) {
       lab::TransportState& transport = s.screens.lab.transport();
       lab::toggle_bookmark(transport, lab::cursor_step(transport, *s.session.view));
     }},
    {Act::Back, [](AppState& s, Ui&) { lab::step_cursor(s.screens.lab.transport(), *s.session.view, -1); }},
    {Act::Newest, [](AppState& s, Ui&) { s.screens.lab.transport().pinned_step.reset(); }},
    {Act::Bigger, [](AppState& s, Ui&) { set_scale(s.look, s.look.scale + 0.1f); }},
    {Act::Smaller, [](AppState& s, Ui&) { set_scale(s.look, s.look.scale - 0.1f); }},
    {Act::NaturalSize, [](AppState& s, Ui&) { set_scale(s.look, 1); }},
    {Act::Theme, [](AppState& s, Ui&) { s.look.dark = !s.look.dark; }},
    {Act::ReducedMotion, switch_motion},
    {Act::Measurements, [](AppState& s, Ui&) { s.screens.lab.few() = !s.screens.lab.few(); }},
    {Act::Restore, restore, restore_refusal},
    {Act::FirstLesson, begin_course, course_refusal},
    {Act::MeasureBatch, [](AppState& s, Ui&) { s.session.commands.emplace_back(session::MeasureBatch{}); },
     batch_refusal}};

const Deed* deed_of(Act act) {
  const auto at = std::ranges::find(kDeeds, act, &Deed::act);
  return at == std::end(kDeeds) ? nullptr : at;
}

// Carries out the palette's choice.
void take_chosen(AppState& state, Ui& ui, const PaletteItem& chosen) {
  lab::LabScreen& screen = state.screens.lab;
  if (!chosen.refusal.empty()) return void(state.notice = chosen.refusal);
  if (chosen.act) run_act(state, ui, *chosen.act);
  if (!chosen.term.empty()) state.shell.glossary = chosen.term;
  if (!is_hidden(ui, chosen)) return;
  state.screens.shown = Screen::Lab;
  if (!chosen.control.empty()) screen.reveal(chosen.control, ui.registry());
  screen.diagram().preset_asked = chosen.preset;
}

// Opens the lesson of a glossary term. A learner who is in that lesson stays at the same step.
void show_lesson(AppState& state, const Ui& ui, int number) {
  Screens& screens = state.screens;
  if (screens.shown != Screen::Lessons && ui.held("app/tab/lessons"))
    return void(state.notice = ui.locked_help());
  const Message fault = guarded("opening a lesson", [&] {
    lesson_player::Player& player = player_of(screens);
    if (!player.lesson() || player.lesson()->number != number ||
        player.page() == lesson_player::PageKind::Review)
      player.open(std::to_string(number), course::StepKind::Predict);
    screens.shown = Screen::Lessons;
  });
  if (!fault.empty()) state.notice = fault;
}

}  // namespace

void post_commands(AppState& state) {
  ShownSession& session = state.session;
  session::Hand& hand = state.shell.hand;
  bool replaced = false;
  Screens& screens = state.screens;
  for (size_t i = session.tickets.size(); i < session.commands.size(); ++i) {
    const session::Command& command = session.commands[i];
    hand.selected_after = screens.lab.diagram().selected;
    const session::Ticket ticket = session.lab ? session.lab->post(command, hand) : session.last_ticket + 1;
    if (session::can_be_taken_back(command)) session.last_change = ticket;
    if (std::holds_alternative<session::Undo>(command)) session.last_undo = ticket;
    replaced |= session::replaces_runs(command);
    session.tickets.push_back(ticket);
    session.last_ticket = ticket;
    if (std::holds_alternative<session::RestoreSession>(command)) state.shell.offers.restore_ticket = ticket;
    for (const OtherScreen& other : screens.others)
      if (other.screen) other.screen->posted(command, ticket);
    if (std::holds_alternative<session::ReplaceRuns>(command) && screens.linked_cursor &&
        !screens.linked_cursor->ticket)
      screens.linked_cursor->ticket = ticket;
  }
  screens.lab.posted(session.last_ticket);
  if (replaced) runs_were_replaced(state.files);
}

void copy_text(const std::string& text, const char* what, Shell& shell, Message& notice) {
  shell.clipboard = text;
  ImGui::SetClipboardText(text.c_str());
  notice = tr("copied: {what} as text", {{"what", what}});
}

void run_act(AppState& state, Ui& ui, Act act) {
  state.notice.clear();
  if (std::string why = refusal_of(state, ui, act); !why.empty()) return void(state.notice = std::move(why));
  if (const Deed* deed = deed_of(act)) return deed->run(state, ui);
  for (const auto& part : state.parts)
    if (part->run(act, ui)) return;
}

void begin_shell(AppState& state, Ui& ui) {
  for (const auto& part : state.parts) part->keys(ui);
  follow_step_back(state);
  check_restored(state.shell.offers, *state.session.view, state.notice);
  finish_opening(ui, state.files, state.session, state.notice);
  for (const Act act : kAnywhere)
    if (view::pressed(ui, act)) run_act(state, ui, act);
  const char selected = state.screens.lab.diagram().selected;
  state.shell.hand = {state.shell.gestures.now(), selected, selected};
}

void draw_shell(AppState& state, Ui& ui) {
  Shell& shell = state.shell;
  lab::LabScreen& screen = state.screens.lab;
  post_commands(state);
  const std::shared_ptr<lesson_player::Player>& course = state.screens.lessons.player;
  const bool taught = state.screens.shown == Screen::Lessons && course;
  const int asked =
      view::draw_glossary(ui, shell.glossary, taught ? *course->course().words : words::of_window());
  if (asked != view::kNoLesson) show_lesson(state, ui, asked);
  draw_files(ui, state.files, state.session, state.notice);
  const std::optional<PaletteItem> chosen = draw_palette(
      ui, shell.palette, [&] { return screen.elsewhere(ui.registry(), *state.session.view); },
      state.backend.no_cuda, *state.session.view,
      [&](const PaletteItem& item) { return refusal_of(state, ui, item); });
  if (chosen) take_chosen(state, ui, *chosen);
  for (const auto& part : state.parts) part->draw(ui, state.session, state.screens.shown, state.notice);
}

bool search_box(Ui& ui, const Rect& rect, bool wide) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Hit hit = ui.hit("app/search", rect, "", tr("Finds every control and command by its name (Ctrl+K)."));
  p.fill(rect, t.field, radius::button);
  p.outline(rect, hit.hovered ? t.ink3 : t.control, 1, radius::button);
  Rect inner = rect.inset(9, 0);
  draw_icon(p, Icon::Search, inner.take_left(13, 6).centre(), 13, t.ink2);
  if (rect.w > 70) p.text_in(inner, {Face::Mono, type::tick}, t.ink3, ui::shown_keys("Ctrl+K"), Align::Right);
  inner.take_right(46);
  if (wide) p.text_in(inner, {Face::Sans, type::body}, t.ink3, tr("Find a control or command"));
  return hit.clicked;
}

namespace {

std::string lost_windows(const Offers& offers, const LabView&) {
  return offers.lost.size() > 1
             ? tr("{number} windows ended without closing.", {{"number", offers.lost.size()}})
             : tr("The last window ended without closing.");
}

// A question that the course answers: about a stuck run, else a run that was stuck, else learning at all.
std::string open_question(const Offers&, const LabView& view) {
  const auto was_stuck = [](const RunView& run) {
    const auto stuck = [](const RunEvent& event) { return event.kind == RunEvent::Kind::Stuck; };
    if (!run.history) return false;
    const std::vector<RunEvent> events = run.history->events();
    return std::ranges::any_of(events, stuck);
  };
  for (const RunView& run : view.runs)
    if (run.state == RunState::Stuck)
      return tr("Why does {run} stay at {frequencies}?",
                {{"run", run.letter}, {"frequencies", words::spoken(frequencies_of(view.unit))}});
  for (const RunView& run : view.runs)
    if (run.learning_since > 0 && was_stuck(run))
      return tr("{run} left {frequencies} only at step {step}: why so late?",
                {{"run", run.letter},
                 {"frequencies", words::spoken(frequencies_of(view.unit))},
                 {"step", grouped(run.learning_since)}});
  return tr("What decides whether a model learns?");
}

// One offer at a time: a lost session first, then the next step of a new visitor. Where the text has no room, the
// button alone names the offer.
struct Offer {
  bool Offers::*open;
  Act act;
  std::string (*text)(const Offers&, const LabView&);
  const char *action, *alone, *help;  // keys of words
};
constexpr Offer kOffers[] = {
    {&Offers::restore, Act::Restore, lost_windows, "Restore it", "Restore runs",
     "The runs as they stood, to go on bit for bit; of several sessions the newest first."},
    {&Offers::lesson, Act::FirstLesson, open_question, "First lesson", "First lesson",
     "Predict, measure, compare, explain: the first lesson of the course."},
};

}  // namespace

std::optional<Act> quiet_bar(Ui& ui, const Rect& room, Offers& offers, const LabView& view) {
  const auto offer = std::find_if(std::begin(kOffers), std::end(kOffers), [&](const Offer& o) {
    const bool later = offers.welcome && o.open == &Offers::lesson;
    return offers.*o.open && !later;
  });
  if (offer == std::end(kOffers)) return {};
  const TextStyle bold{Face::Bold, type::body}, style{Face::Sans, type::body};
  const std::string text = offer->text(offers, view);
  const Painter& p = ui.paint();
  const bool whole = p.text_width(style, text) <= room.w - (26 + 4 + 96 + 10);
  const float answer = whole ? 96 : p.text_width(bold, tr(offer->alone)) + 20;
  if (room.w < 26 + 4 + answer) return {};
  Rect rest = room.inset(0, (room.h - 26) / 2);
  const bool no = icon_button(ui, "app/offer/close", rest.take_right(26, 4), Icon::Close, tr("Not now."),
                              {.quiet = true});
  const bool yes = button(ui, "app/offer/accept", rest.take_right(answer, 10),
                          tr(whole ? offer->action : offer->alone), tr(offer->help), {.style = bold});
  if (whole) ui.paint().text_in(rest, style, ui.theme().ink2, text, Align::Right);
  ui.mark("app/offer", rest, text, tr("An offer; nothing waits for the answer."));
  if (no) {
    offers.*offer->open = false;
    offers.answered = true;
    if (offer->act == Act::Restore) answer_lost(offers);
  }
  if (!yes) return {};
  if (offer->act == Act::Restore) {  // a person with a lost session is not a new visitor
    offers.lesson = false;
    offers.answered = true;
  }
  return offer->act;
}

std::string refusal_of(const AppState& state, const ui::Ui& ui, Act act) {
  if (ui.held(view::shortcut_of(act).control)) return ui.locked_help();
  const Deed* deed = deed_of(act);
  return deed && deed->refusal ? deed->refusal(state) : "";
}

bool is_hidden(const ui::Ui& ui, const PaletteItem& item) {
  return item.preset || (!item.control.empty() && !ui.registry().find(item.control));
}

std::string refusal_of(const AppState& state, const ui::Ui& ui, const PaletteItem& item) {
  if (!item.refusal.empty()) return item.refusal;
  if (item.act) return refusal_of(state, ui, *item.act);
  const bool away = state.screens.shown != Screen::Lab && ui.held("app/tab/lab");
  const bool locked = item.preset ? diagram::preset_held(ui, *item.preset) : ui.held(item.control);
  if (locked || (away && is_hidden(ui, item))) return ui.locked_help();
  if (!item.preset) return "";
  const LabView& view = *state.session.view;
  const int shown = diagram::shown_run(state.screens.lab.diagram(), view);
  if (shown < 0) return tr("there are no runs");
  return view::preset_refusal(view.runs[static_cast<size_t>(shown)].spec->model, *item.preset);
}

namespace {

constexpr float kHeight = 46;
constexpr size_t kRuns = 3;  ///< in the welcome's sentence

/// A stop of the tour: its words, and its controls, from the first to the last that is drawn.
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

/// The longest form of the welcome that fits `room` px.
const std::string& longest_that_fits(const Painter& p, const TextStyle& style, float room) {
  for (const char* words :
       {"Three copies of one model learn to spell. They differ in where the norm stands and in "
        "how gently they start. Drag a norm and see what happens.",
        "Three copies of one model learn to spell. Drag a norm and see what happens."})
    if (p.text_width(style, tr(words)) <= room) return tr(words);
  return tr("Drag a norm and see what happens.");
}

/// A line of text above the Lab with answer buttons, which are placed from the right.
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
    ButtonOptions options{.style = {Face::Bold, type::body}};
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
    // Nothing moves under a hand that holds something; once it lets go the room goes.
    offers.strip = offers.strip && ImGui::IsMouseDown(ImGuiMouseButton_Left);
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
