// Says which control an act of the table of shortcuts stands for. See shortcuts.h.
#include "app/view/shortcuts.h"

namespace normscope::view {

std::string_view control_of(Act act) {
  switch (act) {
    case Act::Play:
      return "transport/play";
    case Act::Step:
      return "transport/step";
    case Act::Back:
    case Act::Newest:
    case Act::Bookmark:
      return "timeline";
    case Act::Instant:
      return "transport/speed/instant";
    case Act::Palette:
      return "app/search";
    case Act::Sheet:
      return "app/help";
    case Act::Bigger:
    case Act::Smaller:
    case Act::NaturalSize:
      return "app/scale";
    case Act::Theme:
      return "app/theme";
    case Act::FirstLesson:
      return "app/tab/lessons";
    case Act::Undo:
      return "command/undo";
    case Act::Redo:
      return "command/redo";
    case Act::Save:
      return "command/save";
    case Act::SaveAs:
      return "command/save-as";
    case Act::SavePlacement:
      return "command/placement";
    case Act::OpenFile:
      return "command/open";
    case Act::CopyCommand:
      return "command/copy";
    case Act::CopyLink:
      return "command/link";
    case Act::Restore:
      return "command/restore";
    case Act::MeasureBatch:
      return "command/batch";
    case Act::ReducedMotion:
      return "command/motion";
    case Act::Measurements:
      return "command/measurements";
#define SHORTCUT(Name, id, chord, control) \
  case Act::Name:                          \
    return control;
#include "chosen/shortcuts.def"
#undef SHORTCUT
    default:  // the norm and the plot in focus answer for themselves; nothing ends a lesson but its code
      return {};
  }
}

}  // namespace normscope::view
