#include "app/hands/file_prompt.h"

#include <imgui.h>

#include "app/home_path.h"
#include "app/ui/widgets.h"

namespace normscope::hands {
namespace {

constexpr const char* kPopup = "app/file";
constexpr const char* kField = "app/file/path";

struct Words {
  const char *title, *first, *second;
};
constexpr Words kWords[] = {
    {"Save the runs as", "Holds no weights: opened again, the runs train anew from step 0, bit for bit.",
     "Settings, edits and forks as .toml; a file of this name is replaced."},
    {"Open a file", "Runs saved as .toml take the place of all that are shown; Ctrl+Z brings those back.",
     "A UTF-8 text is what all runs learn from then."},
    {"Open a file", "Runs saved as .toml take the place of all that are shown. This cannot be undone here.",
     "A UTF-8 text is what all runs learn from then."},
};

}  // namespace

void ask_for_file(ui::Ui& ui, FilePrompt& prompt, FilePurpose purpose, const std::string& path) {
  prompt = {purpose, path};
  ui.open_popup(kPopup);
  ui.edit() = {kField, path, true};
}

std::optional<std::string> draw_file_prompt(ui::Ui& ui, FilePrompt& prompt) {
  using namespace ui;
  if (!ui.popup_open(kPopup)) return {};
  const float width = 480;
  const Rect box{(ui.size().x - width) / 2, 60, width, 126};
  if (!ui.begin_popup(kPopup, box)) return {};
  Rect rest = box.inset(16, 12);
  Painter& p = ui.paint();
  const Words& words = kWords[static_cast<size_t>(prompt.purpose)];
  p.text_in(rest.take_top(20, 6), {Face::bold, type::title}, ui.theme().ink, words.title);
  const bool done = text_field(ui, kField, rest.take_top(28, 8), "path, then Enter", prompt.path,
                               "A path, absolute or from the folder that the program was started in.");
  ui.mark("app/file/note", rest, words.first, words.second);
  p.text_in(rest.take_top(18), {Face::sans, type::tick}, ui.theme().ink2, words.first);
  p.text_in(rest.take_top(18), {Face::sans, type::tick}, ui.theme().ink3, words.second);
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
