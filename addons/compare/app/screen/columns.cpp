// The left column of Compare: the losses over each other, the difference to the baseline on the same axis below, and
// for each other run the map of a metric over the baseline's. They share one cursor. In the right column the first
// places where runs part, and below the table of their ends.
#include <fmt/format.h>

#include <imgui.h>

#include <algorithm>

#include "addons/compare/app/screen/compare_screen.h"
#include "addons/compare/app/writers.h"

namespace normscope::compare_screen {
using namespace ui;
using namespace compare;
namespace {

constexpr const char *kLoss = "compare/loss", *kDifference = "compare/difference";
constexpr size_t kLongestName = 22;  // at the end of a line

/// Drops texts that do not fit: long sentences, and in the compact layout names at line ends.
void trim(Painter& p, plot::PlotSpec& plot, float width, bool compact, float taken = 0) {
  if (p.text_width({Face::Sans, type::body}, plot.sentence) > width - 2 * space::pad) plot.sentence.clear();
  if (compact) plot.note.clear();
  // The note keeps as many parts as fit; the warning that data differ comes first.
  const float room =
      width - taken - 2 * space::pad - p.text_width({Face::Bold, type::title}, plot.title) - 24;
  while (!plot.note.empty() && p.text_width({Face::Sans, type::body}, plot.note) > room)
    plot.note.resize(plot.note.find("; ") == plot.note.npos ? 0 : plot.note.rfind("; "));
  for (plot::Series& series : plot.series)
    if (compact || series.name.size() > kLongestName + 12) series.name.clear();
}

constexpr float kPlaceRow = 34, kMinPlaceRow = 24, kGridRow = 25, kMinGridRow = 15, kMinCell = 34;
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

float grid_row(float height, const Loupe& loupe) {
  return (height - kStepRow) / static_cast<float>(std::max<size_t>(loupe.matrices.size(), 1));
}

/// As many steps as fit, with the step of the place among them.
void draw_grid(Ui& ui, Rect rest, const Loupe& loupe, const FirstPlace& place, const std::string& theirs) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const TextStyle mono{Face::Mono, type::tick};
  const Rect labels = rest.take_left(66);
  const auto fit = static_cast<size_t>(std::clamp(rest.w / kMinCell, 1.f, static_cast<float>(kLoupeSteps)));
  const size_t columns = std::min(loupe.steps.size(), fit);
  const auto at = std::ranges::find(loupe.steps, place.step) - loupe.steps.begin();
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

constexpr TextStyle kNumber{Face::Mono, type::body}, kSmall{Face::Sans, type::tick};

/// Half the width of the strip of seeds, nats: it shows the band, and the nearest end if near.
double reach_of(const Comparison& all) {
  const Difference& own = all.differences[all.baseline()];
  double reach = std::isfinite(own.band_low) ? 2.5 * std::max(-own.band_low, own.band_high) : 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t run = 0; run < all.runs.size(); ++run)
    if (run != all.baseline() && std::isfinite(all.differences[run].end))
      nearest = std::min(nearest, std::fabs(all.differences[run].end));
  if (std::isfinite(nearest) && nearest < 5 * std::max(reach, 0.02)) reach = std::max(reach, 1.3 * nearest);
  return reach > 0 ? reach : 0.1;
}

/// The line below a run's name: that its data differ, and its verdict, as much as fits.
std::string state_words(const Painter& p, float room, const Comparison& all, const EndRow& row) {
  const Difference& d = all.differences[row.run];
  const std::string data = d.data == SameData::Same ? "" : d.short_words(),
                    before = data.empty() || row.verdicts.empty() ? data : data + "; ";
  return fitting(p, kSmall, room, {before + row.verdict(), before + row.short_verdict(), data});
}

/// Draws a row's seeds on the strip; a difference off the scale is an arrow and the number.
void draw_seeds(Ui& ui, const Rect& strip, const Comparison& all, const EndRow& row, double reach) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const RunLook& look = t.runs[static_cast<size_t>(all.colour(row.run))];
  const Difference& d = all.differences[row.run];
  const auto x_of = [&](double nats) {
    return strip.centre().x + static_cast<float>(nats / reach) * strip.w / 2;
  };
  const Vec middle = strip.centre();
  const bool itself = row.run == all.baseline();
  if (itself && d.at_end.empty()) return p.marker(middle, look.marker, 4, look.line, t.panel);
  if (!itself && std::fabs(d.end) > reach) {
    const bool right = d.end > 0;
    const std::string words = right ? signed_decimals(d.end) + " →" : "← " + signed_decimals(d.end);
    const float x = right ? strip.right() : strip.x;
    const Align align = right ? Align::Right : Align::Left;
    p.text({x, middle.y + (d.early ? -2.f : 4.f)}, {Face::Mono, type::tick}, look.text, words, align);
    if (d.early) p.text({x, middle.y + 12}, kSmall, t.ink3, tr("at step {step}", {{"step", d.step}}), align);
    return;
  }
  for (const double end : d.at_end)
    if (std::isfinite(end) && std::fabs(end) <= reach)
      p.marker({x_of(end), middle.y}, look.marker, 4, look.line, t.panel);
}

/// Draws the baseline's band over the whole height of the row, and the seeds on it.
void draw_strip(Ui& ui, const Rect& strip, const Rect& line, const Comparison& all, const EndRow& row) {
  const double reach = reach_of(all);
  const Difference& own = all.differences[all.baseline()];
  const float middle = strip.centre().x, half = strip.w / 2;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const RunLook& base = t.runs[static_cast<size_t>(all.colour(all.baseline()))];
  if (std::isfinite(own.band_low)) {
    const float low = middle + static_cast<float>(own.band_low / reach) * half,
                high = middle + static_cast<float>(own.band_high / reach) * half;
    p.fill({low, line.y, high - low, line.h}, base.line.alpha(t.band_alpha));
  }
  p.hairline({middle, line.y}, {middle, line.bottom()}, base.line);
  draw_seeds(ui, strip, all, row, reach);
}

}  // namespace

void CompareScreen::draw_time(Frame& f, Rect rest) {
  const float gap = f.compact() ? 6 : space::gap;
  const auto maps =
      std::ranges::count_if(f.shown->maps, [](const plot::PlotSpec& map) { return map.heat.has_value(); });
  const float all = rest.h - gap * (f.compact() ? 1 : 2);
  // A map is 56 high. Without any map the panel says in a line what is missing.
  const float below =
      f.compact()
          ? 0
          : std::min(0.4f * all, 36 + 30 + 62 * static_cast<float>(std::max<std::ptrdiff_t>(maps, 1)));
  const Rect loss = rest.take_top(std::round((all - below) * 0.5f), gap);
  const Rect difference = rest.take_top(f.compact() ? rest.h : std::round((all - below) * 0.5f), gap);
  for (const plot::PlotSpec* plot : {&f.shown->loss, &f.shown->difference}) {
    plot::PlotSpec trimmed = *plot;
    trim(f.ui.paint(), trimmed, loss.w, f.compact());
    trimmed.cursor = plot::Cursor{f.x(), ""};
    f.pad_right = std::max(f.pad_right, plot::needed_pad_right(f.ui, trimmed, loss.w - 8));
  }
  if (!f.compact()) f.pad_right = std::max(f.pad_right, 160.f);  // the words next to the maps
  draw_loss(f, loss);
  draw_difference(f, difference);
  if (!f.compact()) draw_maps(f, rest, true);
}

/// Handles the mouse on a plot over time: moves the cursor, and zooms all these plots together.
void CompareScreen::time_hit(Frame& f, const std::string& name, const plot::PlotHit& hit) {
  if (hit.hovered) hover_next_ = hit.x;
  across_.x = cells_.views[name].x;
  if (hit.pressed && (!across_.zoomed() || hit.on_cursor)) cells_.scrubbing = name;
  const bool held = cells_.scrubbing == name;
  if (held && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) cells_.scrubbing.clear();
  if ((held || hit.clicked) && f.shown->per_step > 0) go_to(f, hit.x / f.shown->per_step);
}

void CompareScreen::draw_loss(Frame& f, const Rect& rect) {
  Ui& ui = f.ui;
  plot::PlotSpec plot = f.shown->loss;
  if (!refusal_.empty()) plot.sentence = refusal_;
  plot.pad_right = f.pad_right;
  plot.cursor = plot::Cursor{f.x(), grouped(f.step)};
  plot.hover = hover_x_;
  cells_.views[kLoss].x = across_.x;
  const std::vector<words::Label> labels{words::label("step"), words::label("tokens"), words::label("time")};
  const float align_w = segmented_width(ui, labels);
  const bool zoomed = across_.x || range_;
  panels::CellOptions options;
  options.help = tr("The loss of every run: the line is the shown seed, the band all of them.");
  options.right = align_w + 40 + (zoomed ? 118.f : 0.f) + 84;
  trim(ui.paint(), plot, rect.w, f.compact(), options.right);
  const plot::PlotHit hit = panels::draw_cell(ui, kLoss, rect, plot, cells_, options);
  time_hit(f, kLoss, hit);
  float x = rect.right() - 32 - align_w;
  int align = choice_.align;
  if (segmented(ui, "compare/align", {x, rect.y + 5, align_w, 26}, labels, align,
                tr("What stands on the shared axis (X).")) &&
      align != choice_.align)
    set_align(align);
  x -= 84;
  ButtonOptions plain{.enabled = std::ranges::any_of(f.places, &SideBySide::Place::live),
                      .style = {Face::Sans, type::body}};
  const bool training = f.view.seed_check_steps > 0;
  const std::string seeds =
      training ? tr("{percent} %", {{"percent", 100 * f.view.seed_check_done / f.view.seed_check_steps}})
               : tr("5 seeds");
  if (button(
          ui, "compare/seeds", {x, rect.y + 6, 76, 24}, seeds,
          plain.enabled
              ? tr("Trains the live runs with four further seeds: the band that a difference has to leave.")
              : tr("These runs come from files: without their weights and batches no further seed can be "
                   "trained."),
          plain) &&
      !training)
    f.desk.commands.emplace_back(session::CheckSeeds{});
  if (!zoomed) return;
  x -= 118;
  plain.enabled = true;
  if (button(ui, "compare/range", {x, rect.y + 6, 110, 24}, range_ ? tr("all steps") : tr("these steps only"),
             tr("Compares only the steps that are in sight: differences, places and the table at the end "
                "are then of these alone."),
             plain)) {
    if (range_) {
      range_.reset();
    } else if (across_.x) {
      const double unit = f.shown->per_step > 0 ? f.shown->per_step : 1;
      const int low = static_cast<int>(std::ceil(across_.x->first / unit));
      range_ = {std::max(1, low), std::max(std::max(1, low), static_cast<int>(across_.x->second / unit))};
    }
    across_.reset();
  }
}

void CompareScreen::draw_difference(Frame& f, const Rect& rect) {
  plot::PlotSpec plot = f.shown->difference;
  trim(f.ui.paint(), plot, rect.w, f.compact(), 30);
  plot.pad_right = f.pad_right;
  plot.cursor = plot::Cursor{f.x(), ""};
  plot.hover = hover_x_;
  cells_.views[kDifference].x = across_.x;
  panels::CellOptions options;
  options.help = tr("Each run's loss minus the baseline's; the baseline's own band says what luck can do.");
  options.right = 30;
  time_hit(f, kDifference, panels::draw_cell(f.ui, kDifference, rect, plot, cells_, options));
}

/// Draws the metric and the matrix of the maps, and the key of their colours.
void CompareScreen::draw_maps_head(Frame& f, const Rect& rect, bool with_panel) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Number& metric = panels::info(choice_.metric);
  const TextStyle small{Face::Sans, type::tick};
  constexpr float kKey = 120, kWords = 84;
  float right = rect.right() - 40 - (metric.of_matrix() ? 70 : 0);
  const Rect of_matrix{right, rect.y + 6, 62, 24};
  right -= kKey + 2 * kWords + 8;
  if (with_panel) {
    const bool gradient = choice_.metric == &kGradNorm;
    std::string measure = gradient ? tr("Gradient") : metric.label;
    if (measure[0] >= 'a' && measure[0] <= 'z') measure[0] += 'A' - 'a';  // it begins the title
    plot::PlotSpec head;
    head.title =
        tr("{metric} over {run}'s", {{"metric", measure}, {"run", f.all().letter(f.all().baseline())}});
    head.note = gradient ? tr("‖∂L/∂W‖, by layer and step") : tr("by layer and step");
    panels::cell_panel(ui, "compare/maps", rect, head,
                       {.right = rect.right() - right, .metric = &choice_.metric, .term = metric.term});
  }
  if (metric.of_matrix()) {
    std::vector<std::string> labels;
    for (const view::Matrix& matrix : view::kMatrices)
      if (!std::string_view(matrix.path).starts_with("cross")) labels.emplace_back(matrix.label);
    choice(ui, "compare/matrix", of_matrix, labels_of(labels), choice_.matrix,
           tr("Which matrix of every layer (W)."));
  }
  if (!with_panel)
    return panels::metric_button(ui, "compare/maps", {rect.right() - 36, rect.y + 6, 26, 24}, choice_.metric);
  const Rect key{right + kWords, rect.y + 13, kKey, 10};
  colour_scale(p, key, 24, false, [&](float share) { return signed_colour(ui.theme(), 2 * share - 1); });
  p.outline(key, ui.theme().border, 1, 2);
  p.text({key.x - 6, key.y + 9}, small, ui.theme().ink3, tr("10⁴× smaller"), Align::Right);
  p.text({key.right() + 6, key.y + 9}, small, ui.theme().ink3, tr("10⁴× larger"));
  ui.mark("compare/maps/key", key, tr("blue: smaller; red: larger; full at 10⁴×"),
          tr("The colours of the maps."));
}

void CompareScreen::draw_maps(Frame& f, const Rect& rect, bool with_panel) {
  Ui& ui = f.ui;
  const Comparison& all = f.all();
  Rect inner = rect;
  draw_maps_head(f, rect, with_panel);
  inner.take_top(space::title_row);
  if (!with_panel) {
    const TextStyle small{Face::Sans, type::tick};
    const Rect line = inner.take_top(18).inset(space::pad, 0);
    const std::string what = tr("{metric} over {run}'s",
                                {{"metric", metric_words(all.choice)}, {"run", all.letter(all.baseline())}});
    ui.paint().text_in(line, small, ui.theme().ink3,
                       fitting(ui.paint(), small, line.w, {what, metric_words(all.choice)}));
  }
  std::vector<size_t> with;
  std::vector<std::pair<size_t, std::string>> lacks, lacks_brief;
  const auto note = [&](size_t run, const std::string& words, const std::string& shorter) {
    lacks.emplace_back(run, words + ".");
    lacks_brief.emplace_back(run, shorter + ".");
  };
  for (size_t run = 0; run < all.runs.size(); ++run) {
    if (run == all.baseline()) continue;
    const Difference& d = all.differences[run];
    if (f.shown->maps[run].heat) {
      with.push_back(run);
      if (d.data != SameData::Same) note(run, data_words(all, run), d.short_words());
    } else {
      note(run, all.maps[run].lacks, tr("no map"));
    }
  }
  if (!lacks.empty()) {
    const std::string notes = fmt::format("{}", fmt::join(together(all, lacks), " ")),
                      brief = fmt::format("{}", fmt::join(together(all, lacks_brief), " "));
    const Rect line = inner.take_bottom(20).inset(space::pad, 0);
    const TextStyle body{Face::Sans, type::body};
    ui.paint().text_in(line, body, ui.theme().ink3, fitting(ui.paint(), body, line.w, {notes, brief}));
    ui.mark("compare/map/lacks", line, notes, tr("Why a run has no map, or reads other data."));
  }
  if (with.empty()) return;
  constexpr float kAxis = 22;
  const float each = (inner.h - kAxis) / static_cast<float>(with.size());
  for (size_t i = 0; i < with.size(); ++i) {
    const bool last = i + 1 == with.size();
    draw_map(f, inner.take_top(each + (last ? kAxis : 0)), with[i], last);
  }
}

/// Draws a run's map with its tile, and at the right the values of its outer layers at the cursor.
void CompareScreen::draw_map(Frame& f, const Rect& rect, size_t run, bool last) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Comparison& all = f.all();
  const RatioMap& map = all.maps[run];
  plot::PlotSpec plot = f.shown->maps[run];
  plot.tile.reset();
  plot.sentence.clear();
  plot.pad_right = f.compact() ? 120.f : f.pad_right;
  plot.pad_top = 3;
  plot.pad_bottom = last ? 24.f : 3.f;
  plot.x.show_labels = last;
  plot.y.show_labels = false;
  plot.cursor = plot::Cursor{f.x(), ""};
  plot.hover = hover_x_;
  const std::string name = fmt::format("compare/map/{}", all.letter(run));
  cells_.views[name].x = across_.x;
  const Rect place{rect.x + 4, rect.y, rect.w - 8, rect.h};
  const plot::PlotHit hit =
      plot::draw_plot(ui, name, place, plot, cells_.views[name],
                      tr("The run's {metric} divided by the baseline's, layer 1 at the bottom.",
                         {{"metric", metric_words(all.choice)}}));
  time_hit(f, name, hit);
  plot::PlotSpec file = f.shown->maps[run];  // with its tile and its sentence
  file.cursor = plot.cursor;
  panels::cell_menu(ui, name, rect, {file}, cells_);
  const float height = rect.h - (last ? 22.f : 0.f);
  tile(ui, {rect.x + 20, rect.y + height / 2 - 9, 18, 18}, all.colour(run));
  const std::optional<size_t> column = f.point_of(run, map.x);
  const TextStyle body{Face::Sans, type::tick};
  const float left = rect.right() - plot.pad_right + 6;
  for (const int32_t layer : {map.layers, int32_t{1}}) {
    const float cell = column ? map.at(layer, *column) : NAN;
    if (!std::isfinite(cell) || (layer == 1 && (map.layers == 1 || height < 38))) continue;
    const std::string words = tr("layer {layer}  {ratio}",
                                 {{"layer", layer}, {"ratio", ratio_words(std::pow(10.0, double(cell)))}});
    p.text({left, layer == 1 ? rect.y + height - 7 : rect.y + 14}, body, ui.theme().ink2,
           fitting(p, body, rect.right() - 28 - left, {words, ratio_words(std::pow(10.0, double(cell)))}));
  }
  if (!hit.hovered) return;
  const auto layer = static_cast<int32_t>(std::lround(hit.y));
  const auto under = std::ranges::upper_bound(map.x, hit.x);
  if (layer < 1 || layer > map.layers || under == map.x.begin()) return;
  const auto at = static_cast<size_t>(under - map.x.begin()) - 1;
  if (const float cell = map.at(layer, at); std::isfinite(cell))
    ui.tooltip(
        tr("{run}, step {step}, layer {layer}: {ratio}",
           {{"run", all.letter(run)},
            {"step", grouped(map.steps[at])},
            {"layer", layer},
            {"ratio", held_against(std::pow(10.0, double(cell)), owned_by(all.letter(all.baseline())))}}));
}

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
  FieldOptions options{.lo = 1.05, .hi = 1000, .log = true, .most = 1000, .unit = "×"};
  head.take_right(14);  // room for the menu
  if (const std::optional<size_t> run = f.run_of(loupe_); run && f.shown->grids[*run].heat)
    panels::cell_menu(ui, "compare/loupe", rect, {f.shown->grids[*run]}, cells_);
  field(ui, "compare/factor", head.take_right(66, 8).inset(0, (head.h - 24) / 2), "", choice_.factor,
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

/// A line for each run: a click moves the cursor to its step and the loupe to its layer.
void CompareScreen::draw_place_rows(Frame& f, Rect& rest) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Comparison& all = f.all();
  const float free = rest.h - kLoupeHead - kStepRow - 6 * kGridRow,  // that a loupe of six matrices leaves
      high = std::clamp(free / static_cast<float>(all.runs.size() - 1), kMinPlaceRow, kPlaceRow);
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
  const std::optional<size_t> run = f.run_of(loupe_);
  if (!run || *run == f.all().baseline() || f.shown->loupes[*run].layer == 0) return;
  const Loupe& loupe = f.shown->loupes[*run];
  if (grid_row(rest.h - kLoupeHead, loupe) < kMinGridRow) return;
  const FirstPlace& place = f.all().places[*run];
  const std::string title = tr("{layer} of {run}: how many times its gradient sizes differ from {base}'s",
                               {{"layer", layer_words(loupe.stack, loupe.layer)},
                                {"run", loupe_},
                                {"base", f.all().letter(f.all().baseline())}});
  const Rect head = rest.take_top(kLoupeHead);
  p.text_in(
      head, kWords, ui.theme().ink2,
      fitting(p, kWords, head.w,
              {title, tr("{layer} of {run}", {{"layer", layer_words("", loupe.layer)}, {"run", loupe_}})}));
  ui.mark("compare/loupe", rest, title, tr("The matrices of that layer over the steps around the place."));
  draw_grid(ui, rest, loupe, place, owned_by(f.all().letter(f.all().baseline())));
}

void CompareScreen::draw_end(Frame& f, const Rect& rect, bool with_panel) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Comparison& all = f.all();
  const std::string window = window_words(all);
  Rect rest = rect.inset(space::pad, 0);
  if (with_panel) {
    panel(ui, rect, {.title = tr("At the end"), .note = window, .right = 30});
    rest.take_top(space::title_row);
  } else {
    p.text_in(rest.take_top(22), kSmall, t.ink3, fitting(p, kSmall, rest.w, {window}));
  }
  panels::cell_menu(ui, "compare/end", rect, {f.shown->end}, cells_);
  ui.mark("compare/end", rect, difference_sentence(all), tr("What the runs came to, the lowest loss first."));
  const std::string missing = missing_sentence(all);
  const auto height = [&](const std::string& text) {
    return text.empty() ? 0 : p.wrapped_height(rest.w, kSmall, text, 15);
  };
  const std::string shown = height(missing) <= 46 ? missing : unread_sentence(all);
  const Rect note = rest.take_bottom(std::min(46.f, height(missing)) + 8);
  if (height(shown) <= note.h) p.text_wrapped(note, kSmall, t.ink3, shown, 15);
  ui.mark("compare/missing", note, missing, tr("What is not known of the runs."));
  const float high = std::min(44.f, rest.h / static_cast<float>(all.rows.size() + 1));
  EndRow heads;
  heads.run = all.runs.size();
  draw_end_row(f, rest.take_top(high), heads);
  for (const EndRow& row : all.rows) {
    const Rect line = rest.take_top(high);
    p.hairline({line.x, line.y}, {line.right(), line.y}, t.border);
    draw_end_row(f, line, row);
  }
}

/// Draws a row of the table, or the head for a run beyond the last.
void CompareScreen::draw_end_row(Frame& f, const Rect& line, const EndRow& row) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Comparison& all = f.all();
  const bool head = row.run >= all.runs.size(), wide = line.w > 540;
  Rect rest = line;
  Rect speed = wide ? rest.take_right(60) : Rect{}, update = wide ? rest.take_right(94) : Rect{};
  const float longest = p.text_width(kNumber, tr("not yet"));
  Rect leaves = rest.take_right(std::max(62.f, longest + 10)),
       strip = rest.take_right(wide ? 136.f : 116.f, 12);
  Rect loss = rest.take_right(54, 10);
  if (head) {
    const std::pair<Rect, std::string> names[] = {{loss, tr("loss")},
                                                  {leaves, tr("leaves at")},
                                                  {update, tr("update ÷ weight")},
                                                  {speed, tr("tokens/s")}};
    for (const auto& [place, name] : names)
      if (!place.empty()) p.text_in(place, kSmall, t.ink3, name, Align::Right);
    p.text_in(strip, kSmall, t.ink3, tr("minus {run}", {{"run", all.letter(all.baseline())}}), Align::Centre);
    return;
  }
  ui.mark(fmt::format("compare/end/{}", all.letter(row.run)), line,
          fmt::format("{}, {}, {}", loss_words(row), against_words(all.differences[row.run]),
                      row.verdicts.empty() ? "–" : row.verdict()),
          tr("The mean loss of the last steps, how far it is from the baseline's, and the verdict."));
  tile(ui, {rest.x, line.centre().y - 10, 20, 20}, all.colour(row.run));
  rest.take_left(28);
  const TextStyle bold{Face::Bold, type::title};
  const Rect upper{rest.x, line.y, rest.w, line.h / 2 + 2},
      lower{rest.x, line.centre().y, rest.w, line.h / 2 - 2};
  p.text_in(line.h >= 34 ? upper : Rect{rest.x, line.y, rest.w, line.h}, bold, t.ink,
            title_of(f, row.run, bold, rest.w));
  if (line.h >= 34) p.text_in(lower, kSmall, t.ink3, state_words(p, rest.w, all, row));
  const bool spread = line.h >= 34 && std::isfinite(row.deviation);
  p.text_in(spread ? Rect{loss.x, line.y, loss.w, line.h / 2 + 2} : loss, kNumber, t.ink,
            nats_words(row.loss), Align::Right);
  if (spread)
    p.text_in({loss.x, line.centre().y, loss.w, line.h / 2 - 2}, {Face::Mono, type::tick}, t.ink3,
              "± " + deviation_words(row), Align::Right);
  p.text_in(leaves, kNumber, t.ink, leaves_words(row), Align::Right);
  if (wide) p.text_in(update, kNumber, t.ink, update_words(row), Align::Right);
  const double speed_of = row.tokens_per_second;
  if (wide)
    p.text_in(speed, kNumber, t.ink,
              std::isfinite(speed_of) && speed_of >= 1000 ? fmt::format("{:.0f} k", speed_of / 1000)
                                                          : fixed(speed_of, 0),
              Align::Right);
  draw_strip(ui, strip, line, all, row);
}

}  // namespace normscope::compare_screen
