#include "app/shell/screens.h"

#include <algorithm>
#include <utility>

#include "app/lesson-player/player.h"
#include "app/lesson-player/worker.h"
#include "app/shell/app_state.h"
#include "app/shell/settings.h"
#include "engine/core/boundary.h"
#include "engine/io/output_file.h"
#include "training/files/command_text.h"
#include "training/session/session_file.h"

namespace normscope::shell {
namespace {

std::string language_of(const LessonsScreen& screen) {
  return screen.language.empty() ? course::course_language() : screen.language;
}

// Reads "warm-up:compare"; the first step where none is named. Throws Error for an unknown step.
std::pair<std::string, course::StepKind> lesson_place(const std::string& name) {
  const size_t colon = name.find(':');
  const std::string step = colon == name.npos ? "predict" : name.substr(colon + 1);
  for (const course::StepKind kind : course::kSteps)
    if (step == course::to_string(kind)) return {name.substr(0, colon), kind};
  throw Error("lesson:{}: expected a step: predict, run, compare or explain", name);
}

}  // namespace

void speak(const LessonsScreen& screen) { words::use(language_of(screen)); }

std::string first_language(const std::string& of_system) {
  const bool known = std::ranges::count(words::languages(), of_system) > 0;
  return known && course::course_language().empty() ? of_system : "";
}

void set_language(Screens& screens, const std::string& name) {
  LessonsScreen& lessons = screens.lessons;
  lessons.language = name;
  speak(lessons);
  if (lessons.player)
    lessons.player->say_in(name, [&] { return course::read_course(course::lessons_folder(), name); });
}

lesson_player::Player& player_of(Screens& screens) {
  LessonsScreen& screen = screens.lessons;
  if (!screen.player) {
    const std::string progress = screen.remembers ? lesson_player::Progress::default_path() : "";
    screen.player = std::make_shared<lesson_player::Player>(
        course::read_course(course::lessons_folder(), language_of(screen)),
        std::make_unique<lesson_player::Worker>(screens.wake, 0, screens.trainer,
                                                lesson_player::SavedCurves::folder_beside(progress)),
        progress, std::make_unique<lesson_player::Worker>(screens.wake, 1, screens.trainer));
  }
  return *screen.player;
}

experiments::StorePlace results_store() {
  const experiments::StorePlace place = experiments::results_in_cache();
  const auto make = [&] { make_folder(place.folder, Access::Shared, "results"); };
  return place.folder.empty() || !guarded("the store of results", make).empty() ? experiments::StorePlace()
                                                                                : place;
}

AppScreen* made_screen(const Screens& screens, Screen screen) {
  return screens.others[static_cast<size_t>(screen)].screen.get();
}

void restore_screen(Screens& screens, Screen screen, const ScreenSettings& kept) {
  OtherScreen& other = screens.others[static_cast<size_t>(screen)];
  other.kept.clear();
  if (!other.screen) return void(other.kept = kept);
  try {
    other.screen->restore(kept);
  } catch (const Error&) {
  }
}

ScreenSettings kept_of(const Screens& screens, Screen screen) {
  const OtherScreen& other = screens.others[static_cast<size_t>(screen)];
  return other.screen ? other.screen->kept() : other.kept;
}

AppScreen& screen_of(Screens& screens, Screen screen) {
  OtherScreen& other = screens.others[static_cast<size_t>(screen)];
  if (!other.screen) {
    other.screen = kind_of(screen)->make({screens.wake, screens.keeps, screens.trainer});
    if (!other.kept.empty()) restore_screen(screens, screen, ScreenSettings(other.kept));
  }
  return *other.screen;
}

ScreenRequests draw_screen(Screens& screens, const ShownSession& session, bool clock, ui::Ui& ui,
                           const ui::Rect& area) {
  const LabView& view = *session.view;
  switch (screens.shown) {
    case Screen::Lab:
      return screens.lab.draw(ui, area, view, clock);
    case Screen::Lessons:
      return player_of(screens).draw(ui, area, view);
    default:
      return screen_of(screens, screens.shown).draw(ui, area, view, clock, screens.lab.transport());
  }
}

void open_lesson(Screens& screens, const std::string& name, const view::Answer& answer) {
  const auto [lesson, step] = lesson_place(name);
  player_of(screens).open(lesson, step, answer);
  screens.shown = Screen::Lessons;
}

using namespace link;
namespace {

// Opens a lesson at its prediction if the learner has not made one, and leads on from there to the step that the link
// shows. Returns a notice; empty: none. Throws Error for an unknown lesson.
std::string show_lesson(const LinkedView& link, Screens& screens) {
  const auto [lesson, step] = lesson_place(link.lesson);
  open_lesson(screens, lesson, link.answer);
  lesson_player::Player& player = *screens.lessons.player;
  const lesson_player::LessonProgress& learned = player.progress(player.lesson()->id);
  const bool predicted = learned.committed || learned.skipped;
  if (predicted || !screens.lessons.remembers) open_lesson(screens, link.lesson, link.answer);
  player.lead_to(step, link.figure);
  return predicted && !link.answer.empty()
             ? tr("Your own prediction stays; \"Predict again\" shows the one in the link.")
             : "";
}

/// Commands that replace the present runs by the view's, trained to its step.
std::vector<session::Command> linked_commands(const LinkedView& link) {
  session::ReplaceRuns runs = replacing(link.runs, false);
  runs.instant = link.instant;
  std::vector<session::Command> commands{std::move(runs)};
  if (link.step > 0) commands.emplace_back(session::PlayTo{link.step});
  return commands;
}

}  // namespace

LinkedView linked_view(const ShownSession& session, const Screens& screens, const Appearance& look) {
  LinkedView link;
  const LabView& view = *session.view;
  const lab::TransportState& transport = screens.lab.transport();
  link.runs = session_of(view);
  link.instant = view.instant;
  link.step = view.step;
  for (ConfigRun& run : link.runs)  // a budget may have been lowered since
    run.spec.train.steps = std::max(run.spec.train.steps, view.step);
  if (transport.pinned_step && *transport.pinned_step < view.step) link.cursor = *transport.pinned_step;
  link.screen = screens.shown;
  const lesson_player::Player* const player = screens.lessons.player.get();
  if (link.screen == Screen::Lessons && player && player->lesson()) {
    link.lesson = fmt::format("{}:{}", player->lesson()->id, course::to_string(player->step()));
    link.figure = player->figure_id();
    link.answer = player->answer();
  }
  if (const AppScreen* const other = made_screen(screens, link.screen)) link.settings = other->linked();
  link.dark = look.dark;
  const char selected = screens.lab.diagram().selected;
  const bool there =
      std::ranges::any_of(view.runs, [&](const RunView& run) { return run.letter == selected; });
  if (there) link.shown = selected;
  link.bookmarks = transport.bookmarks;
  return link;
}

void copy_link(AppState& state) {
  if (state.session.view->runs.empty()) return;
  const Message fault = guarded("no link was copied", [&] {
    const std::string fragment = link_fragment(linked_view(state.session, state.screens, state.look));
    const std::string needed = needed_words(read_link(fragment));  // which refuses what could not be opened
    const std::string& page = state.shell.page;
    state.shell.clipboard = page.empty()
                                ? with_program("normscope --link " + shell_quoted(fragment), program_word())
                                : page + "#" + fragment;
    ImGui::SetClipboardText(state.shell.clipboard.c_str());
    state.notice = tr("copied: a link to these runs at this step") + (needed.empty() ? "" : "; " + needed);
  });
  if (!fault.empty()) state.notice = fault;
}

Message show_linked(const LinkedView& link, std::optional<session::Ticket> runs, Screens& screens,
                    Appearance& look) {
  std::string words;
  if (!link.lesson.empty()) words = show_lesson(link, screens);  // first: it may not be there
  if (!link.settings.empty()) screen_of(screens, link.screen).open_link(link.settings);
  look.dark = link.dark;
  lab::TransportState& transport = screens.lab.transport();
  transport.pinned_step.reset();
  transport.bookmarks = link.bookmarks;
  screens.lab.diagram().selected = link.shown;
  screens.linked_cursor.reset();
  if (link.cursor && *link.cursor < link.step) screens.linked_cursor = LinkedCursor{*link.cursor, runs};
  screens.shown = link.screen;
  return words;
}

bool open_link(AppState& state, std::string_view text) {
  ShownSession& session = state.session;
  try {
    const LinkedView link = read_link(text);
    require_needed(link, link.runs);
    state.notice = show_linked(link, std::nullopt, state.screens, state.look);
    session.asked = linked_commands(link);
    return true;
  } catch (...) {
    state.notice = describe_exception("opening a link");
    if ((!session.view || session.view->runs.empty()) && session.asked.empty())
      session.asked.emplace_back(session::ReplaceRuns{.runs = default_comparison()});
    return false;
  }
}

void follow_linked(Screens& screens, const LabView& view) {
  std::optional<LinkedCursor>& waits = screens.linked_cursor;
  if (!waits || !waits->ticket || view.answered < *waits->ticket) return;
  if (view.runs.empty() || !session::refusal(view.answers, *waits->ticket).empty()) return waits.reset();
  if (!waits->runs) waits->runs = view.runs[0].origin;
  if (view.runs[0].origin != waits->runs || view.step < waits->reached)
    return waits.reset();  // other runs, or these begun anew
  waits->reached = view.step;
  if (view.step <= waits->step) return;
  lab::TransportState& transport = screens.lab.transport();
  if (!transport.pinned_step) lab::pin_cursor(transport, view, waits->step);
  waits.reset();
}

}  // namespace normscope::shell
