#include "app/ui/paint.h"

#include <imgui.h>

#include <cstdlib>
#include <filesystem>

#include "engine/core/machine.h"

namespace normscope::ui {
namespace {

namespace fs = std::filesystem;

// ImGui's font size is ascent + descent; these factors, measured on the faces, turn an em into it.
constexpr float inter_factor = 1.21f, mono_factor = 1.32f, dejavu_factor = 1.164f, builtin_factor = 1.0f;

struct Source {
  const char* name;                // for the notice
  std::vector<const char*> files;  // alternatives, best first
  std::vector<const char*> other;  // used where none of `files` exists
  const char* merge;               // symbols
  float factor;
};

const std::array<Source, 4>& sources() {
  static const std::array<Source, 4> list{{
      {"Inter Regular",
       {"Inter-Regular.otf", "Inter-Regular.ttf"},
       {"DejaVuSans.ttf"},
       "DejaVuSans.ttf",
       inter_factor},
      {"Inter SemiBold",
       {"Inter-SemiBold.otf", "Inter-SemiBold.ttf"},
       {"DejaVuSans-Bold.ttf", "DejaVuSans.ttf"},
       "DejaVuSans.ttf",
       inter_factor},
      {"JetBrains Mono Regular",
       {"JetBrainsMono-Regular.ttf", "JetBrainsMono-Regular.otf"},
       {"DejaVuSansMono.ttf"},
       "DejaVuSansMono.ttf",
       mono_factor},
      {"JetBrains Mono Medium",
       {"JetBrainsMono-Medium.ttf", "JetBrainsMono-Medium.otf"},
       {"DejaVuSansMono.ttf"},
       "DejaVuSansMono.ttf",
       mono_factor},
  }};
  return list;
}

std::string find(const std::vector<std::string>& folders, const std::vector<const char*>& names) {
  std::error_code ignored;
  for (const char* name : names)
    for (const std::string& folder : folders)
      if (fs::path file = fs::path(folder) / name; fs::is_regular_file(file, ignored)) return file.string();
  return {};
}

// PixelSnapH would round advances to whole pixels and set the type too wide or too tight.
ImFontConfig config(bool merge) {
  ImFontConfig c;
  c.MergeMode = merge;
  c.PixelSnapH = false;
  return c;
}

}  // namespace

std::vector<std::string> default_font_folders() {
  std::vector<std::string> folders;
  if (const char* own = std::getenv("NORMSCOPE_FONT_DIR")) folders.emplace_back(own);
#ifdef _WIN32  // the folder for Windows brings the faces along
  folders.push_back((fs::path(program_path()).parent_path() / "fonts").string());
#endif
  std::vector<std::string> roots{"/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts",
                                 "C:/Windows/Fonts"};
  if (const char* home = std::getenv("HOME")) {
    roots.push_back(std::string(home) + "/.local/share/fonts");
    roots.push_back(std::string(home) + "/.fonts");
    roots.push_back(std::string(home) + "/Library/Fonts");
  }
  for (const std::string& root : roots) {
    folders.push_back(root);
    for (const char* sub :
         {"opentype/inter", "truetype/inter", "inter", "rsms-inter-fonts", "truetype/jetbrains-mono",
          "jetbrains-mono", "jetbrains-mono-fonts", "truetype/dejavu", "dejavu", "dejavu-sans-fonts",
          "dejavu-sans-mono-fonts", "TTF", "OTF"})
      folders.push_back(root + "/" + sub);
  }
  return folders;
}

Fonts load_fonts(const std::vector<std::string>& folders) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  Fonts fonts;
  ImFont* builtin = nullptr;
  std::string missing;
  for (size_t i = 0; i < sources().size(); ++i) {
    const Source& source = sources()[i];
    Fonts::Entry& entry = fonts.faces[i];
    std::string file = find(folders, source.files);
    entry.factor = source.factor;
    if (file.empty()) {
      missing += (missing.empty() ? "" : ", ") + std::string(source.name);
      file = find(folders, source.other);
      entry.factor = dejavu_factor;
    }
    ImFontConfig first = config(false), second = config(true);
    if (!file.empty()) entry.font = atlas.AddFontFromFileTTF(file.c_str(), 0, &first);
    if (!entry.font) {
      if (!builtin) builtin = atlas.AddFontDefaultVector();
      entry = {builtin, builtin_factor};
      continue;
    }
    std::string symbols = find(folders, {source.merge});
    if (!symbols.empty() && symbols != file) atlas.AddFontFromFileTTF(symbols.c_str(), 0, &second);
  }
  if (!missing.empty())
    fonts.notice = "Fonts not found: " + missing + ". Using " + (builtin ? "the built-in font" : "DejaVu") +
                   " (Debian: fonts-inter fonts-jetbrains-mono fonts-dejavu-core).";
  ImGui::GetIO().FontDefault = fonts.faces[0].font;
  return fonts;
}

}  // namespace normscope::ui
