// The right column of Compare has the first place where each run parts from the baseline, that layer under the loupe,
// and the tabs that panels share where there is no room.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "addons/compare/app/screen/compare_frame.h"
#include "addons/compare/app/words.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::compare_screen {

using namespace ui;
using namespace compare;

namespace {

constexpr float kPlaceRow = 34, kLeastPlaceRow = 24, kGridRow = 25, kLeastGridRow = 15, kLeastCell = 34;
constexpr float kLoupeHead = 24, kStepRow = 26;  // the loupe's title, and the steps below it
constexpr float kFullDecades = 4;                // range of a cell's colour
constexpr TextStyle kWords{Face::Sans, type::body}, kStrong{Face::Bold, type::title};

/// Says "step 2, layer 6, W_K", or "nowhere".
std::string where(const FirstPlace& place) {
  if (!place.lacks.empty()) return tr("not known");
  if (place.equal) return tr("equal to the bit");
  if (!place.parts) return tr("nowhere");
  return tr("step {step}, {tensor}", {{"step", grouped(place.step)}, {"tensor", tensor_words(place)}});
}

/// Says "7.7", "230", "1.4k", "12k"; "–" for what is not known.
std::string cell_words(double ratio) {
  if (!std::isfinite(ratio)) return "–";
  if (ratio <= 0) return "0";
  const double factor = std::max(ratio, 1 / ratio);
  if (factor < 1.05) return "1";
  if (factor < 9.95) return ui::decimals(factor, 1);
  if (factor < 999.5) return fmt::format("{:.0f}", factor);
  if (factor < 9950) return ui::decimals(factor / 1000, 1) + "k";
  return factor < 999500 ? fmt::format("{:.0f}k", factor / 1000) : ">10⁶";
}

/// Draws a cell of the loupe: the factor on the colour of its logarithm.
void draw_cell_of(Ui& ui, const Rect& cell, double ratio) {
  Painter& p = ui.paint();
  const auto share = static_cast<float>(std::log10(std::max(ratio, 1e-30))) / kFullDecades;
  const Colour fill = std::isfinite(ratio) ? signed_colour(ui.theme(), share) : ui.theme().sunk;
  p.fill(cell, fill, 3);
  const TextStyle mono{Face::Mono, type::tick};
  const std::string words = cell_words(ratio);
  if (p.text_width(mono, words) <= cell.w - 2) p.text_in(cell, mono, ink_on(fill), words, Align::Centre);
}

/// The height that a row of the loupe may have.
float grid_row(float height, const Loupe& loupe) {
  return (height - kStepRow) / static_cast<float>(std::max<size_t>(loupe.matrices.size(), 1));
}

/// Shows as many steps as have room, with the step of the place among them.
void draw_grid(Ui& ui, Rect rest, const Loupe& loupe, const FirstPlace& place, const std::string& theirs) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const TextStyle mono{Face::Mono, type::tick};
  const Rect labels = rest.take_left(66);
  const auto fit = static_cast<size_t>(std::clamp(rest.w / kLeastCell, 1.f, static_cast<float>(kLoupeSteps)));
  const size_t columns = std::min(loupe.steps.size(), fit);
  const auto at = std::find(loupe.steps.begin(), loupe.steps.end(), place.step) - loupe.steps.begin();
  const auto marked = static_cast<size_t>(at);
  const size_t first =
      place.parts && marked < loupe.steps.size() && marked >= columns ? marked + 1 - columns : 0;
  const float each = rest.w / static_cast<float>(fit);
  const float high = std::min(kGridRow, grid_row(rest.h, loupe));
  for (size_t m = 0; m < loupe.matrices.size(); ++m) {
    const float y = rest.y + high * static_cast<float>(m);
    p.text_in({labels.x, y, labels.w - 8, high}, kWords, t.ink2, loupe.matrices[m], Align::Right);
    for (size_t c = first; c < first + columns; ++c) {
      const double ratio = loupe.at(m, c);
      const Rect cell{rest.x + each * static_cast<float>(c - first) + 1, y + 1, each - 2, high - 2};
      draw_cell_of(ui, cell, ratio);
      if (place.parts && loupe.steps[c] == place.step && loupe.matrices[m] == place.matrix)
        p.outline(cell.inset(-1), t.ink, 2, 4);
      if (cell.contains(ui.mouse()))
        ui.tooltip(tr("{matrix} at step {step}: {ratio}",
                      {{"matrix", loupe.matrices[m]},
                       {"step", grouped(loupe.steps[c])},
                       {"ratio", std::isfinite(ratio) ? held_against(ratio, theirs) : tr("not known")}}));
    }
  }
  const float base = rest.y + high * static_cast<float>(loupe.matrices.size()) + 16;
  p.text({labels.right() - 8, base}, {Face::Sans, type::tick}, t.ink3, tr("step"), Align::Right);
  for (size_t c = first; c < first + columns; ++c) {
    const std::string step = grouped(loupe.steps[c]);
    if (p.text_width(mono, step) <= each - 3)
      p.text({rest.x + each * (static_cast<float>(c - first) + 0.5f), base}, mono, t.ink3, step,
             Align::Centre);
  }
}

}  // namespace

void CompareScreen::draw_right(Frame& f, Rect rest) {
  if (f.size == ui::Size::Full) {
    draw_places(f, rest.take_top(std::round(rest.h * 0.52f), space::gap), true);
    return draw_end(f, rest, true);
  }
  panel(f.ui, rest, {});
  std::vector<words::Label> tabs{words::label("Where they part"), words::label("At the end")};
  if (f.compact()) tabs.push_back(words::label("Maps"));
  tab_ = std::min(tab_, static_cast<int>(tabs.size()) - 1);
  const Rect head{rest.x + 8, rest.y + 6, segmented_width(f.ui, tabs), 26};
  segmented(f.ui, "compare/tab", head, tabs, tab_, tr("Which part of the comparison stands here."));
  Rect inner = rest;
  inner.take_top(38);
  if (tab_ == 0) draw_places(f, inner, false);
  if (tab_ == 1) draw_end(f, inner, false);
  if (tab_ == 2) draw_maps(f, rest, false);
}

void CompareScreen::draw_places(Frame& f, const Rect& rect, bool with_panel) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  if (with_panel) panel(ui, rect, {.title = tr("Where they part first"), .term = "first-place"});
  Rect rest = rect.inset(space::pad, 0);
  Rect head = rest.take_top(with_panel ? space::title_row : 30.f);
  FieldOptions options;
  options.lo = 1.05;
  options.hi = 1000;
  options.log = true;
  options.hard_hi = true;
  options.unit = "×";
  head.take_right(14);  // room for the menu
  if (const std::optional<size_t> run = f.run_of(loupe_); run && f.shown->grids[*run].heat)
    panels::cell_menu(ui, "compare/loupe", rect, {f.shown->grids[*run]}, cells_);
  field(ui, "compare/factor", head.take_right(66, 8).inset(0, (head.h - 24) / 2), "", factor_,
        tr("Runs part where the size of a gradient differs by more than this many times. Drag or "
           "type."),
        options);
  const float title = with_panel ? p.text_width(kStrong, tr("Where they part first")) + 16 : 0;
  p.text_in(head, kWords, t.ink3,
            fitting(p, kWords, head.w - title, {tr("a gradient differs by more than"), tr("by more than")}),
            Align::Right);
  draw_place_rows(f, rest);
  p.hairline({rest.x, rest.y + 4}, {rest.right(), rest.y + 4}, t.border);
  rest.take_top(12);
  draw_loupe(f, rest);
}

/// Has a line a run: a click puts the cursor there and that layer under the loupe.
void CompareScreen::draw_place_rows(Frame& f, Rect& rest) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Comparison& all = f.all();
  const float free = rest.h - kLoupeHead - kStepRow - 6 * kGridRow,  // beside a loupe of six matrices
      high = std::clamp(free / static_cast<float>(all.runs.size() - 1), kLeastPlaceRow, kPlaceRow);
  for (size_t run = 0; run < all.runs.size(); ++run) {
    if (run == all.baseline()) continue;
    const FirstPlace& place = all.places[run];
    const Rect row = rest.take_top(high);
    const Rect chip = row.inset(0, 1);
    const char letter = all.letter(run);
    const std::string sentence = place_sentence(all, run);
    const Hit hit = ui.hit(
        fmt::format("compare/place/{}", letter), chip, sentence,
        tr("{sentence} A click takes the cursor there (P: to the next one).", {{"sentence", sentence}}));
    if (letter == loupe_)
      p.fill(chip, t.sunk, 6);
    else if (hit.hovered)
      p.outline(chip, t.ink, 1.2f, 6);
    if (hit.clicked) {
      loupe_ = letter;
      if (place.parts) go_to(f, place.step);
    }
    tile(ui, {chip.x + 6, chip.centre().y - 10, 20, 20}, all.colour(run));
    Rect words = chip.inset(8, 0);
    words.take_left(28);
    const float w =
        p.text_in(words, kStrong, t.ink, fitting(p, kStrong, words.w, {where(place), tr("parts")}));
    words.take_left(w + 16);
    const std::string than = place.parts ? held_against(place.ratio, owned_by(all.letter(all.baseline())))
                             : place.most_step > 0 && place.most > 1
                                 ? tr("{times} at most", {{"times", times(place.most)}})
                                 : "";
    const Difference& d = all.differences[run];
    const std::string data = d.data == SameData::Same ? "" : d.short_words(),
                      before = data.empty() || than.empty() ? data : data + "; ",
                      ratio = place.parts ? ratio_words(place.ratio) : "";
    p.text_in(words, kWords, t.ink2, fitting(p, kWords, words.w, {before + than, before + ratio, data}),
              Align::Right);
  }
}

void CompareScreen::draw_loupe(Frame& f, Rect rest) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const std::optional<size_t> run = f.run_of(loupe_);
  if (!run || *run == f.all().baseline() || f.shown->loupes[*run].layer == 0) return;
  const Loupe& loupe = f.shown->loupes[*run];
  if (grid_row(rest.h - kLoupeHead, loupe) < kLeastGridRow) return;
  const FirstPlace& place = f.all().places[*run];
  const std::string title = tr("{layer} of {run}: how many times its gradient sizes differ from {base}'s",
                               {{"layer", layer_words(loupe.stack, loupe.layer)},
                                {"run", loupe_},
                                {"base", f.all().letter(f.all().baseline())}});
  const Rect head = rest.take_top(kLoupeHead);
  p.text_in(
      head, kWords, t.ink2,
      fitting(p, kWords, head.w,
              {title, tr("{layer} of {run}", {{"layer", layer_words("", loupe.layer)}, {"run", loupe_}})}));
  ui.mark("compare/loupe", rest, title, tr("The matrices of that layer over the steps around the place."));
  draw_grid(ui, rest, loupe, place, owned_by(f.all().letter(f.all().baseline())));
}

}  // namespace normscope::compare_screen
