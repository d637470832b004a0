// The title row of the fold panel has its menu with what can be saved, and the record of what the last change of the
// wiring did to the program.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "addons/tape-screen/app/tape_screen.h"
#include "addons/tape-screen/app/tape_writers.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::tape_screen {

using namespace ui;

namespace {

constexpr const char *kMenu = "tape/fold/menu", *kChanges = "tape/changes";
constexpr float kLine = 19;

const char* sign_of(ChangeKind kind) {
  return kind == ChangeKind::Came ? "+" : kind == ChangeKind::Went ? "−" : "≠";
}

}  // namespace

void TapeScreen::save(const std::string& ending) {
  const StepFacts& facts = *facts_;
  std::string text;
  if (ending == "csv") {
    text = tape::fold_csv(facts.fold, facts.roof);
  } else if (ending == "svg") {
    text = fold_svg(facts);
  } else {
    nlohmann::json all = tape::to_json(facts.fold, facts.roof);
    all["run"] = std::string(1, facts.letter);
    all["step"] = facts.step;
    all["loss"] = facts.loss;
    if (!facts.change_from.empty()) all["changes"] = tape::to_json(facts.change);
    text = all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  asked_.files.push_back({fmt::format("tape-{}-{}.{}", facts.letter, facts.step, ending), std::move(text)});
}

void TapeScreen::draw_menu(Ui& ui, const Rect& place) {
  const std::string& help = tr("Writes every line of the fold into the pictures folder.");
  const std::vector<FileRow> rows{
      {"svg", tr("Save as SVG"), help}, {"csv", tr("Save as CSV"), help}, {"json", tr("Save as JSON"), help}};
  FileMenuOptions options;
  options.shortcut = "Ctrl+E";
  if (size_ == Size::Compact) {  // the compact bar has no room for the speed
    options.foot_height = 36;
    options.foot = [&](const Rect& foot) { draw_speed(ui, centred(foot.centre(), 118, 28)); };
  }
  const Rect icon = centred(place.centre(), 24, 24);
  const std::string chosen =
      file_menu(ui, kMenu, icon, tr("Save the fold as SVG, CSV or JSON (Ctrl+E)."), rows, options);
  if (!chosen.empty()) save(chosen);
}

/// Draws "+12 −12 ≠6", which opens the list.
void TapeScreen::draw_changes(Ui& ui, const Rect& place) {
  const ProgramChange& change = facts_->change;
  const ChangeCounts counts = change_counts(*facts_);
  ButtonOptions plain;
  plain.style = {Face::Mono, type::tick};
  if (button(ui, kChanges, place, fmt::format("+{} −{} ≠{}", counts.came, counts.went, counts.rewired),
             change_sentence(*facts_), plain))
    ui.open_popup(kChanges);
  std::vector<const InstructionChange*> listed;
  for (const InstructionChange& one : change.all)
    if (one.op != OpKind::Probe) listed.push_back(&one);
  const float width = std::min(640.f, ui.size().x - 24);
  const auto room = static_cast<size_t>((ui.size().y - place.bottom() - 120) / kLine);
  const size_t shown = std::min(listed.size(), room);
  const float left = std::min(place.x, ui.size().x - width - 12);
  const Rect box{left, place.bottom() + 4, width, kLine * static_cast<float>(shown) + 76};
  if (!ui.begin_popup(kChanges, box)) return;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  Rect rest = box.inset(14, 10);
  const std::string words = change_sentence(*facts_);
  p.text_wrapped(rest.take_top(36), {Face::Sans, type::body}, t.ink, words, 17);
  ui.mark("tape/changes/list", rest, words, tr("The instructions that the change of the wiring touched."));
  const TextStyle mono{Face::Mono, type::tick}, sans{Face::Sans, type::tick};
  for (size_t i = 0; i < shown; ++i) {
    const InstructionChange& one = *listed[i];
    Rect row = rest.take_top(kLine);
    p.text_in(row.take_left(16), mono, t.ink, sign_of(one.kind));
    p.text_in(row.take_left(64), sans, t.ink3, tr(to_string(one.phase)));
    const float w = std::max(150.f, p.text_width(mono, one.name) + 10);
    p.text_in(row.take_left(w), mono, t.ink, one.name);
    const std::string& what = one.words.empty() ? std::string(to_string(one.op)) : one.words;
    if (p.text_width(sans, what) <= row.w) p.text_in(row, sans, t.ink2, what);
  }
  if (shown < listed.size())
    p.text_in(
        rest.take_top(kLine), sans, t.ink3,
        tr("and {count} more; all are in the JSON that the menu saves", {{"count", listed.size() - shown}}));
  ui.end_popup();
}

}  // namespace normscope::tape_screen
