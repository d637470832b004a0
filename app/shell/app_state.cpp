#include "app/shell/app_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "app/lessons/kept.h"
#include "app/lessons/player.h"
#include "app/panels/plot_files.h"
#include "app/settings/backend_switch.h"
#include "app/settings/settings_rows.h"
#include "app/shell/guard.h"
#include "app/shell/plain_message.h"
#include "app/ui/widgets.h"
#include "app/view/shortcuts.h"
#include "engine/core/boundary.h"
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

void set_scale(AppState& state, float scale) { state.scale = std::clamp(scale, 0.75f, 2.5f); }

void scale_button(AppState& state, Ui& ui, const Rect& rect) {
  ButtonOptions plain;
  plain.style = {Face::Sans, type::title};
  // The effective scale is shown: a small window takes the largest that fits.
  const std::string now = fmt::format("{} %", std::lround(ui.scale() / state.monitor_scale * 100));
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
    o.selected = std::lround(state.scale * 100) == percent;
    if (button(ui, fmt::format("app/scale/{}", percent), rest.take_top(h).inset(0, 1),
               fmt::format("{} %", percent), fmt::format("Everything at {} %.", percent), o)) {
      set_scale(state, static_cast<float>(percent) / 100);
      ui.close_popup();
    }
  }
  ui.end_popup();
}

std::string cuda_reason(const AppState& state) {
  if (!state.clock) return {};  // what depends on the machine is left out of pictures
  if (!state.cuda.valid()) return cuda_unavailable();
  const bool known = state.cuda.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  return known ? state.cuda.get() : "looking for an NVIDIA GPU";
}

// Returns its left end.
float backend_switch(AppState& state, Ui& ui, const Rect& room, bool wide) {
  std::optional<BackendChoice> choice;
  const BackendSwitch now{state.view->backend, cuda_reason(state), state.view->backend_note};
  state.no_cuda = now.reason;
  const float left = draw_backend_switch(ui, now, room,
                                         ui.size().x >= 1600 ? 330.f
                                         : wide              ? 150.f
                                                             : 0.f,
                                         choice);
  if (choice) {
    state.backend = *choice;
    state.commands.emplace_back(lab::SetBackend{*choice});
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

void top_bar(AppState& state, Ui& ui, const Rect& bar) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill(bar, t.panel);
  p.hairline({bar.x, bar.bottom() - 1}, {bar.right(), bar.bottom() - 1}, t.border);
  const float cy = bar.y + bar.h / 2;
  logo(ui, {20.5f, cy - 10});
  p.text({46, cy + 6}, {Face::Bold, type::figure}, t.ink, "normscope");
  const bool hints = ui.size().x >= 1400;
  if (tab(ui, "app/tab/lab", {165, bar.y, 44, bar.h}, "Lab", hints ? "1" : "", state.screen == Screen::Lab,
          "The Lab: runs side by side, and their wiring to change (1)."))
    state.screen = Screen::Lab;
  if (tab(ui, "app/tab/lessons", {225, bar.y, hints ? 76.f : 64.f, bar.h}, "Lessons", hints ? "2" : "",
          state.screen == Screen::Lessons, "The course: predict, measure, compare, explain (2)."))
    state.screen = Screen::Lessons;
  if (ui.shortcut("1")) state.screen = Screen::Lab;
  if (ui.shortcut("2")) state.screen = Screen::Lessons;

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
                  state.dark ? "dark" : "light"))
    state.dark = !state.dark;
  x -= 54 + 6;
  scale_button(state, ui, {x, cy - h / 2, 54, h});
  const bool wide = ui.size().x >= 1400;
  const float search = wide ? 244.f : 78.f;
  x -= search + 6;
  shell::search_box(state, ui, {x, cy - h / 2, search, h}, wide);
  x = backend_switch(state, ui, {325, bar.y, x - 12 - 325, bar.h}, wide);

  // One line of the trainer: a refusal, a notice, what is being built.
  std::string notice = plain_message(state.view->message.empty() ? state.notice : state.view->message);
  if (notice.empty() && state.view->busy) notice = "building the run …";
  const Rect room{325, bar.y, x - 16 - 325, bar.h};
  if (notice.empty()) return void(shell::quiet_bar(state, ui, room));
  message(ui, room, notice);
}

void replace_runs(AppState& state) {
  state.player->stop_measuring();  // the Lab trains them; what it finishes is found there
  state.screen = Screen::Lab;
  state.commands.emplace_back(*std::exchange(state.of_lesson, std::nullopt));
}

// A lesson's runs wait for an answer where those in the Lab could not come back. Above the button, which
// stands at the lower edge.
void ask_replacing(AppState& state, Ui& ui, const Rect& way) {
  constexpr std::string_view kWords =
      "The lesson's runs take the place of all in the Lab. This cannot be undone.";
  constexpr float kWidth = 300, kLine = 18;
  const TextStyle body{Face::Sans, type::body};
  const float words = ui.paint().wrapped_height(kWidth - 32, body, kWords, kLine);
  Rect box{0, 0, kWidth, words + 62};
  box.x = std::clamp(way.right() - box.w, 4.f, ui.size().x - box.w - 4);
  box.y = way.y - box.h - 8;
  if (!ui.begin_popup(kReplace, box)) return state.of_lesson.reset();
  Rect rest = box.inset(16, 12);
  ui.mark("lesson/replace/words", rest, kWords, "What would happen.");
  ui.paint().text_wrapped(rest.take_top(words, 10), body, ui.theme().ink, kWords, kLine);
  if (button(ui, "lesson/replace/yes", rest.take_right(120, 8), "Replace them", "Opens the lesson's runs.")) {
    replace_runs(state);
    ui.close_popup();
  }
  if (button(ui, "lesson/replace/no", rest.take_right(80), "Cancel", "Leaves the Lab as it is."))
    ui.close_popup();
  ui.end_popup();
}

void draw_lessons(AppState& state, Ui& ui, const Rect& area) {
  lessons::Player& player = lessons_screen(state);
  const std::optional<lessons::ToLab> to_lab = player.draw(ui, area);
  // Two trainings at once would only slow each other down.
  if (state.lab && player.measuring() && state.view->playing) state.lab->post(lab::Pause{});
  if (to_lab && !state.lab) state.screen = Screen::Lab;
  if (to_lab && state.lab) {
    state.of_lesson = lab::ReplaceRuns{
        to_lab->runs,   to_lab->edits, to_lab->open, to_lab->open, state.shell.undo.next_slot(state.stash),
        to_lab->letters};
    if (state.stash.empty() && !state.view->runs.empty())
      ui.open_popup(kReplace);
    else
      replace_runs(state);
  }
  if (state.of_lesson)
    if (const Control* way = ui.registry().find("lesson/lab")) ask_replacing(state, ui, way->rect);
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

void open_file(AppState& state, const std::string& path, bool asked) {
  shell::begin_opening(state, path, asked ? shell::Sure::Asked : shell::Sure::Dropped);
}

lessons::Player& lessons_screen(AppState& state) {
  if (!state.player) {
    const std::string progress = state.remembers ? lessons::Progress::default_path() : "";
    state.player = std::make_shared<lessons::Player>(
        lessons::read_course(lessons::lessons_folder()),
        std::make_unique<lessons::Worker>(state.wake, 0, state.lab ? state.lab->finished_runs() : nullptr,
                                          lessons::Kept::folder_beside(progress)),
        progress);
  }
  return *state.player;
}

void draw_app(AppState& state, Ui& ui) {
  if (state.lab) state.view = state.lab->view();
  if (!state.view) state.view = std::make_shared<const LabView>();
  FrameOptions options;
  options.dark = state.dark;
  options.scale = state.scale * state.monitor_scale;
  options.reduced_motion = state.reduced_motion;
  options.record_text = state.record_text;
  ui.begin_frame(options);
  state.commands.clear();
  shell::begin_shell(state, ui);
  for (lab::Command& asked : std::exchange(state.asked, {})) state.commands.push_back(std::move(asked));
  Rect area{0, 0, ui.size().x, ui.size().y};
  ui.paint().fill(area, ui.theme().bg);
  const Rect bar = area.take_top(lab::layout_for(ui.size()) == lab::Size::Compact ? 40.f : 44.f);
  draw_part(ui, "drawing the title bar", bar, [&] { top_bar(state, ui, bar); });
  if (state.screen == Screen::Lessons)
    draw_part(ui, "drawing the lessons", area, [&] { draw_lessons(state, ui, area); });
  else
    draw_part(ui, "drawing the Lab", area,
              [&] { state.lab_screen.draw(ui, *state.view, area, state.clock, state.commands); });
  std::string error = draw_guarded(ui, "drawing what is open", [&] { shell::draw_shell(state, ui); });
  if (!error.empty()) state.notice = std::move(error);
  ui.end_frame();
  error = guarded("carrying out what was asked", [&] {
    state.saves = state.lab_screen.take_saves();
    if (std::string saved = lab::save_plots(state.saves, state.dark); !saved.empty())
      state.notice = std::move(saved);
    if (state.lab)
      for (const lab::Command& command : state.commands) state.lab->post(command);
    keep_sidecar(state);
  });
  if (!error.empty()) state.notice = std::move(error);
}

}  // namespace normscope
