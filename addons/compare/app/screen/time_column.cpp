// The left column of Compare has the losses over each other, the difference to the baseline on the same axis below, and
// for each other run the map of a metric over the baseline's. One cursor stands in all of them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

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

constexpr const char *kLoss = "compare/loss", *kDifference = "compare/difference";
constexpr size_t kLongestName = 22;  // at the end of a line

/// Drops what has no room: long sentences, and in the compact layout names at the ends of lines.
void trim(Painter& p, plot::PlotSpec& plot, float width, bool compact, float taken = 0) {
  if (p.text_width({Face::Sans, type::body}, plot.sentence) > width - 2 * space::pad) plot.sentence.clear();
  if (compact) plot.note.clear();
  // The note keeps as many parts as have room; that data differ stands first.
  const float room =
      width - taken - 2 * space::pad - p.text_width({Face::Bold, type::title}, plot.title) - 24;
  while (!plot.note.empty() && p.text_width({Face::Sans, type::body}, plot.note) > room)
    plot.note.resize(plot.note.find("; ") == plot.note.npos ? 0 : plot.note.rfind("; "));
  for (plot::Series& series : plot.series)
    if (compact || series.name.size() > kLongestName + 12) series.name.clear();
}

}  // namespace

void CompareScreen::draw_time(Frame& f, Rect rest) {
  const float gap = f.compact() ? 6 : space::gap;
  const auto maps = std::count_if(f.shown->maps.begin(), f.shown->maps.end(),
                                  [](const plot::PlotSpec& map) { return map.heat.has_value(); });
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
  if (!f.compact()) f.pad_right = std::max(f.pad_right, 160.f);  // the words beside the maps
  draw_loss(f, loss);
  draw_difference(f, difference);
  if (!f.compact()) draw_maps(f, rest, true);
}

/// Serves a hand on a plot over time: it moves the cursor, and zooms all these plots together.
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
  int align = align_;
  if (segmented(ui, "compare/align", {x, rect.y + 5, align_w, 26}, labels, align,
                tr("What stands on the shared axis (X).")) &&
      align != align_)
    set_align(align);
  x -= 84;
  ButtonOptions plain;
  plain.style = {Face::Sans, type::body};
  plain.enabled = std::any_of(f.places.begin(), f.places.end(),
                              [](const SideBySide::Place& place) { return place.live; });
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

/// What the maps are of and which matrix, and has the key of their colours.
void CompareScreen::draw_maps_head(Frame& f, const Rect& rect, bool with_panel) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const panels::MetricInfo& metric = panels::info(metric_);
  const TextStyle small{Face::Sans, type::tick};
  constexpr float kKey = 120, kWords = 84;
  float right = rect.right() - 40 - (metric.of_matrix ? 70 : 0);
  const Rect of_matrix{right, rect.y + 6, 62, 24};
  right -= kKey + 2 * kWords + 8;
  if (with_panel) {
    const bool gradient = metric_ == panels::Metric::Gradient;
    std::string measure = gradient ? tr("Gradient") : metric.name;
    if (measure[0] >= 'a' && measure[0] <= 'z') measure[0] += 'A' - 'a';  // it begins the title
    plot::PlotSpec head;
    head.title =
        tr("{metric} over {run}'s", {{"metric", measure}, {"run", f.all().letter(f.all().baseline())}});
    head.note = gradient ? tr("‖∂L/∂W‖, by layer and step") : tr("by layer and step");
    panels::CellOptions options;
    options.right = rect.right() - right;
    options.metric = &metric_;
    options.term = metric.term;
    panels::cell_panel(ui, "compare/maps", rect, head, options);
  }
  if (metric.of_matrix) {
    std::vector<std::string> labels;
    for (const view::Matrix& matrix : view::kMatrices)
      if (!std::string_view(matrix.path).starts_with("cross")) labels.emplace_back(matrix.label);
    choice(ui, "compare/matrix", of_matrix, labels, matrix_, tr("Which matrix of every layer (W)."));
  }
  if (!with_panel)
    return panels::metric_button(ui, "compare/maps", {rect.right() - 36, rect.y + 6, 26, 24}, metric_);
  const Rect key{right + kWords, rect.y + 13, kKey, 10};
  constexpr int kPieces = 24;
  for (int i = 0; i < kPieces; ++i)
    p.fill({key.x + key.w * static_cast<float>(i) / kPieces, key.y, key.w / kPieces + 0.5f, key.h},
           signed_colour(ui.theme(), 2 * (static_cast<float>(i) + 0.5f) / kPieces - 1));
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

/// Draws a run's map with its tile, and at the right what its outer layers say at the cursor.
void CompareScreen::draw_map(Frame& f, const Rect& rect, size_t run, bool last) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
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
    p.text({left, layer == 1 ? rect.y + height - 7 : rect.y + 14}, body, t.ink2,
           fitting(p, body, rect.right() - 28 - left, {words, ratio_words(std::pow(10.0, double(cell)))}));
  }
  if (!hit.hovered) return;
  const auto layer = static_cast<int32_t>(std::lround(hit.y));
  const auto under = std::upper_bound(map.x.begin(), map.x.end(), hit.x);
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

}  // namespace normscope::compare_screen
