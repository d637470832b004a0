#include "app/hands/file_prompt.h"

#include <imgui.h>

#include <cstdlib>

#include "app/ui/widgets.h"

namespace normscope::hands {
namespace {

constexpr const char* kPopup = "app/file";
constexpr const char* kField = "app/file/path";

std::string with_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home ? home + path.substr(1) : path;
}

}  // namespace

void ask_for_file(ui::Ui& ui, FilePrompt& prompt, bool saving, const std::string& path) {
  prompt = {saving, path};
  ui.open_popup(kPopup);
  ui.edit() = {kField, path, true};
}

std::optional<std::string> draw_file_prompt(ui::Ui& ui, FilePrompt& prompt) {
  using namespace ui;
  if (!ui.popup_open(kPopup)) return {};
  const float width = 460;
  const Rect box{(ui.size().x - width) / 2, 60, width, 108};
  if (!ui.begin_popup(kPopup, box)) return {};
  Rect rest = box.inset(16, 12);
  Painter& p = ui.paint();
  p.text_in(rest.take_top(20, 6), {Face::bold, type::title}, ui.theme().ink,
            prompt.saving ? "Save the runs as" : "Open a file");
  const bool done = text_field(ui, kField, rest.take_top(28, 8), "path, then Enter", prompt.path,
                               "A path, absolute or from the folder that the program was started in.");
  p.text_in(rest.take_top(18), {Face::sans, type::tick}, ui.theme().ink3,
            prompt.saving ? "Settings, edits and forks as .toml; a file of this name is replaced."
                          : "Runs saved as .toml, or a UTF-8 text that all runs learn from.");
  const bool leave = ImGui::IsKeyPressed(ImGuiKey_Escape, false);
  std::optional<std::string> chosen;
  if (done && !prompt.path.empty()) chosen = with_home(prompt.path);
  if (chosen || leave) {
    ui.edit() = {};
    ui.close_popup();
  }
  ui.end_popup();
  return chosen;
}

}  // namespace normscope::hands
