#include "app/shell/shell.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/files/command_text.h"
#include "app/files/session_file.h"
#include "app/lessons/player.h"
#include "app/shell/app_state.h"
#include "app/shell/settings.h"
#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/io/input_file.h"

namespace normscope::shell {
namespace {

using namespace ui;

constexpr Act kAnywhere[] = {Act::Undo,    Act::Redo,        Act::Palette,     Act::Save,
                             Act::SaveAs,  Act::OpenFile,    Act::CopyCommand, Act::Bigger,
                             Act::Smaller, Act::NaturalSize, Act::Sheet};

void take_back(AppState& state, bool undo) {
  Shell& shell = state.shell;
  char selected = state.lab_screen.diagram().selected;
  const bool did = undo ? shell.undo.undo(*state.view, state.commands, selected)
                        : shell.undo.redo(*state.view, state.commands, selected);
  if (!did) {
    state.notice = undo ? "nothing to undo" : "nothing to redo";
    return;
  }
  state.lab_screen.diagram().selected = selected;
  state.lab_screen.diagram().pending.reset();
  if (!std::holds_alternative<lab::SwapSession>(state.commands.back())) return;
  shell.swapping = true;
  state.notice = undo ? "the runs of before are back" : "the runs that were opened are back";
}

void copy_command(AppState& state) {
  if (state.view->runs.empty()) return;
  state.shell.clipboard = with_program(command_of(session_of(*state.view)), program_word());
  ImGui::SetClipboardText(state.shell.clipboard.c_str());
  state.notice = "copied: a command that reproduces these runs";
}

// The first of the lost sessions was restored or declined: the next one is offered.
void answer_lost(Shell& shell) {
  if (!shell.lost.empty()) shell.lost.erase(shell.lost.begin());
  shell.offer_restore = !shell.lost.empty();
  shell.offers_answered = true;
}

void restore(AppState& state) {
  Shell& shell = state.shell;
  const std::string session = shell.lost.empty() ? shell.last_session : shell.lost.front();
  if (session.empty() || !state.lab) {
    state.notice = "there is no session to restore";
    return;
  }
  restore_session(state, session, false);
  answer_lost(shell);
}

void open_game(AppState& state, Ui& ui) {
  Shell& shell = state.shell;
  shell.offer_game = false;
  shell.offers_answered = true;
  if (state.view->runs.empty()) return;
  try {
    start_game(shell.guessing_game, *state.view->runs[0].spec);
  } catch (...) {
    state.notice = describe_exception("opening a text");
    return;
  }
  shell.guessing_game.open = true;
  ui.open_popup("app/opener");
}

void begin_course(AppState& state) {
  state.shell.offer_lesson = false;
  state.shell.offers_answered = true;
  lessons::Player& player = lessons_screen(state);
  if (player.course().lessons.empty()) return void(state.notice = "there are no lessons beside the program");
  player.open(player.course().lessons.front().id, lessons::StepKind::Predict);
  state.screen = Screen::Lessons;
}

void set_scale(AppState& state, float scale) {
  state.scale = std::clamp(std::round(scale * 100) / 100, 0.75f, 2.5f);
}

// A session that could not be restored is stashed, so that it is neither offered again nor lost.
void check_restored(AppState& state) {
  Shell& shell = state.shell;
  if (shell.restoring.empty() || state.view->version < shell.restore_asked + 2 || state.view->busy) return;
  if (!state.view->message.empty()) {
    state.notice = state.view->message + "; kept as " + stash(shell.restoring);
    if (shell.last_session == shell.restoring) shell.last_session.clear();
  }
  shell.restoring.clear();
}

}  // namespace

void run_act(AppState& state, Ui& ui, Act act) {
  state.notice.clear();
  switch (act) {
    case Act::Undo:
    case Act::Redo:
      return take_back(state, act == Act::Undo);
    case Act::Palette:
      return open_palette(ui, state.shell.palette);
    case Act::Sheet:
      return ui.open_popup("app/help");
    case Act::Save:
      return save(state, ui);
    case Act::SaveAs:
      return save_as(state, ui);
    case Act::OpenFile:
      return ask_open(state, ui);
    case Act::CopyCommand:
      return copy_command(state);
    case Act::Bookmark:
      return lab::toggle_bookmark(state.lab_screen.transport(),
                                  lab::cursor_step(state.lab_screen.transport(), *state.view));
    case Act::Back:
      return lab::step_cursor(state.lab_screen.transport(), *state.view, -1);
    case Act::Newest:
      return state.lab_screen.transport().pinned_step.reset();
    case Act::Bigger:
      return set_scale(state, state.scale + 0.1f);
    case Act::Smaller:
      return set_scale(state, state.scale - 0.1f);
    case Act::NaturalSize:
      return set_scale(state, 1);
    case Act::Theme:
      state.dark = !state.dark;
      return;
    case Act::ReducedMotion:
      state.reduced_motion = !state.reduced_motion;
      state.notice = state.reduced_motion ? "reduced motion is on" : "reduced motion is off";
      return;
    case Act::Restore:
      return restore(state);
    case Act::GuessingGame:
      return open_game(state, ui);
    case Act::FirstLesson:
      return begin_course(state);
    case Act::MeasureBatch:
      if (!state.view->runs.empty()) state.commands.emplace_back(lab::MeasureBatch{});
      return;
    default:
      return;  // belongs to a control
  }
}

void begin_shell(AppState& state, Ui& ui) {
  check_restored(state);
  finish_opening(state, ui);
  for (const Act act : kAnywhere)
    if (pressed(ui, act)) run_act(state, ui, act);
  state.shell.own_commands = state.commands.size();
  state.shell.selected_before = state.lab_screen.diagram().selected;
}

void draw_shell(AppState& state, Ui& ui) {
  Shell& shell = state.shell;
  const std::span<const lab::Command> made = std::span(state.commands).subspan(shell.own_commands);
  const bool held =
      ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsMouseReleased(ImGuiMouseButton_Left);
  shell.undo.note(*state.view, made, shell.selected_before, state.lab_screen.diagram().selected, held);

  const auto replaces = [](const lab::Command& command) {
    return std::holds_alternative<lab::ReplaceRuns>(command) ||
           std::holds_alternative<lab::SwapSession>(command);
  };
  if (std::any_of(state.commands.begin(), state.commands.end(), replaces)) runs_were_replaced(shell.files);

  draw_glossary(ui, shell.glossary);
  draw_files(state, ui);
  if (draw_game(ui, shell.guessing_game, *state.view)) {
    if (shell.guessing_game.guesses.count() >= kGameEnough) {
      shell.person = shell.guessing_game.guesses.nats();
      state.lab_screen.set_person(shell.person);
      shell.offer_lesson = true;
    }
    if (shell.guessing_game.lesson) run_act(state, ui, Act::FirstLesson);
  }
  const std::optional<PaletteItem> chosen = draw_palette(
      ui, shell.palette, [&] { return state.lab_screen.elsewhere(ui.registry(), *state.view); },
      state.no_cuda);
  if (!chosen) return;
  const bool runs = chosen->act || chosen->preset || !chosen->control.empty() || !chosen->term.empty();
  if (!runs) state.notice = chosen->help;
  if (chosen->act) run_act(state, ui, *chosen->act);
  if (!chosen->term.empty()) shell.glossary = chosen->term;
  const bool hidden = !chosen->control.empty() && !ui.registry().find(chosen->control);
  if (!hidden && !chosen->preset) return;
  state.screen = Screen::Lab;
  if (hidden) state.lab_screen.reveal(chosen->control, ui.registry());
  state.lab_screen.diagram().preset_asked = chosen->preset;
}

void search_box(AppState& state, Ui& ui, const Rect& rect, bool wide) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Hit hit = ui.hit("app/search", rect, "", "Every control and command by name (Ctrl+K).");
  p.fill(rect, t.field, radius::button);
  p.outline(rect, hit.hovered ? t.ink3 : t.border, 1, radius::button);
  Rect inner = rect.inset(9, 0);
  draw_icon(p, Icon::Search, inner.take_left(13, 6).centre(), 13, t.ink2);
  p.text_in(inner, {Face::Mono, type::tick}, t.ink3, "Ctrl K", Align::Right);
  inner.take_right(46);
  if (wide) p.text_in(inner, {Face::Sans, type::body}, t.ink3, "Find a control or command");
  if (hit.clicked) run_act(state, ui, Act::Palette);
}

namespace {

// What can be offered, one at a time: a lost session first, then what a new visitor may do next.
struct Offer {
  bool Shell::*open;
  Act act;
  const char *text, *action, *help;
};
constexpr Offer kOffers[] = {
    {&Shell::offer_restore, Act::Restore, "The last window ended without closing.", "Restore it",
     "The runs as they stood, to go on bit for bit; of several sessions the newest first."},
    {&Shell::offer_game, Act::GuessingGame, "Can you guess the next letter?", "Two minutes",
     "Guess letters of a sentence; your own line appears on the loss plot."},
    {&Shell::offer_lesson, Act::FirstLesson, "Why does A stay at letter frequencies?", "First lesson",
     "Predict, measure, compare, explain: the first lesson of the course."},
};

}  // namespace

bool quiet_bar(AppState& state, Ui& ui, const Rect& room) {
  Shell& shell = state.shell;
  const auto offer =
      std::find_if(std::begin(kOffers), std::end(kOffers), [&](const Offer& o) { return shell.*o.open; });
  if (offer == std::end(kOffers)) return false;
  Rect rest = room.inset(0, (room.h - 26) / 2);
  ButtonOptions quiet;
  quiet.quiet = true;
  const bool no = icon_button(ui, "app/offer/close", rest.take_right(26, 4), Icon::Close, "Not now.", quiet);
  ButtonOptions look;
  look.style = {Face::Bold, type::body};
  const bool yes = button(ui, "app/offer/accept", rest.take_right(96, 10), offer->action, offer->help, look);
  const TextStyle style{Face::Sans, type::body};
  const std::string text = offer->act == Act::Restore && shell.lost.size() > 1
                               ? fmt::format("{} windows ended without closing.", shell.lost.size())
                               : offer->text;
  if (ui.paint().text_width(style, text) <= rest.w)
    ui.paint().text_in(rest, style, ui.theme().ink2, text, Align::Right);
  ui.mark("app/offer", rest, text, "An offer; nothing waits for the answer.");
  if (yes) run_act(state, ui, offer->act);
  if (yes && offer->act == Act::Restore) {
    shell.offer_game = false;
    shell.offers_answered = true;  // not their first visit
  }
  if (no) {
    shell.*offer->open = false;
    shell.offers_answered = true;
  }
  if (no && offer->act == Act::Restore) answer_lost(shell);
  return true;
}

}  // namespace normscope::shell
