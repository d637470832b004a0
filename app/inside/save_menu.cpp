// The menu of the Inside screen saves what stands there: the picture of the stream, or every number, a file for each
// model.
#include <fmt/format.h>

#include "app/inside/inside_screen.h"
#include "app/inside/inspected.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::inside {

using namespace ui;

namespace {

constexpr const char* kMenu = "inside/save";
constexpr const char* kEndings[] = {"svg", "json"};

/// `inspected_of` is what normscope inspect says of the same model and text.
Inspected inspected_of(const RunView& run, const RunInside& inside) {
  Inspected all;
  all.name = run.name;
  all.decoder = run.spec->model.architecture == Architecture::Decoder;
  all.about = {{"run", run.name}, {"step", inside.step}};
  add_settings(all.about, *run.spec);
  all.text_of = [&inside](int32_t token) {
    const auto at = inside.words.find(token);
    return at == inside.words.end() ? std::string() : at->second;
  };
  all.inside = inside.found;
  return all;
}

}  // namespace

void InsideScreen::save(const std::string& ending) {
  for (const Side& side : sides_) {
    if (!side.inside) continue;
    const Inspected all = inspected_of(*side.run, *side.inside);
    constexpr auto kReplaced = nlohmann::json::error_handler_t::replace;  // of text that is no UTF-8
    std::string text = ending == "svg" ? norms_svg(all) : json_of(all).dump(1, ' ', false, kReplaced) + "\n";
    desk_.files.push_back(
        {fmt::format("inside-{}-{}.{}", side.run->letter, side.inside->step, ending), std::move(text)});
  }
}

void InsideScreen::draw_save_menu(Ui& ui, const Rect& place) {
  ButtonOptions quiet;
  quiet.quiet = true;
  quiet.enabled = first_read() != nullptr;
  if (icon_button(ui, kMenu, place, Icon::File, words::say("inside.save.menu"), quiet)) ui.open_popup(kMenu);
  if (quiet.enabled && ui.shortcut("Ctrl+E", kMenu)) ui.open_popup(kMenu);
  const Rect list{place.right() - 230, place.bottom() + 4, 230,
                  28 * static_cast<float>(std::size(kEndings)) + 12};
  if (!ui.begin_popup(kMenu, list)) return;
  Rect rows = list.inset(6);
  for (const char* const ending : kEndings) {
    ButtonOptions row;
    row.quiet = row.left = true;
    row.style = {Face::Sans, type::body};
    if (button(ui, fmt::format("{}/{}", kMenu, ending), rows.take_top(28).inset(0, 1),
               words::say(fmt::format("inside.save.{}", ending)),
               words::say(fmt::format("inside.save.help.{}", ending)), row)) {
      save(ending);
      ui.close_popup();
    }
  }
  ui.end_popup();
}

}  // namespace normscope::inside
