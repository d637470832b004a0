// See save_menu.h.
#include "app/tape_screen/save_menu.h"

#include <fmt/format.h>

#include "app/ui/widgets.h"

namespace normscope::tape_screen {
namespace {

struct SavedAs {
  const char *ending, *label, *help;
};
constexpr SavedAs kSavedAs[] = {
    {"svg", "Save as SVG", "A drawing without loss of {}, into the pictures folder."},
    {"png", "Save as PNG", "A picture of {}, into the pictures folder."},
    {"csv", "Save as CSV", "All numbers of {}, into the pictures folder."},
    {"json", "Save as JSON", "All that is known of {}, into the pictures folder."}};

}  // namespace

std::string save_menu(ui::Ui& ui, const std::string& name, const ui::Rect& panel, std::string_view what) {
  using namespace ui;
  const std::string menu = name + "/menu";
  const Rect at{panel.right() - 36, panel.y + 6, 24, 24};
  ButtonOptions quiet;
  quiet.quiet = true;
  if (icon_button(ui, menu, at, Icon::File, fmt::format("Save {} as SVG, PNG, CSV or JSON.", what), quiet))
    ui.open_popup(menu);
  const Rect list{at.right() - 160, at.bottom() + 4, 160, 28 * static_cast<float>(std::size(kSavedAs)) + 12};
  if (!ui.begin_popup(menu, list)) return "";
  std::string chosen;
  Rect rows = list.inset(6);
  for (const SavedAs& one : kSavedAs) {
    ButtonOptions row;
    row.quiet = row.left = true;
    row.style = {Face::Sans, type::body};
    const std::string help = fmt::format(fmt::runtime(one.help), what);
    if (!button(ui, fmt::format("{}/{}", menu, one.ending), rows.take_top(28).inset(0, 1), one.label, help,
                row))
      continue;
    chosen = one.ending;
    ui.close_popup();
  }
  ui.end_popup();
  return chosen;
}

}  // namespace normscope::tape_screen
