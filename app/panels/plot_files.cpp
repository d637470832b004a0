#include "app/panels/plot_files.h"

#include <fmt/format.h>
#include <imgui.h>

#include <cstdlib>
#include <filesystem>

#include "app/headless/frame.h"
#include "app/headless/raster.h"
#include "app/ui/ui.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "training/files/file_kind.h"
#include "training/io/output_file.h"

namespace normscope::panels {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEndings[] = {"svg", "png", "csv"};

// A free name, because an export never overwrites a file.
std::string export_path(const std::string& folder, const std::string& id, const char* ending) {
  return free_name((fs::path(folder) / fmt::format("normscope-{}.{}", id, ending)).string());
}

// Draws in a context of its own, without a window, at twice the size.
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

const char* ending_of(view::PlotFormat format) { return kEndings[static_cast<size_t>(format)]; }

void write_plot(const std::string& path, const plot::PlotSpec& plot, view::PlotFormat format, bool dark,
                plot::ExportSize size, const plot::View& view) {
  switch (format) {
    case view::PlotFormat::Svg:
      return write_file(path, plot::to_svg(plot, ui::theme(dark), size, view), "plot");
    case view::PlotFormat::Png:
      return write_picture(path, plot, view, dark, size);
    case view::PlotFormat::Csv:
      return write_file(path, plot::to_csv(plot), "plot");
  }
}

std::vector<std::string> save_plot(const view::SavePlot& command, const std::string& folder, bool dark) {
  std::vector<std::string> paths;
  for (const plot::PlotSpec& plot : *command.plots) {
    const std::string path = export_path(folder, plot.id, ending_of(command.format));
    if (command.format == view::PlotFormat::Csv && !command.csv.empty())
      write_file(path, command.csv, "plot");
    else
      write_plot(path, plot, command.format, dark, kPlotFileSize, command.view);
    paths.push_back(path);
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
