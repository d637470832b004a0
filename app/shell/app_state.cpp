#include "app/shell/app_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

#include "app/compare_screen/compare_screen.h"
#include "app/files/file_kind.h"
#include "app/lessons/player.h"
#include "app/panels/plot_files.h"
#include "app/settings/backend_switch.h"
#include "app/settings/settings_rows.h"
#include "app/shell/classroom/teacher.h"
#include "app/shell/guard.h"
#include "app/shell/plain_message.h"
#include "app/sweep/screen/sweep_screen.h"
#include "app/ui/widgets.h"
#include "app/view/shortcuts.h"
#include "engine/core/boundary.h"
#include "engine/io/atomic_file.h"
#include "engine/spec/backend_choice.h"

namespace normscope {
namespace {

using namespace ui;

constexpr std::array<int, 8> kScales{75, 90, 100, 125, 150, 175, 200, 250};  // percent
constexpr const char* kReplace = "lesson/replace";

// The mark of the program: a residual stream, a branch, a norm.
void logo(Ui& ui, Vec at) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill({at.x, at.y, 4, 20}, t.ink);
  p.bezier({at.x + 3, at.y + 3}, {at.x + 9, at.y + 4}, {at.x + 10, at.y + 5}, {at.x + 11, at.y + 8}, t.ink,
           1.6f);
  p.bezier({at.x + 3, at.y + 17}, {at.x + 9, at.y + 16}, {at.x + 10, at.y + 15}, {at.x + 11, at.y + 12},
           t.ink, 1.6f);
  p.accent_box(t, {at.x + 6, at.y + 5, 10, 10}, 3);
}

void scale_button(Ui& ui, const Rect& rect, Appearance& look) {
  ButtonOptions plain;
  plain.style = {Face::Sans, type::title};
  // The effective scale is shown: a small window takes the largest that fits.
  const std::string now = fmt::format("{} %", std::lround(ui.scale() / look.monitor_scale * 100));
  if (button(ui, "app/scale", rect, now,
             "Size of everything (Ctrl+plus, Ctrl+minus). A small window takes the largest that fits.",
             plain))
    ui.open_popup("app/scale");
  const float h = 26;
  const Rect list{rect.x - 24, rect.bottom() + 6, rect.w + 24, h * kScales.size() + 12};
  if (!ui.begin_popup("app/scale", list)) return;
  Rect rest = list.inset(6);
  for (int percent : kScales) {
    ButtonOptions o;
    o.quiet = true;
    o.style = {Face::Mono, type::body};
    o.selected = std::lround(look.scale * 100) == percent;
    if (button(ui, fmt::format("app/scale/{}", percent), rest.take_top(h).inset(0, 1),
               fmt::format("{} %", percent), fmt::format("Everything at {} %.", percent), o)) {
      set_scale(look, static_cast<float>(percent) / 100);
      ui.close_popup();
    }
  }
  ui.end_popup();
}

std::string cuda_reason(const BackendState& backend, bool clock) {
  if (!clock) return {};  // what depends on the machine is left out of pictures
  if (!backend.cuda.valid()) return cuda_unavailable();
  const bool known = backend.cuda.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  return known ? backend.cuda.get() : "looking for an NVIDIA GPU";
}

// Returns its left end.
float backend_switch(Ui& ui, const Rect& room, bool wide, BackendState& backend, bool clock,
                     ShownSession& session) {
  std::optional<BackendChoice> choice;
  const LabView& view = *session.view;
  const BackendSwitch now{view.backend, cuda_reason(backend, clock), view.backend_note};
  backend.no_cuda = now.reason;
  const float left = draw_backend_switch(ui, now, room,
                                         ui.size().x >= 1600 ? 330.f
                                         : wide              ? 150.f
                                                             : 0.f,
                                         choice);
  if (choice) {
    backend.chosen = *choice;
    session.commands.emplace_back(lab::SetBackend{*choice});
  }
  return left;
}

// In one line, in two smaller ones where it is long; what is longer still is whole under the mouse.
void message(Ui& ui, const Rect& room, const std::string& notice) {
  constexpr float kLine = 15;
  Painter& p = ui.paint();
  const TextStyle line{Face::Sans, type::body}, small{Face::Sans, type::tick};
  ui.mark("app/message", room, notice, "What the trainer has to say.");
  if (p.text_width(line, notice) <= room.w)
    return void(p.text_in(room, line, ui.theme().ink2, notice, Align::Right));
  const float height = p.wrapped_height(room.w, small, notice, kLine);
  if (height < 2.5f * kLine) {
    const Rect two{room.x, room.y + (room.h - height) / 2, room.w, height};
    return void(p.text_wrapped(two, small, ui.theme().ink2, notice, kLine));
  }
  p.text_in(room, line, ui.theme().ink2, notice, Align::Right);
  if (room.contains(ui.mouse())) ui.tooltip(notice);
}

struct Tab {
  Screen screen;
  const char *name, *word, *key, *tip;
};

constexpr Tab kTabs[] = {
    {Screen::Lab, "app/tab/lab", "Lab", "1", "The Lab: runs side by side, and their wiring to change (1)."},
    {Screen::Lessons, "app/tab/lessons", "Lessons", "2",
     "The course: predict, measure, compare, explain (2)."},
    {Screen::Compare, "app/tab/compare", "Compare", "3",
     "Runs side by side, live, saved and recorded; one is the baseline (3)."},
    {Screen::Sweep, "app/tab/sweep", "Sweep", "4",
     "One or two settings over their values: where it begins to learn (4)."},
};

// Returns where the room right of them begins.
float tabs(Ui& ui, const Rect& bar, Screen& shown) {
  const bool hints = ui.size().x >= 1400;
  float x = 165;
  for (const Tab& each : kTabs) {
    const float width = ui.paint().text_width({Face::Sans, type::title}, each.word) + (hints ? 26.f : 12.f);
    if (tab(ui, each.name, {x, bar.y, width, bar.h}, each.word, hints ? each.key : "", shown == each.screen,
            each.tip))
      shown = each.screen;
    x += width + 16;
  }
  return x;
}

// With or without the top bar.
void tab_keys(Ui& ui, Screen& shown) {
  for (const Tab& each : kTabs)
    if (ui.shortcut(each.key, each.name)) shown = each.screen;
}

// No way leads to a screen whose tab is held.
void keep_to_tabs(const Ui& ui, Screen before, Screen& shown, std::string& notice) {
  const auto* const now =
      std::find_if(std::begin(kTabs), std::end(kTabs), [&](const Tab& each) { return each.screen == shown; });
  if (shown == before || now == std::end(kTabs) || !ui.held(now->name)) return;
  shown = before;
  notice = kLockedHelp;
}

// It takes the whole state because what is asked for here can be any command of the app.
void top_bar(AppState& state, Ui& ui, const Rect& bar) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill(bar, t.panel);
  p.hairline({bar.x, bar.bottom() - 1}, {bar.right(), bar.bottom() - 1}, t.border);
  const float cy = bar.y + bar.h / 2;
  logo(ui, {20.5f, cy - 10});
  p.text({46, cy + 6}, {Face::Bold, type::figure}, t.ink, "normscope");
  const float free = tabs(ui, bar, state.screens.shown);

  const float h = 28;
  float x = bar.right() - 14 - h;
  ButtonOptions plain;
  plain.style = {Face::Sans, type::title};
  const Rect help{x, cy - h / 2, h, h};
  const bool ask = button(ui, "app/help", help, "?", "What the hands and the keys do (?).", plain);
  if (ask) ui.open_popup("app/help");
  shell::draw_sheet(ui, {help.right(), help.bottom() + 6});
  x -= h + 6;
  if (icon_button(ui, "app/theme", {x, cy - h / 2, h, h}, Icon::Theme, "Light or dark.", {},
                  state.look.dark ? "dark" : "light"))
    state.look.dark = !state.look.dark;
  x -= 54 + 6;
  scale_button(ui, {x, cy - h / 2, 54, h}, state.look);
  const bool wide = ui.size().x >= 1400;
  const float search = wide ? 244.f : 78.f;
  x -= search + 6;
  if (shell::search_box(ui, {x, cy - h / 2, search, h}, wide)) shell::run_act(state, ui, shell::Act::Palette);
  const Rect switch_room{free, bar.y, x - 12 - free, bar.h};
  x = backend_switch(ui, switch_room, wide, state.backend, state.switches.clock, state.session);
  x = classroom::draw_lesson_bar(ui, {free, bar.y, x - 12 - free, bar.h}, state.teaching);

  // One line of the trainer: a refusal, a notice, what is being built.
  const LabView& view = *state.session.view;
  std::string notice = plain_message(view.message.empty() ? state.notice : view.message);
  if (notice.empty() && view.busy) notice = "building the run …";
  const Rect room{free, bar.y, x - 16 - free, bar.h};
  if (!notice.empty()) return message(ui, room, notice);
  if (const auto accepted = shell::quiet_bar(ui, room, state.shell.offers))
    shell::run_act(state, ui, *accepted);
}

void replace_runs(Screens& screens, std::vector<lab::Command>& commands) {
  screens.lessons.player->stop_measuring();  // the Lab trains them; what it finishes is found there
  screens.shown = Screen::Lab;
  commands.emplace_back(*std::exchange(screens.lessons.to_lab, std::nullopt));
}

// A lesson's runs wait for an answer where those in the Lab could not come back. Above the button, which
// stands at the lower edge.
void ask_replacing(Ui& ui, const Rect& way, Screens& screens, std::vector<lab::Command>& commands) {
  constexpr std::string_view kWords =
      "The lesson's runs take the place of all in the Lab. This cannot be undone.";
  constexpr float kWidth = 300, kLine = 18;
  const TextStyle body{Face::Sans, type::body};
  const float words = ui.paint().wrapped_height(kWidth - 32, body, kWords, kLine);
  Rect box{0, 0, kWidth, words + 62};
  box.x = std::clamp(way.right() - box.w, 4.f, ui.size().x - box.w - 4);
  box.y = way.y - box.h - 8;
  if (!ui.begin_popup(kReplace, box)) return screens.lessons.to_lab.reset();
  Rect rest = box.inset(16, 12);
  ui.mark("lesson/replace/words", rest, kWords, "What would happen.");
  ui.paint().text_wrapped(rest.take_top(words, 10), body, ui.theme().ink, kWords, kLine);
  if (button(ui, "lesson/replace/yes", rest.take_right(120, 8), "Replace them", "Opens the lesson's runs.")) {
    replace_runs(screens, commands);
    ui.close_popup();
  }
  if (button(ui, "lesson/replace/no", rest.take_right(80), "Cancel", "Leaves the Lab as it is."))
    ui.close_popup();
  ui.end_popup();
}

void draw_lessons(Ui& ui, const Rect& area, Screens& screens, ShownSession& session) {
  Lab* const lab = session.lab;
  lessons::Player& player = player_of(screens.lessons, lab);
  const std::optional<lessons::ToLab> to_lab = player.draw(ui, area);
  // Two trainings at once would only slow each other down.
  if (lab && player.measuring() && session.view->playing) lab->post(lab::Pause{});
  if (to_lab && !lab) screens.shown = Screen::Lab;
  if (to_lab && lab) {
    screens.lessons.to_lab = lab::ReplaceRuns{
        to_lab->runs, to_lab->edits, to_lab->open, to_lab->open, session.undo.next_slot(), to_lab->letters};
    if (!session.undo.keeps_sessions() && !session.view->runs.empty())
      ui.open_popup(kReplace);
    else
      replace_runs(screens, session.commands);
  }
  if (screens.lessons.to_lab)
    if (const Control* way = ui.registry().find("lesson/lab"))
      ask_replacing(ui, way->rect, screens, session.commands);
}

void draw_compare(AppState& state, Ui& ui, const Rect& area) {
  comparison::CompareScreen& screen = screen_of(state.screens.compare);
  screen.draw(ui, *state.session.view, state.screens.lab.transport(), area, state.switches.clock,
              state.session.commands);
  if (screen.take_wish()) shell::run_act(state, ui, shell::Act::OpenFile);
}

// What was recognised as a log or a saved run is shown where it can be compared.
// The places of the live runs are known once these are there.
void open_recorded(Screens& screens, shell::Files& files, const LabView& view) {
  if (view.runs.empty()) return;
  for (const std::string& path : std::exchange(files.recorded, {})) {
    screen_of(screens.compare).open(path, view);
    screens.shown = Screen::Compare;
  }
}

// A cell becomes run D, from step 0, beside the others; undo takes it away again.
void open_cell(const RunSpec& spec, Screens& screens, ShownSession& session, std::string& notice) {
  const LabView& view = *session.view;
  if (view.runs.empty()) {
    session.commands.emplace_back(lab::ReplaceRuns{.runs = {spec}, .play = true});
  } else if (!(view.runs[0].spec->data == spec.data)) {
    notice =
        "the cell learns another text than the runs of the Lab: save it by Copy, or change the sweep's text";
    return;
  } else {
    session.commands.emplace_back(lab::ForkRequest{
        .source = 0, .spec = spec, .from_start = true, .note = "a cell of the sweep", .train = true});
  }
  screens.shown = Screen::Lab;
}

void draw_sweep(AppState& state, Ui& ui, const Rect& area) {
  std::vector<sweep::OpenRun> open;
  for (const RunView& run : state.session.view->runs) open.push_back({run.letter, run.name, run.spec});
  const sweep::Asked asked = sweep_of(state.screens.sweep).draw(ui, area, open, state.switches.clock);
  if (asked.open) open_cell(*asked.open, state.screens, state.session, state.notice);
  if (!asked.copied.empty()) shell::copy_text(asked.copied, state.shell, state.notice);
  if (!asked.file) return;
  try {
    const std::string path = lab::pictures_folder() + "/normscope-" + asked.file->first;
    const std::string free = free_name(path);
    write_file(free, asked.file->second, "sweep");
    state.notice = "saved " + free;
  } catch (...) {
    state.notice = describe_exception("saving the sweep");
  }
}

void begin_frame(Ui& ui, const AppState& state) {
  const Appearance& look = state.look;
  FrameOptions options;
  options.dark = look.dark;
  options.scale = look.scale * look.monitor_scale * (state.presentation.on ? classroom::kLarger : 1.f);
  options.reduced_motion = look.reduced_motion;
  options.record_text = state.switches.record_text;
  classroom::set_rules(options, state.teaching);
  ui.begin_frame(options);
}

// A part of the frame. One that throws shows why in its place; the rest of the window lives on.
void draw_part(Ui& ui, const char* doing, const Rect& area, const std::function<void()>& draw) {
  const std::string error = draw_guarded(ui, doing, draw);
  if (error.empty()) return;
  ui.paint().fill(area, ui.theme().panel);
  ui.mark("app/failure", area, error, "This part of the window cannot be drawn.");
  const Rect text = area.inset(space::pad);
  ui.paint().text_wrapped(text, {Face::Sans, type::body}, ui.theme().ink, error, 17);
}

}  // namespace

void draw_app(AppState& state, Ui& ui) {
  ShownSession& session = state.session;
  Screens& screens = state.screens;
  if (session.lab) session.view = session.lab->view();
  if (!session.view) session.view = std::make_shared<const LabView>();
  begin_frame(ui, state);
  session.commands.clear();
  const Screen before = screens.shown;
  shell::begin_shell(state, ui);
  open_recorded(screens, state.files, *session.view);
  for (lab::Command& asked : std::exchange(session.asked, {})) session.commands.push_back(std::move(asked));
  Rect area{0, 0, ui.size().x, ui.size().y};
  ui.paint().fill(area, ui.theme().bg);
  tab_keys(ui, screens.shown);
  if (state.presentation.on) {
    shell::draw_sheet(ui, {ui.size().x - 14, 6});
  } else {
    const Rect bar = area.take_top(lab::layout_for(ui.size()) == lab::Size::Compact ? 40.f : 44.f);
    draw_part(ui, "drawing the title bar", bar, [&] { top_bar(state, ui, bar); });
  }
  if (screens.shown == Screen::Lessons)
    draw_part(ui, "drawing the lessons", area, [&] { draw_lessons(ui, area, screens, session); });
  else if (screens.shown == Screen::Compare)
    draw_part(ui, "drawing the comparison", area, [&] { draw_compare(state, ui, area); });
  else if (screens.shown == Screen::Sweep)
    draw_part(ui, "drawing the sweep", area, [&] { draw_sweep(state, ui, area); });
  else
    draw_part(ui, "drawing the Lab", area,
              [&] { screens.lab.draw(ui, *session.view, area, state.switches.clock, session.commands); });
  if (screens.sweep.screen) screens.sweep.screen->share(session.view->playing);
  std::string error = draw_guarded(ui, "drawing what is open", [&] { shell::draw_shell(state, ui); });
  if (!error.empty()) state.notice = std::move(error);
  keep_to_tabs(ui, before, screens.shown, state.notice);
  ui.end_frame();
  error = guarded("carrying out what was asked", [&] {
    session.saves = screens.lab.take_saves();
    if (screens.compare.screen)
      for (lab::SavePlot& save : screens.compare.screen->take_saves())
        session.saves.push_back(std::move(save));
    if (std::string saved = lab::save_plots(session.saves, state.look.dark); !saved.empty())
      state.notice = std::move(saved);
    if (session.lab)
      for (const lab::Command& command : session.commands) session.lab->post(command);
    keep_sidecar(state.sidecar, screens, session, state.teaching);
  });
  if (!error.empty()) state.notice = std::move(error);
}

}  // namespace normscope
