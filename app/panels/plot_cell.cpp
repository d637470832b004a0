#include "app/panels/plot_cell.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "app/headless/raster.h"
#include "app/headless/ui_driver.h"
#include "app/panels/plot_specs.h"
#include "app/ui/ui.h"
#include "app/ui/widgets.h"
#include "app/view/shortcuts.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "engine/io/output_file.h"
#include "training/files/file_kind.h"

namespace normscope::panels {

using namespace ui;

namespace {

constexpr float kRow = 28;  // height of a row in the list

void metric_list(Ui& ui, const std::string& name, const Rect& title, Metric& chosen, bool stream) {
  // Names and notes are in two columns whose widths do not depend on the choice.
  Painter& p = ui.paint();
  const TextStyle bold{Face::Bold, type::body}, note{Face::Sans, type::tick};
  float names = 0, notes = 0;
  for (const Metric metric : metrics()) {
    const Number& q = info(metric);
    names = std::max(names, p.text_width(bold, q.label));
    notes = std::max(notes, p.text_width(note, q.note));
  }
  Rect list{title.x, title.bottom() + 2, names + notes + 44,
            kRow * static_cast<float>(metrics().size()) + 12};
  list.x = std::min(list.x, ui.size().x - 4 - list.w);
  list.y = std::min(list.y, ui.size().y - 4 - list.h);
  if (!ui.begin_popup(name, list)) return;
  Rect rows = list.inset(6);
  for (const Metric metric : metrics()) {
    const Number& q = info(metric);
    ButtonOptions options{.enabled = stream || of_any_layer(metric), .quiet = true};
    Rect row = rows.take_top(kRow).inset(0, 1);
    if (button(ui, fmt::format("{}/{}", name, q.id), row, "", options.enabled ? q.help : view::no_stream(),
               options)) {
      chosen = metric;
      ui.close_popup();
    }
    row = row.inset(10, 0);
    ui.paint().text_in(row, {metric == chosen ? Face::Bold : Face::Sans, type::body},
                       options.enabled ? ui.theme().ink : ui.theme().ink3, q.label);
    row.take_left(names + 12);
    ui.paint().text_in(row, note, ui.theme().ink3, q.note);
  }
  ui.end_popup();
}

std::string text_of(const std::vector<plot::PlotSpec>& plots) {
  std::string text;
  for (const plot::PlotSpec& plot : plots) text += (text.empty() ? "" : "\n") + plot::to_text(plot);
  return text;
}

// The help of a title with a choice: the measurement, and in small print the effect of a click.
std::string definition(Metric metric) {
  return tr("{help}\nClick to show another quantity.", {{"help", info(metric).help}});
}

void dots(Painter& p, Vec centre, Colour colour) {
  for (int i = -1; i <= 1; ++i) p.circle({centre.x, centre.y + 5.f * static_cast<float>(i)}, 1.5f, colour);
}

// The menu's entries that save, in their order.
struct Save {
  view::PlotFormat format;
  plot::FigureStyle style{};
};
constexpr Save kSaves[] = {{view::PlotFormat::Svg},
                           {view::PlotFormat::Png},
                           {view::PlotFormat::Csv},
                           {view::PlotFormat::Pdf},
                           {view::PlotFormat::Pdf, {.width = plot::kTwoColumns}},
                           {view::PlotFormat::Pdf, {.grey = true}}};
constexpr size_t kCopy = std::size(kSaves), kAxis = kCopy + 1;

std::vector<MenuEntry> whole_menu(const words::Language& said) {
  return {
      {"svg", said.tr("Save as SVG"),
       said.tr("A drawing without loss, into the pictures folder; without cursor and sentence.")},
      {"png", said.tr("Save as PNG"),
       said.tr("A picture of 1280 × 800 pixels, into the pictures folder; without cursor and sentence.")},
      {"csv", said.tr("Save as CSV"),
       said.tr("All numbers of the plot with nine digits, into the pictures folder.")},
      {"figure", said.tr("Figure for a column"),
       said.tr(
           "A PDF for a paper, 84 mm wide with letters of 8 points as outlines, and beside it the data as CSV and "
           "what the caption needs as text; into the pictures folder.")},
      {"figure-wide", said.tr("Figure for two columns"), said.tr("The same, 174 mm wide.")},
      {"figure-grey", said.tr("Figure in greys"),
       said.tr("A figure for a column that is printed without colours.")},
      {"text", said.tr("Copy as text"),
       said.tr("Title, sentence and the values of every line, to paste elsewhere."),
       ui::shown_keys("Ctrl+T")},
      {"log", said.tr("Logarithmic axis"),
       said.tr("Switches the vertical axis between a linear and a logarithmic scale.")},
      {"reset", said.tr("Show everything"), said.tr("Undoes zoom and pan.")}};
}

}  // namespace

Rect cell_panel(Ui& ui, const std::string& name, const Rect& rect, const plot::PlotSpec& plot,
                const CellOptions& options) {
  Rect inner;
  if (!options.metric) {
    inner = panel(ui, rect,
                  {plot.title, plot.note, plot.sentence, options.right, false, plot.question, plot.brief,
                   options.term});
  } else {
    // The title looks as in panel(), with a chevron behind it.
    Painter& p = ui.paint();
    const Theme& t = ui.theme();
    panel(ui, rect, {});
    inner = rect.inset(space::pad, 0);
    inner.h -= space::pad * 0.6f;
    Rect row = inner.take_top(space::title_row);
    row.take_right(options.right);
    const TextStyle bold{Face::Bold, type::title}, note{Face::Sans, type::body};
    const float w = p.text_width(bold, plot.title);
    const std::string control = name + "/quantity";
    const Rect title{row.x - 4, row.y + 6, w + 24, 24};
    const Hit hit = ui.hit(control, title, info(*options.metric).id, definition(*options.metric));
    if (hit.hovered) p.fill(title, t.sunk, radius::field);
    p.text_in(row, bold, t.ink, plot.title);
    draw_icon(p, Icon::ChevronDown, {title.right() - 10, title.centre().y}, 14, t.ink3);
    if (hit.clicked) ui.open_popup(control);
    row.take_left(w + 28);
    if (const std::string behind = behind_title(p, row.w, plot.question, plot.brief, plot.note);
        !behind.empty())
      p.text_in(row, note, t.ink3, behind);
    if (!plot.sentence.empty())
      p.text_in(inner.take_top(space::sentence_row).moved(0, -7), note, t.ink2, plot.sentence);
    metric_list(ui, control, title, *options.metric, options.stream);
  }
  // The plot's own padding reaches into the panel's, so that ticks stand under the title.
  return {rect.x + 4, inner.y, rect.w - 8, rect.bottom() - 4 - inner.y};
}

void metric_button(Ui& ui, const std::string& name, const Rect& rect, Metric& metric, bool stream) {
  const std::string control = name + "/quantity";
  if (icon_button(ui, control, rect, Icon::ChevronDown, definition(metric), {.quiet = true}, info(metric).id))
    ui.open_popup(control);
  metric_list(ui, control, {rect.x - 100, rect.y, rect.w, rect.h}, metric, stream);
}

// The entries for axes come last: a heat map has no axis to switch, and its zoom is not reset.
std::span<const MenuEntry> menu_entries(bool heat) {
  static words::Table<std::vector<MenuEntry>> all(whole_menu);
  const std::vector<MenuEntry>& menu = all.in();
  return std::span(menu).first(heat ? kAxis : menu.size());
}

void CellState::hand_over(ScreenRequests& requests) {
  requests.saves = std::exchange(saves, {});
  if (copied.empty()) return;
  requests.copied = std::exchange(copied, {});
  requests.notice = tr("copied: {what} as text", {{"what", copied_title}});
}

void cell_menu(Ui& ui, const std::string& name, const Rect& panel, const std::vector<plot::PlotSpec>& plots,
               CellState& state) {
  const std::string menu = name + "/menu";
  const Rect place{panel.right() - 24, panel.y + 6, 24, 24};
  const Hit hit =
      ui.hit(menu, place, "", tr("Save or copy this plot, change its axis (Ctrl+T copies it as text)."),
             {.overlap = true});
  if (hit.hovered || hit.focused || ui.popup_open(menu) || panel.contains(ui.mouse()))
    dots(ui.paint(), {panel.right() - 7, place.centre().y}, hit.hovered ? ui.theme().ink : ui.theme().ink3);
  if (hit.clicked || state.open_menu == name) {
    ui.open_popup(menu);
    state.open_menu.clear();
  }
  const auto copy = [&] {
    state.copied = text_of(plots);
    state.copied_title = plots.empty() ? "" : plots.front().title;
  };
  if (!ui.held(menu) && panel.contains(ui.mouse()) && view::pressed(ui, view::Act::CopyPlot)) copy();

  const bool log = !plots.empty() && plots.front().y.scale == plot::AxisScale::Log;
  const std::span<const MenuEntry> entries = menu_entries(!plots.empty() && plots.front().heat);
  Rect list{panel.right() - 206, place.bottom() + 2, 200, kRow * static_cast<float>(entries.size()) + 12};
  if (list.bottom() > ui.size().y - 4) list.y = ui.size().y - 4 - list.h;
  if (!ui.begin_popup(menu, list)) return;
  Rect rows = list.inset(6);
  for (size_t i = 0; i < entries.size(); ++i) {
    const MenuEntry& entry = entries[i];
    const Rect row = rows.take_top(kRow).inset(0, 1);
    const ButtonOptions quiet{.quiet = true, .left = true, .style = {Face::Sans, type::body}};
    const std::string_view label = i == kAxis && log ? tr("Linear axis") : entry.label;
    const bool clicked = button(ui, fmt::format("{}/{}", menu, entry.id), row, label, entry.help, quiet);
    ui.paint().text_in(row.inset(10, 0), {Face::Mono, type::tick}, ui.theme().ink3, entry.keys, Align::Right);
    if (!clicked) continue;
    if (i < kCopy)
      state.saves.push_back({std::make_shared<const std::vector<plot::PlotSpec>>(plots), state.views[name],
                             kSaves[i].format, kSaves[i].style});
    if (i == kCopy) copy();
    if (i == kAxis) state.turned[name] = !state.turned[name];
    if (i > kAxis) state.views[name].reset();
    ui.close_popup();
  }
  ui.end_popup();
}

void turn_axis(plot::PlotSpec& plot) {
  if (plot.heat) return;
  Range range;
  for (const plot::Series& s : plot.series)
    for (float v : s.y.values) range.add(v);
  auto [lo, hi, lowest] = range;
  for (const plot::RefLine& line : plot.lines)  // reference lines stay in the range
    if (std::isfinite(line.value) && line.value > 0) {
      lo = std::min(lo, line.value);
      hi = std::max(hi, line.value);
    }
  plot.y.ticks.clear();
  if (plot.y.scale == plot::AxisScale::Log) {
    plot.y.scale = plot::AxisScale::Linear;
    plot.y.lo = lowest * 1.08;
    plot.y.hi = hi > 0 ? hi * 1.08 : 1;
  } else if (hi > lo && hi < 100 * lo) {  // whole decades around so few values would be empty
    plot.y.scale = plot::AxisScale::Log;
    plot.y.lo = lo / 1.4;
    plot.y.hi = hi * 1.15;
    for (double decade = std::pow(10, std::floor(std::log10(plot.y.lo))); decade < plot.y.hi; decade *= 10)
      for (const double v : {decade, 2 * decade, 5 * decade})
        if (v >= plot.y.lo && v <= plot.y.hi) plot.y.ticks.push_back({v, number(v)});
  } else {
    log_axis(plot.y, lo, hi);
  }
}

plot::PlotHit draw_cell(Ui& ui, const std::string& name, const Rect& rect, plot::PlotSpec& plot,
                        CellState& state, const CellOptions& options) {
  if (state.turned[name]) turn_axis(plot);
  const Rect content = cell_panel(ui, name, rect, plot, options);
  const plot::PlotHit hit =
      plot::draw_plot(ui, name, content, plot, state.views[name], options.help, options.highlight);
  cell_menu(ui, name, rect, {plot}, state);
  return hit;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kEndings[] = {"svg", "png", "csv", "pdf"};

// A file name that is free, because an export never overwrites a file.
std::string export_path(const std::string& folder, const std::string& id, const char* ending) {
  return free_name((fs::path(folder) / fmt::format("normscope-{}.{}", id, ending)).string());
}

// Draws the plot in an ImGui context of its own, without a window, at twice the size, and writes the PNG.
void write_picture(const std::string& path, const plot::PlotSpec& plot, const plot::View& view, bool dark,
                   plot::ExportSize size) {
  ImGuiContext* context = ImGui::GetCurrentContext();
  {
    headless::Frame frame(ui::Vec{2 * size.width, 2 * size.height});
    ui::Ui ui(ui::load_fonts());
    ui::FrameOptions options{.dark = dark, .scale = 2};
    for (int i = 0; i < 3; ++i)
      frame.step([&] {
        ui.begin_frame(options);
        plot::draw_still(ui.paint(), ui.theme(), plot, {0, 0, ui.size().x, ui.size().y}, view);
        ui.end_frame();
      });
    const ui::Colour c = ui::theme(dark).panel;
    const uint32_t background = 0xFF000000u | uint32_t{c.b} << 16 | uint32_t{c.g} << 8 | c.r;
    headless::write_png(path, headless::rasterise(*frame.draw_data(), background));
  }
  ImGui::SetCurrentContext(context);
}

/// The plot as a figure for a paper, whose caption is the author's: without the window's question and sentence.
plot::PlotSpec as_figure(plot::PlotSpec plot) {
  for (std::string* words : {&plot.question, &plot.brief, &plot.sentence}) words->clear();
  return plot;
}

/// The file name's ending: "svg".
const char* ending_of(view::PlotFormat format) { return kEndings[static_cast<size_t>(format)]; }

}  // namespace

std::string pictures_folder() {
  if (const char* folder = std::getenv("XDG_PICTURES_DIR"); folder && *folder) return folder;
  if (const char* home = std::getenv("HOME"); home && *home) {
    const fs::path pictures = fs::path(home) / "Pictures";
    std::error_code none;
    if (fs::is_directory(pictures, none)) return pictures.string();
  }
  return ".";
}

void write_plot(const std::string& path, const plot::PlotSpec& plot, view::PlotFormat format, bool dark,
                plot::ExportSize size, const plot::View& view, const plot::FigureStyle& style) {
  switch (format) {
    case view::PlotFormat::Svg:
      return write_file(path, plot::to_svg(plot, ui::theme(dark), size, view), "plot");
    case view::PlotFormat::Png:
      return write_picture(path, plot, view, dark, size);
    case view::PlotFormat::Csv:
      return write_file(path, plot::to_csv(plot), "plot");
    case view::PlotFormat::Pdf:
      return write_file(path, plot::to_pdf(plot, style, view), "plot");
  }
}

std::string figure_words(const plot::PlotSpec& plot, std::string_view facts) {
  return fmt::format("{}\n{}", plot::to_text(plot), facts);
}

std::vector<std::string> save_plot(const view::SavePlot& command, const std::string& folder, bool dark) {
  std::vector<std::string> paths;
  const auto write = [&](const std::string& path, const std::string& text) {
    write_file(path, text, "plot");
    paths.push_back(path);
  };
  for (const plot::PlotSpec& plot : *command.plots) {
    const auto data = [&] { return command.csv.empty() ? plot::to_csv(plot) : command.csv; };
    const std::string path = export_path(folder, plot.id, ending_of(command.format));
    if (command.format == view::PlotFormat::Csv) {
      write(path, data());
      continue;
    }
    write_plot(path, as_figure(plot), command.format, dark, kPlotFileSize, command.view, command.style);
    paths.push_back(path);
    if (command.format != view::PlotFormat::Pdf) continue;
    const std::string stem = fs::path(path).stem().string();
    write(free_name((fs::path(folder) / (stem + ".csv")).string()), data());
    write(free_name((fs::path(folder) / (stem + ".txt")).string()), figure_words(plot, command.facts));
  }
  return paths;
}

Message save_plots(const std::vector<view::SavePlot>& commands, bool dark) {
  Message notice;
  for (const view::SavePlot& save : commands) {
    try {
      const std::vector<std::string> paths = save_plot(save, pictures_folder(), dark);
      if (!paths.empty())
        notice = tr(paths.size() > 1 ? "saved {path} and {more} more" : "saved {path}",
                    {{"path", paths.front()}, {"more", paths.size() - 1}});
    } catch (...) {
      notice = describe_exception("saving the plot");
    }
  }
  return notice;
}

}  // namespace normscope::panels
