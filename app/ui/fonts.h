// Loads the four faces: Inter Regular and SemiBold (with DejaVu Sans for mathematics and Greek),
// JetBrains Mono Regular and Medium (with DejaVu Sans Mono). It searches the usual font folders. A missing face falls
// back to the next best one, and at last to Dear ImGui's built-in font, with a notice of one line. It is called once
// per ImGui context.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/core/error.h"

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
  Message notice;  // empty when all faces were found; else one line that names what is missing

  const Entry& operator[](Face f) const { return faces[static_cast<int>(f)]; }
};

/// The folders to search, NORMSCOPE_FONT_DIR first where it is set.
std::vector<std::string> default_font_folders();
/// Adds the faces to the current context's atlas. It never fails: without folders it takes the built-in
/// font.
Fonts load_fonts(const std::vector<std::string>& folders = default_font_folders());

}  // namespace normscope::ui
