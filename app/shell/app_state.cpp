#include "app/shell/app_state.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <optional>
#include <stop_token>
#include <utility>

#include "app/lesson-player/player.h"
#include "app/panels/plot_cell.h"
#include "app/settings/settings.h"
#include "app/settings/settings_rows.h"
#include "app/ui/widgets.h"
#include "app/view/shortcuts.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/cpu/isa.h"
#include "engine/io/output_file.h"
#include "training/experiments/probes.h"
#include "training/files/file_kind.h"

namespace normscope::shell {
namespace {

using namespace ui;

// Saves a screen's file under a free name in the pictures folder.
void save_file(const ScreenRequests::File& file, const std::string& what, Message& notice) {
  try {
    const std::string free = free_name(panels::pictures_folder() + "/normscope-" + file.name);
    write_file(free, file.text, what);
    notice = tr("saved {path}", {{"path", free}});
  } catch (...) {
    notice = describe_exception(what.c_str());
  }
}

void replace_runs(session::ReplaceRuns runs, AppState& state) {
  const bool in_lessons = std::exchange(state.screens.shown, Screen::Lab) == Screen::Lessons;
  if (in_lessons && !state.session.lab) return;  // nobody to train them
  // The Lab then trains the lesson's runs, and the lesson finds the finished ones.
  if (in_lessons && state.screens.lessons.player) state.screens.lessons.player->stop_measuring();
  state.session.commands.emplace_back(std::move(runs));
}

// Words of a screen, in shell.toml.
const std::string& tab_words(Screen screen, std::string_view what) {
  return words::say(fmt::format("shell.tab.{}.{}", name_of(screen), what));
}

// The subject of a screen, "the comparison", for the words about its files and about a failure to draw it.
const std::string& subject_of(Screen screen) { return tab_words(screen, "subject"); }

// Carries out the requests of the shown screen. Its commands join the frame's, which draw_app posts.
void carry_out(ScreenRequests requests, AppState& state, Ui& ui) {
  for (session::Command& command : requests.commands) state.session.commands.push_back(std::move(command));
  for (view::SavePlot& save : requests.saves) state.session.saves.push_back(std::move(save));
  for (const ScreenRequests::File& file : requests.files)
    save_file(file, tr("saving {what}", {{"what", subject_of(state.screens.shown)}}), state.notice);
  if (!requests.copied.empty())
    copy_text(requests.copied, subject_of(state.screens.shown).c_str(), state.shell, state.notice);
  if (!requests.notice.empty()) state.notice = std::move(requests.notice);
  if (requests.opens_file) run_act(state, ui, view::Act::OpenFile);
  if (requests.replacing) replace_runs(std::move(*requests.replacing), state);
  if (requests.shown) state.screens.shown = *requests.shown;
}

// Shows an opened model, log or saved run on the screen for such files, or reports in `notice` that none exists.
void open_recorded(Screens& screens, Files& files, const LabView& view, Message& notice) {
  if (std::exchange(files.looked_into, false))
    screens.shown = screen_for(FileKind::Model).value_or(Screen::Lab);
  const std::optional<Screen> recorded = screen_for(FileKind::Recorded);
  for (const std::string& path : std::exchange(files.recorded, {})) {
    if (!recorded) {
      notice = tr("no screen of this program shows {path}", {{"path", path}});
      continue;
    }
    screen_of(screens, *recorded).open(path, view);
    screens.shown = *recorded;
  }
}

// ---- the top bar

constexpr std::array<int, 8> kScales{75, 90, 100, 125, 150, 175, 200, 250};  // percent

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
  ButtonOptions plain{.style = {Face::Sans, type::title}};
  // The button shows the effective scale: up to 100 % a window that is too small takes the largest that fits.
  const std::string now =
      tr("{percent} %", {{"percent", std::lround(ui.scale() / look.monitor_scale * 100)}});
  const std::string note = scale_note(look, ui);
  const std::string help =
      tr("Size of everything (Ctrl+plus, Ctrl+minus).") + (note.empty() ? "" : " " + note + ".");
  if (button(ui, "app/scale", rect, now, help, plain)) ui.open_popup("app/scale");
  const float h = 26;
  const Rect list{rect.x - 24, rect.bottom() + 6, rect.w + 24, h * kScales.size() + 12};
  if (!ui.begin_popup("app/scale", list)) return;
  Rect rest = list.inset(6);
  for (int percent : kScales) {
    ButtonOptions o{.selected = std::lround(look.scale * 100) == percent,
                    .quiet = true,
                    .style = {Face::Mono, type::body}};
    if (button(ui, fmt::format("app/scale/{}", percent), rest.take_top(h).inset(0, 1),
               tr("{percent} %", {{"percent", percent}}),
               tr("Everything at {percent} %.", {{"percent", percent}}), o)) {
      set_scale(look, static_cast<float>(percent) / 100);
      ui.close_popup();
    }
  }
  ui.end_popup();
}

// Offers every language under its own name.
void language_button(Ui& ui, const Rect& rect, Screens& screens) {
  const std::string& now = words::of_window().name();
  std::string letters = now;  // "DE"
  for (char& letter : letters) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  ButtonOptions plain{.style = {Face::Sans, type::title}};
  if (button(ui, "app/language", rect, letters, tr("Language of the window and the course."), plain))
    ui.open_popup("app/language");
  std::vector<std::string> names = words::languages();
  names.insert(names.begin(), "en");
  const float h = 26, w = 96;
  const Rect list{rect.right() - w, rect.bottom() + 6, w, h * static_cast<float>(names.size()) + 12};
  if (!ui.begin_popup("app/language", list)) return;
  Rect rest = list.inset(6);
  for (const std::string& name : names) {
    const words::Language& offered = words::language(name);
    ButtonOptions o{.selected = name == now, .quiet = true, .style = {Face::Sans, type::body}};
    if (button(ui, "app/language/" + name, rest.take_top(h).inset(0, 1), offered.say("shell.language.name"),
               offered.say("shell.language.help"), o)) {
      set_language(screens, name);
      ui.close_popup();
    }
  }
  ui.end_popup();
}

std::string cuda_reason(const BackendState& backend, bool clock) {
  if (!clock) return {};  // nothing in a picture depends on the machine
  if (!backend.cuda.valid()) return cuda_unavailable();
  const bool known = backend.cuda.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  return known ? backend.cuda.get() : tr("looking for an NVIDIA GPU");
}

// Draws the switch and returns its left end.
float backend_switch(Ui& ui, const Rect& room, bool wide, BackendState& backend, bool clock,
                     ShownSession& session) {
  std::optional<BackendChoice> choice;
  const LabView& view = *session.view;
  const settings::BackendSwitch now{view.backend, cuda_reason(backend, clock), view.backend_note};
  backend.no_cuda = now.reason;
  const float left = settings::draw_backend_switch(ui, now, room,
                                                   ui.size().x >= 1600 ? 330.f
                                                   : wide              ? 150.f
                                                                       : 0.f,
                                                   choice);
  if (choice) {
    backend.chosen = *choice;
    session.commands.emplace_back(session::SetBackend{*choice});
  }
  return left;
}

// Takes one line, or two smaller ones for a long notice; a longer one is whole under the mouse.
void message(Ui& ui, const Rect& room, const std::string& notice) {
  ui.mark("app/message", room, notice, tr("What the program has to say."));
  if (!text_whole(ui, room, ui.theme().ink2, notice, Align::Right))
    ui.tell("app/message/whole", room, "", notice);
}

// The control and the key that lead to a screen.
std::string tab_of(Screen screen) { return fmt::format("app/tab/{}", name_of(screen)); }
std::string key_of(Screen screen) { return std::to_string(kScreenKeys[static_cast<size_t>(screen)]); }

// Narrower windows lack room for the program's name and the search's key beside an offer or a message.
bool narrow(const Ui& ui) { return ui.size().x < 1100; }

// Draws the tabs and returns where the room right of them begins.
float tabs(Ui& ui, const Rect& bar, Screen& shown) {
  const bool hints = ui.size().x >= 1400;
  const Ui::Group group(ui, "screens");
  float x = narrow(ui) ? 52 : 165;  // a narrow bar has only the mark before the tabs
  for (const Screen screen : screens_by_key()) {
    const std::string& title = tab_words(screen, "title");
    const float width = ui.paint().text_width({Face::Sans, type::title}, title) + (hints ? 26.f : 12.f);
    if (tab(ui, tab_of(screen), {x, bar.y, width, bar.h}, title, hints ? key_of(screen) : "", shown == screen,
            tab_words(screen, "help")))
      shown = screen;
    x += width + (hints ? 16.f : 10.f);
  }
  return x;
}

// The keys of the tabs work with or without the top bar.
void tab_keys(Ui& ui, Screen& shown) {
  for (const Screen screen : screens_by_key())
    if (ui.shortcut(key_of(screen), tab_of(screen))) shown = screen;
}

// Shows the screen before again if anything led to a screen whose tab is locked or hidden.
void keep_to_tabs(const Ui& ui, Screen before, Screen& shown, Message& notice) {
  if (shown == before || !ui.held(tab_of(shown))) return;
  shown = before;
  notice = ui.locked_help();
}

// Leaves out of pictures whatever depends on the machine.
void help_sheet(AppState& state, Ui& ui, Vec top_right) {
  const bool about = state.switches.clock && ui.popup_open("app/help");
  if (about) state.about.ask(state.files.wake);
  view::draw_sheet(ui, top_right, about ? state.about.text() : "");
}

// Takes the whole state because its buttons can ask for any command of the app.
void top_bar(AppState& state, Ui& ui, const Rect& bar) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill(bar, t.panel);
  p.hairline({bar.x, bar.bottom() - 1}, {bar.right(), bar.bottom() - 1}, t.border);
  const float cy = bar.y + bar.h / 2;
  logo(ui, {20.5f, cy - 10});
  if (!narrow(ui)) p.text({46, cy + 6}, {Face::Bold, type::figure}, t.ink, "normscope");
  const float free = tabs(ui, bar, state.screens.shown);

  const Ui::Group group(ui, "tools");
  const float h = 28;
  float x = bar.right() - 14 - h;
  ButtonOptions plain{.style = {Face::Sans, type::title}};
  const Rect help{x, cy - h / 2, h, h};
  const bool ask = button(ui, "app/help", help, "?", tr("What the mouse and the keys do (?)."), plain);
  if (ask) ui.open_popup("app/help");
  help_sheet(state, ui, {help.right(), help.bottom() + 6});
  x -= h + 6;
  if (icon_button(ui, "app/theme", {x, cy - h / 2, h, h}, Icon::Theme, tr("Light or dark."), {},
                  state.look.dark ? tr("dark") : tr("light")))
    state.look.dark = !state.look.dark;
  x -= 54 + 6;
  scale_button(ui, {x, cy - h / 2, 54, h}, state.look);
  x -= 36 + 6;
  language_button(ui, {x, cy - h / 2, 36, h}, state.screens);
  const bool wide = ui.size().x >= 1400;
  const float search = wide ? 244.f : narrow(ui) ? 34.f : 78.f;
  x -= search + 6;
  if (search_box(ui, {x, cy - h / 2, search, h}, wide)) run_act(state, ui, view::Act::Palette);
  const Rect switch_room{free, bar.y, x - 12 - free, bar.h};
  x = backend_switch(ui, switch_room, wide, state.backend, state.switches.clock, state.session);
  x -= 12;
  for (const auto& part : state.parts) x = part->draw_in_bar(ui, {free, bar.y, x - free, bar.h});

  // One line of the trainer stands here: a refusal, a notice, or what is being built.
  const LabView& view = *state.session.view;
  std::string notice = plain_message(view.message.empty() ? state.notice : view.message);
  if (notice.empty() && view.busy) notice = tr("building the run …");
  const Rect room{free, bar.y, x - 16 - free, bar.h};
  if (!notice.empty()) return message(ui, room, notice);
  if (const auto accepted = quiet_bar(ui, room, state.shell.offers, view)) run_act(state, ui, *accepted);
}

void begin_frame(Ui& ui, const AppState& state) {
  const Appearance& look = state.look;
  FrameOptions options{.dark = look.dark, .scale = look.scale * look.monitor_scale};
  if (look.scale > 1) options.least_scale = look.scale * look.monitor_scale;  // chosen so as to be read
  options.reduced_motion = look.reduced_motion;
  options.record_text = state.switches.record_text;
  for (const auto& part : state.parts) part->begin(options);
  ui.begin_frame(options);
}

// Draws a part of the frame. A part that throws is replaced by its error; the rest of the window is drawn.
void draw_part(Ui& ui, const char* doing, const Rect& area, const std::function<void()>& draw) {
  const Message error = draw_guarded(ui, doing, draw);
  if (error.empty()) return;
  ui.paint().fill(area, ui.theme().panel);
  ui.mark("app/failure", area, words::spoken(error), tr("This part of the window cannot be drawn."));
  const Rect text = area.inset(space::pad);
  ui.paint().text_wrapped(text, {Face::Sans, type::body}, ui.theme().ink, words::spoken(error), 17);
}

void pop_clips(ImDrawList* list, int size) {
  while (list->_ClipRectStack.Size > size) list->PopClipRect();
}

}  // namespace

Message draw_guarded(ui::Ui& ui, std::string_view doing, const std::function<void()>& draw) {
  const ui::Painter* const layer = &ui.paint();
  ImDrawList *const window = ImGui::GetWindowDrawList(), *const top = ImGui::GetForegroundDrawList();
  const int window_clips = window->_ClipRectStack.Size, top_clips = top->_ClipRectStack.Size;
  ImGuiErrorRecoveryState state;
  ImGui::ErrorRecoveryStoreState(&state);
  Message error = guarded(doing, draw);
  if (error.empty()) return error;
  // A group that a thrown error left open is no misuse of Dear ImGui, so it makes no assertion, log or tooltip.
  ImGuiIO& io = ImGui::GetIO();
  const bool asserts = std::exchange(io.ConfigErrorRecoveryEnableAssert, false),
             log = std::exchange(io.ConfigErrorRecoveryEnableDebugLog, false),
             tooltip = std::exchange(io.ConfigErrorRecoveryEnableTooltip, false);
  if (&ui.paint() != layer) ui.end_popup();
  ImGui::ErrorRecoveryTryToRecoverState(&state);
  io.ConfigErrorRecoveryEnableAssert = asserts;
  io.ConfigErrorRecoveryEnableDebugLog = log;
  io.ConfigErrorRecoveryEnableTooltip = tooltip;
  pop_clips(window, window_clips);
  pop_clips(top, top_clips);
  ui.close_popup();
  return error;
}

WindowParts make_window_parts() {
  WindowParts parts;
#define WINDOW_PART(make) parts.push_back(make());
#include "chosen/window_parts.def"
#undef WINDOW_PART
  return parts;
}

void draw_app(AppState& state, Ui& ui) {
  ShownSession& session = state.session;
  Screens& screens = state.screens;
  if (session.lab) session.view = session.lab->view();
  if (!session.view) session.view = std::make_shared<const LabView>();
  begin_frame(ui, state);
  session.commands.clear();
  session.tickets.clear();
  session.saves.clear();
  const Screen before = screens.shown;
  begin_shell(state, ui);
  open_recorded(screens, state.files, *session.view, state.notice);
  follow_linked(screens, *session.view);
  for (session::Command& asked : std::exchange(session.asked, {}))
    session.commands.push_back(std::move(asked));
  Rect area{0, 0, ui.size().x, ui.size().y};
  ui.paint().fill(area, ui.theme().bg);
  tab_keys(ui, screens.shown);
  const bool bare = std::ranges::any_of(state.parts, [](const auto& part) { return part->bare(); });
  ui.begin_region("bar");
  if (bare) {
    help_sheet(state, ui, {ui.size().x - 14, 6});
  } else {
    const Rect bar = area.take_top(layout_for(ui.size()) == Size::Compact ? 40.f : 44.f);
    draw_part(ui, "drawing the title bar", bar, [&] { top_bar(state, ui, bar); });
  }
  if (screens.shown == Screen::Lab && !bare)
    if (const auto chosen = draw_welcome(ui, area, state.shell.offers, *session.view))
      run_act(state, ui, *chosen);
  if (screens.shown != before && !state.shell.glossary.empty()) {  // an open term belongs to its screen
    state.shell.glossary.clear();
    ui.close_popup();
  }
  ui.begin_region("screen");
  draw_part(ui, fmt::format("drawing {}", subject_of(screens.shown)).c_str(), area,
            [&] { carry_out(draw_screen(screens, session, state.switches.clock, ui, area), state, ui); });
  if (screens.shown == Screen::Lab && !bare) draw_tour(ui, state.shell.offers);
  for (const OtherScreen& other : screens.others)
    if (other.screen) other.screen->turn(*session.view);
  if (std::exchange(screens.lab.diagram().placement_asked, false))
    run_act(state, ui, view::Act::SavePlacement);
  Message error = draw_guarded(ui, "drawing what is open", [&] { draw_shell(state, ui); });
  if (!error.empty()) state.notice = std::move(error);
  keep_to_tabs(ui, before, screens.shown, state.notice);
  ui.end_frame();
  error = guarded("carrying out what was asked", [&] {
    if (Message saved = panels::save_plots(session.saves, state.look.dark); !saved.empty())
      state.notice = std::move(saved);
    post_commands(state);
    keep_window(state.window, screens, session, state.parts);
  });
  if (!error.empty()) state.notice = std::move(error);
}

void About::ask(std::function<void()> wake) {
  if (thread_) return;
  std::promise<Checksum> promise;
  std::shared_future<Checksum> later = promise.get_future().share();
  auto look = [wake = std::move(wake), promise = std::move(promise)](const std::stop_token& stop) mutable {
    Checksum found;
    // One thread leaves the others to training, and the number of threads changes no bit.
    const Message error = guarded("checksum", [&] {
      const auto stopped = [&] { return stop.stop_requested(); };
      found.instructions = cpu::choose_isa();
      found.checksum =
          experiments::take_first_steps(*make_cpu_backend(1), experiments::kChecksumSteps, stopped).checksum;
    });
    if (!error.empty()) found.checksum = error;
    promise.set_value(std::move(found));
    if (wake) wake();
  };
  thread_ = std::make_shared<std::jthread>(start_thread("checksum", std::move(look)));
  found_ = std::move(later);
}

const About::Checksum* About::found() const {
  const bool there = found_.valid() && found_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  return there ? &found_.get() : nullptr;
}

std::string About::checksum() const { return found() ? found()->checksum : ""; }

std::string About::text() const {
  const Checksum* const known = found();
  const std::string checksum =
      known ? fmt::format("{} ({})", known->checksum, known->instructions) : tr("being computed");
  return tr("normscope {version}. Checksum of {steps} steps of the default comparison: {checksum}",
            {{"version", NORMSCOPE_VERSION}, {"steps", experiments::kChecksumSteps}, {"checksum", checksum}});
}

}  // namespace normscope::shell
