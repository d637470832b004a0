// The four faces: Inter Regular and SemiBold (DejaVu Sans merged for mathematics and Greek), JetBrains Mono
// Regular and Medium (DejaVu Sans Mono merged). Looked up in the usual font folders; what is missing falls back to
// the next best, at last to the built-in font of Dear ImGui, with a one-line notice. Called once per ImGui
// context.
#pragma once

#include <array>
#include <string>
#include <vector>

struct ImFont;

namespace normscope::ui {

enum class Face { Sans, Bold, Mono, MonoMedium };

struct TextStyle {
  Face face = Face::Sans;
  float px = 12;  // em size in logical px, from the type scale
};

struct Fonts {
  struct Entry {
    ImFont* font = nullptr;
    float factor = 1;  // font size of ImGui (ascent + descent) per em of this face
  };
  std::array<Entry, 4> faces;
  std::string notice;  // empty when all faces were found; else one line that names what is missing

  const Entry& operator[](Face f) const { return faces[static_cast<int>(f)]; }
};

// Folders that are searched (NORMSCOPE_FONT_DIR first when set).
std::vector<std::string> default_font_folders();
// Adds the faces to the current context's atlas. Never fails: an empty list of folders gives the built-in font.
Fonts load_fonts(const std::vector<std::string>& folders = default_font_folders());

}  // namespace normscope::ui
