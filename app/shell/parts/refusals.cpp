// A refusal is what the app would say to a command or an entry of the palette. Whoever offers it and whoever carries it
// out both ask here, so that nothing is offered that is refused.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/lesson-player/player.h"
#include "app/shell/app_state.h"
#include "app/view/chain.h"
#include "app/words/words.h"

namespace normscope::shell {
namespace {

using view::Act;

/// Empty where there are runs.
std::string no_runs(const LabView& view) { return view.runs.empty() ? tr("there are no runs") : ""; }

// Asks a screen with changes of its own there.
std::string step_refusal(const AppState& state, bool undo) {
  const UndoLog& log = state.session.undo;
  const Screen shown = state.screens.shown;
  const AppScreen* const own = made_screen(state.screens, shown);
  if (!own || !own->has_changes()) {
    const bool any = undo ? log.can_undo() : log.can_redo();
    return any ? "" : tr(undo ? "nothing to undo" : "nothing to redo");
  }
  if (own->can_take_back(undo)) return "";
  return words::say(fmt::format("shell.refusal.{}_{}", name_of(shown), undo ? "undo" : "redo"));
}

std::string course_refusal(const LessonsScreen& lessons) {
  std::error_code error;
  const bool any = lessons.player ? !lessons.player->course().lessons.empty()
                                  : std::filesystem::is_directory(course::lessons_folder(), error);
  return any ? "" : tr("there are no lessons beside the program");
}

// About the run that the diagram shows.
std::string placement_refusal(const AppState& state) {
  const LabView& view = *state.session.view;
  const int shown = diagram::shown_run(state.screens.lab.diagram(), view);
  if (shown < 0) return no_runs(view);
  const ModelConfig& model = view.runs[static_cast<size_t>(shown)].spec->model;
  return is_transformer(model.architecture)
             ? ""
             : tr("there is no residual stream whose wiring could be a placement");
}

std::string batch_refusal(const LabView& view) {
  const bool any = std::ranges::any_of(
      view.runs, [](const RunView& run) { return is_transformer(run.spec->model.architecture); });
  return any ? "" : tr("no run has sub-layers to measure: expected a transformer");
}

}  // namespace

std::string refusal_of(const AppState& state, const ui::Ui& ui, Act act) {
  if (ui.held(view::control_of(act))) return ui.locked_help();
  const LabView& view = *state.session.view;
  switch (act) {
    case Act::Undo:
    case Act::Redo:
      return step_refusal(state, act == Act::Undo);
    case Act::Save:
    case Act::SaveAs:
    case Act::CopyCommand:
    case Act::CopyLink:
      return no_runs(view);
    case Act::SavePlacement:
      return placement_refusal(state);
    case Act::MeasureBatch:
      return view.runs.empty() ? no_runs(view) : batch_refusal(view);
    case Act::Restore:
      return state.session.lab && !next_to_restore(state.shell.offers).empty()
                 ? ""
                 : tr("there is no session to restore");
    case Act::FirstLesson:
      return course_refusal(state.screens.lessons);
    default:
      return "";
  }
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

}  // namespace normscope::shell
