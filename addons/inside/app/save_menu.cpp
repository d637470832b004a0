// The menu of the Inside screen saves what stands there: the picture of the stream, or every number, a file for each
// model.
#include <fmt/format.h>

#include "addons/inside/app/inside_screen.h"
#include "addons/inside/app/inspected.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/io/codec.h"

namespace normscope::inside {

using namespace ui;

namespace {

constexpr const char* kMenu = "inside/save";

/// What normscope inspect says of the same model and text.
Inspection inspected_of(const RunView& run, const RunInside& inside) {
  Inspection all;
  all.name = run.name;
  all.decoder = run.spec->model.architecture == Architecture::Decoder;
  all.about = {{"run", run.name}, {"step", inside.step}};
  add_settings(all.about, *run.spec);
  if (run.spec->data.name == "passage") all.unit = "token";
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
    const Inspection all = inspected_of(*side.run, *side.inside);
    std::string text = ending == "svg" ? norms_svg(all) : to_lines(json_of(all)) + "\n";
    desk_.files.push_back(
        {fmt::format("inside-{}-{}.{}", side.run->letter, side.inside->step, ending), std::move(text)});
  }
}

void InsideScreen::draw_save_menu(Ui& ui, const Rect& place) {
  const std::vector<FileRow> rows{
      {"svg", tr("Save the map as SVG"),
       tr("The length of each token's state after each layer, the picture that normscope inspect "
          "--svg draws.")},
      {"json", tr("Save all numbers as JSON"),
       tr("All that is measured here, as normscope inspect --json writes it: stream, shares, "
          "attention, gradients, the logit lens.")}};
  FileMenuOptions options;
  options.enabled = first_read() != nullptr;
  options.shortcut = "Ctrl+E";
  const std::string chosen =
      file_menu(ui, kMenu, place,
                tr("Save what stands here as a picture or as numbers (Ctrl+E): a file for each model, into "
                   "the pictures folder."),
                rows, options);
  if (!chosen.empty()) save(chosen);
}

}  // namespace normscope::inside
